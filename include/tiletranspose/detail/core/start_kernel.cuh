// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Starting a kernel on the current device.

#pragma once

#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/core/kernel_pointer.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The launch call's own status: an error that somebody else left behind is neither returned nor cleared.
template <class Kernel>
cudaError_t start(Kernel* kernel, dim3 grid, int threads, size_type shared_bytes, void** arguments,
                  cudaStream_t stream) {
  return cudaLaunchKernel(kernel_pointer(kernel), grid, dim3(static_cast<unsigned>(threads)),
                          arguments, shared_bytes, stream);
}

/// The same for a grid of one axis.
template <class Kernel>
cudaError_t start(Kernel* kernel, size_type blocks, int threads, size_type shared_bytes,
                  void** arguments, cudaStream_t stream) {
  if (blocks > max_blocks) { return cudaErrorInvalidValue; }  // squares in place, tens of terabytes
  return start(kernel, dim3(static_cast<unsigned>(blocks)), threads, shared_bytes, arguments,
               stream);
}

/// What the current device says of itself; `unknown` where it cannot be asked, so that the launch says why.
inline size_type ask_device_for(cudaDeviceAttr attribute, size_type unknown) {
  int device = 0;
  int value = 0;
  const bool known = cudaGetDevice(&device) == cudaSuccess &&
                     cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess;
  return known ? static_cast<size_type>(value) : unknown;
}

/// The shared memory that the blocks of a multiprocessor divide among themselves.
inline size_type shared_bytes_of_multiprocessor() {
  return ask_device_for(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
