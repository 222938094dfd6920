// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What the kernel of word-shifted panels is told, and the panel of one of its blocks.

#pragma once

#include <tiletranspose/detail/choose/word_shifted_panel.cuh>
#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/request/problem.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

struct word_shifted_arguments {
  const unsigned char* in;
  unsigned char* out;
  size_type in_stride_bytes;
  size_type out_stride_bytes;
  size_type in_batch_bytes;
  size_type out_batch_bytes;
  size_type nx;
  size_type ny;
  size_type batch;
  unsigned panel_matrices;  ///< the panel, in elements of the input
  unsigned panel_rows;
  unsigned panel_cols;  ///< of matrices: that are transposed and drained at a time
  divider panels;       ///< panels of a matrix
  bool rows_backwards;  ///< rows of the input follow each other from the last to the first
  bool cols_backwards;  ///< and those of the output

  unsigned in_pitch;   ///< shared bytes from row to row of the input
  unsigned out_pitch;  ///< and of the output
  unsigned out_place;  ///< where the output is, a multiple of 32
  unsigned row_lanes;  ///< log2 of the threads that stage a row of their own

  divider groups;  ///< of columns that are transposed together
  divider walks;   ///< of a group: a thread walks down some steps, a group of rows each
  divider steps;
  unsigned rotation_shift;  ///< log2 of the groups of columns after which banks repeat
  unsigned rotation_mask;   ///< 0, or ones: the last of them begins with the first step
  bool in_words;            ///< rows of the input are whole words
  bool shifts_output;       ///< rows of the output are not
  bool rotates_banks;       ///< and their words lie in the same banks after a few groups of columns

  divider accesses;       ///< of a segment of an output row
  divider last_accesses;  ///< and of one that ends with the row
};

/// The compile-time side of a word_shifted_shape.
template <int ElementBytes, bool JoinsRows, bool JoinsCols>
struct static_word_shifted_shape {
  static constexpr word_shifted_shape values{ElementBytes, JoinsRows, JoinsCols};
  static constexpr int element_bytes = ElementBytes;
  static constexpr bool joins_rows = JoinsRows;
  static constexpr bool joins_cols = JoinsCols;
  static constexpr bool joins_matrices = values.joins_matrices();
  static constexpr unsigned threads = values.threads;
  static constexpr unsigned word_elements = values.word_elements();
  static constexpr unsigned in_line = values.in_line;
  static constexpr unsigned skew_rows = values.skew_rows();
};

/// The panel of one block, cut to what exists, and where its sides are.
struct word_shifted_panel {
  size_type matrix, row, col;
  unsigned matrices, rows, cols;
  unsigned matrix_bytes;    ///< matrices lie side by side
  const unsigned char* in;  ///< row -skew_rows, which need not exist
  unsigned in_first;        ///< its place in shared memory
  unsigned char* out;  ///< what is written first of the output, and its place from out_place on
  unsigned out_lead;
  unsigned out_first;  ///< the place of column 0
};

/// Where the output of a panel lies.
template <class Shape>
TILETRANSPOSE_FUNCTION void find_output(word_shifted_panel& panel,
                                        const word_shifted_arguments& arguments) {
  panel.out = arguments.out + panel.matrix * arguments.out_batch_bytes +
              panel.col * arguments.out_stride_bytes + panel.row * Shape::element_bytes;
  panel.out_lead = address_bits(panel.out) % sector_bytes;
  panel.out_first = panel.out_lead;
  if (Shape::joins_cols && arguments.cols_backwards) {
    const unsigned last = panel.cols - 1;
    panel.out += last * arguments.out_stride_bytes;
    panel.out_lead = address_bits(panel.out) % sector_bytes;
    panel.out_first = panel.out_lead - last * arguments.out_pitch;
  }
}

template <class Shape>
TILETRANSPOSE_FUNCTION word_shifted_panel
find_word_shifted_panel(const word_shifted_arguments& arguments, unsigned block) {
  constexpr bool many = Shape::joins_matrices;
  const unsigned group = arguments.panels.quotient(block);
  const unsigned at = arguments.panels.remainder(block, group);
  word_shifted_panel panel;
  panel.matrix = size_type{group} * (many ? arguments.panel_matrices : 1);
  panel.row = Shape::joins_cols ? 0 : size_type{at} * arguments.panel_rows;
  panel.col = Shape::joins_rows ? 0 : size_type{at} * arguments.panel_cols;
  const auto part = [](size_type left, unsigned most) {
    return left < most ? static_cast<unsigned>(left) : most;
  };
  panel.matrices = many ? part(arguments.batch - panel.matrix, arguments.panel_matrices) : 1;
  panel.rows = part(arguments.ny - panel.row, arguments.panel_rows);
  panel.cols = part(arguments.nx - panel.col, arguments.panel_cols);
  panel.matrix_bytes = panel.rows * panel.cols * Shape::element_bytes;
  panel.in = arguments.in + panel.matrix * arguments.in_batch_bytes +
             (panel.row - Shape::skew_rows) * arguments.in_stride_bytes +
             panel.col * Shape::element_bytes;
  panel.in_first = Shape::in_line + address_bits(panel.in) % Shape::in_line;
  if (many && arguments.rows_backwards) {
    const unsigned last = panel.rows - 1;
    panel.in_first = Shape::in_line +
                     address_bits(panel.in + last * arguments.in_stride_bytes) % Shape::in_line -
                     last * arguments.in_pitch;
  }
  find_output<Shape>(panel, arguments);
  return panel;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
