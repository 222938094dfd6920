// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The arguments of a launch of the row kernel.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What a launch does; pitches may be negative. Where rows are joined, a segment holds `joined_rows` whole rows
/// that lie one behind the other.
struct row_arguments {
  const void* in;
  void* out;
  size_type
      in_batch_bytes;  ///< from one matrix to the next; with pointer arrays, from where a pointer
  size_type out_batch_bytes;  ///< points to the first row
  size_type in_pitch;         ///< bytes from row to row
  size_type out_pitch;
  size_type rows;  ///< of a matrix that are the output of segments
  size_type row_bytes;
  size_type covered_bytes;  ///< of a row that segments start in; the others trade places with them
  size_type extent;   ///< bytes that may be read around a row: its own, or those of a dense matrix
  size_type in_rise;  ///< bytes of a dense matrix before the row that the first segment comes from
  unsigned threads;   ///< of a block
  unsigned element_bytes;
  unsigned segment_bytes;  ///< of a row that a segment takes
  unsigned lead_bytes;     ///< by which a row's first segment is shorter; the next starts on a line
  unsigned joined_rows;    ///< of a segment; 1 where a block has several segments
  unsigned block_segments;  ///< segments of a block, of consecutive rows
  unsigned line_mask;       ///< accesses start at multiples of this + 1 bytes
  unsigned segment_pitch;   ///< bytes of shared memory for a segment
  bool leads;  ///< each row has a lead of its own; elements are a power of two of bytes
  bool pointer_arrays;
  bool reverses;  ///< each row is taken from its last element to its first
  bool swaps;     ///< input and output are one; a segment trades places with its source
  bool dense;     ///< the rows of the input follow each other without a gap, in either direction
  divider matrix_blocks;    ///< blocks of a matrix
  divider row_blocks;       ///< blocks of a row, or 1
  divider segment_threads;  ///< threads that take a segment
  divider joined_bytes;     ///< bytes of a joined row
  divider element;          ///< element_bytes
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
