// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block transpose inside of a kernel that computes: every column of the matrix gets its bias on the way
// in, every column of the result its scale on the way out, in the time of a transpose.
#include <cuda_runtime.h>

#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/transpose.cuh>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

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

void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(status));
    std::exit(1);
  }
}

float* upload(const std::vector<float>& values) {
  float* device = nullptr;
  check(cudaMalloc(&device, values.size() * sizeof(float)), "cudaMalloc");
  check(cudaMemcpy(device, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice),
        "upload");
  return device;
}

template <class Call>
float milliseconds(Call call) {
  constexpr int runs = 20;
  cudaEvent_t from, to;
  check(cudaEventCreate(&from), "cudaEventCreate");
  check(cudaEventCreate(&to), "cudaEventCreate");
  call();
  check(cudaEventRecord(from), "cudaEventRecord");
  for (int i = 0; i < runs; ++i) { call(); }
  check(cudaEventRecord(to), "cudaEventRecord");
  check(cudaEventSynchronize(to), "the kernel");
  float total = 0;
  check(cudaEventElapsedTime(&total, from, to), "cudaEventElapsedTime");
  check(cudaEventDestroy(from), "cudaEventDestroy");
  check(cudaEventDestroy(to), "cudaEventDestroy");
  return total / runs;
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("No GPU was found: nothing was transposed.");
    return 0;
  }

  const std::size_t nx = 8160, ny = 8224;  // the last tiles are half full
  std::vector<float> matrix(nx * ny), scale(ny), bias(nx);
  for (std::size_t i = 0; i < matrix.size(); ++i) { matrix[i] = static_cast<float>(i % 977); }
  for (std::size_t y = 0; y < ny; ++y) { scale[y] = 1.0f + static_cast<float>(y % 7); }
  for (std::size_t x = 0; x < nx; ++x) { bias[x] = static_cast<float>(x % 13); }
  float* const in = upload(matrix);
  float* const out = upload(matrix);
  float* const device_scale = upload(scale);
  float* const device_bias = upload(bias);

  const dim3 grid(static_cast<unsigned>((ny + tile - 1) / tile),
                  static_cast<unsigned>((nx + tile - 1) / tile));
  const auto ours = [&] {
    shift_transpose_scale<<<grid, block_transpose::threads>>>({out, nx, ny, ny}, {in, ny, nx, nx},
                                                              device_scale, device_bias);
    check(cudaGetLastError(), "launch");
  };
  ours();
  std::vector<float> found(nx * ny);
  check(cudaMemcpy(found.data(), out, found.size() * sizeof(float), cudaMemcpyDeviceToHost),
        "download");
  for (std::size_t x = 0; x < nx; ++x) {
    for (std::size_t y = 0; y < ny; ++y) {
      // Sums and products of these small whole numbers are exact.
      if (found[x * ny + y] != scale[y] * (matrix[y * nx + x] + bias[x])) {
        std::fprintf(stderr, "element (%zu, %zu) is wrong\n", x, y);
        return 1;
      }
    }
  }

  const float fused = milliseconds(ours);
  const float alone = milliseconds([&] { check(tt::transpose(out, in, nx, ny), "tt::transpose"); });
  std::printf(
      "%zu x %zu floats shifted, transposed and scaled: %.3f ms, every element as on the CPU\n", ny,
      nx, fused);
  std::printf("tt::transpose alone: %.3f ms\n", alone);
  for (float* memory : {in, out, device_scale, device_bias}) {
    check(cudaFree(memory), "cudaFree");
  }
  return 0;
}
