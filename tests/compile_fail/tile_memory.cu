// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: the tile must fit 48 KB of shared memory; take a smaller TileDim

#include <tiletranspose/transpose.cuh>

// 128 x 128 floats are 64 KB, 96 x 96 are 36 KB.
#ifdef MUST_FAIL
constexpr int tile_dim = 128;
#else
constexpr int tile_dim = 96;
#endif

cudaError_t call(float* out, const float* in) {
  return tt::transpose<float, tile_dim, 8>(out, in, 32, 32);
}
