// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The arguments of the row kernel: which segments of rows each block moves, which of them each thread, and the accesses of
/// 16 bytes that it makes to them.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/request/problem.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What a launch does: the two sides of a problem, of which `ny` rows of a matrix are the output of segments. Where rows are
/// joined, a segment holds `joined_rows` whole rows that lie one behind the other.
struct row_arguments : matrix_problem {
  size_type row_bytes;
  size_type covered_bytes;  ///< of a row that segments start in; the others trade places with them
  size_type extent;   ///< bytes that may be read around a row: its own, or those of a dense matrix
  size_type in_rise;  ///< bytes of a dense matrix before the row that the first segment comes from
  divider matrix_blocks;    ///< blocks of a matrix
  divider row_blocks;       ///< blocks of a row, or 1
  divider segment_threads;  ///< threads that take a segment
  divider joined_bytes;     ///< bytes of a joined row
  divider element;          ///< element_bytes
  unsigned threads;         ///< of a block
  unsigned element_bytes;
  unsigned segment_bytes;  ///< of a row that a segment takes
  unsigned lead_bytes;     ///< by which a row's first segment is shorter; the next starts on a line
  unsigned joined_rows;    ///< of a segment; 1 where a block has several segments
  unsigned block_segments;  ///< segments of a block, of consecutive rows
  unsigned line_mask;       ///< accesses start at multiples of this + 1 bytes
  unsigned segment_pitch;   ///< bytes of shared memory for a segment
  bool leads;     ///< each row has a lead of its own; elements are a power of two of bytes
  bool reverses;  ///< each row is taken from its last element to its first
  bool swaps;     ///< input and output are one; a segment trades places with its source
  bool dense;     ///< the rows of the input follow each other without a gap, in either direction

  /// Segments that a block reads; in place, those that trade places with its own, too.
  TILETRANSPOSE_FUNCTION unsigned read_segments() const { return block_segments * (swaps ? 2 : 1); }
};

/// True where an access of 16 bytes that starts at byte `start` lies in `bytes` bytes.
TILETRANSPOSE_FUNCTION bool lies_inside(int start, int bytes) {
  return static_cast<unsigned>(start) < static_cast<unsigned>(larger(bytes - 15, 0));
}

/// Bytes on either side of a segment that may be read, too.
struct row_margin {
  int before;
  int after;
};

/// A segment of a row, or several whole rows; `around` is what lies around the source.
struct row_segment {
  unsigned char* to;
  const unsigned char* from;
  int bytes;
  row_margin around;

  /// True where all of an access to the source may be read that starts `start` bytes into it.
  TILETRANSPOSE_FUNCTION bool can_read(int start) const {
    return lies_inside(start + around.before, bytes + around.before + around.after);
  }
};

/// What a thread moves of a block's work: of one segment, access `at` and those that follow it in steps of `step` accesses.
struct thread_segment {
  row_segment segment;
  unsigned index;
  unsigned at;
  unsigned step;
  const row_arguments& arguments;

  /// Where an access of the thread starts, counted from the segment's first byte.
  TILETRANSPOSE_FUNCTION int start(const void* first, int round) const {
    return static_cast<int>((at + round * step) * 16) -
           static_cast<int>(address_bits(first) & arguments.line_mask);
  }
};

/// What one block moves: `segments` segments, one row apart; in place, each followed by its reverse.
struct row_work {
  const row_arguments& arguments;
  unsigned rank;  ///< of the thread
  row_segment first;
  row_margin around_to;  ///< around the output of the first segment, where that is read, too
  unsigned segments;

  TILETRANSPOSE_FUNCTION row_segment operator[](unsigned index) const {
    row_segment segment = first;
    const unsigned step = arguments.swaps ? index / 2 : index;
    if (step >= segments) { segment.bytes = 0; }
    segment.to += step * arguments.out_stride_bytes;
    segment.from += step * arguments.in_stride_bytes;
    if (arguments.swaps && index % 2 == 1) {
      unsigned char* const to = segment.to;
      segment.to += segment.from - to;
      segment.from = to;
      segment.around = around_to;
    }
    return segment;
  }

  /// Where the source of a segment is in shared memory; byte 0 of it.
  TILETRANSPOSE_FUNCTION unsigned char* shared_segment(unsigned char* shared, unsigned index,
                                                       const row_segment& segment) const {
    return shared + index * arguments.segment_pitch + 16 +
           (address_bits(segment.from) & arguments.line_mask);
  }

  /// What the thread moves.
  TILETRANSPOSE_FUNCTION thread_segment own() const {
    const divider& threads = arguments.segment_threads;
    const unsigned index = threads.quotient(rank);
    return {(*this)[index], index, threads.remainder(rank, index), threads.divisor, arguments};
  }
};

TILETRANSPOSE_FUNCTION row_work find_work(const row_arguments& arguments, unsigned block,
                                          unsigned rank) {
  const unsigned matrix = arguments.matrix_blocks.quotient(block);
  const unsigned in_matrix = arguments.matrix_blocks.remainder(block, matrix);
  const unsigned row_block = arguments.row_blocks.quotient(in_matrix);
  const unsigned in_row = arguments.row_blocks.remainder(in_matrix, row_block);
  const bool joins = arguments.joined_rows > 1;
  const unsigned block_rows = arguments.joined_rows * arguments.block_segments;
  const size_type row = size_type{row_block} * block_rows;
  const auto rows = static_cast<unsigned>(smaller<size_type>(arguments.ny - row, block_rows));
  const size_type to_row = row * arguments.out_stride_bytes;
  const size_type from_row = row * arguments.in_stride_bytes;
  unsigned char* const out = arguments.out_matrix(matrix) + to_row;
  const unsigned char* const in = arguments.in_matrix(matrix) + from_row;

  // Bytes [begin, end) of each row.
  size_type begin = 0;
  size_type end = arguments.covered_bytes;
  if (arguments.row_blocks.divisor > 1) {
    unsigned lead = arguments.lead_bytes;
    if (arguments.leads) {
      lead = address_bits(out) % 128;
      if ((lead & (arguments.element_bytes - 1)) != 0) { lead = 0; }
    }
    const size_type here = size_type{in_row} * arguments.segment_bytes - lead;
    if (in_row > 0) { begin = smaller(end, here); }
    if (in_row + 1 < arguments.row_blocks.divisor) {
      end = smaller(end, here + arguments.segment_bytes);
    }
  }
  const size_type source = arguments.reverses ? arguments.row_bytes - end : begin;
  const unsigned bytes = static_cast<unsigned>(end - begin) * (joins ? rows : 1);
  const unsigned segments = joins ? 1 : rows;

  // What lies around the sources may be read. In place other blocks may be writing it; what is read of it is not used.
  size_type before = source;
  size_type before_to = begin;
  size_type behind = bytes;
  if (arguments.dense) {
    before += from_row + arguments.in_rise;
    before_to += to_row;
    const size_type others = (segments - 1) * arguments.row_bytes;
    behind += others;
    if (static_cast<long long>(arguments.in_stride_bytes) < 0) { before -= others; }
  }
  const auto margin = [&](size_type bytes_before) -> row_margin {
    constexpr size_type most = 256;
    return {static_cast<int>(smaller(bytes_before, most)),
            static_cast<int>(smaller(arguments.extent - bytes_before - behind, most))};
  };
  return {arguments,
          rank,
          {out + begin, in + source, static_cast<int>(bytes), margin(before)},
          margin(before_to),
          segments};
}

/// Writes the segments of a block. value(start) is what the thread's access writes that starts `start` bytes into its
/// segment, where it is whole. byte(segment, index, at) is byte `at` of a segment where that lies in no whole access, as
/// those are counted from multiples of 16 in the output; one thread moves each of these: they are few, so that a block
/// waits less for them than for one thread that moves several.
template <int Rounds, class Value, class Byte>
TILETRANSPOSE_FUNCTION void write_accesses(const row_work& work, const thread_segment& own,
                                           Value value, Byte byte) {
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < Rounds; ++round) {
    const loop_step here(round);
    const int start = own.start(own.segment.to, round);
    if (lies_inside(start, own.segment.bytes)) {
      store_global(own.segment.to + start, value(start));
    }
  }
  const row_arguments& arguments = work.arguments;
  const unsigned segments = arguments.read_segments();
  for (unsigned end = work.rank; end < segments * 32; end += arguments.threads) {
    const loop_step here(end / arguments.threads);
    const unsigned index = end / 32;
    const row_segment segment = work[index];
    const int head = smaller<int>(-address_bits(segment.to) % 16, segment.bytes);
    const int tail =
        smaller<int>((address_bits(segment.to) + static_cast<unsigned>(segment.bytes)) % 16,
                     segment.bytes - head);
    const auto lane = static_cast<int>(end % 32);
    const int at = lane < 16 ? lane : segment.bytes - tail + lane - 16;
    if (lane < 16 ? lane < head : lane - 16 < tail) {
      store_global(segment.to + at, byte(segment, index, at));
    }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
