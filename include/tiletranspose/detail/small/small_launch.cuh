// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The mover for little work as CUDA sees it, and its launches: nothing is asked of the device and no attribute set.

#pragma once

#include <tiletranspose/detail/choose/choose_small.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/small/small_grid.cuh>
#include <tiletranspose/detail/small/small_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <class Operation, int Side, int BlockRows, int Padding>
__global__ void __launch_bounds__(Side* BlockRows)
    small_tile_kernel(const __grid_constant__ small_tile_arguments arguments,
                      const __grid_constant__ Operation operation) {
  using stored = typename Operation::stored;
  using tile = shared_tile<stored, padded_layout<stored, Side, Side, Padding>>;
  __shared__ typename tile::storage storage;
  operation.show_compiler();
  move_small_tile<tile, BlockRows>(static_block<Side * BlockRows>{}, storage, arguments, operation,
                                   {blockIdx.x, blockIdx.y, blockIdx.z});
}

template <bool Divides, int Threads, int Rounds, class Operation>
__global__ void __launch_bounds__(Threads)
    small_row_kernel(const __grid_constant__ small_row_arguments arguments,
                     const __grid_constant__ Operation operation) {
  operation.show_compiler();
  move_small_rows<Divides, Threads, Rounds>(static_block<Threads>{}, arguments, operation,
                                            {blockIdx.x, blockIdx.y, blockIdx.z});
}

inline small_axis make_axis(const problem_axis& axis) {
  return {static_cast<unsigned>(axis.extent), static_cast<int>(axis.in_stride),
          static_cast<int>(axis.out_stride)};
}

/// Launches the tile kernel for a problem that choose_small says it takes.
template <class Operation, int Side, int BlockRows, int Padding>
cudaError_t launch_small_tiles(const small_problem& problem, const small_batch& batch,
                               Operation operation, cudaStream_t stream) {
  static_assert(Side <= longest_tile_side, "has_short_offsets knows of no more");
  small_tile_arguments arguments{batch, make_axis(problem.slow), make_axis(problem.fast)};
  void* pointers[] = {&arguments, &operation};
  const dim3 grid(blocks_for(problem.fast.extent, Side), blocks_for(problem.slow.extent, Side),
                  static_cast<unsigned>(problem.batch));
  return start(&small_tile_kernel<Operation, Side, BlockRows, Padding>, grid, Side * BlockRows, 0,
               pointers, stream);
}

/// Launches the row kernel; with `Divides` blocks take several rows.
template <bool Divides, class Operation>
cudaError_t launch_small_rows(const small_problem& problem, const small_batch& batch,
                              Operation operation, cudaStream_t stream) {
  small_row_arguments arguments{
      batch, {make_axis(problem.fast), make_axis(problem.slow)}, 0, divider(), divider()};
  void* pointers[] = {&arguments, &operation};
  constexpr int threads = small_row_threads(Divides);
  constexpr int rounds = small_row_rounds(Divides, Operation::accesses);
  const auto kernel = &small_row_kernel<Divides, threads, rounds, Operation>;
  if constexpr (Divides) {
    const size_type area = problem.fast.extent * problem.slow.extent;
    arguments.count = static_cast<unsigned>(area * problem.batch);
    arguments.area = divider(area);
    arguments.width = divider(problem.fast.extent);
    return start(kernel, blocks_for(arguments.count, threads * rounds), threads, 0, pointers,
                 stream);
  } else {
    static_assert(threads * rounds <= longest_row_segment, "has_short_offsets knows of no more");
    const dim3 grid(blocks_for(problem.fast.extent, threads * rounds),
                    static_cast<unsigned>(problem.slow.extent),
                    static_cast<unsigned>(problem.batch));
    return start(kernel, grid, threads, 0, pointers, stream);
  }
}

/// Launches what choose_small chose, but small_mover::none. Only what the problem's kind can take is instantiated.
template <bool Transposes, class Operation>
cudaError_t launch_small(small_mover mover, const small_problem& problem, const small_batch& batch,
                         const Operation& operation, cudaStream_t stream) {
  if constexpr (Transposes) {
    using stored = typename Operation::stored;
    constexpr int side = small_tile_side(sizeof(stored));
    constexpr int block_rows = small_block_rows(side, Operation::accesses);
    if (mover == small_mover::tiles) {
      return launch_small_tiles<Operation, side, block_rows, element_padding<stored, side>()>(
          problem, batch, operation, stream);
    }
    return launch_small_rows<true>(problem, batch, operation, stream);
  } else if (mover == small_mover::direct) {
    return launch_small_rows<true>(problem, batch, operation, stream);
  } else {
    return launch_small_rows<false>(problem, batch, operation, stream);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
