// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From a symmetry to launches. One that transposes is a transpose whose input rows, output rows or both run backwards:
/// columns taken from the last to the first are output rows written from the last to the first. One that does not moves rows.

#pragma once

#include <tiletranspose/detail/calls/transpose.cuh>
#include <tiletranspose/detail/inplace/square.cuh>
#include <tiletranspose/detail/panel/panel_launch.cuh>
#include <tiletranspose/detail/rows/row_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Rows that stay rows, out of place. `IsArray`: they are one row, reversed.
template <int ElementBytes, int Alignment, matrices Matrices, bool IsArray = false>
cudaError_t move_rows_of(const row_problem& rows, cudaStream_t stream) {
  return with_access<ElementBytes, Alignment>(row_bits(rows, Alignment), [&](auto width) {
    constexpr int access = decltype(width)::value;
    if constexpr (has_little_work(ElementBytes, access, false)) {
      const little_rows work = make_little_rows(rows);
      const small_mover mover = choose_small_rows(work.problem);
      if (mover != small_mover::none) {
        return launch_small<false>(mover, work.problem, batch_of<Matrices>(work.sides),
                                   copy_operation<ElementBytes, access>{}, stream);
      }
    }
    if constexpr (reverses_in_panels(ElementBytes) && !IsArray) {
      const row_problem joined = join_rows(rows);
      if (goes_in_panels(joined, access)) {
        return launch_panels<access>(relocation_of(joined), stream);
      }
    }
    return launch_rows<ElementBytes, Alignment, IsArray>(rows, stream);
  });
}

/// Any symmetry, out of place.
/// \tparam Transposes  the symmetry may; what only those need that do is not compiled else
template <int ElementBytes, int Alignment, matrices Matrices, bool Transposes = true,
          bool IsArray = false>
cudaError_t run_reorient(const transpose_request& request, symmetry s, cudaStream_t stream) {
  const verdict answer = examine(request, s);
  if (answer != verdict::go) { return status_of(answer); }
  if constexpr (Transposes) {
    if (transposes(s) && !is_vector(request)) {
      return transpose_problem<ElementBytes, Alignment, Matrices>(
          run_backwards(make_problem(request), reverses_rows(s), reverses_cols(s)), stream);
    }
  }
  return move_rows_of<ElementBytes, Alignment, Matrices, IsArray>(
      transposes(s) ? make_vector_rows(request, s) : make_rows(request, s), stream);
}

/// In place. Quarter rotations and the anti-transpose of a square take two passes: it is transposed, and then flipped.
template <int ElementBytes, int Alignment, bool Transposes = true>
cudaError_t run_reorient_inplace(const transpose_request& request, symmetry s,
                                 cudaStream_t stream) {
  const verdict answer = examine_inplace(request, s);
  if (answer != verdict::go) { return status_of(answer); }
  if constexpr (Transposes) {
    if (transposes(s)) {
      const cudaError_t status =
          transpose_square<ElementBytes, Alignment>(make_problem(request), stream);
      if (status != cudaSuccess) { return status; }
      s = compose(s, symmetry::transpose);
    }
  }
  if (s == symmetry::identity) { return cudaSuccess; }
  return launch_rows<ElementBytes, Alignment>(make_rows(request, s), stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
