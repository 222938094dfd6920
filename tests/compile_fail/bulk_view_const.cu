// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: store_tile_bulk needs a view of elements without const: bulk_view<Tile, T>

#include <tiletranspose/tile_io_bulk.cuh>

#ifdef MUST_FAIL
using element = const float;
#else
using element = float;
#endif

using tile_type = tt::shared_tile<float, tt::padded_layout<float, 64, 64, 0>>;

__global__ void kernel(const __grid_constant__ tt::bulk_view<tile_type, element> out) {
  __shared__ tile_type::storage storage;
  tt::store_tile_bulk(tt::static_block<32>{}, out, 0, 0, tile_type(storage));
  tt::bulk_wait();
}
