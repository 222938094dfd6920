// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A matrix of any shape in its own memory: checked, then moved through scratch as large as itself, or by permutations of
/// its rows and columns. Kernels know matrices of more rows than columns; that of others is undone step by step.

#pragma once

#include <tiletranspose/detail/calls/transpose.cuh>
#include <tiletranspose/detail/inplace/rectangle.cuh>
#include <tiletranspose/detail/inplace/square.cuh>
#include <tiletranspose/detail/rows/row_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The two calls of a caller with scratch memory: how much of it is needed, and the transpose of a dense matrix.
template <int ElementBytes, int Alignment>
cudaError_t run_with_scratch(void* temp, size_type& temp_bytes, const transpose_request& request,
                             cudaStream_t stream) {
  size_type bytes = 0;
  if (!multiplies(request.nx, request.ny, bytes) || !multiplies(bytes, ElementBytes, bytes)) {
    return cudaErrorInvalidValue;
  }
  const size_type least = least_scratch(request.nx, request.ny, ElementBytes);
  if (temp == nullptr) {
    temp_bytes = least;
    return cudaSuccess;
  }
  const verdict answer = examine_scratch(request, temp, temp_bytes, least);
  if (answer != verdict::go) { return status_of(answer); }
  if (request.nx == 1 || request.ny == 1) { return cudaSuccess; }  // a vector stays as it is
  if (request.nx == request.ny) {
    return transpose_square<ElementBytes, Alignment>(make_problem(request), stream);
  }
  if (temp_bytes >= bytes) {
    transpose_request copy = request;
    copy.out = temp;
    copy.out_stride = request.ny;
    const cudaError_t status =
        transpose_problem<ElementBytes, Alignment, matrices::one>(make_problem(copy), stream);
    if (status != cudaSuccess) { return status; }
    return share_words(request.out, temp)
               ? cudaMemcpyAsync(request.out, temp, bytes, cudaMemcpyDeviceToDevice, stream)
               : copy_rows<0>(request.out, bytes, temp, bytes, bytes, 1, stream);
  }
  const rectangle_problem problem{static_cast<unsigned char*>(request.out),
                                  static_cast<unsigned char*>(temp),
                                  temp_bytes,
                                  larger(request.nx, request.ny),
                                  smaller(request.nx, request.ny),
                                  ElementBytes,
                                  request.nx > request.ny};
  const size_type bits =
      reinterpret_cast<size_type>(request.out) | reinterpret_cast<size_type>(temp);
  return with_access<ElementBytes, Alignment>(bits, [&](auto width) {
    return problem.undo
               ? launch_rectangle<true, ElementBytes, decltype(width)::value>(problem, stream)
               : launch_rectangle<false, ElementBytes, decltype(width)::value>(problem, stream);
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
