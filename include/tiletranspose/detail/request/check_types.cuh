// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What launch wrappers ask of the types of their matrices. Of the rules that a call breaks the compiler says the first:
/// requests are built of any types, so that no second sentence follows.

#pragma once

#include <type_traits>

#include <tiletranspose/tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Whether a matrix of T can be written.
template <class T>
inline constexpr bool is_output = !same_type<T, const typename remove_const<T>::type>;

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
  if constexpr (!has_size<Out>) {
    return check_element<Out>();
  } else if constexpr (!has_size<In>) {
    return check_element<In>();
  } else {
    constexpr bool are_same =
        same_type<typename remove_const<Out>::type, typename remove_const<In>::type>;
    static_assert(
        !is_output<Out> || are_same,
        "tt: input and output must have the same element type; transform_transpose converts");
    return check_output<Out>();
  }
}

/// Whether pointers to an output and an input fit together, or to the arrays of pointers of a batch.
template <class Out, class In>
inline constexpr bool is_pair = same_type<Out, typename remove_const<In>::type>;
template <class Out, class In>
inline constexpr bool is_batch_pair =
    is_pair<std::remove_pointer_t<Out>, std::remove_pointer_t<In>>;

/// Of two outputs of one input.
template <class Copy, class Out>
constexpr bool check_outputs() {
  static_assert(same_type<typename remove_const<Copy>::type, typename remove_const<Out>::type>,
                "tt: both outputs of transform_transpose_dual must have the same element type");
  return check_output<Copy>() && check_output<Out>();
}

/// What is said of a batch whose pointers do not fit.
template <class Out, class In>
constexpr bool check_batch_matrices() {
  return check_matrices<std::remove_pointer_t<Out>, std::remove_pointer_t<In>>();
}

/// What is said of a call whose tile is written, `transpose<T, TileDim, BlockRows>`.
template <class T, class Out, class In>
constexpr bool check_written_matrices() {
  static_assert(
      !is_pair<Out, In> || same_type<T, Out>,
      "tt: the element type that is written before the tile must be that of the matrices");
  return is_pair<Out, In> || check_matrices<Out, In>();
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
