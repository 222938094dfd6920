// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Launches of the kernels that transpose squares in their own memory: a matrix, or those of a rectangle's grid.

#pragma once

#include <tiletranspose/detail/choose/choose_small.cuh>
#include <tiletranspose/detail/core/element_tile.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/inplace/little_square.cuh>
#include <tiletranspose/detail/inplace/swap_byte_tiles.cuh>
#include <tiletranspose/detail/inplace/swap_tiles.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <class Shape>
__global__ void __launch_bounds__(2 * Shape::threads, Shape::least_blocks)
    swap_kernel(const __grid_constant__ swap_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  swap_tiles<Shape>(static_block<2 * Shape::threads>{}, tiletranspose_dynamic_shared, arguments,
                    blockIdx.x);
}

template <class Shape>
__global__ void __launch_bounds__(2 * Shape::threads,
                                  resident_blocks(2 * Shape::threads, Shape::blocks))
    swap_byte_tiles_kernel(const __grid_constant__ swap_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  swap_byte_tiles<Shape>(static_block<2 * Shape::threads>{}, tiletranspose_dynamic_shared,
                         arguments, blockIdx.x);
}

template <class Shape>
__global__ void __launch_bounds__(2 * Shape::threads)
    little_square_kernel(const __grid_constant__ square_problem square) {
  __shared__ typename Shape::tile::storage storage[2];
  swap_elements<Shape>(storage, square, blockIdx.y, blockIdx.x);
}

/// A tile of plain bytes as choose_inplace.cuh sees it.
template <class Shape>
inline constexpr byte_tile_size size_of_byte_tile{Shape::side, 2 * Shape::shared_bytes};

/// Takes the tile for squares of `side` a side, of a problem of so many elements: calls visit(kernel, side of a tile,
/// threads, shared bytes). `bits` has the lowest ones of the addresses where rows start.
template <int ElementBytes, int Access, class Visit>
cudaError_t with_square_kernel(size_type elements, size_type side, size_type bits, Visit visit) {
  const auto bytes = [&](auto shape) {
    using tile = decltype(shape);
    return visit(&swap_byte_tiles_kernel<tile>, tile::side, 2 * tile::threads,
                 size_type{2 * tile::shared_bytes});
  };
  using large = byte_tile_shape<ElementBytes, Access>;
  if constexpr (Access == ElementBytes) {
    const auto whole = [&](auto shape) {
      using tile = decltype(shape);
      return visit(&swap_kernel<tile>, tile::tile_rows, 2 * tile::threads,
                   size_type{2 * tile::shared_bytes});
    };
    using large_whole = large_swap_shape<ElementBytes>;
    switch (choose_square(ElementBytes, side, bits, size_of_byte_tile<large>,
                          {large_whole::tile_rows, 2 * large_whole::shared_bytes},
                          most_shared_bytes())) {
      case square_mover::whole:
        return whole(swap_shape<ElementBytes>{});
      case square_mover::large_whole:
        return whole(large_whole{});
      case square_mover::bytes:
        break;
    }
  }
  if constexpr (has_aligned_byte_tiles<ElementBytes, Access>) {
    using aligned =
        byte_tile_shape<ElementBytes, Access, aligned_byte_tile_policy<ElementBytes>, 16>;
    if (bits % max_access_bytes == 0 &&
        takes_large_tiles(size_of_byte_tile<aligned>, elements, side, most_shared_bytes())) {
      return bytes(aligned{});
    }
  }
  if (takes_large_tiles(size_of_byte_tile<large>, elements, side, most_shared_bytes())) {
    return bytes(large{});
  }
  return bytes(byte_tile_shape<ElementBytes, Access, small_byte_tile_policy<ElementBytes>>{});
}

/// Transposes `tall` rows of squares, the first of which starts at arguments.first. Precondition: the kernel is allowed
/// so many shared bytes.
template <class Kernel>
cudaError_t launch_swaps(Kernel* kernel, swap_arguments arguments, size_type tall, int threads,
                         size_type shared_bytes, cudaStream_t stream) {
  const size_type row_blocks = arguments.order.blocks() * arguments.wide.divisor;
  const size_type row_bytes = arguments.first.side * arguments.first.stride_bytes;
  void* pointers[] = {&arguments};
  // As many rows of squares at a time as one launch can take: all but of tens of gigabytes of small squares.
  const size_type together = larger<size_type>(max_blocks / row_blocks, 1);
  for (size_type done = 0; done < tall; done += together) {
    const cudaError_t started = start(kernel, smaller(tall - done, together) * row_blocks, threads,
                                      shared_bytes, pointers, stream);
    if (started != cudaSuccess) { return started; }
    arguments.first.data += together * row_bytes;
  }
  return cudaSuccess;
}

template <class Shape>
cudaError_t launch_square_tiles(square_problem square, cudaStream_t stream) {
  const auto tiles = static_cast<unsigned>(divide_up(square.side, Shape::side));
  void* pointers[] = {&square};
  return start(&little_square_kernel<Shape>, dim3(tiles + 1, (tiles + 1) / 2), 2 * Shape::threads,
               0, pointers, stream);
}

/// Transposes a small square.
template <int ElementBytes, int Access>
cudaError_t launch_little_square(square_problem square, cudaStream_t stream) {
  if constexpr (has_large_square_tile(ElementBytes)) {
    if (square_tile_side(square.side, ElementBytes) == 32) {
      return launch_square_tiles<little_square_shape<ElementBytes, Access, 32>>(square, stream);
    }
  }
  return launch_square_tiles<little_square_shape<ElementBytes, Access, 16>>(square, stream);
}

/// Transposes a square in place. `problem.in` is ignored: it is `problem.out`.
template <int ElementBytes, int Alignment>
cudaError_t transpose_square(const tile_problem& problem, cudaStream_t stream) {
  const square_problem square{static_cast<unsigned char*>(problem.out), problem.out_stride_bytes,
                              problem.nx};
  if (square.side == 1) { return cudaSuccess; }
  const size_type bits = reinterpret_cast<size_type>(square.data) | square.stride_bytes;
  if constexpr (small_limits_of(ElementBytes).square_side > 0 &&
                fits_registers(ElementBytes, access_width(ElementBytes, Alignment))) {
    if (is_little_square(square.side, square.stride_bytes, ElementBytes,
                         (bits | square.side * ElementBytes) % max_access_bytes == 0)) {
      return with_access<ElementBytes, Alignment>(bits, [&](auto access) {
        return launch_little_square<ElementBytes, decltype(access)::value>(square, stream);
      });
    }
  }
  const unsigned char* const end =
      square.data + (square.side - 1) * square.stride_bytes + square.side * ElementBytes;
  return with_access<ElementBytes, Alignment>(bits, [&](auto access) {
    return with_square_kernel<ElementBytes, decltype(access)::value>(
        square.side * square.side, square.side, bits,
        [&](auto kernel, int tile_side, int threads, size_type shared_bytes) {
          const cudaError_t status = allow_shared_bytes(kernel, shared_bytes);
          if (status != cudaSuccess) { return status; }
          const swap_arguments arguments(square, tile_side, 0, {square.data, end});
          return launch_swaps(kernel, arguments, 1, threads, shared_bytes, stream);
        });
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
