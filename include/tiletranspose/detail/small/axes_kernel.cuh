// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The bodies of the mover for little work for arrays of more axes than a batch of matrices has: as there a tile passes
/// through shared memory where the fastest axes of input and output differ, and elements are moved directly where they
/// are the same or one is short. Blocks, or elements, are counted along the output's fastest axis first.

#pragma once

#include <tiletranspose/detail/choose/choose_axes_copy.cuh>
#include <tiletranspose/detail/core/element_tile.cuh>
#include <tiletranspose/detail/core/shuffle.cuh>
#include <tiletranspose/warp_transpose.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Bytes from an element to the next, on both sides.
struct axis_steps {
  long long in;
  long long out;
};

/// Axes of which an index counts all elements, the fastest first.
template <int MostAxes>
struct counted_axes {
  int count;
  divider extents[MostAxes];
  axis_steps steps[MostAxes];

  /// The places of element `index`, in bytes.
  TILETRANSPOSE_FUNCTION axis_steps places(unsigned index) const {
    axis_steps at{0, 0};
    TILETRANSPOSE_UNROLL
    for (int k = 0; k < MostAxes; ++k) {
      if (k >= count) { break; }
      const unsigned next = k + 1 < count ? extents[k].quotient(index) : 0;
      const unsigned here = k + 1 < count ? extents[k].remainder(index, next) : index;
      at.in += here * steps[k].in;
      at.out += here * steps[k].out;
      index = next;
    }
    return at;
  }
};

/// The axes of a tile's side, those outside of a tile, and all axes.
inline constexpr int most_side_axes = 3;
inline constexpr int most_outer_axes = 6;
inline constexpr int most_counted_axes = 8;

/// A side of a tile runs along one axis or, where that is short, along several, the fastest first.
struct tile_side {
  unsigned extent;  ///< elements along all of them
  counted_axes<most_side_axes> axes;
};

/// What the tile kernel moves: `x` has the fastest axis of the input, `y` that of the output.
struct axes_tile_arguments {
  const unsigned char* in;
  unsigned char* out;
  tile_side x;
  tile_side y;
  divider x_tiles;
  divider y_tiles;
  counted_axes<most_outer_axes> outer;
};

/// What threads of a tile move: elements, by an operation. A tile has `lanes` x `lanes` items of `count` x `count` elements.
template <class Tile, class Operation>
struct element_items {
  static constexpr unsigned count = 1;
  static constexpr unsigned lanes = Tile::cols;
  using held = typename Operation::stored;
  Tile tile;
  const Operation& operation;

  TILETRANSPOSE_FUNCTION held load(const unsigned char* from, long long, unsigned row,
                                   unsigned col) const {
    return operation.load(from, row, col);
  }
  TILETRANSPOSE_FUNCTION void keep(unsigned down, unsigned across, const held& value) const {
    tile.set(static_cast<int>(down), static_cast<int>(across), value);
  }
  TILETRANSPOSE_FUNCTION void store(unsigned char* to, long long, unsigned down,
                                    unsigned across) const {
    operation.store(to, tile.get(static_cast<int>(down), static_cast<int>(across)), {}, 0, 0);
  }
};

/// Or micro-blocks, which they transpose in registers: rows of them are loaded, columns are stored. In shared memory a row
/// of columns has its micro-blocks in an order of its own, so that neither side has more than two conflict ways.
template <int ElementBytes, int Lanes>
struct micro_items {
  static constexpr unsigned count = micro_elements;
  static constexpr unsigned lanes = Lanes;
  static constexpr int bytes = ElementBytes * micro_elements;  ///< of a row or a column
  static constexpr int shared_bytes = bytes * micro_elements * Lanes * Lanes;
  using row = element_words<bytes, access_width(bytes)>;
  struct held {
    row rows[micro_elements];
  };
  unsigned char* shared;

  /// Column `col` of the micro-blocks in row `down`.
  TILETRANSPOSE_FUNCTION unsigned char* place(unsigned down, unsigned across, int col) const {
    const unsigned at = (across * count + static_cast<unsigned>(col)) * lanes + (down ^ across);
    return shared + at * bytes;
  }
  TILETRANSPOSE_FUNCTION held load(const unsigned char* from, long long step, unsigned,
                                   unsigned) const {
    held value;
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < micro_elements; ++i) {
      const loop_step here(i);
      value.rows[i] = load_global<row>(from + i * step);
    }
    return value;
  }
  TILETRANSPOSE_FUNCTION void keep(unsigned down, unsigned across, const held& value) const {
    unsigned words[micro_elements][bytes / 4];
    unsigned transposed[micro_elements][bytes / 4];
    __builtin_memcpy(words, &value, sizeof words);
    thread_transpose<ElementBytes>(transposed, words);
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < micro_elements; ++i) {
      const loop_step here(i);
      row column;
      __builtin_memcpy(&column, transposed[i], bytes);
      store_shared(place(down, across, i), column);
    }
  }
  TILETRANSPOSE_FUNCTION void store(unsigned char* to, long long step, unsigned down,
                                    unsigned across) const {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < micro_elements; ++i) {
      const loop_step here(i);
      store_global(to + i * step, load_shared<row>(place(down, across, i)));
    }
  }
};

/// The body of the tile kernel: block b moves tile b, counted along y, then x, then the outer axes. Consecutive threads
/// load along x, and store along y. Each place along a side is worked out by one lane; lanes ask each other.
/// Shared memory: that of `Items`. Barriers: one, inside.
template <int BlockRows, class Group, class Items>
TILETRANSPOSE_FUNCTION void move_axes_tile(Group group, const Items& items,
                                           const axes_tile_arguments& arguments, unsigned block) {
  constexpr unsigned lanes = Items::lanes;
  constexpr unsigned count = Items::count;
  constexpr unsigned side = lanes * count;
  constexpr int rounds = static_cast<int>(lanes) / BlockRows;
  const unsigned line = arguments.y_tiles.quotient(block);
  const unsigned y0 = arguments.y_tiles.remainder(block, line) * side;
  const unsigned outer = arguments.x_tiles.quotient(line);
  const unsigned x0 = arguments.x_tiles.remainder(line, outer) * side;
  const axis_steps matrix = arguments.outer.places(outer);
  const unsigned lane = group.thread_rank() % lanes;
  const unsigned first = group.thread_rank() / lanes;
  const unsigned col = x0 + lane * count;
  const unsigned row = y0 + lane * count;
  const axis_steps x = arguments.x.axes.places(col);
  const axis_steps y = arguments.y.axes.places(row);
  const unsigned char* const from = arguments.in + (matrix.in + x.in);
  unsigned char* const to = arguments.out + (matrix.out + y.out);

  typename Items::held held[rounds];
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < rounds; ++k) {
    const loop_step here(k);
    const unsigned down = first + static_cast<unsigned>(k * BlockRows);
    const long long at = shuffle(y.in, down);
    if (col < arguments.x.extent && y0 + down * count < arguments.y.extent) {
      held[k] = items.load(from + at, arguments.y.axes.steps[0].in, y0 + down, col);
    }
  }
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < rounds; ++k) {
    const loop_step here(k);
    const unsigned down = first + static_cast<unsigned>(k * BlockRows);
    if (col < arguments.x.extent && y0 + down * count < arguments.y.extent) {
      items.keep(down, lane, held[k]);
    }
  }
  group.sync();
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < rounds; ++k) {
    const loop_step here(k);
    const unsigned across = first + static_cast<unsigned>(k * BlockRows);
    const long long at = shuffle(x.out, across);
    if (x0 + across * count < arguments.x.extent && row < arguments.y.extent) {
      items.store(to + at, arguments.x.axes.steps[0].out, lane, across);
    }
  }
}

/// Moves elements that follow each other in the output, but not in the input, together.
template <int ElementBytes, int Elements>
struct gather_operation {
  using word = access_word_t<ElementBytes>;
  struct alignas(ElementBytes* Elements) stored {
    word words[Elements];
  };
  using fetched = no_operand;
  static constexpr bool fetches = false;
  static constexpr int bytes = ElementBytes * Elements;
  static constexpr int accesses = 1;
  long long places[Elements];

  TILETRANSPOSE_FUNCTION stored load(const unsigned char* from, unsigned, unsigned) const {
    stored value;
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < Elements; ++i) {
      const loop_step here(i);
      value.words[i] = load_global<word>(from + places[i]);
    }
    return value;
  }
  static TILETRANSPOSE_FUNCTION void store(unsigned char* to, const stored& value, fetched,
                                           unsigned, unsigned) {
    access_word_t<bytes> all;
    __builtin_memcpy(&all, &value, sizeof all);
    store_global(to, all);
  }
  static TILETRANSPOSE_FUNCTION void show_compiler() {}
};

/// What the element kernel moves. A block stays at one place along the outer axes, which all of its threads share.
struct axes_element_arguments {
  const unsigned char* in;
  unsigned char* out;
  unsigned elements;   ///< of the inner axes
  unsigned per_block;  ///< that a block takes of them
  divider blocks;      ///< that move these together
  counted_axes<most_counted_axes> inner;
  counted_axes<most_counted_axes> outer;
};

/// Threads of a block that moves elements one by one, and how many each of them moves of elements of so many accesses,
/// where all are many.
inline constexpr int axes_element_threads = 256;
TILETRANSPOSE_HOST_DEVICE constexpr int axes_element_rounds(int accesses) {
  return accesses <= 4 ? 4 : 1;
}

/// The body of the element kernel: block b moves at most `per_block` elements of the inner axes, and is counted along
/// them first.
template <class Group, class Operation>
TILETRANSPOSE_FUNCTION void move_axes_elements(Group group, const axes_element_arguments& arguments,
                                               const Operation& operation, unsigned block) {
  static_assert(!Operation::fetches, "");
  constexpr int threads = axes_element_threads;
  constexpr int rounds = axes_element_rounds(Operation::accesses);
  const unsigned outer = arguments.blocks.quotient(block);
  const unsigned begin = arguments.blocks.remainder(block, outer) * arguments.per_block;
  const unsigned end = smaller(begin + arguments.per_block, arguments.elements);
  const unsigned first = begin + group.thread_rank();
  const axis_steps there = arguments.outer.places(outer);
  const unsigned char* const in = arguments.in + there.in;
  unsigned char* const out = arguments.out + there.out;
  typename Operation::stored held[rounds];
  unsigned char* places[rounds] = {};
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < rounds; ++k) {
    const loop_step here(k);
    const unsigned i = first + static_cast<unsigned>(k * threads);
    if (i >= end) { continue; }
    const axis_steps at = arguments.inner.places(i);
    held[k] = operation.load(in + at.in, 0, 0);
    places[k] = out + at.out;
  }
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < rounds; ++k) {
    const loop_step here(k);
    if (first + static_cast<unsigned>(k * threads) >= end) { continue; }
    operation.store(places[k], held[k], {}, 0, 0);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
