// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: a tile is written to a matrix of its own element type, which is not const

#include <tiletranspose/tile_io.cuh>

using tile = tt::shared_tile<float, tt::padded_layout<float, 32, 32, 1>>;

#ifdef MUST_FAIL
using element = const float;
#else
using element = float;
#endif

__global__ void kernel(tt::matrix_view<element> out) {
  __shared__ typename tile::storage storage;
  const tt::static_block<256> block;
  tt::store_tile(block, out, 0, 0, tile(storage));
}
