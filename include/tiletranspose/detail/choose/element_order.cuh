// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How a relocation is moved without tiles: which elements are taken for one wide one, and in which order they are counted.
/// Pure functions, plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/choose_small.cuh>
#include <tiletranspose/detail/choose/tuning_axes.cuh>
#include <tiletranspose/detail/request/relocation.cuh>
#include <tiletranspose/layout.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Blocks of single elements take one more axis while less than this is used of them: percent.
inline constexpr size_type least_filled_blocks = 90;

/// How much is used of as many lengths of `length` elements as `extent` elements need: percent.
constexpr size_type filled(size_type extent, size_type length) {
  return 100 * extent / (divide_up(extent, length) * length);
}

/// How elements are counted one by one: `axes`, the fastest first. Blocks of threads stay within the first `inner` of them.
struct element_order {
  int axes[most_axes];
  int inner;
  size_type inner_extent;  ///< elements along all of these
};

/// Counts along the output's fastest axis and the input's, as far as both can be short enough for a block to reach, and
/// then along the output. `block` elements are a block's.
inline element_order order_elements(const relocation& move, size_type block) {
  element_order order{{}, 0, 1};
  bool taken[most_axes] = {};
  if (move.rank == 0) { return order; }
  int count = 0;
  const auto take = [&](int axis) {
    order.axes[count++] = axis;
    taken[axis] = true;
  };
  const int y = move.rank - 1;
  const int x = nearest_of_input(move, taken);
  if (move.axes[y].extent > most_near_extent && move.axes[x].extent <= most_first_extent) {
    take(x);
  }
  if (!taken[y]) { take(y); }
  const int nearest = nearest_of_input(move, taken);
  if (nearest >= 0 && move.axes[nearest].extent <= most_near_extent) { take(nearest); }
  while (count < move.rank) { take(nearest_of_output(move, taken)); }
  while (order.inner < count &&
         (order.inner == 0 || filled(order.inner_extent, block) < least_filled_blocks)) {
    const size_type extent = move.axes[order.axes[order.inner]].extent;
    if (order.inner > 0 && extent > most_counted / order.inner_extent) { break; }
    order.inner_extent *= extent;
    ++order.inner;
  }
  return order;
}

/// Elements that make 16 bytes, where as many may be stored together; else 1.
constexpr int elements_together(int element_bytes) {
  return is_power_of_two(element_bytes) && element_bytes < max_access_bytes
             ? max_access_bytes / element_bytes
             : 1;
}

/// Where the elements of a wide one of the output come from: bytes from the first of them.
using gathered_places = long long[max_access_bytes];

/// Takes `together` elements that follow each other in the output for one; false where they do not come from the same
/// places everywhere, or their own place is not aligned. Precondition: a power of two; as wide an access exists.
inline bool gather(relocation& move, size_type together, gathered_places& places) {
  const size_type width = together * move.out_element;
  relocation wide = move;
  size_type taken = 1;
  int k = move.rank - 1;
  for (; taken < together; --k) {
    if (k < 0 || move.axes[k].out_stride != static_cast<long long>(taken)) { return false; }
    relocation_axis& axis = wide.axes[k];
    const size_type here = smaller(axis.extent, together / taken);
    if (axis.extent % here != 0 || together / taken % here != 0) { return false; }
    const long long step = axis.in_stride * static_cast<long long>(move.in_element);
    for (size_type i = taken; i < taken * here; ++i) {
      places[i] = places[i % taken] + static_cast<long long>(i / taken) * step;
    }
    axis.extent /= here;
    axis.in_stride *= static_cast<long long>(here);
    axis.out_stride *= static_cast<long long>(here);
    taken *= here;
  }
  size_type bits = reinterpret_cast<size_type>(move.out);
  for (k = 0; k < move.rank; ++k) {
    const auto stride = static_cast<size_type>(wide.axes[k].out_stride);
    if (wide.axes[k].extent > 1) { bits |= stride * move.out_element; }
    wide.axes[k].out_stride = static_cast<long long>(stride / together);
  }
  if (bits % width != 0) { return false; }
  wide.out_element = width;
  int kept = 0;
  for (k = 0; k < move.rank; ++k) {
    if (wide.axes[k].extent > 1) { wide.axes[kept++] = wide.axes[k]; }
  }
  wide.rank = kept;
  move = wide;
  return true;
}

/// Takes the same bytes for elements of `width` bytes, of which all strides but those of the fastest axis are multiples.
inline void resize_elements(relocation& move, size_type width) {
  const auto scale = [&](long long stride) {
    return stride * static_cast<long long>(move.in_element) / static_cast<long long>(width);
  };
  for (int k = 0; k < move.rank; ++k) {
    move.axes[k].in_stride = scale(move.axes[k].in_stride);
    move.axes[k].out_stride = scale(move.axes[k].out_stride);
  }
  move.in_element = move.out_element = width;
}

/// The same where the fastest axis is contiguous on both sides. Precondition: its length is a multiple of them, too.
inline void join_elements(relocation& move, size_type width) {
  relocation_axis& fast = move.axes[move.rank - 1];
  const size_type extent = fast.extent * move.in_element / width;
  resize_elements(move, width);
  fast = {extent, 1, 1};
}

/// Takes three elements of 1 or 2 bytes, such as those of a pixel, for one; false where the fastest axis is not three,
/// contiguous on both sides, or others step by less. Precondition: as of widen.
inline bool pack(relocation& move) {
  const int y = move.rank - 1;
  const relocation_axis& fast = move.axes[y];
  if (move.in_element > 2 || fast.extent != 3 || fast.in_stride != 1 || fast.out_stride != 1) {
    return false;
  }
  for (int k = 0; k < y; ++k) {
    if (move.axes[k].in_stride % 3 != 0 || move.axes[k].out_stride % 3 != 0) { return false; }
  }
  join_elements(move, 3 * move.in_element);
  return true;
}

/// Takes the same bytes for elements as wide as all of it allows, up to 16 bytes; false where the fastest axis is not
/// contiguous on both sides. Precondition: input and output have elements of one size.
inline bool widen(relocation& move) {
  const int y = move.rank - 1;
  if (move.axes[y].in_stride != 1 || move.axes[y].out_stride != 1) { return false; }
  size_type bits = reinterpret_cast<size_type>(move.in) | reinterpret_cast<size_type>(move.out) |
                   move.axes[y].extent * move.in_element | max_access_bytes;
  for (int k = 0; k < y; ++k) {
    bits |=
        static_cast<size_type>(move.axes[k].in_stride | move.axes[k].out_stride) * move.in_element;
  }
  join_elements(move, bits & (0 - bits));
  return true;
}

/// Takes the accesses of an element for elements of their own, along one axis more.
inline relocation as_accesses(relocation move, size_type access_bytes) {
  const size_type accesses = move.in_element / access_bytes;
  if (accesses == 1) { return move; }
  resize_elements(move, access_bytes);
  move.axes[move.rank++] = {accesses, 1, 1};
  normalize(move);
  return move;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
