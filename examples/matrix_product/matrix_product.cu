// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C[m][k] = A[m][n] * B[n][k], any shape, in two ways: the textbook's tile, and tiles that travel in the
// background while the ones before them are multiplied. The second is written once for every engine of
// tt::tile_pipeline, so that the times show what each part of it is worth.

#include <tiletranspose/smem.cuh>
#include <tiletranspose/tile_pipeline.cuh>

#include "../example.cuh"

using matrix = tt::matrix_view<float>;
using const_matrix = tt::matrix_view<const float>;

unsigned tiles_of(std::size_t extent, int tile) {
  return static_cast<unsigned>((extent + tile - 1) / tile);
}

// ---- the textbook: a result a thread, one tile of A and of B at a time ---------------------------------------

constexpr int side = 32;

__global__ void __launch_bounds__(side* side)
    multiply_plain(matrix c, const_matrix a, const_matrix b) {
  using tile_type = tt::shared_tile<float, tt::padded_layout<float, side, side, 0>>;
  __shared__ tile_type::storage a_storage, b_storage;
  const tile_type a_tile(a_storage), b_tile(b_storage);
  const tt::static_block<side * side> block;
  const int r = threadIdx.x / side;
  const int s = threadIdx.x % side;
  const std::size_t row0 = blockIdx.y * std::size_t{side};
  const std::size_t col0 = blockIdx.x * std::size_t{side};
  float sum = 0;
  for (std::size_t i = 0; i < a.cols; i += side) {
    tt::load_tile(block, a_tile, a, row0, i, 0.0f);  // zeros where a matrix ends add nothing
    tt::load_tile(block, b_tile, b, i, col0, 0.0f);
    block.sync();
#pragma unroll
    for (int j = 0; j < side; ++j) sum += a_tile.get(r, j) * b_tile.get(j, s);
    block.sync();
  }
  if (row0 + r < c.rows && col0 + s < c.cols) c.data[(row0 + r) * c.stride + col0 + s] = sum;
}

// ---- a pipeline: 8 x 8 results a thread, two stages ----------------------------------------------------------

constexpr int block_side = 128;                 // of the results of a block
constexpr int step = 16;                        // columns of A and rows of B in a stage
constexpr int each = 8;                         // rows, and columns, of the results of a thread
constexpr int thread_side = block_side / each;  // the block's threads are 16 x 16
constexpr int pipeline_threads = thread_side * thread_side;
constexpr int stages = 2;

using a_tile_type =
    tt::shared_tile<float, tt::padded_layout<float, block_side, step, 0>>;  // (block_side, step)
using b_tile_type =
    tt::shared_tile<float, tt::padded_layout<float, step, block_side, 0>>;  // (step, block_side)

template <tt::copy_engine Engine>
using pipeline_storage = typename tt::tile_pipeline<stages, Engine>::storage;

template <tt::copy_engine Engine>
constexpr tt::smem_layout pipeline_smem{
    tt::smem_tiles<a_tile_type, stages>().template aligned<128>(),
    tt::smem_tiles<b_tile_type, stages>().template aligned<128>(),
    tt::smem_array<pipeline_storage<Engine>, 1>()};

template <tt::copy_engine Engine>
__global__ void __launch_bounds__(pipeline_threads)
    multiply_pipelined(matrix c, const __grid_constant__ tt::bulk_view<a_tile_type> a,
                       const __grid_constant__ tt::bulk_view<b_tile_type> b) {
  constexpr auto smem = pipeline_smem<Engine>;
  auto [a_tiles, b_tiles, storage] = smem.carve(tt::dynamic_smem());
  const tt::static_block<pipeline_threads> block;
  tt::tile_pipeline<stages, Engine> pipeline(block, *storage);
  block.sync();  // owed: the pipeline's barriers are ready

  const int r = threadIdx.x / thread_side;
  const int s = threadIdx.x % thread_side;
  const std::size_t row0 = blockIdx.y * std::size_t{block_side};
  const std::size_t col0 = blockIdx.x * std::size_t{block_side};
  float sum[each][each] = {};

  pipeline.load(block, a_tiles[pipeline.acquire()], a, row0, 0, 0.0f);
  pipeline.load(block, b_tiles[pipeline.acquire()], b, 0, col0, 0.0f);
  pipeline.commit();
  for (std::size_t i = 0; i < a.matrix.cols; i += step) {
    const unsigned stage = pipeline.wait();
    block.sync();  // owed: this stage is full, and everybody has read the other
    if (i + step < a.matrix.cols) {
      pipeline.load(block, a_tiles[pipeline.acquire()], a, row0, i + step, 0.0f);
      pipeline.load(block, b_tiles[pipeline.acquire()], b, i + step, col0, 0.0f);
      pipeline.commit();
    }
    const a_tile_type a_tile = a_tiles[stage];
    const b_tile_type b_tile = b_tiles[stage];
#pragma unroll
    for (int j = 0; j < step; ++j) {
      float left[each], right[each];
#pragma unroll
      for (int y = 0; y < each; ++y) left[y] = a_tile.get(r + y * thread_side, j);
#pragma unroll
      for (int x = 0; x < each; ++x) right[x] = b_tile.get(j, s + x * thread_side);
#pragma unroll
      for (int y = 0; y < each; ++y) {
#pragma unroll
        for (int x = 0; x < each; ++x) sum[y][x] += left[y] * right[x];
      }
    }
    pipeline.release();
  }
#pragma unroll
  for (int y = 0; y < each; ++y) {
#pragma unroll
    for (int x = 0; x < each; ++x) {
      const std::size_t row = row0 + r + y * thread_side;
      const std::size_t col = col0 + s + x * thread_side;
      if (row < c.rows && col < c.cols) c.data[row * c.stride + col] = sum[y][x];
    }
  }
}

// ---- launches, checks, times ---------------------------------------------------------------------------------

void launch_plain(matrix c, const_matrix a, const_matrix b) {
  multiply_plain<<<dim3(tiles_of(c.cols, side), tiles_of(c.rows, side)), side * side>>>(c, a, b);
  example::check(cudaGetLastError(), "multiply_plain");
}

template <tt::copy_engine Engine>
void launch_pipelined(matrix c, const_matrix a, const_matrix b) {
  const auto kernel = multiply_pipelined<Engine>;
  constexpr std::size_t bytes = pipeline_smem<Engine>.bytes();
  example::check(tt::allow_dynamic_smem(kernel, bytes), "shared memory for the pipeline");
  tt::bulk_view<a_tile_type> a_view;
  tt::bulk_view<b_tile_type> b_view;
  example::check(tt::make_bulk_view(&a_view, a), "a description of A");
  example::check(tt::make_bulk_view(&b_view, b), "a description of B");
  const dim3 grid(tiles_of(c.cols, block_side), tiles_of(c.rows, block_side));
  kernel<<<grid, pipeline_threads, bytes>>>(c, a_view, b_view);
  example::check(cudaGetLastError(), "multiply_pipelined");
}

using vector = std::vector<long long>;

// The product of a matrix and a vector. Small integers, hence exact.
vector times(const std::vector<float>& values, std::size_t rows, std::size_t cols,
             const vector& x) {
  vector y(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c)
      y[r] += static_cast<long long>(values[r * cols + c]) * x[c];
  }
  return y;
}

std::vector<float> small_integers(std::size_t count, unsigned seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 29) - 3;  // -3 to 4
  }
  return values;
}

bool run(std::size_t m, std::size_t n, std::size_t k) {
  const std::vector<float> a = small_integers(m * n, 1);
  const std::vector<float> b = small_integers(n * k, 2);
  const auto a_device = example::to_device(a);
  const auto b_device = example::to_device(b);
  // C is right if C x == A (B x) for a random x: a wrong element shows, and m * n * k operations are spared.
  vector x(k);
  for (std::size_t i = 0; i < k; ++i) x[i] = 1 + i * 2654435761u % 1000;
  const vector expected = times(a, m, n, times(b, n, k, x));

  std::printf("C[%zu][%zu] = A[%zu][%zu] * B[%zu][%zu]\n", m, k, m, n, n, k);
  float plain_ms = 0;
  bool right = true;
  const auto row = [&](const char* name, auto launch) {
    const auto c_device = example::to_device(std::vector<float>(m * k, -1.0f));
    const auto call = [&] {
      launch(matrix{c_device.get(), m, k, k}, const_matrix{a_device.get(), m, n, n},
             const_matrix{b_device.get(), n, k, k});
    };
    call();
    const bool good = times(example::to_host(c_device, m * k), m, k, x) == expected;
    right = right && good;
    const float ms = example::median_ms(call);
    if (plain_ms == 0) plain_ms = ms;
    std::printf("  %-38s %9.3f ms %7.2f TFLOP/s %6.2f x plain  %s\n", name, ms,
                2e-9 * m * n * k / ms, plain_ms / ms, good ? "right" : "WRONG");
  };
  row("plain 32 x 32 tile", launch_plain);
  row("64 results a thread, loaded by threads", launch_pipelined<tt::copy_engine::threads>);
  row("the same, two stages of cp.async", launch_pipelined<tt::copy_engine::cp_async>);
  row("the same, two stages of the bulk engine", launch_pipelined<tt::copy_engine::bulk>);
  return right;
}

int main(int argc, char** argv) {
  example::need_gpu();
  if (argc == 4) {
    return run(std::strtoull(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10),
               std::strtoull(argv[3], nullptr, 10))
               ? 0
               : 1;
  }
  const bool small = run(127, 33, 65);
  const bool even = run(4096, 4096, 4096);
  const bool odd = run(2049, 4095, 3001);
  return small && even && odd ? 0 : 1;
}
