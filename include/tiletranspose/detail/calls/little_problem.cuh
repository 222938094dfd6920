// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Transposes and rows as the problems of the mover for little work. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/choose_small.cuh>
#include <tiletranspose/detail/choose/fused_policy.cuh>
#include <tiletranspose/detail/rows/row_plan.cuh>
#include <tiletranspose/detail/small/small_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Where the matrices of a problem are; their first element lies `first` bytes into the input.
/// Precondition: `Matrices` says the truth.
template <matrices Matrices>
small_batch<Matrices> batch_of(const tile_problem& problem, long long first = 0) {
  using batch = small_batch<Matrices>;
  const auto in = static_cast<typename batch::in_data>(problem.in);
  const auto out = static_cast<typename batch::out_data>(problem.out);
  const auto in_step = static_cast<long long>(problem.in_batch_bytes);
  const auto out_step = static_cast<long long>(problem.out_batch_bytes);
  if constexpr (Matrices == matrices::one) {
    return {in + first, out};
  } else if constexpr (Matrices == matrices::pointers) {
    return {in, out, in_step + first, out_step};
  } else {
    return {in + first, out, in_step, out_step};
  }
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

  little_operation(fusion kind, const tile_problem& transpose, size_type batch, size_type bits,
                   int in_element, int out_element)
      : problem(small_transpose(transpose, batch, in_element, out_element)) {
    problem.kept_bytes = calls_as_stored(kind, in_element, out_element) ? in_element : out_element;
    problem.operation =
        kind == fusion::dual ? small_operation::two_outputs : small_operation::one_output;
    const size_type rows =
        (transpose.nx | transpose.ny) * static_cast<size_type>(larger(in_element, out_element));
    mover = choose_small_operation(problem, (bits | rows) % max_access_bytes == 0);
  }
};

struct little_rows {
  small_problem problem;
  long long
      first;  ///< bytes from where a matrix of the input starts to the element that comes first
};

/// Rows that run backwards start at their last element, and have a negative stride. Rows without gaps are one.
inline little_rows make_little_rows(const row_problem& rows) {
  const auto bytes = [](size_type count) { return static_cast<long long>(count); };
  const auto element = static_cast<int>(rows.element_bytes);
  small_problem work{{rows.nx, element, element},
                     axis_of(rows.ny, rows.in_stride_bytes, rows.out_stride_bytes),
                     rows.batch,
                     element,
                     element,
                     false};
  long long first = 0;
  if (rows.reverses) {
    first += (bytes(rows.nx) - 1) * element;
    work.fast.in_stride = -element;
  }
  if (rows.from_last_row) {
    first += (bytes(rows.ny) - 1) * work.slow.in_stride;
    work.slow.in_stride = -work.slow.in_stride;
  }
  const bool dense = work.slow.in_stride == work.fast.in_stride * bytes(rows.nx) &&
                     work.slow.out_stride == work.fast.out_stride * bytes(rows.nx);
  if (dense) {  // one row
    work.fast.extent *= work.slow.extent;
    work.slow.extent = 1;
  }
  return {work, first};
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
