// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: with this Padding the threads that read a column of the tile use the same banks

#include <tiletranspose/transpose.cuh>

#ifdef MUST_FAIL
constexpr int padding = 0;
#else
constexpr int padding = 1;
#endif

cudaError_t call(float* out, const float* in) {
  return tt::transpose<float, 32, 8, padding>(out, in, 32, 32);
}
