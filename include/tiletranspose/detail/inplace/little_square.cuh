// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Small squares in place: the two halves of a block each move one tile of a pair, element by element.

#pragma once

#include <tiletranspose/detail/core/element_tile.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/core/optimisation_barrier.cuh>
#include <tiletranspose/detail/inplace/swap_pairs.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Half of a block, whose barrier is the block's.
template <int Threads>
struct half_with_barrier : half_block<Threads> {
  TILETRANSPOSE_FUNCTION static void sync(access_site site = access_site::at()) {
    static_block<2 * Threads>::sync(site);
  }
};

/// The kernel's body: block (i, k) transposes a tile and the one across the diagonal.
/// Shared memory: the storage of two `Tile`s. Barriers: one, inside.
template <class Tile, int BlockRows, class Operation>
TILETRANSPOSE_FUNCTION void swap_elements(typename Tile::storage (&storage)[2],
                                          const square_problem& square, unsigned k, unsigned i) {
  using half = half_with_barrier<Tile::cols * BlockRows>;
  constexpr unsigned side = Tile::cols;
  const auto end = static_cast<int>(square.side);
  const tile_pair pair = fold_triangle((static_cast<unsigned>(end) + side - 1) / side, k, i);
  if (pair.row > pair.col) { return; }
  constexpr int element = Operation::in_bytes;
  const auto stride = static_cast<int>(square.stride_bytes);
  const bool second = half::number() == 1;
  const auto row = static_cast<int>((second ? pair.col : pair.row) * side);
  const auto col = static_cast<int>((second ? pair.row : pair.col) * side);
  // A tile on the diagonal is moved by the first half alone.
  const bool exists = !second || pair.row != pair.col;
  const element_steps<int> steps{element, stride};
  const auto clipped = [&](int first) {
    return exists ? static_cast<unsigned>(smaller(end - first, static_cast<int>(side))) : 0;
  };
  transpose_elements<BlockRows>(
      half{}, Tile(storage[half::number()]), clipped(row), clipped(col), 0, 0, Operation{},
      optimisation_barrier_global(square.data + (row * stride + col * element)), steps,
      optimisation_barrier_global(square.data + (col * stride + row * element)), steps);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
