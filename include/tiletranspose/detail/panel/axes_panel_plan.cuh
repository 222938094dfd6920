// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The launches of panels of arrays of any rank, and of gathered panels of matrices, which are panels along the two axes of
/// a matrix and that of a batch. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/panel_cut.cuh>
#include <tiletranspose/detail/choose/tuning_panel.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/panel/axes_panel.cuh>
#include <tiletranspose/detail/request/problem.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// How a panel lies in shared memory: elements from one step along each axis to the next, in the order of addresses, before
/// items are left out.
struct panel_layout {
  unsigned steps[most_panel_axes];
  unsigned align_bytes;
  bool pads;
  unsigned pad_shift;
  unsigned rotation_shift;
  unsigned bytes;  ///< that it takes
};

/// Where the elements that a warp stores at a time lie in the panel.
struct warp_places {
  unsigned count;
  unsigned bytes[128];
};

/// The cycles that a warp takes to read an element a lane from shared memory; of more than `most`, one more than that.
inline int count_cycles(const warp_places& places, const panel_layout& layout, unsigned bytes,
                        int most) {
  const unsigned bank_bytes = larger(bytes, 4u);
  const unsigned banks = 128 / bank_bytes;
  const unsigned item = panel_item_bytes(bytes, true);
  const unsigned of_lane = elements_of_lane(bytes);
  unsigned last[32] = {};  // those behind the one that a bank was asked for last
  unsigned char words[32] = {};
  int worst = 0;
  for (unsigned lane = 0; lane < places.count / of_lane && worst <= most; ++lane) {
    const unsigned element = (lane >> layout.rotation_shift) % of_lane;
    unsigned byte = places.bytes[lane * of_lane + element];
    if (layout.pads) { byte += (byte / item >> layout.pad_shift) * item; }
    const unsigned word = byte / bank_bytes;
    const unsigned bank = word % banks;
    if (last[bank] == word + 1) { continue; }
    last[bank] = word + 1;
    worst = larger<int>(worst, ++words[bank]);
  }
  return worst;
}

/// Cycles of a warp's load that staging by 16 bytes is worth, instead of by words or elements: three instructions a word
/// instead of 13.
inline constexpr int cycles_of_wide_items = 3;

/// How long it takes that so many threads access a segment once, `bytes` together. Those that are no whole warps are parts
/// of several, each with lines of its own; where they are not whole sectors, one more is accessed.
constexpr unsigned weight_of(unsigned lanes, unsigned bytes) {
  constexpr auto sector = static_cast<unsigned>(sector_bytes);
  if (lanes <= 8) { return lanes == 8 ? 192 : 320; }
  const unsigned alone = lanes % 32 == 0 ? 128 : lanes % 8 == 0 ? 144 : 176;
  return alone + (bytes % sector == 0 ? 0 : 128 * sector / bytes);
}

/// The threads that share a segment of so many accesses, so that the block is done soonest: one for each access, or a
/// multiple of `least`, by which those that go on through a segment go on by whole periods.
inline divider share_segments(size_type accesses, unsigned access_bytes, size_type segments,
                              unsigned least) {
  unsigned best = least;
  size_type fewest = ~size_type{0};
  const auto compare = [&](unsigned lanes) {
    // What starts a segment takes as long as an access, and as two where periods make each thread look up its place.
    const size_type start = least > 1 && lanes >= accesses ? 2 : 1;
    const size_type rounds =
        divide_up(segments, panel_axes_threads / lanes) * (divide_up(accesses, lanes) + start);
    const size_type time = weight_of(lanes, lanes * access_bytes) * rounds;
    if (time < fewest) { best = lanes, fewest = time; }
  };
  for (unsigned lanes = least; lanes <= unsigned{panel_axes_threads};
       lanes += least > 1 ? least : smaller(lanes, 32u)) {
    compare(lanes);
  }
  if (least > 1 && accesses <= size_type{panel_axes_threads}) {
    compare(static_cast<unsigned>(accesses));
  }
  return divider(best);
}

/// How panels of elements of one access are cut and laid out, and what their launch is told of that.
struct axes_panel_layout {
  const relocation& move;
  unsigned bytes = static_cast<unsigned>(move.in_element);
  panel_cut cut{};
  panel_layout layout{};
  unsigned period = 1;       ///< elements of a segment of the output along all axes but the last
  unsigned table_bytes = 0;  ///< shared memory before the panel

  /// Panels of a size that suits, and that fits into the shared memory.
  /// \param large_bytes  of a panel whose segments would be short otherwise
  /// \param most_bytes   of shared memory that a block may ask for
  /// \param whole        elements that are not cut only to have more panels
  axes_panel_layout(const relocation& moved, size_type large_bytes, size_type most_bytes,
                    size_type whole = panel_axes_threads)
      : move(moved) {
    for (size_type most = large_bytes;; most -= most / 4) {
      cut = cut_by_size(move, smaller<size_type>(panel_axes_bytes, most), most, whole);
      layout = choose_layout();
      period =
          cut.out.count == 0 ? 1 : static_cast<unsigned>(cut.out.length / cut.extents[last_axis()]);
      const size_type segments = cut.elements / cut.out.length;
      const size_type tables = segments * bytes_of_segment + 4 * (period + more_places);
      table_bytes = static_cast<unsigned>(divide_up(tables, 128) * 128);
      if (shared_bytes() <= most_bytes) { return; }
    }
  }

  unsigned shared_bytes() const { return table_bytes + layout.bytes; }

  /// Axes that the input runs through backwards lie in the panel in the order of addresses.
  bool is_backwards(int axis) const {
    return cut.in.is_along(axis) && move.axes[axis].in_stride < 0;
  }
  /// Which of the axes that a panel takes a part of this one is, -1: none.
  int clip_of(int axis) const { return axis == cut.split[0] ? 0 : axis == cut.split[1] ? 1 : -1; }

  /// Segments of the input lie one behind the other, `gap` items between them at least, those that follow each other in
  /// the output first. No item is that of two segments, and elements are where they are in memory, modulo `align_bytes`.
  void lay(panel_layout& laid, unsigned gap) const {
    const unsigned item_bytes = panel_item_bytes(bytes, laid.pads);
    const unsigned item = item_bytes / bytes;
    const unsigned align = laid.align_bytes / bytes;
    unsigned step = 1;
    for (int i = 0; i < cut.in.count; ++i) {
      laid.steps[cut.in.axes[i]] = step;
      step *= static_cast<unsigned>(cut.extents[cut.in.axes[i]]);
    }
    unsigned segment = step + gap * item + item - 1;
    for (int i = 0; i < move.rank; ++i) {
      const int axis = cut.out.axes[i];
      if (cut.in.is_along(axis) || cut.extents[axis] == 1) { continue; }
      segment += (static_cast<unsigned>(move.axes[axis].in_stride) - segment) % align;
      laid.steps[axis] = segment;
      segment *= static_cast<unsigned>(cut.extents[axis]);
      step = segment;
    }
    const unsigned reached = (step + align - 1) * bytes;  // the first one begins inside
    laid.bytes = (reached + item_bytes - 1) / item_bytes * item_bytes;
  }

  warp_places find_places(const panel_layout& laid) const {
    const unsigned all = (bytes <= 4 ? 32 : 128 / bytes) * elements_of_lane(bytes);
    unsigned index[most_panel_axes] = {};
    warp_places places{0, {}};
    unsigned place = 0;
    while (places.count < all) {
      places.bytes[places.count++] = place * bytes;
      bool carries = true;
      for (int k = 0; carries; ++k) {
        if (k == cut.out.count) { return places; }
        const int axis = cut.out.axes[k];
        place += laid.steps[axis];
        carries = ++index[k] == cut.extents[axis];
        if (carries) { place -= index[k] * laid.steps[axis], index[k] = 0; }
      }
    }
    return places;
  }

  /// The items, distances, pads and rotation by which warps have the fewest bank conflicts.
  panel_layout choose_layout() const {
    const size_type segment_bytes = cut.in.length * bytes;
    panel_layout best{};
    int best_cycles = 1 << 30;
    const int enough = static_cast<int>(smaller(bytes, 4u));  // of bytes, four loads make a word
    const unsigned wide_align = segment_bytes >= least_line_segment_bytes ? 128 : 16;
    const auto compare = [&](bool pads, unsigned gap, unsigned align, int penalty) {
      panel_layout tried{{}, align, pads, 0, 0, 0};
      lay(tried, gap);
      const warp_places places = find_places(tried);
      constexpr unsigned pad_shifts[] = {31, 5, 4};  // none first
      constexpr unsigned rotation_shifts[] = {31, 3, 2, 1, 4, 0};
      for (const unsigned shift : pad_shifts) {
        for (const unsigned rotation : rotation_shifts) {
          tried.pad_shift = shift;
          tried.rotation_shift = rotation;
          const int most = best_cycles - penalty - 1;  // else it is no better
          const int cycles = count_cycles(places, tried, bytes, most) + penalty;
          if (cycles < best_cycles) { best = tried, best_cycles = cycles; }
          if (best_cycles <= enough + penalty) { return; }
          if (elements_of_lane(bytes) == 1) { break; }
        }
        if (!pads) { return; }
      }
    };
    if (segment_bytes >= least_wide_segment_bytes) { compare(false, 0, wide_align, 0); }
    // Lines that lie as in memory all begin in the same bank where rows of the input lie multiples of lines apart.
    constexpr int of_lines = static_cast<int>(cycles_of_lines);
    const bool is_single = cut.elements == cut.in.length;  // gaps are between segments
    const unsigned line_gaps = wide_align == max_access_bytes || bytes >= 4 || is_single ? 0 : 4;
    for (unsigned gap = 0; gap < line_gaps && best_cycles > enough + of_lines; ++gap) {
      compare(false, gap, max_access_bytes, of_lines);
    }
    if (best_cycles > enough + cycles_of_wide_items) {
      compare(true, 0, panel_item_bytes(bytes, true), cycles_of_wide_items);
    }
    best.bytes += best.pads ? best.bytes >> best.pad_shift : 0;
    return best;
  }

  /// The last axis that segments of the output run along; elements of an output with gaps are segments of their own.
  int last_axis() const { return cut.out.axes[larger(cut.out.count, 1) - 1]; }

  /// Panels that the array is cut into; more than max_blocks where one launch cannot count them, or an axis.
  size_type panels() const {
    size_type blocks = 1;  // no more than elements
    for (int k = 0; k < move.rank; ++k) {
      if (move.axes[k].extent > max_blocks) { return max_blocks + 1; }
      blocks *= divide_up(move.axes[k].extent, cut.part(k));
    }
    return blocks;
  }

  /// Elements of the panel along one step of an axis, modulo 2^32.
  unsigned place_step(int axis) const {
    return is_backwards(axis) ? 0 - layout.steps[axis] : layout.steps[axis];
  }
  /// The axes of a side that its segments run along, or those of the panel that they do not.
  panel_axes collect_axes(const panel_segments& segments, bool along) const {
    panel_axes axes{0, {}};
    for (int i = 0; i < move.rank; ++i) {
      const int axis = segments.axes[i];
      if (segments.is_along(axis) != along || cut.extents[axis] == 1) { continue; }
      axes.axes[axes.count++] = {divider(cut.extents[axis]), clip_of(axis), place_step(axis),
                                 segments.of_input ? move.in_step(axis) : move.out_step(axis)};
    }
    return axes;
  }
  side_segments describe(const panel_segments& segments, unsigned access_bytes,
                         unsigned least_lanes) const {
    const int clip = segments.split < 0 ? -1 : clip_of(segments.split);
    const size_type step = clip < 0 ? 0 : segments.length / cut.extents[segments.split];
    const size_type count = cut.elements / segments.length;
    return {static_cast<unsigned>(segments.length),
            clip,
            static_cast<unsigned>(step),
            static_cast<unsigned>(count),
            share_segments(divide_up(segments.length * bytes, access_bytes), access_bytes, count,
                           least_lanes),
            collect_axes(segments, false)};
  }

  /// The launch; where there are more than max_blocks the array is to be split.
  launch_plan<axes_panel_arguments> plan() const {
    launch_plan<axes_panel_arguments> planned{{}, panels(), panel_axes_threads, shared_bytes()};
    if (planned.blocks > max_blocks) { return planned; }
    axes_panel_arguments& arguments = planned.arguments;
    arguments.in = move.in;
    arguments.out = move.out;
    arguments.align_bytes = layout.align_bytes;
    arguments.pads = layout.pads;
    arguments.pad_shift = layout.pad_shift;
    arguments.rotation_shift = layout.rotation_shift;
    panel_segments before_last = cut.out;
    --before_last.count;
    const auto least_lanes = static_cast<unsigned>(lanes_of_period(period, bytes));
    arguments.from = describe(cut.in, panel_item_bytes(bytes, layout.pads), 1);
    arguments.to = describe(cut.out, bytes_of_lane(bytes), least_lanes);
    arguments.period = collect_axes(before_last, true);
    arguments.period_length = divider(period);
    arguments.period_step = place_step(last_axis());
    arguments.split[0] = arguments.split[1] = -1;
    for (int i = 0; i < move.rank; ++i) {
      const int axis = cut.out.axes[i];
      const int clip = clip_of(axis);
      const long long in_step = move.in_step(axis);
      if (is_backwards(axis) && clip >= 0) {
        arguments.backwards = clip;
        arguments.backwards_step = in_step;
        arguments.backwards_place = layout.steps[axis];
        arguments.backwards_along = cut.out.is_along(axis);
      } else if (is_backwards(axis)) {
        const auto last = static_cast<unsigned>(cut.extents[axis] - 1);
        arguments.in_start += last * in_step;
        (cut.out.is_along(axis) ? arguments.origin_along : arguments.origin) +=
            last * layout.steps[axis];
      }
      const size_type part = cut.part(axis);
      const size_type count = divide_up(move.axes[axis].extent, part);
      if (count == 1) { continue; }
      if (clip >= 0) {
        arguments.split[clip] = arguments.outer_count;
        arguments.split_extent[clip] = static_cast<unsigned>(move.axes[axis].extent);
        arguments.split_part[clip] = static_cast<unsigned>(part);
      }
      const auto extent = static_cast<long long>(part);
      arguments.outer[arguments.outer_count++] = {divider(count), in_step * extent,
                                                  move.out_step(axis) * extent};
    }
    // What may be read where a segment of the input ends inside of an item: all of an input without gaps, else its elements.
    arguments.dense_begin = begin_of_input(move);
    arguments.dense_end =
        arguments.dense_begin + (has_dense_input(move) ? count_elements(move) * bytes : 0);
    arguments.skew = static_cast<unsigned>(cut.skew);
    arguments.places = arguments.to.count * static_cast<unsigned>(sizeof(gathered_segment));
    arguments.panel = table_bytes;
    return planned;
  }
};

/// Calls launch(plan) for each launch of panels of elements of one access each, until one fails.
template <class Launch>
auto plan_axes_panels(const relocation& move, Launch launch)
    -> decltype(launch(launch_plan<axes_panel_arguments>{})) {
  const launch_plan<axes_panel_arguments> plan =
      axes_panel_layout(move, large_panel_axes_bytes, default_shared_bytes).plan();
  if (plan.blocks <= max_blocks) { return launch(plan); }
  return split(move, [&](const relocation& part) { return plan_axes_panels(part, launch); });
}

/// More than max_blocks where the problem is to be split.
/// \param shared_bytes  what a block may ask for
inline launch_plan<axes_panel_arguments> plan_gathered(const batch_problem& problem,
                                                       size_type element_bytes,
                                                       size_type access_bytes,
                                                       size_type shared_bytes) {
  batch_problem first = problem;
  if (problem.pointer_arrays) {  // the addresses of matrices are taken for aligned ones
    first.in = static_cast<const unsigned char*>(problem.in) - address_bits(problem.in) % 128;
    first.out = static_cast<unsigned char*>(problem.out) - address_bits(problem.out) % 128;
  }
  const relocation move =
      as_accesses(relocation_of(first, element_bytes, element_bytes), access_bytes);
  const size_type matrix_bytes = problem.nx * problem.ny * element_bytes;
  const bool fits =
      problem.batch > 1 &&
      matrix_bytes <= largest_whole_matrix(static_cast<int>(access_bytes), shared_bytes);
  const bool is_whole = problem.pointer_arrays || (fits && problem.batch >= least_whole_panels);
  const size_type large =
      larger<size_type>(large_panel_axes_bytes, fits ? matrix_bytes : size_type{0});
  const size_type whole =
      larger<size_type>(panel_axes_threads, is_whole ? matrix_bytes / access_bytes : 0);
  launch_plan<axes_panel_arguments> plan =
      axes_panel_layout(move, large, shared_bytes, whole).plan();
  if (!problem.pointer_arrays || plan.blocks > max_blocks) { return plan; }
  axes_panel_arguments& arguments = plan.arguments;
  const auto distance_from = [](const void* start, const void* at) {
    return static_cast<const unsigned char*>(at) - static_cast<const unsigned char*>(start);
  };
  arguments.pointer_arrays = true;
  arguments.in = problem.in;
  arguments.out = problem.out;
  arguments.in_start +=
      distance_from(first.in, move.in) + static_cast<long long>(problem.in_batch_bytes);
  arguments.out_start +=
      distance_from(first.out, move.out) + static_cast<long long>(problem.out_batch_bytes);
  arguments.dense_begin = arguments.dense_end = nullptr;
  plan.blocks =
      problem.batch > max_blocks / plan.blocks ? max_blocks + 1 : plan.blocks * problem.batch;
  return plan;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
