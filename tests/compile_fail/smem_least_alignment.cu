// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: the alignment of a part of shared memory must be a power of two, at least its

#include <tiletranspose/smem.cuh>
#include <tiletranspose/tile.cuh>

#ifdef MUST_FAIL
constexpr int alignment = 8;
#else
constexpr int alignment = 16;
#endif

using tile_type = tt::shared_tile<float, tt::padded_layout<float, 32, 32, 1>>;
constexpr tt::smem_layout smem{tt::smem_tiles<tile_type, 2>().aligned<alignment>()};
static_assert(smem.bytes() == 2 * sizeof(tile_type::storage));
