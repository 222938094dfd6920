// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Rows that are moved directly: the 16 bytes that an access writes are an access of the input.

#pragma once

#include <tiletranspose/detail/rows/element_reversal.cuh>
#include <tiletranspose/detail/rows/row_accesses.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Moves segments whose accesses are accesses of the input.
template <row_order Order, int Element>
TILETRANSPOSE_FUNCTION void move_direct(const row_arguments& arguments, const row_work& work,
                                        unsigned rank) {
  const thread_segment own = find_thread_segment(arguments, work, rank);
  const row_segment& segment = own.segment;
  const access_range whole = inside(segment.bytes);
  word16 loaded[direct_rounds];
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < direct_rounds; ++round) {
    const loop_step here(round);
    const int start = access_start(arguments, segment.to, own.at + round * own.step);
    loaded[round] = {0, 0, 0, 0};
    if (whole.holds(start)) {
      loaded[round] =
          load_global<word16>(segment.from + source_start<Order>(arguments, segment, start));
    }
  }
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < direct_rounds; ++round) {
    const loop_step here(round);
    const int start = access_start(arguments, segment.to, own.at + round * own.step);
    if (whole.holds(start)) {
      store_global(segment.to + start, reverse_elements<Element>(loaded[round]));
    }
  }
  for_each_end(arguments, work, rank, 1, [&](unsigned, const row_segment& at_end, int at) {
    store_global(at_end.to + at, load_global<unsigned char>(
                                     at_end.from + source_byte<Order>(arguments, at_end, at)));
  });
}

/// The same in place: a thread takes an access and the one that it trades places with, so that nobody waits.
template <row_order Order, int Element>
TILETRANSPOSE_FUNCTION void trade_direct(const row_arguments& arguments, const row_work& work,
                                         unsigned rank) {
  constexpr int rounds = direct_rounds / 2;
  const unsigned step = 2 * arguments.segment_threads.divisor;
  const unsigned pair = arguments.segment_threads.quotient(rank) / 2;
  const unsigned first = rank - pair * step;
  const row_segment segment = work[2 * pair];
  unsigned char* const other = segment.to + (segment.from - segment.to);
  const access_range whole = inside(segment.bytes);
  word16 ours[rounds];
  word16 theirs[rounds];
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const loop_step here(round);
    const int start = access_start(arguments, segment.to, first + round * step);
    ours[round] = theirs[round] = {0, 0, 0, 0};
    if (whole.holds(start)) {
      theirs[round] = load_global<word16>(other + source_start<Order>(arguments, segment, start));
      ours[round] = load_global<word16>(segment.to + start);
    }
  }
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const loop_step here(round);
    const int start = access_start(arguments, segment.to, first + round * step);
    if (whole.holds(start)) {
      store_global(segment.to + start, reverse_elements<Element>(theirs[round]));
      store_global(other + source_start<Order>(arguments, segment, start),
                   reverse_elements<Element>(ours[round]));
    }
  }
  for_each_end(arguments, work, rank, 2, [&](unsigned, const row_segment& at_end, int at) {
    unsigned char* const our_byte = at_end.to + at;
    unsigned char* const their_byte =
        at_end.to + (at_end.from - at_end.to) + source_byte<Order>(arguments, at_end, at);
    const auto ours_then = load_global<unsigned char>(our_byte);
    store_global(our_byte, load_global<unsigned char>(their_byte));
    store_global(their_byte, ours_then);
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
