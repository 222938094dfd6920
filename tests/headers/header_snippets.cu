// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code that the public headers show in their comments, in the order of the headers' names; headers.snippets
// asks that every line of it stands here. The lines are the headers' own, so that no tool may break them.
// clang-format off

#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <tiletranspose/emulator.cuh>
#include <tiletranspose/explain.cuh>
#include <tiletranspose/interleave.cuh>
#include <tiletranspose/mdspan.cuh>
#include <tiletranspose/peers.cuh>
#include <tiletranspose/permute.cuh>
#include <tiletranspose/streamed.cuh>
#include <tiletranspose/tile_pipeline.cuh>
#include <tiletranspose/tiletranspose.cuh>

#if __has_include(<nccl.h>)
#include <tiletranspose/distributed.cuh>
#endif

#include <cstddef>
#include <cstdio>

namespace in_banks {
using layout = tt::padded_layout<float, 32, 32, 0>;
static_assert(tt::conflict_ways(layout{}, tt::along_rows) == 1);
static_assert(tt::conflict_ways(layout{}, tt::along_columns) == 32);
static_assert(tt::default_padding<float, 32>() == 1);

constexpr bool check_steps() {
  const tt::walk_steps steps(tt::along_columns, 4, 32, 32);
  return steps.count == 32 * 32 && steps(33).row == 1 && steps(33).col == 1;
}
static_assert(check_steps());

static_assert(tt::conflict_ways(tt::padded_layout<float, 32, 32, 1>{}, tt::along_columns) == 1);
static_assert(tt::conflict_ways(tt::padded_layout<float, 32, 32, 0>{}, tt::along_columns, 8) == 16);
static_assert(tt::map_ways(tt::padded_map(1, 32, 32, 1), tt::along_columns) == 2);
static_assert(tt::default_padding<unsigned char, 128>() == 4);
}  // namespace in_banks

namespace in_block_reverse {
namespace fixed {
__global__ void reverse_block(float* data) {
  using block_reverse = tt::block_reverse<float, 1024>;
  __shared__ typename block_reverse::storage storage;
  const tt::static_block<256> block;
  float* const mine = data + blockIdx.x * std::size_t{1024};
  block_reverse reverser(storage);
  reverser.load(block, mine, 1024);
  block.sync();
  reverser.store(block, mine, 1024);
}
}  // namespace fixed

__global__ void reverse_block(float* data, unsigned count) {
  extern __shared__ float shared[];            // launched with count * sizeof(float) bytes
  const tt::static_block<256> block;
  float* const mine = data + blockIdx.x * std::size_t{count};
  tt::block_reverse<float, tt::dynamic_size> reverser(shared);
  reverser.load(block, mine, count);
  block.sync();
  reverser.store(block, mine, count);
}
}  // namespace in_block_reverse

namespace in_block_transpose {
namespace by_memory {
__global__ void kernel(tt::matrix_view<float> out, tt::matrix_view<const float> in) {
  using block_transpose = tt::block_transpose<float, 64, 8>;
  __shared__ typename block_transpose::storage storage;
  const tt::static_block<block_transpose::threads> block;
  const block_transpose transposer(storage);
  const std::size_t row = blockIdx.x * std::size_t{64};
  const std::size_t col = blockIdx.y * std::size_t{64};
  transposer.load(block, in, row, col);
  block.sync();
  transposer.store(block, out, col, row);
}
}  // namespace by_memory

__global__ void kernel(tt::matrix_view<float> out, tt::matrix_view<const float> in) {
  using block_transpose = tt::block_transpose<float, 64, 8>;
  __shared__ typename block_transpose::storage storage;
  const tt::static_block<block_transpose::threads> block;
  const block_transpose transposer(storage);
  const std::size_t row = blockIdx.x * std::size_t{64};
  const std::size_t col = blockIdx.y * std::size_t{64};
  float items[block_transpose::items_per_thread];
  transposer.load(block, items, in, row, col);
  transposer.write(block, items);
  block.sync();
  transposer.read(block, items);
  transposer.store(block, out, col, row, items);
}
}  // namespace in_block_transpose

namespace in_bulk_view {
using tile_type = tt::shared_tile<float, tt::padded_layout<float, 64, 64, 0>>;
__global__ void kernel(const __grid_constant__ tt::bulk_view<tile_type> in);
__global__ void kernel(const __grid_constant__ tt::bulk_view<tile_type>) {}

cudaError_t launch(const float* data, std::size_t rows, std::size_t cols, std::size_t stride, dim3 grid, dim3 block) {
  tt::bulk_view<tile_type> in;
  cudaError_t status = tt::make_bulk_view(&in, tt::matrix_view<const float>{data, rows, cols, stride});
  kernel<<<grid, block>>>(in);
  return status;
}
}  // namespace in_bulk_view

static_assert(tt::access_width(12, 4) == 4 && tt::access_width(12, 1) == 1 && tt::access_width(32, 32) == 16);

#if __has_include(<nccl.h>)
namespace in_distributed {
cudaError_t calls(float* out, const float* in, std::size_t nx, std::size_t ny, const std::size_t* begins,
                  ncclComm_t comm, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  float* temp = nullptr;
  std::size_t temp_bytes = 0;
  status = tt::distributed_transpose(out, in, nx, ny, nullptr, temp_bytes, comm, stream);   // how much scratch
  if (status != cudaSuccess) { return status; }
  status = cudaMalloc(&temp, temp_bytes);
  if (status != cudaSuccess) { return status; }
  status = tt::distributed_check(out, in, nx, ny, temp, temp_bytes, comm, stream);    // once, or while debugging
  if (status != cudaSuccess) { return status; }
  status = tt::distributed_transpose(out, in, nx, ny, temp, temp_bytes, comm, stream);
  if (status != cudaSuccess) { return status; }
  const tt::partition rows{ny, begins};    // begins[ranks + 1]
  status = tt::distributed_transpose(out, in, nx, rows, temp, temp_bytes, comm, stream, {16 << 20});
  return status;
}
cudaError_t planes(float* by_y, const float* by_z, std::size_t nx, std::size_t ny, std::size_t nz, void* temp,
                   std::size_t temp_bytes, ncclComm_t comm, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  status = tt::distributed_permute(by_y, by_z, {nz, ny, nx}, {1, 0, 2}, temp, temp_bytes, comm, stream);
  return status;
}
}  // namespace in_distributed
#endif

namespace in_emulator {
using storage = tt::shared_tile<float, tt::padded_layout<float, 32, 32, 1>>::storage;
void my_body(tt::emulated_block, storage&, tt::matrix_view<float>, tt::matrix_view<const float>, unsigned, unsigned) {}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // the lambda's parameters are named as the function's
int test(tt::matrix_view<float> out, tt::matrix_view<const float> in) {
  const tt::emulation_report report = tt::emulate(
      tt::emulated_dim(2, 3), 256, sizeof(storage),
      [](tt::emulated_block block, tt::matrix_view<float> out, tt::matrix_view<const float> in) {
        my_body(block, block.shared_as<storage>(), out, in, block.index().x, block.index().y);
      },
      out, in);
  std::printf("%s", report.table().c_str());
  return report.clean() && report.worst_ways() == 1 ? 0 : 1;
}
#pragma GCC diagnostic pop
}  // namespace in_emulator

namespace in_explain {
inline void ask(float* out, const float* in, std::size_t nx, std::size_t ny) {
std::puts(tt::to_string(tt::explain(out, in, nx, ny)).c_str());
std::puts(tt::to_string(tt::explain_permute(out, in, {300, 8, 7, 5, 6}, {4, 3, 1, 2, 0})).c_str());
}
}  // namespace in_explain

namespace in_interleave {
inline cudaError_t call(float* x, float* y, float* z, float* points, std::size_t n, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  float* const planes[] = {x, y, z};
  status = tt::deinterleave(planes, points, n, stream);
  if (status != cudaSuccess) { return status; }
  status = tt::interleave(points, planes, n, stream);
  return status;
}
}  // namespace in_interleave

namespace in_layout {
constexpr bool check() {
  tt::padded_layout<float, 32, 32, 1> layout;
  static_assert(layout(2, 5) == 2 * 33 + 5);
  return layout(2, 5) == 71;
}
static_assert(check());
static_assert(tt::padded_map(4, 32, 32, 1)(2, 5) == tt::padded_layout<float, 32, 32, 1>{}(2, 5));
static_assert(tt::swizzled_map(4, 32, 32, 4)(2, 5) == tt::swizzled_layout<float, 32, 32>{}(2, 5));
}  // namespace in_layout

namespace in_mdspan {
using matrix = cuda::std::mdspan<float, cuda::std::dextents<std::size_t, 2>>;
cudaError_t calls(matrix out, matrix in, cudaStream_t stream) {
  cudaError_t status = tt::transpose(out, in, stream);
  status = tt::reorient(out, in, tt::symmetry::rotate_90, stream);
  return status;
}
using images = cuda::std::mdspan<float, cuda::std::dextents<std::size_t, 4>>;
cudaError_t calls(images planes, images pixels, images right, images left, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  status = tt::permute(planes, pixels, {0, 3, 1, 2}, stream);
  status = tt::copy(right, left, stream);
  return status;
}
}  // namespace in_mdspan

namespace in_partition {
static_assert(tt::partition_begin(10, 4, 1) == 3 && tt::partition_count(10, 4, 3) == 2);
constexpr std::size_t begins[] = {0, 1, 1, 10};   // rank 0 holds row 0, rank 1 nothing, rank 2 the other nine
constexpr tt::partition uneven{10, begins};
static_assert(uneven.is_valid(3));
}  // namespace in_partition

namespace in_peers {
cudaError_t calls(float* out0, const float* in0, float* out1, const float* in1, std::size_t nx,
                  std::size_t ny, cudaStream_t stream0, cudaStream_t stream1) {
  const int devices[] = {0, 1};
  cudaError_t status = cudaSuccess;
  status = tt::enable_peer_access(devices, 2);    // once
  if (status != cudaSuccess) { return status; }
  tt::device_part<float> parts[] = {{0, out0, in0, nullptr, stream0}, {1, out1, in1, nullptr, stream1}};
  status = tt::distributed_transpose(parts, 2, nx, ny);    // kernels store into the other GPU's memory
  if (status != cudaSuccess) { return status; }
  const std::size_t temp_bytes = tt::peer_scratch_bytes<float>(2, nx, ny);
  for (tt::device_part<float>& part : parts) {
    status = cudaSetDevice(part.device);
    if (status == cudaSuccess) { status = cudaMalloc(&part.temp, temp_bytes); }
    if (status != cudaSuccess) { return status; }
  }
  status = tt::distributed_transpose(parts, 2, nx, ny);
  return status;
}
cudaError_t share(float* const* outs, const float* in, std::size_t nx, std::size_t ny, int ranks, int rank,
                  cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  status = tt::transpose_into_parts(outs, in, nx, ny, ranks, rank, stream);
  return status;
}
}  // namespace in_peers

namespace in_permute {
struct normalize {
  __device__ float operator()(unsigned char value) const { return value / 255.0f; }
};
cudaError_t calls(float* planes, const float* pixels, float* heads, const float* tokens, std::size_t images,
                  std::size_t height, std::size_t width, std::size_t batch, std::size_t length, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  // Images of height x width pixels of 3 channels, to one plane a channel.
  status = tt::permute(planes, pixels, {images, height, width, 3}, {0, 3, 1, 2}, stream);
  status = tt::permute(heads, tokens, {batch, length, 12, 64}, {0, 2, 1, 3}, stream);  // attention heads
  return status;
}
cudaError_t strided(float* out, const float* in, std::size_t rows, std::size_t cols, std::ptrdiff_t in_pitch,
                    std::ptrdiff_t out_pitch, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  // Rotated by 90 degrees: rows, cols are std::size_t, the elements between two rows of each side std::ptrdiff_t.
  status = tt::permute(out, {1, out_pitch}, in + cols - 1, {in_pitch, -1}, {rows, cols}, stream);
  return status;
}
cudaError_t transformed(float* planes, const unsigned char* pixels, std::size_t images, std::size_t height,
                        std::size_t width, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  status = tt::transform_permute(planes, pixels, {images, height, width, 3}, {0, 3, 1, 2},
                                 normalize{}, stream);
  return status;
}
}  // namespace in_permute

namespace in_reverse {
cudaError_t calls(float* out, const float* in, float* image, std::size_t n, std::size_t nx, std::size_t ny,
           tt::matrix_view<float> out_view, tt::matrix_view<const float> in_view, cudaStream_t stream) {
  cudaError_t status = tt::reverse(out, in, n, stream);
  status = tt::rotate(out, in, nx, ny, -1, stream);
  status = tt::reorient(out_view, in_view, tt::symmetry::anti_transpose, stream);
  status = tt::flip_ud_inplace(image, nx, ny, stream);
  return status;
}

cudaError_t more(float* out, const float* in, float* image, std::size_t nx, std::size_t ny, std::size_t pitch,
          std::size_t batch, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  status = tt::flip_lr(out, in, nx, ny, stream);
  status = tt::flip_ud(out, in, nx, ny, stream);
  status = tt::anti_transpose(out, in, nx, ny, stream);
  status = tt::reorient_batched(out, in, nx, ny, batch, tt::symmetry::rotate_180, stream);
  status = tt::reorient_inplace(tt::matrix_view<float>{image, ny, nx, pitch}, tt::symmetry::flip_lr, stream);
  status = tt::reverse_inplace(image, nx * ny, stream);
  status = tt::rotate_inplace(image, nx, nx, -1, stream);
  return status;
}
cudaError_t batches(tt::matrix_view<float> first_out, std::size_t out_step, tt::matrix_view<const float> first_in,
                    std::size_t in_step, std::size_t batch, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  status = tt::reorient_batched(first_out, out_step, first_in, in_step, batch, tt::symmetry::flip_lr, stream);
  return status;
}
}  // namespace in_reverse

namespace in_shared_array {
__global__ void kernel(float* out) {
  const tt::static_block<256> block;
  const float value = out[threadIdx.x];
  __shared__ float memory[256];
  const tt::shared_array<float, 256> sums(memory);
  sums.set(threadIdx.x, value);
  block.sync();
  float other = sums.get(255 - threadIdx.x);
  out[threadIdx.x] = other;
}
}  // namespace in_shared_array

namespace in_smem {
template <class Smem>
__global__ void kernel(Smem smem) {
  auto [i, f, c] = smem.carve(tt::dynamic_smem());
  i[0] = 0;
  f[0] = 0;
  c[0] = 0;
}

cudaError_t launch(std::size_t ni, std::size_t nf, std::size_t nc, dim3 grid, dim3 block, cudaStream_t stream) {
  const tt::smem_layout smem{tt::smem_array<int>(ni), tt::smem_array<float>(nf),
                             tt::smem_array<char>(nc)};
  cudaError_t status = tt::allow_dynamic_smem(kernel<decltype(smem)>, smem.bytes());
  kernel<<<grid, block, smem.bytes(), stream>>>(smem);
  return status;
}

using fixed_smem = tt::smem_layout<tt::smem_array<int, 64>, tt::smem_array<float, 256>>;
__global__ void histogram(float* data) {
  auto [bins, values] = fixed_smem().carve(tt::dynamic_smem());    // in a kernel
  bins[0] = 0;
  values[0] = data[0];
}
void launch_fixed(float* data, dim3 grid, dim3 block, cudaStream_t stream) {
  histogram<<<grid, block, fixed_smem().bytes(), stream>>>(data);
}
}  // namespace in_smem

namespace in_streamed {
cudaError_t calls(float* out, const float* in, std::size_t nx, std::size_t ny, void* pinned, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  float* temp = nullptr;
  std::size_t temp_bytes = 0;
  status = tt::streamed_transpose(out, in, nx, ny, nullptr, temp_bytes, stream);   // an amount that serves well
  if (status != cudaSuccess) { return status; }
  status = cudaMalloc(&temp, temp_bytes);
  if (status != cudaSuccess) { return status; }
  status = tt::streamed_transpose(out, in, nx, ny, temp, temp_bytes, stream);      // host memory to host memory
  if (status != cudaSuccess) { return status; }
  tt::streamed_options options;
  options.pinned = pinned;
  options.pinned_bytes = temp_bytes;
  options.progress = [](void*, std::size_t done, std::size_t all) { std::printf("%zu of %zu bytes\n", done, all); };
  status = tt::streamed_transpose(out, in, nx, ny, temp, temp_bytes, stream, options);
  return status;
}
}  // namespace in_streamed

namespace in_struct_io {
struct particle { float x, y, z, vx, vy, vz, mass; };

__global__ void drift(particle* particles, std::size_t count, float seconds) {
  const tt::static_block<256> block;
  const std::size_t first = blockIdx.x * std::size_t{256};
  particle p;
  tt::load_structs(block, p, particles + first, count - first);
  p.x += seconds * p.vx, p.y += seconds * p.vy, p.z += seconds * p.vz;
  tt::store_structs(block, particles + first, count - first, p);
}
}  // namespace in_struct_io

static_assert(tt::compose(tt::symmetry::flip_ud, tt::symmetry::transpose) == tt::symmetry::rotate_90);
static_assert(tt::inverse(tt::symmetry::rotate_90) == tt::symmetry::rotate_270);
static_assert(tt::quarter_turns(-1) == tt::symmetry::rotate_270);

namespace in_tile {
std::size_t views(float* out, const float* in, std::size_t rows, std::size_t cols, std::size_t pitch) {
  tt::matrix_view<const float> part{in, rows, cols, pitch};    // rows start `pitch` elements apart
  tt::matrix_view<float> dense{out, rows, cols};               // without a stride: one behind the other
  tt::matrix_view same{in, rows, cols};                        // its element type is that of the pointer
  return part.stride + dense.stride + same.stride;
}
}  // namespace in_tile

namespace in_tile_io {
__global__ void transpose_tiles(tt::matrix_view<float> out, tt::matrix_view<const float> in) {
  using tile_type = tt::shared_tile<float, tt::padded_layout<float, 32, 32, 1>>;
  __shared__ typename tile_type::storage storage;
  tile_type tile(storage);
  const tt::static_block<256> block;
  const std::size_t row = blockIdx.y * std::size_t{32};
  const std::size_t col = blockIdx.x * std::size_t{32};
  tt::load_tile(block, tile, in, row, col);
  block.sync();
  tt::store_tile_transposed(block, out, col, row, tile);
}
}  // namespace in_tile_io

namespace in_tile_io_async_and_bulk {
using tile_type = tt::shared_tile<float, tt::padded_layout<float, 64, 32, 0>>;
__global__ void copy_tile(const __grid_constant__ tt::bulk_view<tile_type, float> out,
                          tt::matrix_view<const float> in, std::size_t row, std::size_t col, float value) {
  __shared__ __align__(128) unsigned char bytes[sizeof(tile_type::storage)];
  tile_type tile(reinterpret_cast<tile_type::storage&>(bytes));
  const tt::static_block<256> block;
  const auto i = static_cast<int>(block.thread_rank() / 32);
  const auto j = static_cast<int>(block.thread_rank() % 32);
  tt::load_tile_async(block, tile, in, row, col, 0.0f);
  tt::async_commit();
  tt::async_wait<0>();
  block.sync();
  tile.set(i, j, value);
  tt::bulk_fence();
  block.sync();
  tt::store_tile_bulk(block, out, row, col, tile);
  tt::bulk_wait();
  block.sync();
}
}  // namespace in_tile_io_async_and_bulk

namespace in_tile_pipeline {
using tile_type = tt::shared_tile<float, tt::padded_layout<float, 64, 64, 0>>;
using pipeline_type = tt::tile_pipeline<2>;

template <class Smem>
__global__ void walk(Smem smem, tt::matrix_view<const float> in, float* out) {
  const tt::static_block<256> block;
  auto [tiles, storage] = smem.carve(tt::dynamic_smem());
  pipeline_type pipeline(block, *storage);
  block.sync();
  pipeline.load(block, tiles[pipeline.acquire()], in, 0, 0, 0.0f);
  pipeline.commit();
  for (std::size_t row = 0; row < in.rows; row += 64) {
    const unsigned stage = pipeline.wait();
    block.sync();
    if (row + 64 < in.rows) {
      pipeline.load(block, tiles[pipeline.acquire()], in, row + 64, 0, 0.0f);
      pipeline.commit();
    }
    out[row + block.thread_rank()] = tiles[stage].get(0, 0);
    pipeline.release();
  }
}

void launch(tt::matrix_view<const float> in, float* out) {
  const tt::smem_layout smem{tt::smem_tiles<tile_type, 2>().aligned<128>(),
                             tt::smem_array<pipeline_type::storage, 1>()};
  walk<<<1, 256, smem.bytes()>>>(smem, in, out);
}
}  // namespace in_tile_pipeline

namespace in_transpose {
struct to_half {
  __device__ __half operator()(float value) const { return __float2half(value); }
};
struct add_bias {
  const float* bias;
  __device__ float operator()(float value, std::size_t, std::size_t col) const {
    return value + bias[col];
  }
};
struct scaled_sum {
  float alpha, beta;
  __device__ float operator()(float element, float old) const {
    return alpha * element + beta * old;
  }
};
struct to_fp8 {
  float scale;
  __device__ __nv_fp8_e4m3 operator()(float value) const { return __nv_fp8_e4m3(scale * value); }
};

cudaError_t calls(float* out, const float* in, const float* bias, std::size_t nx, std::size_t ny,
                  cudaStream_t stream) {
  cudaError_t status = tt::transpose(out, in, nx, ny, stream);
  status = tt::transpose<float, 32, 8>(out, in, nx, ny, stream);
  status = tt::transform_transpose(out, in, nx, ny, add_bias{bias}, stream);
  status = tt::accumulate_transpose(out, in, nx, ny, scaled_sum{2.0f, 0.5f}, stream);
  return status;
}
cudaError_t convert(__half* halves, const float* floats, std::size_t nx, std::size_t ny, std::size_t batch,
                    cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  status = tt::transform_transpose(halves, floats, nx, ny, to_half{}, stream);
  status = tt::transform_transpose_batched(halves, floats, nx, ny, batch, to_half{}, stream);
  return status;
}
cudaError_t convert_twice(__nv_fp8_e4m3* rows, __nv_fp8_e4m3* columns, const float* in, float scale, std::size_t nx,
                   std::size_t ny, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  status = tt::transform_transpose_dual(rows, columns, in, nx, ny, to_fp8{scale}, stream);
  return status;
}
cudaError_t parts(float* out, const float* in, std::size_t rows, std::size_t cols, std::size_t pitch, cudaStream_t stream) {
  const tt::matrix_view<const float> part{in, rows, cols, pitch};
  cudaError_t status = cudaSuccess;
  status = tt::transpose(tt::matrix_view<float>{out, cols, rows, rows}, part, stream);
  return status;
}
cudaError_t batches(float* out, const float* in, float* const* outs, const float* const* ins, std::size_t nx,
             std::size_t ny, std::size_t batch, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  status = tt::transpose_batched(out, in, nx, ny, batch, stream);
  status = tt::transpose_batched(out, nx * ny + 16, in, nx * ny, nx, ny, batch, stream);
  status = tt::transpose_batched(outs, ins, nx, ny, batch, stream);
  return status;
}
cudaError_t side_by_side(float* out, const float* in, std::size_t rows, std::size_t cols, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  const tt::matrix_view<const float> left{in, rows, cols, 4 * cols};
  status = tt::transpose_batched(tt::matrix_view<float>{out, cols, rows, rows}, rows * cols, left, cols, 4, stream);
  return status;
}
cudaError_t squares(float* data, std::size_t side, std::size_t pitch, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  status = tt::transpose_inplace(tt::matrix_view<float>{data, side, side, pitch}, stream);
  status = tt::transpose_inplace(data, side, side, stream);
  return status;
}
cudaError_t in_place(float* data, std::size_t nx, std::size_t ny, cudaStream_t stream) {
  void* temp = nullptr;
  std::size_t bytes = 0;
  cudaError_t status = cudaSuccess;
  status = tt::transpose_inplace(nullptr, bytes, data, nx, ny, stream);
  cudaMalloc(&temp, bytes);
  status = tt::transpose_inplace(temp, bytes, data, nx, ny, stream);
  return status;
}
}  // namespace in_transpose

namespace in_warp_exchange {
__global__ void kernel(float* data) {
  using warp_exchange = tt::warp_exchange<float, 25>;
  __shared__ typename warp_exchange::storage storage[8];
  const tt::static_warp warp;
  const warp_exchange exchanger(storage[threadIdx.x / 32]);
  float* const mine = data + threadIdx.x / 32 * (32 * 25) + warp.thread_rank();
  float items[25];
  for (int i = 0; i < 25; ++i) { items[i] = mine[32 * i]; }
  exchanger.striped_to_blocked(warp, items);
  warp.sync();
  exchanger.blocked_to_striped(warp, items);
  for (int i = 0; i < 25; ++i) { mine[32 * i] = items[i]; }
}
}  // namespace in_warp_exchange

namespace in_warp_transpose {
__global__ void kernel(float* out, const float* in) {
  float items[7];
  for (int i = 0; i < 7; ++i) { items[i] = in[32 * i + threadIdx.x]; }
  tt::warp_striped_to_blocked(tt::static_warp{}, items);
  tt::warp_blocked_to_striped(tt::static_warp{}, items);
  for (int i = 0; i < 7; ++i) { out[32 * i + threadIdx.x] = items[i]; }
}

bool transposes() {
  unsigned in[2][1] = {{0x00010000}, {0x00110010}};
  unsigned out[2][1];
  tt::thread_transpose<2>(out, in);
  return out[0][0] == 0x00100000 && out[1][0] == 0x00110001;
}
}  // namespace in_warp_transpose
