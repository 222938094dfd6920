// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The bank conflicts of every kernel, counted on the CPU: none where the compiler proves none, and elsewhere no more
// than README.md says under "Limits". What a table does not name has to be free of conflicts.

#include "cuda_on_cpu.hpp"
#include "elements.hpp"

#include <tiletranspose/tiletranspose.cuh>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

namespace {

struct shape {
  std::size_t nx, ny, batch;
};

// What accesses of a kind and width may meet.
struct limit {
  enum kind_type { loads, stores } kind;
  int bytes;
  int ways;
};
using limits = std::vector<limit>;

int ways_of(const limits& allowed, const tt::access_report& access) {
  for (const limit& one : allowed) {
    if (one.kind == (access.is_store() ? limit::stores : limit::loads) &&
        one.bytes == access.bytes) {
      return one.ways;
    }
  }
  return 1;
}

void expect(const std::string& what, const limits& allowed) {
  const cpu::device& device = cpu::this_device();
  INFO(what << "; repeat with --rng-seed " << Catch::getSeed() << '\n' << device.last.table());
  CHECK(device.launches > 0);
  CHECK(device.faults == 0);
  for (const auto& [place, access] : device.shared) {
    INFO(place << " bytes");
    CHECK(access.worst_ways <= ways_of(allowed, access));
  }
}

std::string name_of(shape s) {
  return std::to_string(s.nx) + " x " + std::to_string(s.ny) + " x " + std::to_string(s.batch);
}

template <class T>
std::string name_of(const char* call) {
  return std::string(call) + ", " + std::to_string(sizeof(T)) + " bytes aligned to " +
         std::to_string(alignof(T)) + ": ";
}

// A batch, its first elements off a multiple of 256 bytes.
template <class T>
void check(shape s, std::size_t in_offset, std::size_t out_offset, const limits& allowed,
           tt::symmetry how = tt::symmetry::transpose) {
  const std::size_t size = s.nx * s.ny * s.batch;
  tt::emulated_buffer<T> in(size, in_offset);
  tt::emulated_buffer<T> out(size, out_offset);
  fill(in);
  cpu::this_device() = {};
  cpu::this_device().options.knows(static_cast<const T*>(in.data()), size).knows(out.data(), size);
  CHECK(tt::reorient_batched(out.data(), static_cast<const T*>(in.data()), s.nx, s.ny, s.batch,
                             how) == cudaSuccess);
  expect(name_of<T>("reorient_batched") + name_of(s) + ", off by " + std::to_string(in_offset) +
             " and " + std::to_string(out_offset) + ", symmetry " +
             std::to_string(static_cast<int>(how)),
         allowed);
}

std::size_t between(std::size_t low, std::size_t high) {
  static std::mt19937_64 random(Catch::getSeed());
  return low + random() % (high - low + 1);
}

// Large matrices whose rows start anywhere, and whole ones.
template <class T>
void check_tiles(const limits& allowed) {
  for (int i = 0; i < 3; ++i) {
    check<T>({between(130, 270), between(130, 270), 1}, between(0, 9), between(0, 9), allowed);
  }
  check<T>({272, 528, 1}, 0, 0, allowed);
}

constexpr auto loads = limit::loads;
constexpr auto stores = limit::stores;

}  // namespace

TEST_CASE("banks: tiles of words do not conflict") {
  check_tiles<element<4>>({});
  check_tiles<element<8>>({});
  check_tiles<element<16>>({});
  check_tiles<element<12, 4>>({});
  check_tiles<element<24, 8>>({});
  check_tiles<element<40, 8>>({});
}

TEST_CASE("banks: tiles of small elements read a fifth word at up to four ways") {
  // The ends of rows, unit by unit, are stored at up to four ways, too.
  check_tiles<element<1>>({{loads, 4, 4}, {stores, 1, 4}});
  check_tiles<element<2>>({{loads, 4, 4}});
  check_tiles<element<3, 1>>({{loads, 4, 4}, {stores, 1, 4}});
  check_tiles<element<6, 2>>({{loads, 4, 4}, {stores, 2, 4}});
}

TEST_CASE("banks: rows of parts that are no whole warps meet two ways") {
  check_tiles<element<20, 4>>({{loads, 4, 2}});
  check_tiles<element<28, 4>>({{loads, 4, 2}, {stores, 4, 2}});
}

TEST_CASE("banks: spliced elements are staged without conflict and read at up to five ways") {
  check_tiles<element<9, 1>>({{loads, 4, 5}, {loads, 1, 2}});
  check_tiles<element<17, 1>>({{loads, 4, 5}, {loads, 1, 2}});
  check_tiles<element<58, 2>>({{loads, 4, 5}, {loads, 1, 2}});
}

TEST_CASE("banks: strips of turned boxes do not conflict") {
  // Only where rows of chunks are followed by a pad do copies of 16 bytes meet, two ways.
  const limits pads = {{loads, 16, 2}, {stores, 16, 2}};
  check<element<1>>({64, 64, 5}, 0, 0, pads);
  check<element<1>>({128, 128, 3}, 0, 0, pads);
  check<element<1>>({256, 16, 9}, 0, 0, pads);
}
