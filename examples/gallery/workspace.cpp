// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "workspace.hpp"

#include "failure.hpp"

namespace gallery {
namespace {

template <class T>
T* allocate(std::size_t count) {
  void* memory = nullptr;
  const std::size_t bytes = count * sizeof(T);
  check(cudaMalloc(&memory, bytes), "cudaMalloc of " + std::to_string(bytes) + " bytes");
  return static_cast<T*>(memory);
}

cudaStream_t make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return stream;
}

}  // namespace

void check(cudaError_t status, const std::string& call) {
  if (status != cudaSuccess) { throw failure(call + ": " + cudaGetErrorString(status)); }
}

device_workspace::device_workspace(std::size_t in_bytes, std::size_t out_bytes)
    : in_bytes_(in_bytes),
      out_bytes_(out_bytes),
      in_(allocate<unsigned char>(in_bytes)),
      out_(allocate<unsigned char>(out_bytes)),
      wrong_(allocate<unsigned long long>(1)),
      stream_(make_stream()) {}

workspace device_workspace::get() const {
  return {in_.get(), out_.get(), in_bytes_, out_bytes_, wrong_.get(), stream_.get(), nullptr};
}

}  // namespace gallery
