// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels that another project's run-time compilation might build: every device header is not only included,
// its templates are used.

#include <tiletranspose/banks.cuh>
#include <tiletranspose/block_reverse.cuh>
#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/smem.cuh>
#include <tiletranspose/struct_io.cuh>
#include <tiletranspose/tile_pipeline.cuh>
#include <tiletranspose/warp_exchange.cuh>
#include <tiletranspose/warp_transpose.cuh>

using matrix = tt::matrix_view<float>;
using const_matrix = tt::matrix_view<const float>;

extern "C" __global__ void transpose_block(matrix out, const_matrix in) {
  using block_transpose = tt::block_transpose<float, 32, 8>;
  __shared__ typename block_transpose::storage storage;
  const tt::static_block<block_transpose::threads> block;
  const block_transpose transposer(storage);
  transposer.load(block, in, blockIdx.y * 32, blockIdx.x * 32);
  block.sync();
  transposer.store(block, out, blockIdx.x * 32, blockIdx.y * 32);
}

extern "C" __global__ void transpose_items(matrix out, const_matrix in) {
  using block_transpose = tt::block_transpose<float, 32, 8>;
  __shared__ typename block_transpose::storage storage;
  const tt::static_block<block_transpose::threads> block;
  const block_transpose transposer(storage);
  float items[block_transpose::items_per_thread] = {};
  transposer.load(block, items, in, blockIdx.y * 32, blockIdx.x * 32);
  transposer.write(block, items);
  block.sync();
  transposer.read(block, items);
  transposer.store(block, out, blockIdx.x * 32, blockIdx.y * 32, items);
}

extern "C" __global__ void swizzle(matrix out, const_matrix in) {
  using tile_type = tt::shared_tile<float, tt::swizzled_layout<float, 32, 32>>;
  static_assert(tt::is_conflict_free(tile_type::layout{}), "");
  __shared__ typename tile_type::storage storage;
  const tile_type tile(storage);
  const tt::static_block<256> block;
  tt::load_tile(block, tile, in, 0, 0, 1.0f);
  block.sync();
  tile.set(0, threadIdx.x % 32, tile.get(1, threadIdx.x % 32));
  block.sync();
  tt::store_tile(block, out, 0, 0, tile);
  tt::store_tile_transposed(block, out, 0, 32, tile);
}

template <class T, int N>
__device__ void exchange(T* data) {
  T items[N];
  for (int i = 0; i < N; ++i) { items[i] = data[32 * i + threadIdx.x]; }
  tt::warp_striped_to_blocked(tt::static_warp{}, items);
  tt::warp_blocked_to_striped(tt::static_lanes<8>{}, items);
  tt::warp_transpose(tt::static_lanes<4>{}, items);
  for (int i = 0; i < N; ++i) { data[32 * i + threadIdx.x] = items[i]; }
}

extern "C" __global__ void exchange_lanes(unsigned char* bytes, unsigned short* halves,
                                          float* floats, double* doubles) {
  exchange<unsigned char, 16>(bytes);
  exchange<unsigned short, 8>(halves);
  exchange<float, 7>(floats);
  exchange<double, 4>(doubles);
  float row[8];
  for (int i = 0; i < 8; ++i) { row[i] = floats[32 * i + threadIdx.x]; }
  tt::warp_transpose(row);
  for (int i = 0; i < 8; ++i) { floats[32 * i + threadIdx.x] = row[i]; }
  const unsigned rows[2][1] = {{threadIdx.x}, {blockIdx.x}};
  unsigned columns[2][1];
  tt::thread_transpose<2>(columns, rows);
  floats[threadIdx.x] += static_cast<float>(columns[0][0] + columns[1][0]);
}

template <class T, int N>
__device__ void exchange_by_storage(T* data) {
  using warp_exchange = tt::warp_exchange<T, N>;
  __shared__ typename warp_exchange::storage storage;
  const tt::static_warp warp;
  const warp_exchange exchanger(storage);
  T items[N];
  for (int i = 0; i < N; ++i) { items[i] = data[32 * i + threadIdx.x]; }
  exchanger.striped_to_blocked(warp, items);
  items[0] = items[N - 1];
  warp.sync();
  exchanger.blocked_to_striped(warp, items);
  for (int i = 0; i < N; ++i) { data[32 * i + threadIdx.x] = items[i]; }
}

// By registers, and through shared memory with and without whole words in each lane.
extern "C" __global__ void exchange_warps(unsigned char* bytes, unsigned short* halves,
                                          float* floats) {
  exchange_by_storage<float, 7>(floats);
  exchange_by_storage<float, 24>(floats);
  exchange_by_storage<unsigned short, 31>(halves);
  exchange_by_storage<unsigned char, 16>(bytes);
}

struct triple {
  float x, y, z;
};

extern "C" __global__ void move_structs(triple* structs, unsigned count) {
  const tt::static_block<256> block;
  triple one;
  tt::load_structs(block, one, structs, count);
  triple four[4];
  tt::load_structs(block, four, structs, count);
  four[0].x += one.x;
  tt::store_structs(block, structs, count, four);
  tt::store_structs(block, structs, count, one);
}

extern "C" __global__ void reverse_blocks(float* data, unsigned count) {
  const tt::static_block<256> block;
  using block_reverse = tt::block_reverse<float, 1024>;
  __shared__ typename block_reverse::storage storage;
  const block_reverse reverser(storage);
  reverser.load(block, data);
  block.sync();
  reverser.store(block, data);
  extern __shared__ float shared[];
  const tt::block_reverse<float, tt::dynamic_size> dynamic(shared);
  dynamic.load(block, data, count);
  block.sync();
  dynamic.store(block, data, count);
}

using tile_type = tt::shared_tile<float, tt::padded_layout<float, 64, 64, 0>>;
using boxes = tt::bulk_view<tile_type>;
template <tt::copy_engine Engine>
using stages = tt::smem_layout<tt::smem_tiles<tile_type, 2, 128>,
                               tt::smem_array<typename tt::tile_pipeline<2, Engine>::storage, 1>>;

template <tt::copy_engine Engine, class Source>
__device__ void copy_tile(matrix out, const Source& in, stages<Engine> smem) {
  const tt::static_block<256> block;
  auto [tiles, storage] = smem.carve(tt::dynamic_smem());
  tt::tile_pipeline<2, Engine> pipeline(block, *storage);
  block.sync();
  pipeline.load(block, tiles[pipeline.acquire()], in, 0, 0, 0.0f);
  pipeline.commit();
  const unsigned stage = pipeline.wait();
  block.sync();
  tt::store_tile(block, out, 0, 0, tiles[stage]);
  pipeline.release();
}

extern "C" __global__ void copy_by_threads(matrix out, const_matrix in,
                                           stages<tt::copy_engine::threads> smem) {
  copy_tile<tt::copy_engine::threads>(out, in, smem);
}
extern "C" __global__ void copy_async(matrix out, const_matrix in,
                                      stages<tt::copy_engine::cp_async> smem) {
  copy_tile<tt::copy_engine::cp_async>(out, in, smem);
}
extern "C" __global__ void copy_boxes(matrix out, const __grid_constant__ boxes in,
                                      stages<tt::copy_engine::bulk> smem) {
  copy_tile<tt::copy_engine::bulk>(out, in, smem);
}

extern "C" __global__ void store_boxes(const __grid_constant__ tt::bulk_view<tile_type, float> out,
                                       const_matrix in) {
  alignas(128) __shared__ typename tile_type::storage storage;
  const tile_type tile(storage);
  const tt::static_block<256> block;
  tt::load_tile_async(block, tile, in, 0, 0);
  tt::async_commit();
  tt::async_wait<0>();
  tt::bulk_fence();
  block.sync();
  tt::store_tile_bulk(block, out, 0, 0, tile);
  tt::bulk_wait();
}
