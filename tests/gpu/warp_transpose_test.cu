// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Transposes between lanes, against their formulas: every number of lanes, every size of element, and numbers of items
// of each kind; tests/emulated/lanes_test.cpp has every number. Items go to the kernel and come back as they are held,
// lane behind lane.

#include <cooperative_groups.h>

#include <tiletranspose/warp_exchange.cuh>
#include <tiletranspose/warp_transpose.cuh>

#include "support.cuh"

using namespace tt_test;

namespace {

constexpr unsigned block_threads = 96;
constexpr unsigned blocks = 2;
constexpr unsigned all_threads = blocks * block_threads;

template <class Group>
struct make_group {
  __device__ static Group make() { return {}; }
};
template <unsigned Lanes>
struct cooperative_tile {
  __device__ static auto make() {
    return cooperative_groups::tiled_partition<Lanes>(cooperative_groups::this_thread_block());
  }
};

// out holds three results behind each other: striped, blocked and transposed.
template <class Groups, class T, int N>
__global__ void exchange(T* out, const T* in) {
  const unsigned thread = blockIdx.x * block_threads + threadIdx.x;
  const auto group = Groups::make();
  const auto run = [&](int result, auto call) {
    T items[N];
    for (int i = 0; i < N; ++i) { items[i] = in[thread * N + i]; }
    call(items);
    for (int i = 0; i < N; ++i) { out[(result * all_threads + thread) * N + i] = items[i]; }
  };
  run(0, [&](T(&items)[N]) { tt::warp_blocked_to_striped(group, items); });
  run(1, [&](T(&items)[N]) { tt::warp_striped_to_blocked(group, items); });
  run(2, [&](T(&items)[N]) { tt::warp_transpose(group, items); });
}

// The first two of these results, by exchanges that may own storage.
template <class Group, class T, int N>
__global__ void exchange_by_storage(T* out, const T* in) {
  using warp_exchange = tt::warp_exchange<T, N>;
  __shared__ typename warp_exchange::storage storage[block_threads / 32];
  const warp_exchange exchanger(storage[threadIdx.x / 32]);
  const unsigned thread = blockIdx.x * block_threads + threadIdx.x;
  const Group group;
  T items[N];
  for (int i = 0; i < N; ++i) { items[i] = in[thread * N + i]; }
  exchanger.blocked_to_striped(group, items);
  for (int i = 0; i < N; ++i) { out[thread * N + i] = items[i]; }
  group.sync();
  for (int i = 0; i < N; ++i) { items[i] = in[thread * N + i]; }
  exchanger.striped_to_blocked(group, items);
  for (int i = 0; i < N; ++i) { out[(all_threads + thread) * N + i] = items[i]; }
}

template <class T, int N>
__global__ void turn_square(T* out, const T* in) {
  const unsigned thread = blockIdx.x * block_threads + threadIdx.x;
  T items[N];
  for (int i = 0; i < N; ++i) { items[i] = in[thread * N + i]; }
  tt::warp_transpose(items);
  for (int i = 0; i < N; ++i) { out[thread * N + i] = items[i]; }
}

// Where an item comes from.
struct source {
  std::size_t lane;
  std::size_t item;
};

// Runs `launch(out, in)` on random items of `size` bytes and compares result r, item i of lane l with
// the item `from(r, l, i)` of the same group of lanes.
void check(std::size_t lanes, std::size_t n, std::size_t size, std::size_t results,
           random_source& random, void (*launch)(std::byte* out, const std::byte* in),
           source (*from)(std::size_t result, std::size_t lane, std::size_t item)) {
  INFO(lanes << " lanes, " << n << " items of " << size << " bytes, --rng-seed "
             << Catch::getSeed());
  const std::size_t bytes = all_threads * n * size;
  const byte_vector items = random.fill(bytes);
  byte_vector expected(results * bytes);
  for (std::size_t r = 0; r < results; ++r) {
    for (std::size_t thread = 0; thread < all_threads; ++thread) {
      const std::size_t lane = thread % lanes;
      for (std::size_t i = 0; i < n; ++i) {
        const source s = from(r, lane, i);
        std::memcpy(&expected[((r * all_threads + thread) * n + i) * size],
                    &items[((thread - lane + s.lane) * n + s.item) * size], size);
      }
    }
  }
  const input_buffer in{items};
  output_buffer out{expected.size(), 0, random};
  out.expect(0, expected.size(), {expected.data(), 1, expected.size(), expected.size(), 1});
  out.poison();
  launch(out.data(), in.data());
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(out.difference() == "");
  REQUIRE(in.unchanged());
}

// The first result is the items in striped order, the others are in blocked order.
template <std::size_t Lanes, std::size_t N>
source exchanged(std::size_t result, std::size_t lane, std::size_t i) {
  const std::size_t striped = i * Lanes + lane;
  const std::size_t blocked = lane * N + i;
  if (result == 0) { return {striped / N, striped % N}; }
  return {blocked % Lanes, blocked / Lanes};
}

template <class Groups, std::size_t Lanes, class T, int N>
void check_exchange(random_source& random) {
  check(
      Lanes, N, sizeof(T), 3, random,
      [](std::byte* out, const std::byte* in) {
        exchange<Groups, T, N>
            <<<blocks, block_threads>>>(reinterpret_cast<T*>(out), reinterpret_cast<const T*>(in));
      },
      exchanged<Lanes, N>);
}

template <class T, int... N>
void check_storage(random_source& random, std::integer_sequence<int, N...>) {
  (check(
       32, N, sizeof(T), 2, random,
       [](std::byte* out, const std::byte* in) {
         exchange_by_storage<tt::static_warp, T, N>
             <<<blocks, block_threads>>>(reinterpret_cast<T*>(out), reinterpret_cast<const T*>(in));
       },
       exchanged<32, N>),
   ...);
}

template <int Lanes, class T, int... N>
void check_items(random_source& random, std::integer_sequence<int, N...>) {
  (check_exchange<make_group<tt::static_lanes<Lanes>>, Lanes, T, N>(random), ...);
}

template <int First, int... N>
auto from_on(std::integer_sequence<int, N...>) {
  return std::integer_sequence<int, First + N...>{};
}
// First, First + 1, ... Last
template <int First, int Last>
auto range() {
  return from_on<First>(std::make_integer_sequence<int, Last - First + 1>{});
}

template <class T>
void check_few_lanes(random_source& random) {
  const std::integer_sequence<int, 1, 2, 3, 4, 6, 8, 9, 16, 18, 33> few;
  check_items<2, T>(random, few);
  check_items<4, T>(random, few);
  check_items<8, T>(random, few);
  check_items<16, T>(random, few);
}

template <class T, int N>
void check_square(random_source& random) {
  check(
      N, N, sizeof(T), 1, random,
      [](std::byte* out, const std::byte* in) {
        turn_square<T, N>
            <<<blocks, block_threads>>>(reinterpret_cast<T*>(out), reinterpret_cast<const T*>(in));
      },
      [](std::size_t, std::size_t lane, std::size_t i) -> source {
        return {i, lane};
      });
}

template <class T>
void check_squares(random_source& random) {
  check_square<T, 2>(random);
  check_square<T, 4>(random);
  check_square<T, 8>(random);
  check_square<T, 16>(random);
  check_square<T, 32>(random);
}

template <int Bytes>
void check_size(random_source& random) {
  const std::integer_sequence<int, 1, 2, 3, 4> few;
  check_items<32, bytes<Bytes>>(random, few);
  check_items<4, bytes<Bytes>>(random, few);
}

}  // namespace

TEST_CASE("warp: 4-byte items in 32 lanes", "[warp][quick]") {
  require_device();
  random_source random;
  check_items<32, unsigned>(random, range<1, 10>());
  check_items<32, unsigned>(
      random, std::integer_sequence<int, 12, 15, 16, 17, 18, 20, 24, 28, 31, 32, 33, 48, 63, 64>{});
}

TEST_CASE("warp: 2-byte items in 32 lanes", "[warp][quick]") {
  require_device();
  random_source random;
  check_items<32, std::uint16_t>(random, range<1, 10>());
  check_items<32, std::uint16_t>(
      random, std::integer_sequence<int, 12, 16, 17, 24, 26, 28, 31, 32, 33, 40, 48, 63, 64>{});
}

TEST_CASE("warp: 1-byte items in 32 lanes", "[warp][quick]") {
  require_device();
  random_source random;
  check_items<32, std::uint8_t>(random, range<1, 10>());
  check_items<32, std::uint8_t>(
      random, std::integer_sequence<int, 12, 16, 17, 20, 24, 30, 32, 33, 40, 48, 62, 63, 64>{});
}

TEST_CASE("warp: 2 to 16 lanes", "[warp][quick]") {
  require_device();
  random_source random;
  check_few_lanes<unsigned>(random);
  check_few_lanes<std::uint16_t>(random);
  check_few_lanes<std::uint8_t>(random);
}

TEST_CASE("warp: items of 3 to 64 bytes", "[warp][quick]") {
  require_device();
  random_source random;
  check_size<3>(random);
  check_size<5>(random);
  check_size<6>(random);
  check_size<7>(random);
  check_size<8>(random);
  check_size<11>(random);
  check_size<16>(random);
  check_size<33>(random);
  check_size<64>(random);
  check_items<32, float_triple>(random, std::integer_sequence<int, 2, 3, 4, 8>{});
  check_items<16, aligned_quad>(random, std::integer_sequence<int, 2, 3, 4, 8>{});
  check_items<8, double>(random, std::integer_sequence<int, 2, 3, 4, 8>{});
}

TEST_CASE("warp: squares", "[warp][quick]") {
  require_device();
  random_source random;
  check_squares<std::uint8_t>(random);
  check_squares<std::uint16_t>(random);
  check_squares<float>(random);
  check_square<double, 8>(random);
  check_square<float_triple, 4>(random);
}

TEST_CASE("warp: groups of other kinds", "[warp][quick]") {
  require_device();
  random_source random;
  check_exchange<make_group<tt::static_warp>, 32, float, 7>(random);
  check_exchange<cooperative_tile<32>, 32, float, 6>(random);
  check_exchange<cooperative_tile<8>, 8, std::uint8_t, 12>(random);
  check_exchange<cooperative_tile<4>, 4, double, 3>(random);
}

TEST_CASE("warp: exchanges that may own storage", "[warp][quick]") {
  require_device();
  random_source random;
  check_storage<unsigned>(random, range<1, 9>());
  check_storage<unsigned>(random,
                          std::integer_sequence<int, 12, 16, 17, 24, 31, 32, 33, 36, 48, 64>{});
  check_storage<std::uint16_t>(random, range<1, 9>());
  check_storage<std::uint16_t>(random, std::integer_sequence<int, 12, 16, 17, 24, 32, 33, 64>{});
  check_storage<std::uint8_t>(random, range<1, 9>());
  check_storage<std::uint8_t>(random, std::integer_sequence<int, 12, 16, 20, 31, 32, 33, 64>{});
  check_storage<double>(random, range<1, 9>());
  check_storage<double>(random, std::integer_sequence<int, 16, 32>{});
  check_storage<aligned_quad>(random, range<1, 8>());
  check_storage<float_triple>(random, range<1, 4>());
  check_storage<bytes<8>>(random, range<1, 4>());
}
