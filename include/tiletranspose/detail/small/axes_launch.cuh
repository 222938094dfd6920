// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The mover for little work for arrays of more axes, as CUDA sees it, and its launches.

#pragma once

#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/small/axes_plan.cuh>
#include <tiletranspose/detail/small/small_grid.cuh>
#include <tiletranspose/group.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <class Operation, int Side, int BlockRows, int Padding>
__global__ void __launch_bounds__(Side* BlockRows)
    axes_tile_kernel(const __grid_constant__ axes_tile_arguments arguments,
                     const __grid_constant__ Operation operation) {
  using stored = typename Operation::stored;
  using tile = shared_tile<stored, padded_layout<stored, Side, Side, Padding>>;
  __shared__ typename tile::storage storage;
  operation.show_compiler();
  move_axes_tile<tile, BlockRows>(static_block<Side * BlockRows>{}, storage, arguments, operation,
                                  blockIdx.x);
}

template <int Threads, int Rounds, class Operation>
__global__ void __launch_bounds__(Threads)
    axes_element_kernel(const __grid_constant__ axes_element_arguments arguments,
                        const __grid_constant__ Operation operation) {
  operation.show_compiler();
  move_axes_elements<Threads, Rounds>(static_block<Threads>{}, arguments, operation, blockIdx.x);
}

/// Launches tiles, with the sides that choose_axes chose.
template <class Operation>
cudaError_t launch_axes_tiles(const axes_choice& choice, const relocation& move,
                              const Operation& operation, cudaStream_t stream) {
  using stored = typename Operation::stored;
  constexpr int side = small_tile_side(sizeof(stored));
  constexpr int block_rows = axes_block_rows;
  return plan_axes_tiles(choice, move, side, [&](axes_tile_arguments arguments, size_type blocks) {
    Operation copied = operation;
    void* pointers[] = {&arguments, &copied};
    return start(&axes_tile_kernel<Operation, side, block_rows, element_padding<stored, side>()>,
                 blocks, side * block_rows, 0, pointers, stream);
  });
}

/// Launches elements one by one.
template <class Operation>
cudaError_t launch_axes_elements(const relocation& move, Operation operation, cudaStream_t stream) {
  constexpr int threads = axes_element_threads;
  constexpr int rounds = axes_element_rounds(Operation::accesses);
  return plan_axes_elements(move, Operation::accesses,
                            [&](axes_element_arguments arguments, size_type blocks) {
                              void* pointers[] = {&arguments, &operation};
                              return start(&axes_element_kernel<threads, rounds, Operation>, blocks,
                                           threads, 0, pointers, stream);
                            });
}

/// Launches tiles where they are chosen and registers hold their elements, else elements one by one.
template <class Operation>
cudaError_t launch_axes(const axes_choice& choice, const relocation& move,
                        const Operation& operation, cudaStream_t stream) {
  if constexpr (Operation::accesses <= most_tile_accesses) {
    if (choice.mover == axes_mover::tiles) {
      return launch_axes_tiles(choice, move, operation, stream);
    }
  }
  static_cast<void>(choice);
  return launch_axes_elements(move, operation, stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
