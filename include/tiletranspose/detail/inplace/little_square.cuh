// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Small squares in place: the two halves of a block each move one tile of a pair, an element a lane. Elements that take
/// several accesses are moved as these, an access a lane: so lanes next to each other access memory next to each other.

#pragma once

#include <type_traits>

#include <tiletranspose/detail/core/element_tile.cuh>
#include <tiletranspose/detail/core/optimisation_barrier.cuh>
#include <tiletranspose/detail/inplace/swap_tiles.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// How a tile of Side x Side elements is moved.
template <int ElementBytes, int Access, int Side>
struct little_square_shape {
  using whole = copy_operation<ElementBytes, Access>;
  static constexpr int side = Side;
  static constexpr int element_bytes = ElementBytes;
  static constexpr bool packs = packs_words(ElementBytes, Access);
  static constexpr int parts = packs ? 1 : whole::accesses;  ///< of an element, one a lane
  using operation =
      typename std::conditional<parts == 1, whole, copy_operation<Access, Access>>::type;
  using stored = typename operation::stored;
  static constexpr int lanes = Side * parts;  ///< of a row
  static constexpr int block_rows = packs ? 8 : lanes <= 128 ? 4 : lanes <= 256 ? 2 : 1;
  static constexpr int threads = lanes * block_rows;  ///< of a half; a block has 1024 at most
  /// Rows of parts start `parts` of them after each other in the banks, so that those of a column lie side by side.
  static constexpr int padding =
      parts == 1 ? element_padding<stored, Side>() : round_up(lanes, 128 / Access) - lanes + parts;
  using tile = shared_tile<stored, padded_layout<stored, Side, lanes, padding>>;
};

/// The kernel's body: block (i, k) transposes a tile and the one across the diagonal.
/// Shared memory: the storage of two tiles. Barriers: one, inside.
template <class Shape>
TILETRANSPOSE_FUNCTION void swap_elements(typename Shape::tile::storage (&storage)[2],
                                          const square_problem& square, unsigned k, unsigned i) {
  using half = half_block<Shape::threads>;
  constexpr unsigned side = Shape::side;
  const auto end = static_cast<int>(square.side);
  const tile_pair pair = fold_triangle((static_cast<unsigned>(end) + side - 1) / side, k, i);
  if (pair.row > pair.col) { return; }
  const auto stride = static_cast<int>(square.stride_bytes);
  const bool second = half::number() == 1;
  const auto row = static_cast<int>((second ? pair.col : pair.row) * side);
  const auto col = static_cast<int>((second ? pair.row : pair.col) * side);
  // A tile on the diagonal is moved by the first half alone.
  const bool exists = !second || pair.row != pair.col;
  const auto clipped = [&](int first) {
    return exists ? static_cast<unsigned>(smaller(end - first, static_cast<int>(side))) : 0;
  };
  using operation = typename Shape::operation;
  const element_steps<int> steps{operation::in_bytes, stride};
  transpose_elements<Shape::block_rows>(
      half{}, typename Shape::tile(storage[half::number()]), clipped(row), clipped(col), 0, 0,
      operation{},
      optimisation_barrier_global(square.data + (row * stride + col * Shape::element_bytes)), steps,
      optimisation_barrier_global(square.data + (col * stride + row * Shape::element_bytes)),
      steps);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
