// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The code of README.md and of the documents beside the code; documents.code asks that every line of it stands here.

#include <cuda_fp16.h>
#include <tiletranspose/banks.cuh>
#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/explain.cuh>
#include <tiletranspose/interleave.cuh>
#include <tiletranspose/layout.cuh>
#include <tiletranspose/mdspan.cuh>
#include <tiletranspose/permute.cuh>
#include <tiletranspose/reverse.cuh>
#include <tiletranspose/smem.cuh>
#include <tiletranspose/struct_io.cuh>
#include <tiletranspose/tile_pipeline.cuh>
#include <tiletranspose/transpose.cuh>
#include <tiletranspose/warp_transpose.cuh>

#include <cstddef>
#include <cstdio>

// ---- README.md -----------------------------------------------------------------------------------------------------

int main() {
  constexpr std::size_t nx = 3, ny = 2;  // columns and rows of the input
  float *in = nullptr, *out = nullptr;
  cudaError_t status = cudaMallocManaged(&in, nx * ny * sizeof(float));
  if (status == cudaSuccess) { status = cudaMallocManaged(&out, nx * ny * sizeof(float)); }
  if (status == cudaSuccess) {
    for (std::size_t i = 0; i < nx * ny; ++i) { in[i] = static_cast<float>(i); }
    status = tt::transpose(out, in, nx, ny);
  }
  if (status == cudaSuccess) { status = cudaDeviceSynchronize(); }
  if (status != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(status));
    return 1;
  }
  for (std::size_t x = 0; x < nx; ++x) { std::printf("%g %g\n", out[x * ny], out[x * ny + 1]); }
}

// ---- include/tiletranspose/README.md -------------------------------------------------------------------------------

cudaError_t first_lines(float* out, const float* in, std::size_t nx, std::size_t ny,
                        cudaStream_t stream) {
  // in: ny rows of nx floats; out: nx rows of ny floats; device memory, row-major
  cudaError_t status = tt::transpose(out, in, nx, ny, stream);    // tuned
  status = tt::transpose<float, 32, 8>(out, in, nx, ny, stream);  // 32 x 32 tile, 32 x 8 threads
  return status;
}

struct to_half {
  __device__ __half operator()(float value) const { return __float2half(value); }
};

struct scaled_sum {
  float alpha;
  float beta;
  __device__ float operator()(float value, float old) const { return alpha * value + beta * old; }
};

cudaError_t fused(__half* halves, float* sums, __half* rows, __half* columns, const float* in,
                  std::size_t nx, std::size_t ny, cudaStream_t stream) {
  // out(x, y) = op(in(y, x))
  cudaError_t status = tt::transform_transpose(halves, in, nx, ny, to_half{}, stream);
  // out(x, y) = op(in(y, x), out(x, y))
  if (status == cudaSuccess) {
    status = tt::accumulate_transpose(sums, in, nx, ny, scaled_sum{2.0f, 0.5f}, stream);
  }
  // copy(y, x) = out(x, y) = op(in(y, x))
  if (status == cudaSuccess) {
    status = tt::transform_transpose_dual(rows, columns, in, nx, ny, to_half{}, stream);
  }
  return status;
}

// Adds a bias for each column, and leaves zeros above the diagonal.
struct bias_and_mask {
  const float* bias;
  __device__ float operator()(float value, std::size_t row, std::size_t col) const {
    return col > row ? 0.0f : value + bias[col];
  }
};

cudaError_t biased(float* out, const float* in, const float* bias, std::size_t nx, std::size_t ny,
                   cudaStream_t stream) {
  return tt::transform_transpose(out, in, nx, ny, bias_and_mask{bias}, stream);
}

// The 100 x 200 elements at row 5, column 7 of a picture whose rows are `pitch` elements apart.
cudaError_t transpose_part(uchar3* out, const uchar3* picture, std::size_t pitch,
                           cudaStream_t stream) {
  const tt::matrix_view<const uchar3> part{picture + 5 * pitch + 7, 100, 200, pitch};
  return tt::transpose(tt::matrix_view<uchar3>{out, 200, 100, 100}, part, stream);
}

// Four matrices side by side become four dense ones, one behind the other.
cudaError_t take_apart(float* out, const float* in, std::size_t rows, std::size_t cols,
                       cudaStream_t stream) {
  const tt::matrix_view<const float> first{in, rows, cols, 4 * cols};
  return tt::transpose_batched(tt::matrix_view<float>{out, cols, rows, rows}, rows * cols, first,
                               cols, 4, stream);
}

cudaError_t structures_and_planes(float* planes, float* particles, std::size_t n,
                                  unsigned char* nchw, const unsigned char* nhwc,
                                  std::size_t channels, std::size_t height, std::size_t width,
                                  std::size_t images, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  // n particles of 7 floats become 7 arrays of n floats, and those become particles again.
  status = tt::transpose(planes, particles, 7, n, stream);
  status = tt::transpose(particles, planes, n, 7, stream);
  // Images from NHWC to NCHW.
  status = tt::transpose_batched(nchw, nhwc, channels, height * width, images, stream);
  return status;
}

cudaError_t rotate_part(float* out, const float* image, std::size_t rows, std::size_t cols,
                        std::size_t pitch, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  // A quarter turn clockwise of a part of an image, into a dense matrix.
  status = tt::reorient(tt::matrix_view<float>{out, cols, rows, rows},
                        tt::matrix_view<const float>{image, rows, cols, pitch},
                        tt::symmetry::rotate_270, stream);
  return status;
}

static_assert(tt::compose(tt::symmetry::flip_ud, tt::symmetry::transpose) ==
                  tt::symmetry::rotate_90,
              "");
static_assert(tt::inverse(tt::symmetry::rotate_90) == tt::quarter_turns(-1), "");

cudaError_t transpose_here(float* data, std::size_t nx, std::size_t ny, cudaStream_t stream) {
  std::size_t temp_bytes = 0;
  // The least that will do.
  cudaError_t status = tt::transpose_inplace(nullptr, temp_bytes, data, nx, ny, stream);
  if (status != cudaSuccess) { return status; }
  void* temp = nullptr;
  status = cudaMallocAsync(&temp, temp_bytes, stream);
  if (status != cudaSuccess) { return status; }
  status = tt::transpose_inplace(temp, temp_bytes, data, nx, ny, stream);
  const cudaError_t freed = cudaFreeAsync(temp, stream);
  return status != cudaSuccess ? status : freed;
}

cudaError_t interleaved(float* x, float* y, float* z, float* points, std::size_t n,
                        cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  // Points to an array of each coordinate, and back.
  float* const planes[] = {x, y, z};
  status = tt::deinterleave(planes, points, n, stream);
  if (status != cudaSuccess) { return status; }
  status = tt::interleave(points, planes, n, stream);
  return status;
}

cudaError_t permuted(float* planes, const float* pixels, float* heads, const float* tokens,
                     std::size_t images, std::size_t height, std::size_t width,
                     std::size_t channels, std::size_t batch, std::size_t length, std::size_t count,
                     std::size_t depth, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  // Images from NHWC to NCHW, and the heads of attention in front of the tokens.
  status = tt::permute(planes, pixels, {images, height, width, channels}, {0, 3, 1, 2}, stream);
  status = tt::permute(heads, tokens, {batch, length, count, depth}, {0, 2, 1, 3}, stream);
  return status;
}

// Launch: (in.cols + 31) / 32 blocks of 256 threads. A block walks down 32 columns of the input.
__global__ void transpose_columns(tt::matrix_view<float> out, tt::matrix_view<const float> in) {
  using block_transpose = tt::block_transpose<float, 32, 8>;
  __shared__ typename block_transpose::storage storage;
  const tt::static_block<block_transpose::threads> block;
  const block_transpose transposer(storage);
  const std::size_t col = blockIdx.x * std::size_t{32};
  for (std::size_t row = 0; row < in.rows; row += 32) {
    transposer.load(block, in, row, col);
    block.sync();  // the tile is full before it is read
    transposer.store(block, out, col, row);
    block.sync();  // the tile is read before it is filled again
  }
}

// out(x, y) == in(y, x) + bias[x]. Launch: one block of 256 threads per 32 x 32 tile.
__global__ void transpose_add_bias(tt::matrix_view<float> out, tt::matrix_view<const float> in,
                                   const float* bias) {
  using tile_type = tt::shared_tile<float, tt::swizzled_layout<float, 32, 32>>;
  static_assert(tt::is_conflict_free(tile_type::layout{}), "");
  __shared__ typename tile_type::storage storage;
  const tile_type tile(storage);
  const tt::static_block<256> block;
  const std::size_t row = blockIdx.y * std::size_t{32};
  const std::size_t col = blockIdx.x * std::size_t{32};
  tt::load_tile(block, tile, in, row, col);
  block.sync();  // other threads filled what this one reads
  for (unsigned i = block.thread_rank(); i < 32 * 32; i += block.size()) {
    const unsigned r = i / 32;
    const unsigned c = i % 32;
    if (row + r < in.rows && col + c < in.cols) { tile.set(r, c, tile.get(r, c) + bias[col + c]); }
  }
  block.sync();  // again, for the same reason
  tt::store_tile_transposed(block, out, col, row, tile);
}

using stage_tile = tt::shared_tile<float, tt::padded_layout<float, 64, 64, 0>>;
using pipeline_type = tt::tile_pipeline<2>;
using pipeline_smem = tt::smem_layout<tt::smem_tiles<stage_tile, 2>,
                                      tt::smem_array<typename pipeline_type::storage, 1>>;

// sums[c] == in(0, c) + in(1, c) + ... Launch: one block of 64 threads per 64 columns.
__global__ void sum_columns(pipeline_smem smem, float* sums, tt::matrix_view<const float> in) {
  auto [tiles, storage] = smem.carve(tt::dynamic_smem());
  const tt::static_block<64> block;
  pipeline_type pipeline(block, *storage);
  block.sync();
  const std::size_t col = blockIdx.x * std::size_t{64};
  float sum = 0;
  pipeline.load(block, tiles[pipeline.acquire()], in, 0, col, 0.0f);
  pipeline.commit();
  for (std::size_t row = 0; row < in.rows; row += 64) {
    const unsigned stage = pipeline.wait();
    block.sync();  // this stage is full, and the other one was read a step ago
    if (row + 64 < in.rows) {
      pipeline.load(block, tiles[pipeline.acquire()], in, row + 64, col, 0.0f);
      pipeline.commit();
    }
    for (int r = 0; r < 64; ++r) { sum += tiles[stage].get(r, static_cast<int>(threadIdx.x)); }
    pipeline.release();
  }
  if (col + threadIdx.x < in.cols) { sums[col + threadIdx.x] = sum; }
}

struct particle {
  float x, y, z, vx, vy, vz, mass;
};

// Launch: blocks of 256 threads, as many as there are particles.
__global__ void drift(particle* particles, std::size_t count, float seconds) {
  const tt::static_block<256> block;
  const std::size_t first = blockIdx.x * std::size_t{256};
  particle p;
  tt::load_structs(block, p, particles + first, count - first);
  p.x += seconds * p.vx, p.y += seconds * p.vy, p.z += seconds * p.vz;
  tt::store_structs(block, particles + first, count - first, p);
}

// Launch: one warp per 32 x 7 floats.
__global__ void scan_sevens(float* out, const float* in) {
  float items[7];
  for (int i = 0; i < 7; ++i) { items[i] = in[32 * i + threadIdx.x]; }  // striped
  tt::warp_striped_to_blocked(tt::static_warp{}, items);
  for (int i = 1; i < 7; ++i) { items[i] += items[i - 1]; }  // seven neighbours
  tt::warp_blocked_to_striped(tt::static_warp{}, items);
  for (int i = 0; i < 7; ++i) { out[32 * i + threadIdx.x] = items[i]; }
}

template <class Smem>
__global__ void use_three_arrays(Smem smem) {
  auto [ints, floats, chars] = smem.carve(tt::dynamic_smem());  // int*, float*, char*
  ints[0] = 0;
  floats[0] = 0;
  chars[0] = 0;
}

cudaError_t launch_three_arrays(std::size_t ni, std::size_t nf, std::size_t nc,
                                cudaStream_t stream) {
  const tt::smem_layout smem{tt::smem_array<int>(ni), tt::smem_array<float>(nf),
                             tt::smem_array<char>(nc)};
  const auto kernel = use_three_arrays<decltype(smem)>;
  const cudaError_t status = tt::allow_dynamic_smem(kernel, smem.bytes());  // above 48 KB
  if (status != cudaSuccess) { return status; }  // cudaErrorNotSupported: the device has not got it
  kernel<<<1, 256, smem.bytes(), stream>>>(smem);
  return cudaGetLastError();
}

using packed = tt::padded_layout<unsigned short, 64, 64, 0>;
using textbook = tt::padded_layout<unsigned short, 64, 64, 1>;
using proved = tt::padded_layout<unsigned short, 64, 64, tt::default_padding<unsigned short, 64>()>;
static_assert(tt::conflict_ways(packed{}, tt::along_columns) == 32, "");
static_assert(tt::conflict_ways(textbook{}, tt::along_columns) == 2, "");
static_assert(tt::conflict_ways(proved{}, tt::along_columns) == 1, "");
static_assert(tt::is_conflict_free(tt::swizzled_layout<float, 32, 32>{}), "");

// The table of paddings: conflict ways with 0, 1 and the default elements of padding.
template <int Bytes>
struct element {
  unsigned char bytes[Bytes];
};
template <int Bytes, int TileDim, int Padding>
constexpr int ways() {
  return tt::conflict_ways(tt::padded_layout<element<Bytes>, TileDim, TileDim, Padding>{},
                           tt::along_columns);
}
template <int Bytes, int TileDim, int Default>
constexpr bool table_says(int without, int with_one) {
  return ways<Bytes, TileDim, 0>() == without && ways<Bytes, TileDim, 1>() == with_one &&
         ways<Bytes, TileDim, Default>() == 1 &&
         tt::default_padding<element<Bytes>, TileDim>() == Default;
}
static_assert(table_says<1, 32, 4>(8, 2), "");
static_assert(table_says<1, 64, 4>(16, 2), "");
static_assert(table_says<2, 32, 2>(16, 2), "");
static_assert(table_says<2, 64, 2>(32, 2), "");
static_assert(table_says<3, 32, 4>(3, 2), "");
static_assert(table_says<4, 32, 1>(32, 1), "");
static_assert(table_says<6, 32, 4>(6, 2), "");
static_assert(table_says<8, 32, 1>(16, 1), "");
static_assert(table_says<12, 32, 1>(11, 1), "");
static_assert(table_says<16, 32, 1>(8, 1), "");
// And its exception: no padding helps a tile of 16 x 16 words.
static_assert(ways<4, 16, 1>() == 2 && tt::default_padding<float, 16>() == 1, "");

// ---- include/tiletranspose/many_gpus.md ----------------------------------------------------------------------------

#include <tiletranspose/peers.cuh>
#include <tiletranspose/streamed.cuh>

namespace in_partition {

// 10 rows over 4 ranks: 3, 3, 2 and 2 of them.
static_assert(tt::partition_begin(10, 4, 1) == 3 && tt::partition_count(10, 4, 3) == 2);

// Rank 0 holds row 0, rank 1 nothing, rank 2 the other nine.
constexpr std::size_t begins[] = {0, 1, 1, 10};
constexpr tt::partition uneven{10, begins};
static_assert(uneven.count(3, 2) == 9);

}  // namespace in_partition

cudaError_t transpose_on_two(float* const (&out)[2], const float* const (&in)[2], std::size_t nx,
                             std::size_t ny, const cudaStream_t (&streams)[2]) {
  const int devices[] = {0, 1};
  const cudaError_t status = tt::enable_peer_access(devices, 2);  // once
  if (status != cudaSuccess) { return status; }
  const tt::device_part<float> parts[] = {{0, out[0], in[0], nullptr, streams[0]},
                                          {1, out[1], in[1], nullptr, streams[1]}};
  return tt::distributed_transpose(parts, 2, nx, ny);
}

// out and in are in host memory; it returns when out is complete.
cudaError_t transpose_on_host(float* out, const float* in, std::size_t nx, std::size_t ny) {
  void* temp = nullptr;
  std::size_t temp_bytes = 0;
  cudaError_t status = tt::streamed_transpose(out, in, nx, ny, temp, temp_bytes);
  if (status == cudaSuccess) { status = cudaMalloc(&temp, temp_bytes); }
  if (status == cudaSuccess) { status = tt::streamed_transpose(out, in, nx, ny, temp, temp_bytes); }
  const cudaError_t freed = cudaFree(temp);
  return status != cudaSuccess ? status : freed;
}

#if __has_include(<nccl.h>)
#include <tiletranspose/distributed.cuh>

// Every rank calls it; out and in are this rank's rows, in device memory.
cudaError_t transpose_rows(float* out, const float* in, std::size_t nx, std::size_t ny,
                           ncclComm_t comm, cudaStream_t stream) {
  void* temp = nullptr;
  std::size_t temp_bytes = 0;
  // The first call asks how much scratch, the second one works.
  cudaError_t status = tt::distributed_transpose(out, in, nx, ny, temp, temp_bytes, comm, stream);
  if (status == cudaSuccess) { status = cudaMallocAsync(&temp, temp_bytes, stream); }
  if (status == cudaSuccess) {
    status = tt::distributed_transpose(out, in, nx, ny, temp, temp_bytes, comm, stream);
  }
  const cudaError_t freed = temp != nullptr ? cudaFreeAsync(temp, stream) : cudaSuccess;
  return status != cudaSuccess ? status : freed;
}

#if NCCL_VERSION_CODE >= 22900
// Once; scratch and its window serve all calls that ask for no more. All ranks register.
ncclResult_t make_window(void** temp, std::size_t temp_bytes, ncclWindow_t* window,
                         ncclComm_t comm) {
  const ncclResult_t status = ncclMemAlloc(temp, temp_bytes);
  if (status != ncclSuccess) { return status; }
  return ncclCommWindowRegister(comm, *temp, temp_bytes, window, NCCL_WIN_COLL_SYMMETRIC);
}

cudaError_t transpose_through(ncclWindow_t window, float* out, const float* in, std::size_t nx,
                              std::size_t ny, void* temp, std::size_t temp_bytes, ncclComm_t comm,
                              cudaStream_t stream) {
  tt::distributed_options options;
  options.window = window;
  return tt::distributed_transpose(out, in, nx, ny, temp, temp_bytes, comm, stream, options);
}
#endif
#endif
