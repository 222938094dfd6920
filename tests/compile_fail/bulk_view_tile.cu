// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a bulk_view moves tiles of the type that it names

#include <tiletranspose/tile_pipeline.cuh>

#ifdef MUST_FAIL
constexpr int rows = 32;
#else
constexpr int rows = 64;
#endif

template <int Rows>
using tile_type = tt::shared_tile<float, tt::padded_layout<float, Rows, 64, 0>>;

__global__ void kernel(const __grid_constant__ tt::bulk_view<tile_type<64>> in) {
  using pipeline_type = tt::tile_pipeline<1, tt::copy_engine::bulk>;
  __shared__ typename tile_type<rows>::storage storage;
  __shared__ pipeline_type::storage arrivals;
  pipeline_type pipeline(tt::static_block<32>{}, arrivals);
  pipeline.load(tt::static_block<32>{}, tile_type<rows>(storage), in, 0, 0);
}
