// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a tile is filled from a matrix of its own element type

#include <tiletranspose/block_transpose.cuh>

#ifdef MUST_FAIL
using element = double;
#else
using element = float;
#endif

using block_transpose = tt::block_transpose<float, 32, 8>;

__device__ void call(float (&items)[4], tt::matrix_view<const element> in) {
  block_transpose::load(tt::static_block<256>{}, items, in, 0, 0);
}
