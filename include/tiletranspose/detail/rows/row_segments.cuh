// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The arguments of the row kernel: which segments of rows each block moves, which of them each thread, and the accesses of
/// 16 bytes that it makes to them; and how segments are copied to shared memory as they lie in the input.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/request/problem.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What a launch does: the two sides of a problem, of which `ny` rows of a matrix are the output of segments. Where rows are
/// joined, a segment holds `joined_rows` whole rows that lie one behind the other.
struct row_arguments : tile_problem {
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
  unsigned segment_bytes;   ///< of a row that a segment takes
  unsigned joined_rows;     ///< of a segment; 1 where a block has several segments
  unsigned block_segments;  ///< segments of a block, of consecutive rows
  unsigned line_mask;       ///< accesses start at multiples of this + 1 bytes
  unsigned segment_pitch;   ///< bytes of shared memory for a segment
  bool leads;     ///< a row's second segment starts on a line: elements are a power of two of bytes
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

/// A segment of a row, or several whole rows.
struct row_segment {
  unsigned char* to;
  const unsigned char* from;
  int bytes;
  int before;  ///< bytes around the source that may be read, too
  int after;

  /// True where all of an access to the source may be read that starts `start` bytes into it.
  TILETRANSPOSE_FUNCTION bool can_read(int start) const {
    return lies_inside(start + before, bytes + before + after);
  }
};

/// What a thread moves of a block's work: of one segment, access `at` and those that follow it in steps of
/// `step` accesses.
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
  unsigned rank;                ///< of the thread
  const unsigned char* matrix;  ///< the first byte of the input's rows
  unsigned char* to;            ///< the first segment, as below
  const unsigned char* from;
  size_type to_begin;  ///< bytes of a row before its segment
  size_type from_begin;
  unsigned bytes;
  unsigned segments;

  /// What lies around the source may be read: its row, or all of a dense matrix. In place other blocks may be writing it;
  /// what is read of it is not used.
  TILETRANSPOSE_FUNCTION row_segment operator[](unsigned index) const {
    const unsigned step = arguments.swaps ? index / 2 : index;
    row_segment segment{to + step * arguments.out_stride_bytes,
                        from + step * arguments.in_stride_bytes,
                        step < segments ? static_cast<int>(bytes) : 0, 0, 0};
    size_type before = from_begin;
    if (arguments.swaps && index % 2 == 1) {
      unsigned char* const first = segment.to;
      segment.to += segment.from - first;
      segment.from = first;
      before = to_begin;
    }
    if (arguments.dense) { before = static_cast<size_type>(segment.from - matrix); }
    constexpr size_type most = 256;
    segment.before = static_cast<int>(smaller(before, most));
    segment.after = static_cast<int>(smaller(arguments.extent - before - bytes, most));
    return segment;
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
  unsigned char* const out = arguments.out_matrix(matrix) + row * arguments.out_stride_bytes;
  const unsigned char* const in = arguments.in_matrix(matrix);

  // Bytes [begin, end) of each row.
  size_type begin = 0;
  size_type end = arguments.covered_bytes;
  if (arguments.row_blocks.divisor > 1) {
    unsigned lead = arguments.leads ? address_bits(out) % 128 : 0;
    if ((lead & (arguments.element_bytes - 1)) != 0) { lead = 0; }
    const size_type here = size_type{in_row} * arguments.segment_bytes - lead;
    if (in_row > 0) { begin = smaller(end, here); }
    if (in_row + 1 < arguments.row_blocks.divisor) {
      end = smaller(end, here + arguments.segment_bytes);
    }
  }
  const size_type source = arguments.reverses ? arguments.row_bytes - end : begin;
  return {arguments,
          rank,
          in - arguments.in_rise,
          out + begin,
          in + (row * arguments.in_stride_bytes + source),
          begin,
          source,
          static_cast<unsigned>(end - begin) * (joins ? rows : 1),
          joins ? 1 : rows};
}

/// The accesses that hold the first and the last byte of each segment, on that `side`, `from` or `to`:
/// where they may not be made whole, bytes move instead, a thread for each. They are few, so that a block waits less for
/// them than for one thread that moves several.
/// \param move  move(segment, index, start, at): access `start` of a segment, and byte `at` in it, maybe outside of the segment
template <class Side, class Move>
TILETRANSPOSE_FUNCTION void move_ends(const row_work& work, Side side, Move move) {
  const unsigned threads = work.arguments.threads;
  for (unsigned end = work.rank; end < work.arguments.read_segments() * 32; end += threads) {
    const loop_step here(end / threads);
    const row_segment segment = work[end / 32];
    const int first = -static_cast<int>(address_bits(segment.*side) % 16);
    const int last = first + (segment.bytes - 1 - first) / 16 * 16;
    const bool is_last = end / 16 % 2 == 1;
    if (segment.bytes > 0 && !(is_last && first == last)) {
      const int start = is_last ? last : first;
      move(segment, end / 32, start, start + static_cast<int>(end % 16));
    }
  }
}

/// Where the source of a segment is in shared memory; byte 0 of it.
TILETRANSPOSE_FUNCTION unsigned char* shared_segment(unsigned char* shared,
                                                     const row_arguments& arguments, unsigned index,
                                                     const row_segment& segment) {
  return shared + index * arguments.segment_pitch + 16 +
         (address_bits(segment.from) & arguments.line_mask);
}

/// The 16 bytes that start `start` bytes into the source of a segment, at a multiple of 16, where all of them may
/// be read. The GPU reads them at once; the CPU, which would see that other blocks write those outside
/// of the segment, reads only what belongs to it.
TILETRANSPOSE_FUNCTION word16 load_around(const row_segment& segment, int start) {
  if (!TILETRANSPOSE_ON_DEVICE && !lies_inside(start, segment.bytes)) {
    const int first = larger(0, -start);
    const int end = larger(first, smaller(16, segment.bytes - start));
    return load_global_part<word16>(segment.from + start, first, end);
  }
  return load_global<word16>(segment.from + start);
}

/// Copies the segments of a block to shared memory, `Rounds` accesses a thread. The caller owes group.sync() before they are
/// read.
template <int Rounds>
TILETRANSPOSE_FUNCTION void stage_segments(unsigned char* shared, const row_work& work) {
  const thread_segment own = work.own();
  const row_segment& segment = own.segment;
  // Not all of its bytes may be read, but some are the segment's.
  const auto is_partial = [](const row_segment& of, int start) {
    return !of.can_read(start) && start > -16 && start < of.bytes;
  };
  if (segment.bytes > 0) {
    unsigned char* const to = shared_segment(shared, work.arguments, own.index, segment);
    word16 loaded[Rounds];
    TILETRANSPOSE_UNROLL
    for (int round = 0; round < Rounds; ++round) {
      const loop_step here(round);
      const int start = own.start(segment.from, round);
      loaded[round] = {0, 0, 0, 0};
      if (segment.can_read(start)) { loaded[round] = load_around(segment, start); }
    }
    TILETRANSPOSE_UNROLL
    for (int round = 0; round < Rounds; ++round) {
      const loop_step here(round);
      const int start = own.start(segment.from, round);
      if (!is_partial(segment, start)) { store_shared(to + start, loaded[round]); }
    }
    // Accesses are read that start up to 15 bytes before a segment or end up to 15 bytes behind it.
    if (own.at == 0) {
      const int first = own.start(segment.from, 0);
      if (own.index == 0) { store_shared(to + first - 16, word16{0, 0, 0, 0}); }
      store_shared(to + first + static_cast<int>(Rounds * own.step) * 16, word16{0, 0, 0, 0});
    }
  }
  move_ends(work, &row_segment::from,
            [&](const row_segment& of, unsigned index, int start, int at) {
              if (is_partial(of, start)) {
                const bool wanted = at >= 0 && at < of.bytes;
                const unsigned char byte = wanted ? load_global<unsigned char>(of.from + at) : 0;
                store_shared(shared_segment(shared, work.arguments, index, of) + at, byte);
              }
            });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
