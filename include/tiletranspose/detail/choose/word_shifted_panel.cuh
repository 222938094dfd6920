// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which matrices of elements of 1 and 2 bytes are moved in word-shifted panels, how these are cut, and how threads
/// share them, with the arguments of their kernel. Plain C++17.

#pragma once

#include <tiletranspose/detail/choose/tuning_panel.cuh>
#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/request/problem.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// True where elements can be moved in word-shifted panels.
constexpr bool has_word_shifted_panel(int element_bytes, int access_bytes) {
  return element_bytes <= 2 && access_bytes == element_bytes;
}

/// `joins_rows`: the rows of a panel follow each other in the input, and `joins_cols`: its output rows in the output.
/// Panels of both hold whole matrices, several of a batch that follow each other.
struct word_shifted_shape {
  int element_bytes;
  bool joins_rows;
  bool joins_cols;

  static constexpr int threads = 256;  ///< of a block
  static constexpr unsigned line_bytes =
      128;  ///< of memory; rows that follow each other lie in them
  constexpr bool joins_matrices() const { return joins_rows && joins_cols; }
  /// Elements of a word.
  constexpr unsigned word_elements() const { return 4u / static_cast<unsigned>(element_bytes); }
  /// Rows before those of a panel, for segments of the output that start at their sectors.
  constexpr unsigned skew_rows() const {
    return joins_cols ? 0u : static_cast<unsigned>(sector_bytes / element_bytes);
  }
};
constexpr word_shifted_shape word_shifted_shape_of(int element_bytes, panel_kind kind) {
  return {element_bytes, kind != panel_kind::few_rows, kind != panel_kind::few_columns};
}

/// What a block takes of the shared memory that it may ask for: two of them share a multiprocessor at least.
constexpr size_type word_shifted_block_bytes(size_type shared_bytes) {
  return larger<size_type>(default_shared_bytes, shared_bytes / 2 - 1024);
}

/// The most lanes of a warp that use one bank where they read the words of `columns` groups side by side, of `walks`
/// walks that lie `walk_bytes` apart, of matrices that lie `matrix_bytes` apart.
inline unsigned walking_ways(size_type columns, size_type all_walks, size_type walk_bytes,
                             size_type matrix_bytes) {
  unsigned char used[32] = {};
  unsigned worst = 0;
  const auto walks = static_cast<unsigned>(all_walks);
  for (unsigned lane = 0, walk = 0; lane < 32; ++walk) {
    const size_type line = walk / walks * matrix_bytes + walk % walks * walk_bytes;
    for (unsigned column = 0; column < columns && lane < 32; ++column, ++lane) {
      worst = larger<unsigned>(worst, ++used[(line / 4 + column) % 32]);
    }
  }
  return worst;
}

/// True where word-shifted panels of a kind do better than gathered ones.
/// \param shared_bytes  what a block may ask for
inline bool takes_word_shifted(const batch_problem& problem, size_type element, panel_kind kind,
                               size_type shared_bytes) {
  const size_type nx = problem.nx;
  const size_type ny = problem.ny;
  const size_type matrix_bytes = nx * ny * element;
  if (problem.pointer_arrays || !is_dense(problem.in_stride_bytes, nx * element) ||
      nx * element < 4 || kind == panel_kind::none) {
    return false;
  }
  // Where words of the output are shifted, columns of whole groups of banks would begin in the same ones.
  if (row_bits_of(problem, false) % 4 != 0 && ny * element % 8 == 0) { return false; }
  if (kind == panel_kind::few_columns) {
    return problem.in_stride_bytes == nx * element &&
           (problem.batch == 1 || problem.out_stride_bytes == ny * element) &&
           (nx % 16 == 0 || (nx % 8 == 0 && nx * element > most_gathered_eighths_bytes));
  }
  if (!is_dense(problem.out_stride_bytes, ny * element) || ny < 4) { return false; }
  if (kind == panel_kind::few_rows) {
    // What is read of a row reaches into the next one, but not beyond.
    return ny + element > least_shifted_rows && nx * element >= 4 + max_access_bytes &&
           problem.out_stride_bytes == ny * element;
  }
  if (element == 1 && ny == rows_in_eight_banks && nx < 64 && nx % 4 != 0) { return false; }
  const bool words = nx * element % 4 == 0 || ny * element % 4 == 0;
  const size_type least = words ? least_word_bytes : least_shifted_bytes;
  if (ny * element % 4 != 0 &&
      walking_ways(divide_up(nx * element, 4), 1, 0, matrix_bytes) > most_walking_ways) {
    return false;
  }
  const size_type most = word_shifted_block_bytes(shared_bytes);
  return problem.in_batch_bytes == matrix_bytes && problem.out_batch_bytes == matrix_bytes &&
         matrix_bytes >= least &&
         (2 * matrix_bytes + 512 <= most ||
          (nx * element >= least_parted_bytes &&
           matrix_bytes + matrix_bytes / most_shifted_parts + 1024 <= most));
}

/// The least number from `least` on that is congruent to `stride` modulo a sector.
constexpr size_type congruent_pitch(size_type least, size_type stride) {
  return least + (stride - least) % sector_bytes;
}
/// Bytes that a panel of few rows has room for beside each. Rows, which are copied one by one, do not share accesses.
inline constexpr size_type beside_row = 4 + 2 * (max_access_bytes - 1);

/// About `cols` columns of a row, in whole words, which may reach over its end: the last part of a row has those of one, too.
constexpr size_type whole_columns(size_type nx, size_type cols, size_type word_elements) {
  cols = divide_up(cols, word_elements) * word_elements;
  const auto leave_few = [&] { return nx % cols > 0 && nx % cols < word_elements; };
  while (cols > word_elements && leave_few()) { cols -= word_elements; }
  while (leave_few()) { cols += word_elements; }
  return cols;
}

/// Columns of a matrix, one a block, that are transposed at a time: all, or even parts.
inline size_type choose_part(size_type nx, size_type column_bytes, size_type word_elements,
                             size_type shared_bytes) {
  const size_type matrix_bytes = nx * column_bytes + 512;
  const auto beside_matrix = [&](size_type block_bytes) {
    const size_type left = block_bytes > matrix_bytes ? block_bytes - matrix_bytes : 0;
    return smaller(left / column_bytes, nx);
  };
  const size_type half = beside_matrix(word_shifted_block_bytes(shared_bytes));
  const size_type third = beside_matrix(shared_bytes / blocks_of_parts - 1024);
  const size_type most = 2 * (third / word_elements * word_elements) >= nx ? third : half;
  if (most == nx || nx < least_parted_bytes / 4 * word_elements) { return nx; }
  const size_type parts = divide_up(nx, most / word_elements * word_elements);
  return whole_columns(nx, divide_up(nx, parts), word_elements);
}

/// Columns of a panel of few rows: such that warps read rows by whole rounds, wherever they start, or by parts of
/// rounds where rows are many; of short rows even parts.
inline size_type cut_columns(const batch_problem& problem, const word_shifted_shape& shape) {
  const auto element = static_cast<size_type>(shape.element_bytes);
  const size_type nx = problem.nx;
  const size_type ny = problem.ny;
  size_type lanes = ny <= most_few_columns ? 32 : ny <= most_rows_by_half_rounds ? 16 : 8;
  for (;; lanes /= 2) {
    const size_type round = lanes * max_access_bytes;
    const size_type row = larger<size_type>(shifted_rows_bytes / (ny * round), 1) * round;
    size_type cols = (row - max_access_bytes - 4) / element;
    if (nx < 2 * cols) { cols = divide_up(nx, divide_up(nx * ny * element, shifted_rows_bytes)); }
    cols = whole_columns(nx, cols, shape.word_elements());
    const size_type pitch = congruent_pitch(cols * element + beside_row, problem.in_stride_bytes);
    if (ny * (pitch + cols * element) <= most_shifted_rows_bytes || lanes == 4) { return cols; }
  }
}

struct word_shifted_arguments : batch_problem {
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

  divider accesses;       ///< of a segment of an output row
  divider last_accesses;  ///< and of one that ends with the row
};

/// How matrices are cut into panels, and where these lie in shared memory: a plan without walks. Precondition:
/// takes_word_shifted says so of the shape's kind.
/// \param shared_bytes  what a block may ask for
inline launch_plan<word_shifted_arguments> cut_word_shifted(const batch_problem& problem,
                                                            const word_shifted_shape& shape,
                                                            size_type shared_bytes) {
  constexpr size_type access = max_access_bytes;
  const auto element = static_cast<size_type>(shape.element_bytes);
  const size_type word_elements = shape.word_elements();
  const size_type skew = shape.skew_rows();
  const size_type nx = problem.nx;
  const size_type ny = problem.ny;
  size_type matrices = 1;
  size_type rows = ny;
  size_type cols = nx;
  if (shape.joins_matrices()) {
    matrices = larger<size_type>(shifted_matrices_bytes / (nx * ny * element), 1);
    // Of short columns, one a thread, as many as threads take in whole rounds.
    const size_type columns = divide_up(nx, word_elements);
    const size_type rounds = matrices * columns / shape.threads;
    if (columns < shape.threads && rounds > 0) {
      matrices = smaller(matrices, rounds * shape.threads / columns);
    }
    matrices = smaller(matrices, problem.batch);
    if (nx * ny * element > shifted_matrices_bytes) {
      cols = choose_part(nx, ny * element, word_elements, shared_bytes);
    }
  } else if (shape.joins_rows) {
    rows =
        larger<size_type>(shifted_columns_bytes / (nx * element) / sector_bytes, 2) * sector_bytes;
  } else {
    cols = cut_columns(problem, shape);
  }
  const size_type panels = shape.joins_matrices() ? 1 : divide_up(ny, rows) * divide_up(nx, cols);
  const size_type in_pitch =
      shape.joins_rows ? problem.in_stride_bytes
                       : congruent_pitch(cols * element + beside_row, problem.in_stride_bytes);

  // The input: accesses, the next word of the last one, and where lines begin.
  size_type in_bytes = matrices * rows * nx * element;
  if (!shape.joins_cols) {
    in_bytes = (divide_up(rows + skew, word_elements) + 1) * word_elements * in_pitch;
  }
  if (!shape.joins_rows) { in_bytes = rows * in_pitch; }
  in_bytes += 4 + access + 2 * word_shifted_shape::line_bytes;
  // The output. Words of rows above a segment's sector are written before it; segments end as late as the last one.
  size_type out_pitch = problem.out_stride_bytes;
  size_type out_bytes = matrices * cols * ny * element + 3 * access;
  if (!shape.joins_cols) {
    out_pitch = congruent_pitch(rows * element + 3 * sector_bytes, out_pitch);
    out_bytes = cols * out_pitch + sector_bytes;
  }
  const size_type out_place = divide_up(in_bytes, sector_bytes) * sector_bytes + skew * element;
  launch_plan<word_shifted_arguments> plan{
      {}, divide_up(problem.batch, matrices) * panels, shape.threads, out_place + out_bytes};
  static_cast<batch_problem&>(plan.arguments) = problem;
  plan.arguments.panel_matrices = static_cast<unsigned>(matrices);
  plan.arguments.panel_rows = static_cast<unsigned>(rows);
  plan.arguments.panel_cols = static_cast<unsigned>(cols);
  plan.arguments.panels = divider(panels);
  plan.arguments.in_pitch = static_cast<unsigned>(in_pitch);
  plan.arguments.out_pitch = static_cast<unsigned>(out_pitch);
  plan.arguments.out_place = static_cast<unsigned>(out_place);
  return plan;
}

/// How threads share a panel: `lanes` of them take groups of columns side by side, and walk down `steps` groups of rows.
struct panel_walks {
  size_type lanes;
  size_type steps;
};

/// The walks with which the warps of a block take the least time in all: to begin a walk takes as long as three steps,
/// and a step as long as its loads are in conflict, and once more. A walk begins with a whole group. Where a block
/// waits for rounds of `together` warps, as that of one matrix does, lanes may be left without columns, so that no warp
/// takes groups of two rows of them.
inline panel_walks choose_walks(size_type columns, size_type matrices, size_type groups,
                                size_type whole, size_type group_bytes, size_type matrix_bytes,
                                size_type together) {
  constexpr size_type most = 16;
  if (groups <= most) { return {columns, groups}; }
  const size_type choices[] = {columns, together > 1 ? divide_up(columns, 32) * 32 : columns};
  panel_walks best{columns, groups};
  size_type best_cost = ~size_type{0};
  for (size_type steps = 1; steps <= most; ++steps) {
    if (whole < groups && whole % steps == 0) { continue; }
    const size_type walks = divide_up(groups, steps);
    for (const size_type lanes : choices) {
      const size_type warps =
          divide_up(divide_up(lanes * matrices * walks, 32), together) * together;
      if (warps * (steps + 3) * 2 > best_cost) { continue; }
      const unsigned ways = walking_ways(lanes, walks, steps * group_bytes, matrix_bytes);
      const size_type cost = warps * (steps + 3) * (1 + ways);
      if (cost <= best_cost) {
        best = {lanes, steps};
        best_cost = cost;
      }
    }
  }
  return best;
}

/// As cut_word_shifted, with walks.
inline launch_plan<word_shifted_arguments> plan_word_shifted(const batch_problem& problem,
                                                             const word_shifted_shape& shape,
                                                             size_type shared_bytes) {
  constexpr size_type access = max_access_bytes;
  const auto element = static_cast<size_type>(shape.element_bytes);
  const size_type word_elements = shape.word_elements();
  launch_plan<word_shifted_arguments> plan = cut_word_shifted(problem, shape, shared_bytes);
  word_shifted_arguments& arguments = plan.arguments;
  arguments.rows_backwards = problem.in_stride_bytes != problem.nx * element;
  arguments.cols_backwards = problem.out_stride_bytes != problem.ny * element;
  arguments.in_words = row_bits_of(problem, true) % 4 == 0;
  arguments.shifts_output = row_bits_of(problem, false) % 4 != 0;
  const size_type rows = arguments.panel_rows;
  const size_type cols = arguments.panel_cols;
  if (!shape.joins_rows) {
    while (arguments.row_lanes < 5 && access << arguments.row_lanes < cols * element + access) {
      ++arguments.row_lanes;
    }
  }
  if (!shape.joins_cols) {
    arguments.accesses = divider(rows * element / access);
    arguments.last_accesses = divider(rows * element / access + sector_bytes / access);
  }

  const size_type groups = divide_up(rows + shape.skew_rows(), word_elements);
  const size_type group_bytes = word_elements * arguments.in_pitch;
  const panel_walks walks = choose_walks(
      divide_up(cols, word_elements), arguments.panel_matrices, groups,
      shape.joins_cols ? rows / word_elements : groups, group_bytes, rows * problem.nx * element,
      cols < problem.nx && shape.joins_matrices() ? shape.threads / 32 : 1);
  arguments.groups = divider(walks.lanes);
  arguments.walks = divider(divide_up(groups, walks.steps));
  arguments.steps = divider(walks.steps);
  // Words of the output lie ny words from group to group. Pairs at least: then rows of the input spread, too.
  arguments.rotation_shift = 1;
  while ((problem.ny << arguments.rotation_shift) % 32 != 0) { ++arguments.rotation_shift; }
  // Groups of columns that begin a step later lie words of so many rows further down, which must not lead back to the
  // banks of those before: bytes, batches of 30 x 64, would be three times as slow.
  const size_type across = size_type{1} << arguments.rotation_shift;
  const size_type down = group_bytes / 4;
  arguments.rotation_mask = common_divisor(static_cast<unsigned>((across + down) % 32), 32) >
                                    common_divisor(static_cast<unsigned>((across - down) % 32), 32)
                                ? 0xffff
                                : 0;
  return plan;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
