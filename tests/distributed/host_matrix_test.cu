// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrices in host memory through the GPU: pageable and pinned ones, by way of pinned memory that is lent or not, in more
// blocks than are under way at once.

#include <cstring>
#include <memory>

#include "../gpu/support.cuh"

#include <tiletranspose/streamed.cuh>

namespace {

using namespace tt_test;

enum class host_memory { pageable, pinned, lent, pinned_in, pinned_out };

class pinned_allocation {
 public:
  explicit pinned_allocation(std::size_t size) {
    void* memory = nullptr;
    check_cuda(cudaMallocHost(&memory, size), "cudaMallocHost");
    memory_.reset(static_cast<std::byte*>(memory));
  }
  std::byte* data() const { return memory_.get(); }

 private:
  struct release {
    void operator()(std::byte* memory) const { (void)cudaFreeHost(memory); }
  };
  std::unique_ptr<std::byte, release> memory_;
};

template <class T>
void check(std::size_t nx, std::size_t ny, host_memory kind, std::size_t scratch,
           std::size_t shift = 0) {
  INFO(nx << " x " << ny << " elements of " << sizeof(T) << ", scratch " << scratch << ", kind "
          << static_cast<int>(kind));
  random_source random;
  const byte_vector content = random.fill(nx * ny * sizeof(T));
  const std::size_t bytes = content.size();
  byte_vector in = content;
  byte_vector out(bytes + 2 * guard_bytes, std::byte{0x5A});
  const bool pins_in = kind == host_memory::pinned || kind == host_memory::pinned_in;
  const bool pins_out = kind == host_memory::pinned || kind == host_memory::pinned_out;
  const pinned_allocation pinned_in(bytes);
  const pinned_allocation pinned_out(out.size());
  std::memcpy(pinned_in.data(), in.data(), bytes);
  std::memcpy(pinned_out.data(), out.data(), out.size());
  const device_allocation temp(scratch + shift);
  const pinned_allocation lent(kind == host_memory::lent ? scratch : 1);
  tt::streamed_options options;
  if (kind == host_memory::lent) {
    options.pinned = lent.data();
    options.pinned_bytes = scratch;
  }
  std::size_t done = 0;
  options.user = &done;
  options.progress = [](void* user, std::size_t now, std::size_t) {
    *static_cast<std::size_t*>(user) = now;
  };
  const stream own;
  const std::byte* const from = pins_in ? pinned_in.data() : in.data();
  std::byte* const to = pins_out ? pinned_out.data() : out.data();
  REQUIRE(tt::streamed_transpose(reinterpret_cast<T*>(to + guard_bytes),
                                 reinterpret_cast<const T*>(from), nx, ny, temp.data() + shift,
                                 scratch, own, options) == cudaSuccess);
  if (pins_in) { std::memcpy(in.data(), pinned_in.data(), bytes); }
  if (pins_out) { std::memcpy(out.data(), pinned_out.data(), out.size()); }
  REQUIRE(done == bytes);
  REQUIRE((in == content));
  byte_vector wanted(guard_bytes, std::byte{0x5A});
  const byte_vector middle = transposed({in.data(), ny, nx, nx, sizeof(T)});
  wanted.insert(wanted.end(), middle.begin(), middle.end());
  wanted.resize(out.size(), std::byte{0x5A});
  REQUIRE((out == wanted));
}

template <class T>
void check_shapes() {
  for (const host_memory kind : {host_memory::pageable, host_memory::pinned, host_memory::lent,
                                 host_memory::pinned_in, host_memory::pinned_out}) {
    check<T>(1, 1, kind, tt::least_streamed_scratch);
    check<T>(1021, 517, kind, tt::least_streamed_scratch);
    check<T>(1021, 517, kind, tt::least_streamed_scratch, alignof(T));  // no multiple of 16
    check<T>(3, 100003, kind, tt::least_streamed_scratch);
    check<T>(100003, 3, kind, tt::least_streamed_scratch + 12345);
    check<T>(2049, 1500, kind, std::size_t{5} << 20);
  }
}

}  // namespace

TEST_CASE("a host matrix goes through the GPU", "[quick]") {
  require_device();
  check_shapes<unsigned char>();
  check_shapes<float>();
  check_shapes<float_triple>();
  check_shapes<aligned_32>();
}

TEST_CASE("the amount of scratch that serves well") {
  require_device();
  std::size_t scratch = 0;
  REQUIRE(tt::streamed_transpose<float>(nullptr, nullptr, 5000, 7001, nullptr, scratch) ==
          cudaSuccess);
  require_memory(scratch);
  check<float>(5000, 7001, host_memory::pinned, scratch);
  check<float>(5000, 7001, host_memory::lent, scratch);
}

TEST_CASE("it starts after what its stream has to do", "[quick]") {
  require_device();
  constexpr std::size_t side = 1500;
  const pinned_allocation in(side * side);
  const pinned_allocation out(side * side);
  const device_allocation source(side * side);
  const device_allocation temp(tt::least_streamed_scratch);
  std::memset(in.data(), 1, side * side);
  const stream own;
  check_cuda(cudaMemsetAsync(source.data(), 7, side * side, own), "cudaMemsetAsync");
  check_cuda(cudaMemcpyAsync(in.data(), source.data(), side * side, cudaMemcpyDeviceToHost, own),
             "cudaMemcpyAsync");
  std::size_t scratch = tt::least_streamed_scratch;
  REQUIRE(tt::streamed_transpose(reinterpret_cast<unsigned char*>(out.data()),
                                 reinterpret_cast<const unsigned char*>(in.data()), side, side,
                                 temp.data(), scratch, own) == cudaSuccess);
  REQUIRE(std::all_of(out.data(), out.data() + side * side,
                      [](std::byte byte) { return byte == std::byte{7}; }));
}
