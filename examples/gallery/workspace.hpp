// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The device memory that all routines share.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>

namespace gallery {

/// Throws `failure` unless the call succeeded.
void check(cudaError_t status, const std::string& call);

class emulation;

/// What a case gets to work with; a handle, see `device_workspace` for the owner.
struct workspace {
  unsigned char* in;
  unsigned char* out;
  std::size_t in_bytes;
  std::size_t out_bytes;
  unsigned long long* wrong;  // one counter
  cudaStream_t stream;
  emulation* cpu = nullptr;  // who runs bodies where there is no GPU; the memory is the host's then
};

class device_workspace {
 public:
  device_workspace(std::size_t in_bytes, std::size_t out_bytes);
  workspace get() const;

 private:
  struct memory_deleter {
    void operator()(void* memory) const { cudaFree(memory); }
  };
  struct stream_deleter {
    void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
  };
  template <class T>
  using device_array = std::unique_ptr<T[], memory_deleter>;

  std::size_t in_bytes_;
  std::size_t out_bytes_;
  device_array<unsigned char> in_;
  device_array<unsigned char> out_;
  device_array<unsigned long long> wrong_;
  std::unique_ptr<CUstream_st, stream_deleter> stream_;
};

}  // namespace gallery
