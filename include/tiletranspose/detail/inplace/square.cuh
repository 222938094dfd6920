// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Launches of the kernels that transpose a matrix in its own memory.

#pragma once

#include <tiletranspose/detail/choose/choose_small.cuh>
#include <tiletranspose/detail/core/driver.cuh>
#include <tiletranspose/detail/core/launch_bounds.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/inplace/little_square.cuh>
#include <tiletranspose/detail/inplace/swap_byte_tiles.cuh>
#include <tiletranspose/detail/inplace/swap_tiles.cuh>
#include <tiletranspose/detail/inplace/swap_views.cuh>

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
    swap_byte_tiles_kernel(const __grid_constant__ swap_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  swap_byte_tiles<Shape>(static_block<2 * Shape::threads>{}, tiletranspose_dynamic_shared,
                         arguments, blockIdx.x);
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

template <class Shape>
cudaError_t launch_swapped_tiles(const square_problem& square, cudaStream_t stream) {
  return launch_swaps(&swap_kernel<Shape>, square, Shape::tile_rows, 2 * Shape::threads,
                      2 * Shape::shared_bytes, stream);
}

/// A tile of plain bytes as choose_inplace.cuh sees it.
template <class Shape>
inline constexpr byte_tile_size size_of_byte_tile{Shape::side, 2 * Shape::shared_bytes};

/// Takes the tile for squares of `side` a side whose rows start anywhere, of a problem of so many elements: calls
/// `byte_tiles` with a byte_tile_shape or, for small squares of the sizes that are better off so, `views` with a
/// swap_tile.
template <int ElementBytes, int Access, class ByteTiles, class Views>
cudaError_t with_square_tile(size_type elements, size_type side, ByteTiles byte_tiles,
                             Views views) {
  using large = byte_tile_shape<ElementBytes, Access>;
  if (takes_large_tiles(size_of_byte_tile<large>, elements, side, most_shared_bytes())) {
    return byte_tiles(large{});
  }
  if constexpr (swaps_views<ElementBytes, Access>) {
    return views(swap_tile<ElementBytes>{});
  } else {
    return byte_tiles(
        byte_tile_shape<ElementBytes, Access, small_byte_tile_policy<ElementBytes>>{});
  }
}

/// `bits` has the lowest ones of the addresses where rows start.
template <int ElementBytes, int Access>
cudaError_t launch_swapped_byte_tiles(const square_problem& square, size_type bits,
                                      cudaStream_t stream) {
  const size_type elements = square.side * square.side;
  const unsigned char* const end =
      square.data + (square.side - 1) * square.stride_bytes + square.side * ElementBytes;
  const auto launch_byte_tiles = [&](auto shape) {
    using tile = decltype(shape);
    return launch_swaps(&swap_byte_tiles_kernel<tile>, square, tile::side, 2 * tile::threads,
                        2 * tile::shared_bytes, stream, {square.data, end});
  };
  if constexpr (has_aligned_byte_tiles<ElementBytes, Access>) {
    using whole = byte_tile_shape<ElementBytes, Access, aligned_byte_tile_policy<ElementBytes>, 16>;
    if (bits % max_access_bytes == 0 &&
        takes_large_tiles(size_of_byte_tile<whole>, elements, square.side, most_shared_bytes())) {
      return launch_byte_tiles(whole{});
    }
  }
  return with_square_tile<ElementBytes, Access>(
      elements, square.side, launch_byte_tiles, [&](auto shape) {
        using tile = decltype(shape);
        return launch_swaps(
            &swap_views_kernel<typename tile::element_type, typename tile::type, tile::threads>,
            square, tile::side, tile::threads, 0, stream);
      });
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
    if (is_little_square(square.side, ElementBytes,
                         (bits | square.side * ElementBytes) % max_access_bytes == 0)) {
      return with_access<ElementBytes, Alignment>(bits, [&](auto access) {
        return launch_little_square<ElementBytes, decltype(access)::value>(square, stream);
      });
    }
  }
  if constexpr (access_width(ElementBytes) == ElementBytes) {
    using bytes = byte_tile_shape<ElementBytes, ElementBytes>;
    byte_tile_size large{};
    if constexpr (ElementBytes <= 2) {
      using shape = swap_shape<ElementBytes, large_swap_policy<ElementBytes>>;
      large = {shape::tile_rows, 2 * shape::shared_bytes};
    }
    switch (choose_square(ElementBytes, square.side, bits, size_of_byte_tile<bytes>, large,
                          most_shared_bytes())) {
      case square_mover::whole:
        return launch_swapped_tiles<swap_shape<ElementBytes>>(square, stream);
      case square_mover::large_whole:
        if constexpr (ElementBytes <= 2) {
          using shape = swap_shape<ElementBytes, large_swap_policy<ElementBytes>>;
          return launch_swapped_tiles<shape>(square, stream);
        }
        break;
      case square_mover::bytes:
        break;
    }
  }
  return with_access<ElementBytes, Alignment>(bits, [&](auto access) {
    return launch_swapped_byte_tiles<ElementBytes, decltype(access)::value>(square, bits, stream);
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
