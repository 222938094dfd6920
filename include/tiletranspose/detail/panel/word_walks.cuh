// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A word-shifted panel, and the walks of its threads: one takes a group of columns, as many as a word holds elements,
/// and goes down some groups of as many rows. Words of the input are shifted to where the columns start, transposed, and
/// shifted down to where words of the output start.

#pragma once

#include <tiletranspose/detail/choose/word_shifted_panel.cuh>
#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/request/problem.cuh>
#include <tiletranspose/warp_transpose.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

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

/// The walk of a thread down a group of columns.
template <class Shape>
struct word_walk {
  static constexpr unsigned element = Shape::element_bytes;
  static constexpr unsigned count = Shape::word_elements;

  const unsigned char* from[count];  ///< the words in which the rows of a group start
  unsigned shifts[count];            ///< and the bits before them, which are those of every group
  unsigned char* to[count];          ///< the words of the output that start in each column
  unsigned out_shifts[count];        ///< and the bits of the group's rows before them
  unsigned foreign;                  ///< columns that the group before has
  int group_bytes;                   ///< from group to group of rows

  /// Transposes the group of rows at `at`; with `in_words` they start with words, and the next ones are not read.
  static TILETRANSPOSE_FUNCTION void load(const unsigned char* const (&at)[count],
                                          const unsigned (&shifts)[count], bool in_words,
                                          unsigned (&words)[count]) {
    unsigned low[count];
    unsigned high[count] = {};
    TILETRANSPOSE_UNROLL
    for (unsigned i = 0; i < count; ++i) { low[i] = load_shared<unsigned>(at[i]); }
    if (!in_words) {
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < count; ++i) { high[i] = load_shared<unsigned>(at[i] + 4); }
    }
    unsigned held[count][1];
    unsigned transposed[count][1];
    TILETRANSPOSE_UNROLL
    for (unsigned i = 0; i < count; ++i) { held[i][0] = funnel_shift(low[i], high[i], shifts[i]); }
    thread_transpose<Shape::element_bytes>(transposed, held);
    TILETRANSPOSE_UNROLL
    for (unsigned q = 0; q < count; ++q) { words[q] = transposed[q][0]; }
  }

  /// Moves all of it where rows of the output are whole words: from step `step` on, and round to it.
  TILETRANSPOSE_FUNCTION void move_words(unsigned step, unsigned steps, bool in_words) {
    TILETRANSPOSE_UNROLL
    for (unsigned i = 0; i < count; ++i) { from[i] += static_cast<int>(step) * group_bytes; }
    TILETRANSPOSE_UNROLL
    for (unsigned q = 0; q < count; ++q) { to[q] += 4 * step; }
    TILETRANSPOSE_UNROLL_BY(1)
    for (unsigned left = steps; left > 0; --left) {
      const loop_step part(steps - left);
      unsigned words[count];
      load(from, shifts, in_words, words);
      ++step;
      const int further = step == steps ? 1 - static_cast<int>(steps) : 1;
      if (step == steps) { step = 0; }
      TILETRANSPOSE_UNROLL
      for (unsigned q = 0; q < count; ++q) {
        const loop_step at(q);
        if (q >= foreign) { store_shared(to[q], words[q]); }
        to[q] += 4 * further;
        from[q] += further * group_bytes;
      }
    }
  }

  /// Moves `groups` groups of rows whose words are shifted. `words`: behind it, those of the group after them.
  TILETRANSPOSE_FUNCTION void move_shifted(unsigned (&words)[count], unsigned groups,
                                           bool in_words) {
    load(from, shifts, in_words, words);
    TILETRANSPOSE_UNROLL_BY(2)
    for (unsigned at = 0; at < groups; ++at) {
      unsigned next[count];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < count; ++i) { from[i] += group_bytes; }
      load(from, shifts, in_words, next);
      TILETRANSPOSE_UNROLL
      for (unsigned q = 0; q < count; ++q) {
        const loop_step word(at * count + q);
        if (q >= foreign) { store_shared(to[q], funnel_shift(words[q], next[q], out_shifts[q])); }
        to[q] += 4;
        words[q] = next[q];
      }
    }
  }

  /// Ends the walk with its columns, of which `left` rows are left, those of `last`: `words` are those of the group before,
  /// and `next` those of the first rows of the next columns. `shared_next`: the one whose next column is another matrix's,
  /// or no column.
  TILETRANSPOSE_FUNCTION void end(const unsigned (&words)[count], const unsigned (&last)[count],
                                  const unsigned (&next)[count], unsigned left,
                                  unsigned shared_next) const {
    // What is left of the columns, and behind it the first rows of the next ones.
    const unsigned bits = left * element * 8;
    TILETRANSPOSE_UNROLL
    for (unsigned q = 0; q < count; ++q) {
      const loop_step at(q);
      const unsigned joined = (last[q] & ((1u << bits) - 1)) | (next[q] << bits);
      const unsigned behind = funnel_shift(next[q], 0, 32 - bits);
      // Words belong to the column that they start in; those that two matrices share come later.
      const unsigned start = out_shifts[q] % 32 / (8 * element);
      if (q >= foreign && (q != shared_next || start <= left)) {
        store_shared(to[q], funnel_shift(words[q], joined, out_shifts[q]));
      }
      if (q >= foreign && q != shared_next && start < left) {
        store_shared(to[q] + 4, funnel_shift(joined, behind, out_shifts[q]));
      }
    }
  }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
