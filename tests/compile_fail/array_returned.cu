// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: no function can return an array; make a struct of it to get and set elements

#include <tiletranspose/tile_io.cuh>

using element = float[3];
using tile_type = tt::shared_tile<element, tt::padded_layout<element, 16, 16, 1>>;

__global__ void kernel(tt::matrix_view<element> out, tt::matrix_view<const element> in) {
  __shared__ tile_type::storage storage;
  const tt::static_block<64> block;
  const tile_type tile(storage);
  tt::load_tile(block, tile, in, 0, 0);
  block.sync();
#ifdef MUST_FAIL
  tile.get(0, 0);
#endif
  tt::store_tile_transposed(block, out, 0, 0, tile);
}
