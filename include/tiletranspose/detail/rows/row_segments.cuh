// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which segments of rows a block of the row kernel moves, and which of them each thread.

#pragma once

#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/rows/row_arguments.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

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
};

/// What one block moves: `segments` segments, one row apart; in place, each followed by its reverse.
struct row_work {
  row_segment first;
  row_margin
      around_to;      ///< what lies around the output of the first segment, where that is read, too
  size_type to_step;  ///< bytes from segment to segment, modulo 2^64
  size_type from_step;
  unsigned segments;
  bool swaps;

  TILETRANSPOSE_FUNCTION row_segment operator[](unsigned index) const {
    row_segment segment = first;
    const unsigned step = swaps ? index / 2 : index;
    if (step >= segments) { segment.bytes = 0; }
    segment.to += step * to_step;
    segment.from += step * from_step;
    if (swaps && index % 2 == 1) {
      unsigned char* const to = segment.to;
      segment.to += segment.from - to;
      segment.from = to;
      segment.around = around_to;
    }
    return segment;
  }
};

TILETRANSPOSE_FUNCTION row_work find_work(const row_arguments& arguments, unsigned block) {
  const unsigned matrix = arguments.matrix_blocks.quotient(block);
  const unsigned in_matrix = arguments.matrix_blocks.remainder(block, matrix);
  const unsigned row_block = arguments.row_blocks.quotient(in_matrix);
  const unsigned in_row = arguments.row_blocks.remainder(in_matrix, row_block);
  const auto* in = static_cast<const unsigned char*>(arguments.in);
  auto* out = static_cast<unsigned char*>(arguments.out);
  if (arguments.pointer_arrays) {
    in = static_cast<const unsigned char* const*>(arguments.in)[matrix] + arguments.in_batch_bytes;
    out = static_cast<unsigned char* const*>(arguments.out)[matrix] + arguments.out_batch_bytes;
  } else {
    in += matrix * arguments.in_batch_bytes;
    out += matrix * arguments.out_batch_bytes;
  }
  const bool joins = arguments.joined_rows > 1;
  const unsigned block_rows = arguments.joined_rows * arguments.block_segments;
  const size_type row = size_type{row_block} * block_rows;
  const auto rows = static_cast<unsigned>(smaller<size_type>(arguments.rows - row, block_rows));
  const size_type to_row = row * arguments.out_pitch;
  const size_type from_row = row * arguments.in_pitch;
  out += to_row;
  in += from_row;

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

  // What lies around the sources may be read. In place other blocks may be writing it; what is read of it is
  // not used.
  size_type before = source;
  size_type before_to = begin;
  size_type behind = bytes;
  if (arguments.dense) {
    before += from_row + arguments.in_rise;
    before_to += to_row;
    const size_type others = (segments - 1) * arguments.row_bytes;
    behind += others;
    if (static_cast<long long>(arguments.in_pitch) < 0) { before -= others; }
  }
  const auto margin = [&](size_type bytes_before) -> row_margin {
    constexpr size_type most = 256;
    return {static_cast<int>(smaller(bytes_before, most)),
            static_cast<int>(smaller(arguments.extent - bytes_before - behind, most))};
  };
  return {{out + begin, in + source, static_cast<int>(bytes), margin(before)},
          margin(before_to),
          arguments.out_pitch,
          arguments.in_pitch,
          segments,
          arguments.swaps};
}

/// What a thread moves of a block's work: of one segment, access `at` and those that follow it in steps of
/// `step` accesses.
struct thread_segment {
  row_segment segment;
  unsigned index;
  unsigned at;
  unsigned step;
};

TILETRANSPOSE_FUNCTION thread_segment find_thread_segment(const row_arguments& arguments,
                                                          const row_work& work, unsigned rank) {
  const unsigned index = arguments.segment_threads.quotient(rank);
  return {work[index], index, arguments.segment_threads.remainder(rank, index),
          arguments.segment_threads.divisor};
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
