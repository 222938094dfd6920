// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: BlockRows must divide TileDim; 32x32 tiles take 1, 2, 4, 8, 16 or 32

#include <tiletranspose/transpose.cuh>

#ifdef MUST_FAIL
constexpr int block_rows = 5;
#else
constexpr int block_rows = 4;
#endif

cudaError_t call(float* out, const float* in) {
  return tt::transpose<float, 32, block_rows>(out, in, 32, 32);
}
