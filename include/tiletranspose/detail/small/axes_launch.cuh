// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The mover for little work for arrays of more axes, as CUDA sees it, and its launches.

#pragma once

#include <tiletranspose/detail/choose/choose_axes.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/small/axes_kernel.cuh>
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

/// Steps of an axis in bytes.
inline axis_steps steps_of(const relocation& move, int axis) {
  return {move.axes[axis].in_stride * static_cast<long long>(move.in_element),
          move.axes[axis].out_stride * static_cast<long long>(move.out_element)};
}

template <int MostAxes>
void count_axis(counted_axes<MostAxes>& axes, const relocation& move, int axis) {
  axes.extents[axes.count] = divider(move.axes[axis].extent);
  axes.steps[axes.count] = steps_of(move, axis);
  ++axes.count;
}

/// Calls launch(part) for both halves of a relocation along its longest axis; `launch` returns 0 to go on.
template <class Launch>
auto split(const relocation& move, Launch launch) {
  int longest = 0;
  for (int k = 1; k < move.rank; ++k) {
    if (move.axes[k].extent > move.axes[longest].extent) { longest = k; }
  }
  relocation first = move;
  relocation second = move;
  const size_type first_extent = move.axes[longest].extent / 2;
  first.axes[longest].extent = first_extent;
  second.axes[longest].extent -= first_extent;
  const axis_steps steps = steps_of(move, longest);
  second.in =
      static_cast<const unsigned char*>(move.in) + static_cast<long long>(first_extent) * steps.in;
  second.out =
      static_cast<unsigned char*>(move.out) + static_cast<long long>(first_extent) * steps.out;
  const auto status = launch(first);
  return status == decltype(launch(first)){} ? launch(second) : status;
}

/// Where `most` is less than the product of all extents, or some extent is not counted by 31 bits.
inline bool exceeds(const relocation& move, size_type most) {
  size_type elements = 1;
  for (int k = 0; k < move.rank; ++k) {
    if (move.axes[k].extent > most / elements) { return true; }
    elements *= move.axes[k].extent;
  }
  return false;
}

inline tile_side make_side(const relocation& move, const side_axes& axes) {
  tile_side side{static_cast<unsigned>(axes.extent), {}};
  for (int k = 0; k < axes.count; ++k) { count_axis(side.axes, move, axes.axes[k]); }
  return side;
}

/// Launches tiles, with the sides that choose_axes chose.
template <class Operation>
cudaError_t launch_axes_tiles(const axes_choice& choice, const relocation& move,
                              const Operation& operation, cudaStream_t stream) {
  using stored = typename Operation::stored;
  constexpr int side = small_tile_side(sizeof(stored));
  constexpr int block_rows = axes_block_rows;
  const size_type x_tiles = divide_up(choice.sides[0].extent, side);
  const size_type y_tiles = divide_up(choice.sides[1].extent, side);
  relocation outer = move;
  for (const side_axes& sides : choice.sides) {
    for (int k = 0; k < sides.count; ++k) { outer.axes[sides.axes[k]].extent = 1; }
  }
  const size_type longer = larger(choice.sides[0].extent, choice.sides[1].extent);
  if (longer > most_counted || exceeds(outer, max_blocks / (x_tiles * y_tiles))) {
    return split(move, [&](const relocation& part) {
      return launch_axes_tiles(choose_axes(part), part, operation, stream);
    });
  }
  axes_tile_arguments arguments{static_cast<const unsigned char*>(move.in),
                                static_cast<unsigned char*>(move.out),
                                make_side(move, choice.sides[0]),
                                make_side(move, choice.sides[1]),
                                divider(x_tiles),
                                divider(y_tiles),
                                {}};
  size_type blocks = x_tiles * y_tiles;
  for (int k = move.rank - 1; k >= 0; --k) {
    if (outer.axes[k].extent == 1) { continue; }
    count_axis(arguments.outer, move, k);
    blocks *= move.axes[k].extent;
  }
  Operation copied = operation;
  void* pointers[] = {&arguments, &copied};
  return start(&axes_tile_kernel<Operation, side, block_rows, element_padding<stored, side>()>,
               blocks, side * block_rows, 0, pointers, stream);
}

/// Launches elements one by one.
template <class Operation>
cudaError_t launch_axes_elements(const relocation& move, Operation operation, cudaStream_t stream) {
  constexpr int threads = 256;
  constexpr int rounds = Operation::accesses <= 4 ? 4 : 1;
  constexpr size_type block = threads * rounds;
  const element_order order = order_elements(move, block);
  size_type blocks = divide_up(order.inner_extent, block);
  relocation outer = move;
  for (int k = 0; k < order.inner; ++k) { outer.axes[order.axes[k]].extent = 1; }
  if (order.inner_extent > most_counted - block || exceeds(outer, max_blocks / blocks)) {
    return split(move, [&](const relocation& part) {
      return launch_axes_elements(part, operation, stream);
    });
  }
  axes_element_arguments arguments{static_cast<const unsigned char*>(move.in),
                                   static_cast<unsigned char*>(move.out),
                                   static_cast<unsigned>(order.inner_extent),
                                   divider(blocks),
                                   {},
                                   {}};
  for (int k = 0; k < move.rank; ++k) {
    const int axis = order.axes[k];
    count_axis(k < order.inner ? arguments.inner : arguments.outer, move, axis);
    blocks *= outer.axes[axis].extent;
  }
  void* pointers[] = {&arguments, &operation};
  return start(&axes_element_kernel<threads, rounds, Operation>, blocks, threads, 0, pointers,
               stream);
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
