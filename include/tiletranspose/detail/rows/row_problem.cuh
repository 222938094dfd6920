// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Rows that stay rows, and which of them are one longer row. Host only.

#pragma once

#include <tiletranspose/detail/choose/choose_rows.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Rows to be moved; sizes and pitches in bytes where the name says so. `from_last_row` takes the rows from
/// the last to the first, `reverses` each row likewise.
struct row_problem {
  const void* in;
  void* out;
  size_type in_pitch;
  size_type out_pitch;
  size_type in_batch_bytes;
  size_type out_batch_bytes;
  size_type batch;
  size_type rows;
  size_type length;  // elements
  size_type element_bytes;
  bool pointer_arrays;
  bool from_last_row;
  bool reverses;

  size_type row_bytes() const { return length * element_bytes; }
  bool in_place() const { return in == out; }
  /// True where the rows of a matrix lie one behind the other on both sides.
  bool dense() const { return rows == 1 || (in_pitch == row_bytes() && out_pitch == row_bytes()); }
  /// True where the matrices of a batch do, too.
  bool dense_batch() const {
    return batch == 1 || (!pointer_arrays && in_batch_bytes == rows * in_pitch &&
                          out_batch_bytes == rows * out_pitch);
  }
};

/// The same work with fewer, longer rows: rows that lie one behind the other become one, matrices of
/// one row become the rows of one matrix.
inline row_problem join_rows(row_problem problem) {
  if (problem.length == 1) { problem.reverses = false; }
  if (problem.rows == 1) { problem.from_last_row = false; }
  if (problem.dense() && problem.from_last_row == problem.reverses) {
    problem.length *= problem.rows;  // one array, copied or reversed
    problem.rows = 1;
    problem.from_last_row = false;
  } else if (problem.dense() && problem.from_last_row &&
             problem.row_bytes() <= most_element_bytes(problem.row_bytes())) {
    problem.element_bytes *= problem.length;  // an array of rows, reversed
    problem.length = problem.rows;
    problem.rows = 1;
    problem.from_last_row = false;
    problem.reverses = true;
  }
  if (problem.rows == 1) {
    problem.in_pitch = problem.out_pitch = problem.row_bytes();
    if (!problem.pointer_arrays) {
      problem.rows = problem.batch;
      problem.in_pitch = problem.in_batch_bytes;
      problem.out_pitch = problem.out_batch_bytes;
      problem.batch = 1;
    }
  } else if (!problem.from_last_row && problem.dense_batch()) {
    problem.rows *= problem.batch;
    problem.batch = 1;
  }
  if (!problem.reverses) {
    problem.length *= problem.element_bytes;  // bytes are bytes
    problem.element_bytes = 1;
    if (!problem.from_last_row && problem.batch == 1 && problem.dense()) {
      problem.length *= problem.rows;
      problem.rows = 1;
    }
  }
  return problem;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
