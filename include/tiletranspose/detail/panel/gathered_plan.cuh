// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How gathered panels are cut, copied to shared memory and gathered. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/gathered_panel.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/panel/gathered_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// log2 of the threads that share one of `segments` segments of `words`. Of many long segments each warp takes its
/// own; else the power of two with which the block takes the fewest rounds, and of several the largest. To find
/// a segment costs as much as `extra` rounds.
inline unsigned lanes_for(unsigned words, unsigned segments, unsigned extra = 0) {
  if (words >= 32 && segments >= panel_threads / 32) { return 5; }
  unsigned best = 8;
  unsigned best_rounds = ~0u;
  for (unsigned lanes = 8; lanes >= (words < 32 ? 2u : 5u); --lanes) {
    const unsigned together = panel_threads >> lanes;
    const unsigned rounds =
        ((words - 1) / (1u << lanes) + 1 + extra) * ((segments - 1) / together + 1);
    if (rounds < best_rounds) {
      best = lanes;
      best_rounds = rounds;
    }
  }
  return best;
}

/// True where shared rows of nx elements of 1 or 2 bytes get a pad: without one, the threads of a warp would use
/// four banks or fewer.
constexpr bool pads_bytes(size_type nx) { return nx % 8 == 0; }

/// Shared bytes of a segment that may start inside of a word, as it is where accesses are smaller than one.
constexpr unsigned segment_bytes(size_type bytes, bool sub_word) {
  return static_cast<unsigned>((bytes + (sub_word ? 6 : 3)) / 4 * 4);
}

/// Shared bytes of `rows` rows of `row_bytes` bytes that have places of their own.
constexpr size_type separate_bytes(size_type row_bytes, size_type rows, unsigned element,
                                   bool sub_word) {
  return rows * row_pitch(segment_bytes(row_bytes, sub_word), rows, element) + rows / 32 * 4;
}

/// The panel of a kind of matrix: its size and which of its parts lie side by side.
inline void choose_parts(gathered_arguments& arguments, unsigned element, int access_bytes,
                         panel_kind kind, size_type shared_bytes) {
  const tile_problem& problem = arguments.problem;
  const size_type nx = problem.nx;
  const size_type ny = problem.ny;
  const size_type row_bytes = nx * element;
  const size_type matrix_bytes = row_bytes * ny;
  const bool in_dense = is_dense(problem.in_stride_bytes, row_bytes);
  const auto multiple = [](size_type wanted, size_type step) {
    return wanted < step ? step : wanted / step * step;
  };
  arguments.panel_matrices = 1;
  arguments.panel_rows = static_cast<unsigned>(smaller<size_type>(ny, panel_bytes));
  arguments.panel_cols = static_cast<unsigned>(smaller<size_type>(nx, panel_bytes));
  arguments.rows_touch = in_dense;
  if (kind == panel_kind::small_matrices) {
    const size_type padding = nx % 2 == 0 ? ny * element : 0;
    arguments.panel_matrices = static_cast<unsigned>(smaller<size_type>(
        larger<size_type>(panel_bytes / (matrix_bytes + padding), 1), arguments.batch));
  } else if (kind == panel_kind::few_columns) {
    const size_type wanted = row_bytes < wide_row_bytes ? segment_panel_bytes : panel_bytes;
    arguments.panel_rows = static_cast<unsigned>(multiple(wanted / row_bytes, sector_bytes));
  } else {
    // As many columns as a warp has words of a row, times one or more, where the panel holds so many.
    const bool tall =
        access_bytes == 4 && ny > most_rows_of_a_panel && shared_bytes / 3 > tall_panel_bytes;
    const size_type most_shared = tall ? shared_bytes / 3 : default_shared_bytes;
    const size_type fit = (tall ? tall_panel_bytes : panel_bytes) / (ny * element);
    const size_type line = (128 - (access_bytes < 4 ? 4 - access_bytes : 0)) / element;
    const size_type cols = multiple(fit, fit >= line && line > 0 ? line : 8);
    // Panels of about the same width, if warps do not take a row more often for it.
    const size_type even = divide_up(nx, divide_up(nx, cols));
    const size_type step = larger<size_type>(line, 1);
    const bool better = divide_up(nx, even) * divide_up(even, step) <=
                        nx / cols * divide_up(cols, step) + divide_up(nx % cols, step);
    arguments.panel_cols = static_cast<unsigned>(better ? even : cols);
    while (arguments.panel_cols > 8 && separate_bytes(arguments.panel_cols * element, ny, element,
                                                      access_bytes < 4) > most_shared - 8) {
      arguments.panel_cols = arguments.panel_cols / 16 * 8;
    }
  }
  arguments.cols_joined = kind != panel_kind::few_columns;
  const bool pads = can_pad_rows(element, access_bytes);
  arguments.rows_joined =
      in_dense && (kind == panel_kind::few_columns ||
                   (kind == panel_kind::small_matrices && (row_bytes <= joined_row_bytes || pads)));
  arguments.matrices_joined = kind == panel_kind::small_matrices && arguments.rows_joined &&
                              problem.in_batch_bytes == matrix_bytes;
  arguments.out_matrices_joined =
      kind == panel_kind::small_matrices && problem.out_batch_bytes == matrix_bytes;
}

/// Decides whether small elements are gathered in repeating rounds: of columns, one matrix at a time, or of
/// whole matrices.
inline void choose_rounds(gathered_arguments& arguments, unsigned element, panel_kind kind) {
  const tile_problem& problem = arguments.problem;
  const size_type column_bytes = problem.ny * element;
  const size_type segment_words = column_bytes * arguments.panel_cols / 4;
  const bool pads = arguments.rows_joined && pads_bytes(problem.nx);
  if (kind == panel_kind::few_columns ||
      (kind == panel_kind::small_matrices &&
       (!arguments.rows_joined || element > 4 || element == 3))) {
    return;
  }
  const size_type matrix_bytes = column_bytes * problem.nx;
  const bool joined = arguments.matrices_joined && arguments.out_matrices_joined;
  if (joined && !pads && segment_words < 256) {  // rounds of whole matrices
    const unsigned words = repeating_words(matrix_bytes, panel_threads);
    if (words >= 128) {
      arguments.repeats = true;
      arguments.repeat_words = words;
      arguments.repeat_matrices = static_cast<unsigned>(4 * words / matrix_bytes);
      arguments.repeat_lanes = 8;
      return;
    }
  }
  const bool same_places = problem.out_batch_bytes % 4 == 0 &&
                           (arguments.matrices_joined ? !pads || column_bytes % 4 == 0
                                                      : problem.in_batch_bytes % 16 == 0);
  const bool one = same_places || arguments.panel_matrices == 1;
  if (segment_words < (one ? 1 : 8) * least_repeating_words) { return; }
  unsigned lane_shift = 8;
  while (arguments.panel_matrices > 1 && lane_shift > 6 &&
         segment_words < (size_type{2} << lane_shift)) {
    --lane_shift;
  }
  while (lane_shift < 8 && repeating_words(column_bytes, 1u << lane_shift) == 0) { ++lane_shift; }
  const unsigned words = repeating_words(column_bytes, 1u << lane_shift);
  if (words < 32) { return; }
  arguments.repeats = true;
  arguments.repeat_lanes = lane_shift;
  arguments.repeat_words = words;
  arguments.pads_rows = pads;
  arguments.same_places = same_places;
  arguments.out_matrices_joined = false;
}

/// As many matrices as a block holds of those that choose_parts wanted, each with what it takes: alone in its segment it
/// is rounded up to 16 bytes at both ends.
inline unsigned fit_matrices(const gathered_arguments& arguments, unsigned element, bool sub_word) {
  const tile_problem& problem = arguments.problem;
  const size_type row_bytes = problem.nx * element;
  const size_type matrix_bytes = row_bytes * problem.ny;
  const size_type pads = arguments.pads_rows ? problem.ny * element + 4 : 0;
  const size_type matrix = !arguments.rows_joined
                               ? separate_bytes(row_bytes, problem.ny, element, sub_word)
                           : arguments.matrices_joined ? matrix_bytes + pads
                                                       : matrix_bytes + pads + 30;
  const size_type fit = (default_shared_bytes - 64) / 33 * 32 / matrix;  // of 33 words one is a pad
  return static_cast<unsigned>(
      smaller(larger<size_type>(fit, 1), size_type{arguments.panel_matrices}));
}

/// How segments of the input lie in shared memory, and which threads copy them.
/// \returns the shared bytes from matrix to matrix, or those of all where they are joined
inline unsigned set_staging(gathered_arguments& arguments, int element_bytes, bool sub_word) {
  const auto element = static_cast<unsigned>(element_bytes);
  const size_type nx = arguments.problem.nx;
  const unsigned shared_rows =
      arguments.panel_rows +
      (arguments.cols_joined ? 0 : static_cast<unsigned>(gathered_skew_rows(element_bytes)));
  const unsigned length = (arguments.rows_joined ? shared_rows : 1) *
                          (arguments.matrices_joined ? arguments.panel_matrices : 1) *
                          arguments.panel_cols * element;
  arguments.pad_shift =
      arguments.rows_joined && nx % 2 == 0 && !arguments.pads_rows && !arguments.repeats ? 7 : 31;
  arguments.lead_mask = !sub_word || arguments.shifts                     ? 0
                        : !arguments.rows_joined                          ? 3
                        : arguments.pads_rows || arguments.pad_shift < 31 ? 3
                                                                          : 15;
  const unsigned segment_words =
      arguments.lead_mask == 15 ? (length + 15 + 15) / 16 * 4 : segment_bytes(length, sub_word) / 4;
  const unsigned matrix_segments = arguments.rows_joined ? 1 : shared_rows;
  const unsigned segments =
      matrix_segments * (arguments.matrices_joined ? 1 : arguments.panel_matrices);
  arguments.segment_lanes =
      lanes_for(segment_words, arguments.rows_joined ? segments : matrix_segments,
                sub_word && !arguments.rows_joined ? 6 : 0);
  // Whole stretches between two pads, so that a round is a constant step.
  if (arguments.pad_shift < 31) { arguments.segment_lanes = larger(arguments.segment_lanes, 5u); }
  arguments.segment_pitch = arguments.rows_joined
                                ? segment_words * 4
                                : row_pitch(segment_words * 4, arguments.panel_rows, element);
  arguments.skip_shift = sub_word && !arguments.rows_joined && arguments.repeats ? 5 : 31;
  if (sub_word && arguments.pad_shift < 31) {
    while (nx >> (arguments.pad_shift - 2) << (arguments.pad_shift - 2) == nx) {
      ++arguments.pad_shift;  // four rows hold a whole number of such stretches, an odd one
    }
    --arguments.pad_shift;
    arguments.pad_shift = larger(arguments.pad_shift, 7u);
  }
  const size_type shared_matrices = arguments.matrices_joined ? arguments.panel_matrices : 1;
  return matrix_segments * arguments.segment_pitch + (matrix_segments >> arguments.skip_shift) * 4 +
         (arguments.pads_rows
              ? static_cast<unsigned>(shared_matrices * arguments.problem.ny * element / 4 * 4 + 4)
              : 0);
}

/// How threads go through the segments of the output, and where the elements of these are in shared memory.
inline void set_gathering(gathered_arguments& arguments, int element_bytes, unsigned matrix_pitch) {
  const auto element = static_cast<unsigned>(element_bytes);
  const size_type nx = arguments.problem.nx;
  const size_type ny = arguments.problem.ny;
  const size_type matrix_bytes = nx * element * ny;
  arguments.out_lanes = lanes_for(arguments.panel_rows * element / 4, arguments.panel_cols);
  arguments.rows_wrap = divider(smaller<size_type>(ny, unlimited));
  arguments.cols_wrap = divider(arguments.out_matrices_joined ? nx : unlimited);
  const size_type row_pads = arguments.pads_rows ? ny * element / 4 * 4 : 0;
  arguments.matrix_bytes =
      arguments.matrices_joined ? static_cast<unsigned>(matrix_bytes + row_pads) : matrix_pitch;
  arguments.row_bytes = !arguments.rows_joined
                            ? arguments.segment_pitch
                            : arguments.panel_cols * element + (arguments.pads_rows ? element : 0);
  const unsigned out_step = (4u << arguments.out_lanes) / element * arguments.row_bytes;
  arguments.out_step_bytes = out_step + (out_step >> arguments.pad_shift) * 4;
  if (arguments.rows_backwards) {
    arguments.row_bytes = 0 - arguments.row_bytes;
    arguments.out_step_bytes = 0 - arguments.out_step_bytes;
  }
  arguments.col_bytes = arguments.cols_backwards ? 0 - element : element;
  const unsigned rows_wrap = arguments.rows_wrap.divisor;
  if (arguments.repeats) {  // of columns that are shorter than a round
    arguments.repeat_bytes =
        arguments.repeat_matrices > 0
            ? static_cast<unsigned>(arguments.repeat_matrices * matrix_bytes)
            : 4 * arguments.repeat_words / (rows_wrap * element) * arguments.col_bytes;
  }
  const unsigned cols_wrap = arguments.cols_wrap.divisor;
  const auto round = static_cast<unsigned>(gathered_round_elements(element_bytes));
  const unsigned matrix_step = round / rows_wrap / cols_wrap;
  arguments.row_step = round % rows_wrap;
  arguments.col_step = round / rows_wrap % cols_wrap;
  arguments.round_bytes = matrix_step * arguments.matrix_bytes +
                          arguments.row_step * arguments.row_bytes +
                          arguments.col_step * arguments.col_bytes;
  arguments.row_wrap_bytes = arguments.col_bytes - rows_wrap * arguments.row_bytes;
  arguments.col_wrap_bytes = arguments.matrix_bytes - cols_wrap * arguments.col_bytes;
}

/// Blocks may be more than one launch takes: then the work is split.
/// \param access_bytes  what addresses allow, up to 4
/// \param shared_bytes  what a block may ask for
inline launch_plan<gathered_arguments> plan_gathered(const tile_problem& problem, size_type batch,
                                                     int element_bytes, int access_bytes,
                                                     panel_kind kind, size_type shared_bytes) {
  const auto element = static_cast<unsigned>(element_bytes);
  const bool sub_word = access_bytes < 4;
  const size_type nx = problem.nx;
  const size_type ny = problem.ny;
  const size_type row_bytes = nx * element;

  launch_plan<gathered_arguments> plan{{}, 0, panel_threads, 0};
  gathered_arguments& arguments = plan.arguments;
  arguments.problem = problem;
  arguments.batch = batch;
  choose_parts(arguments, element, access_bytes, kind, shared_bytes);
  if (sub_word) {
    choose_rounds(arguments, element, kind);
  } else {
    arguments.pads_rows = kind == panel_kind::small_matrices && arguments.rows_joined &&
                          nx % 2 == 0 && can_pad_rows(element, access_bytes);
  }
  arguments.pad_bytes = sub_word ? 4 : element;
  arguments.row_words = divider(!arguments.pads_rows ? 1 : sub_word ? nx : row_bytes / 4);
  if (kind == panel_kind::small_matrices) {
    arguments.panel_matrices = fit_matrices(arguments, element, sub_word);
  }
  arguments.rows_backwards = arguments.rows_joined && problem.in_stride_bytes != row_bytes;
  arguments.cols_backwards = arguments.cols_joined && problem.out_stride_bytes != ny * element;
  // What is copied as one segment, or found row by row, may lie as it does in memory.
  arguments.shifts = !arguments.repeats && !arguments.matrices_joined &&
                     !(arguments.rows_joined && arguments.panel_matrices == 1);

  const size_type row_panels = divide_up(ny, arguments.panel_rows);
  const size_type col_panels = divide_up(nx, arguments.panel_cols);
  plan.blocks = divide_up(batch, arguments.panel_matrices) * row_panels * col_panels;
  if (plan.blocks > max_blocks) { return plan; }  // the caller splits the work
  arguments.panels = divider(row_panels * col_panels);
  arguments.col_panels = divider(col_panels);

  const unsigned matrix_pitch = set_staging(arguments, element_bytes, sub_word);
  plan.shared_bytes = (arguments.matrices_joined ? 1 : arguments.panel_matrices) * matrix_pitch;
  plan.shared_bytes += (plan.shared_bytes >> arguments.pad_shift) * 4 + 4;
  // Where rows start anywhere, warps read parts of lines that other warps read too, and want them to be in
  // the L1 cache. Four blocks of the largest size leave it 60 KB of a multiprocessor's 256, more and smaller
  // ones 28.
  const bool reads_parts = !sub_word || (kind == panel_kind::few_rows && ny > most_few_columns);
  if (reads_parts && plan.shared_bytes > many_panels_bytes) {
    plan.shared_bytes = larger(plan.shared_bytes, four_panels_bytes.value);
  }
  set_gathering(arguments, element_bytes, matrix_pitch);
  return plan;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
