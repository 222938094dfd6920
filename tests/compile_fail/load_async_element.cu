// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a tile is filled from a matrix of its own element type

#include <tiletranspose/tile_io_async.cuh>

#ifdef MUST_FAIL
using element = double;
#else
using element = float;
#endif

using tile_type = tt::shared_tile<float, tt::padded_layout<float, 32, 32, 1>>;

__device__ void call(tile_type tile, tt::matrix_view<const element> in) {
  tt::load_tile_async(tt::static_block<256>{}, tile, in, 0, 0);
}
