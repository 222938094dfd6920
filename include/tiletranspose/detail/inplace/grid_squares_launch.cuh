// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Launches of step 2 of a rectangle in place, where it is a pass of its own.

#pragma once

#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/inplace/rectangle_grid.cuh>
#include <tiletranspose/detail/inplace/rectangle_problem.cuh>
#include <tiletranspose/detail/inplace/square.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Step 2 by itself: squares of a grid, each of which takes as many blocks as there are pairs of its tiles.
struct squares_arguments {
  unsigned char* data;
  size_type pitch;         ///< bytes between rows of the grid
  size_type square_bytes;  ///< of a row of a square
  size_type side;          ///< g
  pair_order order;
  memory_range memory;  ///< the rectangle
  divider pairs;        ///< blocks of a square
  divider wide;         ///< q

  TILETRANSPOSE_FUNCTION unsigned pair(unsigned block) const {
    return pairs.remainder(block, pairs.quotient(block));
  }
  TILETRANSPOSE_FUNCTION swap_arguments square(unsigned block) const {
    const unsigned number = pairs.quotient(block);
    const unsigned above = wide.quotient(number);
    const unsigned left = wide.remainder(number, above);
    return {{data + above * side * pitch + left * square_bytes, pitch, side}, order, memory};
  }
};

template <class Shape>
__global__ void __launch_bounds__(2 * Shape::threads)
    squares_kernel(const __grid_constant__ squares_arguments arguments) {
  __shared__ __align__(16) unsigned char shared[2 * Shape::shared_bytes];
  swap_tiles<Shape>(static_block<2 * Shape::threads>{}, shared, arguments.square(blockIdx.x),
                    arguments.pair(blockIdx.x));
}

template <class Shape>
__global__ void __launch_bounds__(2 * Shape::threads,
                                  resident_blocks(2 * Shape::threads, smaller(Shape::blocks, 2)))
    squares_byte_tiles_kernel(const __grid_constant__ squares_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  swap_byte_tiles<Shape>(static_block<2 * Shape::threads>{}, tiletranspose_dynamic_shared,
                         arguments.square(blockIdx.x), arguments.pair(blockIdx.x));
}

template <class T, class Tile, int Threads>
__global__ void __launch_bounds__(Threads)
    square_views_kernel(const __grid_constant__ squares_arguments arguments) {
  __shared__ typename Tile::storage storage[2];
  swap_views<T, Tile>(static_block<Threads>{}, storage, arguments.square(blockIdx.x),
                      arguments.pair(blockIdx.x));
}

template <class Kernel>
cudaError_t start_squares(Kernel* kernel, const rectangle_problem& problem, const rectangle& grid,
                          size_type element, int side, int threads, size_type shared_bytes,
                          cudaStream_t stream) {
  squares_arguments arguments{problem.data,
                              problem.cols * element,
                              grid.common * element,
                              grid.common,
                              pair_order(divide_up(grid.common, side)),
                              {problem.data, problem.data + problem.rows * problem.cols * element},
                              divider(),
                              divider(grid.wide)};
  const size_type square_blocks = arguments.order.blocks();
  arguments.pairs = divider(square_blocks);
  void* pointers[] = {&arguments};
  // As many rows of squares at a time as one launch can take: all but of tens of gigabytes of small squares.
  const size_type together = larger<size_type>(max_blocks / (square_blocks * grid.wide), 1);
  for (size_type done = 0; done < grid.tall; done += together) {
    arguments.data = problem.data + done * grid.common * arguments.pitch;
    const size_type squares = smaller<size_type>(grid.tall - done, together) * grid.wide;
    const cudaError_t started =
        start(kernel, square_blocks * squares, threads, shared_bytes, pointers, stream);
    if (started != cudaSuccess) { return started; }
  }
  return cudaSuccess;
}

/// Step 2 by itself, its own inverse: calls visit(kernel, side of a tile, threads, shared bytes) with the kernel for
/// it.
template <int ElementBytes, int Access, class Visit>
cudaError_t with_squares_kernel(const rectangle_problem& problem, const rectangle& grid,
                                Visit visit) {
  if constexpr (access_width(ElementBytes) == ElementBytes) {
    const size_type bits = reinterpret_cast<size_type>(problem.data) | problem.cols * ElementBytes |
                           grid.common * ElementBytes;
    if (bits % max_access_bytes == 0) {
      using shape = swap_shape<ElementBytes>;
      return visit(&squares_kernel<shape>, shape::tile_rows, 2 * shape::threads, size_type{0});
    }
  }
  return with_square_tile<ElementBytes, Access>(
      problem.rows * problem.cols, grid.common,
      [&](auto tile_shape) {
        using tile = decltype(tile_shape);
        return visit(&squares_byte_tiles_kernel<tile>, tile::side, 2 * tile::threads,
                     size_type{2 * tile::shared_bytes});
      },
      [&](auto tile_shape) {
        using tile = decltype(tile_shape);
        return visit(
            &square_views_kernel<typename tile::element_type, typename tile::type, tile::threads>,
            tile::side, tile::threads, size_type{0});
      });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
