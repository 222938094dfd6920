// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Launch wrappers: every symmetry of a vector and of a rectangle in device memory, out of place and, where
/// the shape stays, in place.
///
///     #include <tiletranspose/reverse.cuh>
///
///     cudaError_t status = tt::reverse(out, in, n, stream);
///     status = tt::rotate(out, in, nx, ny, -1, stream);                              // a quarter turn clockwise
///     status = tt::reorient(out_view, in_view, tt::symmetry::anti_transpose, stream);
///     status = tt::flip_ud_inplace(image, nx, ny, stream);
///
/// What transpose.cuh says at its top holds for all of them: any trivially copyable element of 1 to 64 bytes,
/// any shape, stride and alignment; asynchronous, no allocation, no cleared error; cudaErrorInvalidValue before
/// anything is launched, and `out` as it was, for bad input. Functions that work in place say so in their
/// name; the others refuse input and output that share a byte.

#pragma once

#if defined(__CUDACC_RTC__)
#error \
    "tt: reverse.cuh launches kernels from the host; under NVRTC include tiletranspose/block_reverse.cuh"
#endif

#include <tiletranspose/detail/calls/reorient.cuh>
#include <tiletranspose/detail/request/make_request.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A dense matrix, or a batch of them; the output's rows are as long as the symmetry makes them. Flags as of run_reorient.
template <class T, matrices Matrices, bool Transposes = true, bool IsArray = false>
[[nodiscard]] cudaError_t reorient_dense(transpose_request request, symmetry s,
                                         cudaStream_t stream) {
  static_assert(check_element<T>(), "");
  if (!transposes(s)) { request.out_stride = request.nx; }
  return run_reorient<sizeof(T), alignof(T), Matrices, Transposes, IsArray>(request, s, stream);
}

/// In place, where the symmetry does not transpose.
template <class T>
[[nodiscard]] cudaError_t flip_inplace(matrix_view<T> data, symmetry s, cudaStream_t stream) {
  static_assert(check_inplace<T>(), "");
  return run_reorient_inplace<sizeof(T), alignof(T), false>(inplace_request(data), s, stream);
}

}  // namespace detail

/// Applies one of the eight symmetries of a rectangle to a matrix.
///
///     out == s(in), as tt::symmetry defines it
///
/// \param out  as many rows and columns as `in`, or as many columns and rows where `s` transposes; memory
///             between its rows is left alone
/// \param in   strides in elements, at least the number of columns
/// \param s    one of the eight
/// \returns cudaErrorInvalidValue also where the shapes do not match
template <class T, class Element>
[[nodiscard]] cudaError_t reorient(matrix_view<T> out, matrix_view<Element> in, symmetry s,
                                   cudaStream_t stream = nullptr) {
  static_assert(detail::check_matrices<T, Element>(), "");
  return detail::run_reorient<sizeof(T), alignof(T), detail::matrices::one>(
      detail::reorient_request(out, in, s), s, stream);
}

/// Reverses an array.
///
///     out[i] == in[n - 1 - i]    for 0 <= i < n
///
/// \param out,in  n elements each, device memory; they share no byte
/// \returns see the top of this file
template <class T>
[[nodiscard]] cudaError_t reverse(T* out, const T* in, size_type n, cudaStream_t stream = nullptr) {
  return detail::reorient_dense<T, detail::matrices::one, false, true>(
      detail::dense_request(out, in, n, 1), symmetry::flip_lr, stream);
}

/// Mirrors each row: left becomes right.
///
///     out[y * nx + x] == in[y * nx + (nx - 1 - x)]
///
/// \param out,in  ny rows x nx columns each, row-major, device memory; they share no byte
/// \returns see the top of this file
///
///     status = tt::flip_lr(out, in, nx, ny, stream);
template <class T>
[[nodiscard]] cudaError_t flip_lr(T* out, const T* in, size_type nx, size_type ny,
                                  cudaStream_t stream = nullptr) {
  return detail::reorient_dense<T, detail::matrices::one, false>(
      detail::dense_request(out, in, nx, ny), symmetry::flip_lr, stream);
}

/// Reverses the order of the rows: up becomes down.
///
///     out[y * nx + x] == in[(ny - 1 - y) * nx + x]
///
/// Arguments as of flip_lr.
///
///     status = tt::flip_ud(out, in, nx, ny, stream);
template <class T>
[[nodiscard]] cudaError_t flip_ud(T* out, const T* in, size_type nx, size_type ny,
                                  cudaStream_t stream = nullptr) {
  return detail::reorient_dense<T, detail::matrices::one, false>(
      detail::dense_request(out, in, nx, ny), symmetry::flip_ud, stream);
}

/// Rotates a matrix counter-clockwise, as numpy.rot90.
///
///     turns == 1:  out[y * ny + x] == in[x * nx + (nx - 1 - y)]            out: nx rows x ny columns
///     turns == 2:  out[y * nx + x] == in[(ny - 1 - y) * nx + (nx - 1 - x)]
///     turns == 3:  out[y * ny + x] == in[(ny - 1 - x) * nx + y]            out: nx rows x ny columns
///
/// \param in     ny rows x nx columns, row-major, device memory
/// \param turns  quarter turns; any integer, negative ones turn clockwise
template <class T>
[[nodiscard]] cudaError_t rotate(T* out, const T* in, size_type nx, size_type ny, long long turns,
                                 cudaStream_t stream = nullptr) {
  return detail::reorient_dense<T, detail::matrices::one>(detail::dense_request(out, in, nx, ny),
                                                          quarter_turns(turns), stream);
}

/// Mirrors a matrix about its other diagonal, from the lower left to the upper right.
///
///     out[y * ny + x] == in[(ny - 1 - x) * nx + (nx - 1 - y)]    out: nx rows x ny columns
///
/// \param in  ny rows x nx columns, row-major, device memory
///
///     status = tt::anti_transpose(out, in, nx, ny, stream);
template <class T>
[[nodiscard]] cudaError_t anti_transpose(T* out, const T* in, size_type nx, size_type ny,
                                         cudaStream_t stream = nullptr) {
  return detail::reorient_dense<T, detail::matrices::one>(detail::dense_request(out, in, nx, ny),
                                                          symmetry::anti_transpose, stream);
}

/// Applies one of the eight symmetries to each of `batch` matrices that lie one behind the other.
///
///     matrix b of out == s(matrix b of in)    for 0 <= b < batch, nx * ny elements each
///
/// \param in     matrices of ny rows x nx columns
/// \param batch  number of matrices
///
///     status = tt::reorient_batched(out, in, nx, ny, batch, tt::symmetry::rotate_180, stream);
template <class T, typename std::enable_if<!std::is_pointer<T>::value, int>::type = 0>
[[nodiscard]] cudaError_t reorient_batched(T* out, const T* in, size_type nx, size_type ny,
                                           size_type batch, symmetry s,
                                           cudaStream_t stream = nullptr) {
  size_type elements = 0;  // where the product overflows, examine() refuses a stride of 0
  detail::multiplies(nx, ny, elements);
  return detail::reorient_dense<T, detail::matrices::batch>(
      detail::dense_request(out, in, nx, ny, batch, elements, elements), s, stream);
}

/// The same with gaps between the matrices.
/// \param out_batch_stride,in_batch_stride  elements from the start of one matrix to the next, at least
///        nx * ny; memory between the matrices of `out` is left alone
/// \returns cudaErrorInvalidValue also for a batch stride that is less, where there are several matrices
template <class T>
[[nodiscard]] cudaError_t reorient_batched(T* out, size_type out_batch_stride, const T* in,
                                           size_type in_batch_stride, size_type nx, size_type ny,
                                           size_type batch, symmetry s,
                                           cudaStream_t stream = nullptr) {
  return detail::reorient_dense<T, detail::matrices::batch>(
      detail::dense_request(out, in, nx, ny, batch, out_batch_stride, in_batch_stride), s, stream);
}

/// The same for pitched matrices and parts of matrices, as transpose_batched takes them.
///
///     status = tt::reorient_batched(first_out, out_step, first_in, in_step, batch, tt::symmetry::flip_lr, stream);
template <class T, class Element>
[[nodiscard]] cudaError_t reorient_batched(matrix_view<T> out, size_type out_batch_stride,
                                           matrix_view<Element> in, size_type in_batch_stride,
                                           size_type batch, symmetry s,
                                           cudaStream_t stream = nullptr) {
  static_assert(detail::check_matrices<T, Element>(), "");
  return detail::run_reorient<sizeof(T), alignof(T), detail::matrices::batch>(
      detail::reorient_request(out, in, s, batch, out_batch_stride, in_batch_stride), s, stream);
}

/// The same for matrices that lie anywhere.
/// \param outs,ins  arrays of `batch` pointers, themselves in device memory. The matrices must not
///                  overlap, nor a pointer be null or misaligned, which only the caller can know.
template <class T>
[[nodiscard]] cudaError_t reorient_batched(T* const* outs, const T* const* ins, size_type nx,
                                           size_type ny, size_type batch, symmetry s,
                                           cudaStream_t stream = nullptr) {
  return detail::reorient_dense<T, detail::matrices::pointers>(
      detail::pointers_request(outs, ins, nx, ny, batch), s, stream);
}

/// Lays a matrix down again in its own memory, without scratch.
///
///     data becomes s(data)
///
/// One pass for flips, half turns and the transpose; two for the quarter turns and the anti-transpose.
/// \param data  symmetries that transpose take square matrices only; tt::transpose_inplace with scratch
///              takes the others
/// \returns cudaErrorInvalidValue also for those of a matrix that is no square. A launch may fail behind one that did
///          not: quarter turns and the anti-transpose then leave the matrix transposed, and a half turn of an odd
///          number of rows with gaps between them leaves the middle row as it was. The others are one launch, which
///          leaves the data as they were where it fails.
///
///     status = tt::reorient_inplace(tt::matrix_view<float>{image, ny, nx, pitch}, tt::symmetry::flip_lr, stream);
template <class T>
[[nodiscard]] cudaError_t reorient_inplace(matrix_view<T> data, symmetry s,
                                           cudaStream_t stream = nullptr) {
  static_assert(detail::check_inplace<T>(), "");
  return detail::run_reorient_inplace<sizeof(T), alignof(T)>(detail::inplace_request(data), s,
                                                             stream);
}

/// Reverses an array in its own memory. Where the launch fails the data are as they were, here and below,
/// but for quarter turns, which may leave them transposed (reorient_inplace).
///
///     data[i] becomes data[n - 1 - i]    for 0 <= i < n
///
///     status = tt::reverse_inplace(image, nx * ny, stream);
template <class T>
[[nodiscard]] cudaError_t reverse_inplace(T* data, size_type n, cudaStream_t stream = nullptr) {
  return detail::flip_inplace(matrix_view<T>{data, 1, n, n}, symmetry::flip_lr, stream);
}

/// Mirrors each of ny rows of nx elements in place: left becomes right.
///
///     data[y * nx + x] becomes data[y * nx + (nx - 1 - x)]
template <class T>
[[nodiscard]] cudaError_t flip_lr_inplace(T* data, size_type nx, size_type ny,
                                          cudaStream_t stream = nullptr) {
  return detail::flip_inplace(matrix_view<T>{data, ny, nx, nx}, symmetry::flip_lr, stream);
}

/// Reverses the order of ny rows of nx elements in place: up becomes down.
///
///     data[y * nx + x] becomes data[(ny - 1 - y) * nx + x]
template <class T>
[[nodiscard]] cudaError_t flip_ud_inplace(T* data, size_type nx, size_type ny,
                                          cudaStream_t stream = nullptr) {
  return detail::flip_inplace(matrix_view<T>{data, ny, nx, nx}, symmetry::flip_ud, stream);
}

/// Turns a matrix of ny rows of nx elements by half in place.
///
///     data[y * nx + x] becomes data[(ny - 1 - y) * nx + (nx - 1 - x)]
template <class T>
[[nodiscard]] cudaError_t rotate_180_inplace(T* data, size_type nx, size_type ny,
                                             cudaStream_t stream = nullptr) {
  return detail::flip_inplace(matrix_view<T>{data, ny, nx, nx}, symmetry::rotate_180, stream);
}

/// Turns a matrix of ny rows of nx elements in place, counter-clockwise, as numpy.rot90: by half as rotate_180_inplace,
/// where it is a square also by a quarter, in two passes.
///
///     turns == 1:  data[y * side + x] becomes data[x * side + (side - 1 - y)]
///     turns == 3:  data[y * side + x] becomes data[(side - 1 - x) * side + y]
///
/// \param turns  quarter turns; any integer, negative ones turn clockwise
/// \returns cudaErrorInvalidValue also for quarter turns of a matrix that is no square
///
///     status = tt::rotate_inplace(image, nx, nx, -1, stream);
template <class T>
[[nodiscard]] cudaError_t rotate_inplace(T* data, size_type nx, size_type ny, long long turns,
                                         cudaStream_t stream = nullptr) {
  return tt::reorient_inplace(matrix_view<T>{data, ny, nx, nx}, quarter_turns(turns), stream);
}

// Calls whose matrices do not fit each other: one sentence each instead of a list of candidates.

template <class Out, class In, class... Rest, detail::if_not<detail::is_pair<Out, In>> = 0>
[[nodiscard]] cudaError_t reverse(Out*, In*, Rest...) {
  return detail::refuse_pair<Out, In>();
}

template <class Out, class In, class... Rest, detail::if_not<detail::is_pair<Out, In>> = 0>
[[nodiscard]] cudaError_t flip_lr(Out*, In*, Rest...) {
  return detail::refuse_pair<Out, In>();
}

template <class Out, class In, class... Rest, detail::if_not<detail::is_pair<Out, In>> = 0>
[[nodiscard]] cudaError_t flip_ud(Out*, In*, Rest...) {
  return detail::refuse_pair<Out, In>();
}

template <class Out, class In, class... Rest, detail::if_not<detail::is_pair<Out, In>> = 0>
[[nodiscard]] cudaError_t rotate(Out*, In*, Rest...) {
  return detail::refuse_pair<Out, In>();
}

template <class Out, class In, class... Rest, detail::if_not<detail::is_pair<Out, In>> = 0>
[[nodiscard]] cudaError_t anti_transpose(Out*, In*, Rest...) {
  return detail::refuse_pair<Out, In>();
}

template <class Out, class In, class... Rest, detail::if_not<detail::is_batch_pair<Out, In>> = 0>
[[nodiscard]] cudaError_t reorient_batched(Out*, In*, Rest...) {
  return detail::refuse_pair<std::remove_pointer_t<Out>, std::remove_pointer_t<In>>();
}

template <class Out, class In, class... Rest, detail::if_not<detail::is_pair<Out, In>> = 0>
[[nodiscard]] cudaError_t reorient_batched(Out*, size_type, In*, Rest...) {
  return detail::refuse_pair<Out, In>();
}

TILETRANSPOSE_NAMESPACE_END
