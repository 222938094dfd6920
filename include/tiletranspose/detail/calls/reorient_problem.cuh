// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From a symmetry to a transpose or to rows. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/request/problem.cuh>
#include <tiletranspose/detail/rows/row_plan.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The problem with its first row moved to where the last one is, and a stride that leads back.
inline tile_problem run_backwards(tile_problem problem, symmetry s) {
  if (reverses_rows(s)) {
    const size_type to_last = (problem.ny - 1) * problem.in_stride_bytes;
    if (problem.pointer_arrays) {
      problem.in_batch_bytes += to_last;
    } else {
      problem.in = static_cast<const unsigned char*>(problem.in) + to_last;
    }
    problem.in_stride_bytes = size_type{0} - problem.in_stride_bytes;
  }
  if (reverses_cols(s)) {
    const size_type to_last = (problem.nx - 1) * problem.out_stride_bytes;
    if (problem.pointer_arrays) {
      problem.out_batch_bytes += to_last;
    } else {
      problem.out = static_cast<unsigned char*>(problem.out) + to_last;
    }
    problem.out_stride_bytes = size_type{0} - problem.out_stride_bytes;
  }
  return problem;
}

inline row_problem make_rows(const transpose_request& request, symmetry s) {
  const tile_problem problem = make_problem(request);
  return {problem.in,
          problem.out,
          problem.in_stride_bytes,
          problem.out_stride_bytes,
          problem.in_batch_bytes,
          problem.out_batch_bytes,
          request.batch,
          request.ny,
          request.nx,
          request.in_element,
          problem.pointer_arrays,
          reverses_rows(s),
          reverses_cols(s)};
}

/// A vector without gaps, whatever its direction: an array, whose order a symmetry may reverse.
inline row_problem make_vector_rows(transpose_request request, symmetry s) {
  const bool reversed = request.nx == 1 ? reverses_rows(s) : reverses_cols(s);
  request.nx *= request.ny;
  request.ny = 1;
  request.in_stride = request.out_stride = request.nx;
  return make_rows(request, reversed ? symmetry::flip_lr : symmetry::identity);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
