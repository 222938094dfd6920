// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From a symmetry to launches. One that transposes is a transpose whose input rows, output rows or both run
/// backwards: columns taken from the last to the first are output rows written from the last to the first.
/// One that does not moves rows.

#pragma once

#include <tiletranspose/detail/calls/launch.cuh>
#include <tiletranspose/detail/calls/reorient_problem.cuh>
#include <tiletranspose/detail/inplace/square.cuh>
#include <tiletranspose/detail/rows/row_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Rows that stay rows, out of place.
template <int ElementBytes, int Alignment>
cudaError_t move_rows_of(const row_problem& rows, cudaStream_t stream) {
  return with_access<ElementBytes, Alignment>(row_bits(rows, Alignment), [&](auto width) {
    cudaError_t little = cudaSuccess;
    const copy_operation<ElementBytes, decltype(width)::value> operation;
    return move_little_rows(rows, operation, stream, little)
               ? little
               : launch_rows<ElementBytes, Alignment>(rows, stream);
  });
}

template <int ElementBytes, int Alignment>
cudaError_t reorient_bytes(const transpose_request& request, symmetry s, cudaStream_t stream) {
  const verdict answer = examine(request, s);
  if (answer != verdict::go) { return status_of(answer); }
  if (!transposes(s)) {
    return move_rows_of<ElementBytes, Alignment>(make_rows(request, s), stream);
  }
  if (is_vector(request)) {
    return move_rows_of<ElementBytes, Alignment>(make_vector_rows(request, s), stream);
  }
  return transpose_problem<ElementBytes, Alignment>(run_backwards(make_problem(request), s),
                                                    request.batch, stream);
}

/// Squares are rotated in two passes: they are transposed, and then flipped.
template <int ElementBytes, int Alignment>
cudaError_t reorient_bytes_inplace(const transpose_request& request, symmetry s,
                                   cudaStream_t stream) {
  const verdict answer = examine_inplace(request, s);
  if (answer != verdict::go) { return status_of(answer); }
  if (transposes(s)) {
    const cudaError_t status =
        transpose_square<ElementBytes, Alignment>(make_problem(request), stream);
    if (status != cudaSuccess) { return status; }
    s = compose(s, symmetry::transpose);
  }
  if (s == symmetry::identity) { return cudaSuccess; }
  return launch_rows<ElementBytes, Alignment>(make_rows(request, s), stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
