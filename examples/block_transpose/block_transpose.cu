// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block transpose inside of a kernel that computes: every column of the matrix gets its bias on the way
// in, every column of the result its scale on the way out, in the time of a transpose.

#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/transpose.cuh>

#include "../example.cuh"

// 64 x 64 floats, 512 threads: a row of the tile is two whole cache lines, and each thread has eight
// loads under way.
using block_transpose = tt::block_transpose<float, 64, 8>;
constexpr std::size_t tile = 64;

// out(x, y) == scale[y] * (in(y, x) + bias[x]).  Launch: (rows of tiles, columns of tiles) blocks.
__global__ void __launch_bounds__(block_transpose::threads)
    shift_transpose_scale(tt::matrix_view<float> out, tt::matrix_view<const float> in,
                          const float* scale, const float* bias) {
  __shared__ typename block_transpose::storage storage;
  const tt::static_block<block_transpose::threads> block;
  const block_transpose transposer(storage);
  // Blocks that start after each other go down a column of the input, and so along a row of the
  // output: writes are worth more than reads.
  const std::size_t row = blockIdx.x * tile;
  const std::size_t col = blockIdx.y * tile;
  // All items of a thread stand in one column: of the input first, of the output afterwards.
  const std::size_t x = col + block_transpose::item_col(block.thread_rank());
  const std::size_t y = row + block_transpose::item_col(block.thread_rank());
  const float own_bias = x < in.cols ? bias[x] : 0;
  const float own_scale = y < out.cols ? scale[y] : 0;

  float items[block_transpose::items_per_thread] = {};
  transposer.load(block, items, in, row, col);
  for (float& item : items) { item += own_bias; }
  transposer.write(block, items);
  block.sync();  // owed: the tile is full before it is read
  transposer.read(block, items);
  for (float& item : items) { item *= own_scale; }
  transposer.store(block, out, col, row, items);
}

int main() {
  example::need_gpu();
  const std::size_t nx = 8160, ny = 8224;  // the last tiles are half full
  std::vector<float> matrix(nx * ny), scale(ny), bias(nx);
  for (std::size_t i = 0; i < matrix.size(); ++i) { matrix[i] = static_cast<float>(i % 977); }
  for (std::size_t y = 0; y < ny; ++y) { scale[y] = 1.0f + static_cast<float>(y % 7); }
  for (std::size_t x = 0; x < nx; ++x) { bias[x] = static_cast<float>(x % 13); }
  const auto in = example::to_device(matrix);
  const auto out = example::make_device_array<float>(nx * ny);
  const auto device_scale = example::to_device(scale);
  const auto device_bias = example::to_device(bias);

  const dim3 grid(static_cast<unsigned>((ny + tile - 1) / tile),
                  static_cast<unsigned>((nx + tile - 1) / tile));
  const auto ours = [&] {
    shift_transpose_scale<<<grid, block_transpose::threads>>>(
        {out.get(), nx, ny, ny}, {in.get(), ny, nx, nx}, device_scale.get(), device_bias.get());
    example::check(cudaGetLastError(), "launch");
  };
  ours();
  const std::vector<float> found = example::to_host(out, nx * ny);
  for (std::size_t x = 0; x < nx; ++x) {
    for (std::size_t y = 0; y < ny; ++y) {
      // Sums and products of these small whole numbers are exact.
      if (found[x * ny + y] != scale[y] * (matrix[y * nx + x] + bias[x])) {
        std::fprintf(stderr, "element (%zu, %zu) is wrong\n", x, y);
        return 1;
      }
    }
  }

  const float fused = example::median_ms(ours);
  const float alone = example::median_ms(
      [&] { example::check(tt::transpose(out.get(), in.get(), nx, ny), "tt::transpose"); });
  std::printf(
      "%zu x %zu floats shifted, transposed and scaled: %.3f ms, every element as on the CPU\n", ny,
      nx, fused);
  std::printf("tt::transpose alone: %.3f ms\n", alone);
  return 0;
}
