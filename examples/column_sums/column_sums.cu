// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of the columns of a matrix. A tile turns rows, which are read together, into one row a thread; CUB adds
// up what the threads found, in the same shared memory that the tile no longer needs.

#include <tiletranspose/tile_io.cuh>

#include <cub/block/block_reduce.cuh>

#include "../example.cuh"

constexpr int threads = 128;
constexpr int tile_cols = 32;
constexpr std::size_t rows_a_block = 64 * threads;

using tile_type =
    tt::shared_tile<float,
                    tt::padded_layout<float, threads, tile_cols, 1>>;  // (threads, tile_cols)
using block_reduce = cub::BlockReduce<float, threads>;

// sums[c] += in(0, c) + in(1, c) + ...    Launch: blocks of rows_a_block x tile_cols elements.
__global__ void __launch_bounds__(threads)
    add_columns(float* sums, tt::matrix_view<const float> in) {
  __shared__ union {
    tile_type::storage tile;
    block_reduce::TempStorage reduce;
  } shared;
  const tt::static_block<threads> block;
  const tile_type tile(shared.tile);
  const std::size_t col0 = blockIdx.x * std::size_t{tile_cols};
  const std::size_t first_row = blockIdx.y * rows_a_block;
  const std::size_t end_row = min(first_row + rows_a_block, in.rows);

  float partial[tile_cols] = {};
  for (std::size_t row0 = first_row; row0 < end_row; row0 += threads) {
    tt::load_tile(block, tile, in, row0, col0, 0.0f);  // zeros where the matrix ends
    block.sync();                                      // owed: other threads loaded this row
#pragma unroll
    for (int c = 0; c < tile_cols; ++c) partial[c] += tile.get(threadIdx.x, c);
    block.sync();  // owed: the tile is filled again, or becomes CUB's
  }
#pragma unroll
  for (int c = 0; c < tile_cols; ++c) {
    const float sum = block_reduce(shared.reduce).Sum(partial[c]);
    if (threadIdx.x == 0 && col0 + c < in.cols) atomicAdd(&sums[col0 + c], sum);
    block.sync();  // owed to CUB: its storage is used again
  }
}

int main() {
  example::need_gpu();
  const std::size_t rows = 100003;
  const std::size_t cols = 1001;
  std::vector<float> values(rows * cols);
  std::vector<float> expected(cols);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i * 2654435761u % 64);  // small integers: sums are exact
    expected[i % cols] += values[i];
  }
  const auto in = example::to_device(values);
  const auto sums = example::to_device(std::vector<float>(cols));

  const dim3 grid((cols + tile_cols - 1) / tile_cols, (rows + rows_a_block - 1) / rows_a_block);
  add_columns<<<grid, threads>>>(sums.get(), {in.get(), rows, cols, cols});
  example::check(cudaGetLastError(), "add_columns");
  const bool right = example::to_host(sums, cols) == expected;
  std::printf("%zu column sums of %zu rows: %s; %zu bytes of shared memory for both\n", cols, rows,
              right ? "right" : "WRONG",
              std::max(sizeof(tile_type::storage), sizeof(block_reduce::TempStorage)));
  return right ? 0 : 1;
}
