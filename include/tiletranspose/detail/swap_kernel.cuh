// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernels that transpose a square in its own memory. A block takes a tile and the one it trades places
/// with on the other side of the diagonal, reads both and, after one barrier, writes both; no other block
/// touches them. A tile on the diagonal trades places with itself.

#pragma once

#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/detail/tile_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A square of `side` x `side` elements.
struct square_problem {
  unsigned char* data;
  size_type stride_bytes;
  size_type side;
};

/// The order in which blocks take the pairs of tiles (row, col), row <= col, of a square of an even number of
/// tiles a side. Line r of that triangle is followed by the r-th last one, which makes lines of one length:
///
///     (0,0) (0,1) (0,2) (0,3) | (3,3)
///     (1,1) (1,2) (1,3) | (2,2) (2,3)
struct pair_order {
  unsigned tiles;  ///< of a side, rounded up to an even number
  divider line;    ///< pairs of a line

  struct place {
    unsigned row;
    unsigned col;
  };

  pair_order() = default;
  explicit pair_order(size_type side_tiles)
      : tiles(static_cast<unsigned>((side_tiles + 1) / 2 * 2)), line(tiles + size_type{1}) {}

  size_type blocks() const { return size_type{tiles} / 2 * (tiles + size_type{1}); }

  TILETRANSPOSE_FUNCTION place operator()(unsigned block) const {
    const unsigned at_line = line.quotient(block);
    const unsigned in_line = line.remainder(block, at_line);
    const unsigned first = tiles - at_line;  // pairs that belong to row `at_line`
    const unsigned row = in_line < first ? at_line : tiles - 1 - at_line;
    return {row, row + (in_line < first ? in_line : in_line - first)};
  }
};

struct swap_arguments {
  square_problem square;
  pair_order order;
};

/// A value of the compiler's as an argument.
template <bool Value>
struct constant {
  static constexpr bool value = Value;
};

/// A square tile_shape whose input is its output: rows of 128 bytes and more, and a micro-block a thread.
template <int ElementBytes>
struct swap_policy {
  static constexpr int side = ElementBytes <= 1 ? 128 : ElementBytes <= 4 ? 64 : 32;
  static constexpr int threads = ElementBytes <= 2 ? 128 : 256;
  static constexpr int load_bytes = ElementBytes <= 2 ? 8 : 16;
};
template <int ElementBytes, class Policy = swap_policy<ElementBytes>>
struct swap_shape : tile_shape<ElementBytes, ElementBytes, Policy::side, Policy::side,
                               Policy::threads, Policy::load_bytes, 16, 16, true> {
  static constexpr bool in_place = true;
};

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
/// Shared memory: 2 * Shape::shared_bytes, aligned to 16. Barriers: one, inside.
template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void swap_tiles(Group group, unsigned char* shared,
                                       const swap_arguments& arguments, unsigned block) {
  constexpr size_type side = Shape::tile_rows;
  const square_problem& square = arguments.square;
  const pair_order::place at = arguments.order(block);
  const size_type row = at.row * side;
  const size_type col = at.col * side;
  if (col >= square.side) { return; }  // the tile that made their number even
  const bool pair = row != col;
  unsigned char* const second = shared + Shape::shared_bytes;
  const auto move = [&](auto interior) {
    fill_rows<Shape, interior.value, Shape::tile_rows>(group, shared,
                                                       square_source<Shape>(square, row, col), 0);
    if (pair) {
      fill_rows<Shape, interior.value, Shape::tile_rows>(group, second,
                                                         square_source<Shape>(square, col, row), 0);
    }
    group.sync();
    drain_tile<Shape, interior.value>(group, shared, square_target<Shape>(square, col, row));
    if (pair) {
      drain_tile<Shape, interior.value>(group, second, square_target<Shape>(square, row, col));
    }
  };
  if (col + side <= square.side) {
    move(constant<true>{});
  } else {
    move(constant<false>{});
  }
}

/// The tile of the other squares, from the public parts.
template <int ElementBytes, int Alignment>
struct swap_tile {
  using element_type = element<ElementBytes, Alignment>;
  template <int Side>
  using square_tile =
      shared_tile<element_type,
                  padded_layout<element_type, Side, Side, default_padding<element_type, Side>()>>;

  static constexpr int wanted = ElementBytes <= 4 ? 64 : ElementBytes <= 16 ? 32 : 16;
  /// Elements of 38, 62 and 63 bytes take so much padding that two tiles would not fit 48 KB.
  static constexpr bool fits =
      2 * sizeof(typename square_tile<wanted>::storage) <= default_shared_bytes;
  static constexpr int threads = 256;
  /// Bytes that a thread loads one at a time, all of both tiles under way, take a register each.
  static constexpr int unit = access_width(ElementBytes, Alignment);
  static constexpr int loads = wanted * wanted * (ElementBytes / unit) / threads;
  static constexpr bool crowded = unit == 1 && loads > 16 && loads <= most_unrolled_rounds;
  static constexpr int side = fits && !crowded ? wanted : wanted / 2;
  using type = square_tile<side>;
};

/// The kernel's body where addresses are what T asks for.
/// Shared memory: the storage of two `Tile`s. Barriers: one, inside.
template <class T, class Tile, class Group>
TILETRANSPOSE_FUNCTION void swap_views(Group group, typename Tile::storage (&storage)[2],
                                       const swap_arguments& arguments, unsigned block) {
  constexpr size_type side = Tile::rows;
  const square_problem& square = arguments.square;
  const pair_order::place at = arguments.order(block);
  const size_type row = at.row * side;
  const size_type col = at.col * side;
  if (col >= square.side) { return; }
  const matrix_view<T> matrix{reinterpret_cast<T*>(square.data), square.side, square.side,
                              square.stride_bytes / sizeof(T)};
  const Tile first(storage[0]);
  const Tile second(storage[1]);
  load_tile(group, first, matrix, row, col);
  if (row != col) { load_tile(group, second, matrix, col, row); }
  group.sync();
  store_tile_transposed(group, matrix, col, row, first);
  if (row != col) { store_tile_transposed(group, matrix, row, col, second); }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
