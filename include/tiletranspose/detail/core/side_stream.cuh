// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Streams and events that a call makes for itself. Both may be destroyed while work that uses them is under way: CUDA
/// lets go of them when it is done.

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A stream of the device that is current when it is made, or one that the caller lends.
class side_stream {
 public:
  side_stream() = default;
  side_stream(const side_stream&) = delete;
  side_stream& operator=(const side_stream&) = delete;
  ~side_stream() {
    if (owned_) { (void)cudaStreamDestroy(stream_); }
  }
  /// Its blocks go before those of streams of the usual priority: transfers need few of them, and the link waits.
  cudaError_t make(cudaStream_t lent = nullptr) {
    stream_ = lent;
    if (lent != nullptr) { return cudaSuccess; }
    int least = 0;
    int greatest = 0;
    cudaError_t status = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (status == cudaSuccess) {
      status = cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest);
    }
    owned_ = status == cudaSuccess;
    return status;
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
  stream_mark(const stream_mark&) = delete;
  stream_mark& operator=(const stream_mark&) = delete;
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

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
