// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is written in tt::transpose<T, TileDim, BlockRows, Padding> is what runs: so many threads a block, tiles of
// that side, rows of shared memory that far apart. Results alone could not tell. Compiled twice: blocks take one tile
// or, with the tuning rows of large_work.hpp, a strip of them.

#include "cuda_on_cpu.hpp"

#include <tiletranspose/transpose.cuh>

#include <catch2/catch_test_macros.hpp>

namespace {

// Transposes side x side elements by a tile, which banks of `bank_width` bytes serve.
template <class T, int... Tile>
tt::emulation_report run(std::size_t side, int bank_width = 4) {
  tt::emulated_buffer<T> in(side * side);
  tt::emulated_buffer<T> out(side * side);
  for (std::size_t i = 0; i < in.size(); ++i) { in[i] = static_cast<T>(i % 251); }
  cpu::this_device() = {};
  cpu::this_device().options.bank_width = bank_width;
  const T* const from = in.data();
  REQUIRE(tt::transpose<T, Tile...>(out.data(), from, side, side) == cudaSuccess);
  bool right = true;
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; ++x) {
      right = right && out[x * side + y] == from[y * side + x];
    }
  }
  REQUIRE(right);
  REQUIRE(cpu::this_device().launches == 1);
  return cpu::this_device().last;
}

template <class T, int TileDim, int BlockRows>
void check_block() {
  constexpr std::size_t side = 192;
  const tt::emulation_report found = run<T, TileDim, BlockRows>(side);
  INFO(sizeof(T) << " bytes, " << TileDim << ", " << BlockRows);
  CHECK(found.threads == TileDim * BlockRows);
  constexpr std::size_t tiles = side / TileDim;  // along a side
  if (tt::detail::small_limits_of(sizeof(T)).written_bytes > 0) {
    CHECK(found.blocks == tiles * tiles);
  } else {  // a block moves whole tiles, one below the other
    REQUIRE(found.blocks % tiles == 0);
    CHECK(tiles % (found.blocks / tiles) == 0);
  }
}

}  // namespace

TEST_CASE("explicit: TileDim and BlockRows are those that are written") {
  check_block<float, 32, 8>();
  check_block<float, 32, 32>();
  check_block<float, 32, 1>();
  check_block<float, 16, 4>();
  check_block<float, 64, 16>();
  check_block<float, 8, 8>();
  check_block<double, 32, 4>();
  check_block<unsigned char, 64, 8>();
  check_block<unsigned short, 96, 2>();
}

// Paddings are told apart by the banks that their columns meet.
TEST_CASE("explicit: Padding is the one that is written") {
  CHECK(run<float, 32, 8, 1>(64, 4).worst_ways() == 1);
  CHECK(run<float, 32, 8, 1>(64, 8).worst_ways() == 2);
  CHECK(run<float, 32, 8, 2, 8>(64, 4).worst_ways() == 2);
  CHECK(run<float, 32, 8, 2, 8>(64, 8).worst_ways() == 1);
  // Left out, it is the bank model's: one float, a word of bytes.
  CHECK(run<float, 32, 8>(64, 8).worst_ways() == 2);
  CHECK(run<unsigned char, 32, 8>(64, 4).worst_ways() == 1);
}

TEST_CASE("explicit: as many columns as need several grids") {
  constexpr std::size_t nx = 4 * 65535 + 3;
  constexpr std::size_t ny = 2;
  tt::emulated_buffer<float> in(nx * ny);
  tt::emulated_buffer<float> out(nx * ny);
  for (std::size_t i = 0; i < in.size(); ++i) { in[i] = static_cast<float>(i); }
  cpu::this_device() = {};
  const float* const from = in.data();
  REQUIRE(tt::transpose<float, 4, 4, 1>(out.data(), from, nx, ny) == cudaSuccess);
  CHECK((cpu::this_device().launches == 2) ==
        (tt::detail::small_limits_of(sizeof(float)).written_bytes > 0));
  std::size_t wrong = 0;
  for (std::size_t y = 0; y < ny; ++y) {
    for (std::size_t x = 0; x < nx; ++x) { wrong += out[x * ny + y] == from[y * nx + x] ? 0 : 1; }
  }
  REQUIRE(wrong == 0);
}
