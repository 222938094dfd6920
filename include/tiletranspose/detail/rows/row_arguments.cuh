// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How rows are moved by a launch of the row kernel: the order in which the output is found in the input, and the
/// arguments of the launch.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/memory.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// How the output is found in the input.
enum class row_order {
  forward,   ///< direct: where it is
  turn_1,    ///< direct: elements of 1 byte reversed
  turn_2,    ///< direct: of 2 bytes
  turn_4,    ///< direct: of 4
  turn_8,    ///< direct: of 8
  turn_16,   ///< direct: of 16
  vectors,   ///< direct: of a multiple of 16 bytes, at multiples of 16
  words,     ///< staged: elements of 4 bytes at multiples of 4
  elements,  ///< staged: elements of 3 to 7 bytes; a word holds bytes of one or two of them
  halves,    ///< staged: elements of 2 bytes at even addresses
  bytes,     ///< staged: elements of 1 byte, rows of at least 3
  any,       ///< staged: byte by byte
  pieces,    ///< staged: elements of 8 bytes or more; an access holds bytes of up to three of them
  known_pieces,  ///< staged: the same, of a size that the kernel knows
  grouped,       ///< grouped: elements of a size that the kernel knows
  gathered       ///< gathered: likewise
};

TILETRANSPOSE_HOST_DEVICE constexpr bool is_direct(row_order order) {
  return order <= row_order::vectors;
}

/// True where the words of an access are found one by one in a staged span: joined rows, and elements that no kernel
/// knows.
TILETRANSPOSE_HOST_DEVICE constexpr bool takes_words(row_order order) {
  return order >= row_order::words && order <= row_order::any;
}

/// The most threads of a block; it has no more than its spans need. H200, 2026-11-22, % of cudaMemcpyAsync with 128,
/// 256 and 512: floats reversed in place 98, 100, 96; rows of 1000 floats flipped 83, 98, 98, of 8191 bytes 88, 98, 85.
inline constexpr int row_block_threads = 256;
/// Accesses of 16 bytes that a thread has under way together where rows are staged. H200, 2026-11-22, % of
/// cudaMemcpyAsync with 2, 4 and 8: bytes flipped in rows of 8191 85, 98, 87, of 1000 90, 95, 79.
inline constexpr int row_rounds = 4;
/// The same where words of joined rows are assembled one by one. H200, 2026-11-22, with 4, 6 and 8: rows of 24, 100 and
/// 250 bytes flipped, 1 byte 85, 95, 97, 85, 94, 99, 79, 88, 96; 3 bytes 64, 69, 72, 61, 68, 69, 61, 65, 69; floats 87,
/// 96, 97, 88, 97, 99, 89, 98, 98. Pieces of large elements do with 4: 12 bytes 93, with 8 85.
inline constexpr int word_rounds = 8;
/// The same where they are moved directly: floats reversed in place 100 with 2, 96 with 4; rows of 100 flipped 97, 95.
inline constexpr int direct_rounds = 2;
TILETRANSPOSE_HOST_DEVICE constexpr int staged_rounds(row_order order) {
  return takes_words(order) ? word_rounds : row_rounds;
}
inline constexpr unsigned row_slots = row_block_threads * row_rounds;

/// What a launch does; pitches may be negative. Where rows are joined, a span holds `joined_rows` whole rows
/// that lie one behind the other.
struct row_arguments {
  const void* in;
  void* out;
  size_type
      in_batch_bytes;  ///< from one matrix to the next; with pointer arrays, from where a pointer
  size_type out_batch_bytes;  ///< points to the first row
  size_type in_pitch;         ///< bytes from row to row
  size_type out_pitch;
  size_type rows;  ///< of a matrix that are the output of spans
  size_type row_bytes;
  size_type covered_bytes;  ///< of a row that spans start in; the others trade places with them
  size_type extent;   ///< bytes that may be read around a row: its own, or those of a dense matrix
  size_type in_rise;  ///< bytes of a dense matrix before the row that the first span comes from
  unsigned threads;   ///< of a block
  unsigned element_bytes;
  unsigned span_bytes;   ///< of a row that a span takes
  unsigned lead_bytes;   ///< by which a row's first span is shorter; the next starts on a line
  unsigned joined_rows;  ///< of a span; 1 where a block has several spans
  unsigned block_spans;  ///< spans of a block, of consecutive rows
  unsigned line_mask;    ///< accesses start at multiples of this + 1 bytes
  unsigned span_pitch;   ///< bytes of shared memory for a span
  unsigned group_pitch;  ///< or for the groups that hold it
  bool leads;            ///< each row has a lead of its own; elements are a power of two of bytes
  bool pointer_arrays;
  bool reverses;  ///< each row is taken from its last element to its first
  bool swaps;     ///< input and output are one; a span trades places with its source
  bool shifted;   ///< accesses of the output are no accesses of the input
  bool dense;     ///< the rows of the input follow each other without a gap, in either direction
  divider matrix_blocks;  ///< blocks of a matrix
  divider row_blocks;     ///< blocks of a row, or 1
  divider span_threads;   ///< threads that share a span
  divider joined_bytes;   ///< bytes of a joined row
  divider element;        ///< element_bytes
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
