// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernels of panels of arrays of any rank and of planes as CUDA sees them, and their launches.

#pragma once

#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/panel/axes_panel_plan.cuh>
#include <tiletranspose/detail/panel/plane_kernel.cuh>
#include <tiletranspose/detail/panel/vectorised_kernel.cuh>
#include <tiletranspose/detail/panel/word_shifted_kernel.cuh>
#include <tiletranspose/group.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Moves panels of elements that are one access of `Bytes`. With six blocks for each multiprocessor those of 1, 2 and 16 bytes
/// spill. Shared memory: arguments.panel bytes and the panel. Barriers: one.
template <int Bytes>
__global__ void __launch_bounds__(panel_axes_threads,
                                  resident_blocks(panel_axes_threads,
                                                  Bytes == 4 || Bytes == 8 ? 6 : 5))
    axes_panel_kernel(const __grid_constant__ axes_panel_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  const static_block<panel_axes_threads> group{};
  const panel_part part(arguments, blockIdx.x);
  if (arguments.pads) {
    stage_and_gather<Bytes, true>(group, tiletranspose_dynamic_shared, arguments, part);
  } else {
    stage_and_gather<Bytes, false>(group, tiletranspose_dynamic_shared, arguments, part);
  }
}

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

/// Launches panels of elements whose addresses are multiples of `AccessBytes`.
template <int AccessBytes>
cudaError_t launch_panels(const relocation& move, cudaStream_t stream) {
  return plan_axes_panels(as_accesses(move, AccessBytes), [&](const auto& plan) {
    return start(&axes_panel_kernel<AccessBytes>, plan, stream);
  });
}

/// Launches planes: as many structures as one grid takes at a time.
template <bool ToPlanes, int ElementBytes, int Alignment, int Planes>
cudaError_t launch_planes(const plane_request& request, cudaStream_t stream) {
  plane_arguments<Planes> arguments{};
  arguments.structs = static_cast<unsigned char*>(const_cast<void*>(request.structs));
  for (int k = 0; k < Planes; ++k) {
    arguments.planes[k] = static_cast<unsigned char*>(const_cast<void*>(request.plane[k]));
  }
  return with_plane_shape<ElementBytes, Alignment, Planes>(request, [&](auto shape_value) {
    using shape = decltype(shape_value);
    return plan_planes<shape>(request.structures, [&](const auto& plan) {
      const size_type count = arguments.count = plan.arguments;
      const cudaError_t status =
          start(&plane_kernel<shape, ToPlanes>, plan.blocks, plan.threads, 0, stream, arguments);
      arguments.structs += count * shape::struct_bytes;
      for (unsigned char*& plane : arguments.planes) { plane += count * ElementBytes; }
      return status;
    });
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
