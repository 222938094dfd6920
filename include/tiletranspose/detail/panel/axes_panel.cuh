// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Panels of arrays of any rank: a block moves a part whose input and output are a few long contiguous segments each.
///
///     find     where the segments of both sides lie, in memory and in the panel: two tables in shared memory
///     stage    segments of the input are copied to shared memory, one after the other
///     gather   segments of the output are written, each element from its place in the panel
///
/// An element's place in the panel is a sum over its indices: that of its segment of the output plus that which it has in
/// every segment. A segment runs along whole axes, whose elements are its *period*, and along a part of one more. The
/// threads that share it are so many that each round goes on by whole periods: a thread finds the place of its first
/// element, and those of all others are equally far apart.

#pragma once

#include <type_traits>

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
  int backwards;             ///< 0 or 1: the input runs backwards through this one of them
  long long backwards_step;  ///< bytes of a step along it, 0 where there is none
  unsigned backwards_place;  ///< likewise elements of the panel
  bool backwards_along;      ///< segments of the output run along that axis
  unsigned origin;  ///< place of the first element along the axes that lead from segment to segment
  unsigned origin_along;  ///< and along the others
  unsigned align_bytes;   ///< modulo these, elements are in the panel where they are in memory
  bool pads;              ///< one item of the panel is left out behind every 2^pad_shift
  unsigned pad_shift;
  unsigned to_table;  ///< where the output's table begins in shared memory, behind the input's
  unsigned places;    ///< likewise the table of places along a period
  unsigned panel;
};

/// Where a segment lies.
struct alignas(16) panel_segment {  // bytes_of_segment in choose/axes_panel.cuh
  long long offset;                 ///< bytes from the first element of the panel
  unsigned length;                  ///< elements that exist
  unsigned place;                   ///< of its first element
};

/// What one block has of its panel.
struct panel_part {
  const unsigned char* in;
  unsigned char* out;
  unsigned first_extent;  ///< elements along the axes of which it takes a part
  unsigned second_extent;
  unsigned origin;  ///< place of the first element: what it is in every segment of the output ..
  unsigned origin_along;  ///< .. and what it is along one

  TILETRANSPOSE_FUNCTION panel_part(const axes_panel_arguments& arguments, unsigned block)
      : in(nullptr),
        out(nullptr),
        first_extent(1),
        second_extent(1),
        origin(arguments.origin),
        origin_along(arguments.origin_along) {
    long long in_offset = arguments.in_start;
    long long out_offset = arguments.out_start;
    for (int k = 0; k < arguments.outer_count; ++k) {
      const panel_outer_axis& axis = arguments.outer[k];
      const unsigned next = axis.panels.quotient(block);
      const unsigned here = axis.panels.remainder(block, next);
      in_offset += here * axis.in_step;
      out_offset += here * axis.out_step;
      const auto left = [&](int clip) {
        const unsigned part = arguments.split_part[clip];
        return smaller(part, arguments.split_extent[clip] - here * part);
      };
      if (k == arguments.split[0]) { first_extent = left(0); }
      if (k == arguments.split[1]) { second_extent = left(1); }
      block = next;
    }
    const unsigned last = extent_of(arguments.backwards) - 1;
    in_offset += static_cast<long long>(last) * arguments.backwards_step;
    if (arguments.pointer_arrays) {  // the block counts matrices behind panels
      in = static_cast<const unsigned char* const*>(arguments.in)[block] + in_offset;
      out = static_cast<unsigned char* const*>(arguments.out)[block] + out_offset;
    } else {
      in = static_cast<const unsigned char*>(arguments.in) + in_offset;
      out = static_cast<unsigned char*>(arguments.out) + out_offset;
    }
    (arguments.backwards_along ? origin_along : origin) += last * arguments.backwards_place;
  }

  /// Elements along an axis with this number.
  TILETRANSPOSE_FUNCTION unsigned extent_of(int clip) const {
    return clip == 0 ? first_extent : second_extent;
  }
};

/// The place that an index has along axes; its length is 0 where the panel has less of one of them.
TILETRANSPOSE_FUNCTION panel_segment find_place(const panel_axes& axes, unsigned index,
                                                const panel_part& part) {
  panel_segment at{0, 1, 0};
  for (int k = 0; k < axes.count; ++k) {
    const panel_axis& axis = axes.axes[k];
    const unsigned next = axis.extent.quotient(index);
    const unsigned here = axis.extent.remainder(index, next);
    at.offset += here * axis.step;
    at.place += here * axis.place_step;
    if (axis.clip >= 0 && here >= part.extent_of(axis.clip)) { at.length = 0; }
    index = next;
  }
  return at;
}

/// Places of elements that the table has behind those of a period.
inline constexpr unsigned more_places = 3;

/// Fills the tables. Barriers: none; the caller owes one before they are read.
template <int Bytes, int Threads, class Group>
TILETRANSPOSE_FUNCTION void find_segments(Group group, unsigned char* shared,
                                          const axes_panel_arguments& arguments,
                                          const panel_part& part) {
  const auto find = [&](const side_segments& side, unsigned table, unsigned origin) {
    for (unsigned i = group.thread_rank(); i < side.count; i += Threads) {
      panel_segment segment = find_place(side.apart, i, part);
      segment.length *= side.clip >= 0 ? side.step * part.extent_of(side.clip) : side.length;
      segment.place += origin;
      store_shared(shared + table + i * sizeof segment, segment);
    }
  };
  const unsigned lead = address_bits(part.in) % arguments.align_bytes / Bytes;
  find(arguments.from, 0, lead);
  find(arguments.to, arguments.to_table, part.origin + lead);
  const unsigned length = arguments.period_length.divisor;
  for (unsigned i = group.thread_rank(); i < length + more_places; i += Threads) {
    const unsigned period = arguments.period_length.quotient(i);
    const unsigned inside = arguments.period_length.remainder(i, period);
    store_shared(shared + arguments.places + i * 4,
                 part.origin_along + period * arguments.period_step +
                     find_place(arguments.period, inside, part).place);
  }
}

/// The place that element `at` has in every segment of the output. Precondition: it exists, or is one of the few behind it.
TILETRANSPOSE_FUNCTION unsigned place_along(const unsigned char* places,
                                            const axes_panel_arguments& arguments, unsigned at) {
  const unsigned period = arguments.period_length.quotient(at);
  const unsigned inside = arguments.period_length.remainder(at, period);
  return period * arguments.period_step + load_shared<unsigned>(places + inside * 4);
}

TILETRANSPOSE_FUNCTION panel_segment load_segment(const unsigned char* table, unsigned index) {
  return load_shared<panel_segment>(table + index * sizeof(panel_segment));
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

/// What a panel consists of in shared memory: 16 bytes, or a word or an element of whole words, of which one is left out
/// behind every 2^pad_shift.
template <int Bytes, bool Pads>
inline constexpr int panel_item_bytes = !Pads       ? max_access_bytes
                                        : Bytes < 4 ? 4
                                                    : Bytes;

/// Where a byte of the panel is in shared memory.
template <int Bytes, bool Pads>
TILETRANSPOSE_FUNCTION unsigned padded_byte(unsigned byte, unsigned pad_shift) {
  constexpr unsigned item = panel_item_bytes<Bytes, Pads>;
  return Pads ? byte + (byte / item >> pad_shift) * item : byte;
}

/// Calls move(first, count) for items first, first + step, .. before `end`, so many at a time that several loads are under
/// way.
template <int Together, class Move>
TILETRANSPOSE_FUNCTION void move_several(unsigned first, unsigned end, unsigned step, Move move) {
  unsigned round = 0;  // on the CPU, those of one loop are none of the other
  for (; first + (Together - 1) * step < end; first += Together * step) {
    const loop_step here(round++);
    move(first, std::integral_constant<int, Together>{});
  }
  round = 1u << 31;
  for (; first < end; first += step) {
    const loop_step here(round++);
    move(first, std::integral_constant<int, 1>{});
  }
}

/// Stages a segment by the items that it lies in: elements keep their places in these. Precondition: it has elements.
template <int Bytes, bool Pads>
TILETRANSPOSE_FUNCTION void stage_segment(unsigned char* panel, const unsigned char* from,
                                          const panel_segment& segment, const segment_lanes& lanes,
                                          const axes_panel_arguments& arguments) {
  constexpr unsigned item = panel_item_bytes<Bytes, Pads>;
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

/// An element of the panel.
template <int Bytes, bool Pads>
TILETRANSPOSE_FUNCTION access_word_t<Bytes> load_element(const unsigned char* panel, unsigned place,
                                                         unsigned pad_shift) {
  return load_shared<access_word_t<Bytes>>(panel +
                                           padded_byte<Bytes, Pads>(place * Bytes, pad_shift));
}

/// Writes a segment of elements of whole words, of which this thread's first is at `place`. `advance`: from there to its
/// next.
template <int Bytes, bool Pads>
TILETRANSPOSE_FUNCTION void gather_elements(unsigned char* to, const unsigned char* panel,
                                            unsigned place, unsigned advance, unsigned length,
                                            const segment_lanes& lanes, unsigned pad_shift) {
  move_several<Bytes == 16 ? 2 : 4>(lanes.lane, length, lanes.step, [&](unsigned at, auto count) {
    constexpr int together = decltype(count)::value;
    access_word_t<Bytes> elements[together];
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < together; ++i, place += advance) {
      elements[i] = load_element<Bytes, Pads>(panel, place, pad_shift);
    }
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < together; ++i, at += lanes.step) {
      store_global(to + at * Bytes, elements[i]);
    }
  });
}

/// Writes a segment of elements of 1 or 2 bytes, whole words of memory where it has these.
template <int Bytes, bool Pads>
TILETRANSPOSE_FUNCTION void gather_words(unsigned char* to, const unsigned char* panel,
                                         const unsigned char* along, const panel_segment& segment,
                                         const segment_lanes& lanes,
                                         const axes_panel_arguments& arguments, unsigned advance) {
  constexpr unsigned parts = 4 / Bytes;
  const unsigned pad_shift = arguments.pad_shift;
  const unsigned head = smaller((0 - address_bits(to)) % 4 / Bytes, segment.length);
  const unsigned tail = (segment.length - head) % parts;
  const unsigned end = segment.length - tail;
  const unsigned first = head + lanes.lane * parts;
  const unsigned period = arguments.period_length.quotient(first);
  const unsigned inside = arguments.period_length.remainder(first, period);
  const unsigned start = segment.place + period * arguments.period_step;
  unsigned places[parts];
  TILETRANSPOSE_UNROLL
  for (unsigned i = 0; i < parts; ++i) {
    places[i] = start + load_shared<unsigned>(along + (inside + i) * 4);
  }
  move_several<2>(first, end, lanes.step * parts, [&](unsigned at, auto count) {
    constexpr int together = decltype(count)::value;
    unsigned words[together] = {};
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < together; ++i) {
      TILETRANSPOSE_UNROLL
      for (unsigned k = 0; k < parts; ++k, places[k - 1] += advance) {
        words[i] |= static_cast<unsigned>(load_element<Bytes, Pads>(panel, places[k], pad_shift))
                    << (8 * Bytes * k);
      }
    }
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < together; ++i, at += lanes.step * parts) {
      store_global(to + at * Bytes, words[i]);
    }
  });
  for (unsigned i = lanes.lane; i < head + tail; i += lanes.step) {
    const unsigned single = i < head ? i : end + (i - head);
    const unsigned place = segment.place + place_along(along, arguments, single);
    store_global(to + single * Bytes, load_element<Bytes, Pads>(panel, place, pad_shift));
  }
}

/// Stages and gathers a panel whose segments were found.
template <int Bytes, bool Pads, int Threads, class Group>
TILETRANSPOSE_FUNCTION void stage_and_gather(Group group, unsigned char* shared,
                                             const axes_panel_arguments& arguments,
                                             const panel_part& part) {
  unsigned char* const panel = shared + arguments.panel;
  const side_segments& from = arguments.from;
  const segment_lanes in_lanes(group.thread_rank(), Threads, from.lanes);
  for (unsigned i = in_lanes.first; i < in_lanes.end(from.count); i += in_lanes.together) {
    const loop_step here(i);
    const panel_segment segment = load_segment(shared, i);
    const unsigned char* const first = part.in + segment.offset;
    if (segment.length > 0) {
      stage_segment<Bytes, Pads>(panel, first, segment, in_lanes, arguments);
    }
  }
  commit_copies();
  wait_for_copies(0);
  group.sync();
  const side_segments& to = arguments.to;
  const unsigned char* const along = shared + arguments.places;
  const segment_lanes out_lanes(group.thread_rank(), Threads, to.lanes);
  constexpr unsigned parts = Bytes < 4 ? 4 / Bytes : 1;
  const unsigned advance =
      arguments.period_length.quotient(out_lanes.step * parts) * arguments.period_step;
  const unsigned own = Bytes >= 4 ? place_along(along, arguments, out_lanes.lane) : 0;
  for (unsigned i = out_lanes.first; i < out_lanes.end(to.count); i += out_lanes.together) {
    const loop_step here(i);
    const panel_segment segment = load_segment(shared + arguments.to_table, i);
    unsigned char* const first = part.out + segment.offset;
    if constexpr (Bytes >= 4) {
      gather_elements<Bytes, Pads>(first, panel, segment.place + own, advance, segment.length,
                                   out_lanes, arguments.pad_shift);
    } else {
      gather_words<Bytes, Pads>(first, panel, along, segment, out_lanes, arguments, advance);
    }
  }
}

/// Moves a panel of elements that are one access of `Bytes`.
/// Shared memory: arguments.panel bytes and the panel. Barriers: two, inside.
template <int Bytes, int Threads, class Group>
TILETRANSPOSE_FUNCTION void move_axes_panel(Group group, unsigned char* shared,
                                            const axes_panel_arguments& arguments, unsigned block) {
  const panel_part part(arguments, block);
  find_segments<Bytes, Threads>(group, shared, arguments, part);
  group.sync();
  if (arguments.pads) {
    stage_and_gather<Bytes, true, Threads>(group, shared, arguments, part);
  } else {
    stage_and_gather<Bytes, false, Threads>(group, shared, arguments, part);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
