// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernel of planes as CUDA sees it, and its launches.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/launch_bounds.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/panel/plane_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <class Shape, bool ToPlanes>
__global__ void __launch_bounds__(Shape::threads,
                                  resident_blocks(Shape::threads, Shape::words <= 16 ? 4 : 2))
    plane_kernel(const __grid_constant__ plane_arguments<Shape::planes> arguments) {
  if constexpr (Shape::fits_registers) {
    const unsigned warp = static_block<Shape::threads>{}.thread_rank() / 32;
    move_planes<Shape, ToPlanes>(arguments, blockIdx.x * size_type{Shape::threads / 32} + warp);
  } else {
    move_plane_accesses<Shape, ToPlanes>(static_block<Shape::threads>{}, arguments, blockIdx.x);
  }
}

/// Launches for as many structures as one grid takes at a time.
template <class Shape, bool ToPlanes>
cudaError_t launch_planes(plane_arguments<Shape::planes> arguments, cudaStream_t stream) {
  constexpr size_type block_structs =
      Shape::fits_registers
          ? size_type{Shape::warp_structures} * (Shape::threads / 32)
          : larger<size_type>(
                Shape::threads * Shape::accesses * Shape::access / Shape::struct_bytes, 1);
  constexpr size_type block_bytes = size_type{Shape::threads} * Shape::accesses * Shape::access;
  constexpr size_type most = max_blocks / 4 * block_structs;
  size_type left = arguments.count;
  while (left > 0) {
    arguments.count = smaller(left, most);
    const size_type blocks = Shape::fits_registers
                                 ? divide_up(arguments.count, block_structs)
                                 : divide_up(arguments.count * Shape::struct_bytes, block_bytes);
    void* pointers[] = {&arguments};
    const cudaError_t status =
        start(&plane_kernel<Shape, ToPlanes>, blocks, Shape::threads, 0, pointers, stream);
    if (status != cudaSuccess) { return status; }
    left -= arguments.count;
    arguments.structs += arguments.count * Shape::struct_bytes;
    for (unsigned char*& plane : arguments.planes) {
      plane += arguments.count * Shape::element_bytes;
    }
  }
  return cudaSuccess;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
