// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernel with the tile that the caller wrote, as CUDA sees it, and its launches.

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

/// The transpose with the tile that the caller wrote.
template <int ElementBytes, int Alignment, int TileDim, int BlockRows, int Padding>
cudaError_t launch_strips(const tile_problem& problem, size_type batch, cudaStream_t stream) {
  using element_type = element<ElementBytes, Alignment>;
  constexpr int tiles = tiles_per_block<ElementBytes, TileDim, BlockRows, Padding>();
  constexpr int threads = TileDim * BlockRows;
  // 40 registers where 8 loads are in flight: 96 % at 16384 x 16384 floats, 94 % with 64 (H200, 2026-11-21).
  constexpr int parts = ElementBytes / access_width(ElementBytes, Alignment);
  constexpr int loads = tiles * TileDim * TileDim / threads * parts;
  constexpr int blocks_per_sm = larger((loads <= 8    ? 1536
                                        : loads <= 16 ? 768
                                                      : threads) /
                                           threads,
                                       1);
  using tile = strip_tile<element_type, TileDim, Padding, tiles>;
  tile_arguments arguments{problem, {}, 0, TileDim};
  size_type blocks = 0;
  if (!order_tiles(arguments, batch, ElementBytes, tiles * TileDim * ElementBytes, strip_width,
                   blocks)) {
    return split(problem, batch, ElementBytes, ElementBytes,
                 [&](const tile_problem& part, size_type part_batch) {
                   return launch_strips<ElementBytes, Alignment, TileDim, BlockRows, Padding>(
                       part, part_batch, stream);
                 });
  }
  void* pointers[] = {&arguments};
  return start(&strip_kernel<element_type, tile, threads, blocks_per_sm>, blocks, threads, 0,
               pointers, stream);
}

template <int ElementBytes, int Alignment, int TileDim, int BlockRows, int Padding>
cudaError_t transpose_strips(const transpose_request& request, cudaStream_t stream) {
  const verdict answer = examine(request);
  if (answer != verdict::go) { return status_of(answer); }
  const tile_problem problem = make_problem(request);
  return with_unit<ElementBytes, Alignment>(address_bits_of(problem, Alignment), [&](auto unit) {
    return launch_strips<ElementBytes, decltype(unit)::value, TileDim, BlockRows, Padding>(
        problem, request.batch, stream);
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
