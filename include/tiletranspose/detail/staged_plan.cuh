// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which matrices the staged kernel takes, and the boxes it cuts them into. Host only.

#pragma once

#include <tiletranspose/detail/staged_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Bytes of a box: enough blocks of it share a multiprocessor to keep its loads busy.
/// Boxes that are read as one span do better small, boxes of separate rows large. H200, 2026-11-21, float,
/// 2, 3 and 7 columns: 91, 87, 89 % of cudaMemcpyAsync at 16 KB and 86, 86, 86 % at 32; 16 rows: 91 and
/// 92 %; batches of 250 x 250: 68 and 76 %.
inline constexpr size_type span_box_bytes = 16 * 1024;
inline constexpr size_type box_bytes = 32 * 1024;

/// Shared memory of a block, whatever the padding adds.
inline constexpr size_type most_shared_bytes = 48 * 1024;

constexpr size_type divide_up(size_type a, size_type b) { return (a + b - 1) / b; }

/// Rows of the output up to this length are written as part of longer spans when the matrices of a batch
/// are too large for a box.
inline constexpr size_type short_row_bytes = 1024;

/// And up to this many rows of the input, so that a box reads at least four sectors of each.
inline constexpr size_type short_rows = 256;

/// Shared rows longer than this get a pitch of their own instead of one pad per 128 bytes.
inline constexpr size_type joined_row_bytes = 256;

enum class box_kind { none, few_columns, few_rows, small_matrices };

/// True where rows of `row_bytes` follow each other without a gap, forwards or backwards.
inline bool is_dense(size_type stride_bytes, size_type row_bytes) {
  return stride_bytes == row_bytes || 0 - stride_bytes == row_bytes;
}

/// What pays for a request, where a tile of the alternative kernel is tile_rows x tile_cols.
/// \param batch  matrices; the pointers of `pointer_arrays` are taken one by one
inline box_kind choose_box(const tile_problem& problem, size_type batch, size_type element,
                           size_type tile_rows, size_type tile_cols, bool whole) {
  const bool in_dense = is_dense(problem.in_stride_bytes, problem.nx * element);
  const bool out_dense = is_dense(problem.out_stride_bytes, problem.ny * element);
  const bool small = problem.nx <= box_bytes && problem.ny <= box_bytes &&
                     problem.nx * problem.ny * element <= box_bytes;
  const bool few_columns = 2 * problem.nx <= tile_cols;
  const bool few_rows = element < 4 ? 2 * problem.ny <= tile_rows : problem.ny < tile_rows;
  if (small && batch > 1 && in_dense && out_dense && !problem.pointer_arrays) {
    return box_kind::small_matrices;
  }
  if (few_rows && out_dense && (!few_columns || problem.ny <= problem.nx)) {
    return box_kind::few_rows;
  }
  if (few_columns && in_dense) { return box_kind::few_columns; }
  if (batch > 1 && out_dense && !whole && problem.ny <= short_rows &&
      problem.ny * element <= short_row_bytes) {
    return box_kind::few_rows;
  }
  return box_kind::none;
}

/// log2 of the threads that share one of `runs` runs of `words`. Of many long runs each warp takes its
/// own; else the power of two with which the block takes the fewest rounds, and of several the largest.
inline unsigned lanes_for(unsigned words, unsigned runs) {
  if (words >= 32 && runs >= staged_threads / 32) { return 5; }
  unsigned best = 8;
  unsigned best_rounds = ~0u;
  for (unsigned lanes = 8; lanes >= (words < 32 ? 2u : 5u); --lanes) {
    const unsigned together = staged_threads >> lanes;
    const unsigned rounds = ((words - 1) / (1u << lanes) + 1) * ((runs - 1) / together + 1);
    if (rounds < best_rounds) {
      best = lanes;
      best_rounds = rounds;
    }
  }
  return best;
}

struct staged_plan {
  staged_arguments arguments;
  size_type blocks;
  unsigned shared_bytes;
};

/// The shared pitch of separately staged rows: at least `bytes`, and so many words beyond a multiple of
/// all banks that threads which read consecutive elements of a span, down a column and on to the next,
/// meet in different banks. Where the number of rows is odd, its inverse modulo the banks does that for
/// any 32 of them: element e lies inverse * e banks on. Where it is even, columns are spread evenly.
inline unsigned row_pitch(size_type bytes, size_type rows, unsigned element) {
  const unsigned words = element >= 4 ? element / 4 : 1;
  const unsigned places = words < 32 ? 32 / words : 1;  // elements that all banks hold
  unsigned step = 1;
  if (rows % 2 == 1 && (places & (places - 1)) == 0) {
    while (step * (rows % places) % places != 1) { step += 2; }
  } else if (rows < places) {
    step = static_cast<unsigned>((places + rows - 1) / rows);
  }
  const unsigned offset = step * words % 32;
  const auto need = static_cast<unsigned>((bytes + 3) / 4);
  return ((need + 31 - offset) / 32 * 32 + offset) * 4;
}

template <int ElementBytes>
staged_plan plan_staged(const tile_problem& problem, size_type batch, box_kind kind) {
  using shape = staged_shape<ElementBytes>;
  constexpr unsigned element = ElementBytes;
  const size_type nx = problem.nx;
  const size_type ny = problem.ny;
  const size_type row_bytes = nx * element;
  const size_type matrix_bytes = row_bytes * ny;
  const bool in_dense = is_dense(problem.in_stride_bytes, row_bytes);
  const auto multiple = [](size_type wanted, size_type step) {
    return wanted < step ? step : wanted / step * step;
  };

  staged_plan plan{};
  staged_arguments& arguments = plan.arguments;
  arguments.problem = problem;
  arguments.batch = batch;
  arguments.box_matrices = 1;
  arguments.box_rows = static_cast<unsigned>(smaller<size_type>(ny, box_bytes));
  arguments.box_cols = static_cast<unsigned>(smaller<size_type>(nx, box_bytes));
  if (kind == box_kind::small_matrices) {
    arguments.box_matrices = static_cast<unsigned>(
        smaller<size_type>(larger<size_type>(box_bytes / matrix_bytes, 1), batch));
  } else if (kind == box_kind::few_columns) {
    arguments.box_rows = static_cast<unsigned>(multiple(span_box_bytes / row_bytes, sector_bytes));
  } else {
    // Whole lines of 128 bytes of each row, where the box holds some.
    const size_type fit = box_bytes / (ny * element);
    const size_type line = divide_up(128, element);
    arguments.box_cols = static_cast<unsigned>(multiple(fit, fit >= line ? line : 8));
    while (arguments.box_cols > 8 &&
           ny * row_pitch(arguments.box_cols * element + 4, ny, element) > most_shared_bytes - 4) {
      arguments.box_cols = arguments.box_cols / 16 * 8;
    }
  }

  arguments.cols_joined = kind != box_kind::few_columns;
  arguments.rows_joined = kind != box_kind::few_rows && in_dense &&
                          (kind == box_kind::few_columns || row_bytes <= joined_row_bytes);
  arguments.rows_backwards = arguments.rows_joined && problem.in_stride_bytes != row_bytes;
  arguments.cols_backwards = arguments.cols_joined && problem.out_stride_bytes != ny * element;
  arguments.matrices_joined = kind == box_kind::small_matrices && arguments.rows_joined &&
                              problem.in_batch_bytes == matrix_bytes;
  arguments.out_matrices_joined =
      kind == box_kind::small_matrices && problem.out_batch_bytes == matrix_bytes;

  const size_type row_boxes = (ny + arguments.box_rows - 1) / arguments.box_rows;
  const size_type col_boxes = (nx + arguments.box_cols - 1) / arguments.box_cols;
  const size_type groups = (batch + arguments.box_matrices - 1) / arguments.box_matrices;
  plan.blocks = groups * row_boxes * col_boxes;
  if (plan.blocks >= size_type{1} << 31) { return plan; }  // the caller splits the work
  arguments.boxes = divider(row_boxes * col_boxes);
  arguments.col_boxes = divider(col_boxes);

  // Staging.
  const unsigned staged_rows =
      arguments.box_rows + (arguments.cols_joined ? 0 : static_cast<unsigned>(shape::skew_rows));
  const unsigned segment_bytes = (arguments.rows_joined ? staged_rows : 1) *
                                 (arguments.matrices_joined ? arguments.box_matrices : 1) *
                                 arguments.box_cols * element;
  const unsigned segment_words = (segment_bytes + 3) / 4;
  const unsigned matrix_segments = arguments.rows_joined ? 1 : staged_rows;
  const unsigned segments =
      matrix_segments * (arguments.matrices_joined ? 1 : arguments.box_matrices);
  arguments.segment_lanes = lanes_for(segment_words, segments);
  arguments.segment_pitch = arguments.rows_joined
                                ? segment_words * 4
                                : row_pitch(segment_words * 4, arguments.box_rows, element);
  arguments.pad_shift = arguments.rows_joined && nx % 2 == 0 ? 7 : 31;
  plan.shared_bytes = segments * arguments.segment_pitch;
  plan.shared_bytes += (plan.shared_bytes >> arguments.pad_shift) * 4 + 4;

  // Gathering.
  arguments.piece_lanes = lanes_for(arguments.box_rows * element / 4, arguments.box_cols);
  arguments.rows_wrap = divider(smaller<size_type>(ny, unlimited));
  arguments.cols_wrap = divider(arguments.out_matrices_joined ? nx : unlimited);
  arguments.matrix_bytes = arguments.matrices_joined ? static_cast<unsigned>(matrix_bytes)
                                                     : matrix_segments * arguments.segment_pitch;
  arguments.row_bytes =
      arguments.rows_joined ? arguments.box_cols * element : arguments.segment_pitch;
  if (arguments.rows_backwards) { arguments.row_bytes = 0 - arguments.row_bytes; }
  arguments.col_bytes = arguments.cols_backwards ? 0 - element : element;
  const unsigned rows_wrap = arguments.rows_wrap.divisor;
  const unsigned cols_wrap = arguments.cols_wrap.divisor;
  const unsigned round = shape::round_elements;
  const unsigned matrix_step = round / rows_wrap / cols_wrap;
  arguments.row_step = round % rows_wrap;
  arguments.col_step = round / rows_wrap % cols_wrap;
  arguments.round_bytes = matrix_step * arguments.matrix_bytes +
                          arguments.row_step * arguments.row_bytes +
                          arguments.col_step * arguments.col_bytes;
  arguments.row_wrap_bytes = arguments.col_bytes - rows_wrap * arguments.row_bytes;
  arguments.col_wrap_bytes = arguments.matrix_bytes - cols_wrap * arguments.col_bytes;
  return plan;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
