// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Moves of arrays of any rank: every element has a place in the input and one in the output, and both are sums of its
/// indices times strides. A permute of axes, a flip, a rotation and a batch are strides. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/request/request.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Axes that a caller may give, and those that may be left when axes that stay together are one.
inline constexpr int most_given_axes = 16;
inline constexpr int most_axes = 8;

/// What is to be moved, from the element on whose indices are all 0. After `normalize` the axes are those that matter, the
/// slowest of the output first.
struct relocation : typed_sides {
  int rank;
  relocation_axis axes[most_given_axes];
  bool permutes = true;  ///< false where the caller's axes repeat, or are none of the array's

  /// Bytes from an element to the next along an axis.
  long long in_step(int axis) const {
    return axes[axis].in_stride * static_cast<long long>(in_element);
  }
  long long out_step(int axis) const {
    return axes[axis].out_stride * static_cast<long long>(out_element);
  }
};

/// True where `axes` names each of 0 .. rank - 1 once. Precondition: most_given_axes at most.
inline bool is_permutation(const int* axes, int rank) {
  bool taken[most_given_axes] = {};
  for (int k = 0; k < rank; ++k) {
    if (axes[k] < 0 || axes[k] >= rank || taken[axes[k]]) { return false; }
    taken[axes[k]] = true;
  }
  return true;
}

/// Gives a relocation the strides of dense arrays: axis j of the output is axis axes[j] of the input, the last of each is
/// the fastest. False where `axes` is no permutation.
inline bool permute_axes(relocation& move, const size_type* extents, const int* axes) {
  if (!is_permutation(axes, move.rank)) { return false; }
  size_type in_stride = 1;
  for (int k = move.rank - 1; k >= 0; --k) {
    move.axes[k] = {extents[k], static_cast<long long>(in_stride), 0};
    in_stride *= extents[k];  // where this wraps, `examine` finds it
  }
  size_type out_stride = 1;
  for (int j = move.rank - 1; j >= 0; --j) {
    move.axes[axes[j]].out_stride = static_cast<long long>(out_stride);
    out_stride *= extents[axes[j]];
  }
  return true;
}

/// Sets the memory from the first byte that a side reaches to the last; false where it overflows. Nobody steps along an axis
/// of one element.
inline bool find_reach(const relocation& move, bool input, memory_region& reach) {
  const auto at = reinterpret_cast<size_type>(input ? move.in : move.out);
  const size_type element = input ? move.in_element : move.out_element;
  size_type before = 0;
  size_type behind = element;
  for (int k = 0; k < move.rank; ++k) {
    const long long stride = move.axes[k].stride(input);
    size_type bytes = 0;
    if (move.axes[k].extent == 1) { continue; }
    if (!multiplies(distance(stride), element, bytes) ||
        !multiplies(move.axes[k].extent - 1, bytes, bytes)) {
      return false;
    }
    (stride < 0 ? before : behind) += bytes;  // 16 eighths of the address space at most
    if (larger(before, behind) > ~size_type{0} / 8) { return false; }
  }
  reach = {at - before, 1, before + behind, 0};
  return at >= before && behind <= ~size_type{0} - at;
}

/// Has a relocation begin so many steps further along an axis.
inline void advance(relocation& move, int axis, size_type steps) {
  const auto count = static_cast<long long>(steps);
  move.in = static_cast<const unsigned char*>(move.in) + count * move.in_step(axis);
  move.out = static_cast<unsigned char*>(move.out) + count * move.out_step(axis);
}

/// Drops axes of one element, has every axis of the output run forwards, sorts the axes by their strides there, and makes
/// one axis of two that follow each other on both sides. Precondition: no extent is 0, and no reach overflows.
inline void normalize(relocation& move) {
  int kept = 0;
  for (int k = 0; k < move.rank; ++k) {
    relocation_axis axis = move.axes[k];
    if (axis.extent == 1) { continue; }
    if (axis.out_stride < 0) {
      advance(move, k, axis.extent - 1);
      axis.in_stride = -axis.in_stride;
      axis.out_stride = -axis.out_stride;
    }
    int at = kept++;
    for (; at > 0 && move.axes[at - 1].out_stride < axis.out_stride; --at) {
      move.axes[at] = move.axes[at - 1];
    }
    move.axes[at] = axis;
  }
  move.rank = 0;
  for (int k = 0; k < kept; ++k) {
    const relocation_axis axis = move.axes[k];
    relocation_axis* const slower = move.rank > 0 ? &move.axes[move.rank - 1] : nullptr;
    const auto extent = static_cast<long long>(axis.extent);
    if (slower != nullptr && slower->in_stride == axis.in_stride * extent &&
        slower->out_stride == axis.out_stride * extent) {
      *slower = {slower->extent * axis.extent, axis.in_stride, axis.out_stride};
    } else {
      move.axes[move.rank++] = axis;
    }
  }
}

/// Examines a relocation and, where it may go, normalizes it.
inline verdict examine(relocation& move) {
  if (!move.permutes) { return refuse("axes repeat, or are none of the array's"); }
  for (int k = 0; k < move.rank; ++k) {
    if (move.axes[k].extent == 0) { return nothing_to_move; }
  }
  const verdict pointers = examine_pointers(move);
  if (pointers != verdict::go) { return pointers; }
  size_type bytes = larger(move.in_element, move.out_element);
  for (int k = 0; k < move.rank; ++k) {
    if (!multiplies(bytes, move.axes[k].extent, bytes)) { return size_refused; }
  }
  memory_region in{}, out{};
  if (!find_reach(move, true, in) || !find_reach(move, false, out)) { return size_refused; }
  if (overlap(in, out)) {
    return refuse("input and output share memory between their first and last elements");
  }
  normalize(move);
  if (move.rank > most_axes) {
    return refuse("more than 8 axes are left when those that stay together are one");
  }
  size_type reached = 0;
  for (int k = move.rank - 1; k >= 0; --k) {
    const auto stride = static_cast<size_type>(move.axes[k].out_stride);
    if (stride <= reached) {  // two elements may share an address
      return refuse("an axis of the output does not step over all that the faster ones reach");
    }
    reached += (move.axes[k].extent - 1) * stride;
  }
  return {verdict::go};
}

/// True where a side's elements lie closer together along one axis than along another. Axes along which the input repeats
/// itself come last.
inline bool is_nearer(const relocation& move, bool input, int axis, int other) {
  return distance(move.axes[axis].stride(input)) - 1 < distance(move.axes[other].stride(input)) - 1;
}

/// The axis along which a side's elements lie closest together, of those that are not `taken`; -1 where all are.
inline int nearest_of(bool input, const relocation& move, const bool* taken) {
  int found = -1;
  for (int k = move.rank - 1; k >= 0; --k) {
    if (!taken[k] && (found < 0 || is_nearer(move, input, k, found))) { found = k; }
  }
  return found;
}

/// A relocation's axes, and one more where its elements are several accesses.
inline constexpr int most_panel_axes = most_axes + 1;

/// The axes of one side in the order of its memory, the nearest first.
struct side_order {
  int axes[most_panel_axes];
  bool of_input;

  size_type distance_along(const relocation& move, int axis) const {
    return distance(move.axes[axis].stride(of_input));
  }
};
inline side_order order_of(const relocation& move, bool of_input) {
  side_order order{{}, of_input};
  bool taken[most_panel_axes] = {};
  for (int i = 0; i < move.rank; ++i) {
    order.axes[i] = nearest_of(of_input, move, taken);
    taken[order.axes[i]] = true;
  }
  return order;
}

/// True where 31 bits count the bytes from the element of indices 0 to every other, on both sides.
inline bool has_short_places(const relocation& move) {
  size_type in = 0;
  size_type out = 0;
  for (int k = 0; k < move.rank; ++k) {
    in += (move.axes[k].extent - 1) * distance(move.in_step(k));
    out += (move.axes[k].extent - 1) * distance(move.out_step(k));
  }
  return larger(in, out) < size_type{1} << 31;
}

/// Calls launch(part) for both halves of a relocation along its longest axis, of which the first has whole vectors, or
/// micro-blocks, where there are enough; `launch` returns 0 to go on.
template <class Launch>
auto split(const relocation& move, Launch launch) {
  int longest = 0;
  for (int k = 1; k < move.rank; ++k) {
    if (move.axes[k].extent > move.axes[longest].extent) { longest = k; }
  }
  relocation first = move;
  relocation second = move;
  const size_type half = move.axes[longest].extent / 2;
  const size_type whole = half < 4 ? 1 : half < 128 ? 4 : 128;
  const size_type first_extent = half / whole * whole;
  first.axes[longest].extent = first_extent;
  second.axes[longest].extent -= first_extent;
  advance(second, longest, first_extent);
  const auto status = launch(first);
  return status == decltype(launch(first)){} ? launch(second) : status;
}

/// Elements of a relocation whose bytes were found to be countable.
inline size_type count_elements(const relocation& move) {
  size_type elements = 1;
  for (int k = 0; k < move.rank; ++k) { elements *= move.axes[k].extent; }
  return elements;
}

/// The lowest byte of the input.
inline const unsigned char* begin_of_input(const relocation& move) {
  const auto* begin = static_cast<const unsigned char*>(move.in);
  for (int k = 0; k < move.rank; ++k) {
    const auto steps = static_cast<long long>(move.axes[k].extent - 1);
    if (move.axes[k].in_stride < 0) { begin += steps * move.in_step(k); }
  }
  return begin;
}

/// True where the input has neither gaps nor elements that are read twice.
inline bool has_dense_input(const relocation& move) {
  const side_order order = order_of(move, true);
  size_type reached = 1;
  for (int i = 0; i < move.rank; ++i) {
    if (order.distance_along(move, order.axes[i]) != reached) { return false; }
    reached *= move.axes[order.axes[i]].extent;
  }
  return true;
}

/// The bits that some address or stride has.
inline size_type address_bits_of(const relocation& move) {
  size_type bits = reinterpret_cast<size_type>(move.in) | reinterpret_cast<size_type>(move.out);
  for (int k = 0; k < move.rank; ++k) {
    bits |= static_cast<size_type>(move.in_step(k) | move.out_step(k));
  }
  return bits;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
