// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernel of planes as CUDA sees it, and its launches.

#pragma once

#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/panel/plane_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <class Shape, bool ToPlanes>
__global__ void __launch_bounds__(Shape::threads,
                                  resident_blocks(Shape::threads, Shape::words <= 16 ? 4 : 2))
    plane_kernel(const __grid_constant__ plane_arguments<Shape::planes> arguments) {
  const unsigned rank = static_block<Shape::threads>{}.thread_rank();
  if constexpr (Shape::in_registers) {
    move_planes<Shape, ToPlanes>(arguments,
                                 blockIdx.x * size_type{Shape::threads / 32} + rank / 32);
  } else {
    constexpr size_type accesses = Shape::block_bytes / Shape::access;
    const size_type first = blockIdx.x * accesses;
    const size_type end = smaller(first + accesses, arguments.count * Shape::struct_accesses);
    move_accesses<Shape, ToPlanes>(arguments, first + rank, end, Shape::threads);
  }
}

/// Launches for as many structures as one grid takes at a time.
template <bool ToPlanes, int ElementBytes, int Alignment, int Planes>
cudaError_t launch_planes(const plane_request& request, cudaStream_t stream) {
  plane_arguments<Planes> arguments{};
  arguments.structs = static_cast<unsigned char*>(const_cast<void*>(request.structs));
  for (int k = 0; k < Planes; ++k) {
    arguments.planes[k] = static_cast<unsigned char*>(const_cast<void*>(request.plane[k]));
  }
  return with_plane_shape<ElementBytes, Alignment, Planes>(request, [&](auto shape_value) {
    using shape = decltype(shape_value);
    return plan_planes<shape>(request.structures, [&](size_type count, size_type blocks) {
      arguments.count = count;
      const cudaError_t status =
          start(&plane_kernel<shape, ToPlanes>, blocks, shape::threads, 0, stream, arguments);
      arguments.structs += count * shape::struct_bytes;
      for (unsigned char*& plane : arguments.planes) { plane += count * ElementBytes; }
      return status;
    });
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
