// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Panels of arrays of any rank: a block moves a part whose input and output are a few long contiguous segments each.
///
///     find     where the segments of both sides lie, in memory and in the panel: two tables in shared memory
///     stage    segments of the input are copied to shared memory, one after the other
///     gather   segments of the output are written, each element from its place in the panel
///
/// An element's place in the panel is a sum over its indices. So it is that of its segment of the output plus that which
/// the element has in every segment, and a third table has the latter.

#pragma once

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
  unsigned skew;        ///< and what every 32 steps add
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
  unsigned step;         ///< elements from one step along that axis to the next
  unsigned count;        ///< segments
  unsigned lanes_shift;  ///< log2 of the threads that share one
  panel_axes apart;      ///< the axes that lead from one to the next
};

/// An axis along which there is more than one panel.
struct panel_outer_axis {
  divider panels;
  long long in_step;
  long long out_step;
};

struct axes_panel_arguments {
  const unsigned char* in;
  unsigned char* out;
  const unsigned char*
      words_begin;  ///< whole words from here to words_end may be read, though a segment ends inside
  const unsigned char* words_end;  ///< of one; null: the input has gaps, and they may not
  side_segments from;
  side_segments to;
  panel_axes along;  ///< the axes of a segment of the output
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
  unsigned
      pad_shift;  ///< elements of whole words: one place is left out behind every 2^pad_shift, 31: none
  unsigned
      to_table;  ///< bytes of shared memory before the output's table, the places and the panel
  unsigned places;
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
      : in(arguments.in),
        out(arguments.out),
        first_extent(1),
        second_extent(1),
        origin(arguments.origin),
        origin_along(arguments.origin_along) {
    for (int k = 0; k < arguments.outer_count; ++k) {
      const panel_outer_axis& axis = arguments.outer[k];
      const unsigned next = axis.panels.quotient(block);
      const unsigned here = axis.panels.remainder(block, next);
      in += here * axis.in_step;
      out += here * axis.out_step;
      const auto left = [&](int clip) {
        const unsigned part = arguments.split_part[clip];
        return smaller(part, arguments.split_extent[clip] - here * part);
      };
      if (k == arguments.split[0]) { first_extent = left(0); }
      if (k == arguments.split[1]) { second_extent = left(1); }
      block = next;
    }
    const unsigned last = extent_of(arguments.backwards) - 1;
    in += static_cast<long long>(last) * arguments.backwards_step;
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
    at.place += here * axis.place_step + here / 32 * axis.skew;
    if (axis.clip >= 0 && here >= part.extent_of(axis.clip)) { at.length = 0; }
    index = next;
  }
  return at;
}

/// Fills the tables. Barriers: none; the caller owes one before they are read.
template <int Threads, class Group>
TILETRANSPOSE_FUNCTION void find_segments(Group group, unsigned char* shared,
                                          const axes_panel_arguments& arguments,
                                          const panel_part& part) {
  const side_segments& from = arguments.from;
  const side_segments& to = arguments.to;
  const auto find = [&](const side_segments& side, unsigned index) {
    panel_segment segment = find_place(side.apart, index, part);
    segment.length *= side.clip >= 0 ? side.step * part.extent_of(side.clip) : side.length;
    return segment;
  };
  for (unsigned i = group.thread_rank(); i < from.count; i += Threads) {
    store_shared(shared + i * sizeof(panel_segment), find(from, i));
  }
  for (unsigned i = group.thread_rank(); i < to.count; i += Threads) {
    panel_segment segment = find(to, i);
    segment.place += part.origin;
    store_shared(shared + arguments.to_table + i * sizeof segment, segment);
  }
  for (unsigned i = group.thread_rank(); i < to.length; i += Threads) {
    const unsigned along = find_place(arguments.along, i, part).place + part.origin_along;
    const auto place = static_cast<unsigned short>(along);
    store_shared(shared + arguments.places + i * sizeof place, place);
  }
}

/// The place in the panel of element `at` of a segment of the output. Precondition: it exists.
TILETRANSPOSE_FUNCTION unsigned load_place(const unsigned char* places,
                                           const panel_segment& segment, unsigned at) {
  return segment.place + load_shared<unsigned short>(places + at * 2);
}

TILETRANSPOSE_FUNCTION panel_segment load_segment(const unsigned char* table, unsigned index) {
  return load_shared<panel_segment>(table + index * sizeof(panel_segment));
}

/// The threads that share a segment: as many as it keeps busy, up to a warp, and so many segments at a time.
struct segment_lanes {
  unsigned lane;
  unsigned step;
  unsigned first;     ///< segment of this thread
  unsigned together;  ///< segments that the block takes at a time

  TILETRANSPOSE_FUNCTION segment_lanes(unsigned rank, unsigned threads, unsigned shift)
      : lane(rank & ((1u << shift) - 1)),
        step(1u << shift),
        first(rank >> shift),
        together(threads >> shift) {}
};

/// Stages a segment of elements of whole words.
template <int Bytes>
TILETRANSPOSE_FUNCTION void stage_elements(unsigned char* panel, const unsigned char* from,
                                           const panel_segment& segment, const segment_lanes& lanes,
                                           unsigned pad_shift) {
  TILETRANSPOSE_UNROLL_BY(4)
  for (unsigned at = lanes.lane; at < segment.length; at += lanes.step) {
    const unsigned place = segment.place + at;
    copy_async<Bytes>(panel + (place + (place >> pad_shift)) * Bytes, from + at * Bytes);
  }
}

/// Writes a segment of elements of whole words.
template <int Bytes>
TILETRANSPOSE_FUNCTION void gather_elements(unsigned char* to, const unsigned char* panel,
                                            const unsigned char* places,
                                            const panel_segment& segment,
                                            const segment_lanes& lanes, unsigned pad_shift) {
  TILETRANSPOSE_UNROLL_BY(4)
  for (unsigned at = lanes.lane; at < segment.length; at += lanes.step) {
    const unsigned place = load_place(places, segment, at);
    store_global(to + at * Bytes,
                 load_shared<access_word_t<Bytes>>(panel + (place + (place >> pad_shift)) * Bytes));
  }
}

/// Stages a segment of elements of 1 or 2 bytes, words from its start on. Behind its end the last one has anything.
template <int Bytes>
TILETRANSPOSE_FUNCTION void stage_words(unsigned char* to, const unsigned char* from,
                                        unsigned length, const segment_lanes& lanes,
                                        const axes_panel_arguments& arguments) {
  const unsigned end = length * Bytes;
  const unsigned shift = address_bits(from) % 4;
  const unsigned char* const below = from - shift;
  const unsigned more = shift > 0 ? 8 : 4;  // bytes from `below` on that a word lies in
  const bool dense = arguments.words_end != nullptr;
  const bool whole_first = below >= (dense ? arguments.words_begin : from);
  const unsigned char* const behind = dense ? arguments.words_end : from + end;
  // Words that begin before this byte are inside of what may be read.
  const long long safe = behind - below - static_cast<long long>(more);
  const auto whole_end = safe < 0 ? 0u : static_cast<unsigned>(smaller<long long>(safe + 1, end));
  TILETRANSPOSE_UNROLL_BY(4)
  for (unsigned byte = 4 * lanes.lane; byte < end; byte += 4 * lanes.step) {
    const loop_step here(byte);
    unsigned word = 0;
    if (byte < whole_end && (byte > 0 || whole_first)) {
      word = load_constant<unsigned>(below + byte);
      if (shift > 0) {
        word = funnel_shift(word, load_constant<unsigned>(below + byte + 4), 8 * shift);
      }
    } else {
      TILETRANSPOSE_UNROLL_BY(1)
      for (unsigned i = 0; i < 4 && byte + i < end; i += Bytes) {
        const loop_step part(i);
        word |= static_cast<unsigned>(load_constant<access_word_t<Bytes>>(from + byte + i))
                << (8 * i);
      }
    }
    store_shared(to + byte, word);
  }
}

/// Writes a segment of elements of 1 or 2 bytes, by the words of memory that it lies in.
template <int Bytes>
TILETRANSPOSE_FUNCTION void gather_words(unsigned char* to, const unsigned char* panel,
                                         const unsigned char* places, const panel_segment& segment,
                                         const segment_lanes& lanes) {
  using part = access_word_t<Bytes>;
  constexpr int parts = 4 / Bytes;
  const auto lead = static_cast<int>(address_bits(to) % 4 / Bytes);
  const auto length = static_cast<int>(segment.length);
  if (length == 0) { return; }
  unsigned char* const first = to - lead * Bytes;
  const unsigned char* const from = panel + segment.place * Bytes;
  TILETRANSPOSE_UNROLL_BY(2)
  for (int at = static_cast<int>(lanes.lane) * parts; at < length + lead;
       at += static_cast<int>(lanes.step) * parts) {
    const loop_step here(at);
    const int element = at - lead;  // what lies outside of the segment is not stored
    part read[parts];
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < parts; ++i) {
      const int inside = larger(0, smaller(element + i, length - 1));
      read[i] = load_shared<part>(from + load_shared<unsigned short>(places + inside * 2) * Bytes);
    }
    if (element >= 0 && element + parts <= length) {
      unsigned word = 0;
      copy_bytes(&word, read, 4);
      store_global(first + at * Bytes, word);
    } else {
      TILETRANSPOSE_UNROLL
      for (int i = 0; i < parts; ++i) {
        if (element + i >= 0 && element + i < length) {
          store_global(first + (at + i) * Bytes, read[i]);
        }
      }
    }
  }
}

/// Moves a panel of elements that are one access of `Bytes`.
/// Shared memory: arguments.panel bytes and the panel. Barriers: two, inside.
template <int Bytes, int Threads, class Group>
TILETRANSPOSE_FUNCTION void move_axes_panel(Group group, unsigned char* shared,
                                            const axes_panel_arguments& arguments, unsigned block) {
  const panel_part part(arguments, block);
  find_segments<Threads>(group, shared, arguments, part);
  group.sync();
  unsigned char* const panel = shared + arguments.panel;
  const segment_lanes in_lanes(group.thread_rank(), Threads, arguments.from.lanes_shift);
  for (unsigned i = in_lanes.first; i < arguments.from.count; i += in_lanes.together) {
    const loop_step here(i);
    const panel_segment segment = load_segment(shared, i);
    const unsigned char* const first = part.in + segment.offset;
    if constexpr (Bytes >= 4) {
      stage_elements<Bytes>(panel, first, segment, in_lanes, arguments.pad_shift);
    } else {
      stage_words<Bytes>(panel + segment.place * Bytes, first, segment.length, in_lanes, arguments);
    }
  }
  if constexpr (Bytes >= 4) {
    commit_copies();
    wait_for_copies(0);
  }
  group.sync();
  const segment_lanes out_lanes(group.thread_rank(), Threads, arguments.to.lanes_shift);
  for (unsigned i = out_lanes.first; i < arguments.to.count; i += out_lanes.together) {
    const loop_step here(i);
    const panel_segment segment = load_segment(shared + arguments.to_table, i);
    unsigned char* const to = part.out + segment.offset;
    if constexpr (Bytes >= 4) {
      gather_elements<Bytes>(to, panel, shared + arguments.places, segment, out_lanes,
                             arguments.pad_shift);
    } else {
      gather_words<Bytes>(to, panel, shared + arguments.places, segment, out_lanes);
    }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
