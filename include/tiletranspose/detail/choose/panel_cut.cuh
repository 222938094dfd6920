// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How a relocation is cut into panels: parts of which the input and the output each hold a few long contiguous segments, as
/// detail/README.md describes them. Pure functions, plain C++17, host only.

#pragma once

#include <cstdint>

#include <tiletranspose/detail/choose/choose_axes.cuh>
#include <tiletranspose/detail/choose/tuning_axes.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/request/relocation.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// One side's segments in a panel, and the order of its axes.
struct panel_segments : side_order {
  int count = 0;         ///< axes that a segment runs along, the nearest of the side
  int split = -1;        ///< the last of them, where a panel takes a part of it
  size_type length = 1;  ///< elements

  /// True where a segment runs along this axis.
  bool is_along(int axis) const {
    for (int i = 0; i < count; ++i) {
      if (axes[i] == axis) { return true; }
    }
    return false;
  }
};

/// Threads of a block.
inline constexpr int panel_axes_threads = 256;

/// What a lane stores at a time of elements of a size: a word of those of 1 and 2 bytes, else 16 bytes.
TILETRANSPOSE_HOST_DEVICE constexpr unsigned bytes_of_lane(unsigned bytes) {
  return bytes < 4 ? 4 : max_access_bytes;
}
TILETRANSPOSE_HOST_DEVICE constexpr unsigned elements_of_lane(unsigned bytes) {
  return bytes_of_lane(bytes) / bytes;
}

/// Segments of the output are long from so many elements on. Panels are skewed where an axis makes them so long, and the
/// ends of such segments are counted against tiles; they go on along further axes as lengthen_segments says.
inline constexpr size_type long_segment = panel_axes_threads;

/// What tables in shared memory hold of a segment.
inline constexpr size_type bytes_of_segment = 16;

/// How much of each axis a panel takes.
struct panel_cut {
  size_type extents[most_panel_axes];  ///< with what it stages beyond its own part
  int split[2];  ///< the axes of which it takes a part, -1: none; one for each side at most
  size_type elements;
  panel_segments in;
  panel_segments out;
  size_type skew;  ///< of the output's split axis, elements that the next panel stages, too

  /// Elements from one panel to the next along an axis.
  size_type part(int axis) const { return extents[axis] - (axis == out.split ? skew : 0); }
};

/// The segments that a panel of these extents has on a side. They run along no further axis once they have `enough` elements.
inline panel_segments find_segments(const relocation& move, const side_order& order,
                                    const size_type* extents, size_type enough) {
  panel_segments found{order};
  for (; found.count < move.rank && found.length < enough; ++found.count) {
    const int axis = order.axes[found.count];
    if (found.split >= 0 || order.distance_along(move, axis) != found.length) { break; }
    found.length *= extents[axis];
    if (extents[axis] < move.axes[axis].extent) { found.split = axis; }
  }
  return found;
}

/// The fewest threads that go on through a segment of the output by whole periods.
inline size_type lanes_of_period(size_type period, size_type element_bytes) {
  const unsigned together = elements_of_lane(static_cast<unsigned>(element_bytes));
  return period / common_divisor(static_cast<unsigned>(period % together), together);
}

/// Has segments of the output run along further axes, as long as a block has the threads for their periods, which are all
/// axes but the last: so rows of 396 bytes are written by 198 threads that go on two rows each, and not row by row.
inline void lengthen_segments(panel_cut& cut, const relocation& move) {
  while (lanes_of_period(cut.out.length, move.out_element) <= size_type{panel_axes_threads}) {
    const panel_segments longer = find_segments(move, cut.out, cut.extents, cut.out.length + 1);
    if (longer.count == cut.out.count) { return; }
    cut.out = longer;
  }
}

/// Has a side's segments grow to `wanted` elements or as far as they can, whole sectors of `sector` elements where a part
/// of an axis has four or more. Parts of an axis are about equal.
inline void grow_segments(const relocation& move, const side_order& order, size_type wanted,
                          size_type sector, size_type* extents) {
  size_type length = 1;
  for (int i = 0; i < move.rank && length < wanted; ++i) {
    const int axis = order.axes[i];
    const size_type all = move.axes[axis].extent;
    if (order.distance_along(move, axis) != length) { return; }
    size_type step = sector;
    while (step > 1 && length * step / 2 % sector == 0) { step /= 2; }
    const size_type part = larger(extents[axis], divide_up(wanted, length));
    const size_type even = divide_up(all, divide_up(all, part));
    const size_type whole = even < 4 * step ? even : divide_up(even, step) * step;
    extents[axis] = smaller(all, larger(extents[axis], whole));
    length *= extents[axis];
    if (extents[axis] < all) { return; }
  }
}

/// Where both sides go on elsewhere long before a panel has `wanted` elements, as behind each small matrix of a batch with
/// gaps, it takes more segments, along the axis that comes next.
inline void add_segments(const relocation& move, const side_order& order, size_type wanted,
                         size_type* extents) {
  size_type elements = 1;
  for (int k = 0; k < move.rank; ++k) { elements *= extents[k]; }
  int next = 0;
  while (next < move.rank && extents[order.axes[next]] == move.axes[order.axes[next]].extent) {
    ++next;
  }
  if (next == move.rank || 2 * elements > wanted) { return; }
  size_type& extent = extents[order.axes[next]];
  if (extent == 1) { extent = smaller(move.axes[order.axes[next]].extent, wanted / elements); }
}

/// True where segments of the output are parts of an axis that begin inside of sectors. What the few ends of long ones
/// cost is less than elements that two panels stage, and these are many where the axes before have more than a sector's.
inline bool is_skewed(const relocation& move, const panel_cut& cut) {
  if (cut.out.split < 0 || cut.out.length * move.out_element > most_skewed_segment_bytes ||
      cut.out.length / cut.extents[cut.out.split] * move.out_element >= sector_bytes) {
    return false;
  }
  size_type bytes = reinterpret_cast<std::uintptr_t>(move.out);
  for (int i = cut.out.count - 1; i < move.rank; ++i) {
    const int axis = cut.out.axes[i];
    const size_type step = i < cut.out.count ? cut.extents[axis] : 1;
    bytes |= step * cut.out.distance_along(move, axis) * move.out_element;
  }
  return bytes % sector_bytes != 0;
}

/// The panels whose segments have about `wanted` elements.
inline panel_cut cut_segments(const relocation& move, const side_order& in, const side_order& out,
                              size_type wanted, size_type sector) {
  panel_cut cut{};
  for (int k = 0; k < move.rank; ++k) { cut.extents[k] = 1; }
  grow_segments(move, in, wanted, sector, cut.extents);
  grow_segments(move, out, wanted, sector, cut.extents);
  add_segments(move, out, wanted, cut.extents);
  const auto find_out = [&] { return find_segments(move, out, cut.extents, long_segment); };
  cut.out = find_out();
  if (is_skewed(move, cut)) {
    size_type& extent = cut.extents[cut.out.split];
    const size_type all = move.axes[cut.out.split].extent;
    const size_type skew = divide_up(sector_bytes / move.out_element - 1, cut.out.length / extent);
    if (extent >= least_parts_of_skew * skew) {
      const size_type panels = divide_up(all, extent);
      cut.skew = skew;
      extent = divide_up(all, panels < few_panels ? panels : divide_up(all, extent - skew)) + skew;
      cut.out = find_out();
    }
  }
  lengthen_segments(cut, move);
  cut.elements = 1;
  int splits = 0;
  cut.split[0] = cut.split[1] = -1;
  for (int k = 0; k < move.rank; ++k) {
    cut.elements *= cut.extents[k];
    if (cut.extents[k] > 1 && cut.extents[k] < move.axes[k].extent) { cut.split[splits++] = k; }
  }
  cut.in = find_segments(move, in, cut.extents, ~size_type{0});
  return cut;
}

/// The panels whose segments are longest, of `panel_bytes` at most, or of `large_bytes` where segments would be short, and of
/// so few elements that all multiprocessors have blocks, but `whole` of them at least. Elements are single accesses.
inline panel_cut cut_by_size(const relocation& move, size_type panel_bytes, size_type large_bytes,
                             size_type whole = panel_axes_threads) {
  const side_order in = order_of(move, true);
  const side_order out = order_of(move, false);
  const size_type bytes = move.in_element;
  const size_type sector = larger<size_type>(sector_bytes / bytes, 1);
  const auto cut_by = [&](size_type most_bytes) {
    const size_type most =
        smaller(most_bytes / bytes, larger(count_elements(move) / least_panels, whole));
    const auto fits = [&](const panel_cut& cut) {
      const size_type table_bytes = bytes_of_segment * (cut.elements / cut.out.length);
      return cut.elements <= most && table_bytes <= panel_table_bytes;
    };
    size_type wanted = most;
    size_type less = 0, before = 0;
    panel_cut cut = cut_segments(move, in, out, wanted, sector);
    while (wanted > 1 && !fits(cut)) {
      // As much less as there are elements too many, but segments of both sides may grow with what is wanted, or neither.
      const size_type needed = cut.elements > most ? wanted * most / cut.elements : wanted / 2;
      less = cut.elements == before ? 2 * less : wanted - needed;
      wanted = larger<size_type>(larger(wanted - smaller(less, wanted), wanted / 8), 1);
      before = cut.elements;
      cut = cut_segments(move, in, out, wanted, sector);
    }
    for (size_type more = 4 * wanted;
         wanted < most && more > wanted / 8 && 5 * cut.elements < 4 * most; more /= 2) {
      const panel_cut longer = cut_segments(move, in, out, wanted + more, sector);
      if (fits(longer)) { cut = longer, wanted += more; }
    }
    return cut;
  };
  const panel_cut cut = cut_by(panel_bytes);
  const bool is_short = smaller(cut.in.length, cut.out.length) * bytes < short_segment_bytes;
  return is_short && large_bytes > panel_bytes ? cut_by(large_bytes) : cut;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
