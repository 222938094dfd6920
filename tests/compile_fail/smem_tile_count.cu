// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: smem_tiles needs at least one tile

#include <tiletranspose/smem.cuh>
#include <tiletranspose/tile.cuh>

#ifdef MUST_FAIL
constexpr int count = 0;
#else
constexpr int count = 1;
#endif

using tile_type = tt::shared_tile<float, tt::padded_layout<float, 32, 32, 1>>;
static_assert(tt::smem_tiles<tile_type, count>().bytes() == count * sizeof(tile_type::storage));
