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

/// Rows of threads of a block that moves a tile, of elements of a size that are moved in so many accesses.
constexpr int small_block_rows(int side, int kept_bytes, int accesses) {
  if (side == 32) { return kept_bytes <= widest_large_tile_element ? 8 : 4; }
  return accesses == 1 || kept_bytes <= 4 ? 8 : 4;
}

/// Threads of a block that moves rows of few elements, of which each takes one.
inline constexpr int few_row_threads = 256;

/// Threads of a block that moves rows of many elements, and how many each of them takes. `divides`: blocks take several
/// rows.
constexpr int small_row_threads(bool divides) { return divides ? 256 : 128; }
constexpr int small_row_rounds(bool divides, int kept_bytes, int accesses) {
  if (divides) { return accesses == 1 ? 2 : 1; }
  return kept_bytes <= 2 ? 8 : 4;
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
    const int side = small_tile_side(problem, accesses);
    return {size_type{blocks_for(fast, side)} * blocks_for(slow, side) * problem.batch,
            side * small_block_rows(side, problem.kept_bytes, accesses)};
  }
  const bool divides = problem.transposes || mover == small_mover::direct;
  const bool few = has_few_elements(problem);
  const int threads = few ? few_row_threads : small_row_threads(divides);
  const int step = threads * (few ? 1 : small_row_rounds(divides, problem.kept_bytes, accesses));
  return {divides ? size_type{blocks_for(fast * slow * problem.batch, step)}
                  : blocks_for(fast, step) * slow * problem.batch,
          threads};
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
