// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Small squares in place: the two halves of a block each move one tile of a pair, element by element.

#pragma once

#include <tiletranspose/detail/core/element_tile.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/inplace/swap_pairs.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Half of a block, whose barrier is the block's.
template <int Threads>
struct half_with_barrier : half_block<Threads> {
  TILETRANSPOSE_FUNCTION static void sync(access_site site = access_site::at()) {
    static_block<2 * Threads>::sync(site);
  }
};

/// The kernel's body: block (i, j), i <= j, transposes the tiles in row i and column j, and in row j and column i.
/// Shared memory: the storage of two `Tile`s. Barriers: one, inside.
template <class Tile, int BlockRows, class Operation>
TILETRANSPOSE_FUNCTION void swap_elements(typename Tile::storage (&storage)[2],
                                          const square_problem& square, unsigned block_row,
                                          unsigned block_col) {
  using half = half_with_barrier<Tile::cols * BlockRows>;
  if (block_row > block_col) { return; }
  constexpr unsigned side = Tile::cols;
  constexpr auto element = static_cast<long long>(Operation::bytes);
  const auto stride = static_cast<long long>(square.stride_bytes);
  const bool second = half::number() == 1;
  const unsigned row = (second ? block_col : block_row) * side;
  const unsigned col = (second ? block_row : block_col) * side;
  const auto end = static_cast<unsigned>(square.side);
  // A tile on the diagonal is moved by the first half alone.
  const bool exists = !second || block_row != block_col;
  const element_steps<long long> steps{element, stride};
  transpose_elements<BlockRows>(half{}, Tile(storage[half::number()]),
                                exists ? smaller(end - row, side) : 0,
                                exists ? smaller(end - col, side) : 0, row, col, Operation{},
                                square.data + row * stride + col * element, steps,
                                square.data + col * stride + row * element, steps);
}

template <class Operation, int Side, int BlockRows, int Padding>
__global__ void __launch_bounds__(2 * Side * BlockRows)
    little_square_kernel(const __grid_constant__ square_problem square) {
  using stored = typename Operation::stored;
  using tile = shared_tile<stored, padded_layout<stored, Side, Side, Padding>>;
  __shared__ typename tile::storage storage[2];
  swap_elements<tile, BlockRows, Operation>(storage, square, blockIdx.y, blockIdx.x);
}

/// Transposes a small square.
template <int ElementBytes, int Access>
cudaError_t launch_little_square(square_problem square, cudaStream_t stream) {
  using operation = copy_operation<ElementBytes, Access>;
  constexpr int side = 16;
  constexpr int block_rows = operation::accesses == 1 ? 8 : 4;
  constexpr int padding = element_padding<typename operation::stored, side>();
  const auto tiles = static_cast<unsigned>(divide_up(square.side, side));
  void* pointers[] = {&square};
  return start(&little_square_kernel<operation, side, block_rows, padding>, dim3(tiles, tiles),
               2 * side * block_rows, 0, pointers, stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
