// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Step 2 of a rectangle in place, rectangle_grid.cuh, where it is a pass of its own.

#pragma once

#include <tiletranspose/detail/inplace/rectangle_grid.cuh>
#include <tiletranspose/detail/inplace/swap_pairs.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Step 2 by itself: squares of a grid, each of which takes as many blocks as there are pairs of its tiles.
struct squares_arguments {
  unsigned char* data;
  size_type pitch;         ///< bytes between rows of the grid
  size_type square_bytes;  ///< of a row of a square
  size_type side;          ///< g
  pair_order order;
  memory_range memory;  ///< the rectangle
  divider pairs;        ///< blocks of a square
  divider wide;         ///< q

  TILETRANSPOSE_FUNCTION unsigned pair(unsigned block) const {
    return pairs.remainder(block, pairs.quotient(block));
  }
  TILETRANSPOSE_FUNCTION swap_arguments square(unsigned block) const {
    const unsigned number = pairs.quotient(block);
    const unsigned above = wide.quotient(number);
    const unsigned left = wide.remainder(number, above);
    return {{data + above * side * pitch + left * square_bytes, pitch, side}, order, memory};
  }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
