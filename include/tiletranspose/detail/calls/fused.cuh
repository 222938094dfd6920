// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Fused transposes: checked, then moved as little work or by tiles.

#pragma once

#include <tiletranspose/detail/calls/launch.cuh>
#include <tiletranspose/detail/calls/little_fused.cuh>
#include <tiletranspose/detail/tile/fused_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Moves a transpose with a function on the way: as little work, or by tiles.
template <fusion Kind, class In, class Out, matrices Matrices, class Op>
cudaError_t transform_problem(const tile_problem& problem, size_type batch, const Op& op,
                              cudaStream_t stream) {
  cudaError_t little = cudaSuccess;
  return transform_little<Kind, In, Out, Matrices>(problem, batch, {}, op, stream, little)
             ? little
             : launch_fused<Kind, In, Out>(problem, batch, {}, op, stream);
}

/// out(x, y) = op(in(y, x)), of each matrix of a batch, or with the old out(x, y) as a second argument, of one matrix.
template <fusion Kind, class In, class Out, matrices Matrices, class Op>
cudaError_t transform_elements(const transpose_request& request, const Op& op,
                               cudaStream_t stream) {
  static_assert(Kind != fusion::dual, "that one takes a third matrix");
  const verdict answer = examine(request);
  if (answer != verdict::go) { return status_of(answer); }
  if constexpr (is_fusible<Kind, In, Out, Op>()) {  // else one sentence has been said
    return transform_problem<Kind, In, Out, Matrices>(make_problem(request), request.batch, op,
                                                      stream);
  } else {
    return cudaErrorInvalidValue;
  }
}

/// copy(y, x) = out(x, y) = op(in(y, x)); `copy_stride` in elements.
template <class In, class Out, class Op>
cudaError_t transform_twice(const transpose_request& request, Out* copy, size_type copy_stride,
                            const Op& op, cudaStream_t stream) {
  verdict answer = examine(request);
  if (answer == verdict::go) { answer = examine_copy(request, copy, copy_stride); }
  if (answer != verdict::go) { return status_of(answer); }
  const size_type stride_bytes = copy_stride * sizeof(Out);
  if constexpr (is_fusible<fusion::dual, In, Out, Op>()) {
    const tile_problem problem = make_problem(request);
    const second_output second{reinterpret_cast<unsigned char*>(copy), stride_bytes};
    cudaError_t little = cudaSuccess;
    return transform_little<fusion::dual, In, Out, matrices::one>(problem, 1, second, op, stream,
                                                                  little)
               ? little
               : launch_fused<fusion::dual, In, Out>(problem, 1, {copy, stride_bytes, 0, false}, op,
                                                     stream);
  } else {
    return cudaErrorInvalidValue;
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
