// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Structures per thread, at every kind of end and alignment. Threads exchange their structures with
// dense memory one by one, so that only one side of each kernel is under test.

#include <cooperative_groups.h>

#include <tiletranspose/struct_io.cuh>

#include <type_traits>

#include "support.cuh"

using namespace tt_test;

namespace {

constexpr unsigned block_threads = 96;

template <class T, int N>
__global__ void load(T* out, const T* structs, std::size_t count) {
  const std::size_t first = blockIdx.x * std::size_t{block_threads * N};
  T items[N];
  tt::load_structs(tt::static_block<block_threads>{}, items, structs + first, count - first);
  for (int j = 0; j < N; ++j) { out[first + threadIdx.x * N + j] = items[j]; }
}

template <class T, int N>
__global__ void store(T* structs, const T* in, std::size_t count) {
  const std::size_t first = blockIdx.x * std::size_t{block_threads * N};
  T items[N];
  for (int j = 0; j < N; ++j) { items[j] = in[first + threadIdx.x * N + j]; }
  tt::store_structs(tt::static_block<block_threads>{}, structs + first, count - first, items);
}

// Has no default constructor.
struct made_of_one {
  __host__ __device__ explicit made_of_one(float value) : x(value), y(value), z(value) {}
  float x, y, z;
};
template <class T>
__device__ T any_value() {
  if constexpr (std::is_default_constructible<T>::value) {
    return T{};
  } else {
    return T{1.0f};
  }
}

// One structure per thread, in a group that is known when the kernel runs.
template <class T>
__global__ void copy_one(T* out, const T* in, std::size_t count) {
  const auto block = cooperative_groups::this_thread_block();
  const std::size_t first = blockIdx.x * std::size_t{block_threads};
  T item = any_value<T>();
  tt::load_structs(block, item, in + first, count - first);
  tt::store_structs(block, out + first, count - first, item);
}

template <class T, int N>
void check(std::size_t count, std::size_t misalignment, random_source& random) {
  INFO(N << " structures of " << sizeof(T) << " bytes a thread, " << count << " in all, off by "
         << misalignment << " bytes, --rng-seed " << Catch::getSeed());
  constexpr std::size_t per_block = block_threads * N;
  const std::size_t blocks = (count + per_block - 1) / per_block;
  const std::size_t all = blocks * per_block;
  const byte_vector content = random.fill(count * sizeof(T));
  {
    byte_vector expected = content;  // and zeros where there is nothing to load
    expected.resize(all * sizeof(T));
    const input_buffer in{content, misalignment};
    output_buffer out{expected.size(), 0, random};
    out.expect(0, expected.size(), {expected.data(), 1, expected.size(), expected.size(), 1});
    out.poison();
    load<T, N><<<static_cast<unsigned>(blocks), block_threads>>>(out.as<T>(), in.as<T>(), count);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(out.difference() == "");
    REQUIRE(in.unchanged());
  }
  {
    byte_vector padded = content;
    padded.resize(all * sizeof(T));
    const input_buffer in{padded};
    output_buffer out{content.size(), misalignment, random};
    out.expect(0, content.size(), {content.data(), 1, content.size(), content.size(), 1});
    out.poison();
    store<T, N><<<static_cast<unsigned>(blocks), block_threads>>>(out.as<T>(), in.as<T>(), count);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(out.difference() == "");
  }
}

template <class T, int N>
void check_counts(random_source& random) {
  constexpr std::size_t warp = 32 * N;
  const std::size_t off = alignof(T);
  for (const std::size_t count : {std::size_t{1}, warp - 1, warp, warp + 1, 2 * warp, 3 * warp,
                                  3 * warp + 5, 6 * warp - 2, random.between(1, 1000)}) {
    check<T, N>(count, 0, random);
    check<T, N>(count, off % 256, random);
  }
  check<T, N>(6 * warp, 3 * off, random);
}

template <class T>
void check_copy(random_source& random) {
  for (const std::size_t count : {1, 31, 32, 96, 97, 960, 1000}) {
    INFO(count << " structures of " << sizeof(T) << " bytes");
    const byte_vector content = random.fill(count * sizeof(T));
    const input_buffer in{content, alignof(T)};
    output_buffer out{content.size(), 0, random};
    out.expect(0, content.size(), {content.data(), 1, content.size(), content.size(), 1});
    out.poison();
    copy_one<<<static_cast<unsigned>((count + 95) / 96), block_threads>>>(out.as<T>(), in.as<T>(),
                                                                          count);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(out.difference() == "");
    REQUIRE(in.unchanged());
  }
}

template <std::size_t Words>
struct words {
  unsigned value[Words];
};

}  // namespace

TEST_CASE("structs: one per thread", "[structs][quick]") {
  require_device();
  random_source random;
  check_counts<bytes<1>, 1>(random);
  check_counts<std::uint16_t, 1>(random);
  check_counts<bytes<3>, 1>(random);
  check_counts<float, 1>(random);
  check_counts<words<2>, 1>(random);
  check_counts<float_triple, 1>(random);
  check_counts<float_quad, 1>(random);
  check_counts<words<5>, 1>(random);
  check_counts<words<6>, 1>(random);
  check_counts<words<7>, 1>(random);
  check_counts<words<8>, 1>(random);
  check_counts<words<16>, 1>(random);
  check_counts<words<25>, 1>(random);
  check_counts<bytes<7>, 1>(random);
  check_counts<bytes<64>, 1>(random);
  check_counts<aligned_quad, 1>(random);
  check_counts<aligned_32, 1>(random);
}

TEST_CASE("structs: several per thread", "[structs][quick]") {
  require_device();
  random_source random;
  check_counts<bytes<3>, 4>(random);
  check_counts<bytes<3>, 16>(random);
  check_counts<std::uint8_t, 16>(random);
  check_counts<std::uint16_t, 6>(random);
  check_counts<float, 7>(random);
  check_counts<float, 16>(random);
  check_counts<float_triple, 2>(random);
  check_counts<float_triple, 4>(random);
  check_counts<words<7>, 3>(random);
  check_counts<aligned_32, 2>(random);
}

TEST_CASE("structs: a copy through a group known at run time", "[structs][quick]") {
  require_device();
  random_source random;
  check_copy<bytes<3>>(random);
  check_copy<float_triple>(random);
  check_copy<words<7>>(random);
  check_copy<aligned_32>(random);
  check_copy<made_of_one>(random);
}
