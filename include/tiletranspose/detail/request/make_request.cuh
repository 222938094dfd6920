// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From the arguments of a call to a request or a relocation, whose types are gone, and what is asked of these types. Of the
/// rules that a call breaks the compiler says the first: requests are built of any types, so that no second sentence follows.

#pragma once

#include <cstddef>
#include <type_traits>

#include <tiletranspose/detail/request/relocation.cuh>
#include <tiletranspose/tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Whether a matrix of T can be written.
template <class T>
inline constexpr bool is_output = !std::is_const_v<T>;

template <class T>
constexpr bool check_output() {
  static_assert(is_output<T>, "tt: the output comes first, and its elements must not be const");
  if constexpr (is_output<T>) { check_element<T>(); }
  return true;
}

/// Of a matrix that is input and output.
template <class T>
constexpr bool check_inplace() {
  static_assert(is_output<T>, "tt: the elements of a matrix that is changed must not be const");
  if constexpr (is_output<T>) { check_element<T>(); }
  return true;
}

/// Of an output and an input whose elements are of one type.
template <class Out, class In>
constexpr bool check_matrices() {
  if constexpr (!has_size<Out> || !has_size<In>) {
    return check_element<std::conditional_t<has_size<Out>, In, Out>>();
  } else {
    constexpr bool are_same = same_type<std::remove_const_t<Out>, std::remove_const_t<In>>;
    static_assert(
        !is_output<Out> || are_same,
        "tt: input and output must have the same element type; transform_transpose converts");
    return check_output<Out>();
  }
}

/// Bytes of the elements of a call, whose types are checked.
template <class Out, class In = Out>
constexpr int checked_size() {
  static_assert(check_matrices<Out, In>(), "");
  return static_cast<int>(sizeof(Out));
}

/// Whether pointers to an output and an input fit together, or to the arrays of pointers of a batch.
template <class Out, class In>
inline constexpr bool is_pair = same_type<Out, std::remove_const_t<In>>;
template <class Out, class In>
inline constexpr bool is_batch_pair =
    is_pair<std::remove_pointer_t<Out>, std::remove_pointer_t<In>>;

/// Of an overload for calls whose types do not fit.
template <bool Fits>
using if_not = typename std::enable_if<!Fits, int>::type;

/// Of two outputs of one input.
template <class Copy, class Out>
constexpr bool check_outputs() {
  static_assert(same_type<std::remove_const_t<Copy>, std::remove_const_t<Out>>,
                "tt: both outputs of transform_transpose_dual must have the same element type");
  return check_output<Copy>() && check_output<Out>();
}

/// What is said of a call whose tile is written, `transpose<T, TileDim, BlockRows>`.
template <class T, class Out, class In>
constexpr bool check_written_matrices() {
  static_assert(
      !is_pair<Out, In> || same_type<T, Out>,
      "tt: the element type that is written before the tile must be that of the matrices");
  return is_pair<Out, In> || check_matrices<Out, In>();
}

template <class Out, class In>
typed_sides sides_of(Out* out, const In* in) {
  return {const_cast<const void*>(static_cast<const volatile void*>(in)),
          const_cast<void*>(static_cast<const volatile void*>(out)),
          sizeof(In),
          sizeof(Out),
          alignof(In),
          alignof(Out)};
}

/// A dense matrix, or a batch of them.
template <class Out, class In>
transpose_request dense_request(Out* out, const In* in, size_type nx, size_type ny,
                                size_type batch = 1, size_type out_batch = 0,
                                size_type in_batch = 0) {
  return {sides_of(out, in), nx, ny, nx, ny, batch, in_batch, out_batch};
}

/// Pitched matrices, or batches that begin with them; shapes that do not match become a request that is refused.
template <class Out, class In>
transpose_request view_request(matrix_view<Out> out, matrix_view<In> in, size_type batch = 1,
                               size_type out_batch = 0, size_type in_batch = 0) {
  const bool empty = in.rows == 0 || in.cols == 0;
  const bool fits = out.rows == in.cols && out.cols == in.rows;
  const typed_sides sides = detail::sides_of(fits || empty ? out.data : nullptr, in.data);
  return {sides, in.cols, in.rows, in.stride, out.stride, batch, in_batch, out_batch};
}

/// Matrices behind device arrays of pointers. How the matrices themselves are aligned is not known here.
template <class T>
transpose_request pointers_request(T* const* outs, const T* const* ins, size_type nx, size_type ny,
                                   size_type batch) {
  transpose_request request = dense_request(const_cast<T**>(outs), ins, nx, ny, batch);
  request.in_element = request.out_element = sizeof(T);
  request.pointer_arrays = true;
  return request;
}

/// A matrix that is input and output.
template <class T>
transpose_request inplace_request(matrix_view<T> data) {
  return {detail::sides_of(data.data, data.data), data.cols, data.rows, data.stride, data.stride};
}

/// Pitched matrices whose shapes suit the symmetry; others become a request that is refused.
template <class T, class Element>
transpose_request reorient_request(matrix_view<T> out, matrix_view<Element> in, symmetry s,
                                   size_type batch = 1, size_type out_batch = 0,
                                   size_type in_batch = 0) {
  // Rows that stay rows: as if `out` were seen from the side, the way in which a transpose fills it.
  const matrix_view<T> seen{out.data, out.cols, out.rows, out.stride};
  return view_request(transposes(s) ? out : seen, in, batch, out_batch, in_batch);
}

template <std::size_t Rank>
constexpr bool check_rank() {
  static_assert(Rank <= most_given_axes, "tt: an array to be permuted has at most 16 axes");
  return true;
}

/// A permute between dense arrays.
template <class Out, class In, std::size_t Rank>
relocation make_relocation(Out* out, const In* in, const size_type (&extents)[Rank],
                           const int (&axes)[Rank]) {
  relocation move{sides_of(out, in), Rank, {}};
  for (std::size_t k = 0; k < Rank; ++k) { move.axes[k].extent = extents[k]; }
  move.permutes = permute_axes(move, extents, axes);
  return move;
}

/// Between arrays whose strides the caller gives: std::ptrdiff_t, or another number of as many bits.
template <class Out, class In, class Stride, std::size_t Rank>
relocation make_relocation(Out* out, const Stride (&out_strides)[Rank], const In* in,
                           const Stride (&in_strides)[Rank], const size_type (&extents)[Rank]) {
  relocation move{sides_of(out, in), Rank, {}};
  for (std::size_t k = 0; k < Rank; ++k) {
    move.axes[k] = {extents[k], in_strides[k], out_strides[k]};
  }
  return move;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
