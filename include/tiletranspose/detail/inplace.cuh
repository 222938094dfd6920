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
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  swap_tiles<Shape>(static_block<2 * Shape::threads>{}, tiletranspose_dynamic_shared, arguments,
                    blockIdx.x);
}

template <class Shape>
__global__ void __launch_bounds__(2 * Shape::threads,
                                  resident_blocks(2 * Shape::threads, Shape::blocks))
    swap_chunks_kernel(const __grid_constant__ swap_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  swap_chunks<Shape>(static_block<2 * Shape::threads>{}, tiletranspose_dynamic_shared, arguments,
                     blockIdx.x);
}

template <class T, class Tile, int Threads>
__global__ void __launch_bounds__(Threads)
    swap_views_kernel(const __grid_constant__ swap_arguments arguments) {
  __shared__ typename Tile::storage storage[2];
  swap_views<T, Tile>(static_block<Threads>{}, storage, arguments, blockIdx.x);
}

template <class Kernel>
cudaError_t launch_swaps(Kernel* kernel, const square_problem& square, int tile_side, int threads,
                         size_type shared_bytes, cudaStream_t stream, memory_range memory = {}) {
  swap_arguments arguments{square, pair_order(divide_up(square.side, tile_side)), memory};
  const cudaError_t status = allow_shared_bytes(kernel, shared_bytes);
  if (status != cudaSuccess) { return status; }
  void* pointers[] = {&arguments};
  return start(kernel, arguments.order.blocks(), threads, shared_bytes, pointers, stream);
}

/// Tiles that take a multiprocessor for themselves, or half of it, are for squares of so many a side. H200, 2026-11-22,
/// % of cudaMemcpyAsync with small and large ones, 2 bytes: 3077 a side 74, 62, 4099 70, 74; 4 bytes: 4099 79, 76, 8191
/// 74, 81; 8 bytes: 1027 123, 95, 2051 85, 93.
inline constexpr size_type large_tiles = 32;
/// The same of whole accesses. 1 byte, 8192 a side: 90, 87, 12288 89, 89, 16384 87, 92, 32768 85, 93; 2 bytes, 4096 94,
/// 93, 6144 90, 93, 8192 88, 93, 16384 87, 95.
inline constexpr size_type large_whole_tiles = 48;

/// True where a pair of large tiles fits a block and there is work for all multiprocessors.
inline bool takes_large_tiles(size_type elements, int tile_side, size_type shared_bytes) {
  const size_type least = large_tiles * tile_side;
  return elements >= least * least && shared_bytes <= most_shared_bytes();
}

template <class Shape>
cudaError_t launch_swapped_tiles(const square_problem& square, cudaStream_t stream) {
  return launch_swaps(&swap_kernel<Shape>, square, Shape::tile_rows, 2 * Shape::threads,
                      2 * Shape::shared_bytes, stream);
}

template <int ElementBytes, int Alignment>
cudaError_t launch_swapped_views(const square_problem& square, cudaStream_t stream) {
  if constexpr (access_width(ElementBytes, Alignment) == ElementBytes && ElementBytes <= 8) {
    using shape = chunk_shape<ElementBytes>;
    constexpr size_type shared_bytes = 2 * shape::shared_bytes;
    if (takes_large_tiles(square.side * square.side, shape::side, shared_bytes)) {
      const memory_range memory{square.data, square.data + (square.side - 1) * square.stride_bytes +
                                                 square.side * ElementBytes};
      return launch_swaps(&swap_chunks_kernel<shape>, square, shape::side, 2 * shape::threads,
                          shared_bytes, stream, memory);
    }
  }
  using tile = swap_tile<ElementBytes, Alignment>;
  return launch_swaps(
      &swap_views_kernel<typename tile::element_type, typename tile::type, tile::threads>, square,
      tile::side, tile::threads, 0, stream);
}

/// Transposes a square in place. `problem.in` is ignored: it is `problem.out`.
template <int ElementBytes, int Alignment>
cudaError_t transpose_square(const tile_problem& problem, cudaStream_t stream) {
  const square_problem square{static_cast<unsigned char*>(problem.out), problem.out_stride_bytes,
                              problem.nx};
  if (square.side == 1) { return cudaSuccess; }
  const size_type bits = reinterpret_cast<size_type>(square.data) | square.stride_bytes;
  if constexpr (access_width(ElementBytes) == ElementBytes) {
    if ((bits | square.side * ElementBytes) % max_access_bytes == 0) {
      if constexpr (ElementBytes <= 2) {
        using large = swap_shape<ElementBytes, large_swap_policy<ElementBytes>>;
        if (square.side >= large_whole_tiles * large::tile_rows &&
            2 * large::shared_bytes <= most_shared_bytes()) {
          return launch_swapped_tiles<large>(square, stream);
        }
      }
      return launch_swapped_tiles<swap_shape<ElementBytes>>(square, stream);
    }
  }
  return with_unit<ElementBytes, Alignment>(bits, [&](auto unit) {
    return launch_swapped_views<ElementBytes, decltype(unit)::value>(square, stream);
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
