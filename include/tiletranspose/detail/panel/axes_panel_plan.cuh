// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The launches of panels of arrays of any rank. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/axes_panel.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/panel/axes_panel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// How a panel lies in shared memory: elements from one step along each axis to the next, in the order of addresses, before
/// items are left out.
struct panel_layout {
  unsigned steps[most_panel_axes];
  unsigned align_bytes;
  bool pads;
  unsigned pad_shift;
  unsigned bytes;
};

/// True where a segment of the input runs along this axis.
inline bool is_along(const panel_segments& segments, const side_order& order, int axis) {
  for (int i = 0; i < segments.count; ++i) {
    if (order.axes[i] == axis) { return true; }
  }
  return false;
}

/// Segments of the input lie one behind the other, `gap` items between them at least, those that follow each other in the
/// output first. No item is that of two segments, and elements are where they are in memory, modulo `align_bytes`.
inline void lay_panel(panel_layout& layout, const relocation& move, const panel_cut& cut,
                      const side_order& in, const side_order& out, unsigned bytes, unsigned gap) {
  const unsigned item_bytes = layout.pads ? larger(bytes, 4u) : unsigned{max_access_bytes};
  const unsigned item = item_bytes / bytes;
  const unsigned align = layout.align_bytes / bytes;
  unsigned step = 1;
  for (int i = 0; i < cut.in.count; ++i) {
    layout.steps[in.axes[i]] = step;
    step *= static_cast<unsigned>(cut.extents[in.axes[i]]);
  }
  unsigned segment = step + gap * item + item - 1;
  for (int i = 0; i < move.rank; ++i) {
    const int axis = out.axes[i];
    if (is_along(cut.in, in, axis) || cut.extents[axis] == 1) { continue; }
    segment += (static_cast<unsigned>(move.axes[axis].in_stride) - segment) % align;
    layout.steps[axis] = segment;
    segment *= static_cast<unsigned>(cut.extents[axis]);
    step = segment;
  }
  const unsigned items = divide_up(step + align - 1, item);  // the first one begins inside
  layout.bytes = (items + (layout.pads ? items >> layout.pad_shift : 0)) * item_bytes;
}

/// The cycles that a warp takes to read a segment of the output from shared memory.
inline int count_cycles(const panel_cut& cut, const side_order& out, const panel_layout& layout,
                        unsigned bytes) {
  const unsigned lane_elements = bytes < 4 ? 4 / bytes : 1;
  const unsigned lanes = bytes <= 4 ? 32 : 128 / bytes;
  const unsigned item_bytes = larger(bytes, 4u);
  unsigned index[most_panel_axes] = {};
  int banks[32] = {};
  int worst = 0;
  unsigned place = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    unsigned byte = place * bytes;
    if (layout.pads) { byte += (byte / item_bytes >> layout.pad_shift) * item_bytes; }
    worst = larger(worst, ++banks[byte / item_bytes % (128 / item_bytes)]);
    // The lane's elements are one behind the other along the output.
    for (unsigned i = 0; i < lane_elements; ++i) {
      int k = 0;
      for (; k < cut.out.count; ++k) {
        const int axis = out.axes[k];
        place += layout.steps[axis];
        if (++index[k] < cut.extents[axis]) { break; }
        place -= static_cast<unsigned>(cut.extents[axis]) * layout.steps[axis];
        index[k] = 0;
      }
      if (k == cut.out.count) { return worst; }
    }
  }
  return worst;
}

/// Cycles of a warp that staging by 16 bytes, instead of words or elements, is worth.
inline constexpr int cycles_of_wide_items = 1;

/// Layouts of fewer cycles are not looked for: those of all the loads that make a word.
inline constexpr unsigned enough_cycles = 4;

/// Segments of fewer bytes are staged by words or elements: gaps would take too much of shared memory. From so many on
/// they lie as in lines of memory, else asynchronous copies of 16 bytes read them twice.
inline constexpr size_type least_wide_segment = 64;
inline constexpr size_type least_line_segment = 512;

/// The items, distances and pads by which warps have the fewest bank conflicts.
inline panel_layout choose_layout(const relocation& move, const panel_cut& cut,
                                  const side_order& in, const side_order& out, unsigned bytes) {
  const size_type segment_bytes = cut.in.length * bytes;
  panel_layout best{};
  int best_cycles = 1 << 30;
  const auto compare = [&](bool pads, unsigned pad_shift, unsigned gap) {
    panel_layout layout{};
    layout.align_bytes = pads ? larger(bytes, 4u) : segment_bytes >= least_line_segment ? 128 : 16;
    layout.pads = pads;
    layout.pad_shift = pad_shift;
    lay_panel(layout, move, cut, in, out, bytes, gap);
    const int cycles = count_cycles(cut, out, layout, bytes) + (pads ? cycles_of_wide_items : 0);
    if (cycles < best_cycles) { best = layout, best_cycles = cycles; }
  };
  if (segment_bytes >= least_wide_segment) { compare(false, 0, 0); }
  const int least = static_cast<int>(enough_cycles * smaller(bytes, 4u) / 4);
  for (unsigned gap = 0; gap < 4 && best_cycles > least; ++gap) { compare(true, 31, gap); }
  for (unsigned shift = 4; shift < 9 && best_cycles > least; ++shift) {
    compare(true, shift, 0);
    compare(true, shift, 1);
  }
  return best;
}

/// Which of the axes that a panel takes a part of this one is, -1: none.
inline int clip_of(const panel_cut& cut, int axis) {
  return axis == cut.split[0] ? 0 : axis == cut.split[1] ? 1 : -1;
}

/// The axes of `order` that a side's segments run along, or those of the panel that they do not.
inline panel_axes collect_axes(const relocation& move, const panel_cut& cut,
                               const side_order& order, const panel_segments& segments, bool along,
                               const panel_layout& layout, const bool* backwards) {
  panel_axes axes{0, {}};
  for (int i = 0; i < move.rank; ++i) {
    const int axis = order.axes[i];
    if (is_along(segments, order, axis) != along || cut.extents[axis] == 1) { continue; }
    panel_axis& added = axes.axes[axes.count++];
    added.clip = clip_of(cut, axis);
    added.extent = divider(cut.extents[axis]);
    const unsigned step = layout.steps[axis];
    added.place_step = backwards[axis] ? 0 - step : step;
    added.step = order.of_input
                     ? move.axes[axis].in_stride * static_cast<long long>(move.in_element)
                     : move.axes[axis].out_stride * static_cast<long long>(move.out_element);
  }
  return axes;
}

/// The threads that share a segment of so many accesses, a multiple of `least`, so that the block is done soonest. Warps
/// that do not share whole segments access parts of lines, or of sectors.
inline divider share_segments(unsigned accesses, unsigned segments, unsigned least) {
  unsigned best = least;
  unsigned fewest = ~0u;
  for (unsigned lanes = least; lanes <= unsigned{panel_axes_threads};
       lanes += least == 1 && lanes < 32 ? lanes
                : least == 1             ? 32
                                         : least) {
    const unsigned weight = lanes % 32 == 0             ? 4
                            : lanes > 32 || lanes == 16 ? 5
                            : lanes < 8                 ? 10
                                                        : 6;
    const unsigned rounds = weight * divide_up(segments, panel_axes_threads / lanes) *
                            (divide_up(accesses, lanes) + 1);  // one for what starts a segment
    if (rounds < fewest) { best = lanes, fewest = rounds; }
  }
  return divider(best);
}

/// What may be read where a segment of the input ends inside of an item: all of an input without gaps, else its elements.
inline void set_dense(axes_panel_arguments& arguments, const relocation& move) {
  size_type elements = 1;
  size_type reached = 1;
  const auto* begin = static_cast<const unsigned char*>(move.in);
  for (int k = 0; k < move.rank; ++k) {
    const relocation_axis& axis = move.axes[k];
    const auto steps = static_cast<long long>(axis.extent - 1);
    elements *= axis.extent;
    reached += (axis.extent - 1) * distance(axis.in_stride);
    if (axis.in_stride < 0) {
      begin += steps * axis.in_stride * static_cast<long long>(move.in_element);
    }
  }
  arguments.dense_begin = begin;
  arguments.dense_end = elements == reached ? begin + elements * move.in_element : begin;
}

/// How panels of elements of one access are cut and laid out.
struct axes_panel_layout {
  side_order in;
  side_order out;
  panel_cut cut;
  panel_layout layout;
  unsigned period;       ///< elements of a segment of the output along all axes but the last
  unsigned table_bytes;  ///< shared memory before the panel

  unsigned shared_bytes() const { return table_bytes + layout.bytes; }
};
inline axes_panel_layout lay_out(const relocation& move, size_type panel_bytes) {
  const size_type bytes = move.in_element;
  axes_panel_layout laid{order_of(move, true), order_of(move, false), {}, {}, 1, 0};
  laid.cut =
      cut_panels(move, laid.in, laid.out, most_panel_elements(move, bytes, panel_bytes), bytes);
  const panel_cut& cut = laid.cut;
  laid.layout = choose_layout(move, cut, laid.in, laid.out, static_cast<unsigned>(bytes));
  if (cut.out.count > 0) {
    const int last = laid.out.axes[cut.out.count - 1];
    laid.period = static_cast<unsigned>(cut.out.length / cut.extents[last]);
  }
  const size_type segments = cut.elements / cut.in.length + cut.elements / cut.out.length;
  const auto tables =
      static_cast<unsigned>(segments * bytes_of_segment) + 4 * (laid.period + more_places);
  laid.table_bytes = divide_up(tables, 128u) * 128;
  return laid;
}

/// The same of a size that suits: a large one for short segments, and one that fits into the shared memory.
/// \param large_bytes   of a panel
/// \param shared_bytes  what a block may ask for
inline axes_panel_layout lay_out_fitting(const relocation& move, size_type large_bytes,
                                         size_type shared_bytes) {
  axes_panel_layout laid = lay_out(move, panel_axes_bytes);
  if (smaller(laid.cut.in.length, laid.cut.out.length) * move.in_element < short_segment_bytes) {
    const axes_panel_layout large = lay_out(move, large_bytes);
    if (large.shared_bytes() <= shared_bytes) { laid = large; }
  }
  for (size_type less = panel_axes_bytes / 2; laid.shared_bytes() > shared_bytes; less /= 2) {
    laid = lay_out(move, less);
  }
  return laid;
}

/// Panels that an array is cut into; more than max_blocks where one launch cannot count them.
inline size_type count_panels(const relocation& move, const panel_cut& cut) {
  size_type blocks = 1;
  for (int k = 0; k < move.rank; ++k) {
    const size_type panels = divide_up(move.axes[k].extent, cut.extents[k]);
    if (move.axes[k].extent > max_blocks || panels > max_blocks / blocks) { return max_blocks + 1; }
    blocks *= panels;
  }
  return blocks;
}

/// The launch of panels of elements of one access each. Where there are more than max_blocks the array is to be split.
/// \param large_bytes   of a panel whose segments would be short otherwise
/// \param shared_bytes  what a block may ask for
inline launch_plan<axes_panel_arguments> plan_axes_panel(const relocation& move,
                                                         size_type large_bytes,
                                                         size_type shared_bytes) {
  const size_type bytes = move.in_element;
  const axes_panel_layout laid = lay_out_fitting(move, large_bytes, shared_bytes);
  const side_order& in = laid.in;
  const side_order& out = laid.out;
  const panel_cut& cut = laid.cut;
  const panel_layout& layout = laid.layout;
  launch_plan<axes_panel_arguments> plan{
      {}, count_panels(move, cut), panel_axes_threads, laid.shared_bytes()};
  if (plan.blocks > max_blocks) { return plan; }
  axes_panel_arguments& arguments = plan.arguments;
  arguments.align_bytes = layout.align_bytes;
  arguments.pads = layout.pads;
  arguments.pad_shift = layout.pad_shift;
  // Axes that the input runs through backwards lie in the panel in the order of addresses.
  bool backwards[most_panel_axes] = {};
  arguments.in = move.in;
  arguments.out = move.out;
  const auto in_element = static_cast<long long>(move.in_element);
  for (int i = 0; i < cut.in.count; ++i) {
    const int axis = in.axes[i];
    backwards[axis] = move.axes[axis].in_stride < 0;
    if (!backwards[axis]) { continue; }
    const long long step = move.axes[axis].in_stride * in_element;
    const unsigned place = layout.steps[axis];
    if (clip_of(cut, axis) >= 0) {
      arguments.backwards = clip_of(cut, axis);
      arguments.backwards_step = step;
      arguments.backwards_place = place;
      arguments.backwards_along = is_along(cut.out, out, axis);
    } else {
      arguments.in_start += static_cast<long long>(cut.extents[axis] - 1) * step;
      (is_along(cut.out, out, axis) ? arguments.origin_along : arguments.origin) +=
          static_cast<unsigned>(cut.extents[axis] - 1) * place;
    }
  }
  const auto describe = [&](side_segments& side, const panel_segments& segments,
                            const side_order& order, size_type access, unsigned least) {
    side.length = static_cast<unsigned>(segments.length);
    side.clip = segments.split < 0 ? -1 : clip_of(cut, segments.split);
    side.step =
        side.clip < 0 ? 0 : static_cast<unsigned>(segments.length / cut.extents[segments.split]);
    side.count = static_cast<unsigned>(cut.elements / segments.length);
    side.lanes = share_segments(static_cast<unsigned>(divide_up(segments.length * bytes, access)),
                                side.count, least);
    side.apart = collect_axes(move, cut, order, segments, false, layout, backwards);
  };
  // Elements of an output with gaps are segments of their own.
  const int last = out.axes[larger(cut.out.count, 1) - 1];
  const panel_segments before_last{cut.out.count - 1, -1, laid.period};
  const unsigned word_elements = bytes < 4 ? 4 / static_cast<unsigned>(bytes) : 1;
  const size_type word = larger<size_type>(bytes, 4);
  describe(arguments.from, cut.in, in, layout.pads ? word : max_access_bytes, 1);
  describe(arguments.to, cut.out, out, word,
           laid.period / common_divisor(laid.period, word_elements));
  arguments.period = collect_axes(move, cut, out, before_last, true, layout, backwards);
  arguments.period_length = divider(laid.period);
  arguments.period_step = backwards[last] ? 0 - layout.steps[last] : layout.steps[last];
  arguments.split[0] = arguments.split[1] = -1;
  for (int i = 0; i < move.rank; ++i) {
    const int axis = out.axes[i];
    const size_type panels = divide_up(move.axes[axis].extent, cut.extents[axis]);
    if (panels == 1) { continue; }
    const int clip = clip_of(cut, axis);
    if (clip >= 0) {
      arguments.split[clip] = arguments.outer_count;
      arguments.split_extent[clip] = static_cast<unsigned>(move.axes[axis].extent);
      arguments.split_part[clip] = static_cast<unsigned>(cut.extents[axis]);
    }
    const auto extent = static_cast<long long>(cut.extents[axis]);
    arguments.outer[arguments.outer_count++] = {
        divider(panels), move.axes[axis].in_stride * extent * in_element,
        move.axes[axis].out_stride * extent * static_cast<long long>(move.out_element)};
  }
  set_dense(arguments, move);
  arguments.to_table = arguments.from.count * static_cast<unsigned>(sizeof(panel_segment));
  arguments.places =
      arguments.to_table + arguments.to.count * static_cast<unsigned>(sizeof(panel_segment));
  arguments.panel = laid.table_bytes;
  return plan;
}

/// Calls launch(plan) for each launch of panels of elements of one access each, until one fails.
template <class Launch>
auto plan_axes_panels(const relocation& move, Launch launch)
    -> decltype(launch(launch_plan<axes_panel_arguments>{})) {
  const launch_plan<axes_panel_arguments> plan =
      plan_axes_panel(move, large_panel_axes_bytes, default_shared_bytes);
  if (plan.blocks <= max_blocks) { return launch(plan); }
  return split(move, [&](const relocation& part) { return plan_axes_panels(part, launch); });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
