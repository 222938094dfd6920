// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From a transpose or from rows to the mover for little work, if it takes them.

#pragma once

#include <tiletranspose/detail/rows/row_plan.cuh>
#include <tiletranspose/detail/small/small_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline small_batch batch_of(const tile_problem& problem) {
  return {problem.in, problem.out, static_cast<long long>(problem.in_batch_bytes),
          static_cast<long long>(problem.out_batch_bytes), problem.pointer_arrays};
}

/// Moves a transpose if it is little work: true, with the launch's status.
/// \param bits  those that some address or stride has
template <class Operation>
bool transpose_little(const tile_problem& problem, size_type batch, size_type bits, int in_element,
                      int out_element, const Operation& operation, cudaStream_t stream,
                      cudaError_t& status) {
  const auto element = static_cast<size_type>(larger(in_element, out_element));
  const bool whole = (bits | (problem.nx | problem.ny) * element) % max_access_bytes == 0;
  const small_mover mover = choose_small_transpose(problem, batch, in_element, out_element, whole);
  if (mover == small_mover::none) { return false; }
  status = launch_small<true>(mover, small_transpose(problem, batch, in_element, out_element),
                              batch_of(problem), operation, stream);
  return true;
}

/// Moves rows, out of place, if they are little work: true, with the launch's status.
template <class Operation>
bool move_little_rows(const row_problem& rows, const Operation& operation, cudaStream_t stream,
                      cudaError_t& status) {
  const auto bytes = [](size_type count) { return static_cast<long long>(count); };
  const auto element = static_cast<int>(rows.element_bytes);
  if (rows.length > most_small_elements || rows.rows > most_small_elements) { return false; }
  small_problem work{{rows.length, element, element},
                     {rows.rows, bytes(rows.in_pitch), bytes(rows.out_pitch)},
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
  const small_mover mover = choose_small(work, false);
  if (mover == small_mover::none) { return false; }
  status = launch_small<false>(mover, work, batch, operation, stream);
  return true;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
