// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Rows that are moved directly: the 16 bytes that an access writes are an access of the input.

#pragma once

#include <tiletranspose/detail/rows/row_accesses.cuh>
#include <tiletranspose/detail/rows/row_reversal.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Moves spans whose accesses are accesses of the input.
template <row_order Order>
TILETRANSPOSE_FUNCTION void move_direct(const row_arguments& arguments, const row_work& work,
                                        unsigned rank) {
  const row_share share = find_share(arguments, work, rank);
  const row_span& span = share.span;
  const slot_range whole = inside(span.bytes);
  word16 loaded[direct_rounds];
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < direct_rounds; ++round) {
    const loop_step here(round);
    const int start = slot_start(arguments, span.to, share.at + round * share.step);
    loaded[round] = {0, 0, 0, 0};
    if (whole.holds(start)) {
      loaded[round] = load_global<word16>(span.from + source_start<Order>(arguments, span, start));
    }
  }
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < direct_rounds; ++round) {
    const loop_step here(round);
    const int start = slot_start(arguments, span.to, share.at + round * share.step);
    if (whole.holds(start)) { store_global(span.to + start, turn_slot<Order>(loaded[round])); }
  }
  for_each_end(arguments, work, rank, 1, [&](unsigned, const row_span& at_end, int at) {
    store_global(at_end.to + at, load_global<unsigned char>(
                                     at_end.from + source_byte<Order>(arguments, at_end, at)));
  });
}

/// The same in place: a thread takes an access and the one that it trades places with, so that nobody waits.
template <row_order Order>
TILETRANSPOSE_FUNCTION void trade_direct(const row_arguments& arguments, const row_work& work,
                                         unsigned rank) {
  constexpr int rounds = direct_rounds / 2;
  const unsigned step = 2 * arguments.span_threads.divisor;
  const unsigned pair = arguments.span_threads.quotient(rank) / 2;
  const unsigned first = rank - pair * step;
  const row_span span = work[2 * pair];
  unsigned char* const other = span.to + (span.from - span.to);
  const slot_range whole = inside(span.bytes);
  word16 ours[rounds];
  word16 theirs[rounds];
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const loop_step here(round);
    const int start = slot_start(arguments, span.to, first + round * step);
    ours[round] = theirs[round] = {0, 0, 0, 0};
    if (whole.holds(start)) {
      theirs[round] = load_global<word16>(other + source_start<Order>(arguments, span, start));
      ours[round] = load_global<word16>(span.to + start);
    }
  }
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const loop_step here(round);
    const int start = slot_start(arguments, span.to, first + round * step);
    if (whole.holds(start)) {
      store_global(span.to + start, turn_slot<Order>(theirs[round]));
      store_global(other + source_start<Order>(arguments, span, start),
                   turn_slot<Order>(ours[round]));
    }
  }
  for_each_end(arguments, work, rank, 2, [&](unsigned, const row_span& at_end, int at) {
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
