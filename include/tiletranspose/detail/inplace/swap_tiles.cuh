// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How a square is transposed in its own memory: a block takes a tile and the one it trades places with on the other
/// side of the diagonal, reads both and, after one barrier, writes both; no other block touches them. A tile on the
/// diagonal trades places with itself.
///
/// Three kernels move tiles so: where all addresses, and the square's side, are multiples of 16 bytes, whole accesses;
/// those of small squares an element a lane; and that of swap_byte_tiles.cuh, which takes any square.

#pragma once

#include <type_traits>

#include <tiletranspose/detail/choose/choose_inplace.cuh>
#include <tiletranspose/detail/core/element_tile.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/tile/tile_kernel.cuh>
#include <tiletranspose/group.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A square of `side` x `side` elements.
struct square_problem {
  unsigned char* data;
  size_type stride_bytes;
  size_type side;

  /// Where element (row, col) lies.
  template <class Shape>
  TILETRANSPOSE_FUNCTION unsigned char* place(size_type row, size_type col) const {
    return data + row * stride_bytes + col * Shape::element_bytes;
  }
};

/// The memory around squares: accesses of 16 bytes may touch all of it.
struct memory_range {
  const unsigned char* begin;
  const unsigned char* end;

  /// True where 16 bytes may be read wherever they hold a byte of [first, last).
  TILETRANSPOSE_FUNCTION bool reaches_around(const unsigned char* first,
                                             const unsigned char* last) const {
    return first >= begin + 15 && last + 15 <= end;
  }
};

/// The order in which blocks take the pairs of tiles (row, col), row <= col: in patches of 4 x 4 tiles where there are
/// many, so that on both sides of the diagonal neighbouring blocks move neighbouring memory. Patches are paired as
/// tiles are. Line r of their triangle is followed by the r-th last one, which makes lines of one length; the number of
/// patches of a side is rounded up to an even one:
///
///     (0,0) (0,1) (0,2) (0,3) | (3,3)
///     (1,1) (1,2) (1,3) | (2,2) (2,3)
///
/// Places below the diagonal or outside of the square are no pair; their blocks have nothing to do.
struct pair_order {
  unsigned bits;     ///< a patch is 2^bits x 2^bits tiles
  unsigned patches;  ///< of a side
  divider line;      ///< pairs of patches in a line

  explicit pair_order(size_type side_tiles)
      : bits(side_tiles < least_patched_tiles ? 0 : 2),
        patches(2 * static_cast<unsigned>(divide_up(side_tiles, size_type{2} << bits))),
        line(patches + size_type{1}) {}

  size_type blocks() const { return size_type{patches} / 2 * (patches + size_type{1}) << 2 * bits; }

  TILETRANSPOSE_FUNCTION tile_pair operator()(unsigned block) const {
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

/// One square, or those of a grid, each of which takes as many blocks as there are pairs of its tiles.
struct swap_arguments {
  square_problem first;
  pair_order order;
  memory_range memory;     ///< asked only where rows start anywhere
  size_type square_bytes;  ///< of a row of a square
  divider pairs;           ///< blocks of a square
  divider wide;            ///< squares of a row of the grid

  swap_arguments(const square_problem& one, size_type tile_side, size_type row_bytes,
                 const memory_range& around, size_type in_row = 1)
      : first(one),
        order(divide_up(one.side, tile_side)),
        memory(around),
        square_bytes(row_bytes),
        pairs(order.blocks()),
        wide(in_row) {}

  /// The square of a block, and which pair of its tiles the block takes.
  struct work {
    square_problem square;
    tile_pair at;
  };
  TILETRANSPOSE_FUNCTION work operator()(unsigned block) const {
    const unsigned number = pairs.quotient(block);
    const unsigned above = wide.quotient(number);
    const unsigned left = wide.remainder(number, above);
    square_problem square = first;
    square.data += above * first.side * first.stride_bytes + left * square_bytes;
    return {square, order(pairs.remainder(block, number))};
  }
};

/// Half the threads of a block; each half moves one tile of a pair. Its barrier is the block's.
template <int Threads>
struct half_block {
  using block = static_block<2 * Threads>;
  static constexpr int static_size = Threads;
  TILETRANSPOSE_FUNCTION static unsigned thread_rank() { return block::thread_rank() % Threads; }
  TILETRANSPOSE_FUNCTION static constexpr unsigned size() { return Threads; }
  TILETRANSPOSE_FUNCTION static void sync(access_site site = access_site::at()) {
    block::sync(site);
  }
  /// 0 or 1: which half the calling thread belongs to.
  TILETRANSPOSE_FUNCTION static unsigned number() { return block::thread_rank() / Threads; }
};

/// What half `number` of a block does: it reads the tile whose first element is (row, col) and writes it at (col, row).
struct half_tile {
  size_type row;
  size_type col;
  bool exists;  ///< false for the second half where a tile trades places with itself

  TILETRANSPOSE_FUNCTION half_tile(const tile_pair& at, unsigned number, size_type side)
      : row((number == 0 ? at.row : at.col) * side),
        col((number == 0 ? at.col : at.row) * side),
        exists(number == 0 || at.row != at.col) {}
};

/// A square tile_shape whose input is its output: rows of 128 bytes and more, and a micro-block a thread.
template <int ElementBytes, bool IsLarge = false>
struct swap_shape : tile_shape<ElementBytes, ElementBytes, swap_side(ElementBytes, IsLarge),
                               swap_side(ElementBytes, IsLarge), swap_threads,
                               swap_load_bytes(ElementBytes, IsLarge), 16, 16, true> {
  static constexpr bool in_place = true;
  static constexpr int side = swap_side(ElementBytes, IsLarge);
  /// Of a multiprocessor; one leaves registers.
  static constexpr int least_blocks = IsLarge ? 1 : 0;
};
/// The same of large squares; only elements of 1 and 2 bytes have larger tiles.
template <int ElementBytes>
using large_swap_shape = swap_shape<ElementBytes, (ElementBytes <= 2)>;

/// The kernel's body where every address and the square's side are multiples of 16 bytes.
/// Threads: 2 * Shape::threads. Shared memory: 2 * Shape::shared_bytes, aligned to 16. Barriers: one, inside.
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
      drain_segments<Shape, interior.value>(half{}, tile, target);
    }
  };
  if (at.col * side + side <= square.side) {
    move(std::true_type{});
  } else {
    move(std::false_type{});
  }
}

/// How a tile of Side x Side elements of a small square is moved, an element a lane. Elements that take several accesses
/// are moved as these, an access a lane: so lanes next to each other access memory next to each other.
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
      optimisation_barrier_global(square.data + (col * stride + row * Shape::element_bytes)), 0,
      steps);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
