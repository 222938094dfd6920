// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What is asked of a rectangle in place, how much scratch memory it needs at least, and what the device offers to its
/// kernels.

#pragma once

#include <tiletranspose/detail/core/kernel_pointer.cuh>
#include <tiletranspose/detail/core/shared_limit.cuh>
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

/// Bytes of a band's rows in scratch memory: the least that a caller must have for each row. H200, 2026-11-22, % of
/// cudaMemcpyAsync with 64, 128 and 256: 2097143 x 127 floats 10.6, 14.8, 18.6, 1048573 x 255 10.4, 14.5, 18.4.
inline constexpr size_type band_bytes = 128;

/// Scratch that stays in the L2 cache beside what passes through it. H200, 2026-11-22, % of cudaMemcpyAsync with 12,
/// 24, 48 and 96 MB: 14600 x 14700 elements of 16 bytes 17.4, 18.7, 19.6, 20.5, 14700 x 14600 15.2, 16.3, 16.7, 16.9.
inline constexpr size_type cached_scratch_bytes = 24 * 1024 * 1024;

/// The smallest scratch for a matrix: one band, which the longest row fits, too; or all
/// of it, where that is less or where a side is too long for 32-bit arithmetic.
inline size_type least_scratch(size_type nx, size_type ny, size_type element) {
  const size_type longer = larger(nx, ny);
  const size_type shorter = smaller(nx, ny);
  const size_type band_cols = larger<size_type>(band_bytes / element, 1);
  const bool whole = shorter <= band_cols || longer >= size_type{1} << 31;
  return (whole ? shorter : band_cols) * longer * element;
}

/// What a device offers to a kernel.
struct device_limits {
  int shared_of_block = 0;
  int shared_of_multiprocessor = 0;
  int multiprocessors = 0;
  int starts_together = 0;  ///< knows cooperative launches
};

inline cudaError_t ask_device(device_limits& limits) {
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  const auto ask = [&](int& value, cudaDeviceAttr attribute) {
    if (status == cudaSuccess) { status = cudaDeviceGetAttribute(&value, attribute, device); }
  };
  ask(limits.shared_of_multiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  ask(limits.multiprocessors, cudaDevAttrMultiProcessorCount);
  ask(limits.starts_together, cudaDevAttrCooperativeLaunch);
  limits.shared_of_block = static_cast<int>(most_shared_bytes());
  return status;
}

/// True where `rows` rows fit the shared memory of a block.
inline bool fits_block(const device_limits& limits, const rectangle& grid, size_type rows,
                       size_type element) {
  return rows * grid.cols * element + max_access_bytes <=
         static_cast<size_type>(limits.shared_of_block);
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
