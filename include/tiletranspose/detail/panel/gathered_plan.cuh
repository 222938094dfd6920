// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which matrices the staged kernel takes, and the boxes it cuts them into. Host only.

#pragma once

#include <tiletranspose/detail/panel/gathered_kernel.cuh>
#include <tiletranspose/detail/panel/row_pitch.cuh>
#include <tiletranspose/policy.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Bytes of a box: enough blocks of it share a multiprocessor to keep its loads busy.
/// Boxes that are read as one span do better small, boxes of separate rows large. H200, 2026-11-21, float,
/// 2, 3 and 7 columns: 91, 87, 89 % of cudaMemcpyAsync at 16 KB and 86, 86, 86 % at 32; 16 rows: 91 and
/// 92 %; batches of 250 x 250: 68 and 76 % (before boxes asked for four_boxes_bytes).
inline constexpr size_type span_box_bytes = 16 * 1024;
inline constexpr size_type box_bytes = 32 * 1024;

/// Matrices that are staged as one span, with a pad for each row at most, may be as large as this. H200,
/// 2026-11-21: batches of 100 x 100 floats 83 -> 93 %.
inline constexpr size_type large_matrix_bytes = 44 * 1024;

/// Where a block may take more, matrices may be as large as two blocks, or three of words, leave each other on a
/// multiprocessor; tiles of whole accesses, where they can be, are better for all but 2-byte elements. H200,
/// 2026-11-21, batches: 129 x 127 floats 84 -> 92 %, 250 x 250 bytes 83 -> 89, 251 x 253 62 -> 89, 201 x 203 of 2
/// bytes 81 -> 88, 160 x 160 77 -> 93; not so 201 x 127 floats, two blocks: 89 -> 82, and 336 x 336 bytes, whole:
/// 89 -> 70.
constexpr size_type largest_matrix_bytes(int unit, bool whole, size_type shared_bytes) {
  return whole && unit != 2 ? large_matrix_bytes
                            : larger(large_matrix_bytes, shared_bytes / (unit < 4 ? 2 : 3) - 2048);
}

/// Columns of more elements than this are read in boxes of this size, if the device has it three times, or their
/// rows would be shorter than two lines. H200, 2026-11-21: batches of 250 x 250 floats 90 -> 93.5 %.
inline constexpr size_type most_rows = 128;
inline constexpr size_type tall_box_bytes = 64 * 1024;

/// Rows of the output up to this length are written as part of longer spans when the matrices of a batch
/// are too large for a box. H200, 2026-11-22, % of cudaMemcpyAsync in tiles and in boxes, batches of 1001 columns of
/// floats: 125 rows (500 bytes) 72, 95, 251 85, 94, 301 89, 91, 501 91, 76.
inline constexpr size_type short_row_bytes = 1024;

/// And up to this many rows of the input, so that a box reads at least four sectors of each. The same of bytes: 125
/// rows 20, 44, 251 27, 57, 301 39, 31, 501 42, 30.
inline constexpr size_type short_rows = 256;

/// So many columns or rows of small elements are few, however small the tile. H200, 2026-11-21, 2 bytes: 33
/// rows 34 -> 86 %, 64 columns 55 -> 87.
inline constexpr size_type most_few_columns = 64;

/// Longer rows of the input, and of the output, are better off in two tiles (are_few_columns, are_few_rows).
inline constexpr size_type most_wide_row_bytes = 640;
inline constexpr size_type most_tiled_row_bytes = 816;

/// Of 1- and 2-byte elements that the sheared kernel takes, more columns are few, and more rows. H200, 2026-11-22, % of
/// cudaMemcpyAsync in tiles and in boxes: 1 byte, 130 columns 73, 86, 150 77, 82, 200 82, 85, 257 81, 74, 100 rows 66,
/// 90, 150 56, 82, 257 71, 81, 300 81, 79; 2 bytes, 120 columns 83, 90, 130 84, 89, 150 88, 85, 100 rows 67, 92, 150
/// 53, 88.
inline constexpr size_type most_sheared_columns = 208;
inline constexpr size_type most_sheared_row_bytes = 272;
inline constexpr size_type most_sheared_rows = 260;
inline constexpr size_type most_sheared_column_bytes = 304;

/// Shorter rows of the input are staged, not sheared, where the output has few columns.
inline constexpr size_type least_sheared_row_bytes = 512;

/// Few columns whose rows are this long are read in large boxes: pieces of output rows would be short. H200,
/// 2026-11-21: 33 columns of 1 byte 81 -> 86 %, 64 columns 73 -> 84, 31 columns of floats 90 -> 92.
inline constexpr size_type wide_row_bytes = 24;

/// Boxes of more shared memory than the first number ask for as much as the second, with which four share a
/// multiprocessor instead of six. H200, 2026-11-21, float: batches of 250 x 250 78 -> 92 %, 31 columns
/// 88 -> 92, 16 columns 91 -> 94, batches of 100 x 100 93 -> 95, of 5 x 5 94 -> 96, of 8 x 8 93 -> 91;
/// 1 byte, 250 x 250 73 -> 82.
inline constexpr unsigned many_boxes_bytes = 23 * 1024;
inline constexpr unsigned four_boxes_bytes = 48000;

/// Spans of small elements are gathered in repeating rounds from so many words on, and from eight times as many
/// where each matrix needs its own places; below, finding the places costs more than it saves. H200,
/// 2026-11-21, 1 byte: 33 x 33, whose matrices differ, 34 % in repeating rounds and 75 % without.
inline constexpr size_type least_repeating_words = 128;

/// Shared rows longer than this get a pitch of their own instead of one pad per 128 bytes. H200, 2026-11-22, % of
/// cudaMemcpyAsync with a pitch and without, batches of 13 to 33 rows of 300, 510, 1000 and 1200 bytes: elements of 3
/// bytes 42, 54, 37, 53, 33, 57, 52, 46, of 6 54, 74, 44, 81, 66, 72, 69, 72; of 20 bytes, 300 to 1000, 69, 91, 84, 91,
/// 88, 90; of 12, 576, 1020 and 1536 bytes, 85, 92, 89, 91, 93, 92.
inline constexpr size_type joined_row_bytes = 1024;

enum class box_kind { none, few_columns, few_rows, small_matrices };

/// True where rows of `row_bytes` follow each other without a gap, forwards or backwards.
inline bool is_dense(size_type stride_bytes, size_type row_bytes) {
  return stride_bytes == row_bytes || 0 - stride_bytes == row_bytes;
}

/// True where the rows of a staged matrix may be followed by a pad each, which spreads them over the banks:
/// several rows of small elements take whole words, and elements of whole words fill the banks evenly.
constexpr bool can_pad_rows(size_type element, int unit) {
  return element <= 2 || element == 4 ||
         (unit >= 4 && fills_banks(static_cast<unsigned>(element / 4)));
}

/// True where shared rows of nx elements of 1 or 2 bytes get a pad: without one, the threads of a warp would meet
/// in four banks or fewer. H200, 2026-11-21, 100 x 99, whose rows meet in eight: 1 byte 68 % with pads and 84
/// without, 2 bytes 91 and 95; 50 x 50 of bytes 63 and 93.
constexpr bool pads_bytes(size_type nx) { return nx % 8 == 0; }

/// Words of a round of up to `lanes` threads that advances whole columns of `column_bytes`, if any does: a
/// multiple of warps if there is one, else of sectors, so that warps go on to write whole lines.
constexpr unsigned repeating_words(size_type column_bytes, unsigned lanes) {
  if (column_bytes > 4 * lanes) { return 0; }
  const auto bytes = static_cast<unsigned>(column_bytes);
  const unsigned least = bytes / common_divisor(bytes, 4);
  for (const unsigned unit : {32u, 8u, 1u}) {
    const unsigned step = least / common_divisor(least, unit) * unit;
    if (step <= lanes) { return lanes / step * step; }
  }
  return 0;
}

/// True where so few columns of packed elements or of whole words are better off in boxes than in tiles. H200,
/// 2026-11-22, % of cudaMemcpyAsync in tiles and in boxes: 4 bytes, 24 columns 90, 93, 36 92, 92, 43 92, 89; 8 bytes,
/// 33 83, 90, 43 88, 89, 50 89, 87; 12 bytes, 17 columns 72, 90, 20 82, 90, 24 91, 89; 16 bytes, 17 columns 86, 93, 24
/// 93, 93. One column of tiles and a few more: 33 of 16 bytes 83, 89, of 12 82, 87; 17 of 28 bytes 81, 91. Bytewise
/// boxes are slow: 3 bytes, 36 columns 58, 61, 47 70, 62; 5 bytes, 17 columns 62, 67, 24 76, 64; 31 bytes, 5 columns
/// 59, 62, 8 80, 59; but 6 bytes, 31 columns 81, 90, 36 83, 79.
inline bool are_few_columns(size_type nx, size_type element, int unit, size_type tile_cols) {
  if (unit == 1 || element == 4) { return nx <= tile_cols / 3; }
  if (unit < 4) { return nx <= tile_cols / 2; }
  return nx <= tile_cols * 2 / 3 || (tile_cols <= 32 && nx > tile_cols && nx <= tile_cols * 4 / 3 &&
                                     nx * element <= most_wide_row_bytes);
}

/// The same of rows. Parts of words are gathered fast in repeating rounds alone, at half the speed of tiles else: 5
/// bytes, 50 rows 59, 71, 63 67, 35; 31 bytes, 15 rows 43, 38. Tiles of which one holds most of the rows and the next
/// one a few are slow: 4 bytes, 65 rows 66, 90, 100 85, 92; 8 bytes, 33 rows 78, 93; 12 bytes 56, 90; 16 bytes 83, 94;
/// 20 bytes 78, 91; 24 bytes, 33 rows 56, 93, 50 76, 92; 28 bytes, 17 rows 57, 93; 32 bytes 85, 95; 40 bytes 80, 92; 48
/// bytes 93, 93; packed 9 bytes, 36 rows 44, 75, 10 bytes, 33 rows 65, 86, 18 bytes, 36 rows 47, 82. Those that start
/// on sectors are good sooner: 8 bytes, 40 rows 90, 94, 48 94, 93, 50 88, 93; 12 bytes, 48 rows 92, 89, 50 82, 89, 72
/// 93, 87; floats, aligned, 40 rows 92, 94, 48 97, 93; and so are rows of many bytes: 16 bytes, 45 rows 91, 93, 55 95,
/// 92; 20 bytes, 38 rows 84, 90, 50 93, 90; not so spliced ones.
inline bool are_few_rows(size_type ny, size_type element, int unit, size_type tile_rows,
                         bool whole) {
  const bool splices = splices_elements(static_cast<int>(element), unit);
  if (unit < 4) {
    const size_type most = splices ? tile_rows * 13 / 8 : tile_rows * 17 / 16;
    return ny <= tile_rows / 3 || (ny <= most && repeating_words(ny * element, staged_threads) > 0);
  }
  const bool skewed = ny * element % sector_bytes != 0;
  return ny < (whole ? tile_rows * 3 / 4 : tile_rows) ||
         (ny > tile_rows && ny <= tile_rows * 5 / 4 && element <= 40) ||
         (ny > tile_rows && ny <= tile_rows * 17 / 8 && (skewed || splices) &&
          (ny * element <= most_tiled_row_bytes || splices || (unit == 4 && element > 20)));
}

/// The same of columns and rows of elements of 1 and 2 bytes. `shears`: the sheared kernel takes them.
inline bool are_few_small_columns(size_type nx, size_type element, size_type tile_cols,
                                  bool shears) {
  return 2 * nx <= tile_cols || nx <= most_few_columns ||
         (shears && nx <= most_sheared_columns && nx * element <= most_sheared_row_bytes);
}

inline bool are_few_small_rows(size_type nx, size_type ny, size_type element, size_type tile_rows,
                               bool shears) {
  return 2 * ny <= tile_rows || ny <= most_few_columns ||
         (shears && nx * element >= least_sheared_row_bytes && ny <= most_sheared_rows &&
          ny * element <= most_sheared_column_bytes);
}

/// What pays for a request, where a tile of the alternative kernel is tile_rows x tile_cols.
/// \param unit   the access that addresses allow
/// \param batch  matrices; the pointers of `pointer_arrays` are taken one by one
/// \param shared_bytes  what a block may ask for
inline box_kind choose_box(const tile_problem& problem, size_type batch, size_type element,
                           size_type tile_rows, size_type tile_cols, bool whole, int unit,
                           size_type shared_bytes = default_shared_bytes) {
  const bool in_dense = is_dense(problem.in_stride_bytes, problem.nx * element);
  const bool out_dense = is_dense(problem.out_stride_bytes, problem.ny * element);
  const bool fits_panel =
      problem.nx <= box_bytes && problem.ny <= box_bytes &&
      (problem.nx + 1) * problem.ny * element <=  // with a pad for each row at most
          (in_dense && can_pad_rows(element, unit) ? largest_matrix_bytes(unit, whole, shared_bytes)
                                                   : box_bytes);
  // What the sheared kernel does not take has limits of its own.
  const bool shears = element <= 2 && unit == static_cast<int>(element) && batch == 1 &&
                      !problem.pointer_arrays && problem.in_stride_bytes == problem.nx * element;
  const bool tiny = element <= 2;
  const bool few_columns = tiny ? are_few_small_columns(problem.nx, element, tile_cols, shears)
                                : are_few_columns(problem.nx, element, unit, tile_cols);
  const bool forwards = problem.out_stride_bytes == problem.ny * element;
  const bool few_rows =
      tiny ? are_few_small_rows(problem.nx, problem.ny, element, tile_rows, shears && forwards)
           : are_few_rows(problem.ny, element, unit, tile_rows, whole);
  if (fits_panel && batch > 1 && in_dense && out_dense && !problem.pointer_arrays) {
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
/// own; else the power of two with which the block takes the fewest rounds, and of several the largest. To find
/// a run costs as much as `extra` rounds.
inline unsigned lanes_for(unsigned words, unsigned runs, unsigned extra = 0) {
  if (words >= 32 && runs >= staged_threads / 32) { return 5; }
  unsigned best = 8;
  unsigned best_rounds = ~0u;
  for (unsigned lanes = 8; lanes >= (words < 32 ? 2u : 5u); --lanes) {
    const unsigned together = staged_threads >> lanes;
    const unsigned rounds = ((words - 1) / (1u << lanes) + 1 + extra) * ((runs - 1) / together + 1);
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

/// Shared bytes of a segment that may start inside of a word, as it is where units are smaller than one.
constexpr unsigned segment_bytes(size_type bytes, bool sub_word) {
  return static_cast<unsigned>((bytes + (sub_word ? 6 : 3)) / 4 * 4);
}

/// Shared bytes of `rows` rows of `row_bytes` bytes that are staged one by one.
constexpr size_type separate_bytes(size_type row_bytes, size_type rows, unsigned element,
                                   bool sub_word) {
  return rows * row_pitch(segment_bytes(row_bytes, sub_word), rows, element) + rows / 32 * 4;
}

/// The box of a kind of matrix: its size and which of its parts lie side by side.
template <int ElementBytes, int Unit>
void choose_parts(staged_arguments& arguments, box_kind kind, size_type shared_bytes) {
  constexpr unsigned element = ElementBytes;
  const tile_problem& problem = arguments.problem;
  const size_type nx = problem.nx;
  const size_type ny = problem.ny;
  const size_type row_bytes = nx * element;
  const size_type matrix_bytes = row_bytes * ny;
  const bool in_dense = is_dense(problem.in_stride_bytes, row_bytes);
  const auto multiple = [](size_type wanted, size_type step) {
    return wanted < step ? step : wanted / step * step;
  };
  arguments.box_matrices = 1;
  arguments.box_rows = static_cast<unsigned>(smaller<size_type>(ny, box_bytes));
  arguments.box_cols = static_cast<unsigned>(smaller<size_type>(nx, box_bytes));
  arguments.rows_touch = in_dense;
  if (kind == box_kind::small_matrices) {
    const size_type padding = nx % 2 == 0 ? ny * element : 0;
    arguments.box_matrices = static_cast<unsigned>(smaller<size_type>(
        larger<size_type>(box_bytes / (matrix_bytes + padding), 1), arguments.batch));
  } else if (kind == box_kind::few_columns) {
    const size_type wanted = row_bytes < wide_row_bytes ? span_box_bytes : box_bytes;
    arguments.box_rows = static_cast<unsigned>(multiple(wanted / row_bytes, sector_bytes));
  } else {
    // As many columns as a warp has words of a row, times one or more, where the box holds so many.
    const bool tall = Unit == 4 && ny > most_rows && shared_bytes / 3 > tall_box_bytes;
    const size_type most_shared = tall ? shared_bytes / 3 : default_shared_bytes;
    const size_type fit = (tall ? tall_box_bytes : box_bytes) / (ny * element);
    const size_type line = (128 - (Unit < 4 ? 4 - Unit : 0)) / element;
    const size_type cols = multiple(fit, fit >= line && line > 0 ? line : 8);
    // Boxes of about the same width, if warps do not take a row more often for it.
    const size_type even = divide_up(nx, divide_up(nx, cols));
    const size_type step = larger<size_type>(line, 1);
    const bool better = divide_up(nx, even) * divide_up(even, step) <=
                        nx / cols * divide_up(cols, step) + divide_up(nx % cols, step);
    arguments.box_cols = static_cast<unsigned>(better ? even : cols);
    while (arguments.box_cols > 8 &&
           separate_bytes(arguments.box_cols * element, ny, element, Unit < 4) > most_shared - 8) {
      arguments.box_cols = arguments.box_cols / 16 * 8;
    }
  }
  arguments.cols_joined = kind != box_kind::few_columns;
  const bool pads = can_pad_rows(element, Unit);
  arguments.rows_joined =
      in_dense && (kind == box_kind::few_columns ||
                   (kind == box_kind::small_matrices && (row_bytes <= joined_row_bytes || pads)));
  arguments.matrices_joined = kind == box_kind::small_matrices && arguments.rows_joined &&
                              problem.in_batch_bytes == matrix_bytes;
  arguments.out_matrices_joined =
      kind == box_kind::small_matrices && problem.out_batch_bytes == matrix_bytes;
}

/// Decides whether small elements are gathered in repeating rounds: of columns, one matrix at a time, or of
/// whole matrices.
template <int ElementBytes, int Unit>
void choose_rounds(staged_arguments& arguments, box_kind kind) {
  const tile_problem& problem = arguments.problem;
  const size_type column_bytes = problem.ny * ElementBytes;
  const size_type span_words = column_bytes * arguments.box_cols / 4;
  const bool pads = arguments.rows_joined && pads_bytes(problem.nx);
  if (kind == box_kind::few_columns ||
      (kind == box_kind::small_matrices &&
       (!arguments.rows_joined || ElementBytes > 4 || ElementBytes == 3))) {
    return;
  }
  const size_type matrix_bytes = column_bytes * problem.nx;
  const bool joined = arguments.matrices_joined && arguments.out_matrices_joined;
  if (joined && !pads && span_words < 256) {  // rounds of whole matrices
    const unsigned words = repeating_words(matrix_bytes, staged_threads);
    if (words >= 128) {
      arguments.repeats = true;
      arguments.repeat_words = words;
      arguments.repeat_matrices = static_cast<unsigned>(4 * words / matrix_bytes);
      arguments.span_lanes = 8;
      return;
    }
  }
  const bool same_places = problem.out_batch_bytes % 4 == 0 &&
                           (arguments.matrices_joined ? !pads || column_bytes % 4 == 0
                                                      : problem.in_batch_bytes % 16 == 0);
  const bool one = same_places || arguments.box_matrices == 1;
  if (span_words < (one ? 1 : 8) * least_repeating_words) { return; }
  unsigned lane_shift = 8;
  while (arguments.box_matrices > 1 && lane_shift > 6 &&
         span_words < (size_type{2} << lane_shift)) {
    --lane_shift;
  }
  while (lane_shift < 8 && repeating_words(column_bytes, 1u << lane_shift) == 0) { ++lane_shift; }
  const unsigned words = repeating_words(column_bytes, 1u << lane_shift);
  if (words < 32) { return; }
  arguments.repeats = true;
  arguments.span_lanes = lane_shift;
  arguments.repeat_words = words;
  arguments.pads_rows = pads;
  arguments.same_places = same_places;
  arguments.out_matrices_joined = false;
}

template <int ElementBytes, int Unit>
staged_plan plan_staged(const tile_problem& problem, size_type batch, box_kind kind,
                        size_type shared_bytes = default_shared_bytes) {
  using shape = staged_shape<ElementBytes>;
  constexpr unsigned element = ElementBytes;
  constexpr bool sub_word = Unit < 4;
  const size_type nx = problem.nx;
  const size_type ny = problem.ny;
  const size_type row_bytes = nx * element;
  const size_type matrix_bytes = row_bytes * ny;

  staged_plan plan{};
  staged_arguments& arguments = plan.arguments;
  arguments.problem = problem;
  arguments.batch = batch;
  choose_parts<ElementBytes, Unit>(arguments, kind, shared_bytes);
  if constexpr (sub_word) {
    choose_rounds<ElementBytes, Unit>(arguments, kind);
  } else {
    arguments.pads_rows = kind == box_kind::small_matrices && arguments.rows_joined &&
                          nx % 2 == 0 && can_pad_rows(element, Unit);
  }
  arguments.pad_bytes = sub_word ? 4 : element;
  arguments.row_words = divider(!arguments.pads_rows ? 1 : sub_word ? nx : row_bytes / 4);
  if (kind == box_kind::small_matrices) {
    // What each matrix takes: alone in its segment it is rounded up to 16 bytes at both ends.
    const size_type pads = arguments.pads_rows ? ny * element + 4 : 0;
    const size_type matrix = !arguments.rows_joined
                                 ? separate_bytes(row_bytes, ny, element, sub_word)
                             : arguments.matrices_joined ? matrix_bytes + pads
                                                         : matrix_bytes + pads + 30;
    const size_type fit =
        (default_shared_bytes - 64) / 33 * 32 / matrix;  // of 33 words one is a pad
    arguments.box_matrices = static_cast<unsigned>(
        smaller(larger<size_type>(fit, 1), size_type{arguments.box_matrices}));
  }
  arguments.rows_backwards = arguments.rows_joined && problem.in_stride_bytes != row_bytes;
  arguments.cols_backwards = arguments.cols_joined && problem.out_stride_bytes != ny * element;
  // What is staged as one segment, or found row by row, may lie as it does in memory.
  arguments.shifts = !arguments.repeats && !arguments.matrices_joined &&
                     !(arguments.rows_joined && arguments.box_matrices == 1);

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
  const unsigned length = (arguments.rows_joined ? staged_rows : 1) *
                          (arguments.matrices_joined ? arguments.box_matrices : 1) *
                          arguments.box_cols * element;
  arguments.pad_shift =
      arguments.rows_joined && nx % 2 == 0 && !arguments.pads_rows && !arguments.repeats ? 7 : 31;
  arguments.lead_mask = !sub_word || arguments.shifts                     ? 0
                        : !arguments.rows_joined                          ? 3
                        : arguments.pads_rows || arguments.pad_shift < 31 ? 3
                                                                          : 15;
  const unsigned segment_words =
      arguments.lead_mask == 15 ? (length + 15 + 15) / 16 * 4 : segment_bytes(length, sub_word) / 4;
  const unsigned matrix_segments = arguments.rows_joined ? 1 : staged_rows;
  const unsigned segments =
      matrix_segments * (arguments.matrices_joined ? 1 : arguments.box_matrices);
  arguments.segment_lanes =
      lanes_for(segment_words, arguments.rows_joined ? segments : matrix_segments,
                sub_word && !arguments.rows_joined ? 6 : 0);
  if (arguments.pad_shift <
      31) {  // whole stretches between two pads, so that a round is a constant step
    arguments.segment_lanes = larger(arguments.segment_lanes, 5u);
  }
  arguments.segment_pitch = arguments.rows_joined
                                ? segment_words * 4
                                : row_pitch(segment_words * 4, arguments.box_rows, element);
  arguments.skip_shift = sub_word && !arguments.rows_joined && arguments.repeats ? 5 : 31;
  if (sub_word && arguments.pad_shift < 31) {
    while (nx >> (arguments.pad_shift - 2) << (arguments.pad_shift - 2) == nx) {
      ++arguments.pad_shift;  // four rows hold a whole number of such stretches, an odd one
    }
    --arguments.pad_shift;
    arguments.pad_shift = larger(arguments.pad_shift, 7u);
  }
  // Shared bytes of a matrix, and of all of them.
  const size_type staged_matrices = arguments.matrices_joined ? arguments.box_matrices : 1;
  const unsigned matrix_pitch =
      matrix_segments * arguments.segment_pitch + (matrix_segments >> arguments.skip_shift) * 4 +
      (arguments.pads_rows ? static_cast<unsigned>(staged_matrices * ny * element / 4 * 4 + 4) : 0);
  plan.shared_bytes = (arguments.matrices_joined ? 1 : arguments.box_matrices) * matrix_pitch;
  plan.shared_bytes += (plan.shared_bytes >> arguments.pad_shift) * 4 + 4;

  // Where rows start anywhere, warps read parts of lines that other warps read too, and want them to be in
  // the L1 cache. Four blocks of the largest size leave it 60 KB of a multiprocessor's 256, more and smaller
  // ones 28.
  const bool reads_parts = !sub_word || (kind == box_kind::few_rows && ny > most_few_columns);
  if (reads_parts && plan.shared_bytes > many_boxes_bytes) {
    plan.shared_bytes = larger(plan.shared_bytes, four_boxes_bytes);
  }

  // Gathering.
  arguments.piece_lanes = lanes_for(arguments.box_rows * element / 4, arguments.box_cols);
  arguments.rows_wrap = divider(smaller<size_type>(ny, unlimited));
  arguments.cols_wrap = divider(arguments.out_matrices_joined ? nx : unlimited);
  const size_type row_pads = arguments.pads_rows ? ny * element / 4 * 4 : 0;
  arguments.matrix_bytes =
      arguments.matrices_joined ? static_cast<unsigned>(matrix_bytes + row_pads) : matrix_pitch;
  arguments.row_bytes = !arguments.rows_joined
                            ? arguments.segment_pitch
                            : arguments.box_cols * element + (arguments.pads_rows ? element : 0);
  const unsigned piece_step = (4u << arguments.piece_lanes) / element * arguments.row_bytes;
  arguments.piece_step = piece_step + (piece_step >> arguments.pad_shift) * 4;
  if (arguments.rows_backwards) {
    arguments.row_bytes = 0 - arguments.row_bytes;
    arguments.piece_step = 0 - arguments.piece_step;
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
