// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How a square is transposed in its own memory: a block takes a tile and the one it trades places with on the other
/// side of the diagonal, reads both and, after one barrier, writes both; no other block touches them. A tile on the
/// diagonal trades places with itself.
///
/// Three kinds of tiles move so: where all addresses, and the square's side, are multiples of 16 bytes, those of whole
/// accesses; of small squares those of an element a lane; and those of swap_byte_tiles.cuh, which take any square.

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
/// tiles are, by fold_triangle. Places below the diagonal or outside of the square are no pair; their blocks have nothing
/// to do.
struct pair_order {
  unsigned bits;     ///< a patch is 2^bits x 2^bits tiles
  unsigned patches;  ///< of a side
  divider line;      ///< pairs of patches in a line

  explicit pair_order(size_type side_tiles)
      : bits(side_tiles < least_patched_tiles ? 0 : 2),
        patches(static_cast<unsigned>(divide_up(side_tiles, size_type{1} << bits))),
        line(patches + size_type{1}) {}

  size_type blocks() const { return divide_up(patches, 2) * line.divisor << 2 * bits; }

  TILETRANSPOSE_FUNCTION tile_pair operator()(unsigned block) const {
    const unsigned pair = block >> 2 * bits;
    const unsigned at_line = line.quotient(pair);
    const tile_pair patch = fold_triangle(patches, at_line, line.remainder(pair, at_line));
    const unsigned last = (1u << bits) - 1;
    return {(patch.row << bits) + (block >> bits & last), (patch.col << bits) + (block & last)};
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
  TILETRANSPOSE_FUNCTION static unsigned thread_rank() { return block::thread_rank() % Threads; }
  TILETRANSPOSE_FUNCTION static constexpr unsigned size() { return Threads; }
  TILETRANSPOSE_FUNCTION static void sync(access_site site = access_site::at()) {
    block::sync(site);
  }
  /// 0 or 1: which half the calling thread belongs to.
  TILETRANSPOSE_FUNCTION static unsigned number() { return block::thread_rank() / Threads; }
};

/// The tile that half a block moves: where it lies, and where it goes. At the edge of the square it has fewer rows or
/// columns than others.
struct half_tile {
  bool exists;  ///< false of the second half where a tile trades places with itself
  unsigned char* shared;
  const unsigned char* from;
  unsigned char* to;
  size_type stride_bytes;
  int rows;
  int cols;
};

/// The kernel's body. `Shape` fills half of the shared memory with a tile and, when both halves have, writes it.
/// Threads: 2 * Shape::threads. Shared memory: 2 * Shape::shared_bytes, aligned to 16. Barriers: one, inside.
template <class Shape>
TILETRANSPOSE_FUNCTION void swap_tiles(unsigned char* shared, const swap_arguments& arguments,
                                       unsigned block) {
  constexpr size_type side = Shape::side;
  using half = half_block<Shape::threads>;
  const auto [square, at] = arguments(block);
  if (at.row > at.col || at.col * side >= square.side) { return; }
  const bool second = half::number() == 1;
  const size_type row = (second ? at.col : at.row) * side;
  const size_type col = (second ? at.row : at.col) * side;
  Shape::move(half{},
              {!second || at.row != at.col, shared + half::number() * Shape::shared_bytes,
               square.data + row * square.stride_bytes + col * Shape::element_bytes,
               square.data + col * square.stride_bytes + row * Shape::element_bytes,
               square.stride_bytes, static_cast<int>(smaller(square.side - row, side)),
               static_cast<int>(smaller(square.side - col, side))},
              arguments.memory);
}

/// Tiles of squares whose addresses and side are multiples of 16 bytes: rows of 128 bytes and more, and a micro-block a
/// thread. Only elements of 1 and 2 bytes have larger tiles.
template <int ElementBytes, bool IsLarge = false>
struct swap_shape : tile_shape<ElementBytes, ElementBytes, swap_side(ElementBytes, IsLarge),
                               swap_side(ElementBytes, IsLarge), swap_threads,
                               swap_load_bytes(ElementBytes, IsLarge), 16, 16, true> {
  static constexpr bool in_place = true;
  static constexpr int side = swap_side(ElementBytes, IsLarge);
  /// Of a multiprocessor; one leaves registers.
  static constexpr int least_blocks = IsLarge ? 1 : 0;

  template <class Group>
  TILETRANSPOSE_FUNCTION static void move(Group group, const half_tile& tile, const memory_range&) {
    const auto move_as = [&](auto interior) {
      if (tile.exists) {
        const tile_source source{tile.from, tile.stride_bytes,       0, tile.rows,
                                 0,         tile.cols * ElementBytes};
        fill_rows<swap_shape, interior.value, side>(group, tile.shared, source, 0, 0);
      }
      group.sync();
      if (tile.exists) {
        const tile_target target{tile.to, tile.stride_bytes,        tile.cols,
                                 0,       tile.rows * ElementBytes, 0};
        drain_segments<swap_shape, interior.value>(group, tile.shared, target);
      }
    };
    if (smaller(tile.rows, tile.cols) == side) {
      move_as(std::true_type{});
    } else {
      move_as(std::false_type{});
    }
  }
};
/// The same of large squares.
template <int ElementBytes>
using large_swap_shape = swap_shape<ElementBytes, (ElementBytes <= 2)>;

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
      optimisation_barrier_global(square.data + (col * stride + row * Shape::element_bytes)),
      steps);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
