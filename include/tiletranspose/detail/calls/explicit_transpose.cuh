// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The transpose with the tile that the caller wrote: little work by one tile a block, as it stands; large matrices of
/// elements that are one access by strips of tiles; structures element by element.

#pragma once

#include <tiletranspose/detail/calls/transpose.cuh>
#include <tiletranspose/detail/core/element_tile.cuh>
#include <tiletranspose/detail/tile/tile_plan.cuh>
#include <tiletranspose/tile_io.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// One block transposes one strip of tiles: one tall tile, as wide as the caller's.
template <class T, class Tile, int Threads, int BlocksPerSm>
__global__ void __launch_bounds__(Threads, resident_blocks(Threads, BlocksPerSm))
    strip_kernel(const __grid_constant__ tile_arguments arguments) {
  __shared__ typename Tile::storage storage;
  constexpr static_block<Threads> group{};
  const tile_order::place at = arguments.order(blockIdx.x);
  const matrix_problem& problem = arguments.problem;
  const matrix_view<const T> in{reinterpret_cast<const T*>(problem.in_matrix(at.batch)), problem.ny,
                                problem.nx, problem.in_stride_bytes / sizeof(T)};
  const matrix_view<T> out{reinterpret_cast<T*>(problem.out_matrix(at.batch)), problem.nx,
                           problem.ny, problem.out_stride_bytes / sizeof(T)};
  const size_type row = at.row_tile * Tile::rows;
  const size_type col = at.col_tile * Tile::cols;
  const Tile tile(storage);
  load_tile(group, tile, in, row, col);
  group.sync();
  store_tile_transposed(group, out, col, row, tile);
}

/// The kernel for structures, which are several accesses each: one block transposes one tile, element by element.
template <class Tile, int BlockRows, class Operation>
__global__ void __launch_bounds__(Tile::cols* BlockRows)
    structure_kernel(const __grid_constant__ tile_arguments arguments) {
  __shared__ typename Tile::storage storage;
  const tile_order::place at = arguments.order(blockIdx.x);
  const matrix_problem& problem = arguments.problem;
  constexpr size_type side = Tile::cols;
  constexpr auto element = static_cast<long long>(sizeof(typename Tile::element));
  const size_type row = at.row_tile * side;
  const size_type col = at.col_tile * side;
  const element_steps<long long> in_steps{element, static_cast<long long>(problem.in_stride_bytes)};
  const element_steps<long long> out_steps{element,
                                           static_cast<long long>(problem.out_stride_bytes)};
  transpose_elements<BlockRows>(
      static_block<Tile::cols * BlockRows>{}, Tile(storage),
      static_cast<unsigned>(smaller(problem.ny - row, side)),
      static_cast<unsigned>(smaller(problem.nx - col, side)), 0, 0, Operation{},
      problem.in_matrix(at.batch) + row * problem.in_stride_bytes + col * element, in_steps,
      problem.out_matrix(at.batch) + col * problem.out_stride_bytes + row * element, 0LL,
      out_steps);
}

/// Starts a kernel of tiles, in as many launches as that takes.
template <class Tile, class Kernel>
cudaError_t launch_written_tiles(Kernel* kernel, const batch_problem& problem, int threads,
                                 cudaStream_t stream) {
  tile_arguments arguments{problem, {}, 0, Tile::cols};
  constexpr size_type element = sizeof(typename Tile::element);
  // Strips side by side that blocks walk down together: tiles are narrow, so their reads are joined with a neighbour's.
  constexpr int joined_strips = 2;
  const size_type width = strip_width_of(problem, element, Tile::cols, Tile::cols, joined_strips);
  const size_type blocks =
      order_tiles(arguments, problem.batch, element, Tile::rows * element, width);
  if (blocks > max_blocks) {
    return split(problem, element, element, [&](const batch_problem& part) {
      return launch_written_tiles<Tile>(kernel, part, threads, stream);
    });
  }
  // Dynamic shared memory that a block does not use keeps a multiprocessor from holding more than some threads.
  size_type crowding_bytes = 0;
  if (element >= least_ragged_element && sector_mask(problem) != 0) {
    const auto held = static_cast<size_type>(larger(most_ragged_threads / threads, 1));
    // What the blocks of a multiprocessor divide among themselves, too much for one more; 1024 of each are the system's.
    const size_type all =
        ask_device_for(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0) / (held + 1);
    constexpr size_type own = sizeof(typename Tile::storage);
    crowding_bytes =
        smaller<size_type>(all > own + 1024 ? all - own - 1024 + 1 : 0, default_shared_bytes - own);
  }
  return start(kernel, blocks, threads, crowding_bytes, stream, arguments);
}

/// Elements that are one access, by strips of tiles: the strip is one tall tile with the caller's padding, so that it conflicts
/// no more than one tile does, and rows of the output are so many times as long.
template <int ElementBytes, int TileDim, int BlockRows, int Padding>
cudaError_t launch_strips(const batch_problem& problem, cudaStream_t stream) {
  constexpr int threads = TileDim * BlockRows;
  // Up to 8 loads of 4 bytes in flight per thread, as far as 18 KB of shared memory hold them. Two tiles of <float, 32, 8> are
  // a tenth faster than one.
  constexpr int wanted = larger(32 / (TileDim / BlockRows * ElementBytes), 1);
  constexpr int held = larger(18 * 1024 / (TileDim * (TileDim + Padding) * ElementBytes), 1);
  constexpr int tiles = smaller(wanted, held);
  // As few registers as leave room for the loads in flight.
  constexpr int loads = tiles * TileDim / BlockRows;
  constexpr int resident = loads <= 8 ? 1536 : loads <= 16 ? 768 : threads;
  using stored = element<ElementBytes, ElementBytes>;
  using tile = shared_tile<stored, padded_layout<stored, TileDim * tiles, TileDim, Padding>>;
  return launch_written_tiles<tile>(
      &strip_kernel<stored, tile, threads, larger(resident / threads, 1)>, problem, threads,
      stream);
}

/// Little work and narrow matrices take one tile a block, as it stands, elements that are one access strips of tiles.
template <int ElementBytes, int Alignment, int TileDim, int BlockRows, int Padding>
cudaError_t transpose_written(const batch_problem& problem, cudaStream_t stream) {
  return with_access<ElementBytes, Alignment>(address_bits_of(problem, Alignment), [&](auto width) {
    constexpr int access = decltype(width)::value;
    // The padding was written for elements, not for words that hold them.
    using operation = copy_operation<ElementBytes, access, false>;
    if constexpr (small_limits_of(ElementBytes).written_bytes > 0) {
      const small_problem work = small_transpose(problem, ElementBytes, ElementBytes);
      if (is_narrow(work, TileDim) && work.slow.extent > max_grid_side * TileDim) {
        return split(problem, ElementBytes, ElementBytes, [&](const batch_problem& part) {
          return transpose_written<ElementBytes, Alignment, TileDim, BlockRows, Padding>(part,
                                                                                         stream);
        });
      }
      if (takes_written_tile(work, TileDim)) {
        return launch_small_tiles<operation, TileDim, BlockRows, Padding>(
            work, batch_of<matrices::one>(problem), operation{}, stream);
      }
    }
    if constexpr (access == ElementBytes) {
      return launch_strips<ElementBytes, TileDim, BlockRows, Padding>(problem, stream);
    } else {
      using stored = typename operation::stored;
      using tile = shared_tile<stored, padded_layout<stored, TileDim, TileDim, Padding>>;
      return launch_written_tiles<tile>(&structure_kernel<tile, BlockRows, operation>, problem,
                                        TileDim * BlockRows, stream);
    }
  });
}

template <int ElementBytes, int Alignment, int TileDim, int BlockRows, int Padding>
cudaError_t run_explicit_transpose(const transpose_request& request, cudaStream_t stream) {
  const verdict answer = examine(request);
  return answer == verdict::go
             ? transpose_written<ElementBytes, Alignment, TileDim, BlockRows, Padding>(
                   make_problem(request), stream)
             : status_of(answer);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
