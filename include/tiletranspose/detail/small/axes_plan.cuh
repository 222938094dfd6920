// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The launches of the mover for little work for arrays of more axes. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/choose_axes.cuh>
#include <tiletranspose/detail/choose/word_shifted_tile.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/small/axes_kernel.cuh>
#include <tiletranspose/detail/small/word_shifted_tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Counts one axis more.
template <int MostAxes>
void count_axis(counted_axes<MostAxes>& axes, const relocation& move, int axis) {
  axes.extents[axes.count] = divider(move.axes[axis].extent);
  axes.steps[axes.count] = {move.axes[axis].in_stride * static_cast<long long>(move.in_element),
                            move.axes[axis].out_stride * static_cast<long long>(move.out_element)};
  ++axes.count;
}

/// Where `most` is less than the product of all extents, or some extent is not counted by 31 bits.
inline bool exceeds(const relocation& move, size_type most) {
  size_type elements = 1;
  for (int k = 0; k < move.rank; ++k) {
    if (move.axes[k].extent > most / elements) { return true; }
    elements *= move.axes[k].extent;
  }
  return false;
}

inline tile_side make_side(const relocation& move, const side_axes& axes) {
  tile_side side{static_cast<unsigned>(axes.extent), {}};
  for (int k = 0; k < axes.count; ++k) { count_axis(side.axes, move, axes.axes[k]); }
  return side;
}

/// The axes outside of a tile's sides; the others have one element left.
inline relocation outside_of(const side_axes (&sides)[2], relocation move) {
  for (const side_axes& side : sides) {
    for (int k = 0; k < side.count; ++k) { move.axes[side.axes[k]].extent = 1; }
  }
  return move;
}

/// Tiles along two sides, and along the other axes.
inline axes_tile_arguments make_tile_arguments(const side_axes (&sides)[2], const relocation& move,
                                               size_type x_tiles, size_type y_tiles) {
  axes_tile_arguments arguments{static_cast<const unsigned char*>(move.in),
                                static_cast<unsigned char*>(move.out),
                                make_side(move, sides[0]),
                                make_side(move, sides[1]),
                                divider(x_tiles),
                                divider(y_tiles),
                                {}};
  const relocation outer = outside_of(sides, move);
  for (int k = move.rank - 1; k >= 0; --k) {
    if (outer.axes[k].extent > 1) { count_axis(arguments.outer, outer, k); }
  }
  return arguments;
}

/// Calls launch(arguments, blocks) for each launch of tiles, along the sides that were chosen, until one fails.
template <class Launch>
auto plan_axes_tiles(const axes_choice& choice, const relocation& move, Launch launch)
    -> decltype(launch(axes_tile_arguments{}, size_type{})) {
  const auto side = static_cast<size_type>(choice.tile_side);
  const size_type x_tiles = divide_up(choice.sides[0].extent, side);
  const size_type y_tiles = divide_up(choice.sides[1].extent, side);
  const relocation outer = outside_of(choice.sides, move);
  const size_type longer = larger(choice.sides[0].extent, choice.sides[1].extent);
  if (longer > most_counted || exceeds(outer, max_blocks / (x_tiles * y_tiles))) {
    return split(move, [&](const relocation& part) {
      axes_choice chosen = choice;
      fill_sides(chosen, part, choice.tile_side);
      return plan_axes_tiles(chosen, part, launch);
    });
  }
  return launch(make_tile_arguments(choice.sides, move, x_tiles, y_tiles),
                x_tiles * y_tiles * count_elements(outer));
}

/// The launch of word-shifted tiles. Precondition: fits_word_shifted_tiles.
inline launch_plan<word_shifted_tile_arguments> plan_word_shifted_tiles(const axes_choice& choice,
                                                                        const relocation& move) {
  const word_shifted_tile_shape shape{static_cast<int>(move.in_element)};
  const word_shifted_tiles tiles = cut_word_shifted_tiles(choice, move, shape);
  const auto* const in = static_cast<const unsigned char*>(move.in);
  return {{make_tile_arguments(tiles.sides, move, tiles.x_tiles, tiles.y_tiles),
           static_cast<unsigned>(tiles.rows), static_cast<unsigned>(tiles.outer), in,
           in + count_elements(move) * move.in_element},
          tiles.blocks(),
          shape.threads(),
          0};
}

/// The same for elements one by one.
template <class Launch>
auto plan_axes_elements(const relocation& move, int accesses, Launch launch)
    -> decltype(launch(axes_element_arguments{}, size_type{})) {
  const int rounds = exceeds(move, most_single_round) ? axes_element_rounds(accesses) : 1;
  const auto block = static_cast<size_type>(axes_element_threads * rounds);
  const element_order order = order_elements(move, block);
  size_type blocks = divide_up(order.inner_extent, block);
  relocation outer = move;
  for (int k = 0; k < order.inner; ++k) { outer.axes[order.axes[k]].extent = 1; }
  if (order.inner_extent > most_counted - block || exceeds(outer, max_blocks / blocks)) {
    return split(
        move, [&](const relocation& part) { return plan_axes_elements(part, accesses, launch); });
  }
  axes_element_arguments arguments{static_cast<const unsigned char*>(move.in),
                                   static_cast<unsigned char*>(move.out),
                                   static_cast<unsigned>(order.inner_extent),
                                   static_cast<unsigned>(block),
                                   divider(blocks),
                                   {},
                                   {}};
  for (int k = 0; k < move.rank; ++k) {
    const int axis = order.axes[k];
    count_axis(k < order.inner ? arguments.inner : arguments.outer, move, axis);
    blocks *= outer.axes[axis].extent;
  }
  return launch(arguments, blocks);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
