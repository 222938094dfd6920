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

/// Transposes the group of rows at `from`, which start `shifts` bits into their words; with `in_words` they start with
/// words, and the next ones are not read.
template <int ElementBytes, unsigned WordElements>
TILETRANSPOSE_FUNCTION void transpose_group(const unsigned char* const (&from)[WordElements],
                                            const unsigned (&shifts)[WordElements], bool in_words,
                                            unsigned (&words)[WordElements]) {
  unsigned low[WordElements];
  unsigned high[WordElements] = {};
  TILETRANSPOSE_UNROLL
  for (unsigned i = 0; i < WordElements; ++i) { low[i] = load_shared<unsigned>(from[i]); }
  if (!in_words) {
    TILETRANSPOSE_UNROLL
    for (unsigned i = 0; i < WordElements; ++i) { high[i] = load_shared<unsigned>(from[i] + 4); }
  }
  unsigned held[WordElements][1];
  unsigned transposed[WordElements][1];
  TILETRANSPOSE_UNROLL
  for (unsigned i = 0; i < WordElements; ++i) {
    held[i][0] = funnel_shift(low[i], high[i], shifts[i]);
  }
  thread_transpose<ElementBytes>(transposed, held);
  TILETRANSPOSE_UNROLL
  for (unsigned q = 0; q < WordElements; ++q) { words[q] = transposed[q][0]; }
}

/// Moves a walk where rows of the output are whole words: from step `step` on, and round to it. load(words) transposes
/// the group of rows at `from`.
template <unsigned WordElements, class Load>
TILETRANSPOSE_FUNCTION void walk_words(const unsigned char* (&from)[WordElements],
                                       unsigned char* (&to)[WordElements], unsigned step,
                                       unsigned steps, unsigned foreign, int group_bytes,
                                       Load load) {
  unsigned words[WordElements];
  TILETRANSPOSE_UNROLL
  for (unsigned i = 0; i < WordElements; ++i) { from[i] += static_cast<int>(step) * group_bytes; }
  TILETRANSPOSE_UNROLL
  for (unsigned q = 0; q < WordElements; ++q) { to[q] += 4 * step; }
  TILETRANSPOSE_UNROLL_BY(1)
  for (unsigned left = steps; left > 0; --left) {
    const loop_step part(steps - left);
    load(words);
    ++step;
    const int further = step == steps ? 1 - static_cast<int>(steps) : 1;
    if (step == steps) { step = 0; }
    TILETRANSPOSE_UNROLL
    for (unsigned q = 0; q < WordElements; ++q) {
      const loop_step at(q);
      if (q >= foreign) { store_shared(to[q], words[q]); }
      to[q] += 4 * further;
      from[q] += further * group_bytes;
    }
  }
}

/// Moves a walk whose words are shifted, by a bank rotation: from step `step` on, and round to it. `ends`: with the
/// columns. load_next(words) transposes the first group of rows of the next columns.
template <unsigned WordElements, class Load, class LoadNext>
TILETRANSPOSE_FUNCTION void walk_rotated(const unsigned char* (&from)[WordElements],
                                         unsigned char* (&to)[WordElements],
                                         const unsigned (&out_shifts)[WordElements], unsigned step,
                                         unsigned steps, unsigned foreign, int group_bytes,
                                         bool ends, Load load, LoadNext load_next,
                                         const word_shifted_arguments& arguments,
                                         const word_shifted_panel& panel, unsigned col) {
  unsigned words[WordElements];
  const auto go_on = [&](int by) {
    TILETRANSPOSE_UNROLL
    for (unsigned i = 0; i < WordElements; ++i) { from[i] += by * group_bytes; }
  };
  // Where walks end with columns, which have whole groups of rows, the next columns' first ones come behind them.
  const int last_step = static_cast<int>(steps) - 1;
  unsigned behind[WordElements][1];
  if (ends) {
    load_next(behind);
  } else {
    unsigned loaded[WordElements];
    go_on(last_step + 1);
    load(loaded);
    go_on(-last_step - 1);
    TILETRANSPOSE_UNROLL
    for (unsigned q = 0; q < WordElements; ++q) { behind[q][0] = loaded[q]; }
  }
  go_on(static_cast<int>(step));
  load(words);
  TILETRANSPOSE_UNROLL_BY(1)
  for (unsigned left = steps; left > 0; --left) {
    const loop_step part(steps - left);
    const bool last = step + 1 == steps;
    go_on(last ? -last_step : 1);
    unsigned next[WordElements];
    load(next);
    TILETRANSPOSE_UNROLL
    for (unsigned q = 0; q < WordElements; ++q) {
      const loop_step word(q);
      // Words that two matrices share come later.
      const bool foreign_next =
          last && ends && out_shifts[q] % 32 != 0 &&
          (arguments.cols_backwards ? q == 0 && col == 0
                                    : q + 1 == WordElements && col + WordElements == panel.cols);
      if (q >= foreign && !foreign_next) {
        store_shared(to[q] + 4 * step,
                     funnel_shift(words[q], last ? behind[q][0] : next[q], out_shifts[q]));
      }
      words[q] = next[q];
    }
    step = last ? 0 : step + 1;
  }
}

/// Moves the groups of rows of a walk whose words are shifted, but for the last one of its columns.
template <unsigned WordElements, class Load>
TILETRANSPOSE_FUNCTION void walk_down(const unsigned char* (&from)[WordElements],
                                      unsigned char* (&to)[WordElements],
                                      const unsigned (&out_shifts)[WordElements],
                                      unsigned (&words)[WordElements], unsigned inside,
                                      unsigned foreign, int group_bytes, Load load) {
  load(words);
  TILETRANSPOSE_UNROLL_BY(2)
  for (unsigned at = 0; at < inside; ++at) {
    unsigned next[WordElements];
    TILETRANSPOSE_UNROLL
    for (unsigned i = 0; i < WordElements; ++i) { from[i] += group_bytes; }
    load(next);
    TILETRANSPOSE_UNROLL
    for (unsigned q = 0; q < WordElements; ++q) {
      const loop_step word(at * WordElements + q);
      if (q >= foreign) { store_shared(to[q], funnel_shift(words[q], next[q], out_shifts[q])); }
      to[q] += 4;
      words[q] = next[q];
    }
  }
}

/// Ends a walk with its columns, of which `left` rows are left: `words` are those of the group before.
/// load_next(words) transposes the first group of rows of the next columns, load_last(words) the last one of these.
template <unsigned Element, unsigned WordElements, class LoadNext, class LoadLast>
TILETRANSPOSE_FUNCTION void end_walk(unsigned char* const (&to)[WordElements],
                                     const unsigned (&out_shifts)[WordElements],
                                     const unsigned (&words)[WordElements], unsigned left,
                                     unsigned foreign, LoadNext load_next, LoadLast load_last,
                                     const word_shifted_arguments& arguments,
                                     const word_shifted_panel& panel, unsigned col) {
  // What is left of the columns, and behind it the first rows of the next ones.
  const unsigned bits = left * Element * 8;
  unsigned last[WordElements][1];
  unsigned next[WordElements][1];
  load_next(next);
  load_last(last);
  TILETRANSPOSE_UNROLL
  for (unsigned q = 0; q < WordElements; ++q) {
    const loop_step at(q);
    const unsigned joined = (last[q][0] & ((1u << bits) - 1)) | (next[q][0] << bits);
    const unsigned behind = funnel_shift(next[q][0], 0, 32 - bits);
    // Words belong to the column that they start in; those that two matrices share come later.
    const unsigned start = out_shifts[q] % 32 / (8 * Element);
    const bool shared_next = arguments.cols_backwards
                                 ? q == 0 && col == 0
                                 : q + 1 == WordElements && col + WordElements == panel.cols;
    if (q >= foreign && (!shared_next || start <= left)) {
      store_shared(to[q], funnel_shift(words[q], joined, out_shifts[q]));
    }
    if (q >= foreign && !shared_next && start < left) {
      store_shared(to[q] + 4, funnel_shift(joined, behind, out_shifts[q]));
    }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
