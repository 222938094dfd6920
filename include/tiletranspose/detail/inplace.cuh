// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Launches of the kernels that transpose a matrix in its own memory.

#pragma once

#include <tiletranspose/detail/launch.cuh>
#include <tiletranspose/detail/swap_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <class Shape>
__global__ void __launch_bounds__(2 * Shape::threads)
    swap_kernel(const __grid_constant__ swap_arguments arguments) {
  __shared__ __align__(16) unsigned char shared[2 * Shape::shared_bytes];
  swap_tiles<Shape>(static_block<2 * Shape::threads>{}, shared, arguments, blockIdx.x);
}

template <class T, class Tile, int Threads>
__global__ void __launch_bounds__(Threads)
    swap_views_kernel(const __grid_constant__ swap_arguments arguments) {
  __shared__ typename Tile::storage storage[2];
  swap_views<T, Tile>(static_block<Threads>{}, storage, arguments, blockIdx.x);
}

template <class Kernel>
cudaError_t launch_swaps(Kernel* kernel, const square_problem& square, int tile_side, int threads,
                         cudaStream_t stream) {
  swap_arguments arguments{square, pair_order(divide_up(square.side, tile_side))};
  void* pointers[] = {&arguments};
  return start(kernel, arguments.order.blocks(), threads, 0, pointers, stream);
}

template <int ElementBytes, int Alignment>
cudaError_t launch_swapped_views(const square_problem& square, cudaStream_t stream) {
  using tile = swap_tile<ElementBytes, Alignment>;
  return launch_swaps(
      &swap_views_kernel<typename tile::element_type, typename tile::type, tile::threads>, square,
      tile::side, tile::threads, stream);
}

/// Transposes a square in place. `problem.in` is ignored: it is `problem.out`.
template <int ElementBytes, int Alignment>
cudaError_t transpose_square(const tile_problem& problem, cudaStream_t stream) {
  const square_problem square{static_cast<unsigned char*>(problem.out), problem.out_stride_bytes,
                              problem.nx};
  if (square.side == 1) { return cudaSuccess; }
  constexpr int wanted = access_width(ElementBytes);
  constexpr int promised = access_width(ElementBytes, Alignment);
  const size_type bits = reinterpret_cast<size_type>(square.data) | square.stride_bytes;
  if constexpr (wanted == ElementBytes) {
    if ((bits | square.side * ElementBytes) % max_access_bytes == 0) {
      using shape = swap_shape<ElementBytes>;
      return launch_swaps(&swap_kernel<shape>, square, shape::tile_rows, 2 * shape::threads,
                          stream);
    }
  }
  if constexpr (promised < wanted) {
    if (bits % wanted != 0) { return launch_swapped_views<ElementBytes, promised>(square, stream); }
  }
  return launch_swapped_views<ElementBytes, wanted>(square, stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
