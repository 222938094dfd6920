// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which matrices of elements of 1 and 2 bytes are moved in word-shifted panels, how these are cut, and whether they
/// fit. Plain C++17, host only.

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

  static constexpr int threads = panel_threads;
  /// Where lines of memory begin and end in shared memory, too.
  static constexpr unsigned in_line = 128;
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
inline unsigned walking_ways(unsigned columns, unsigned walks, unsigned walk_bytes,
                             unsigned matrix_bytes) {
  unsigned char used[32] = {};
  unsigned worst = 0;
  unsigned column = 0;
  unsigned walk = 0;
  unsigned matrix = 0;
  unsigned line = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned ways = ++used[(line / 4 + column) % 32];
    if (ways > worst) { worst = ways; }
    if (++column < columns) { continue; }
    column = 0;
    line += walk_bytes;
    if (++walk == walks) {
      walk = 0;
      line = ++matrix * matrix_bytes;
    }
  }
  return worst;
}

/// True where word-shifted panels of a kind do better than gathered ones.
/// \param shared_bytes  what a block may ask for
inline bool takes_word_shifted(const tile_problem& problem, size_type batch, size_type element,
                               panel_kind kind, size_type shared_bytes) {
  const size_type nx = problem.nx;
  const size_type ny = problem.ny;
  const size_type matrix_bytes = nx * ny * element;
  if (problem.pointer_arrays || !is_dense(problem.in_stride_bytes, nx * element) ||
      nx * element < 4 || kind == panel_kind::none) {
    return false;
  }
  if (kind == panel_kind::few_columns) { return problem.in_stride_bytes == nx * element; }
  if (!is_dense(problem.out_stride_bytes, ny * element) || ny < 4) { return false; }
  if (kind == panel_kind::few_rows) {
    return batch == 1 && ny >= least_shifted_rows && nx * element >= least_shifted_row_bytes &&
           problem.out_stride_bytes == ny * element;
  }
  if (element == 1 && ny == rows_in_eight_banks && nx < 64 && nx % 4 != 0) { return false; }
  const bool words = nx * element % 4 == 0 || ny * element % 4 == 0;
  const size_type least = words ? least_word_bytes : least_shifted_bytes;
  if (ny * element % 4 != 0 &&
      walking_ways(static_cast<unsigned>(divide_up(nx * element, 4)), 1, 0,
                   static_cast<unsigned>(matrix_bytes)) > most_walking_ways) {
    return false;
  }
  const size_type most = word_shifted_block_bytes(shared_bytes);
  return problem.in_batch_bytes == matrix_bytes && problem.out_batch_bytes == matrix_bytes &&
         matrix_bytes >= least &&
         (2 * matrix_bytes + 512 <= most ||
          (nx * element >= least_parted_bytes &&
           matrix_bytes + matrix_bytes / most_shifted_parts + 1024 <= most));
}

/// The least number from `least` on that is congruent to `stride` modulo a power of two.
constexpr size_type congruent_pitch(size_type least, size_type stride, size_type modulus) {
  return least + (stride - least) % modulus;
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
  size_type part = divide_up(divide_up(nx, parts), word_elements) * word_elements;
  while (nx % part > 0 && nx % part < word_elements) { part -= word_elements; }
  return part;
}

/// Columns of a panel of few rows: such that warps read rows by whole rounds, wherever they start, or by parts of
/// rounds where rows are many; of short rows even parts.
inline size_type cut_columns(const word_shifted_shape& shape, size_type nx, size_type ny) {
  constexpr size_type access = max_access_bytes;
  const auto element = static_cast<size_type>(shape.element_bytes);
  const size_type word_elements = shape.word_elements();
  const size_type lanes = ny <= most_few_columns ? 32 : ny <= most_rows_by_half_rounds ? 16 : 8;
  const size_type round = lanes * access;
  const size_type row = larger<size_type>(shifted_rows_bytes / (ny * round), 1) * round;
  size_type cols = (row - access - 4) / element;
  if (nx < 2 * cols) {
    cols = divide_up(nx, divide_up(nx * ny * element, shifted_rows_bytes));
    cols = divide_up(cols, word_elements) * word_elements;
  }
  while (nx % cols > 0 && nx % cols < word_elements) {
    cols -= word_elements;
  }  // of a last panel, too
  return cols;
}

/// How matrices are cut into panels, and where these lie in shared memory.
struct word_shifted_cut {
  size_type matrices = 1;  ///< the panel, in elements of the input
  size_type rows;
  size_type cols;
  size_type panels;  ///< of a matrix
  size_type blocks;
  size_type columns;    ///< groups of columns that are transposed together
  size_type groups;     ///< and of rows
  size_type in_pitch;   ///< shared bytes from row to row of the input
  size_type out_pitch;  ///< and of the output
  size_type out_place;  ///< where the output is
  size_type shared_bytes;

  bool fits(size_type most_shared_bytes) const {
    return blocks <= max_blocks &&
           (shared_bytes <= default_shared_bytes || shared_bytes <= most_shared_bytes);
  }
};

/// Precondition: takes_word_shifted says so of the shape's kind.
/// \param shared_bytes  what a block may ask for
inline word_shifted_cut cut_word_shifted(const tile_problem& problem, size_type batch,
                                         const word_shifted_shape& shape, size_type shared_bytes) {
  constexpr size_type access = max_access_bytes;
  const auto element = static_cast<size_type>(shape.element_bytes);
  const size_type word_elements = shape.word_elements();
  const size_type skew = shape.skew_rows();
  const size_type nx = problem.nx;
  const size_type ny = problem.ny;
  word_shifted_cut cut{};
  cut.matrices = 1;
  cut.rows = ny;
  cut.cols = nx;
  if (shape.joins_matrices()) {
    cut.matrices = larger<size_type>(shifted_matrices_bytes / (nx * ny * element), 1);
    // Of short columns, one a thread, as many as threads take in whole rounds.
    const size_type columns = divide_up(nx, word_elements);
    const size_type rounds = cut.matrices * columns / shape.threads;
    if (columns < shape.threads && rounds > 0) {
      cut.matrices = smaller(cut.matrices, rounds * shape.threads / columns);
    }
    cut.matrices = smaller(cut.matrices, batch);
    if (nx * ny * element > shifted_matrices_bytes) {
      cut.cols = choose_part(nx, ny * element, word_elements, shared_bytes);
    }
  } else if (shape.joins_rows) {
    cut.rows =
        larger<size_type>(shifted_columns_bytes / (nx * element) / sector_bytes, 2) * sector_bytes;
  } else {
    cut.cols = cut_columns(shape, nx, ny);
  }
  cut.panels = shape.joins_matrices() ? 1 : divide_up(ny, cut.rows) * divide_up(nx, cut.cols);
  cut.blocks = divide_up(batch, cut.matrices) * cut.panels;
  cut.columns = divide_up(cut.cols, word_elements);
  cut.groups = divide_up(cut.rows + skew, word_elements);
  // Rows that are copied one by one do not share accesses.
  cut.in_pitch = shape.joins_rows ? problem.in_stride_bytes
                                  : congruent_pitch(cut.cols * element + 4 + 2 * (access - 1),
                                                    problem.in_stride_bytes, shape.in_line);

  // The input: accesses, the next word of the last one, and where lines begin.
  size_type in_bytes = cut.matrices * cut.rows * nx * element;
  if (!shape.joins_cols) { in_bytes = (cut.groups + 1) * word_elements * cut.in_pitch; }
  if (!shape.joins_rows) { in_bytes = cut.rows * cut.in_pitch; }
  in_bytes += 4 + access + 2 * shape.in_line;
  // The output. Words of rows above a segment's sector are written before it; segments end as late as the last one.
  cut.out_pitch = problem.out_stride_bytes;
  size_type out_bytes = cut.matrices * cut.cols * ny * element + 3 * access;
  if (!shape.joins_cols) {
    cut.out_pitch =
        congruent_pitch(cut.rows * element + 3 * sector_bytes, cut.out_pitch, sector_bytes);
    out_bytes = cut.cols * cut.out_pitch + sector_bytes;
  }
  cut.out_place = divide_up(in_bytes, sector_bytes) * sector_bytes + skew * element;
  cut.shared_bytes = cut.out_place + out_bytes;
  return cut;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
