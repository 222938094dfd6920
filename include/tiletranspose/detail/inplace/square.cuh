// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Launches of the kernels that transpose squares in their own memory: a matrix, or those of a rectangle's grid.

#pragma once

#include <tiletranspose/detail/choose/choose_small.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/inplace/swap_tiles.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <class Shape>
__global__ void __launch_bounds__(2 * Shape::threads, Shape::least_blocks)
    swap_kernel(const __grid_constant__ swap_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  swap_tiles<Shape>(tiletranspose_dynamic_shared, arguments, blockIdx.x);
}

template <class Shape>
__global__ void __launch_bounds__(2 * Shape::threads)
    little_square_kernel(const __grid_constant__ square_problem square) {
  __shared__ typename Shape::tile::storage storage[2];
  swap_elements<Shape>(storage, square, blockIdx.y, blockIdx.x);
}

/// A kernel that transposes squares by tiles.
struct square_kernel {
  void (*function)(swap_arguments);
  int threads;
  swap_tile tile;
};

/// The kernel for squares, arguments as of with_swap_shape.
template <int ElementBytes, int Access>
square_kernel find_square_kernel(size_type elements, size_type side, size_type bits) {
  return with_swap_shape<ElementBytes, Access>(
      elements, side, bits, most_shared_bytes(), [](auto tile) {
        using shape = decltype(tile);
        return square_kernel{&swap_kernel<shape>, 2 * shape::threads, tile_of<shape>};
      });
}

/// Transposes `tall` rows of squares from arguments.first on. Precondition: the kernel is allowed its shared bytes.
inline cudaError_t launch_swaps(const square_kernel& kernel, swap_arguments arguments,
                                size_type tall, cudaStream_t stream) {
  const size_type row_blocks = arguments.order.blocks() * arguments.wide.divisor;
  // As many rows of squares at a time as one launch can take: all but of tens of gigabytes of small squares.
  const size_type together = larger<size_type>(max_blocks / row_blocks, 1);
  for (size_type done = 0; done < tall; done += together) {
    const cudaError_t started = start(kernel.function, smaller(tall - done, together) * row_blocks,
                                      kernel.threads, kernel.tile.shared_bytes, stream, arguments);
    if (started != cudaSuccess) { return started; }
    arguments.first.data += together * arguments.first.side * arguments.first.stride_bytes;
  }
  return cudaSuccess;
}

/// Transposes a small square.
template <int ElementBytes, int Access>
cudaError_t launch_little_square(square_problem square, cudaStream_t stream) {
  const auto launch = [&](auto side) {
    using shape = little_square_shape<ElementBytes, Access, decltype(side)::value>;
    const auto tiles = static_cast<unsigned>(divide_up(square.side, shape::side));
    return start(&little_square_kernel<shape>, dim3(tiles + 1, (tiles + 1) / 2), 2 * shape::threads,
                 0, stream, square);
  };
  if constexpr (has_large_square_tile(ElementBytes)) {
    if (square_tile_side(square.side, ElementBytes) == 32) {
      return launch(std::integral_constant<int, 32>{});
    }
  }
  return launch(std::integral_constant<int, 16>{});
}

/// Transposes a square in place. `problem.in` is ignored: it is `problem.out`.
template <int ElementBytes, int Alignment>
cudaError_t transpose_square(const matrix_problem& problem, cudaStream_t stream) {
  const square_problem square{static_cast<unsigned char*>(problem.out), problem.out_stride_bytes,
                              problem.nx};
  if (square.side == 1) { return cudaSuccess; }
  const size_type bits = reinterpret_cast<size_type>(square.data) | square.stride_bytes;
  return with_access<ElementBytes, Alignment>(bits, [&](auto access) {
    constexpr int width = decltype(access)::value;
    if constexpr (small_limits_of(ElementBytes).square_side > 0 &&
                  fits_registers(ElementBytes, access_width(ElementBytes, Alignment))) {
      if (is_little_square(square.side, square.stride_bytes, ElementBytes,
                           (bits | square.side * ElementBytes) % max_access_bytes == 0)) {
        return launch_little_square<ElementBytes, width>(square, stream);
      }
    }
    const square_kernel kernel =
        find_square_kernel<ElementBytes, width>(square.side * square.side, square.side, bits);
    const unsigned char* const end =
        square.data + (square.side - 1) * square.stride_bytes + square.side * ElementBytes;
    const cudaError_t status = allow_shared_bytes(kernel.function, kernel.tile.shared_bytes);
    if (status != cudaSuccess) { return status; }
    const pair_order order(divide_up(square.side, kernel.tile.side));
    return launch_swaps(kernel, {square, order, {square.data, end}}, 1, stream);
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
