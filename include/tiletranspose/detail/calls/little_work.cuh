// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From a transpose or from rows to the mover for little work, if it takes them.

#pragma once

#include <tiletranspose/detail/calls/little_problem.cuh>
#include <tiletranspose/detail/small/small_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Moves a transpose with an operation if it is little work: true, with the launch's status.
/// \param bits  those that some address or stride has
template <fusion Kind, int InElement, int OutElement, matrices Matrices, class Operation>
bool transpose_little(const tile_problem& problem, size_type batch, size_type bits,
                      const Operation& operation, cudaStream_t stream, cudaError_t& status) {
  constexpr int element = larger(InElement, OutElement);
  if constexpr (has_little_work(element, element, true)) {
    const little_operation work(Kind, problem, batch, bits, InElement, OutElement);
    if (work.mover == small_mover::none) { return false; }
    status = launch_small<true>(work.mover, work.problem, batch_of<Matrices>(problem), operation,
                                stream);
    return true;
  } else {
    return false;
  }
}

/// Moves rows, out of place, if they are little work: true, with the launch's status.
template <matrices Matrices, class Operation>
bool move_little_rows(const row_problem& rows, const Operation& operation, cudaStream_t stream,
                      cudaError_t& status) {
  if constexpr (has_little_work(Operation::in_bytes, Operation::in_bytes / Operation::accesses,
                                false)) {
    const little_rows work = make_little_rows(rows);
    const small_mover mover = choose_small_rows(work.problem);
    if (mover == small_mover::none) { return false; }
    status = launch_small<false>(mover, work.problem, batch_of<Matrices>(rows, work.first),
                                 operation, stream);
    return true;
  } else {
    return false;
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
