// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Transposes and rows as the problems of the mover for little work. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/choose_small.cuh>
#include <tiletranspose/detail/rows/row_plan.cuh>
#include <tiletranspose/detail/small/small_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline small_batch batch_of(const tile_problem& problem) {
  return {problem.in, problem.out, static_cast<long long>(problem.in_batch_bytes),
          static_cast<long long>(problem.out_batch_bytes), problem.pointer_arrays};
}

/// True where the registers hold elements of a type that are loaded together, as those of a fused call are.
template <class T>
inline constexpr bool loads_together = sizeof(T) / access_width(sizeof(T), alignof(T)) <= 4 &&
                                       sizeof(T) <= 16;

/// A transpose as little work without panels, as those with an operation are, and what moves it.
/// \param bits  those that some address or stride has
struct little_operation {
  small_problem problem;
  small_mover mover;

  little_operation(const tile_problem& transpose, size_type batch, size_type bits, int in_element,
                   int out_element)
      : problem(small_transpose(transpose, batch, in_element, out_element)) {
    problem.has_panel = false;
    const size_type rows =
        (transpose.nx | transpose.ny) * static_cast<size_type>(larger(in_element, out_element));
    mover = choose_small(problem, (bits | rows) % max_access_bytes == 0);
  }
};

struct little_rows {
  small_problem problem;
  small_batch batch;
};

/// Rows that run backwards start at their last element, and have a negative stride. Rows without gaps are one.
inline little_rows make_little_rows(const row_problem& rows) {
  const auto bytes = [](size_type count) { return static_cast<long long>(count); };
  const auto element = static_cast<int>(rows.element_bytes);
  small_problem work{{rows.length, element, element},
                     axis_of(rows.rows, rows.in_pitch, rows.out_pitch),
                     rows.batch,
                     element,
                     false};
  small_batch batch{rows.in, rows.out, bytes(rows.in_batch_bytes), bytes(rows.out_batch_bytes),
                    rows.pointer_arrays};
  long long first = 0;  // bytes from where the input starts to the element that comes first
  if (rows.reverses) {
    first += (bytes(rows.length) - 1) * element;
    work.fast.in_stride = -element;
  }
  if (rows.from_last_row) {
    first += (bytes(rows.rows) - 1) * work.slow.in_stride;
    work.slow.in_stride = -work.slow.in_stride;
  }
  if (rows.pointer_arrays) {
    batch.in_stride += first;
  } else {
    batch.in = static_cast<const unsigned char*>(rows.in) + first;
  }
  const bool dense = work.slow.in_stride == work.fast.in_stride * bytes(rows.length) &&
                     work.slow.out_stride == work.fast.out_stride * bytes(rows.length);
  if (dense) {  // one row
    work.fast.extent *= work.slow.extent;
    work.slow.extent = 1;
  }
  return {work, batch};
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
