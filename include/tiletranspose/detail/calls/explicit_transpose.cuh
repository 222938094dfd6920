// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The transpose with the tile that the caller wrote: little work by one tile a block, as it stands; large matrices of
/// elements that are one access by strips of tiles; structures element by element.

#pragma once

#include <tiletranspose/detail/calls/launch.cuh>
#include <tiletranspose/detail/tile/strip_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <class T, class Tile, int Threads, int BlocksPerSm>
__global__ void __launch_bounds__(Threads, resident_blocks(Threads, BlocksPerSm))
    strip_kernel(const __grid_constant__ tile_arguments arguments) {
  __shared__ typename Tile::storage storage;
  move_strip<T, Tile>(static_block<Threads>{}, storage, arguments, blockIdx.x);
}

template <class Tile, int BlockRows, class Operation>
__global__ void __launch_bounds__(Tile::cols* BlockRows)
    structure_kernel(const __grid_constant__ tile_arguments arguments) {
  __shared__ typename Tile::storage storage;
  move_structures<Tile, BlockRows, Operation>(static_block<Tile::cols * BlockRows>{}, storage,
                                              arguments, blockIdx.x);
}

/// Starts a kernel of tiles of `cols` columns and `rows` rows, in as many launches as that takes.
template <class Kernel>
cudaError_t launch_written_tiles(Kernel* kernel, const tile_problem& problem, size_type batch,
                                 int element_bytes, int cols, int rows, int threads,
                                 cudaStream_t stream) {
  tile_arguments arguments{problem, {}, 0, static_cast<unsigned>(cols)};
  const auto element = static_cast<size_type>(element_bytes);
  size_type blocks = 0;
  if (!order_tiles(arguments, batch, element, rows * element_bytes, strip_width, blocks)) {
    return split(problem, batch, element, element,
                 [&](const tile_problem& part, size_type part_batch) {
                   return launch_written_tiles(kernel, part, part_batch, element_bytes, cols, rows,
                                               threads, stream);
                 });
  }
  void* pointers[] = {&arguments};
  return start(kernel, blocks, threads, 0, pointers, stream);
}

/// Elements that are one access: little work by tiles, else by strips of them.
template <int ElementBytes, int TileDim, int BlockRows, int Padding>
cudaError_t launch_strips(const tile_problem& problem, size_type batch, cudaStream_t stream) {
  const small_problem small = small_transpose(problem, batch, ElementBytes, ElementBytes);
  if (takes_written_tile(small, TileDim)) {
    return launch_small_tiles<copy_operation<ElementBytes, ElementBytes>, TileDim, BlockRows,
                              Padding>(small, batch_of(problem), {}, stream);
  }
  constexpr int tiles = tiles_per_block<ElementBytes, TileDim, BlockRows, Padding>();
  constexpr int threads = TileDim * BlockRows;
  // 40 registers where 8 loads are in flight: 96 % at 16384 x 16384 floats, 94 % with 64 (H200, 2026-11-21).
  constexpr int loads = tiles * TileDim / BlockRows;
  constexpr int resident = loads <= 8 ? 1536 : loads <= 16 ? 768 : threads;
  using element_type = element<ElementBytes, ElementBytes>;
  using tile = strip_tile<element_type, TileDim, Padding, tiles>;
  return launch_written_tiles(
      &strip_kernel<element_type, tile, threads, larger(resident / threads, 1)>, problem, batch,
      ElementBytes, TileDim, tiles * TileDim, threads, stream);
}

template <int ElementBytes, int Alignment, int TileDim, int BlockRows, int Padding>
cudaError_t transpose_written(const transpose_request& request, cudaStream_t stream) {
  const verdict answer = examine(request);
  if (answer != verdict::go) { return status_of(answer); }
  const tile_problem problem = make_problem(request);
  return with_unit<ElementBytes, Alignment>(address_bits_of(problem, Alignment), [&](auto unit) {
    constexpr int access = decltype(unit)::value;
    if constexpr (access == ElementBytes) {
      return launch_strips<ElementBytes, TileDim, BlockRows, Padding>(problem, request.batch,
                                                                      stream);
    } else {
      using operation = copy_operation<ElementBytes, access>;
      using stored = typename operation::stored;
      using tile = shared_tile<stored, padded_layout<stored, TileDim, TileDim, Padding>>;
      return launch_written_tiles(&structure_kernel<tile, BlockRows, operation>, problem,
                                  request.batch, ElementBytes, TileDim, TileDim,
                                  TileDim * BlockRows, stream);
    }
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
