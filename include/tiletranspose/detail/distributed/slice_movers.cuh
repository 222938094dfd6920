// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What brings the slices of an exchange from the input into send order, and from there to where they belong: for
/// matrices by transposes of views, for arrays of more axes by permutes with strides.

#pragma once

#include <tiletranspose/detail/calls/permute.cuh>
#include <tiletranspose/detail/calls/reorient.cuh>
#include <tiletranspose/detail/distributed/exchange_plan.cuh>
#include <tiletranspose/detail/request/make_relocation.cuh>
#include <tiletranspose/detail/request/make_request.cuh>
#include <tiletranspose/detail/request/status.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// One rank's rows of a matrix and of its transpose.
template <class T>
class matrix_mover {
 public:
  matrix_mover(T* out, const T* in, const exchange_plan& plan)
      : out_(out),
        in_(in),
        nx_(plan.columns().total),
        ny_(plan.rows().total),
        first_x_(plan.columns().begin(plan.ranks(), plan.rank())),
        first_y_(plan.rows().begin(plan.ranks(), plan.rank())) {}

  /// From the input to cols dense rows.
  cudaError_t pack(const exchange_slice& slice, void* to, cudaStream_t stream) const {
    return transpose(dense(slice, static_cast<T*>(to)), slice, stream);
  }
  /// From there into the output.
  cudaError_t place(const exchange_slice& slice, const void* from, cudaStream_t stream) const {
    const matrix_view<const T> packed = dense(slice, static_cast<const T*>(from));
    return reorient_bytes<sizeof(T), alignof(T), matrices::one, false>(
        reorient_request(target(slice), packed, symmetry::identity), symmetry::identity, stream);
  }
  /// From the input into the output.
  cudaError_t keep(const exchange_slice& slice, cudaStream_t stream) const {
    return transpose(target(slice), slice, stream);
  }

 private:
  template <class Element>
  static matrix_view<Element> dense(const exchange_slice& slice, Element* data) {
    return {data, slice.cols, slice.rows, slice.rows};
  }
  matrix_view<T> target(const exchange_slice& slice) const {
    return {out_ + (slice.x - first_x_) * ny_ + slice.y, slice.cols, slice.rows, ny_};
  }
  cudaError_t transpose(matrix_view<T> to, const exchange_slice& slice, cudaStream_t stream) const {
    const matrix_view<const T> from{in_ + (slice.y - first_y_) * nx_ + slice.x, slice.rows,
                                    slice.cols, nx_};
    return transpose_bytes<sizeof(T), alignof(T), matrices::one>(view_request(to, from), stream);
  }

  T* out_;
  const T* in_;
  size_type nx_;
  size_type ny_;
  size_type first_x_;  ///< of the output that this rank holds
  size_type first_y_;  ///< of the input
};

/// One rank's part of an array and of its permute. A slice takes part of two axes of the input, the first one (y) and the
/// one that becomes the first of the output (x), and all of the others.
template <class T, size_type Rank>
class array_mover {
 public:
  array_mover(T* out, const T* in, const size_type (&extents)[Rank], const int (&axes)[Rank],
              const exchange_plan& plan)
      : out_(out),
        in_(in),
        axes_(axes),
        first_x_(plan.columns().begin(plan.ranks(), plan.rank())),
        first_y_(plan.rows().begin(plan.ranks(), plan.rank())) {
    for (size_type k = 0; k < Rank; ++k) { extents_[k] = extents[k]; }
    long long stride = 1;
    for (size_type k = Rank; k-- > 0; stride *= static_cast<long long>(extents[k])) {
      in_strides_[k] = stride;
    }
    stride_like_output(extents, out_strides_);
  }

  cudaError_t pack(const exchange_slice& slice, void* to, cudaStream_t stream) const {
    long long packed[Rank];
    pack_strides(slice, packed);
    return move(static_cast<T*>(to), packed, source(slice), in_strides_, slice, stream);
  }
  cudaError_t place(const exchange_slice& slice, const void* from, cudaStream_t stream) const {
    long long packed[Rank];
    pack_strides(slice, packed);
    return move(target(slice), out_strides_, static_cast<const T*>(from), packed, slice, stream);
  }
  cudaError_t keep(const exchange_slice& slice, cudaStream_t stream) const {
    return move(target(slice), out_strides_, source(slice), in_strides_, slice, stream);
  }

 private:
  size_type extent(const exchange_slice& slice, size_type k) const {
    return k == 0 ? slice.rows : k == static_cast<size_type>(axes_[0]) ? slice.cols : extents_[k];
  }
  /// The strides of the input's axes in a dense array that has them in the output's order.
  void stride_like_output(const size_type (&extents)[Rank], long long (&strides)[Rank]) const {
    long long stride = 1;
    for (size_type j = Rank; j-- > 0; stride *= static_cast<long long>(extents[axes_[j]])) {
      strides[axes_[j]] = stride;
    }
  }
  void pack_strides(const exchange_slice& slice, long long (&strides)[Rank]) const {
    size_type extents[Rank];
    for (size_type k = 0; k < Rank; ++k) { extents[k] = extent(slice, k); }
    stride_like_output(extents, strides);
  }
  const T* source(const exchange_slice& slice) const {
    return in_ + static_cast<long long>(slice.y - first_y_) * in_strides_[0] +
           static_cast<long long>(slice.x) * in_strides_[axes_[0]];
  }
  T* target(const exchange_slice& slice) const {
    return out_ + static_cast<long long>(slice.x - first_x_) * out_strides_[axes_[0]] +
           static_cast<long long>(slice.y) * out_strides_[0];
  }
  cudaError_t move(T* out, const long long (&out_strides)[Rank], const T* in,
                   const long long (&in_strides)[Rank], const exchange_slice& slice,
                   cudaStream_t stream) const {
    relocation moved = typed_relocation(typed_request(out, in), static_cast<int>(Rank));
    for (size_type k = 0; k < Rank; ++k) {
      moved.axes[k] = {extent(slice, k), in_strides[k], out_strides[k]};
    }
    const verdict answer = examine(moved);
    return answer == verdict::go ? relocate_bytes<sizeof(T), alignof(T)>(moved, stream)
                                 : status_of(answer);
  }

  T* out_;
  const T* in_;
  const int (&axes_)[Rank];
  size_type extents_[Rank];
  long long in_strides_[Rank];
  long long out_strides_[Rank];
  size_type first_x_;
  size_type first_y_;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
