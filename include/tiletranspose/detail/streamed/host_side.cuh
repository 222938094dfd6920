// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A matrix in host memory and where its blocks are for the GPU: in the matrix itself where it is pinned, else in
/// pinned buffers that the host fills and empties.

#pragma once

#include <tiletranspose/detail/streamed/block_plan.cuh>
#include <tiletranspose/detail/streamed/copy_team.cuh>
#include <tiletranspose/tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <class T>
class host_side {
 public:
  /// The matrix is dense and not empty.
  host_side(T* data, size_type rows, size_type cols) : data_(data), rows_(rows), cols_(cols) {}

  /// Finds out whether the GPU reaches the matrix: both of its ends.
  cudaError_t look() {
    const size_type last = rows_ * cols_ - 1;
    cudaPointerAttributes first{};
    cudaPointerAttributes end{};
    cudaError_t status = cudaPointerGetAttributes(&first, data_);
    if (status == cudaSuccess) { status = cudaPointerGetAttributes(&end, data_ + last); }
    const bool known =
        first.type != cudaMemoryTypeUnregistered && end.type != cudaMemoryTypeUnregistered;
    auto* const mapped = static_cast<T*>(first.devicePointer);
    mapped_ = known && mapped + last == end.devicePointer ? mapped : nullptr;
    return status;
  }
  bool pageable() const { return mapped_ == nullptr; }
  size_type rows() const { return rows_; }
  size_type cols() const { return cols_; }
  /// Pinned memory for the blocks of a pageable matrix.
  void lend(void* pinned, size_type offset) {
    between_ = static_cast<unsigned char*>(pinned) + offset;
  }

  /// A block as the GPU finds it; offset: of its buffer, in bytes.
  matrix_view<T> block(const matrix_block& part, size_type offset) const {
    return pageable() ? buffer(part, offset) : view(mapped_, part);
  }
  /// What brings a block of a pageable matrix into its buffer: the copy engines read it from the caches.
  row_copy fill(const matrix_block& part, size_type offset) const {
    return pageable() ? copy(buffer(part, offset), view(data_, part), false) : row_copy{};
  }
  /// And out of it.
  row_copy empty(const matrix_block& part, size_type offset) const {
    return pageable() ? copy(view(data_, part), buffer(part, offset), true) : row_copy{};
  }

 private:
  matrix_view<T> view(T* matrix, const matrix_block& part) const {
    return {matrix + part.y * cols_ + part.x, part.rows, part.cols, cols_};
  }
  matrix_view<T> buffer(const matrix_block& part, size_type offset) const {
    return {reinterpret_cast<T*>(between_ + offset), part.rows, part.cols, part.cols};
  }
  static row_copy copy(matrix_view<T> to, matrix_view<T> from, bool past_caches) {
    return {reinterpret_cast<unsigned char*>(to.data),
            to.stride * sizeof(T),
            reinterpret_cast<const unsigned char*>(from.data),
            from.stride * sizeof(T),
            to.cols * sizeof(T),
            to.rows,
            past_caches};
  }

  T* data_;
  size_type rows_;
  size_type cols_;
  T* mapped_ = nullptr;  ///< what the GPU calls data_; null: it is pageable
  unsigned char* between_ = nullptr;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
