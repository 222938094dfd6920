// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared-memory descriptions: counted by the compiler where lengths are known, on the CPU elsewhere.

#undef NDEBUG  // a carve that does not fit is stopped in debug builds
#include <sys/wait.h>
#include <unistd.h>

#include <tiletranspose/smem.cuh>
#include <tiletranspose/tile.cuh>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using tile_type = tt::shared_tile<float, tt::padded_layout<float, 5, 7, 1>>;
constexpr std::size_t tile_bytes = sizeof(tile_type::storage);
static_assert(tile_bytes == 160);

constexpr std::size_t too_many = std::numeric_limits<std::size_t>::max();

// ---------------------------------------------------- what the compiler counts

constexpr tt::smem_layout fixed{tt::smem_array<char, 3>(), tt::smem_array<double, 2>(),
                                tt::smem_tile<tile_type>(), tt::smem_array<short, 1>()};
static_assert(fixed.alignment == 16);
static_assert(fixed.offset<0>() == 0);
static_assert(fixed.offset<1>() == 8);
static_assert(fixed.offset<2>() == 32);
static_assert(fixed.offset<3>() == 32 + tile_bytes);
static_assert(fixed.bytes() == 32 + tile_bytes + 2);

// More than 16 bytes cannot be counted on: 64 - 16 to spare.
constexpr tt::smem_layout aligned{tt::smem_array<int>(5), tt::smem_array<float>(1).aligned<64>()};
static_assert(aligned.alignment == 64);
static_assert(aligned.offset<1>() == 64);
static_assert(aligned.bytes() == 64 + 4 + 48);
static_assert(aligned.part<0>().length() == 5);

static_assert(tt::smem_layout{tt::smem_array<char>(0)}.bytes() == 0);
static_assert(tt::smem_layout{tt::smem_array<char>(7)}.alignment == 1);
static_assert(tt::smem_layout{tt::smem_barrier<char, 3>()}.alignment == 8);
static_assert(tt::smem_layout{tt::smem_tiles<tile_type, 3>()}.bytes() == 3 * tile_bytes);
static_assert(tt::smem_layout{tt::smem_tiles<tile_type, 3>().aligned<128>()}.bytes() ==
              3 * 256 + 112);
static_assert(tt::smem_layout{tt::smem_tile<tile_type>().aligned<1024>()}.bytes() ==
              tile_bytes + 1008);

// Where all lengths are known the type says everything.
using known = tt::smem_layout<tt::smem_array<char, 3>, tt::smem_tile<tile_type>>;
static_assert(known().bytes() == 16 + tile_bytes && known().offset<1>() == 16);
static_assert(std::is_default_constructible_v<known>);
static_assert(!std::is_default_constructible_v<decltype(aligned)>);

static_assert(std::is_trivially_copyable_v<decltype(fixed)>);
static_assert(std::is_trivially_copyable_v<decltype(aligned)>);

// ---------------------------------------------------- lengths that are too large

constexpr std::size_t most = 0x7fffffff;
static_assert(tt::smem_layout{tt::smem_array<char>(most)}.bytes() == most);
static_assert(tt::smem_layout{tt::smem_array<char>(most + 1)}.bytes() == too_many);
static_assert(tt::smem_layout{tt::smem_array<double>(most / 8)}.bytes() == most / 8 * 8);
static_assert(tt::smem_layout{tt::smem_array<double>(most / 8 + 1)}.bytes() == too_many);
static_assert(tt::smem_layout{tt::smem_array<double>(too_many)}.bytes() == too_many);
// The product and the sums wrap round to small numbers, in 64 bits and in 32.
static_assert(tt::smem_layout{tt::smem_array<double>((std::size_t{1} << 61) + 1)}.bytes() ==
              too_many);
static_assert(tt::smem_layout{tt::smem_array<int>((std::size_t{1} << 30) + 1)}.bytes() == too_many);
static_assert(tt::smem_layout{tt::smem_array<char>(most), tt::smem_array<char>(most),
                              tt::smem_array<int>(1)}
                  .bytes() == too_many);
static_assert(tt::smem_layout{tt::smem_array<char>(most - 4), tt::smem_array<char>(4)}.bytes() ==
              most);
static_assert(tt::smem_layout{tt::smem_array<char>(most - 4), tt::smem_array<char>(5)}.bytes() ==
              too_many);
static_assert(tt::smem_layout{tt::smem_array<char>(most - 4), tt::smem_array<int>(1)}.bytes() ==
              too_many);
static_assert(tt::smem_layout{tt::smem_array<char>(most - 100).aligned<1024>()}.bytes() ==
              too_many);
static_assert(tt::smem_layout{tt::smem_array<char>(static_cast<std::size_t>(-1)),
                              tt::smem_array<char>(1)}
                  .bytes() == too_many);

}  // namespace

TEST_CASE("smem: a carve hands out aligned parts in order, without overlap", "[smem]") {
  std::mt19937_64 engine{Catch::getSeed()};
  INFO("--rng-seed " << Catch::getSeed());
  std::vector<unsigned char> memory(1 << 16);
  for (int round = 0; round < 200; ++round) {
    const auto length = [&] { return engine() % 100; };
    const tt::smem_layout smem{
        tt::smem_array<char>(length()), tt::smem_array<double>(length()),
        tt::smem_array<short, 13>(),    tt::smem_array<char>(length()).aligned<256>(),
        tt::smem_tile<tile_type>(),     tt::smem_array<float>(length()).aligned<32>()};
    // Any start that CUDA might give.
    auto start = reinterpret_cast<std::uintptr_t>(memory.data());
    start = (start + 255) / 256 * 256 + 16 * (engine() % 16);
    auto* const begin = reinterpret_cast<unsigned char*>(start);
    auto [c, d, s, a, tile, f] = smem.carve(tt::smem_region{begin, smem.bytes()});
    static_assert(std::is_same_v<decltype(c), char*>);
    static_assert(std::is_same_v<decltype(d), double*>);
    static_assert(std::is_same_v<decltype(s), short*>);
    static_assert(std::is_same_v<decltype(tile), tile_type>);
    const auto at = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
    REQUIRE(at(c) >= start);
    REQUIRE(at(c) % 256 == 0);
    REQUIRE(at(d) % alignof(double) == 0);
    REQUIRE(at(s) % alignof(short) == 0);
    REQUIRE(at(a) % 256 == 0);
    REQUIRE(at(tile.address(0, 0)) % 16 == 0);
    REQUIRE(at(f) % 32 == 0);
    REQUIRE(at(d) >= at(c + smem.part<0>().length()));
    REQUIRE(at(s) >= at(d + smem.part<1>().length()));
    REQUIRE(at(a) >= at(s + 13));
    REQUIRE(at(tile.address(0, 0)) >= at(a + smem.part<3>().length()));
    REQUIRE(at(f) >= at(tile.address(0, 0)) + tile_bytes);
    REQUIRE(at(f + smem.part<5>().length()) <= start + smem.bytes());
    // No more than the gaps that alignment asks for.
    REQUIRE(at(d) - at(c + smem.part<0>().length()) < 8);
    REQUIRE(at(s) == at(d + smem.part<1>().length()));
    REQUIRE(at(d) - at(c) == smem.offset<1>());
    REQUIRE(at(f) - at(c) == smem.offset<5>());
  }
}

TEST_CASE("smem: tiles of one kind lie a multiple of their alignment apart", "[smem]") {
  alignas(128) unsigned char memory[2048];
  auto [plain] = tt::smem_layout{tt::smem_tiles<tile_type, 3>()}.carve(memory);
  CHECK(plain[2].address(0, 0) - plain[0].address(0, 0) == 2 * tile_bytes);
  auto [apart] = tt::smem_layout{tt::smem_tiles<tile_type, 3>().aligned<128>()}.carve(memory + 16);
  CHECK(apart[0].address(0, 0) == memory + 128);
  CHECK(apart[1].address(0, 0) == memory + 128 + 256);
  apart[1].set(4, 6, 2.5f);
  CHECK(apart[1].get(4, 6) == 2.5f);
}

TEST_CASE("smem: a carve that does not fit stops a debug build with a message", "[smem]") {
  int channel[2];
  REQUIRE(pipe(channel) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);  // not Catch2's
    dup2(channel[1], STDERR_FILENO);
    unsigned char memory[64];
    const tt::smem_layout smem{tt::smem_array<char>(64)};
    static_cast<void>(smem.carve(tt::smem_region{memory, 64}));
    static_cast<void>(smem.carve(tt::smem_region{memory, 63}));
    _exit(0);
  }
  close(channel[1]);
  std::string message;
  char buffer[512];
  for (ssize_t size; (size = read(channel[0], buffer, sizeof buffer)) > 0;) {
    message.append(buffer, static_cast<std::size_t>(size));
  }
  close(channel[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  INFO(message);
  CHECK(WIFSIGNALED(status));
  CHECK(message.find("tt: smem_layout::carve needs more dynamic shared memory") != message.npos);
}
