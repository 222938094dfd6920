// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernel bodies with a thread of the operating system for every CUDA thread, under ThreadSanitizer, which
// knows nothing of the emulator's own checks.

#include <tiletranspose/block_reverse.cuh>
#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/detail/tile/tile_kernel.cuh>
#include <tiletranspose/emulator.cuh>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>

namespace {

tt::emulator_options threads() {
  tt::emulator_options options;
  options.mode = tt::emulator_options::run_mode::threads;
  return options;
}

template <class Tile, bool Barrier = true>
void move(std::size_t nx, std::size_t ny) {
  tt::emulated_buffer<float> in(nx * ny);
  tt::emulated_buffer<float> out(nx * ny);
  for (std::size_t i = 0; i < in.size(); ++i) { in[i] = static_cast<float>(i); }
  const tt::emulated_dim grid(static_cast<unsigned>((nx + Tile::cols - 1) / Tile::cols),
                              static_cast<unsigned>((ny + Tile::rows - 1) / Tile::rows));
  const tt::emulation_report report = tt::emulate(
      threads(), grid, 64, sizeof(typename Tile::storage),
      [](tt::emulated_block block, tt::matrix_view<float> to, tt::matrix_view<const float> from) {
        const Tile tile(block.shared_as<typename Tile::storage>());
        const std::size_t row = block.index().y * std::size_t{Tile::rows};
        const std::size_t col = block.index().x * std::size_t{Tile::cols};
        tt::load_tile(block, tile, from, row, col);
        if (Barrier) { block.sync(); }
        tt::store_tile_transposed(block, to, col, row, tile);
      },
      tt::matrix_view<float>{out.data(), nx, ny, ny},
      tt::matrix_view<const float>{in.data(), ny, nx, nx});
  bool right = true;
  for (std::size_t y = 0; y < ny; ++y) {
    for (std::size_t x = 0; x < nx; ++x) { right = right && out[x * ny + y] == in[y * nx + x]; }
  }
  CHECK(right == Barrier);
  CHECK(report.clean() == Barrier);
}

}  // namespace

TEST_CASE("tiles of every layout") {
  move<tt::shared_tile<float, tt::padded_layout<float, 16, 16, 1>>>(35, 18);
  move<tt::shared_tile<float, tt::swizzled_layout<float, 32, 32>>>(33, 40);
}

TEST_CASE("a tuned kernel's tile") {
  using shape = tt::detail::vector_shape<4>;
  constexpr std::size_t side = shape::tile_cols;
  tt::emulated_buffer<unsigned> in(2 * side * side);
  tt::emulated_buffer<unsigned> out(2 * side * side);
  for (std::size_t i = 0; i < in.size(); ++i) { in[i] = static_cast<unsigned>(i); }
  const tt::emulation_report report = tt::emulate(
      threads(), tt::emulated_dim(2, 1), shape::threads, shape::shared_bytes,
      [&](tt::emulated_block block) {
        tt::detail::move_vector_tile<shape>(
            block, block.shared(),
            {in.data(), out.data(), 2 * side * 4, side * 4, 0, 0, 2 * side, side, false},
            block.index().y, block.index().x);
      });
  CHECK(report.clean());
  CHECK(report.worst_ways() == 1);
  bool right = true;
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < 2 * side; ++x) {
      right = right && out[x * side + y] == in[y * 2 * side + x];
    }
  }
  CHECK(right);
}

TEST_CASE("a block that reverses in place") {
  using block_reverse = tt::block_reverse<unsigned, 100>;
  tt::emulated_buffer<unsigned> data(100);
  for (unsigned i = 0; i < 100; ++i) { data[i] = i; }
  const tt::emulation_report report =
      tt::emulate(threads(), 1, 64, sizeof(block_reverse::storage), [&](tt::emulated_block block) {
        const block_reverse reverser(block.shared_as<block_reverse::storage>());
        reverser.load(block, data.data());
        block.sync();
        reverser.store(block, data.data());
      });
  CHECK(report.clean());
  bool right = true;
  for (unsigned i = 0; i < 100; ++i) { right = right && data[i] == 99 - i; }
  CHECK(right);
}

TEST_CASE("without its barrier", "[.][missing]") {
  move<tt::shared_tile<float, tt::padded_layout<float, 32, 32, 1>>, false>(32, 32);
}
