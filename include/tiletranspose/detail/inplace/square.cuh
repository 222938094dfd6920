// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Launches of the kernels that transpose a matrix in its own memory.

#pragma once

#include <tiletranspose/detail/core/launch_bounds.cuh>
#include <tiletranspose/detail/core/shared_limit.cuh>
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

/// True where a problem of so many elements, in squares of `side` a side, takes the large tile `Shape`. Squares of less
/// than two tiles a side would leave most of them empty.
template <class Shape>
bool takes_large_byte_tiles(size_type elements, size_type side) {
  return side >= 2 * Shape::side &&
         takes_large_tiles(elements, Shape::side, 2 * Shape::shared_bytes);
}

/// Takes the tile for squares of `side` a side whose rows start anywhere, of a problem of so many elements: calls
/// `byte_tiles` with a byte_tile_shape or, for small squares of the sizes that are better off so, `views` with a
/// swap_tile.
template <int ElementBytes, int Access, class ByteTiles, class Views>
cudaError_t with_square_tile(size_type elements, size_type side, ByteTiles byte_tiles,
                             Views views) {
  using large = byte_tile_shape<ElementBytes, Access>;
  if (takes_large_byte_tiles<large>(elements, side)) { return byte_tiles(large{}); }
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
    if (bits % max_access_bytes == 0 && takes_large_byte_tiles<whole>(elements, square.side)) {
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

/// What memory is fetched by: rows of a tile that start on such boundaries share nothing with another tile.
inline constexpr size_type line_bytes = 128;

/// Transposes a square in place. `problem.in` is ignored: it is `problem.out`.
template <int ElementBytes, int Alignment>
cudaError_t transpose_square(const tile_problem& problem, cudaStream_t stream) {
  const square_problem square{static_cast<unsigned char*>(problem.out), problem.out_stride_bytes,
                              problem.nx};
  if (square.side == 1) { return cudaSuccess; }
  const size_type bits = reinterpret_cast<size_type>(square.data) | square.stride_bytes;
  if constexpr (access_width(ElementBytes) == ElementBytes) {
    // Large squares whose rows do not start on lines take the longer rows of chunks all the same. H200, 2026-11-22, %
    // of cudaMemcpyAsync by whole accesses, by chunks: 16380, 16368 and 16352 rows of 4 bytes, which start on 16, 64
    // and 128 bytes, 74, 82; 77, 84; 86, 83; 11586 and 11592 of 8 bytes 74, 85; 76, 86; 8190 and 8184 of 16 bytes 82,
    // 86; 88, 89; but 32752 and 32704 of 1 byte 79, 69; 83, 69; 23144 and 23136 of 2 bytes 76, 76; 78, 78.
    using byte_tiles = byte_tile_shape<ElementBytes, ElementBytes>;
    const bool whole = (bits | square.side * ElementBytes) % max_access_bytes == 0;
    if (whole && square.side > little_square_side(ElementBytes) &&
        (ElementBytes <= 2 || bits % line_bytes == 0 ||
         square.side < large_whole_tiles * byte_tiles::side ||
         2 * byte_tiles::shared_bytes > most_shared_bytes())) {
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
  return with_unit<ElementBytes, Alignment>(bits, [&](auto access) {
    if (square.side <= little_square_side(ElementBytes)) {
      return launch_little_square<ElementBytes, decltype(access)::value>(square, stream);
    }
    return launch_swapped_byte_tiles<ElementBytes, decltype(access)::value>(square, bits, stream);
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
