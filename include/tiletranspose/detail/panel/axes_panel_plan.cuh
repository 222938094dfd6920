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

/// How a panel lies in shared memory: elements from one step along each axis to the next, in the order of addresses, and what
/// every 32 steps add.
struct panel_layout {
  long long steps[most_panel_axes];
  unsigned skews[most_panel_axes];
  unsigned pad_shift;
  size_type elements;
};

/// True where a segment of the input runs along this axis.
inline bool is_along(const panel_segments& segments, const side_order& order, int axis) {
  for (int i = 0; i < segments.count; ++i) {
    if (order.axes[i] == axis) { return true; }
  }
  return false;
}

/// Segments of the input lie one behind the other, `pitch` elements apart, those that follow each other in the output first.
/// `words`: elements of 1 or 2 bytes are gathered as words, so that lanes read rows that are 4 or 2 apart.
inline panel_layout lay_panel(const relocation& move, const panel_cut& cut, const side_order& in,
                              const side_order& out, size_type pitch, size_type words,
                              unsigned pad_shift) {
  panel_layout layout{};
  layout.pad_shift = pad_shift;
  size_type step = 1;
  for (int i = 0; i < cut.in.count; ++i) {
    layout.steps[in.axes[i]] = static_cast<long long>(step);
    step *= cut.extents[in.axes[i]];
  }
  step = pitch;
  for (int i = 0; i < move.rank; ++i) {
    const int axis = out.axes[i];
    if (is_along(cut.in, in, axis) || cut.extents[axis] == 1) { continue; }
    layout.steps[axis] = static_cast<long long>(step);
    const size_type extent = cut.extents[axis];
    if (words > 0 && step == pitch) { layout.skews[axis] = static_cast<unsigned>(words); }
    step = step * extent + (extent - 1) / 32 * layout.skews[axis];
  }
  layout.elements = step + (step >> pad_shift);
  return layout;
}

/// The cycles that two warps take to read a segment of the output from shared memory.
inline int count_cycles(const panel_cut& cut, const side_order& out, const panel_layout& layout,
                        size_type bytes) {
  const size_type word_elements = bytes < 4 ? 4 / bytes : 1;
  const size_type lanes = bytes <= 4 ? 32 : 128 / bytes;
  int cycles = 0;
  for (size_type first = 0; first < 2 * lanes; first += lanes) {
    int banks[32] = {};
    int worst = 0;
    for (size_type lane = first; lane < first + lanes; ++lane) {
      size_type left = lane * word_elements;
      long long place = 0;
      for (int i = 0; i < cut.out.count; ++i) {
        const int axis = out.axes[i];
        const size_type here = left % cut.extents[axis];
        place += static_cast<long long>(here) * layout.steps[axis] +
                 static_cast<long long>(here / 32 * layout.skews[axis]);
        left /= cut.extents[axis];
      }
      if (left > 0) { break; }
      place += place >> layout.pad_shift;
      const size_type word = static_cast<size_type>(place) * bytes / 4;
      worst = larger(worst, ++banks[bytes <= 4 ? word % 32 : word % 32 / (bytes / 4)]);
    }
    cycles += worst;
  }
  return cycles;
}

/// The distance of segments in the panel by which warps have the fewest bank conflicts.
inline panel_layout choose_layout(const relocation& move, const panel_cut& cut,
                                  const side_order& in, const side_order& out, size_type bytes) {
  const size_type word_elements = bytes < 4 ? 4 / bytes : 1;
  const size_type least = divide_up(cut.in.length, word_elements) * word_elements;
  const size_type words = bytes < 4 ? word_elements : 0;
  panel_layout best{};
  int best_cycles = 1 << 30;
  const auto compare = [&](size_type pad, unsigned pad_shift) {
    const panel_layout layout =
        lay_panel(move, cut, in, out, least + pad * word_elements, words, pad_shift);
    const int cycles = count_cycles(cut, out, layout, bytes);
    if (cycles < best_cycles) { best = layout, best_cycles = cycles; }
  };
  for (size_type pad = 0; pad < 4 && best_cycles > 2; ++pad) { compare(pad, 31); }
  for (unsigned shift = 4; bytes >= 4 && shift < 9 && best_cycles > 2; ++shift) {
    compare(0, shift);
    compare(1, shift);
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
    const auto step = static_cast<unsigned>(layout.steps[axis]);
    added.place_step = backwards[axis] ? 0 - step : step;
    added.skew = layout.skews[axis];
    added.step = order.of_input
                     ? move.axes[axis].in_stride * static_cast<long long>(move.in_element)
                     : move.axes[axis].out_stride * static_cast<long long>(move.out_element);
  }
  return axes;
}

/// log2 of the threads that share a segment, so that the block takes the fewest rounds: `accesses` a segment.
inline unsigned share_segments(size_type accesses, size_type segments) {
  unsigned best = 0;
  size_type least = ~size_type{0};
  for (unsigned shift = 0; (1u << shift) <= panel_axes_threads; ++shift) {
    const size_type lanes = size_type{1} << shift;
    const size_type rounds =
        divide_up(segments, panel_axes_threads / lanes) * divide_up(accesses, lanes);
    if (rounds < least || (rounds == least && shift <= 5)) { best = shift, least = rounds; }
  }
  return best;
}

/// Which whole words may be read where a segment of the input ends inside of one: those of an input without gaps.
inline void set_words(axes_panel_arguments& arguments, const relocation& move) {
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
  if (elements != reached) { return; }
  arguments.words_begin = begin;
  arguments.words_end = begin + elements * move.in_element;
}

/// Calls launch(plan) for each launch of panels of elements that are one access each, until one fails.
template <class Launch>
auto plan_axes_panels(const relocation& move, Launch launch)
    -> decltype(launch(launch_plan<axes_panel_arguments>{})) {
  const size_type bytes = move.in_element;
  const side_order in = order_of(move, true);
  const side_order out = order_of(move, false);
  const panel_cut cut = cut_panels(move, in, out, most_panel_elements(move, bytes), bytes);
  launch_plan<axes_panel_arguments> plan{{}, 1, panel_axes_threads, 0};
  axes_panel_arguments& arguments = plan.arguments;
  bool too_long = false;
  for (int k = 0; k < move.rank; ++k) {
    const size_type panels = divide_up(move.axes[k].extent, cut.extents[k]);
    too_long = too_long || move.axes[k].extent > max_blocks || panels > max_blocks / plan.blocks;
    if (!too_long) { plan.blocks *= panels; }
  }
  if (too_long) {
    return split(move, [&](const relocation& part) { return plan_axes_panels(part, launch); });
  }
  const panel_layout layout = choose_layout(move, cut, in, out, bytes);

  arguments.pad_shift = layout.pad_shift;
  // Axes that the input runs through backwards lie in the panel in the order of addresses.
  bool backwards[most_panel_axes] = {};
  arguments.in = static_cast<const unsigned char*>(move.in);
  arguments.out = static_cast<unsigned char*>(move.out);
  const auto in_element = static_cast<long long>(move.in_element);
  for (int i = 0; i < cut.in.count; ++i) {
    const int axis = in.axes[i];
    backwards[axis] = move.axes[axis].in_stride < 0;
    if (!backwards[axis]) { continue; }
    const long long step = move.axes[axis].in_stride * in_element;
    const auto place = static_cast<unsigned>(layout.steps[axis]);
    if (clip_of(cut, axis) >= 0) {
      arguments.backwards = clip_of(cut, axis);
      arguments.backwards_step = step;
      arguments.backwards_place = place;
      arguments.backwards_along = is_along(cut.out, out, axis);
    } else {
      arguments.in += static_cast<long long>(cut.extents[axis] - 1) * step;
      (is_along(cut.out, out, axis) ? arguments.origin_along : arguments.origin) +=
          static_cast<unsigned>(cut.extents[axis] - 1) * place;
    }
  }
  const auto describe = [&](side_segments& side, const panel_segments& segments,
                            const side_order& order) {
    side.length = static_cast<unsigned>(segments.length);
    side.clip = segments.split < 0 ? -1 : clip_of(cut, segments.split);
    side.step =
        side.clip < 0 ? 0 : static_cast<unsigned>(segments.length / cut.extents[segments.split]);
    side.count = static_cast<unsigned>(cut.elements / segments.length);
    side.lanes_shift =
        share_segments(divide_up(segments.length * bytes, larger<size_type>(bytes, 4)), side.count);
    side.apart = collect_axes(move, cut, order, segments, false, layout, backwards);
  };
  describe(arguments.from, cut.in, in);
  describe(arguments.to, cut.out, out);
  arguments.along = collect_axes(move, cut, out, cut.out, true, layout, backwards);
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
  if (bytes < 4) { set_words(arguments, move); }
  arguments.to_table = arguments.from.count * static_cast<unsigned>(sizeof(panel_segment));
  arguments.places =
      arguments.to_table + arguments.to.count * static_cast<unsigned>(sizeof(panel_segment));
  arguments.panel =
      static_cast<unsigned>(divide_up(arguments.places + 2 * cut.out.length, 16) * 16);
  plan.shared_bytes = arguments.panel + divide_up(layout.elements * bytes, 16) * 16;
  return launch(plan);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
