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

struct alignas(32) wide {
  unsigned char bytes[64];
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
bool is_transposed(const T* out, const T* in, size_type nx, size_type ny) {
  for (size_type y = 0; y < ny; ++y) {
    for (size_type x = 0; x < nx; ++x) {
      if (std::memcmp(&out[x * ny + y], &in[y * nx + x], sizeof(T)) != 0) { return false; }
    }
  }
  return true;
}

/// Elements in host memory, pageable or pinned.
template <class T>
class host_array {
 public:
  host_array(const std::vector<T>& values, bool pinned) : values_(values) {
    void* memory = values_.data();
    if (pinned) {
      (void)cudaMallocHost(&memory, values.size() * sizeof(T));
      std::memcpy(memory, values.data(), values.size() * sizeof(T));
    }
    data_ = static_cast<T*>(memory);
  }
  T* data() const { return data_; }

 private:
  std::vector<T> values_;
  T* data_;
};

/// What is pinned.
struct memories {
  bool in;
  bool out;
  bool lends;
};
constexpr memories all_memories[] = {
    {false, false, false}, {false, false, true}, {true, false, false}, {true, false, true},
    {false, true, false},  {false, true, true},  {true, true, false},  {true, true, true}};

/// With the least scratch, where no more is given, so many bytes behind a multiple of 16.
template <class T>
void check(size_type nx, size_type ny, memories pinned, unsigned seed,
           size_type scratch = tt::least_streamed_scratch, size_type shift = 0) {
  INFO(nx << " x " << ny << " elements of " << sizeof(T) << ", pinned: " << pinned.in << pinned.out
          << pinned.lends);
  start(seed);
  const host_array<T> in(random_elements<T>(nx * ny), pinned.in);
  const host_array<T> out(std::vector<T>(nx * ny), pinned.out);
  tt::emulated_buffer<unsigned char> temp(scratch + shift);
  const host_array<unsigned char> between(std::vector<unsigned char>(scratch), true);
  tt::streamed_options options;
  options.pinned = pinned.lends ? between.data() : nullptr;
  options.pinned_bytes = scratch;
  options.threads = 3;
  std::vector<size_type> reports;
  options.user = &reports;
  options.progress = [](void* user, size_type done, size_type all) {
    static_cast<std::vector<size_type>*>(user)->push_back(done);
    REQUIRE(done <= all);
  };
  size_type bytes = scratch;
  const std::size_t kept = cpu::machines().pinned.size();
  REQUIRE(tt::streamed_transpose(out.data(), in.data(), nx, ny, temp.data() + shift, bytes,
                                 cudaStream_t{}, options) == cudaSuccess);
  REQUIRE(cpu::machines().pinned.size() == kept);
  REQUIRE(cpu::machines().faults.empty());
  REQUIRE(cpu::this_device().faults == 0);
  REQUIRE(is_transposed(out.data(), in.data(), nx, ny));
  REQUIRE(reports.back() == nx * ny * sizeof(T));
  REQUIRE(std::is_sorted(reports.begin(), reports.end()));
  for (const auto& queue : cpu::machines().streams) { REQUIRE(queue.empty()); }
}

}  // namespace

TEST_CASE("a host matrix is transposed block by block") {
  for (const memories pinned : all_memories) {
    check<float>(1, 1, pinned, 1);
    check<triple>(201, 297, pinned, 5);
    for (unsigned seed = 0; seed < 4; ++seed) { check<float>(200, 300, pinned, seed); }
    check<float>(200, 300, pinned, 6, tt::least_streamed_scratch, 4);
    check<triple>(201, 297, pinned, 7, tt::least_streamed_scratch, 1);
  }
  for (const memories pinned : {memories{false, false, true}, memories{true, true, false}}) {
    check<float>(3, 20000, pinned, 3);
    check<float>(20000, 3, pinned, 4);
    check<wide>(50, 130, pinned, 7);
  }
  check<float>(300, 500, {true, true, false}, 6, 1 << 20);
  // Scratch that is cut into buffers of an odd length.
  check<float>(182'000, 3, {false, false, false}, 8, tt::least_streamed_scratch + 12'345);
}

TEST_CASE("rows are stored byte by byte once, wherever they start") {
  std::mt19937 random(31);
  for (int round = 0; round < 60; ++round) {
    const size_type row_bytes = 1 + random() % (round % 3 == 0 ? 40 : 5000);
    const size_type rows = 1 + random() % 30;
    const size_type out_pitch = row_bytes + random() % 40;
    const size_type in_pitch = row_bytes + (out_pitch - row_bytes) % 16;
    const size_type lead = random() % 300;
    INFO(rows << " rows of " << row_bytes << " bytes, " << out_pitch << " apart, at " << lead);
    start(1);
    tt::emulated_buffer<unsigned char> out(lead + rows * out_pitch);
    tt::emulated_buffer<unsigned char> in(lead + rows * in_pitch);
    for (unsigned char& byte : in) { byte = static_cast<unsigned char>(1 + random() % 255); }
    std::vector<unsigned char> wanted(out.size());
    for (size_type row = 0; row < rows; ++row) {
      std::memcpy(&wanted[lead + row * out_pitch], &in[lead + row * in_pitch], row_bytes);
    }
    cpu::this_device().options.knows(out.data(), out.size());
    cpu::this_device().options.knows(static_cast<const unsigned char*>(in.data()), in.size());
    using bytes = tt::matrix_view<unsigned char>;
    REQUIRE(tt::detail::store_rows(bytes{out.data() + lead, rows, row_bytes, out_pitch},
                                   bytes{in.data() + lead, rows, row_bytes, in_pitch},
                                   cudaStream_t{}) == cudaSuccess);
    REQUIRE(cpu::machines().drain());
    REQUIRE(cpu::machines().faults.empty());
    REQUIRE(cpu::this_device().faults == 0);
    REQUIRE(cpu::this_device().stored == rows * row_bytes);
    REQUIRE(std::equal(wanted.begin(), wanted.end(), out.data()));
  }
}

TEST_CASE("without waits the streams overtake each other, and this would be seen") {
  for (const memories pinned : all_memories) {
    int wrong = 0;
    for (unsigned seed = 0; seed < 3; ++seed) {
      start(seed);
      cpu::machines().ignores_events = true;
      const host_array<float> in(random_elements<float>(250 * 250), pinned.in);
      const host_array<float> out(std::vector<float>(250 * 250), pinned.out);
      tt::emulated_buffer<unsigned char> temp(tt::least_streamed_scratch);
      size_type bytes = tt::least_streamed_scratch;
      (void)tt::streamed_transpose(out.data(), in.data(), 250, 250, temp.data(), bytes);
      wrong += is_transposed(out.data(), in.data(), 250, 250) ? 0 : 1;
    }
    REQUIRE(wrong > 0);
  }
}

TEST_CASE("it starts after what its stream has to do") {
  for (const bool pinned : {false, true}) {
    start(3);
    const host_array<float> in(std::vector<float>(300 * 300), pinned);
    const host_array<float> out(std::vector<float>(300 * 300), pinned);
    tt::emulated_buffer<unsigned char> temp(tt::least_streamed_scratch);
    size_type bytes = tt::least_streamed_scratch;
    cpu::enqueue(nullptr, [&] { std::fill_n(in.data(), 300 * 300, 7.0f); });
    REQUIRE(tt::streamed_transpose(out.data(), in.data(), 300, 300, temp.data(), bytes) ==
            cudaSuccess);
    REQUIRE(std::all_of(out.data(), out.data() + 300 * 300, [](float one) { return one == 7; }));
  }
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
  REQUIRE(bytes == size_type{6} * 34 << 20);

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
  const host_array<unsigned char> pinned(std::vector<unsigned char>(bytes), true);
  tt::streamed_options lent;
  lent.pinned = pinned.data();
  lent.pinned_bytes = bytes - 1;
  REQUIRE(call(out.data(), in.data(), 8, temp.data(), bytes, lent) == refused);
  cpu::machines().pins = false;
  REQUIRE(call(out.data(), in.data(), 8, temp.data(), bytes) == cudaErrorMemoryAllocation);
  REQUIRE(out == std::vector<float>(64, 1.0f));
  REQUIRE(call(nullptr, nullptr, 0, temp.data(), bytes) == cudaSuccess);
}

TEST_CASE("after an error nothing is under way, and every element is old or new") {
  for (const memories pinned : all_memories) {
    for (int good = 0; good < 4; ++good) {
      start(static_cast<unsigned>(good));
      cpu::machines().host_failure_after = good;
      const host_array<float> in(random_elements<float>(300 * 300), pinned.in);
      const host_array<float> out(std::vector<float>(300 * 300, -1.0f), pinned.out);
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
      for (size_type i = 0; i < 300 * 300; ++i) {
        const float wanted = in.data()[i % 300 * 300 + i / 300];
        const bool is_new = std::memcmp(&out.data()[i], &wanted, sizeof(float)) == 0;
        const bool is_old = out.data()[i] == -1.0f;
        REQUIRE((is_new || is_old));
        fresh += is_new ? 1 : 0;
      }
      REQUIRE(fresh * sizeof(float) >= done);
    }
  }
}
