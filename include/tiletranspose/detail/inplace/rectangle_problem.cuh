// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What is asked of a rectangle in place, and what the device offers to its kernels.

#pragma once

#include <tiletranspose/detail/choose/choose_inplace.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/inplace/rectangle_grid.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The work on one rectangle: `rows` > `cols` of the grid, whatever the matrix; of segments, `rows` are the slabs.
struct rectangle_problem {
  unsigned char* data;
  unsigned char* scratch;
  size_type scratch_bytes;
  size_type rows;
  size_type cols;
  bool undo;  ///< the matrix has as many rows as the grid has columns
};

/// What a device offers to a kernel.
struct device_limits {
  size_type shared_of_block = 0;
  size_type shared_of_multiprocessor = 0;
  size_type multiprocessors = 0;
  size_type starts_together = 0;  ///< knows cooperative launches
};

inline cudaError_t ask_device(device_limits& limits) {
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  const auto ask = [&](size_type& value, cudaDeviceAttr attribute) {
    int known = 0;
    if (status == cudaSuccess) { status = cudaDeviceGetAttribute(&known, attribute, device); }
    value = static_cast<size_type>(known);
  };
  ask(limits.shared_of_multiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  ask(limits.multiprocessors, cudaDevAttrMultiProcessorCount);
  ask(limits.starts_together, cudaDevAttrCooperativeLaunch);
  limits.shared_of_block = most_shared_bytes();
  return status;
}

/// As start(), of blocks that wait for each other: all of them run at once.
template <class Kernel>
cudaError_t start_together(Kernel* kernel, size_type blocks, int threads, size_type shared_bytes,
                           void** arguments, cudaStream_t stream) {
  return cudaLaunchCooperativeKernel(kernel_pointer(kernel), dim3(static_cast<unsigned>(blocks)),
                                     dim3(static_cast<unsigned>(threads)), arguments, shared_bytes,
                                     stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
