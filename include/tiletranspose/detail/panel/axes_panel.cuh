// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Panels of arrays of any rank: a block moves a part whose input and output are a few long contiguous segments each.
///
///     stage    segments of the input are copied to shared memory, one after the other
///     find     where the segments of the output lie, in memory and in the panel: a table in shared memory
///     gather   segments of the output are written, each element from its place in the panel
///
/// detail/README.md says how panels are skewed to the sectors of the output, and how a thread finds the places of its elements
/// by the *period* of a segment, the elements of the whole axes that it runs along.

#pragma once

#include <tiletranspose/detail/choose/panel_cut.cuh>
#include <tiletranspose/detail/core/async_copy.cuh>
#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/memory.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// An axis that an index counts: how far one step along it leads, in bytes of memory and in elements of the panel.
struct panel_axis {
  divider extent;
  int clip;  ///< 0 or 1 where the panel may have less of it: panel_part::extent_of; else -1
  unsigned place_step;  ///< modulo 2^32
  long long step;
};

/// Axes that an index counts together, the fastest first.
struct panel_axes {
  int count;
  panel_axis axes[9];
};

/// The segments of one side.
struct side_segments {
  unsigned length;  ///< elements of a whole segment
  int clip;  ///< as of an axis: where a panel may have less of the last axis that a segment runs along
  unsigned step;     ///< elements from one step along that axis to the next
  unsigned count;    ///< segments
  divider lanes;     ///< threads that share one
  panel_axes apart;  ///< the axes that lead from one to the next
};

/// An axis along which there is more than one panel.
struct panel_outer_axis {
  divider panels;
  long long in_step;
  long long out_step;
};

struct axes_panel_arguments {
  const void* in;  ///< the first element; or an array of pointers to matrices
  void* out;       ///< likewise
  bool pointer_arrays;
  long long in_start;  ///< bytes from there to where the first panel begins
  long long out_start;
  const unsigned char* dense_begin;  ///< all from here to dense_end may be read, and elements
  const unsigned char* dense_end;
  side_segments from;
  side_segments to;
  panel_axes period;      ///< the axes that a segment of the output runs along, but for the last
  divider period_length;  ///< elements of these
  unsigned period_step;   ///< elements of the panel from one to the next, modulo 2^32
  int outer_count;
  panel_outer_axis outer[9];
  int split[2];  ///< which of `outer` a panel takes a part of that need not be whole, -1: none
  unsigned split_extent[2];  ///< elements along them
  unsigned split_part[2];    ///< those that a panel takes
  unsigned skew;  ///< elements more along to.clip; 0: segments begin and end inside of sectors
  int backwards;  ///< 0 or 1: the input runs backwards through this one of them
  long long backwards_step;  ///< bytes of a step along it, 0 where there is none
  unsigned backwards_place;  ///< likewise elements of the panel
  bool backwards_along;      ///< segments of the output run along that axis
  unsigned origin;  ///< place of the first element along the axes that lead from segment to segment
  unsigned origin_along;  ///< and along the others
  unsigned align_bytes;   ///< modulo these, elements are in the panel where they are in memory
  bool pads;              ///< one item of the panel is left out behind every 2^pad_shift
  unsigned pad_shift;
  unsigned rotation_shift;  ///< log2 of the threads that begin a word with the same element of it
  unsigned
      places;  ///< the table of places along a period in shared memory, behind that of segments ..
  unsigned panel;  ///< .. and the panel
};

/// Places of elements that the table has behind those of a period.
inline constexpr unsigned more_places = 3;

/// A segment that a panel has of a side.
struct panel_segment {
  long long offset;  ///< bytes from the first element of the panel
  unsigned length;   ///< elements that exist
  unsigned place;    ///< of its first element
};

/// One of the output as the table has it: its *stores*, of elements_of_lane each, and its *ends* before and behind these.
struct alignas(16) gathered_segment {  // bytes_of_segment in choose/panel_cut.cuh
  long long offset;                    ///< bytes from the first element of the panel
  unsigned place;                      ///< what all its elements have in common
  unsigned short stores;               ///< 228 KB of them fit
  unsigned char first;  ///< index of its first element along the axes that it runs along
  unsigned char ends;   ///< elements before its stores, and behind them from bit 4 on
};

/// What one block has of its panel.
struct panel_part {
  const axes_panel_arguments& arguments;
  const unsigned char* in;
  unsigned char* out;
  unsigned first_extent = 1;  ///< elements along the axes of which it takes a part
  unsigned second_extent = 1;
  bool is_first = true;  ///< along to.clip
  /// The place of the first element: what it is in every segment of the output, and what it is along one.
  unsigned origin = arguments.origin;
  unsigned origin_along = arguments.origin_along;

  TILETRANSPOSE_FUNCTION panel_part(const axes_panel_arguments& all, unsigned block)
      : arguments(all) {
    long long in_offset = all.in_start;
    long long out_offset = all.out_start;
    TILETRANSPOSE_UNROLL_BY(1)
    for (int k = 0; k < all.outer_count; ++k) {
      const panel_outer_axis& axis = all.outer[k];
      const unsigned next = axis.panels.quotient(block);
      const unsigned here = axis.panels.remainder(block, next);
      in_offset += here * axis.in_step;
      out_offset += here * axis.out_step;
      const auto take_part = [&](int clip, unsigned& extent) {
        if (k != all.split[clip]) { return; }
        const unsigned part = all.split_part[clip];
        const bool skewed = clip == all.to.clip;
        extent = smaller(part + (skewed ? all.skew : 0), all.split_extent[clip] - here * part);
        if (skewed) { is_first = here == 0; }
      };
      take_part(0, first_extent);
      take_part(1, second_extent);
      block = next;
    }
    const unsigned last = extent_of(all.backwards) - 1;
    in_offset += static_cast<long long>(last) * all.backwards_step;
    if (all.pointer_arrays) {  // the block counts matrices behind panels
      in = static_cast<const unsigned char* const*>(all.in)[block] + in_offset;
      out = static_cast<unsigned char* const*>(all.out)[block] + out_offset;
    } else {
      in = static_cast<const unsigned char*>(all.in) + in_offset;
      out = static_cast<unsigned char*>(all.out) + out_offset;
    }
    (all.backwards_along ? origin_along : origin) += last * all.backwards_place;
  }

  /// Elements along an axis with this number.
  TILETRANSPOSE_FUNCTION unsigned extent_of(int clip) const {
    return clip == 0 ? first_extent : second_extent;
  }

  /// The place that an index has along axes; its length is 0 where the panel has less of one of them.
  TILETRANSPOSE_FUNCTION panel_segment find_place(const panel_axes& axes, unsigned index) const {
    panel_segment at{0, 1, 0};
    TILETRANSPOSE_UNROLL_BY(1)
    for (int k = 0; k < axes.count; ++k) {
      const panel_axis& axis = axes.axes[k];
      const unsigned next = axis.extent.quotient(index);
      const unsigned here = axis.extent.remainder(index, next);
      at.offset += here * axis.step;
      at.place += here * axis.place_step;
      if (axis.clip >= 0 && here >= extent_of(axis.clip)) { at.length = 0; }
      index = next;
    }
    return at;
  }

  /// The segment of a side with this number.
  TILETRANSPOSE_FUNCTION panel_segment find_segment(const side_segments& side, unsigned index,
                                                    unsigned start) const {
    panel_segment segment = find_place(side.apart, index);
    segment.length *= side.clip >= 0 ? side.step * extent_of(side.clip) : side.length;
    segment.place += start;
    return segment;
  }

  /// The part of a segment of the output that the panel writes, as the table has it. Where panels are skewed it begins and
  /// ends on sectors, but for the ends of its axis.
  template <int Bytes>
  TILETRANSPOSE_FUNCTION gathered_segment gather_from(const panel_segment& segment) const {
    const unsigned address = address_bits(out + segment.offset);
    unsigned first = 0;
    unsigned end = segment.length;
    if (arguments.skew > 0) {
      const unsigned own = arguments.split_part[arguments.to.clip] * arguments.to.step;
      const auto to_sector = [&](unsigned element) {  // elements
        return (0 - (address + element * Bytes)) % sector_bytes / Bytes;
      };
      if (!is_first) { first = smaller(to_sector(0), end); }
      if (own < end) { end = smaller(own + to_sector(own), end); }
    }
    unsigned head = 0;
    unsigned tail = 0;
    constexpr unsigned together = elements_of_lane(Bytes);
    if constexpr (together > 1) {
      head = smaller((0 - (address + first * Bytes)) % bytes_of_lane(Bytes) / Bytes, end - first);
      first += head;
      tail = (end - first) % together;
    }
    // Along a single axis elements are equally far apart, wherever it begins.
    const bool shifts_place = arguments.period_length.divisor == 1;
    return {segment.offset + first * Bytes,
            segment.place + (shifts_place ? first * arguments.period_step : 0),
            static_cast<unsigned short>((end - first) / together),
            static_cast<unsigned char>(shifts_place ? 0 : first),
            static_cast<unsigned char>(head | tail << 4)};
  }

  /// Fills the tables of the output. Barriers: none; the caller owes one before they are read.
  /// \param lead  elements of the panel before the first one of the input
  template <int Bytes>
  TILETRANSPOSE_FUNCTION void find_segments(unsigned char* shared, unsigned rank,
                                            unsigned lead) const {
    TILETRANSPOSE_UNROLL_BY(1)
    for (unsigned i = rank; i < arguments.to.count; i += panel_axes_threads) {
      const panel_segment segment = find_segment(arguments.to, i, origin + lead);
      store_shared(shared + i * sizeof(gathered_segment), gather_from<Bytes>(segment));
    }
    const unsigned length = arguments.period_length.divisor;
    TILETRANSPOSE_UNROLL_BY(1)
    for (unsigned i = rank; i < length + more_places; i += panel_axes_threads) {
      const unsigned period = arguments.period_length.quotient(i);
      const unsigned inside = arguments.period_length.remainder(i, period);
      store_shared(shared + arguments.places + i * 4,
                   origin_along + period * arguments.period_step +
                       find_place(arguments.period, inside).place);
    }
  }
};

/// The places that elements have in every segment of the output: of `Count` from element `first` on, but number `rotation`
/// of these first and its followers next.
template <unsigned Count>
TILETRANSPOSE_FUNCTION void find_places(unsigned (&places)[Count], const unsigned char* table,
                                        const axes_panel_arguments& arguments, unsigned first,
                                        unsigned rotation) {
  static_assert(Count <= more_places + 1, "");
  const unsigned period = arguments.period_length.quotient(first);
  const unsigned inside = arguments.period_length.remainder(first, period);
  TILETRANSPOSE_UNROLL
  for (unsigned k = 0; k < Count; ++k) {
    places[k] = period * arguments.period_step +
                load_shared<unsigned>(table + (inside + (rotation + k) % Count) * 4);
  }
}

/// The threads that share a segment, and so many segments at a time. Some may be left over.
struct segment_lanes {
  unsigned first;     ///< segment of this thread
  unsigned lane;      ///< in it
  unsigned step;      ///< lanes
  unsigned together;  ///< segments that the block takes at a time

  TILETRANSPOSE_FUNCTION segment_lanes(unsigned rank, unsigned threads, divider lanes)
      : first(lanes.quotient(rank)),
        lane(lanes.remainder(rank, first)),
        step(lanes.divisor),
        together(lanes.quotient(threads)) {}

  /// The first segment that is not this thread's.
  TILETRANSPOSE_FUNCTION unsigned end(unsigned count) const { return first < together ? count : 0; }
};

/// What a panel consists of in shared memory: 16 bytes, or less where one is left out behind every 2^pad_shift.
TILETRANSPOSE_HOST_DEVICE constexpr unsigned panel_item_bytes(unsigned bytes, bool pads) {
  return !pads ? max_access_bytes : bytes < 4 ? 8 : bytes;
}

/// Where a byte of the panel is in shared memory.
template <int Bytes, bool Pads>
TILETRANSPOSE_FUNCTION unsigned padded_byte(unsigned byte, unsigned pad_shift) {
  constexpr unsigned item = panel_item_bytes(Bytes, Pads);
  return Pads ? byte + (byte / item >> pad_shift) * item : byte;
}

/// Stages a segment by the items that it lies in: elements keep their places in these. Precondition: it has elements.
template <int Bytes, bool Pads>
TILETRANSPOSE_FUNCTION void stage_segment(unsigned char* panel, const unsigned char* from,
                                          const panel_segment& segment, const segment_lanes& lanes,
                                          const axes_panel_arguments& arguments) {
  constexpr unsigned item = panel_item_bytes(Bytes, Pads);
  const unsigned lead = segment.place * Bytes % item;
  const unsigned first = segment.place * Bytes - lead;
  const unsigned end = lead + segment.length * Bytes;  // bytes from `below` on
  const unsigned bytes = divide_up(end, item) * item;
  const unsigned char* const below = from - lead;
  // Items that lie inside of an input without gaps may be read whole, though a segment begins or ends inside of them.
  const bool dense = from >= arguments.dense_begin && from < arguments.dense_end;
  const bool whole_first = lead == 0 || (dense && below >= arguments.dense_begin);
  const bool whole_last = end == bytes || (dense && below + bytes <= arguments.dense_end);
  const unsigned end_whole = whole_last ? bytes : bytes - item;
  TILETRANSPOSE_UNROLL_BY(4)
  for (unsigned byte = (lanes.lane + (whole_first ? 0 : 1)) * item; byte < end_whole;
       byte += lanes.step * item) {
    copy_async<item>(panel + padded_byte<Bytes, Pads>(first + byte, arguments.pad_shift),
                     below + byte);
  }
  if (whole_first && whole_last) { return; }
  for (unsigned i = lanes.lane * Bytes; i < 2 * item; i += lanes.step * Bytes) {
    const unsigned byte = i < item ? i : bytes - 2 * item + i;
    const bool is_single = i < item ? !whole_first : !whole_last && (bytes > item || whole_first);
    if (is_single && byte >= lead && byte < end) {
      store_shared(panel + padded_byte<Bytes, Pads>(first + byte, arguments.pad_shift),
                   load_constant<access_word_t<Bytes>>(below + byte));
    }
  }
}

/// What a lane stores, put together of elements that begin with number `rotation`, and go on with number 0 behind the last one.
template <int Bytes>
TILETRANSPOSE_FUNCTION auto join_elements(
    const access_word_t<Bytes> (&elements)[elements_of_lane(Bytes)], unsigned rotation) {
  constexpr unsigned count = elements_of_lane(Bytes);
  if constexpr (Bytes < 4) {
    unsigned word = 0;
    TILETRANSPOSE_UNROLL
    for (unsigned k = 0; k < count; ++k) {
      word |= static_cast<unsigned>(elements[k]) << (8 * Bytes * k);
    }
    return funnel_shift(word, word, 0 - 8 * Bytes * rotation);
  } else {
    access_word_t<Bytes> ordered[count];
    rotate_back(elements, rotation, ordered);
    return as_word<sizeof ordered>(ordered);
  }
}

/// Writes the ends of segments, an element a thread.
template <int Bytes, bool Pads, class Group>
TILETRANSPOSE_FUNCTION void gather_ends(Group group, unsigned char* to,
                                        const unsigned char* segments, const unsigned char* panel,
                                        const axes_panel_arguments& arguments) {
  constexpr unsigned parts = elements_of_lane(Bytes);  // one more than an end has
  TILETRANSPOSE_UNROLL_BY(1)
  for (unsigned i = group.thread_rank(); i < arguments.to.count * 2 * parts;
       i += panel_axes_threads) {
    const loop_step here(i / panel_axes_threads);
    const auto segment =
        load_shared<gathered_segment>(segments + i / (2 * parts) * sizeof(gathered_segment));
    const unsigned element = i % parts;
    const bool is_tail = i / parts % 2 != 0;
    const unsigned head = segment.ends % 16;
    if (element >= (is_tail ? segment.ends / 16 : head)) { continue; }
    const int at = static_cast<int>(is_tail ? segment.stores * parts + element : element - head);
    unsigned place[1];  // of a number modulo 2^32, where periods are single elements
    find_places<1>(place, segments + arguments.places, arguments, segment.first + at, 0);
    const unsigned from =
        padded_byte<Bytes, Pads>((segment.place + place[0]) * Bytes, arguments.pad_shift);
    store_global(to + segment.offset + at * Bytes, load_shared<access_word_t<Bytes>>(panel + from));
  }
}

template <int Bytes, bool Pads, class Group>
TILETRANSPOSE_FUNCTION void stage_and_gather(Group group, unsigned char* shared,
                                             const axes_panel_arguments& arguments,
                                             const panel_part& part) {
  unsigned char* const panel = shared + arguments.panel;
  const side_segments& from = arguments.from;
  const unsigned lead = address_bits(part.in) % arguments.align_bytes / Bytes;
  const segment_lanes in_lanes(group.thread_rank(), panel_axes_threads, from.lanes);
  TILETRANSPOSE_UNROLL_BY(1)
  for (unsigned i = in_lanes.first; i < in_lanes.end(from.count); i += in_lanes.together) {
    const loop_step here(i);
    const panel_segment segment = part.find_segment(from, i, lead);
    const unsigned char* const first = part.in + segment.offset;
    if (segment.length > 0) {
      stage_segment<Bytes, Pads>(panel, first, segment, in_lanes, arguments);
    }
  }
  commit_copies();
  part.find_segments<Bytes>(shared, group.thread_rank(), lead);
  wait_for_copies(0);
  group.sync();
  const side_segments& to = arguments.to;
  const unsigned char* const along = shared + arguments.places;
  const segment_lanes lanes(group.thread_rank(), panel_axes_threads, to.lanes);
  constexpr unsigned parts = elements_of_lane(Bytes);
  const unsigned advance =  // bytes from the elements of a store to those of this thread's next one
      arguments.period_length.quotient(lanes.step * parts) * arguments.period_step * Bytes;
  const unsigned rotation = (lanes.lane >> arguments.rotation_shift) % parts;
  unsigned own[parts];  // of a segment whose first element has index 0
  find_places<parts>(own, along, arguments, lanes.lane * parts, rotation);
  TILETRANSPOSE_UNROLL_BY(1)
  for (unsigned i = lanes.first; i < lanes.end(to.count); i += lanes.together) {
    const loop_step here(i);
    const auto segment = load_shared<gathered_segment>(shared + i * sizeof(gathered_segment));
    unsigned places[parts];
    TILETRANSPOSE_UNROLL
    for (unsigned k = 0; k < parts; ++k) { places[k] = own[k]; }
    if (segment.first != 0) {
      find_places<parts>(places, along, arguments, segment.first + lanes.lane * parts, rotation);
    }
    TILETRANSPOSE_UNROLL
    for (unsigned k = 0; k < parts; ++k) { places[k] = (segment.place + places[k]) * Bytes; }
    TILETRANSPOSE_UNROLL_BY(1)
    for (unsigned at = lanes.lane; at < segment.stores; at += lanes.step) {
      const loop_step store(at / lanes.step);
      access_word_t<Bytes> elements[parts];
      TILETRANSPOSE_UNROLL
      for (unsigned k = 0; k < parts; ++k) {
        elements[k] = load_shared<access_word_t<Bytes>>(
            panel + padded_byte<Bytes, Pads>(places[k], arguments.pad_shift));
        places[k] += advance;
      }
      const auto value = join_elements<Bytes>(elements, rotation);
      store_global(part.out + segment.offset + at * sizeof value, value);
    }
  }
  if constexpr (parts > 1) { gather_ends<Bytes, Pads>(group, part.out, shared, panel, arguments); }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
