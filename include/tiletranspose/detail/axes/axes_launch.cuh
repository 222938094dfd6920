// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernels of tiles and of elements along several axes as CUDA sees them, and their launches.

#pragma once

#include <tiletranspose/detail/axes/word_shifted_tile.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/group.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <class Operation, int Side, int BlockRows, int Padding, class Step>
__global__ void __launch_bounds__(Side* BlockRows)
    axes_tile_kernel(const __grid_constant__ axes_tile_arguments<Step> arguments,
                     const __grid_constant__ Operation operation) {
  static_assert(!Operation::fetches, "");
  using stored = typename Operation::stored;
  using tile = shared_tile<stored, padded_layout<stored, Side, Side, Padding>>;
  __shared__ typename tile::storage storage;
  operation.show_compiler();
  const element_items<tile, Operation> items{tile(storage), operation};
  detail::move_axes_tile<BlockRows>(static_block<Side * BlockRows>{}, items, arguments, blockIdx.x);
}

template <class Operation, int Lanes, class Step>
__global__ void __launch_bounds__(Lanes* micro_block_rows)
    axes_micro_kernel(const __grid_constant__ axes_tile_arguments<Step> arguments,
                      const __grid_constant__ Operation operation) {
  using items = micro_items<Operation, Lanes>;
  alignas(16) __shared__ unsigned char shared[items::shared_bytes];
  operation.show_compiler();
  detail::move_axes_tile<micro_block_rows>(static_block<Lanes * micro_block_rows>{},
                                           items{shared, operation}, arguments, blockIdx.x);
}

template <int ElementBytes, int Threads = word_shifted_tile_shape{ElementBytes}.threads()>
__global__ void __launch_bounds__(Threads, resident_blocks(Threads, ElementBytes == 3 ? 3 : 5))
    word_shifted_tile_kernel(const __grid_constant__ word_shifted_tile_arguments arguments) {
  __shared__ word_shifted_tile<ElementBytes> tile;
  tile.move(static_block<Threads>{}, arguments, blockIdx.x);
}

/// Block b moves at most `per_block` elements of the inner axes, counted along them first.
template <class Operation, class Step>
__global__ void __launch_bounds__(axes_element_threads)
    axes_element_kernel(const __grid_constant__ axes_element_arguments<Step> arguments,
                        const __grid_constant__ Operation operation) {
  static_assert(!Operation::fetches, "");
  operation.show_compiler();
  constexpr int rounds = element_rounds_of<Operation>;
  const unsigned outer = arguments.blocks.quotient(blockIdx.x);
  const unsigned begin = arguments.blocks.remainder(blockIdx.x, outer) * arguments.per_block;
  const unsigned end = smaller(begin + arguments.per_block, arguments.elements);
  const unsigned first = begin + static_block<axes_element_threads>::thread_rank();
  axis_steps<Step> there{0, 0};
  count_along<most_counted_axes>(arguments.axis + arguments.inner, arguments.axes - arguments.inner,
                                 outer, there);
  typename Operation::stored held[rounds];
  unsigned char* places[rounds] = {};
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < rounds; ++k) {
    const unsigned i = first + static_cast<unsigned>(k * axes_element_threads);
    if (i >= end) { continue; }
    axis_steps<Step> at = there;
    count_along<most_counted_axes>(arguments.axis, arguments.inner, i, at);
    held[k] = operation.load(arguments.in + at.in, 0, 0);
    places[k] = arguments.out + at.out;
  }
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < rounds; ++k) {
    if (first + static_cast<unsigned>(k * axes_element_threads) >= end) { continue; }
    operation.store(places[k], held[k], {}, 0, 0);
  }
}

/// Returns launch(Step{}) for the type that counts the places of a relocation.
template <class Launch>
cudaError_t with_steps(const relocation& move, Launch launch) {
  return has_short_places(move) ? launch(0) : launch(0LL);
}

/// Plans tiles with the sides that were chosen and calls start_tiles(Step{}, plan).
template <class StartTiles>
cudaError_t start_axes_tiles(const axes_choice& choice, const relocation& move, int accesses,
                             StartTiles start_tiles) {
  return with_steps(move, [&](auto step) {
    return plan_axes_tiles<decltype(step)>(
        choice, move, accesses, [&](const auto& plan) { return start_tiles(step, plan); });
  });
}

template <class Operation>
cudaError_t launch_axes_tiles(const axes_choice& choice, const relocation& move,
                              const Operation& operation, cudaStream_t stream) {
  using stored = typename Operation::stored;
  constexpr int side = axes_tile_side(sizeof(stored));
  constexpr int rows = axes_block_rows(Operation::accesses);
  return start_axes_tiles(choice, move, Operation::accesses, [&](auto step, const auto& plan) {
    constexpr int padding = element_padding<stored, side>();
    return detail::start(&axes_tile_kernel<Operation, side, rows, padding, decltype(step)>, plan,
                         stream, operation);
  });
}

/// Starts tiles of micro-blocks of a side: that of large ones or 64.
template <int Large, class Operation, class Step>
cudaError_t start_micro_tiles(int side, const launch_plan<axes_tile_arguments<Step>>& plan,
                              const Operation& operation, cudaStream_t stream) {
  return detail::start(side == Large ? &axes_micro_kernel<Operation, Large / micro_elements, Step>
                                     : &axes_micro_kernel<Operation, 64 / micro_elements, Step>,
                       plan, stream, operation);
}

template <class Operation>
cudaError_t launch_micro_tiles(const axes_choice& choice, const relocation& move,
                               const Operation& operation, cudaStream_t stream) {
  constexpr size_type wider = larger(Operation::in_bytes, Operation::out_bytes);
  return start_axes_tiles(choice, move, 1, [&](auto, const auto& plan) {
    return start_micro_tiles<micro_tile_side(wider, ~size_type{0})>(choice.tile_side, plan,
                                                                    operation, stream);
  });
}

template <int ElementBytes, int Access>
cudaError_t launch_copied_tiles(const axes_choice& choice, const relocation& move,
                                cudaStream_t stream) {
  if constexpr (has_micro_blocks(ElementBytes)) {
    if (choice.together > 1) {
      constexpr int access = access_width(ElementBytes);
      return launch_micro_tiles(choice, move, copy_operation<ElementBytes, access>{}, stream);
    }
  }
  return launch_axes_tiles(choice, move, copy_operation<ElementBytes, Access>{}, stream);
}

/// Launches word-shifted tiles. Precondition: fits_word_shifted_tiles.
template <int ElementBytes>
cudaError_t launch_word_shifted_tiles(const axes_choice& choice, const relocation& move,
                                      cudaStream_t stream) {
  return detail::start(&word_shifted_tile_kernel<ElementBytes>,
                       plan_word_shifted_tiles(choice, move), stream);
}

template <class Operation>
cudaError_t launch_axes_elements(const relocation& move, Operation operation, cudaStream_t stream) {
  return with_steps(move, [&](auto step) {
    using steps = decltype(step);
    return plan_axes_elements<steps>(move, element_rounds_of<Operation>, [&](const auto& plan) {
      return detail::start(&axes_element_kernel<Operation, steps>, plan, stream, operation);
    });
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
