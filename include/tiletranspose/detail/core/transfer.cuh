// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Copies of rows between memories, by the copy engines, and streams and events that a call makes for itself. Both may be
/// destroyed while work that uses them is under way: CUDA lets go of them when it is done.

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Whether the calls so far have succeeded: ok(status) is true until one fails, whose status stays.
struct first_failure {
  cudaError_t status = cudaSuccess;
  bool operator()(cudaError_t next) {
    if (status == cudaSuccess) { status = next; }
    return status == cudaSuccess;
  }
};

/// A stream of the device that is current when it is made, or one that the caller lends.
class side_stream {
 public:
  side_stream() = default;
  side_stream& operator=(side_stream&&) = delete;
  ~side_stream() {
    if (owned_) { (void)cudaStreamDestroy(stream_); }
  }
  /// Its blocks go before those of streams of the usual priority: transfers need few of them, and the link waits.
  cudaError_t make(cudaStream_t lent = nullptr) {
    stream_ = lent;
    if (lent != nullptr) { return cudaSuccess; }
    int least = 0;
    int greatest = 0;
    first_failure ok;
    owned_ = ok(cudaDeviceGetStreamPriorityRange(&least, &greatest)) &&
             ok(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest));
    return ok.status;
  }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
  bool owned_ = false;
};

/// A mark in a stream, of the device that is current when it is made.
class stream_mark {
 public:
  stream_mark() = default;
  stream_mark& operator=(stream_mark&&) = delete;
  ~stream_mark() {
    if (event_ != nullptr) { (void)cudaEventDestroy(event_); }
  }
  cudaError_t make() { return cudaEventCreateWithFlags(&event_, cudaEventDisableTiming); }
  cudaError_t set(cudaStream_t stream) { return cudaEventRecord(event_, stream); }
  cudaError_t hold(cudaStream_t stream) const { return cudaStreamWaitEvent(stream, event_, 0); }
  cudaError_t wait() const { return cudaEventSynchronize(event_); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// CUDA's copies of rows take rows that lie closer together than this, in bytes.
inline constexpr size_type most_pitch_bytes = size_type{1} << 31;

/// Two devices whose kernels cannot reach each other's memory: CUDA takes what is copied through the host.
struct devices_apart {
  int out;
  int in;
};

/// Copies `rows` rows of `row_bytes` bytes between any memories that one address space names: this GPU's, another's, the
/// host's. Rows that follow each other without a gap on both sides are one; those too far apart are copied one by one.
/// \param apart  two GPUs whose memories no address space names together, else null
inline cudaError_t copy_rows(void* out, size_type out_pitch, const void* in, size_type in_pitch,
                             size_type row_bytes, size_type rows, cudaStream_t stream,
                             const devices_apart* apart = nullptr) {
  if (rows == 0 || row_bytes == 0) { return cudaSuccess; }
  auto* const to = static_cast<unsigned char*>(out);
  auto* const from = static_cast<unsigned char*>(const_cast<void*>(in));
  const auto copy_row = [&](size_type row, size_type bytes) {
    void* const place = to + row * out_pitch;
    const void* const source = from + row * in_pitch;
    return apart == nullptr
               ? cudaMemcpyAsync(place, source, bytes, cudaMemcpyDefault, stream)
               : cudaMemcpyPeerAsync(place, apart->out, source, apart->in, bytes, stream);
  };
  if (rows == 1 || (out_pitch == row_bytes && in_pitch == row_bytes)) {
    return copy_row(0, row_bytes * rows);
  }
  if (out_pitch < most_pitch_bytes && in_pitch < most_pitch_bytes) {
    if (apart == nullptr) {
      return cudaMemcpy2DAsync(to, out_pitch, from, in_pitch, row_bytes, rows, cudaMemcpyDefault,
                               stream);
    }
    cudaMemcpy3DPeerParms copy{};
    copy.dstDevice = apart->out;
    copy.dstPtr = {to, out_pitch, row_bytes, rows};
    copy.srcDevice = apart->in;
    copy.srcPtr = {from, in_pitch, row_bytes, rows};
    copy.extent = {row_bytes, rows, 1};
    return cudaMemcpy3DPeerAsync(&copy, stream);
  }
  first_failure ok;
  for (size_type row = 0; row < rows && ok(copy_row(row, row_bytes)); ++row) {}
  return ok.status;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
