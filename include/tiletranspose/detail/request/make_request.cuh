// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From the arguments of a call to a request, whose types are gone.

#pragma once

#include <type_traits>

#include <tiletranspose/detail/request/request.cuh>
#include <tiletranspose/tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A dense matrix, or a batch of them.
template <class Out, class In>
transpose_request dense_request(Out* out, const In* in, size_type nx, size_type ny,
                                size_type batch = 1, size_type out_batch = 0,
                                size_type in_batch = 0) {
  return {in, out, nx, ny, nx, ny, batch, in_batch, out_batch, sizeof(In), sizeof(Out), false};
}

/// Pitched matrices; shapes that do not match are turned into a request that is refused.
template <class Out, class In>
transpose_request fused_request(matrix_view<Out> out, matrix_view<In> in) {
  const bool empty = in.rows == 0 || in.cols == 0;
  const bool fits = out.rows == in.cols && out.cols == in.rows;
  return {in.data,     fits || empty ? out.data : nullptr,
          in.cols,     in.rows,
          in.stride,   out.stride,
          1,           0,
          0,           sizeof(In),
          sizeof(Out), false};
}

template <class T>
constexpr bool check_output() {
  static_assert(!std::is_const<T>::value, "tt: the output's elements must not be const");
  return true;
}

template <class T, class Element>
transpose_request view_request(matrix_view<T> out, matrix_view<Element> in) {
  static_assert(check_output<T>(), "");
  static_assert(
      std::is_same<typename remove_const<Element>::type, typename remove_const<T>::type>::value,
      "tt: input and output must have the same element type; transform_transpose converts");
  return fused_request(out, in);
}

/// Matrices behind device arrays of pointers.
template <class T>
transpose_request pointers_request(T* const* outs, const T* const* ins, size_type nx, size_type ny,
                                   size_type batch) {
  return {ins, const_cast<T**>(outs), nx, ny, nx, ny, batch, 0, 0, sizeof(T), sizeof(T), true};
}

/// A matrix that is input and output.
template <class T>
transpose_request inplace_request(matrix_view<T> data) {
  static_assert(check_output<T>(), "");
  return {data.data, data.data, data.cols, data.rows, data.stride, data.stride,
          1,         0,         0,         sizeof(T), sizeof(T),   false};
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
