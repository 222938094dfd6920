// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Brings the blocks of a host matrix through the current GPU: in by the copy engines, transposed on the caller's
/// stream, and out by a kernel that stores into a pinned output, or by the copy engines into a buffer. For the GPU a block
/// is in the matrix itself where that is pinned, else in pinned buffers that the host fills and empties.

#pragma once

#include <memory>

#include <tiletranspose/detail/calls/transpose.cuh>
#include <tiletranspose/detail/core/transfer.cuh>
#include <tiletranspose/detail/request/make_request.cuh>
#include <tiletranspose/detail/streamed/block_plan.cuh>
#include <tiletranspose/detail/streamed/row_store.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// What streamed_transpose may be told.
struct streamed_options {
  /// Pinned memory (cudaMallocHost) through which pageable matrices go; null: the call allocates some.
  void* pinned = nullptr;
  size_type pinned_bytes = 0;
  /// Host threads that copy into pinned memory and out of it; 0: as many as the machine has, at most 16.
  int threads = 0;
  /// Called on the caller's thread whenever another block stands in the output. It must not throw.
  void (*progress)(void* user, size_type done_bytes, size_type all_bytes) = nullptr;
  void* user = nullptr;
};

namespace detail {

/// Buffers in pinned memory, in bytes: what stays in the host's caches until it is copied on. CUDA allocates a MiB in
/// 0.7 ms, so that a call takes less of its own.
inline constexpr size_type lent_buffer_bytes = size_type{16} << 20;
inline constexpr size_type own_buffer_bytes = size_type{8} << 20;

/// A matrix in host memory, dense and not empty, and where its blocks are for the GPU.
template <class T>
struct host_side {
  T* data;
  size_type rows;
  size_type cols;
  T* mapped = nullptr;               ///< what the GPU calls data; null: it is pageable
  unsigned char* between = nullptr;  ///< pinned memory for the blocks of a pageable matrix

  /// Finds out whether the GPU reaches the matrix: both of its ends.
  cudaError_t look() {
    const size_type last = rows * cols - 1;
    cudaPointerAttributes first{};
    cudaPointerAttributes end{};
    first_failure ok;
    const bool known = ok(cudaPointerGetAttributes(&first, data)) &&
                       ok(cudaPointerGetAttributes(&end, data + last)) &&
                       first.type != cudaMemoryTypeUnregistered &&
                       end.type != cudaMemoryTypeUnregistered;
    auto* const address = static_cast<T*>(first.devicePointer);
    mapped = known && address + last == end.devicePointer ? address : nullptr;
    return ok.status;
  }
  bool pageable() const { return mapped == nullptr; }

  /// A block as the GPU finds it; offset: of its buffer, in bytes.
  matrix_view<T> block(const matrix_block& part, size_type offset) const {
    return pageable() ? buffer(part, offset) : view(mapped, part);
  }
  /// What brings a block of a pageable matrix into its buffer: the copy engines read it from the caches.
  row_copy fill(const matrix_block& part, size_type offset) const {
    return pageable() ? row_copy_of(buffer(part, offset), view(data, part)) : row_copy{};
  }
  /// And out of it.
  row_copy empty(const matrix_block& part, size_type offset) const {
    return pageable() ? row_copy_of(view(data, part), buffer(part, offset)) : row_copy{};
  }

 private:
  matrix_view<T> view(T* matrix, const matrix_block& part) const {
    return {matrix + part.y * cols + part.x, part.rows, part.cols, cols};
  }
  matrix_view<T> buffer(const matrix_block& part, size_type offset) const {
    return {reinterpret_cast<T*>(between + offset), part.rows, part.cols, part.cols};
  }
};

/// Brings the blocks through the GPU. What stands behind `work` is its own.
template <class T>
struct block_stream {
  host_side<T> out;
  host_side<T> in;
  block_plan plan;
  unsigned char* temp;
  streamed_options options;
  cudaStream_t work;
  copy_team team{out.pageable() || in.pageable() ? team_size(options.threads) : 1};
  side_stream coming{};
  side_stream going{};
  stream_mark loaded[blocks_under_way]{};
  stream_mark transposed[blocks_under_way]{};
  stream_mark done[blocks_under_way]{};
  size_type done_bytes = 0;
  first_failure ok{};

  /// Nothing is under way any more where it returns, whatever failed.
  cudaError_t run() {
    stream_mark start;
    bool made = ok(coming.make()) && ok(going.make()) && ok(start.make());
    for (stream_mark* marks : {loaded, transposed, done}) {
      for (size_type i = 0; i < blocks_under_way; ++i) { made = made && ok(marks[i].make()); }
    }
    made = made && ok(start.set(work)) && ok(start.wait());
    for (size_type k = 0; made && k < plan.count() + blocks_under_way; ++k) {
      made = exchange(k) && (k >= plan.count() || queue(k));
    }
    for (cudaStream_t stream : {coming.get(), work, going.get()}) {
      ok(cudaStreamSynchronize(stream));
    }
    return ok.status;
  }

 private:
  /// Waits until block k - 3 has left the GPU, and has the host finish it and make block k ready, which takes its buffers.
  bool exchange(size_type k) {
    const bool finishes = k >= blocks_under_way;
    if (finishes && !ok(done[k % blocks_under_way].wait())) { return false; }
    const matrix_block last = finishes ? plan.block(k - blocks_under_way) : matrix_block{};
    const matrix_block next = k < plan.count() ? plan.block(k) : matrix_block{};
    team.copy(in.fill(next, plan.offset(k)), out.empty(last.transposed(), plan.offset(k)));
    done_bytes += last.rows * last.cols * sizeof(T);
    if (finishes && options.progress != nullptr) {
      options.progress(options.user, done_bytes, in.rows * in.cols * sizeof(T));
    }
    return true;
  }
  /// Queues all that the GPU does with block k.
  bool queue(size_type k) {
    const matrix_block block = plan.block(k);
    const size_type slot = k % blocks_under_way;
    const matrix_view<T> from = in.block(block, plan.offset(k));
    const matrix_view<T> to = out.block(block.transposed(), plan.offset(k));
    const matrix_view<T> arrived{reinterpret_cast<T*>(temp + plan.offset(k)), from.rows, from.cols,
                                 from.cols};
    const matrix_view<T> result = aligned_as(to, temp + plan.all_bytes() + plan.offset(k));
    return ok(copy(arrived, from, coming.get())) && ok(loaded[slot].set(coming.get())) &&
           ok(loaded[slot].hold(work)) &&
           ok(run_transpose<sizeof(T), alignof(T), matrices::one>(view_request(result, arrived),
                                                                  work)) &&
           ok(transposed[slot].set(work)) && ok(transposed[slot].hold(going.get())) &&
           ok(out.pageable() ? copy(to, result, going.get())
                             : store_rows(to, result, going.get())) &&
           ok(done[slot].set(going.get()));
  }
  /// Rows in scratch whose addresses have the last four bits of those of `rows`.
  static matrix_view<T> aligned_as(matrix_view<T> rows, unsigned char* scratch) {
    const size_type lead = (detail::address_bits(rows.data) - detail::address_bits(scratch)) % 16;
    return {reinterpret_cast<T*>(scratch + lead), rows.rows, rows.cols,
            rows.cols + (rows.stride - rows.cols) % (most_padding + 1)};
  }
  static cudaError_t copy(matrix_view<T> to, matrix_view<T> from, cudaStream_t stream) {
    return detail::copy_rows(to.data, to.stride * sizeof(T), from.data, from.stride * sizeof(T),
                             to.cols * sizeof(T), to.rows, stream);
  }
  static int team_size(int wanted) {
    const auto machine = static_cast<int>(std::thread::hardware_concurrency());
    return wanted > 0 ? wanted : smaller(larger(machine, 1), 16);
  }
};

/// Transposes a matrix of which everything else is known to be right.
template <class T>
cudaError_t stream_matrix(host_side<T> out, host_side<T> in, void* temp, size_type temp_bytes,
                          const streamed_options& options, cudaStream_t stream) {
  first_failure ok;
  if (!ok(in.look()) || !ok(out.look())) { return ok.status; }
  const size_type bytes = in.rows * in.cols * sizeof(T);
  const size_type pinned_buffers =
      blocks_under_way * ((in.pageable() ? 1 : 0) + (out.pageable() ? 1 : 0));
  size_type buffer = temp_bytes / (2 * blocks_under_way);
  std::unique_ptr<void, cudaError_t (*)(void*)> own(nullptr, &cudaFreeHost);
  void* pinned = options.pinned;
  if (pinned_buffers > 0) {
    const size_type most = pinned != nullptr ? lent_buffer_bytes : own_buffer_bytes;
    buffer = smaller(buffer, good_buffer_bytes(bytes, most));
    if (pinned != nullptr) {
      buffer = smaller(buffer, options.pinned_bytes / pinned_buffers);
    } else {
      if (!ok(cudaMallocHost(&pinned, pinned_buffers * buffer))) { return ok.status; }
      own.reset(pinned);
    }
  }
  const block_plan plan(in.cols, in.rows, sizeof(T), buffer);
  in.between = static_cast<unsigned char*>(pinned);
  out.between = in.between + (in.pageable() ? plan.all_bytes() : 0);
  return block_stream<T>{out, in, plan, static_cast<unsigned char*>(temp), options, stream}.run();
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
