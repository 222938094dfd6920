// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Structures taken apart and put together on the GPU: planes of 2 to 16 members in allocations of their own or equally far
// apart, at every alignment, in numbers around what warps and blocks take. The GPU compares every byte with the definition,
// guards round planes and structures included.

#include <tiletranspose/interleave.cuh>

#include <cstddef>
#include <string>
#include <vector>

#include "support.cuh"

using namespace tt_test;

namespace {

constexpr unsigned char guard = 0xA5;
constexpr std::size_t guard_bytes = 256;

__host__ __device__ unsigned char content(std::size_t byte) {
  unsigned mixed = static_cast<unsigned>(byte ^ byte >> 32) * 2654435761u;
  mixed = (mixed ^ mixed >> 15) * 2246822519u;
  return static_cast<unsigned char>(mixed >> 24);
}

// Byte b of member `member` of structure i is content((i * members + member) * element + b); with one member, byte by byte.
struct expected_bytes {
  std::size_t bytes;
  std::size_t element;
  std::size_t members;
  std::size_t member;
};

// `first` has guards in front and behind.
__global__ void count_wrong_bytes(unsigned* wrong, const unsigned char* first, expected_bytes e) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
       i < e.bytes + 2 * guard_bytes; i += step) {
    const std::size_t at = i - guard_bytes;
    const bool inside = i >= guard_bytes && at < e.bytes;
    const std::size_t from = (at / e.element * e.members + e.member) * e.element + at % e.element;
    const unsigned char right = inside ? content(from) : guard;
    if (*(first - guard_bytes + i) != right) { atomicAdd(wrong, 1u); }
  }
}

__global__ void fill_content(unsigned char* first, std::size_t bytes) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < bytes; i += step) {
    first[i] = content(i);
  }
}

// Memory whose data starts `offset` bytes behind a multiple of 256, between guards.
class guarded {
 public:
  guarded(std::size_t bytes, std::size_t offset)
      : all_(bytes + offset + 2 * guard_bytes), bytes_(bytes), offset_(offset) {
    poison();
  }
  void poison() {
    check_cuda(cudaMemsetAsync(all_.data(), guard, bytes_ + offset_ + 2 * guard_bytes),
               "cudaMemsetAsync");
  }
  unsigned char* data() const {
    return reinterpret_cast<unsigned char*>(all_.data()) + guard_bytes + offset_;
  }

 private:
  device_allocation all_;
  std::size_t bytes_, offset_;
};

class checker {
 public:
  checker() : wrong_(sizeof(unsigned)) {
    check_cuda(cudaMemset(wrong_.data(), 0, sizeof(unsigned)), "cudaMemset");
  }
  void add(const unsigned char* first, expected_bytes expected) {
    count_wrong_bytes<<<512, 256>>>(reinterpret_cast<unsigned*>(wrong_.data()), first, expected);
  }
  unsigned wrong() const {
    unsigned count = 0;
    check_cuda(cudaMemcpy(&count, wrong_.data(), sizeof count, cudaMemcpyDeviceToHost),
               "cudaMemcpy");
    return count;
  }

 private:
  device_allocation wrong_;
};

// Offsets in elements' alignments.
template <class T, std::size_t Planes>
void check(std::size_t n, std::size_t struct_offset, std::size_t plane_offset) {
  INFO("elements of " << sizeof(T) << " bytes, " << Planes << " planes of " << n
                      << " elements, offsets " << struct_offset << ", " << plane_offset);
  const std::size_t plane_bytes = n * sizeof(T);
  const std::size_t struct_bytes = plane_bytes * Planes;
  guarded structs(struct_bytes, struct_offset * alignof(T));
  std::vector<guarded> planes;
  planes.reserve(Planes);
  T* plane[Planes];
  for (std::size_t k = 0; k < Planes; ++k) {
    // Some more in each, so that planes are not equally far apart.
    planes.emplace_back(plane_bytes + 512 * k * k, plane_offset * (k % 5) * alignof(T));
    plane[k] = reinterpret_cast<T*>(planes.back().data());
  }
  fill_content<<<512, 256>>>(structs.data(), struct_bytes);
  checker check;
  REQUIRE(tt::deinterleave(plane, reinterpret_cast<const T*>(structs.data()), n) == cudaSuccess);
  for (std::size_t k = 0; k < Planes; ++k) {
    check.add(planes[k].data(), {plane_bytes, sizeof(T), Planes, k});
  }
  structs.poison();
  REQUIRE(tt::interleave(reinterpret_cast<T*>(structs.data()), plane, n) == cudaSuccess);
  check.add(structs.data(), {struct_bytes, sizeof(T), 1, 0});
  REQUIRE(check.wrong() == 0);
}

// Planes of one allocation, forwards or backwards.
template <class T, std::size_t Planes>
void check_equal(std::size_t n, bool backwards) {
  INFO("elements of " << sizeof(T) << " bytes, " << Planes << " equal planes of " << n);
  const std::size_t plane_bytes = n * sizeof(T);
  const std::size_t step = (plane_bytes + 2 * guard_bytes) / sizeof(T) * sizeof(T) + sizeof(T);
  guarded structs(plane_bytes * Planes, 0);
  guarded all(step * Planes, 0);
  T* plane[Planes];
  for (std::size_t k = 0; k < Planes; ++k) {
    plane[k] = reinterpret_cast<T*>(all.data() + step * (backwards ? Planes - 1 - k : k));
  }
  fill_content<<<512, 256>>>(structs.data(), plane_bytes * Planes);
  checker check;
  REQUIRE(tt::deinterleave(plane, reinterpret_cast<const T*>(structs.data()), n) == cudaSuccess);
  for (std::size_t k = 0; k < Planes; ++k) {
    check.add(reinterpret_cast<unsigned char*>(plane[k]), {plane_bytes, sizeof(T), Planes, k});
  }
  structs.poison();
  REQUIRE(tt::interleave(reinterpret_cast<T*>(structs.data()), plane, n) == cudaSuccess);
  check.add(structs.data(), {plane_bytes * Planes, sizeof(T), 1, 0});
  REQUIRE(check.wrong() == 0);
}

template <class T, std::size_t Planes>
void check_planes(random_source& random) {
  for (const std::size_t n : {1, 33, 255, 2048, 8192}) { check<T, Planes>(n, 0, 0); }
  for (int i = 0; i < 3; ++i) {
    check<T, Planes>(random.between(1, 100000), random.between(0, 3), random.between(0, 3));
  }
  check<T, Planes>(50001, 1, 0);
  check<T, Planes>(50001, 0, 1);
  check_equal<T, Planes>(random.between(1, 50000), false);
  check_equal<T, Planes>(random.between(1, 50000), true);
}
template <class T>
void check_all() {
  require_device();
  random_source random;
  INFO("repeat with --rng-seed " << Catch::getSeed());
  check_planes<T, 2>(random);
  check_planes<T, 3>(random);
  check_planes<T, 4>(random);
  check_planes<T, 7>(random);
  check_planes<T, 16>(random);
}

}  // namespace

TEST_CASE("interleave: 1 byte", "[interleave]") { check_all<unsigned char>(); }
TEST_CASE("interleave: 2 bytes", "[interleave]") { check_all<short>(); }
TEST_CASE("interleave: 3 bytes", "[interleave]") { check_all<bytes<3>>(); }
TEST_CASE("interleave: 4 bytes", "[interleave]") { check_all<float>(); }
TEST_CASE("interleave: 8 bytes", "[interleave]") { check_all<double>(); }
TEST_CASE("interleave: 12 bytes", "[interleave]") { check_all<float_triple>(); }
TEST_CASE("interleave: 32 bytes", "[interleave]") { check_all<aligned_32>(); }

TEST_CASE("interleave: some planes", "[interleave][quick]") {
  require_device();
  check<unsigned char, 3>(3000, 0, 0);
  check<unsigned char, 3>(3000, 1, 1);
  check<short, 7>(3000, 0, 1);
  check<float, 3>(3000, 0, 0);
  check<float, 4>(3000, 1, 1);
  check<aligned_32, 7>(300, 0, 0);
  check_equal<float, 3>(1000, true);
}

TEST_CASE("interleave: more than 2^32 structures", "[interleave][large][elsewhere]") {
  require_device();
  constexpr std::size_t n = (std::size_t{1} << 32) + 1027;
  require_memory(6 * n + (std::size_t{1} << 26));
  check<unsigned char, 3>(n, 0, 1);
}
