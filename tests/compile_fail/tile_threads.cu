// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: TileDim * BlockRows threads must fit a block of 1024; take fewer BlockRows

#include <tiletranspose/transpose.cuh>

#ifdef MUST_FAIL
constexpr int block_rows = 32;
#else
constexpr int block_rows = 16;
#endif

cudaError_t call(float* out, const float* in) {
  return tt::transpose<float, 64, block_rows>(out, in, 64, 64);
}
