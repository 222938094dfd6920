// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Structures taken apart and put together on the CPU, against their definition: numbers of structures around what a warp
// takes, planes at addresses of their own and planes of one matrix, every alignment, and all that is refused.

#include "cuda_on_cpu.hpp"

#include <tiletranspose/explain.cuh>
#include <tiletranspose/interleave.cuh>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using tt::size_type;

constexpr unsigned char guard = 0xA5;
constexpr std::size_t room = 256;  // bytes of guard in front of all data, and behind

template <int Bytes>
struct element {
  unsigned char bytes[Bytes];
};
struct alignas(4) triple {
  unsigned char bytes[12];
};
struct alignas(16) large {
  unsigned char bytes[64];
};

// Guards round data.
struct memory {
  tt::emulated_buffer<unsigned char> bytes;
  std::size_t offset;
  memory(std::size_t size, std::size_t offset_) : bytes(size + 2 * room), offset(room + offset_) {
    std::memset(bytes.data(), guard, bytes.size());
  }
  unsigned char* data() { return bytes.data() + offset; }
  void fill(std::size_t size) {
    static std::mt19937 generator(7);
    for (std::size_t i = 0; i < size; ++i) { data()[i] = static_cast<unsigned char>(generator()); }
  }
  bool is_guarded(std::size_t size) {
    const auto is_guard = [](unsigned char byte) { return byte == guard; };
    return std::all_of(bytes.data(), data(), is_guard) &&
           std::all_of(data() + size, bytes.data() + bytes.size(), is_guard);
  }
};

// Where the planes of a case lie.
enum class places { equal, backwards, apart };

// By the kernel of planes, wherever they lie; the calls move those that lie equally far apart, as two always do, by others.
template <bool ToPlanes, class T, int Planes>
cudaError_t move_apart(T* structs, T* const (&planes)[Planes], size_type n) {
  return tt::detail::launch_planes<ToPlanes, sizeof(T), alignof(T), Planes>(
      tt::detail::make_planes<ToPlanes, T>(structs, planes, n), nullptr);
}

template <class T, int Planes>
void check(size_type n, places where, std::size_t struct_offset, std::size_t plane_offset) {
  INFO(sizeof(T) << " bytes, " << Planes << " planes of " << n << " elements, offsets "
                 << struct_offset << " and " << plane_offset << ", places "
                 << static_cast<int>(where));
  const std::size_t plane_bytes = n * sizeof(T);
  const std::size_t gap = 5 * sizeof(T);
  memory structs(plane_bytes * Planes, struct_offset * alignof(T));
  std::vector<memory> planes;
  planes.reserve(Planes);
  T* plane[Planes];
  if (where == places::apart) {
    for (std::size_t k = 0; k < Planes; ++k) {
      planes.emplace_back(plane_bytes, (plane_offset + k * plane_offset / 2) % 5 * alignof(T));
      plane[k] = reinterpret_cast<T*>(planes.back().data());
    }
  } else {
    planes.emplace_back((plane_bytes + gap) * Planes, plane_offset * alignof(T));
    for (std::size_t k = 0; k < Planes; ++k) {
      const std::size_t at = where == places::equal ? k : Planes - 1 - k;
      plane[k] = reinterpret_cast<T*>(planes.back().data() + at * (plane_bytes + gap));
    }
  }
  structs.fill(plane_bytes * Planes);
  const std::vector<unsigned char> before(structs.data(), structs.data() + plane_bytes * Planes);
  const auto member = [&](size_type i, std::size_t k) {
    return &before[(i * Planes + k) * sizeof(T)];
  };

  // What is outside may not be read, nor what is read be written.
  T* const all = reinterpret_cast<T*>(structs.data());
  cpu::this_device() = {};
  cpu::this_device().options.knows(static_cast<const T*>(all), n * Planes);
  for (T* const one : plane) { cpu::this_device().options.knows(one, n); }
  REQUIRE((where == places::apart
               ? move_apart<true>(all, plane, n)
               : tt::deinterleave(plane, static_cast<const T*>(all), n)) == cudaSuccess);
  REQUIRE(cpu::this_device().faults == 0);
  bool right = true;
  for (std::size_t k = 0; k < Planes; ++k) {
    for (size_type i = 0; i < n; ++i) {
      right = right && std::memcmp(&plane[k][i], member(i, k), sizeof(T)) == 0;
    }
  }
  REQUIRE(right);
  for (memory& one : planes) {
    if (where == places::apart) { REQUIRE(one.is_guarded(plane_bytes)); }
  }

  std::memset(structs.data(), 0, plane_bytes * Planes);
  cpu::this_device() = {};
  cpu::this_device().options.knows(all, n * Planes);
  for (const T* const one : plane) { cpu::this_device().options.knows(one, n); }
  REQUIRE((where == places::apart ? move_apart<false>(all, plane, n)
                                  : tt::interleave(all, plane, n)) == cudaSuccess);
  REQUIRE(cpu::this_device().faults == 0);
  REQUIRE(std::equal(before.begin(), before.end(), structs.data()));
  REQUIRE(structs.is_guarded(plane_bytes * Planes));
}

template <class T, int Planes>
void check_planes() {
  constexpr size_type whole =
      tt::detail::plane_shape<sizeof(T), alignof(T), Planes, true>::warp_structures;
  for (const size_type n : {size_type{1}, size_type{31}, whole, 2 * whole + 3, 3 * whole - 1}) {
    check<T, Planes>(n, places::apart, 0, 0);
  }
  check<T, Planes>(3 * whole + 5, places::apart, 1, 0);
  check<T, Planes>(3 * whole + 5, places::apart, 0, 3);
  check<T, Planes>(2 * whole + 4, places::apart, 3, 1);
  check<T, Planes>(2 * whole, places::apart, 2, 2);
  check<T, Planes>(whole + 3, places::equal, 1, 1);
  check<T, Planes>(whole + 3, places::backwards, 0, 0);
}

template <class T>
void check_all() {
  check_planes<T, 2>();
  check_planes<T, 3>();
  check_planes<T, 4>();
  check_planes<T, 7>();
  check_planes<T, 16>();
}

}  // namespace

TEST_CASE("interleave: 1 and 2 bytes") {
  check_all<unsigned char>();
  check_all<unsigned short>();
}
TEST_CASE("interleave: 4, 8 and 16 bytes") {
  check_all<float>();
  check_all<double>();
  check_planes<large, 2>();
  check_planes<large, 16>();
}
TEST_CASE("interleave: packed elements and structures") {
  check_all<element<3>>();
  check_planes<element<4>, 3>();
  check_planes<element<5>, 16>();
  check_planes<element<10>, 9>();
  check_planes<triple, 3>();
  check_planes<triple, 16>();
  check_planes<element<63>, 2>();
}

TEST_CASE("interleave: a warp writes whole lines of planes and structures") {
  constexpr size_type n = 8 * 1024;
  memory structs(n * 3 * sizeof(float), 0);
  memory plane(3 * (n * sizeof(float) + 1024), 0);
  float* const first = reinterpret_cast<float*>(plane.data());
  float* const planes[] = {first, first + 2 * n + 64, first + n + 32};
  cpu::this_device() = {};
  REQUIRE(tt::deinterleave(planes, reinterpret_cast<const float*>(structs.data()), n) ==
          cudaSuccess);
  const tt::emulation_report& report = cpu::this_device().last;
  CHECK(report.global_loads().total_bytes == n * 12);
  CHECK(report.global_stores().total_bytes == n * 12);
  CHECK(report.global_loads().sectors == n * 12 / 32);
  CHECK(report.global_stores().sectors == n * 12 / 32);
}

TEST_CASE("interleave: launches are as they are explained") {
  const auto same_launches = [](const tt::explanation& explained) {
    size_type blocks = 0;
    for (const cpu::launch_shape& one : cpu::this_device().seen) {
      blocks += size_type{one.grid.x} * one.grid.y * one.grid.z;
      CHECK(explained.threads == static_cast<int>(one.block.x));
    }
    CHECK(explained.launches == cpu::this_device().seen.size());
    CHECK(explained.blocks == blocks);
  };
  const auto at = [](int bit, std::size_t offset = 0) {
    return reinterpret_cast<triple*>((std::uintptr_t{1} << bit) + offset);
  };
  triple* const structs = at(50);
  for (const size_type n : {1u, 1000u, 1'000'000u}) {
    INFO(n << " structures");
    for (triple* const last : {at(47), at(49), at(49, 4)}) {
      triple* const planes[] = {at(40), at(46), last};
      triple* const many[] = {at(40), at(41), at(42), at(43), at(44), at(45), at(46), last,
                              at(48), at(39), at(38), at(37), at(36), at(51), at(52), at(53)};
      cpu::this_device() = {};
      cpu::this_device().runs = false;
      REQUIRE(tt::deinterleave(planes, structs, n) == cudaSuccess);
      same_launches(tt::explain_deinterleave(planes, structs, n));
      cpu::this_device().seen.clear();
      REQUIRE(tt::interleave(structs, many, n) == cudaSuccess);
      same_launches(tt::explain_interleave(structs, many, n));
    }
  }
}

namespace {
constexpr size_type n = 50;  // of what is refused
}

TEST_CASE("interleave: what is refused leaves the output alone") {
  const cudaError_t refused = cudaErrorInvalidValue;
  memory all(16 * n, 0);
  float* const floats = reinterpret_cast<float*>(all.data());
  float* const x = floats;
  float* const y = floats + n;
  const float* const in = floats + 2 * n;
  cpu::this_device() = {};
  const auto apart = [&](float* a, float* b, const float* structs, size_type count = n) {
    float* const planes[] = {a, b};
    return tt::deinterleave(planes, structs, count);
  };
  const auto together = [&](float* structs, const float* a, const float* b, size_type count = n) {
    const float* const planes[] = {a, b};
    return tt::interleave(structs, planes, count);
  };
  float* const none = nullptr;
  const auto off = [](const float* pointer) {
    return reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(pointer) + 1);
  };
  CHECK(apart(x, none, in) == refused);
  CHECK(apart(none, y, in) == refused);
  CHECK(apart(x, y, none) == refused);
  CHECK(apart(x, off(y), in) == refused);
  CHECK(apart(x, y, off(in)) == refused);
  CHECK(apart(x, y, y + n - 1) == refused);
  CHECK(apart(x, x + n - 1, in) == refused);
  CHECK(apart(x, x, in) == refused);
  CHECK(apart(x, y, in, ~size_type{0} / 16) == refused);
  CHECK(together(none, x, y) == refused);
  CHECK(together(floats + 2 * n, x, none) == refused);
  CHECK(together(floats + 2 * n, x, off(y)) == refused);
  CHECK(together(y + n - 1, x, y) == refused);
  CHECK(together(floats + 2 * n, x, y, size_type{1} << 62) == refused);
  CHECK(cpu::this_device().launches == 0);
  CHECK(all.is_guarded(0));

  CHECK(apart(none, none, none, 0) == cudaSuccess);
  CHECK(together(none, none, none, 0) == cudaSuccess);
  CHECK(cpu::this_device().launches == 0);
  // What is read may be the same.
  CHECK(together(floats + 2 * n, x, x) == cudaSuccess);
  CHECK(together(floats + 2 * n, x, x + 1) == cudaSuccess);
}

TEST_CASE("interleave: more structures than one grid takes") {
  cpu::this_device() = {};
  cpu::this_device().runs = false;
  const auto at = [](int bit) {
    return reinterpret_cast<unsigned char*>(std::uintptr_t{1} << bit);
  };
  unsigned char* const planes[] = {at(50), at(52), at(53)};
  REQUIRE(tt::deinterleave(planes, static_cast<const unsigned char*>(at(58)), size_type{1} << 42) ==
          cudaSuccess);
  size_type blocks = 0;
  for (const cpu::launch_shape& one : cpu::this_device().seen) { blocks += one.grid.x; }
  using shape = tt::detail::plane_shape<1, 1, 3, true>;
  CHECK(cpu::this_device().launches == 3);
  CHECK(blocks >= (size_type{1} << 42) / (8 * shape::warp_structures));
}
