// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What the kernel of gathered panels is told, and the panel of one of its blocks.

#pragma once

#include <tiletranspose/detail/choose/tuning_panel.cuh>
#include <tiletranspose/detail/core/packed_elements.cuh>
#include <tiletranspose/detail/request/problem.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline constexpr int gathered_threads = panel_threads;
inline constexpr unsigned unlimited = 1u << 30;

struct gathered_arguments {
  tile_problem problem;
  size_type batch;          ///< matrices in all
  unsigned panel_matrices;  ///< the panel, in elements of the input
  unsigned panel_rows;
  unsigned panel_cols;
  divider panels;      ///< panels of one matrix
  divider col_panels;  ///< panels side by side

  // Staging: segments that are contiguous in the input.
  bool rows_joined;        ///< the rows of a matrix are one segment
  bool rows_backwards;     ///< one that starts with the last row, as the stride is negative
  bool matrices_joined;    ///< and the matrices of the panel too
  bool shifts;             ///< segments are shifted to start at a word of shared memory
  unsigned lead_mask;      ///< else those bits of an address are kept in shared memory: 0, 3 or 15
  unsigned segment_lanes;  ///< log2 of the threads that share a segment
  unsigned segment_pitch;  ///< shared bytes from segment to segment
  unsigned pad_shift;      ///< one word is skipped every 2^pad_shift bytes; 31: none
  unsigned skip_shift;     ///< one word is skipped every 2^skip_shift separate rows; 31: none
  bool pads_rows;          ///< pad_bytes are skipped every row_words
  unsigned pad_bytes;
  divider row_words;  ///< words that one or more whole rows take
  bool rows_touch;    ///< rows follow each other, so that their ends may be read with the next

  // Gathering: segments that are contiguous in the output.
  bool cols_joined;          ///< the rows of an output matrix are one segment
  bool cols_backwards;       ///< one that starts with the last of them, as the stride is negative
  bool out_matrices_joined;  ///< and the matrices of the panel too
  unsigned out_lanes;        ///< log2 of the threads that share a segment of an output row
  unsigned out_step_bytes;   ///< shared bytes that those threads advance in a round, pads included
  divider rows_wrap;         ///< rows after which a segment continues with the next column
  divider cols_wrap;         ///< columns after which it continues with the next matrix
  unsigned row_step;         ///< what a segment advances in one round of the block
  unsigned col_step;
  unsigned matrix_bytes;    ///< shared bytes from matrix to matrix
  unsigned row_bytes;       ///< shared bytes from row to row, modulo 2^32
  unsigned col_bytes;       ///< and from one column of a segment to the next
  unsigned round_bytes;     ///< shared bytes that a round advances, before it wraps
  unsigned row_wrap_bytes;  ///< and what wrapping the rows or the columns adds, modulo 2^32
  unsigned col_wrap_bytes;

  // Gathering words of small elements where `repeats`: rounds advance whole columns.
  bool repeats;
  bool same_places;          ///< the matrices of a panel lie alike
  unsigned repeat_lanes;     ///< log2 of the threads that share a segment
  unsigned repeat_words;     ///< words of a round
  unsigned repeat_matrices;  ///< matrices of a round, where it takes whole ones
  unsigned repeat_bytes;     ///< shared bytes from round to round
};

/// The panel of one block, cut to what exists.
struct gathered_panel {
  size_type matrix, row, col;     ///< first of each
  unsigned matrices, rows, cols;  ///< how many
  unsigned lead_rows;  ///< rows copied before `row`, for output rows that start off a sector

  /// Shared offset of the first row: 0, or the last place where rows lie backwards.
  TILETRANSPOSE_FUNCTION unsigned first_row_offset(const gathered_arguments& arguments) const {
    return arguments.rows_backwards ? (1 - lead_rows - rows) * arguments.row_bytes : 0;
  }
};

/// Rows that a skewed segment can reach back.
constexpr int gathered_skew_rows(int element_bytes) {
  return (sector_bytes + element_bytes - 1) / element_bytes;
}
/// Threads that gather: the words of one round hold whole elements, so that each thread has the same
/// part of an element in every round.
constexpr int gathered_round_words(int element_bytes) {
  const int odd_part = element_bytes / access_width(static_cast<size_type>(element_bytes), 4);
  return gathered_threads / odd_part * odd_part;
}
constexpr int gathered_round_elements(int element_bytes) {
  return gathered_round_words(element_bytes) * 4 / element_bytes;
}

template <int ElementBytes>
struct static_gathered_shape {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int skew_rows = gathered_skew_rows(ElementBytes);
  static constexpr int round_words = gathered_round_words(ElementBytes);
  static_assert(round_words * 4 % ElementBytes == 0, "");
};

template <int ElementBytes>
TILETRANSPOSE_FUNCTION gathered_panel find_gathered_panel(const gathered_arguments& arguments,
                                                          unsigned block) {
  const tile_problem& problem = arguments.problem;
  const unsigned group = arguments.panels.quotient(block);
  const unsigned at = arguments.panels.remainder(block, group);
  const unsigned row_panel = arguments.col_panels.quotient(at);
  const unsigned col_panel = arguments.col_panels.remainder(at, row_panel);
  gathered_panel panel;
  panel.matrix = size_type{group} * arguments.panel_matrices;
  panel.row = size_type{row_panel} * arguments.panel_rows;
  panel.col = size_type{col_panel} * arguments.panel_cols;
  const auto part = [](size_type extent, size_type first, unsigned most) {
    const size_type left = first < extent ? extent - first : 0;
    return left < most ? static_cast<unsigned>(left) : most;
  };
  panel.matrices = part(arguments.batch, panel.matrix, arguments.panel_matrices);
  panel.rows = part(problem.ny, panel.row, arguments.panel_rows);
  panel.cols = part(problem.nx, panel.col, arguments.panel_cols);
  panel.lead_rows = arguments.cols_joined
                        ? 0
                        : part(panel.row, 0, static_gathered_shape<ElementBytes>::skew_rows);
  return panel;
}

TILETRANSPOSE_FUNCTION unsigned padded(unsigned byte, unsigned pad_shift) {
  return byte + (byte >> pad_shift) * 4;
}

/// Words from the start of a 128-byte line to an address: threads that count their first word so much
/// later, and round the end, make warps access whole lines.
TILETRANSPOSE_FUNCTION unsigned line_lag(const void* address) {
  return address_bits(address) % 128 / 4;
}

/// Shared offset of a row with a place of its own, before its lead.
TILETRANSPOSE_FUNCTION unsigned row_place(unsigned row, const gathered_arguments& arguments) {
  return row * arguments.segment_pitch + (row >> arguments.skip_shift) * 4;
}

/// The lowest address that a panel reads in its matrix `matrix`.
template <int ElementBytes>
TILETRANSPOSE_FUNCTION const unsigned char* panel_origin(const gathered_arguments& arguments,
                                                         const gathered_panel& panel,
                                                         unsigned matrix) {
  const tile_problem& problem = arguments.problem;
  const size_type lowest_row =
      arguments.rows_backwards ? panel.row + panel.rows - 1 : panel.row - panel.lead_rows;
  return problem.in_matrix(panel.matrix + matrix) + lowest_row * problem.in_stride_bytes +
         panel.col * ElementBytes;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
