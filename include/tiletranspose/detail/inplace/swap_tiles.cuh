// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Squares in place whose rows, and whose side, are whole accesses of 16 bytes.

#pragma once

#include <tiletranspose/detail/inplace/swap_pairs.cuh>
#include <tiletranspose/detail/tile/tile_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A square tile_shape whose input is its output: rows of 128 bytes and more, and a micro-block a thread.
template <int ElementBytes, bool IsLarge = false>
struct swap_shape : tile_shape<ElementBytes, ElementBytes, swap_side(ElementBytes, IsLarge),
                               swap_side(ElementBytes, IsLarge), swap_threads,
                               swap_load_bytes(ElementBytes, IsLarge), 16, 16, true> {
  static constexpr bool in_place = true;
  static constexpr int least_blocks =
      IsLarge ? 1 : 0;  ///< of a multiprocessor; one leaves registers
};
/// The same of large squares; only elements of 1 and 2 bytes have larger tiles.
template <int ElementBytes>
using large_swap_shape = swap_shape<ElementBytes, (ElementBytes <= 2)>;

/// The tile at (row, col), as much of it as exists, as input and as output.
template <class Shape>
TILETRANSPOSE_FUNCTION tile_source square_source(const square_problem& square, size_type row,
                                                 size_type col) {
  return {square.data + row * square.stride_bytes + col * Shape::element_bytes,
          square.stride_bytes,
          0,
          clipped_distance(row, square.side),
          0,
          clipped_distance(col, square.side) * Shape::element_bytes};
}
template <class Shape>
TILETRANSPOSE_FUNCTION tile_target square_target(const square_problem& square, size_type row,
                                                 size_type col) {
  return {square.data + row * square.stride_bytes + col * Shape::element_bytes,
          square.stride_bytes,
          smaller(clipped_distance(row, square.side), Shape::tile_cols),
          0,
          smaller(clipped_distance(col, square.side), Shape::tile_rows) * Shape::element_bytes,
          0};
}

/// The kernel's body where every address and the square's side are multiples of 16 bytes.
/// Group: 2 * Shape::threads. Shared memory: 2 * Shape::shared_bytes, aligned to 16. Barriers: one, inside.
template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void swap_tiles(Group group, unsigned char* shared,
                                       const swap_arguments& arguments, unsigned block) {
  constexpr size_type side = Shape::tile_rows;
  using half = half_of<Group, Shape::threads>;
  const swap_arguments::work work = arguments(block);
  const square_problem& square = work.square;
  const pair_order::place& at = work.at;
  if (at.row > at.col || at.col * side >= square.side) { return; }
  const half_tile own(at, half::number(), side);
  unsigned char* const tile = shared + half::number() * Shape::shared_bytes;
  const auto move = [&](auto interior) {
    if (own.exists) {
      const tile_source source = square_source<Shape>(square, own.row, own.col);
      fill_rows<Shape, interior.value, Shape::tile_rows>(half{}, tile, source, 0, 0);
    }
    group.sync();
    if (own.exists) {
      const tile_target target = square_target<Shape>(square, own.col, own.row);
      drain_segments<Shape, interior.value>(half{}, tile, target);
    }
  };
  if (at.col * side + side <= square.side) {
    move(constant<true>{});
  } else {
    move(constant<false>{});
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
