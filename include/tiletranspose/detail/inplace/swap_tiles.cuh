// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Squares in place whose rows, and whose side, are whole accesses of 16 bytes.

#pragma once

#include <type_traits>

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
  static constexpr int side = swap_side(ElementBytes, IsLarge);
  static constexpr int least_blocks =
      IsLarge ? 1 : 0;  ///< of a multiprocessor; one leaves registers
};
/// The same of large squares; only elements of 1 and 2 bytes have larger tiles.
template <int ElementBytes>
using large_swap_shape = swap_shape<ElementBytes, (ElementBytes <= 2)>;

/// The kernel's body where every address and the square's side are multiples of 16 bytes.
/// Group: 2 * Shape::threads. Shared memory: 2 * Shape::shared_bytes, aligned to 16. Barriers: one, inside.
template <class Shape>
TILETRANSPOSE_FUNCTION void swap_tiles(unsigned char* shared, const swap_arguments& arguments,
                                       unsigned block) {
  constexpr size_type side = Shape::side;
  using half = half_block<Shape::threads>;
  const auto [square, at] = arguments(block);
  if (at.row > at.col || at.col * side >= square.side) { return; }
  const half_tile own(at, half::number(), side);
  unsigned char* const tile = shared + half::number() * Shape::shared_bytes;
  const auto move = [&, &square = square](auto interior) {
    if (own.exists) {
      const tile_source source{square.place<Shape>(own.row, own.col),
                               square.stride_bytes,
                               0,
                               clipped_distance(own.row, square.side),
                               0,
                               clipped_distance(own.col, square.side) * Shape::element_bytes};
      fill_rows<Shape, interior.value, Shape::side>(half{}, tile, source, 0, 0);
    }
    half::sync();
    if (own.exists) {
      const tile_target target{
          square.place<Shape>(own.col, own.row),
          square.stride_bytes,
          smaller(clipped_distance(own.col, square.side), Shape::side),
          0,
          smaller(clipped_distance(own.row, square.side), Shape::side) * Shape::element_bytes,
          0};
      drain_tile<Shape, interior.value>(half{}, tile, target);
    }
  };
  if (at.col * side + side <= square.side) {
    move(std::true_type{});
  } else {
    move(std::false_type{});
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
