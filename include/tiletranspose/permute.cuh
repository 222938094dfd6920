// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Permutes of arrays of any rank, as numpy.transpose: the axes of the input in another order.
///
///     #include <tiletranspose/permute.cuh>
///
///     // Images of height x width pixels of 3 channels, to one plane a channel.
///     status = tt::permute(planes, pixels, {images, height, width, 3}, {0, 3, 1, 2}, stream);
///
/// Extents are std::size_t, strides std::ptrdiff_t and axes int. In braces constants may be of any type, variables only of
/// these, or the conversion is narrowing, which is an error: `{std::size_t(batch), 12, 64}` where batch is an int.
///
/// All calls return the status of their launches, allocate nothing, run asynchronously on `stream` and may be captured.
/// Axes of one element do not count, and axes that stay together count as one: at most 8 are left of at most 16.
///
/// cudaErrorInvalidValue, before anything is launched: a pointer that is null or misaligned for its type, axes that repeat
/// or are none of the array's, sizes that overflow, more than 8 axes left, input and output that share memory anywhere
/// between their first and last elements, or an output in which an axis does not step over all that the faster ones reach
/// (two elements might share an address). Where an extent is 0 and the axes are in order nothing is done.
///
/// What two axes and a batch can express is moved as `transpose` and `reorient` move it, at their speed. Other permutes go
/// through tiles, whose sides take several axes where one is short, through panels along several axes, or element by
/// element; `tt::explain_permute` says which.

#pragma once

#if defined(__CUDACC_RTC__)
#error \
    "tt: permute.cuh launches kernels from the host; under NVRTC include tiletranspose/block_transpose.cuh"
#endif

#include <cstddef>

#include <tiletranspose/detail/calls/permute.cuh>
#include <tiletranspose/transpose.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// Permutes the axes of a dense array in C order, the last axis fastest: as numpy.transpose(in, axes), axis j of the output
/// is axis axes[j] of the input.
/// \param out      product of all extents elements, in which axis j has extents[axes[j]]
/// \param in       as many
/// \param extents  elements along each axis of the input
/// \param axes     each of 0 .. Rank - 1 once
///
///     status = tt::permute(heads, tokens, {batch, length, 12, 64}, {0, 2, 1, 3}, stream);  // attention heads
template <class T, std::size_t Rank>
[[nodiscard]] cudaError_t permute(T* out, const T* in, const size_type (&extents)[Rank],
                                  const int (&axes)[Rank], cudaStream_t stream = nullptr) {
  static_assert(detail::check_output<T>() && detail::check_rank<Rank>(), "");
  return detail::run_permute<sizeof(T), alignof(T)>(detail::make_relocation(out, in, extents, axes),
                                                    stream);
}

/// The same between arrays whose strides the caller gives: element (i_0, i_1, ...) of the output, at out[sum of i_k *
/// out_strides[k]], becomes that of the input. Strides are in elements and may be negative; those of the input also 0.
/// \param out_strides, in_strides  of axis k on both sides, in one order
///
///     // Rotated by 90 degrees: rows, cols are std::size_t, the elements between two rows of each side std::ptrdiff_t.
///     status = tt::permute(out, {1, out_pitch}, in + cols - 1, {in_pitch, -1}, {rows, cols}, stream);
template <class T, std::size_t Rank>
[[nodiscard]] cudaError_t permute(T* out, const std::ptrdiff_t (&out_strides)[Rank], const T* in,
                                  const std::ptrdiff_t (&in_strides)[Rank],
                                  const size_type (&extents)[Rank], cudaStream_t stream = nullptr) {
  static_assert(detail::check_output<T>() && detail::check_rank<Rank>(), "");
  return detail::run_permute<sizeof(T), alignof(T)>(
      detail::make_relocation(out, out_strides, in, in_strides, extents), stream);
}

/// Permutes with a function on the way: each element of the output is op(element of the input). The types may differ.
/// \param op  as transform_transpose takes it: a function object with a __device__ call operator
///
///     status = tt::transform_permute(planes, pixels, {images, height, width, 3}, {0, 3, 1, 2},
///                                    normalize{}, stream);
template <class Out, class In, std::size_t Rank, class Op>
[[nodiscard]] cudaError_t transform_permute(Out* out, const In* in,
                                            const size_type (&extents)[Rank],
                                            const int (&axes)[Rank], Op op,
                                            cudaStream_t stream = nullptr) {
  static_assert(
      detail::check_fused<detail::fusion::transform, Out, In, Op>() && detail::check_rank<Rank>(),
      "");
  static_assert(!detail::takes_place<In, Out, Op>,
                "tt: the function of transform_permute takes an element alone, not its place");
  return detail::run_transform_permute<In, Out>(detail::make_relocation(out, in, extents, axes), op,
                                                stream);
}

// Arrays that do not fit each other: one sentence each instead of a list of candidates.

template <class Out, class In, std::size_t Rank, detail::if_not<detail::is_pair<Out, In>> = 0>
[[nodiscard]] cudaError_t permute(Out*, In*, const size_type (&)[Rank], const int (&)[Rank],
                                  cudaStream_t = nullptr) {
  return detail::refuse_pair<Out, In>();
}

template <class Out, class In, std::size_t Rank, detail::if_not<detail::is_pair<Out, In>> = 0>
[[nodiscard]] cudaError_t permute(Out*, const std::ptrdiff_t (&)[Rank], In*,
                                  const std::ptrdiff_t (&)[Rank], const size_type (&)[Rank],
                                  cudaStream_t = nullptr) {
  return detail::refuse_pair<Out, In>();
}

TILETRANSPOSE_NAMESPACE_END
