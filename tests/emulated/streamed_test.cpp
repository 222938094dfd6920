// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Host matrices through a device, on the CPU: the call itself, with its kernels in the emulator and its streams drawn at
// random.

#include "cluster_on_cpu.hpp"

#include <tiletranspose/streamed.cuh>

#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <random>
#include <vector>

namespace {

using tt::size_type;

struct triple {
  unsigned char bytes[3];
};

void start(unsigned seed) {
  cpu::this_device() = {};
  cpu::machines().start(1, seed);
}

template <class T>
std::vector<T> random_elements(size_type count) {
  static std::mt19937 random(5);
  std::vector<T> values(count);
  auto* const bytes = reinterpret_cast<unsigned char*>(values.data());
  for (size_type i = 0; i < count * sizeof(T); ++i) {
    bytes[i] = static_cast<unsigned char>(random());
  }
  return values;
}

template <class T>
bool is_transposed(const std::vector<T>& out, const std::vector<T>& in, size_type nx,
                   size_type ny) {
  for (size_type y = 0; y < ny; ++y) {
    for (size_type x = 0; x < nx; ++x) {
      if (std::memcmp(&out[x * ny + y], &in[y * nx + x], sizeof(T)) != 0) { return false; }
    }
  }
  return true;
}

/// With the least scratch, where no more is given.
template <class T>
void check(size_type nx, size_type ny, bool pinned, unsigned seed,
           size_type scratch = tt::least_streamed_scratch) {
  INFO(nx << " x " << ny << " elements of " << sizeof(T) << (pinned ? ", by pinned memory" : ""));
  start(seed);
  const std::vector<T> in = random_elements<T>(nx * ny);
  std::vector<T> out(nx * ny);
  tt::emulated_buffer<unsigned char> temp(scratch);
  std::vector<unsigned char> between(pinned ? scratch : 0);
  tt::streamed_options options;
  options.pinned = pinned ? between.data() : nullptr;
  options.pinned_bytes = between.size();
  options.threads = 3;
  std::vector<size_type> reports;
  options.user = &reports;
  options.progress = [](void* user, size_type done, size_type all) {
    static_cast<std::vector<size_type>*>(user)->push_back(done);
    REQUIRE(done <= all);
  };
  size_type bytes = scratch;
  REQUIRE(tt::streamed_transpose(out.data(), in.data(), nx, ny, temp.data(), bytes, cudaStream_t{},
                                 options) == cudaSuccess);
  REQUIRE(cpu::machines().faults.empty());
  REQUIRE(cpu::this_device().faults == 0);
  REQUIRE(is_transposed(out, in, nx, ny));
  REQUIRE(reports.back() == nx * ny * sizeof(T));
  REQUIRE(std::is_sorted(reports.begin(), reports.end()));
  for (const auto& queue : cpu::machines().streams) { REQUIRE(queue.empty()); }
}

}  // namespace

TEST_CASE("a host matrix is transposed block by block") {
  for (const bool pinned : {false, true}) {
    check<float>(1, 1, pinned, 1);
    check<float>(300, 500, pinned, 2);
    check<float>(3, 70000, pinned, 3);
    check<float>(70000, 3, pinned, 4);
    check<triple>(401, 397, pinned, 5);
    for (unsigned seed = 0; seed < 4; ++seed) { check<float>(260, 260, pinned, seed); }
  }
  check<float>(300, 500, false, 6, 1 << 20);
}

TEST_CASE("without waits the streams overtake each other, and this would be seen") {
  int wrong = 0;
  for (unsigned seed = 0; seed < 4; ++seed) {
    start(seed);
    cpu::machines().ignores_events = true;
    const std::vector<float> in = random_elements<float>(400 * 400);
    std::vector<float> out(400 * 400);
    tt::emulated_buffer<unsigned char> temp(tt::least_streamed_scratch);
    size_type bytes = tt::least_streamed_scratch;
    (void)tt::streamed_transpose(out.data(), in.data(), 400, 400, temp.data(), bytes);
    wrong += is_transposed(out, in, 400, 400) ? 0 : 1;
  }
  REQUIRE(wrong > 0);
}

TEST_CASE("scratch is asked for, and little is refused") {
  start(1);
  std::vector<float> in = random_elements<float>(64);
  std::vector<float> out(64, 1.0f);
  tt::emulated_buffer<unsigned char> temp(tt::least_streamed_scratch + 16);
  size_type bytes = 0;
  REQUIRE(tt::streamed_transpose(out.data(), in.data(), 8, 8, nullptr, bytes) == cudaSuccess);
  REQUIRE(bytes == tt::least_streamed_scratch);
  REQUIRE(tt::streamed_transpose(out.data(), in.data(), 1 << 20, 1 << 20, nullptr, bytes) ==
          cudaSuccess);
  REQUIRE(bytes == size_type{6} * 32 << 20);

  bytes = tt::least_streamed_scratch;
  const auto call = [&](float* to, const float* from, size_type nx, void* scratch,
                        size_type scratch_bytes, tt::streamed_options options = {}) {
    return tt::streamed_transpose(to, from, nx, 8, scratch, scratch_bytes, cudaStream_t{}, options);
  };
  const auto refused = cudaErrorInvalidValue;
  REQUIRE(call(nullptr, in.data(), 8, temp.data(), bytes) == refused);
  REQUIRE(call(out.data(), nullptr, 8, temp.data(), bytes) == refused);
  REQUIRE(call(out.data(), out.data(), 8, temp.data(), bytes) == refused);
  REQUIRE(call(out.data(), in.data(), 8, temp.data(), bytes - 1) == refused);
  REQUIRE(call(out.data(), in.data(), 8, temp.data() + 1, bytes) == refused);
  REQUIRE(call(out.data(), in.data(), ~size_type{0} / 4, temp.data(), bytes) == refused);
  tt::streamed_options little;
  little.pinned = temp.data();
  little.pinned_bytes = bytes - 1;
  REQUIRE(call(out.data(), in.data(), 8, temp.data(), bytes, little) == refused);
  REQUIRE(out == std::vector<float>(64, 1.0f));
  REQUIRE(call(nullptr, nullptr, 0, temp.data(), bytes) == cudaSuccess);
}

TEST_CASE("after an error nothing is under way, and every element is old or new") {
  for (int good = 0; good < 9; ++good) {
    start(static_cast<unsigned>(good));
    cpu::machines().host_failure_after = good;
    const std::vector<float> in = random_elements<float>(300 * 300);
    std::vector<float> out(300 * 300, -1.0f);
    tt::emulated_buffer<unsigned char> temp(tt::least_streamed_scratch);
    size_type bytes = tt::least_streamed_scratch;
    size_type done = 0;
    tt::streamed_options options;
    options.user = &done;
    options.progress = [](void* user, size_type now, size_type) {
      *static_cast<size_type*>(user) = now;
    };
    REQUIRE(tt::streamed_transpose(out.data(), in.data(), 300, 300, temp.data(), bytes,
                                   cudaStream_t{}, options) == cudaErrorUnknown);
    for (const auto& queue : cpu::machines().streams) { REQUIRE(queue.empty()); }
    size_type fresh = 0;
    for (size_type i = 0; i < out.size(); ++i) {
      const float wanted = in[i % 300 * 300 + i / 300];
      const bool is_new = std::memcmp(&out[i], &wanted, sizeof(float)) == 0;
      const bool is_old = out[i] == -1.0f;
      REQUIRE((is_new || is_old));
      fresh += is_new ? 1 : 0;
    }
    REQUIRE(fresh * sizeof(float) >= done);
  }
}
