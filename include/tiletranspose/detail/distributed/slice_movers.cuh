// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What brings the slices of an exchange from the input into send order, and from there to where they belong: for
/// matrices by transposes of views, for arrays of more axes by permutes with strides.

#pragma once

#include <tiletranspose/detail/calls/permute.cuh>
#include <tiletranspose/detail/calls/reorient.cuh>
#include <tiletranspose/detail/distributed/exchange_plan.cuh>
#include <tiletranspose/detail/request/make_request.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// One rank's rows of a matrix and of its transpose.
template <class T>
struct matrix_mover {
  T* out;
  const T* in;

  /// Moves a slice from the input, or from where it is packed, into the output, or to where it is packed: to `cols` dense
  /// rows of the output. What is packed is transposed already.
  cudaError_t move(const exchange_plan& plan, const exchange_slice& slice, const void* from,
                   void* to, cudaStream_t stream) const {
    const size_type pitch = plan.rows.total;
    matrix_view<T> target{static_cast<T*>(to), slice.cols, slice.rows, slice.rows};
    if (to == nullptr) {
      target = {out + (slice.x - plan.first_column()) * pitch + slice.y, slice.cols, slice.rows,
                pitch};
    }
    if (from != nullptr) {
      const matrix_view<const T> packed{static_cast<const T*>(from), slice.cols, slice.rows,
                                        slice.rows};
      return reorient_bytes<sizeof(T), alignof(T), matrices::one, false>(
          reorient_request(target, packed, symmetry::identity), symmetry::identity, stream);
    }
    const matrix_view<const T> source{
        in + (slice.y - plan.first_row()) * plan.columns.total + slice.x, slice.rows, slice.cols,
        plan.columns.total};
    return transpose_bytes<sizeof(T), alignof(T), matrices::one>(view_request(target, source),
                                                                 stream);
  }
};

/// One rank's part of an array and of its permute. A slice takes part of two axes of the input, the first one (y) and the
/// one that becomes the first of the output (x), and all of the others.
template <class T, size_type Rank>
struct array_mover {
  T* out;
  const T* in;
  const int (&axes)[Rank];
  relocation whole;  ///< of the whole array

  /// As matrix_mover's: what is packed is dense, in the output's order.
  cudaError_t move(const exchange_plan& plan, const exchange_slice& slice, const void* from,
                   void* to, cudaStream_t stream) const {
    size_type extents[Rank];
    for (size_type k = 0; k < Rank; ++k) { extents[k] = whole.axes[k].extent; }
    extents[0] = slice.rows;
    extents[axes[0]] = slice.cols;
    const relocation packed = make_relocation(out, in, extents, axes);
    relocation part = whole;
    for (size_type k = 0; k < Rank; ++k) {
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

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
