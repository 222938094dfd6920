// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Launch wrappers for matrices and arrays of any rank that `cuda::std::mdspan` describes. Opt-in: no other header includes
/// this one, because mdspan takes longer to compile than all other headers.
///
///     #include <tiletranspose/mdspan.cuh>
///
///     cudaError_t status = tt::transpose(out, in, stream);          // out(i, j) == in(j, i)
///     status = tt::reorient(out, in, tt::symmetry::rotate_90, stream);
///     status = tt::permute(planes, pixels, {0, 3, 1, 2}, stream);   // arrays of any rank
///     status = tt::copy(right, left, stream);                       // right(i, j, k) == left(i, j, k)
///
/// Any layout with strides will do (layout_right, layout_left, layout_stride, those of your own that start anywhere in
/// their memory or, with an index type that has a sign, run backwards); input and output need not have the same.
/// `transpose` and `reorient` ask that elements follow each other without a gap along rows or along columns. A layout only
/// says in which order elements lie in memory, so that `transpose` from a layout_left matrix into a layout_right one moves
/// rows as they are. What transpose.cuh and permute.cuh say at their tops holds here too.

#pragma once

#if defined(__CUDACC_RTC__)
#error \
    "tt: mdspan.cuh launches kernels from the host; under NVRTC include tiletranspose/block_transpose.cuh"
#endif

#include <tiletranspose/config.cuh>

#include <cstddef>
#include <cuda/std/mdspan>
#include <type_traits>
#include <utility>

#include <tiletranspose/permute.cuh>
#include <tiletranspose/reverse.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A matrix as its rows lie in memory, and how it is seen: matrix == seen(view).
template <class T>
struct laid_out {
  matrix_view<T> view;
  symmetry seen;
};

/// The element whose indices are all 0, which need not be the first in memory. Null where there is no memory.
/// Precondition: there are elements.
template <class Span, std::size_t... Axes>
typename Span::element_type* first_of(const Span& array, std::index_sequence<Axes...>) {
  const auto zero = [](std::size_t) { return typename Span::index_type{}; };
  auto* const data = array.data_handle();
  return data != nullptr ? data + array.mapping()(zero(Axes)...) : nullptr;
}
template <class Span>
typename Span::element_type* first_of(const Span& array) {
  return detail::first_of(array, std::make_index_sequence<Span::rank()>{});
}

/// A dimension of at most one element has no use for its stride; strides along both dimensions leave no row
/// to move: refused by a view without memory.
template <class T, class Extents, class Layout, class Accessor>
laid_out<T> lay_out(const cuda::std::mdspan<T, Extents, Layout, Accessor>& matrix) {
  const auto rows = static_cast<size_type>(matrix.extent(0));
  const auto cols = static_cast<size_type>(matrix.extent(1));
  if (rows == 0 || cols == 0) { return {{nullptr, rows, cols, cols}, symmetry::identity}; }
  const auto row_step = static_cast<long long>(matrix.stride(0));
  const auto col_step = static_cast<long long>(matrix.stride(1));
  const size_type row_stride = distance(row_step);
  const size_type col_stride = distance(col_step);
  const bool upwards = rows > 1 && row_step < 0;
  const bool leftwards = cols > 1 && col_step < 0;
  const symmetry seen = make_symmetry(false, upwards, leftwards);
  T* data = detail::first_of(matrix);
  if (data != nullptr && upwards) { data += static_cast<long long>(rows - 1) * row_step; }
  if (data != nullptr && leftwards) { data += static_cast<long long>(cols - 1) * col_step; }
  if (cols == 1 || col_stride == 1) {
    return {{data, rows, cols, rows == 1 ? cols : row_stride}, seen};
  }
  if (rows == 1 || row_stride == 1) {
    return {{data, cols, rows, col_stride}, compose(seen, symmetry::transpose)};
  }
  return {{nullptr, rows, cols, cols}, symmetry::identity};
}

/// What the calls below ask of an mdspan.
template <class Span>
constexpr bool check_mdspan() {
  using accessor = typename Span::accessor_type;
  static_assert(Span::is_always_strided(),
                "tt: the layout of an mdspan must have strides, as layout_right, layout_left and "
                "layout_stride have");
  static_assert(
      std::is_same<typename accessor::reference, typename Span::element_type&>::value &&
          std::is_same<typename accessor::data_handle_type, typename Span::element_type*>::value,
      "tt: the elements of an mdspan are moved as they lie in memory; its accessor must "
      "refer to them directly, as default_accessor does");
  return true;
}

/// False where static extents say that an array of this shape never becomes one of that shape, as it is or, of a matrix,
/// with its axes swapped.
template <class Out, class In>
constexpr bool extents_match(bool swapped = false) {
  bool match = true;
  for (std::size_t k = 0; k < Out::rank() && k < In::rank(); ++k) {
    const std::size_t to = Out::static_extent(k);
    const std::size_t from = In::static_extent(swapped ? (k + 1) % 2 : k);
    match = match &&
            (to == from || to == cuda::std::dynamic_extent || from == cuda::std::dynamic_extent);
  }
  return match;
}

template <class OutSpan, class InSpan>
[[nodiscard]] cudaError_t reorient_views(const OutSpan& out, const InSpan& in, symmetry s,
                                         cudaStream_t stream) {
  static_assert(OutSpan::rank() == 2 && InSpan::rank() == 2, "tt: a matrix is an mdspan of rank 2");
  static_assert(check_mdspan<OutSpan>() && check_mdspan<InSpan>(), "");
  const auto from = lay_out(in);
  const auto to = lay_out(out);
  // Shapes are compared as they are seen; two vectors may be laid out alike and still be a row and a column.
  const bool swaps = transposes(s);
  const bool empty = in.extent(0) == 0 || in.extent(1) == 0;
  const auto rows = static_cast<size_type>(swaps ? in.extent(1) : in.extent(0));
  const auto cols = static_cast<size_type>(swaps ? in.extent(0) : in.extent(1));
  if (!empty && (static_cast<size_type>(out.extent(0)) != rows ||
                 static_cast<size_type>(out.extent(1)) != cols)) {
    return cudaErrorInvalidValue;
  }
  return tt::reorient(to.view, from.view, compose(inverse(to.seen), compose(s, from.seen)), stream);
}

/// How many axes of A have static extents that stand more often there than in B; they need dynamic ones of B.
template <class A, class B>
constexpr std::size_t surplus_extents() {
  std::size_t surplus = 0;
  for (std::size_t k = 0; k < A::rank(); ++k) {
    const std::size_t extent = A::static_extent(k);
    std::size_t before = 0;  // so many axes of A up to this one have it
    std::size_t others = 0;  // and of B
    for (std::size_t j = 0; j < A::rank(); ++j) {
      before += j <= k && A::static_extent(j) == extent ? 1 : 0;
      others += B::static_extent(j) == extent ? 1 : 0;
    }
    surplus += extent != cuda::std::dynamic_extent && before > others ? 1 : 0;
  }
  return surplus;
}

/// False where static extents say that no order of the axes brings those of one to those of the other.
template <class Out, class In>
constexpr bool extents_permute() {
  return surplus_extents<Out, In>() <= In::rank_dynamic() &&
         surplus_extents<In, Out>() <= Out::rank_dynamic();
}

/// Moves element (i_0, i_1, ...) of the output from the input, whose axis axes[k] is axis k of the output.
template <class OutSpan, class InSpan>
[[nodiscard]] cudaError_t relocate_arrays(const OutSpan& out, const InSpan& in, const int* axes,
                                          cudaStream_t stream) {
  using element = typename OutSpan::element_type;
  constexpr std::size_t rank = OutSpan::rank();
  static_assert(check_mdspan<OutSpan>() && check_mdspan<InSpan>() && check_rank<rank>(), "");
  if (!is_permutation(axes, static_cast<int>(rank))) { return cudaErrorInvalidValue; }
  size_type extents[rank];
  std::ptrdiff_t in_strides[rank];
  std::ptrdiff_t out_strides[rank];
  bool matches = true;
  bool empty = false;
  for (std::size_t k = 0; k < rank; ++k) {
    const auto to = static_cast<typename OutSpan::rank_type>(k);
    const auto from = static_cast<typename InSpan::rank_type>(axes[k]);
    extents[k] = static_cast<size_type>(in.extent(from));
    in_strides[k] = static_cast<std::ptrdiff_t>(in.stride(from));
    out_strides[k] = static_cast<std::ptrdiff_t>(out.stride(to));
    matches = matches && static_cast<size_type>(out.extent(to)) == extents[k];
    empty = empty || extents[k] == 0;
  }
  if (!matches && !empty) { return cudaErrorInvalidValue; }
  element* const to = empty ? nullptr : detail::first_of(out);
  const element* const from = empty ? nullptr : detail::first_of(in);
  return tt::permute(to, out_strides, from, in_strides, extents, stream);
}

}  // namespace detail

/// Lays a matrix down again.
///
///     out == s(in), as tt::symmetry defines it
///
/// \param out  as many rows and columns as `in`, or as many columns and rows where `s` transposes; static
///             extents that suit neither are a compiler error
/// \param in   elements of the same type, or const ones
/// \returns cudaErrorInvalidValue also where the extents do not match, and where neither stride of a matrix
///          is 1 and neither extent
template <class T, class OutExtents, class OutLayout, class OutAccessor, class Element,
          class InExtents, class InLayout, class InAccessor>
[[nodiscard]] cudaError_t reorient(cuda::std::mdspan<T, OutExtents, OutLayout, OutAccessor> out,
                                   cuda::std::mdspan<Element, InExtents, InLayout, InAccessor> in,
                                   symmetry s, cudaStream_t stream = nullptr) {
  static_assert(detail::extents_match<OutExtents, InExtents>() ||
                    detail::extents_match<OutExtents, InExtents>(true),
                "tt: no symmetry brings the extents of the input to those of the output");
  return detail::reorient_views(out, in, s, stream);
}

/// Transposes a matrix.
///
///     out(i, j) == in(j, i)
///
/// \param out  in.extent(1) rows x in.extent(0) columns; static extents that are others are a compiler error
/// \param in   elements of the same type, or const ones
/// \returns as reorient
template <class T, class OutExtents, class OutLayout, class OutAccessor, class Element,
          class InExtents, class InLayout, class InAccessor>
[[nodiscard]] cudaError_t transpose(cuda::std::mdspan<T, OutExtents, OutLayout, OutAccessor> out,
                                    cuda::std::mdspan<Element, InExtents, InLayout, InAccessor> in,
                                    cudaStream_t stream = nullptr) {
  static_assert(
      detail::extents_match<OutExtents, InExtents>(true),
      "tt: the output of a transpose has as many rows as the input has columns, and the reverse");
  return detail::reorient_views(out, in, symmetry::transpose, stream);
}

/// Permutes the axes of an array of any rank: axis k of the output is axis axes[k] of the input.
///
///     out(i_0, i_1, ...) == in(j_0, j_1, ...)    where j_axes[k] == i_k
///
/// \param out   extent k is in.extent(axes[k]); static extents that are none of the input's are a compiler error
/// \param in    elements of the same type, or const ones
/// \param axes  each of 0 .. rank - 1 once, as numpy.transpose takes them
/// \returns cudaErrorInvalidValue also where `axes` is no permutation, and where the extents do not match
///
///     status = tt::permute(planes, pixels, {0, 3, 1, 2}, stream);
template <class T, class OutExtents, class OutLayout, class OutAccessor, class Element,
          class InExtents, class InLayout, class InAccessor, std::size_t Rank>
[[nodiscard]] cudaError_t permute(cuda::std::mdspan<T, OutExtents, OutLayout, OutAccessor> out,
                                  cuda::std::mdspan<Element, InExtents, InLayout, InAccessor> in,
                                  const int (&axes)[Rank], cudaStream_t stream = nullptr) {
  constexpr bool same_rank = OutExtents::rank() == Rank && InExtents::rank() == Rank;
  static_assert(same_rank, "tt: input, output and the permutation of their axes have one rank");
  if constexpr (same_rank && detail::check_matrices<T, Element>()) {
    static_assert(detail::extents_permute<OutExtents, InExtents>(),
                  "tt: no permutation of its axes brings the extents of the input to those of the "
                  "output");
    return detail::relocate_arrays(out, in, axes, stream);
  } else {
    return cudaErrorInvalidValue;
  }
}

/// Copies an array of any rank from one layout into another.
///
///     out(i_0, i_1, ...) == in(i_0, i_1, ...)
///
/// \param out  the extents of the input; static extents that are others are a compiler error
/// \param in   elements of the same type, or const ones
/// \returns cudaErrorInvalidValue also where the extents do not match
///
///     status = tt::copy(right, left, stream);
template <class T, class OutExtents, class OutLayout, class OutAccessor, class Element,
          class InExtents, class InLayout, class InAccessor>
[[nodiscard]] cudaError_t copy(cuda::std::mdspan<T, OutExtents, OutLayout, OutAccessor> out,
                               cuda::std::mdspan<Element, InExtents, InLayout, InAccessor> in,
                               cudaStream_t stream = nullptr) {
  constexpr bool same_rank = OutExtents::rank() == InExtents::rank() && OutExtents::rank() > 0;
  static_assert(same_rank, "tt: a copy has the rank of its input, which is 1 at least");
  if constexpr (same_rank && detail::check_matrices<T, Element>()) {
    static_assert(detail::extents_match<OutExtents, InExtents>(),
                  "tt: a copy has the extents of its input");
    int axes[OutExtents::rank()];
    for (std::size_t k = 0; k < OutExtents::rank(); ++k) { axes[k] = static_cast<int>(k); }
    return detail::relocate_arrays(out, in, axes, stream);
  } else {
    return cudaErrorInvalidValue;
  }
}

TILETRANSPOSE_NAMESPACE_END
