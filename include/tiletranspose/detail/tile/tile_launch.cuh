// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernels of tiles as CUDA sees them.

#pragma once

#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/tile/tile_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <class Shape, int BlocksPerSm>
__global__ void __launch_bounds__(Shape::threads, resident_blocks(Shape::threads, BlocksPerSm))
    tile_kernel(const __grid_constant__ tile_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  move_tile<Shape>(static_block<Shape::threads>{}, tiletranspose_dynamic_shared, arguments,
                   blockIdx.x);
}

template <class Shape>
__global__ void __launch_bounds__(Shape::threads)
    vector_kernel(const __grid_constant__ vector_tile_arguments arguments) {
  __shared__ __align__(16) unsigned char shared[Shape::shared_bytes];
  move_vector_tile<Shape>(static_block<Shape::threads>{}, shared, arguments, blockIdx.y,
                          blockIdx.x);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
