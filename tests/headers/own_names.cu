// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Element types and function objects of a namespace that has a function of every name that the library's headers call, and
// takes any arguments. Their arguments make the compiler look there, too, wherever the library calls a function without
// saying whose: such a call is an error here, if it takes temporary objects or changes them. Calls of constant objects and
// by value are not seen. In a user's program they may be errors, or call the user's function. Addresses
// of their objects are not taken by an operator of theirs. The user compiles with neither exceptions nor run-time type
// information.

#include <every_name.hpp>
#include <tiletranspose/explain.cuh>
#include <tiletranspose/mdspan.cuh>
#include <tiletranspose/peers.cuh>
#include <tiletranspose/streamed.cuh>
#include <tiletranspose/tile_io_bulk.cuh>
#include <tiletranspose/tile_pipeline.cuh>
#include <tiletranspose/tiletranspose.cuh>
#if __has_include(<nccl.h>)
#include <tiletranspose/distributed.cuh>
#endif

#if defined(__cpp_exceptions)
#error "to be compiled with -fno-exceptions"
#endif

namespace names {

template <int Bytes>
struct Item {
  void operator&() const = delete;
  unsigned char bytes[Bytes];
};

template <class Out>
struct First {
  void operator&() const = delete;
  template <class In>
  __device__ Out operator()(const In& item) const {
    return Out{{item.bytes[0]}};
  }
};

template <class Out>
struct Placed {
  void operator&() const = delete;
  template <class In>
  __device__ Out operator()(const In& item, std::size_t, std::size_t) const {
    return Out{{item.bytes[0]}};
  }
};

template <class Out>
struct Kept {
  void operator&() const = delete;
  template <class In>
  __device__ Out operator()(const In&, const Out& old) const {
    return old;
  }
};

struct Block {
  void operator&() const = delete;
  __device__ unsigned thread_rank() const { return threadIdx.x; }
  __device__ unsigned size() const { return blockDim.x; }
  __device__ void sync() const { __syncthreads(); }
};

struct Layout {
  static constexpr int rows = 32;
  static constexpr int cols = 32;
  using element = float;
  __host__ __device__ constexpr int operator()(int row, int col) const { return row * 33 + col; }
};

}  // namespace names

using item = names::Item<8>;
using view = tt::matrix_view<item>;
using const_view = tt::matrix_view<const item>;

struct arguments {
  std::size_t nx;
  std::size_t ny;
  void* temp;
  std::size_t temp_bytes;
  cudaStream_t stream;
};

int moves(item* out, const item* in, item* const* outs, const item* const* ins, view out_view,
          const_view in_view, arguments a) {
  const auto [nx, ny, temp, bytes, stream] = a;
  std::size_t temp_bytes = bytes;
  item* const planes[] = {out, out, out};
  const item* const const_planes[] = {in, in, in};
  const std::ptrdiff_t out_strides[] = {1, 5};
  const std::ptrdiff_t in_strides[] = {7, 1};
  const std::size_t extents[] = {5, 7};
  const tt::device_part<item> parts[2] = {};
  using tt::symmetry;
  return tt::transpose(out, in, nx, ny, stream) + tt::transpose(out_view, in_view, stream) +
         tt::transpose<item, 32, 8>(out, in, nx, ny, stream) +
         tt::transpose_batched(out, in, nx, ny, 3, stream) +
         tt::transpose_batched(out_view, 5, in_view, 5, 3, stream) +
         tt::transpose_batched(outs, ins, nx, ny, 3, stream) +
         tt::transpose_inplace(out_view, stream) +
         tt::transpose_inplace(temp, temp_bytes, out, nx, ny, stream) +
         tt::reverse(out, in, nx, stream) + tt::rotate(out, in, nx, ny, 1, stream) +
         tt::reorient(out_view, in_view, symmetry::flip_lr, stream) +
         tt::reorient_batched(out, in, nx, ny, 3, symmetry::rotate_90, stream) +
         tt::reverse_inplace(out, nx, stream) +
         tt::reorient_inplace(out_view, symmetry::rotate_90, stream) +
         tt::permute(out, in, {nx, ny, 3, 4}, {3, 1, 2, 0}, stream) +
         tt::permute(out, out_strides, in, in_strides, extents, stream) +
         tt::deinterleave(planes, in, nx, stream) + tt::interleave(out, const_planes, nx, stream) +
         tt::streamed_transpose(out, in, nx, ny, temp, temp_bytes, stream) +
         tt::distributed_transpose(parts, 2, nx, ny);
}

using matrix = cuda::std::mdspan<item, cuda::std::dextents<std::size_t, 2>>;

int spans(matrix out, matrix in, cudaStream_t stream) {
  return tt::transpose(out, in, stream) + tt::reorient(out, in, tt::symmetry::rotate_90, stream) +
         tt::permute(out, in, {1, 0}, stream) + tt::copy(out, in, stream);
}

template <class Out, class In>
int fused(Out* out, Out* copy, const In* in, arguments a) {
  const auto [nx, ny, temp, bytes, stream] = a;
  const tt::matrix_view<const In> in_view{in, ny, nx, nx};
  const tt::matrix_view<Out> out_view{out, nx, ny, ny};
  static_cast<void>(temp), static_cast<void>(bytes);
  static_cast<void>(tt::explain_transform(out_view, in_view));
  static_cast<void>(tt::explain_accumulate(out_view, in_view));
  return tt::transform_transpose(out_view, in_view, names::First<Out>{}, stream) +
         tt::transform_transpose(out, in, nx, ny, names::Placed<Out>{}, stream) +
         tt::transform_transpose_batched(out, in, nx, ny, 3, names::First<Out>{}, stream) +
         tt::accumulate_transpose(out, in, nx, ny, names::Kept<Out>{}, stream) +
         tt::transform_transpose_dual(copy, out, in, nx, ny, names::First<Out>{}, stream) +
         tt::transform_permute(out, in, {nx, ny, 3, 4}, {3, 1, 2, 0}, names::First<Out>{}, stream);
}
template int fused(names::Item<4>*, names::Item<4>*, const names::Item<1>*, arguments);
template int fused(names::Item<5>*, names::Item<5>*, const names::Item<12>*, arguments);

void explanations(item* out, const item* in, view out_view, const_view in_view, std::size_t n) {
  static_cast<void>(tt::to_string(tt::explain(out, in, n, n)));
  static_cast<void>(tt::explain(out_view, in_view, tt::symmetry::flip_lr));
  static_cast<void>(tt::explain_inplace(out_view));
  static_cast<void>(tt::explain_permute(out, in, {n, n, 3, 4}, {3, 1, 2, 0}));
}

#if __has_include(<nccl.h>)
int ranks(item* out, const item* in, arguments a, ncclComm_t comm) {
  return tt::distributed_transpose(out, in, a.nx, a.ny, a.temp, a.temp_bytes, comm, a.stream) +
         tt::distributed_permute(out, in, {a.nx, a.ny, 3}, {1, 0, 2}, a.temp, a.temp_bytes, comm,
                                 a.stream);
}
#endif

__global__ void transpose_tile(view out, const_view in) {
  using block_transpose = tt::block_transpose<item, 32, 8>;
  __shared__ typename block_transpose::storage storage;
  const names::Block block;
  const block_transpose transposer(storage);
  transposer.load(block, in, 0, 0);
  block.sync();
  transposer.store(block, out, 0, 0);
}

__global__ void move_tiles(view out, const_view in) {
  using tile_type = tt::shared_tile<item, tt::padded_layout<item, 32, 32, 0>>;
  __shared__ typename tile_type::storage storage;
  const tile_type tile(storage);
  const names::Block block;
  tt::load_tile(block, tile, in, 0, 0, item{});
  tt::load_tile_async(block, tile, in, 0, 0);
  tt::async_commit();
  tt::async_wait<0>();
  block.sync();
  tt::store_tile(block, out, 0, 0, tile);
  tt::store_tile_transposed(block, out, 0, 0, tile);
}

__global__ void exchange_items(view out, const_view in) {
  __shared__ typename tt::warp_exchange<item, 4>::storage storage[8];
  item items[4];
  tt::load_structs(tt::static_block<256>{}, items, in.data, in.cols);
  tt::warp_striped_to_blocked(tt::static_warp{}, items);
  tt::warp_transpose(tt::static_warp{}, items);
  tt::warp_exchange<item, 4>(storage[threadIdx.x / 32])
      .blocked_to_striped(tt::static_warp{}, items);
  using short_item = names::Item<2>;  // these pass through shared memory
  __shared__ typename tt::warp_exchange<short_item, 64>::storage short_storage[8];
  const tt::warp_exchange<short_item, 64> exchange(short_storage[threadIdx.x / 32]);
  short_item short_items[64] = {};
  exchange.blocked_to_striped(tt::static_warp{}, short_items);
  exchange.striped_to_blocked(tt::static_warp{}, short_items);
  tt::store_structs(tt::static_block<256>{}, out.data, out.cols, items);
}

__global__ void reverse_items(view out, const_view in) {
  using block_reverse = tt::block_reverse<item, 256>;
  __shared__ typename block_reverse::storage storage;
  const names::Block block;
  const block_reverse reverser(storage);
  reverser.load(block, in.data, 100);
  block.sync();
  reverser.store(block, out.data, 100);
}

using stage_tile = tt::shared_tile<item, tt::padded_layout<item, 32, 32, 0>>;
using pipeline_type = tt::tile_pipeline<2, tt::copy_engine::bulk>;
using pipeline_smem =
    tt::smem_layout<tt::smem_tiles<stage_tile, 2, 128>,
                    tt::smem_array<typename pipeline_type::storage, 1>, tt::smem_array<item>>;

__global__ void pipe_tiles(pipeline_smem smem, item* out,
                           const __grid_constant__ tt::bulk_view<stage_tile> in) {
  auto [tiles, storage, items] = smem.carve(tt::dynamic_smem());
  const tt::static_block<64> block;
  pipeline_type pipeline(block, *storage);
  block.sync();
  pipeline.load(block, tiles[pipeline.acquire()], in, 0, 0, item{});
  pipeline.commit();
  const unsigned stage = pipeline.wait();
  block.sync();
  items[0] = tiles[stage].get(0, 0);
  out[0] = items[0];
  pipeline.release();
}

int prepare(const_view in, tt::bulk_view<stage_tile>& described) {
  return tt::make_bulk_view(&described, in) + tt::allow_dynamic_smem(&pipe_tiles, 5);
}

static_assert(tt::conflict_ways(names::Layout{}, tt::along_columns) == 1, "");
