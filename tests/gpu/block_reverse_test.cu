// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::block_reverse in kernels that a user might write: both forms, groups of any size, any element.

#include <cooperative_groups.h>

#include <tiletranspose/block_reverse.cuh>

#include "parts.cuh"
#include "support.cuh"

using namespace tt_test;

namespace {

// ---------------------------------------------------- kernels

// Reverses each run of `count` elements of `n`, the last of which may be shorter. Blocks take one
// after the other, so that storage is used again.
template <class Group, class Reverser, class T>
__device__ void reverse_runs(Group group, Reverser reverser, T* out, const T* in, std::size_t n,
                             unsigned count) {
  const std::size_t runs = (n + count - 1) / count;
  for (std::size_t run = blockIdx.x; run < runs; run += gridDim.x) {
    const std::size_t first = run * count;
    const auto length = static_cast<unsigned>(n - first < count ? n - first : count);
    reverser.load(group, in + first, length);
    group.sync();
    reverser.store(group, out + first, length);
    group.sync();
  }
}

template <class Group, class T, int Size>
__global__ void reverse_static(T* out, const T* in, std::size_t n, unsigned count) {
  using block_reverse = tt::block_reverse<T, Size>;
  __shared__ typename block_reverse::storage storage;
  reverse_runs(Group::make(), block_reverse(storage), out, in, n, count);
}

template <class Group, class T>
__global__ void reverse_dynamic(T* out, const T* in, std::size_t n, unsigned count) {
  extern __shared__ __align__(16) unsigned char shared[];
  const tt::block_reverse<T, tt::dynamic_size> reverser(reinterpret_cast<T*>(shared));
  reverse_runs(Group::make(), reverser, out, in, n, count);
}

// Every element of a whole storage, the counts left to their defaults.
template <class T, int Size>
__global__ void reverse_whole(T* out, const T* in) {
  using block_reverse = tt::block_reverse<T, Size>;
  __shared__ typename block_reverse::storage storage;
  const tt::static_block<128> block;
  const block_reverse reverser(storage);
  reverser.load(block, in + blockIdx.x * std::size_t{Size});
  block.sync();
  reverser.store(block, out + blockIdx.x * std::size_t{Size});
}

// Each warp of a block reverses a run of its own.
template <class T, int Size>
__global__ void reverse_by_warps(T* out, const T* in) {
  using block_reverse = tt::block_reverse<T, Size>;
  constexpr int warps = 3;
  __shared__ typename block_reverse::storage storage[warps];
  const auto warp =
      cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
  const unsigned which = warp.meta_group_rank();
  const std::size_t first = (blockIdx.x * std::size_t{warps} + which) * Size;
  const block_reverse reverser(storage[which]);
  reverser.load(warp, in + first);
  warp.sync();
  reverser.store(warp, out + first);
}

// ---------------------------------------------------- checks

byte_vector runs_reversed(const byte_vector& in, std::size_t run, std::size_t size) {
  byte_vector result(in.size());
  const std::size_t n = in.size() / size;
  for (std::size_t first = 0; first < n; first += run) {
    const std::size_t length = std::min(run, n - first);
    for (std::size_t i = 0; i < length; ++i) {
      std::memcpy(&result[(first + i) * size], &in[(first + length - 1 - i) * size], size);
    }
  }
  return result;
}

// launch(out, in) shall reverse runs of `count` elements; in place too, where it may.
template <class T, class Launch>
void check_runs(std::size_t n, std::size_t count, random_source& random, Launch launch) {
  INFO(sizeof(T) << " bytes aligned to " << alignof(T) << ", " << n << " elements in runs of "
                 << count << "; repeat with --rng-seed " << Catch::getSeed());
  const std::size_t size = n * sizeof(T);
  const byte_vector content = random.fill(size);
  const byte_vector expected = runs_reversed(content, count, sizeof(T));
  const host_matrix before{content.data(), 1, size, size, 1};
  const host_matrix after{expected.data(), 1, size, size, 1};

  const input_buffer in{content, alignof(T)};
  output_buffer out{size, 3 * alignof(T), random};
  out.expect(0, size, after);
  out.poison();
  launch(out.as<T>(), in.as<T>());
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(out.difference() == "");
  REQUIRE(in.unchanged());

  output_buffer data{size, alignof(T), random};
  data.change(0, size, before, after);
  data.poison();
  launch(data.as<T>(), data.as<T>());
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(data.difference() == "");
}

template <class Group, class T, int Size>
void check_static(std::size_t n, unsigned count, random_source& random) {
  check_runs<T>(n, count, random, [&](T* out, const T* in) {
    reverse_static<Group, T, Size><<<3, Group::shape()>>>(out, in, n, count);
  });
}

template <class Group, class T>
void check_dynamic(std::size_t n, unsigned count, random_source& random) {
  check_runs<T>(n, count, random, [&](T* out, const T* in) {
    reverse_dynamic<Group, T><<<3, Group::shape(), count * sizeof(T)>>>(out, in, n, count);
  });
}

template <class Group, class T, int Size>
void check_counts(random_source& random) {
  check_static<Group, T, Size>(5 * Size, Size, random);
  check_static<Group, T, Size>(4 * Size + 7, Size - 1, random);
  check_static<Group, T, Size>(11, 1, random);
  check_dynamic<Group, T>(5 * Size + 1, Size, random);
  check_dynamic<Group, T>(100, 2, random);
}

template <std::size_t N, std::size_t Alignment>
struct alignas(Alignment) block {
  unsigned char value[N];
};

}  // namespace

TEST_CASE("block_reverse: groups of any size", "[parts][quick]") {
  require_device();
  random_source random;
  check_counts<static_group<128>, float, 512>(random);
  check_counts<static_group<1024>, float, 1000>(random);
  check_counts<cooperative_group<1>, float, 33>(random);
  check_counts<cooperative_group<7, 5>, float, 300>(random);
  check_counts<cooperative_group<4, 3, 7>, std::uint8_t, 1001>(random);
}

TEST_CASE("block_reverse: elements of any size", "[parts][quick]") {
  require_device();
  random_source random;
  check_counts<static_group<96>, std::uint8_t, 257>(random);
  check_counts<static_group<96>, std::uint16_t, 257>(random);
  check_counts<static_group<96>, bytes<3>, 257>(random);
  check_counts<static_group<96>, bytes<4>, 65>(random);
  check_counts<static_group<96>, double, 257>(random);
  check_counts<static_group<96>, float_triple, 257>(random);
}

TEST_CASE("block_reverse: elements of many bytes", "[parts][quick]") {
  require_device();
  random_source random;
  check_counts<static_group<96>, aligned_quad, 100>(random);
  check_counts<static_group<96>, block<20, 4>, 100>(random);
  check_counts<static_group<96>, block<24, 8>, 100>(random);
  check_counts<static_group<96>, aligned_32, 100>(random);
  check_counts<static_group<96>, bytes<63>, 100>(random);
  check_counts<static_group<96>, block<64, 16>, 100>(random);
}

TEST_CASE("block_reverse: as much as shared memory holds", "[parts][quick]") {
  require_device();
  random_source random;
  check_static<static_group<256>, float, 12288>(3 * 12288 - 5, 12288, random);
  check_static<static_group<256>, std::uint8_t, 49152>(2 * 49152 + 1, 49152, random);
  check_static<static_group<256>, bytes<64>, 768>(768, 768, random);
  check_dynamic<static_group<256>, float>(30001, 12288, random);
  check_dynamic<static_group<256>, bytes<5>>(30001, 9001, random);
}

TEST_CASE("block_reverse: whole storages and warps", "[parts][quick]") {
  require_device();
  random_source random;
  check_runs<float>(5 * 300, 300, random, [](float* out, const float* in) {
    reverse_whole<float, 300><<<5, 128>>>(out, in);
  });
  check_runs<bytes<3>>(4 * 129, 129, random, [](bytes<3>* out, const bytes<3>* in) {
    reverse_whole<bytes<3>, 129><<<4, 128>>>(out, in);
  });
  check_runs<float>(6 * 100, 100, random, [](float* out, const float* in) {
    reverse_by_warps<float, 100><<<2, 96>>>(out, in);
  });
  check_runs<std::uint16_t>(6 * 77, 77, random, [](std::uint16_t* out, const std::uint16_t* in) {
    reverse_by_warps<std::uint16_t, 77><<<2, 96>>>(out, in);
  });
}
