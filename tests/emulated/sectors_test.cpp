// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What tt::explain expects of memory, beside what the emulator counts: sectors differ by less than a tenth, and no
// request has more conflict ways than are said to be proved or tested.

#include "cuda_on_cpu.hpp"
#include "elements.hpp"

#include <tiletranspose/explain.cuh>
#include <tiletranspose/transpose.cuh>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstring>
#include <string>

namespace {

/// Compiled twice: as users' calls run, and with tuning rows by which no work is little.
constexpr bool little = tt::detail::has_little_work(1, 1, true);

/// A batch of matrices or, with `gap` elements between the rows of both sides, one. Buffers start `offset` elements
/// behind a multiple of 256 bytes.
struct shape {
  std::size_t nx, ny, batch = 1, gap = 0, offset = 0;
};

/// Of the widest accesses to shared memory of a kind: narrower ones move the ends of rows.
int worst_ways(bool stores) {
  int bytes = 0;
  int ways = 0;
  for (const auto& [place, access] : cpu::this_device().shared) {
    if (access.is_store() != stores || access.bytes < bytes) { continue; }
    ways = access.bytes > bytes ? access.worst_ways : std::max(ways, access.worst_ways);
    bytes = access.bytes;
  }
  return ways;
}

enum class said { nothing, writes, both };

template <class T>
void check(const char* mover, shape s, said what = said::both) {
  tt::emulated_buffer<T> in((s.nx + s.gap) * s.ny * s.batch, s.offset);
  tt::emulated_buffer<T> out((s.ny + s.gap) * s.nx * s.batch, s.offset);
  fill(in);
  const T* const from = in.data();
  cpu::this_device() = {};
  cpu::this_device().options.knows(from, in.size()).knows(out.data(), out.size());
  const tt::matrix_view<const T> rows{from, s.ny, s.nx, s.nx + s.gap};
  const tt::matrix_view<T> columns{out.data(), s.nx, s.ny, s.ny + s.gap};
  const bool one = s.batch == 1;
  const tt::explanation explained =
      one ? tt::explain(columns, rows) : tt::explain(out.data(), from, s.nx, s.ny, s.batch);
  REQUIRE((one ? tt::transpose(columns, rows)
               : tt::transpose_batched(out.data(), from, s.nx, s.ny, s.batch)) == cudaSuccess);

  const cpu::device& device = cpu::this_device();
  const tt::explained_memory& memory = explained.memory;
  INFO(sizeof(T) << " bytes, gap " << s.gap << ", offset " << s.offset
                 << "; repeat with --rng-seed " << Catch::getSeed() << '\n'
                 << tt::to_string(explained) << device.last.table());
  CHECK(device.faults == 0);
  REQUIRE(device.launches == 1);
  CHECK(std::string(explained.mover) == mover);
  const double filled = static_cast<double>(s.nx * s.ny * s.batch * sizeof(T)) / tt::sector_bytes;
  const auto read = static_cast<double>(device.last.global_loads().sectors);
  const auto written = static_cast<double>(device.last.global_stores().sectors);
  CHECK((memory.sectors_read > 0) == (what == said::both));
  CHECK((memory.sectors_written > 0) == (what != said::nothing));
  if (memory.sectors_read > 0) {
    CHECK(memory.sectors_read * filled == Catch::Approx(read).epsilon(0.1));
  }
  if (memory.sectors_written > 0) {
    CHECK(memory.sectors_written * filled == Catch::Approx(written).epsilon(0.1));
  }
  if (memory.bound == tt::explained_bound::proved || memory.bound == tt::explained_bound::tested) {
    CHECK(worst_ways(true) <= memory.fill_ways);
    CHECK(worst_ways(false) <= memory.drain_ways);
  }
}

// Whole accesses, rows that start anywhere and follow each other, and rows with gaps.
template <class T>
void check_tiles() {
  check<T>("tile", {512, 512});
  check<T>("tile", {528, 272});
  check<T>("tile", {2001, 397, 1, 0, 1});
  check<T>("tile", {2501, 397, 1, 3, 1});
}

}  // namespace

TEST_CASE("sectors: tiles") {
  if constexpr (!little) {
    check_tiles<element<1>>();
    check_tiles<element<2>>();
    check_tiles<element<4>>();
    check_tiles<element<12, 4>>();
    // The ends of short rows with gaps are loaded one by one.
    check<element<1>>("tile", {131, 1500, 1, 3}, said::writes);
    check<element<12, 4>>("tile", {131, 150, 1, 3});
  }
}

TEST_CASE("sectors: panels") {
  if constexpr (!little) {
    check<element<1>>("vectorised panel", {32, 8192});
    check<element<1>>("vectorised panel", {64, 64, 40});
    check<element<4>>("vectorised panel", {32, 32, 100});
    check<element<1>>("word-shifted panel", {48, 8191});
    check<element<1>>("gathered panel", {33, 120001});
    check<element<1>>("word-shifted panel", {8191, 33});
    check<element<1>>("word-shifted panel", {33, 31, 100});
    check<element<4>>("gathered panel", {7, 20000, 1, 0, 1});
    check<element<4>>("gathered panel", {33, 31, 100});
    check<element<4>>("gathered panel", {40000, 4, 1, 0, 1});
    check<element<9, 1>>("gathered panel", {33, 31, 100}, said::nothing);
    check<element<9, 1>>("gathered panel", {512, 512}, said::nothing);
    check<element<12, 4>>("gathered panel", {7, 20000}, said::nothing);
    check<element<16>>("gathered panel", {12, 20000});
  }
}

TEST_CASE("sectors: little work") {
  if constexpr (little) {
    const auto check_sizes = [](auto element_of_size) {
      using type = decltype(element_of_size);
      check<type>("little work by tiles", {45, 61});
      check<type>("little work by tiles", {96, 65, 1, 0, 3});
      check<type>("little work by tiles", {45, 61, 1, 3, 1});
      check<type>("little work by tiles", {45, 31, 30});
    };
    check_sizes(element<1>{});
    check_sizes(element<4>{});
    check_sizes(element<9, 1>{});
    check_sizes(element<12, 4>{});
    check<element<4>>("tile", {256, 256});
  }
}
