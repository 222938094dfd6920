// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The accesses of 16 bytes that the row kernel makes to a segment of a row, and the bytes at its ends that lie outside
/// of them.

#pragma once

#include <tiletranspose/detail/rows/row_segments.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Where an access of a segment starts, counted from the segment's first byte.
TILETRANSPOSE_FUNCTION int access_start(const row_arguments& arguments, const void* first,
                                        unsigned number) {
  return static_cast<int>(number * 16) -
         static_cast<int>(address_bits(first) & arguments.line_mask);
}

/// Where an access of 16 bytes may start: `count` places, from `first` on.
struct access_range {
  int first;
  unsigned count;

  TILETRANSPOSE_FUNCTION bool holds(int start) const {
    return static_cast<unsigned>(start - first) < count;
  }
};

/// Accesses that lie in the first `bytes` bytes.
TILETRANSPOSE_FUNCTION access_range inside(int bytes) {
  return {0, static_cast<unsigned>(larger(bytes - 15, 0))};
}

/// Accesses to a segment's source all of which may be read.
TILETRANSPOSE_FUNCTION access_range readable(const row_segment& segment) {
  const int bytes = segment.bytes + segment.around.before + segment.around.after;
  return {-segment.around.before, segment.bytes == 0 ? 0 : inside(bytes).count};
}

/// True where an access and a segment of `bytes` have a byte in common.
TILETRANSPOSE_FUNCTION bool touches(int start, int bytes) { return start > -16 && start < bytes; }

/// The 16 bytes that start `start` bytes into the source of a segment, at a multiple of 16, where all of them may
/// be read. The GPU reads them at once; the CPU, which would see that other blocks write those outside
/// of the segment, reads only what belongs to it, unless it is asked for what must not be read.
TILETRANSPOSE_FUNCTION word16 load_around(const row_segment& segment, int start) {
#if !TILETRANSPOSE_ON_DEVICE
  if (!inside(segment.bytes).holds(start) && readable(segment).holds(start)) {
    unsigned char bytes[16] = {};
    for (int i = larger(0, -start); i < smaller(16, segment.bytes - start); ++i) {
      bytes[i] = load_global<unsigned char>(segment.from + start + i);
    }
    return load<word16>(bytes);
  }
#endif
  return load_global<word16>(segment.from + start);
}

/// The same to shared memory where not all of them may be read: those of the segment. All loads come first.
TILETRANSPOSE_FUNCTION void stage_inside(unsigned char* shared, const row_segment& segment,
                                         int start) {
  unsigned char bytes[16];
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < 16; ++i) {
    const loop_step here(i);
    const bool wanted = start + i >= 0 && start + i < segment.bytes;
    bytes[i] = wanted ? load_global<unsigned char>(segment.from + start + i) : 0;
  }
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < 16; ++i) {
    const loop_step here(i);
    store_shared(shared + i, bytes[i]);
  }
}

/// Calls visit(index, segment, at) for every byte `at` of the segments that lies in no whole access of 16 bytes, where
/// accesses are counted from multiples of 16 in the output, one thread for each: they are few, so that a
/// block waits less for them than for one thread that moves several.
template <class Visit>
TILETRANSPOSE_FUNCTION void for_each_end(const row_arguments& arguments, const row_work& work,
                                         unsigned rank, Visit visit) {
  const unsigned segments = arguments.block_segments * (arguments.swaps ? 2 : 1);
  for (unsigned end = rank; end < segments * 32; end += arguments.threads) {
    const loop_step here(end / arguments.threads);
    const unsigned index = end / 32;
    const row_segment segment = work[index];
    const int head = smaller<int>(-address_bits(segment.to) % 16, segment.bytes);
    const int tail =
        smaller<int>((address_bits(segment.to) + static_cast<unsigned>(segment.bytes)) % 16,
                     segment.bytes - head);
    const auto lane = static_cast<int>(end % 32);
    const int at = lane < 16 ? lane : segment.bytes - tail + lane - 16;
    if (lane < 16 ? lane < head : lane - 16 < tail) { visit(index, segment, at); }
  }
}

/// Writes the whole accesses of a thread; value(start) is what the one that starts `start` bytes into its segment
/// writes.
template <int Rounds, class Value>
TILETRANSPOSE_FUNCTION void store_accesses(const row_arguments& arguments,
                                           const thread_segment& own, Value value) {
  const access_range whole = inside(own.segment.bytes);
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < Rounds; ++round) {
    const loop_step here(round);
    const int start = access_start(arguments, own.segment.to, own.at + round * own.step);
    if (whole.holds(start)) { store_global(own.segment.to + start, value(start)); }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
