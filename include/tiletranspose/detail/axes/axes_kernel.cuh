// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The parts of the kernels, and the plans, of the mover for arrays of more axes than a batch of matrices has, little ones and
/// large ones: a tile, of elements or of micro-blocks, passes through shared memory where the fastest axes of input and output
/// differ, and elements are moved directly where they are the same or one is short. Blocks are counted along the output's
/// fastest axis first, elements as order_elements says.

#pragma once

#include <tiletranspose/detail/choose/choose_axes_copy.cuh>
#include <tiletranspose/detail/core/element_tile.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/core/shuffle.cuh>
#include <tiletranspose/warp_transpose.cuh>

#include <type_traits>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Bytes from an element to the next, on both sides, or from the first one to another: of type int where that can be
/// (has_short_places), else long long. A launch finds none of its arguments in the multiprocessors' caches, and waits for every
/// line of them.
template <class Step>
struct axis_steps {
  Step in;
  Step out;
};

/// An axis of those that an index counts, the fastest first. All quotients are of the index itself, so that none waits for
/// another: index / (elements along the faster axes) steps lie along this axis, each less the way along the next faster one
/// that was gone until then. Sums may overflow on their way, as unsigned numbers do.
template <class Step>
struct counted_axis {
  quotients faster;
  axis_steps<Step> steps;

  TILETRANSPOSE_FUNCTION void count(unsigned index, axis_steps<Step>& at) const {
    using wrapping = std::make_unsigned_t<Step>;
    const wrapping here = faster.quotient(index);
    const auto sum = [&](Step place, Step step) {
      return static_cast<Step>(static_cast<wrapping>(place) + here * static_cast<wrapping>(step));
    };
    at = {sum(at.in, steps.in), sum(at.out, steps.out)};
  }
};
/// The same along `used` axes.
template <int MostAxes, class Step>
TILETRANSPOSE_FUNCTION void count_along(const counted_axis<Step>* axes, int used, unsigned index,
                                        axis_steps<Step>& at) {
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < MostAxes; ++k) {
    if (k >= used) { break; }
    axes[k].count(index, at);
  }
}

/// The axes of a tile's side, those outside of a tile, and all axes.
inline constexpr int most_side_axes = 3;
inline constexpr int most_outer_axes = 6;
inline constexpr int most_counted_axes = 8;

/// A side of a tile runs along one axis or, where that is short, along several, the fastest first.
template <class Step>
struct tile_side {
  unsigned extent;   ///< elements along all of them
  unsigned fastest;  ///< along the fastest alone
  int further;       ///< axes beside it
  counted_axis<Step> axis;
};

/// What the tile kernel moves: side 0 has the fastest axis of the input, side 1 that of the output. What most arrays need
/// comes first, and together.
template <class Step>
struct axes_tile_arguments {
  const unsigned char* in;
  unsigned char* out;
  divider x_tiles;
  divider y_tiles;
  tile_side<Step> sides[2];
  int outer_axes;
  counted_axis<Step> outer[most_outer_axes];
  counted_axis<Step> further[2][most_side_axes - 1];

  /// The places of an element of a side, from `at` on, and of a tile's matrix.
  TILETRANSPOSE_FUNCTION axis_steps<Step> places(int side, unsigned index,
                                                 axis_steps<Step> at = {0, 0}) const {
    sides[side].axis.count(index, at);
    count_along<most_side_axes - 1>(further[side], sides[side].further, index, at);
    return at;
  }
  /// The index along the fastest axis of a side.
  TILETRANSPOSE_FUNCTION unsigned fastest_index(int side, unsigned index) const {
    return sides[side].further == 0
               ? index
               : index - further[side][0].faster.quotient(index) * sides[side].fastest;
  }
  TILETRANSPOSE_FUNCTION axis_steps<Step> outer_places(unsigned index) const {
    axis_steps<Step> at{0, 0};
    count_along<most_outer_axes>(outer, outer_axes, index, at);
    return at;
  }
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
  TILETRANSPOSE_FUNCTION void keep(unsigned down, unsigned across, const held& value, unsigned,
                                   unsigned) const {
    tile.set(static_cast<int>(down), static_cast<int>(across), value);
  }
  TILETRANSPOSE_FUNCTION void store(unsigned char* to, long long, unsigned down,
                                    unsigned across) const {
    operation.store(to, tile.get(static_cast<int>(down), static_cast<int>(across)), {}, 0, 0);
  }
};

/// Or micro-blocks: their rows are loaded, converted by the operation and transposed in registers, and columns are stored. In
/// shared memory a row of columns has its micro-blocks in an order of its own, so that neither side has more than two
/// conflict ways.
template <class Operation, int Lanes>
struct micro_items {
  static constexpr unsigned count = micro_elements;
  static constexpr unsigned lanes = Lanes;
  static constexpr int row_bytes = Operation::in_bytes * micro_elements;
  static constexpr int bytes = Operation::out_bytes * micro_elements;  ///< of a column
  static constexpr int shared_bytes = bytes * micro_elements * Lanes * Lanes;
  using row = element_words<row_bytes, access_width(row_bytes)>;
  using out_column = element_words<bytes, access_width(bytes)>;
  struct held {
    row rows[micro_elements];
  };
  unsigned char* shared;
  const Operation& operation;

  /// Column `col` of the micro-blocks in row `down`.
  TILETRANSPOSE_FUNCTION unsigned char* place(unsigned down, unsigned across, int col) const {
    const unsigned at = (across * count + static_cast<unsigned>(col)) * lanes + (down ^ across);
    return shared + at * bytes;
  }
  TILETRANSPOSE_FUNCTION held load(const unsigned char* from, long long step, unsigned,
                                   unsigned) const {
    held value;
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < micro_elements; ++i) { value.rows[i] = load_global<row>(from + i * step); }
    return value;
  }
  TILETRANSPOSE_FUNCTION void keep(unsigned down, unsigned across, const held& value, unsigned y,
                                   unsigned x) const {
    unsigned words[micro_elements][bytes / 4];
    unsigned transposed[micro_elements][bytes / 4];
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < micro_elements; ++i) {
      operation.convert(words[i], value.rows[i], y + static_cast<unsigned>(i), x);
    }
    thread_transpose<Operation::out_bytes>(transposed, words);
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < micro_elements; ++i) {
      out_column column;
      __builtin_memcpy(&column, transposed[i], bytes);
      store_shared(place(down, across, i), column);
    }
  }
  TILETRANSPOSE_FUNCTION void store(unsigned char* to, long long step, unsigned down,
                                    unsigned across) const {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < micro_elements; ++i) {
      store_global(to + i * step, load_shared<out_column>(place(down, across, i)));
    }
  }
};

/// The body of the tile kernel: block b moves tile b, counted along y, then x, then the outer axes. Consecutive threads
/// load along x, and store along y. Each place along a side is worked out by one lane; lanes ask each other.
/// Shared memory: that of `Items`. Barriers: one, inside.
template <int BlockRows, class Group, class Items, class Step>
TILETRANSPOSE_FUNCTION void move_axes_tile(Group group, const Items& items,
                                           const axes_tile_arguments<Step>& arguments,
                                           unsigned block) {
  constexpr unsigned lanes = Items::lanes;
  constexpr unsigned count = Items::count;
  constexpr unsigned side = lanes * count;
  constexpr int rounds = static_cast<int>(lanes) / BlockRows;
  const unsigned line = arguments.y_tiles.quotient(block);
  const unsigned y0 = arguments.y_tiles.remainder(block, line) * side;
  const unsigned outer = arguments.x_tiles.quotient(line);
  const unsigned x0 = arguments.x_tiles.remainder(line, outer) * side;
  const axis_steps<Step> matrix = arguments.outer_places(outer);
  const unsigned lane = group.thread_rank() % lanes;
  const unsigned first = group.thread_rank() / lanes;
  const unsigned col = x0 + lane * count;
  const unsigned row = y0 + lane * count;
  const axis_steps<Step> x = arguments.places(0, col, {matrix.in, 0});
  const axis_steps<Step> y = arguments.places(1, row, {0, matrix.out});
  const unsigned char* const from = arguments.in + x.in;
  unsigned char* const to = arguments.out + y.out;

  typename Items::held held[rounds];
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < rounds; ++k) {
    const unsigned down = first + static_cast<unsigned>(k * BlockRows);
    const Step at = shuffle(y.in, down);
    if (col < arguments.sides[0].extent && y0 + down * count < arguments.sides[1].extent) {
      held[k] = items.load(from + at, arguments.sides[1].axis.steps.in, y0 + down, col);
    }
  }
  keep_access_order();
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < rounds; ++k) {
    const unsigned down = first + static_cast<unsigned>(k * BlockRows);
    const unsigned held_row = y0 + down * count;
    if (col < arguments.sides[0].extent && held_row < arguments.sides[1].extent) {
      items.keep(down, lane, held[k], arguments.fastest_index(1, held_row),
                 arguments.fastest_index(0, col));
    }
  }
  group.sync();
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < rounds; ++k) {
    const unsigned across = first + static_cast<unsigned>(k * BlockRows);
    const Step at = shuffle(x.out, across);
    if (x0 + across * count < arguments.sides[0].extent && row < arguments.sides[1].extent) {
      items.store(to + at, arguments.sides[0].axis.steps.out, lane, across);
    }
  }
}

/// Moves elements that follow each other in the output, but not in the input, together.
template <int ElementBytes, int Elements>
struct gather_operation : copy_operation<ElementBytes * Elements, ElementBytes * Elements> {
  using word = access_word_t<ElementBytes>;
  struct alignas(ElementBytes* Elements) stored {
    word words[Elements];
  };
  long long places[Elements];

  TILETRANSPOSE_FUNCTION stored load(const unsigned char* from, unsigned, unsigned) const {
    stored value;
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < Elements; ++i) { value.words[i] = load_global<word>(from + places[i]); }
    return value;
  }
  static TILETRANSPOSE_FUNCTION void store(unsigned char* to, const stored& value, no_operand,
                                           unsigned, unsigned) {
    access_word_t<ElementBytes * Elements> all;
    __builtin_memcpy(&all, &value, sizeof all);
    store_global(to, all);
  }
};

/// What the element kernel moves. A block stays at one place along the outer axes, which all of its threads share.
template <class Step>
struct axes_element_arguments {
  const unsigned char* in;
  unsigned char* out;
  unsigned elements;   ///< of the inner axes
  unsigned per_block;  ///< that a block takes of them
  divider blocks;      ///< that move these together
  int inner;           ///< axes of them, before the others
  int axes;            ///< all of them
  counted_axis<Step> axis[most_counted_axes] = {};
};

/// Threads of a block that moves elements one by one, and how many each of them moves of elements of so many accesses and
/// bytes, where all are many: up to 16 bytes, at most four elements, and one that takes more than four accesses; of what is
/// gathered, which a thread waits for longer, two.
inline constexpr int axes_element_threads = 256;
constexpr int axes_element_rounds(int accesses, int bytes) {
  return accesses > 4 ? 1 : larger(1, smaller(4, max_access_bytes / bytes));
}
inline constexpr int gathered_rounds = 2;
template <class Operation>
inline constexpr int element_rounds_of =
    axes_element_rounds(Operation::accesses, larger(Operation::in_bytes, Operation::out_bytes));
template <int ElementBytes, int Elements>
inline constexpr int element_rounds_of<gather_operation<ElementBytes, Elements>> = gathered_rounds;

/// Makes the axes that an index counts, one after the other. Precondition: Step counts the places.
template <class Step>
struct axis_counter {
  const relocation& move;
  size_type faster = 1;
  axis_steps<size_type> gone{0, 0};

  counted_axis<Step> next(int axis) {
    const auto in = static_cast<size_type>(move.in_step(axis));
    const auto out = static_cast<size_type>(move.out_step(axis));
    const counted_axis<Step> counted{
        quotients(faster), {static_cast<Step>(in - gone.in), static_cast<Step>(out - gone.out)}};
    const size_type extent = move.axes[axis].extent;
    gone = {in * extent, out * extent};
    faster *= extent;
    return counted;
  }
};

/// The axes outside of a tile's sides; the others have one element left.
inline relocation outside_of(const side_axes (&sides)[2], relocation move) {
  for (const side_axes& side : sides) {
    for (int k = 0; k < side.count; ++k) { move.axes[side.axes[k]].extent = 1; }
  }
  return move;
}

/// Tiles along two sides, and along the other axes.
template <class Step>
axes_tile_arguments<Step> make_tile_arguments(const side_axes (&sides)[2], const relocation& move,
                                              size_type x_tiles, size_type y_tiles) {
  axes_tile_arguments<Step> arguments{};
  arguments.in = static_cast<const unsigned char*>(move.in);
  arguments.out = static_cast<unsigned char*>(move.out);
  arguments.x_tiles = divider(x_tiles);
  arguments.y_tiles = divider(y_tiles);
  for (int s = 0; s < 2; ++s) {
    const side_axes& side = sides[s];
    axis_counter<Step> counter{move};
    arguments.sides[s] = {static_cast<unsigned>(side.extent),
                          static_cast<unsigned>(move.axes[side.axes[0]].extent), side.count - 1,
                          counter.next(side.axes[0])};
    for (int k = 1; k < side.count; ++k) {
      arguments.further[s][k - 1] = counter.next(side.axes[k]);
    }
  }
  const relocation outer = outside_of(sides, move);
  axis_counter<Step> counter{outer};
  for (int k = move.rank - 1; k >= 0; --k) {
    if (outer.axes[k].extent > 1) { arguments.outer[arguments.outer_axes++] = counter.next(k); }
  }
  return arguments;
}

/// Calls launch(plan) for each launch of tiles along the chosen sides until one fails. A thread keeps an element as `accesses`.
/// Precondition: Step counts the places.
template <class Step, class Launch>
auto plan_axes_tiles(const axes_choice& choice, const relocation& move, int accesses, Launch launch)
    -> decltype(launch(launch_plan<axes_tile_arguments<Step>>{})) {
  const auto side = static_cast<size_type>(choice.tile_side);
  const size_type x_tiles = divide_up(choice.sides[0].extent, side);
  const size_type y_tiles = divide_up(choice.sides[1].extent, side);
  const relocation outer = outside_of(choice.sides, move);
  const size_type longer = larger(choice.sides[0].extent, choice.sides[1].extent);
  if (longer > most_counted || count_elements(outer) > max_blocks / (x_tiles * y_tiles)) {
    return split(move, [&](const relocation& part) {
      axes_choice chosen = choice;
      fill_sides(chosen, part, choice.tile_side);
      return plan_axes_tiles<Step>(chosen, part, accesses, launch);
    });
  }
  const int block_rows = choice.together > 1 ? micro_block_rows : axes_block_rows(accesses);
  return launch(launch_plan<axes_tile_arguments<Step>>{
      make_tile_arguments<Step>(choice.sides, move, x_tiles, y_tiles),
      x_tiles * y_tiles * count_elements(outer), choice.tile_side / choice.together * block_rows,
      0});
}

/// The same for elements one by one, of which a thread moves `most_rounds` at most.
template <class Step, class Launch>
auto plan_axes_elements(const relocation& move, int most_rounds, Launch launch)
    -> decltype(launch(launch_plan<axes_element_arguments<Step>>{})) {
  const bool few = count_elements(move) <= most_single_round;
  const auto block = static_cast<size_type>(axes_element_threads * (few ? 1 : most_rounds));
  const element_order order = order_elements(move, few ? most_single_round : block);
  size_type blocks = divide_up(order.inner_extent, block);
  relocation outer = move;
  for (int k = 0; k < order.inner; ++k) { outer.axes[order.axes[k]].extent = 1; }
  // Blocks would be mostly empty where the next axis is too long to be counted with those that they stay within.
  const bool empty = order.inner < move.rank && 2 * order.inner_extent < block;
  if (empty || order.inner_extent > most_counted - block ||
      count_elements(outer) > max_blocks / blocks) {
    return split(move, [&](const relocation& part) {
      return plan_axes_elements<Step>(part, most_rounds, launch);
    });
  }
  axes_element_arguments<Step> arguments{static_cast<const unsigned char*>(move.in),
                                         static_cast<unsigned char*>(move.out),
                                         static_cast<unsigned>(order.inner_extent),
                                         static_cast<unsigned>(block),
                                         divider(blocks),
                                         order.inner,
                                         move.rank};
  axis_counter<Step> inside{move};
  axis_counter<Step> outside{move};
  for (int k = 0; k < move.rank; ++k) {
    arguments.axis[k] = (k < order.inner ? inside : outside).next(order.axes[k]);
    blocks *= outer.axes[k].extent;
  }
  return launch(
      launch_plan<axes_element_arguments<Step>>{arguments, blocks, axes_element_threads, 0});
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
