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

/// The order in which blocks take the pairs of tiles (row, col), row <= col: in patches of 4 x 4 tiles where there
/// are many, so that on both sides of the diagonal neighbouring blocks move neighbouring memory (H200, 2026-11-21:
/// 16381 x 16381 floats 67 % of cudaMemcpyAsync, 61 tile by tile). Patches are paired as tiles are. Line r of
/// their triangle is followed by the r-th last one, which makes lines of one length; the number of patches of a
/// side is rounded up to an even one:
///
///     (0,0) (0,1) (0,2) (0,3) | (3,3)
///     (1,1) (1,2) (1,3) | (2,2) (2,3)
///
/// Places below the diagonal or outside of the square are no pair; their blocks have nothing to do.
struct pair_order {
  unsigned bits;     ///< a patch is 2^bits x 2^bits tiles
  unsigned patches;  ///< of a side
  divider line;      ///< pairs of patches in a line

  struct place {
    unsigned row;
    unsigned col;
  };

  pair_order() = default;
  explicit pair_order(size_type side_tiles)
      : bits(side_tiles < 8 ? 0 : 2),
        patches(2 * static_cast<unsigned>(divide_up(side_tiles, size_type{2} << bits))),
        line(patches + size_type{1}) {}

  size_type blocks() const { return size_type{patches} / 2 * (patches + size_type{1}) << 2 * bits; }

  TILETRANSPOSE_FUNCTION place operator()(unsigned block) const {
    const unsigned pair = block >> 2 * bits;
    const unsigned at_line = line.quotient(pair);
    const unsigned in_line = line.remainder(pair, at_line);
    const unsigned first = patches - at_line;  // pairs that belong to row `at_line`
    const unsigned row = in_line < first ? at_line : patches - 1 - at_line;
    const unsigned col = row + (in_line < first ? in_line : in_line - first);
    const unsigned last = (1u << bits) - 1;
    return {(row << bits) + (block >> bits & last), (col << bits) + (block & last)};
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
  static constexpr int threads = 128;  ///< of a tile
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

/// Half the threads of a block; each half moves one tile of a pair. It has no barrier of its own.
template <int Threads>
struct half_block {
  static constexpr int static_size = Threads;
  TILETRANSPOSE_FUNCTION static unsigned thread_rank() {
    return static_block<2 * Threads>::thread_rank() % Threads;
  }
  TILETRANSPOSE_FUNCTION static constexpr unsigned size() { return Threads; }
  /// 0 or 1: which half the calling thread belongs to.
  TILETRANSPOSE_FUNCTION static unsigned number() {
    return static_block<2 * Threads>::thread_rank() / Threads;
  }
};

/// What half a block does: it reads the tile whose first element is (row, col) and writes it at (col, row).
struct swap_share {
  size_type row;
  size_type col;
  bool exists;  ///< false for the second half where a tile trades places with itself

  TILETRANSPOSE_FUNCTION swap_share(const pair_order::place& at, unsigned half, size_type side)
      : row((half == 0 ? at.row : at.col) * side),
        col((half == 0 ? at.col : at.row) * side),
        exists(half == 0 || at.row != at.col) {}
};

/// The kernel's body where every address and the square's side are multiples of 16 bytes.
/// Group: 2 * Shape::threads. Shared memory: 2 * Shape::shared_bytes, aligned to 16. Barriers: one, inside.
template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void swap_tiles(Group group, unsigned char* shared,
                                       const swap_arguments& arguments, unsigned block) {
  constexpr size_type side = Shape::tile_rows;
  using half = half_block<Shape::threads>;
  static_assert(known_size<Group>::value == 2 * Shape::threads, "");
  const square_problem& square = arguments.square;
  const pair_order::place at = arguments.order(block);
  if (at.row > at.col || at.col * side >= square.side) { return; }
  const swap_share own(at, half::number(), side);
  unsigned char* const tile = shared + half::number() * Shape::shared_bytes;
  const auto move = [&](auto interior) {
    if (own.exists) {
      const tile_source source = square_source<Shape>(square, own.row, own.col);
      fill_rows<Shape, interior.value, Shape::tile_rows>(half{}, tile, source, 0);
    }
    group.sync();
    if (own.exists) {
      const tile_target target = square_target<Shape>(square, own.col, own.row);
      drain_tile<Shape, interior.value>(half{}, tile, target);
    }
  };
  if (at.col * side + side <= square.side) {
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
  static constexpr int threads = ElementBytes <= 4 ? 512 : 256;  ///< half of them a tile
  /// Bytes that a thread loads one at a time, all of a tile under way, take a register each.
  static constexpr int unit = access_width(ElementBytes, Alignment);
  static constexpr int loads = wanted * wanted * (ElementBytes / unit) / (threads / 2);
  static constexpr bool crowded = unit == 1 && loads > 16 && loads <= most_unrolled_rounds;
  static constexpr int side = fits && !crowded ? wanted : wanted / 2;
  using type = square_tile<side>;
};

/// The kernel's body where addresses are what T asks for.
/// Group: of known size, each half of it moves a tile. Shared memory: the storage of two `Tile`s. Barriers: one,
/// inside.
template <class T, class Tile, class Group>
TILETRANSPOSE_FUNCTION void swap_views(Group group, typename Tile::storage (&storage)[2],
                                       const swap_arguments& arguments, unsigned block) {
  constexpr size_type side = Tile::rows;
  using half = half_block<known_size<Group>::value / 2>;
  const square_problem& square = arguments.square;
  const pair_order::place at = arguments.order(block);
  if (at.row > at.col || at.col * side >= square.side) { return; }
  const swap_share own(at, half::number(), side);
  const matrix_view<T> matrix{reinterpret_cast<T*>(square.data), square.side, square.side,
                              square.stride_bytes / sizeof(T)};
  const Tile tile(storage[half::number()]);
  if (own.exists) { load_tile(half{}, tile, matrix, own.row, own.col); }
  group.sync();
  if (own.exists) { store_tile_transposed(half{}, matrix, own.col, own.row, tile); }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
