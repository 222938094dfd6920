// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What brings the slices of an exchange from the input into send order, and from there to where they belong: permutes
/// with strides, which those of a matrix are, too.

#pragma once

#include <tiletranspose/detail/calls/permute.cuh>
#include <tiletranspose/detail/distributed/exchange_plan.cuh>
#include <tiletranspose/detail/request/make_request.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// One rank's part of an array and of its permute. A slice takes part of two axes of the input, the first one (y) and the
/// one that becomes the first of the output (x), and all of the others.
template <class T>
struct slice_mover {
  T* out;
  const T* in;
  const int* axes;   ///< axis j of the output is axis axes[j] of the input
  relocation whole;  ///< of the whole array

  /// Moves a slice from the input, or from where it is packed, into the output, or to where it is packed: dense, in the
  /// output's order.
  cudaError_t move(const exchange_plan& plan, const exchange_slice& slice, const void* from,
                   void* to, cudaStream_t stream) const {
    size_type extents[most_given_axes];
    for (int k = 0; k < whole.rank; ++k) { extents[k] = whole.axes[k].extent; }
    extents[0] = slice.rows;
    extents[axes[0]] = slice.cols;
    relocation packed = whole;
    permute_axes(packed, extents, axes);
    relocation part = whole;
    for (int k = 0; k < whole.rank; ++k) {
      part.axes[k].extent = extents[k];
      if (from != nullptr) { part.axes[k].in_stride = packed.axes[k].out_stride; }
      if (to != nullptr) { part.axes[k].out_stride = packed.axes[k].out_stride; }
    }
    const relocation_axis& x = whole.axes[axes[0]];
    const relocation_axis& y = whole.axes[0];
    const auto steps = [](size_type count) { return static_cast<long long>(count); };
    part.in = from != nullptr ? from
                              : in + steps(slice.y - plan.first_row()) * y.in_stride +
                                    steps(slice.x) * x.in_stride;
    part.out = to != nullptr ? to
                             : out + steps(slice.x - plan.first_column()) * x.out_stride +
                                   steps(slice.y) * y.out_stride;
    return relocate_bytes<sizeof(T), alignof(T)>(part, stream);
  }
};

/// The same of a matrix and its transpose.
template <class T>
slice_mover<T> matrix_slices(T* out, const T* in, size_type nx, size_type ny) {
  static constexpr int axes[] = {1, 0};
  return {out, in, axes, make_relocation(out, in, {ny, nx}, axes)};
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
