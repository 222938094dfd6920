// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What is asked of a rectangle in place, and how its kernels are started.

#pragma once

#include <tiletranspose/detail/core/driver.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The work on one rectangle: `rows` > `cols` of the grid, whatever the matrix.
struct rectangle_problem {
  unsigned char* data;
  unsigned char* scratch;
  size_type scratch_bytes;
  size_type rows;
  size_type cols;
  size_type element_bytes;
  bool undo;  ///< the matrix has as many rows as the grid has columns

  size_type row_bytes() const { return cols * element_bytes; }
};

/// Blocks of a kernel that wait for each other.
struct blocks_at_once {
  size_type shared_bytes = 0;  ///< that each may have
  size_type count = 0;  ///< that run at once; 0 where the device knows no cooperative launches
};

/// Allows so many blocks that share a multiprocessor's memory equal parts of it, up to `most` bytes each.
template <class Kernel>
cudaError_t allow_at_once(Kernel* kernel, int threads, size_type sharing, size_type most,
                          blocks_at_once& allowed) {
  if (ask_device_for(cudaDevAttrCooperativeLaunch, 0) == 0) { return cudaSuccess; }
  constexpr size_type reserved = 1024;  // by the system, of every block's shared memory
  const size_type bytes = smaller(
      smaller(shared_bytes_of_multiprocessor() / sharing - reserved, most), most_shared_bytes());
  int resident = 0;
  cudaError_t status = allow_shared_bytes(kernel, bytes);
  if (status == cudaSuccess) {
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel_pointer(kernel),
                                                           threads, bytes);
  }
  allowed = {bytes, resident * ask_device_for(cudaDevAttrMultiProcessorCount, 0)};
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

template <bool Undo>
cudaError_t take_steps() {
  return cudaSuccess;
}
/// Takes steps one after the other or, to undo them, from the last to the first, until one fails.
template <bool Undo, class First, class... Others>
cudaError_t take_steps(First first, Others... others) {
  const auto behind = [&] { return take_steps<Undo>(others...); };
  const cudaError_t status = Undo ? behind() : first();
  return status != cudaSuccess ? status : Undo ? first() : behind();
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
