// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a bulk_view moves tiles of the type that it names

#include <tiletranspose/tile_io_bulk.cuh>

#ifdef MUST_FAIL
constexpr int rows = 32;
#else
constexpr int rows = 64;
#endif

template <int Rows>
using tile_type = tt::shared_tile<float, tt::padded_layout<float, Rows, 64, 0>>;

__global__ void kernel(const __grid_constant__ tt::bulk_view<tile_type<64>, float> out) {
  __shared__ typename tile_type<rows>::storage storage;
  tt::store_tile_bulk(tt::static_block<32>{}, out, 0, 0, tile_type<rows>(storage));
}
