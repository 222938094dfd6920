// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From a transpose or from rows to the mover for little work, if it takes them.

#pragma once

#include <tiletranspose/detail/rows/row_plan.cuh>
#include <tiletranspose/detail/small/small_launch.cuh>
#include <tiletranspose/detail/tile/tile_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A transpose as a small problem: rows of the output run along `fast`, rows of the input along `slow`.
inline small_problem small_transpose(const tile_problem& problem, size_type batch, int in_element,
                                     int out_element) {
  const auto stride = [](size_type bytes) { return static_cast<long long>(bytes); };
  return {{problem.ny, stride(problem.in_stride_bytes), out_element},
          {problem.nx, in_element, stride(problem.out_stride_bytes)},
          batch,
          larger(in_element, out_element),
          true};
}

inline small_batch batch_of(const tile_problem& problem) {
  return {problem.in, problem.out, static_cast<long long>(problem.in_batch_bytes),
          static_cast<long long>(problem.out_batch_bytes), problem.pointer_arrays};
}

/// What problems of more elements need not ask.
inline constexpr size_type most_small_elements = 5'000'000;

/// Moves a transpose if it is little work: true, with the launch's status.
/// \param bits  those that some address or stride has
template <class Operation>
bool transpose_little(const tile_problem& problem, size_type batch, size_type bits, int in_element,
                      int out_element, const Operation& operation, cudaStream_t stream,
                      cudaError_t& status) {
  if (problem.nx > most_small_elements || problem.ny > most_small_elements) { return false; }
  const small_problem work = small_transpose(problem, batch, in_element, out_element);
  const size_type rows = (problem.nx | problem.ny) * static_cast<size_type>(work.element_bytes);
  const small_mover mover = choose_small(work, (bits | rows) % max_access_bytes == 0);
  if (mover == small_mover::none) { return false; }
  status = launch_small<true>(mover, work, batch_of(problem), operation, stream);
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
