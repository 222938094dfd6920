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

/// Dynamic shared memory that a block does not use, which keeps a multiprocessor from holding more than some threads.
inline size_type crowding_bytes(size_type static_bytes, int threads) {
  const auto blocks = static_cast<size_type>(larger(most_ragged_threads / threads, 1));
  constexpr size_type reserved = 1024;  // by the system, of every block's
  // What the blocks of a multiprocessor divide among themselves: too much for one block more.
  const size_type all =
      ask_device_for(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0) / (blocks + 1);
  return smaller<size_type>(all > static_bytes + reserved ? all - static_bytes - reserved + 1 : 0,
                            default_shared_bytes - static_bytes);
}

/// Starts a kernel of tiles of `cols` columns and `rows` rows, in as many launches as that takes.
template <class Kernel>
cudaError_t launch_written_tiles(Kernel* kernel, const tile_problem& problem, size_type batch,
                                 int element_bytes, int cols, int rows, int threads,
                                 size_type static_bytes, cudaStream_t stream) {
  tile_arguments arguments{problem, {}, 0, static_cast<unsigned>(cols)};
  const auto element = static_cast<size_type>(element_bytes);
  // Matrices of short rows, and tall ones, are walked row by row of tiles: rows that start anywhere share sectors with
  // the next tile.
  const size_type most_cols =
      larger<size_type>(narrow_row_bytes / (static_cast<size_type>(cols) * element), 1);
  const size_type col_tiles = divide_up(problem.nx, static_cast<size_type>(cols));
  const bool narrow = col_tiles <= most_cols || problem.ny > most_column_rows;
  const size_type width =
      narrow ? divide_up(col_tiles, divide_up(col_tiles, most_cols)) : joined_strips;
  size_type blocks = 0;
  if (!order_tiles(arguments, batch, element, rows * element_bytes, static_cast<int>(width),
                   blocks)) {
    return split(problem, batch, element, element,
                 [&](const tile_problem& part, size_type part_batch) {
                   return launch_written_tiles(kernel, part, part_batch, element_bytes, cols, rows,
                                               threads, static_bytes, stream);
                 });
  }
  const bool ragged = element_bytes >= least_ragged_element && sector_mask(problem, batch) != 0;
  void* pointers[] = {&arguments};
  return start(kernel, blocks, threads, ragged ? crowding_bytes(static_bytes, threads) : 0,
               pointers, stream);
}

/// Elements that are one access, by strips of tiles.
template <int ElementBytes, int TileDim, int BlockRows, int Padding>
cudaError_t launch_strips(const tile_problem& problem, size_type batch, cudaStream_t stream) {
  constexpr int tiles = tiles_per_block<ElementBytes, TileDim, BlockRows, Padding>();
  constexpr int threads = TileDim * BlockRows;
  // As few registers as leave room for the loads in flight.
  constexpr int loads = tiles * TileDim / BlockRows;
  constexpr int resident = loads <= 8 ? 1536 : loads <= 16 ? 768 : threads;
  using element_type = element<ElementBytes, ElementBytes>;
  using tile = strip_tile<element_type, TileDim, Padding, tiles>;
  return launch_written_tiles(
      &strip_kernel<element_type, tile, threads, larger(resident / threads, 1)>, problem, batch,
      ElementBytes, TileDim, tiles * TileDim, threads, sizeof(typename tile::storage), stream);
}

/// Structures, element by element.
template <class Operation, int ElementBytes, int TileDim, int BlockRows, int Padding>
cudaError_t launch_structures(const tile_problem& problem, size_type batch, cudaStream_t stream) {
  using stored = typename Operation::stored;
  using tile = shared_tile<stored, padded_layout<stored, TileDim, TileDim, Padding>>;
  return launch_written_tiles(&structure_kernel<tile, BlockRows, Operation>, problem, batch,
                              ElementBytes, TileDim, TileDim, TileDim * BlockRows,
                              sizeof(typename tile::storage), stream);
}

/// Little work of one matrix, one tile a block as it stands.
template <class Operation, int ElementBytes, int TileDim, int BlockRows, int Padding>
bool launch_written_little(const tile_problem& problem, size_type batch, cudaStream_t stream,
                           cudaError_t& status) {
  if constexpr (small_limits_of(ElementBytes).written_bytes > 0) {
    const small_problem work = small_transpose(problem, batch, ElementBytes, ElementBytes);
    if (!takes_written_tile(work, TileDim)) { return false; }
    status = launch_small_tiles<Operation, TileDim, BlockRows, Padding>(
        work, batch_of<matrices::one>(problem), Operation{}, stream);
    return true;
  } else {
    return false;
  }
}

template <int ElementBytes, int Alignment, int TileDim, int BlockRows, int Padding>
cudaError_t transpose_written(const transpose_request& request, cudaStream_t stream) {
  const verdict answer = examine(request);
  if (answer != verdict::go) { return status_of(answer); }
  const tile_problem problem = make_problem(request);
  return with_access<ElementBytes, Alignment>(address_bits_of(problem, Alignment), [&](auto width) {
    constexpr int access = decltype(width)::value;
    // The padding was written for elements, not for words that hold them.
    using operation = copy_operation<ElementBytes, access, false>;
    cudaError_t status = cudaSuccess;
    if (launch_written_little<operation, ElementBytes, TileDim, BlockRows, Padding>(
            problem, request.batch, stream, status)) {
      return status;
    }
    if constexpr (access == ElementBytes) {
      return launch_strips<ElementBytes, TileDim, BlockRows, Padding>(problem, request.batch,
                                                                      stream);
    } else {
      return launch_structures<operation, ElementBytes, TileDim, BlockRows, Padding>(
          problem, request.batch, stream);
    }
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
