// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Blocks and threads of the mover for little work. Plain C++17.

#pragma once

#include <tiletranspose/detail/choose/choose_small.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Blocks for `extent` elements of which each takes `step`.
inline unsigned blocks_for(size_type extent, int step) {
  return static_cast<unsigned>(divide_up(extent, static_cast<size_type>(step)));
}

/// Rows of threads of a block that moves a tile, of elements of so many accesses.
constexpr int small_block_rows(int side, int accesses) {
  return side == 32 || accesses == 1 ? 8 : 4;
}

/// Threads of a block that moves rows, and the elements that each of them takes. `divides`: blocks take several rows.
constexpr int small_row_threads(bool divides) { return divides ? 256 : 128; }
constexpr int small_row_rounds(bool divides, int accesses) {
  if (divides) { return accesses == 1 ? 2 : 1; }
  return accesses <= 4 ? 8 : 4;
}

/// What one launch of it is.
struct small_grid {
  size_type blocks;
  int threads;
};
inline small_grid grid_of(small_mover mover, const small_problem& problem, int accesses) {
  const size_type fast = problem.fast.extent;
  const size_type slow = problem.slow.extent;
  if (mover == small_mover::tiles) {
    const int side = small_tile_side(problem.element_bytes);
    return {size_type{blocks_for(fast, side)} * blocks_for(slow, side) * problem.batch,
            side * small_block_rows(side, accesses)};
  }
  const bool divides = problem.transposes || mover == small_mover::direct;
  const int threads = small_row_threads(divides);
  const int step = threads * small_row_rounds(divides, accesses);
  return {divides ? size_type{blocks_for(fast * slow * problem.batch, step)}
                  : blocks_for(fast, step) * slow * problem.batch,
          threads};
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
