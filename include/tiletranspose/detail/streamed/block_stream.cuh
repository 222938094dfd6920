// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Brings the blocks of a host matrix through the current GPU: copies both ways on streams of their own, transposes on the
/// caller's, and pinned memory between where the matrix itself is pageable.

#pragma once

#include <tiletranspose/detail/calls/launch.cuh>
#include <tiletranspose/detail/core/copy_rows.cuh>
#include <tiletranspose/detail/core/side_stream.cuh>
#include <tiletranspose/detail/request/make_request.cuh>
#include <tiletranspose/detail/streamed/block_plan.cuh>
#include <tiletranspose/detail/streamed/copy_team.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// What streamed_transpose may be told.
struct streamed_options {
  /// Pinned memory (cudaMallocHost) through which pageable matrices go; null: they are handed to CUDA as they are.
  void* pinned = nullptr;
  size_type pinned_bytes = 0;
  /// Host threads that copy into pinned memory and out of it; 0: as many as the machine has, at most 8.
  int threads = 0;
  /// Called on the caller's thread whenever another block stands in the output. It must not throw.
  void (*progress)(void* user, size_type done_bytes, size_type all_bytes) = nullptr;
  void* user = nullptr;
};

namespace detail {

/// The machine of stream_blocks.
template <class T>
class block_stream {
 public:
  block_stream(T* out, const T* in, size_type nx, size_type ny, const block_plan& plan, void* temp,
               const streamed_options& options, cudaStream_t work)
      : out_(out),
        in_(in),
        nx_(nx),
        ny_(ny),
        plan_(plan),
        temp_(static_cast<unsigned char*>(temp)),
        options_(options),
        work_(work),
        team_(options.pinned != nullptr ? team_size(options.threads) : 1) {}

  cudaError_t prepare() {
    stream_mark start;
    bool made = ok(coming_.make()) && ok(going_.make()) && ok(start.make());
    for (stream_mark* marks : {loaded_, transposed_, stored_}) {
      for (size_type i = 0; i < blocks_under_way; ++i) { made = made && ok(marks[i].make()); }
    }
    if (made && ok(start.set(work_))) { ok(start.hold(coming_.get())); }
    return status_;
  }

  bool load(size_type k) {
    const matrix_block block = plan_.block(k);
    const size_type row_bytes = block.cols * sizeof(T);
    const T* const from = in_ + block.y * nx_ + block.x;
    unsigned char* const to = temp_ + plan_.in_offset(k);
    if (pinned() == nullptr) {
      return ok(copy_rows(to, row_bytes, from, nx_ * sizeof(T), row_bytes, block.rows,
                          coming_.get())) &&
             ok(loaded_[k % blocks_under_way].set(coming_.get()));
    }
    unsigned char* const between = pinned() + plan_.in_offset(k);
    team_.copy({between, row_bytes, reinterpret_cast<const unsigned char*>(from), nx_ * sizeof(T),
                row_bytes, block.rows});
    return ok(copy_rows(to, row_bytes, between, row_bytes, row_bytes, block.rows, coming_.get())) &&
           ok(loaded_[k % blocks_under_way].set(coming_.get()));
  }
  bool transpose(size_type k) {
    const matrix_block block = plan_.block(k);
    const T* const from = reinterpret_cast<const T*>(temp_ + plan_.in_offset(k));
    T* const to = reinterpret_cast<T*>(temp_ + plan_.out_offset(k));
    return ok(loaded_[k % blocks_under_way].hold(work_)) &&
           ok(transpose_bytes<sizeof(T), alignof(T)>(
               dense_request(to, from, block.cols, block.rows), work_)) &&
           ok(transposed_[k % blocks_under_way].set(work_));
  }
  bool store(size_type k) {
    const matrix_block block = plan_.block(k);
    const size_type row_bytes = block.rows * sizeof(T);
    void* to = out_ + block.x * ny_ + block.y;
    size_type pitch = ny_ * sizeof(T);
    if (pinned() != nullptr) {
      to = pinned() + plan_.out_offset(k);
      pitch = row_bytes;
    }
    return ok(transposed_[k % blocks_under_way].hold(going_.get())) &&
           ok(copy_rows(to, pitch, temp_ + plan_.out_offset(k), row_bytes, row_bytes, block.cols,
                        going_.get())) &&
           ok(stored_[k % blocks_under_way].set(going_.get()));
  }
  bool finish(size_type k) {
    if (!ok(stored_[k % blocks_under_way].wait())) { return false; }
    const matrix_block block = plan_.block(k);
    if (pinned() != nullptr) {
      const size_type row_bytes = block.rows * sizeof(T);
      team_.copy({reinterpret_cast<unsigned char*>(out_ + block.x * ny_ + block.y), ny_ * sizeof(T),
                  pinned() + plan_.out_offset(k), row_bytes, row_bytes, block.cols});
    }
    done_bytes_ += block.rows * block.cols * sizeof(T);
    if (options_.progress != nullptr) {
      options_.progress(options_.user, done_bytes_, nx_ * ny_ * sizeof(T));
    }
    return true;
  }

  /// Nothing is under way any more where it returns, whatever failed.
  cudaError_t run() {
    (void)stream_blocks(plan_, *this);
    for (cudaStream_t stream : {coming_.get(), work_, going_.get()}) {
      ok(cudaStreamSynchronize(stream));
    }
    return status_;
  }

 private:
  unsigned char* pinned() const { return static_cast<unsigned char*>(options_.pinned); }
  static int team_size(int wanted) {
    if (wanted > 0) { return wanted; }
    const auto machine = static_cast<int>(std::thread::hardware_concurrency());
    return machine < 1 ? 1 : machine > 8 ? 8 : machine;
  }
  bool ok(cudaError_t status) {
    if (status_ == cudaSuccess) { status_ = status; }
    return status_ == cudaSuccess;
  }

  T* out_;
  const T* in_;
  size_type nx_;
  size_type ny_;
  block_plan plan_;
  unsigned char* temp_;
  streamed_options options_;
  cudaStream_t work_;
  copy_team team_;
  side_stream coming_;
  side_stream going_;
  stream_mark loaded_[blocks_under_way];
  stream_mark transposed_[blocks_under_way];
  stream_mark stored_[blocks_under_way];
  size_type done_bytes_ = 0;
  cudaError_t status_ = cudaSuccess;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
