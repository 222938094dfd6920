// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The accesses of 16 bytes that the row kernel makes to a segment of a row, and the bytes at its ends that lie outside of
/// them.

#pragma once

#include <tiletranspose/detail/rows/row_segments.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Where an access of a span starts, counted from the span's first byte.
TILETRANSPOSE_FUNCTION int slot_start(const row_arguments& arguments, const void* first,
                                      unsigned slot) {
  return static_cast<int>(slot * 16) - static_cast<int>(address_bits(first) & arguments.line_mask);
}

/// Where an access of 16 bytes may start: `count` places, from `first` on.
struct slot_range {
  int first;
  unsigned count;

  TILETRANSPOSE_FUNCTION bool holds(int start) const {
    return static_cast<unsigned>(start - first) < count;
  }
};

/// Accesses that lie in the first `bytes` bytes.
TILETRANSPOSE_FUNCTION slot_range inside(int bytes) {
  return {0, static_cast<unsigned>(larger(bytes - 15, 0))};
}

/// Accesses to a span's source all of which may be read.
TILETRANSPOSE_FUNCTION slot_range readable(const row_span& span) {
  const int bytes = span.bytes + span.around.before + span.around.after;
  return {-span.around.before, span.bytes == 0 ? 0 : inside(bytes).count};
}

/// True where an access and a span of `bytes` have a byte in common.
TILETRANSPOSE_FUNCTION bool touches(int start, int bytes) { return start > -16 && start < bytes; }

/// The 16 bytes that start `start` bytes into the source of a span, at a multiple of 16, where all of them may
/// be read. The GPU reads them at once; the CPU, which would see that other blocks write those outside
/// of the span, reads only what belongs to it, unless it is asked for what must not be read.
TILETRANSPOSE_FUNCTION word16 load_around(const row_span& span, int start) {
#if !TILETRANSPOSE_ON_DEVICE
  if (!inside(span.bytes).holds(start) && readable(span).holds(start)) {
    unsigned char bytes[16] = {};
    for (int i = larger(0, -start); i < smaller(16, span.bytes - start); ++i) {
      bytes[i] = load_global<unsigned char>(span.from + start + i);
    }
    return load<word16>(bytes);
  }
#endif
  return load_global<word16>(span.from + start);
}

/// The same to shared memory where not all of them may be read: those of the span. All loads come first.
TILETRANSPOSE_FUNCTION void stage_part(unsigned char* shared, const row_span& span, int start) {
  unsigned char bytes[16];
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < 16; ++i) {
    const loop_step here(i);
    const bool wanted = start + i >= 0 && start + i < span.bytes;
    bytes[i] = wanted ? load_global<unsigned char>(span.from + start + i) : 0;
  }
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < 16; ++i) {
    const loop_step here(i);
    store_shared(shared + i, bytes[i]);
  }
}

/// Calls visit(index, span, at) for every byte `at` of the spans that lies in no whole access of 16 bytes, where
/// accesses are counted from multiples of 16 in the output, one thread for each: they are few, so that a
/// block waits less for them than for one thread that moves several.
/// \param step  1, or 2 for the first spans of pairs alone
template <class Visit>
TILETRANSPOSE_FUNCTION void for_each_end(const row_arguments& arguments, const row_work& work,
                                         unsigned rank, unsigned step, Visit visit) {
  const unsigned spans = arguments.block_spans * (arguments.swaps ? 2 : 1);
  for (unsigned end = rank; end < spans / step * 32; end += arguments.threads) {
    const loop_step here(end / arguments.threads);
    const unsigned index = end / 32 * step;
    const row_span span = work[index];
    const int head = smaller<int>(-address_bits(span.to) % 16, span.bytes);
    const int tail = smaller<int>((address_bits(span.to) + static_cast<unsigned>(span.bytes)) % 16,
                                  span.bytes - head);
    const auto lane = static_cast<int>(end % 32);
    const int at = lane < 16 ? lane : span.bytes - tail + lane - 16;
    if (lane < 16 ? lane < head : lane - 16 < tail) { visit(index, span, at); }
  }
}

/// Writes the whole accesses of a thread; value(start) is what the one that starts `start` bytes into its span
/// writes.
template <int Rounds, class Value>
TILETRANSPOSE_FUNCTION void store_slots(const row_arguments& arguments, const row_share& share,
                                        Value value) {
  const slot_range whole = inside(share.span.bytes);
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < Rounds; ++round) {
    const loop_step here(round);
    const int start = slot_start(arguments, share.span.to, share.at + round * share.step);
    if (whole.holds(start)) { store_global(share.span.to + start, value(start)); }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
