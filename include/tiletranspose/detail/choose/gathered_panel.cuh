// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which matrices have so few columns or rows, or are so small, that they are moved in panels: the rule that counts
/// where tiles are not better. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/tuning_panel.cuh>
#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/request/problem.cuh>
#include <tiletranspose/policy.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What a panel is made of.
enum class panel_kind {
  none,
  few_columns,    ///< some rows of a matrix of few columns
  few_rows,       ///< some columns of a matrix of few rows
  small_matrices  ///< several matrices of a batch
};

/// The largest matrix that a panel holds, in bytes, where a block may ask for so many bytes of shared memory.
constexpr size_type largest_matrix_bytes(int access_bytes, bool whole, size_type shared_bytes) {
  const size_type blocks = access_bytes < 4 ? blocks_of_largest_matrix : blocks_of_largest_words;
  return whole && access_bytes != 2
             ? large_matrix_bytes.value
             : larger(large_matrix_bytes.value, shared_bytes / blocks - 2048);
}

/// True where so few columns, or rows, of elements of at least 3 bytes are better off in panels than in tiles.
/// \param whole  the tiles are moved by whole accesses
inline bool are_few(size_type count, size_type element, int access_bytes, bool whole,
                    bool columns) {
  if (whole) { return count <= most_few_of_whole; }
  if (access_bytes >= 4) {
    return count <= most_few_words && count * element <= most_few_word_bytes;
  }
  return count <= most_few_packed &&
         count * element <= (columns ? most_few_packed_columns : most_few_packed_rows);
}

/// The same of columns and rows of elements of 1 and 2 bytes. `shifts`: word-shifted panels take them.
inline bool are_few_small_columns(size_type nx, size_type element, size_type tile_cols,
                                  bool shifts) {
  return 2 * nx <= tile_cols || nx <= most_few_columns ||
         (shifts && nx <= most_shifted_columns && nx * element <= most_shifted_row_bytes);
}
inline bool are_few_small_rows(size_type nx, size_type ny, size_type element, size_type tile_rows,
                               bool shifts) {
  return 2 * ny <= tile_rows || ny <= most_few_columns ||
         (shifts && nx * element >= least_shifted_row_bytes && ny <= most_shifted_rows &&
          ny * element <= most_shifted_column_bytes);
}

/// The panels that a problem is better off in than in tiles of tile_rows x tile_cols, if any.
/// \param whole  the tiles are moved by whole accesses
/// \param access_bytes  what addresses allow
/// \param batch  matrices; the pointers of `pointer_arrays` are taken one by one
/// \param shared_bytes  what a block may ask for
inline panel_kind choose_panel(const tile_problem& problem, size_type batch, size_type element,
                               size_type tile_rows, size_type tile_cols, bool whole,
                               int access_bytes, size_type shared_bytes) {
  const bool in_dense = is_dense(problem.in_stride_bytes, problem.nx * element);
  const bool out_dense = is_dense(problem.out_stride_bytes, problem.ny * element);
  const bool takes_columns = in_dense || goes_in_panels_apart(problem.nx, element, true);
  const bool takes_rows = out_dense || goes_in_panels_apart(problem.ny, element, false);
  const size_type largest = largest_matrix_bytes(access_bytes, whole, shared_bytes);
  const bool fits = problem.nx <= largest / problem.ny / element;
  // What word-shifted panels do not take has limits of its own.
  const bool shifts = element <= 2 && access_bytes == static_cast<int>(element) && batch == 1 &&
                      !problem.pointer_arrays && problem.in_stride_bytes == problem.nx * element;
  const bool tiny = element <= 2;
  const bool few_columns = tiny ? are_few_small_columns(problem.nx, element, tile_cols, shifts)
                                : are_few(problem.nx, element, access_bytes, whole, true);
  const bool forwards = problem.out_stride_bytes == problem.ny * element;
  const bool few_rows =
      tiny ? are_few_small_rows(problem.nx, problem.ny, element, tile_rows, shifts && forwards)
           : are_few(problem.ny, element, access_bytes, whole, false);
  if (fits && batch > 1 && in_dense && out_dense && !problem.pointer_arrays) {
    return panel_kind::small_matrices;
  }
  if (few_rows && takes_rows && (!few_columns || problem.ny <= problem.nx)) {
    return panel_kind::few_rows;
  }
  if (few_columns && takes_columns) { return panel_kind::few_columns; }
  if (tiny && batch > 1 && out_dense && !whole && problem.ny <= short_rows) {
    return panel_kind::few_rows;
  }
  return panel_kind::none;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
