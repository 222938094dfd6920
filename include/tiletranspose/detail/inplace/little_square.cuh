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

/// The kernel's body: block (i, k) transposes a tile and the one across the diagonal.
/// Shared memory: the storage of two `Tile`s. Barriers: one, inside.
template <class Tile, int BlockRows, class Operation>
TILETRANSPOSE_FUNCTION void swap_elements(typename Tile::storage (&storage)[2],
                                          const square_problem& square, unsigned k, unsigned i) {
  using half = half_with_barrier<Tile::cols * BlockRows>;
  constexpr unsigned side = Tile::cols;
  const auto end = static_cast<unsigned>(square.side);
  const tile_pair pair = fold_triangle((end + side - 1) / side, k, i);
  if (pair.row > pair.col) { return; }
  constexpr auto element = static_cast<long long>(Operation::bytes);
  const auto stride = static_cast<long long>(square.stride_bytes);
  const bool second = half::number() == 1;
  const unsigned row = (second ? pair.col : pair.row) * side;
  const unsigned col = (second ? pair.row : pair.col) * side;
  // A tile on the diagonal is moved by the first half alone.
  const bool exists = !second || pair.row != pair.col;
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
  return start(&little_square_kernel<operation, side, block_rows, padding>,
               dim3(tiles + 1, (tiles + 1) / 2), 2 * side * block_rows, 0, pointers, stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
