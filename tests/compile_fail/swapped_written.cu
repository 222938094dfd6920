// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: the output comes first, and its elements must not be const

#include <tiletranspose/transpose.cuh>

cudaError_t call(float* out, const float* in) {
#ifdef MUST_FAIL
  return tt::transpose<float, 32, 8>(in, out, 4, 6);
#else
  return tt::transpose<float, 32, 8>(out, in, 4, 6);
#endif
}
