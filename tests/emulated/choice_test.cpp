// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Launches of tiles that only tall or large matrices take: which they are, and whole ones of tall matrices, of few
// columns so that they are not too large for the CPU.

#include "cuda_on_cpu.hpp"
#include "elements.hpp"

#include <tiletranspose/transpose.cuh>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>

namespace {

template <int Bytes, tt::tile_access Access>
const void* kernel_of() {
  using tuned = tt::detail::tuned_shape<90, Bytes, Bytes, Access>;
  return reinterpret_cast<const void*>(
      &tt::detail::tile_kernel<typename tuned::type, tuned::policy.blocks_per_sm>);
}

constexpr std::size_t tall = tt::most_column_rows + 1;

// Which kernel takes a matrix, without a launch. Pointers lie `off` bytes behind a multiple of 16.
template <int Bytes>
const void* chosen(std::size_t nx, std::size_t ny, std::size_t off) {
  using type = element<Bytes>;
  cpu::this_device() = {};
  cpu::this_device().runs = false;
  const auto at = [&](int bit) {
    return reinterpret_cast<type*>((std::uintptr_t{1} << bit) + off);
  };
  const cudaError_t status = tt::transpose(at(40), static_cast<const type*>(at(45)), nx, ny);
  CHECK(status == cudaSuccess);
  return cpu::this_device().kernel;
}

template <int Bytes>
void check_choice() {
  INFO(Bytes << " bytes");
  const void* const taller = kernel_of<Bytes, tt::tile_access::tall>();
  const void* const any = kernel_of<Bytes, tt::tile_access::any>();
  CHECK(taller != any);
  for (const std::size_t nx : {std::size_t{209}, std::size_t{tt::most_tall_columns}}) {
    INFO(nx << " columns");
    CHECK(chosen<Bytes>(nx, tall, Bytes) == taller);
    CHECK(chosen<Bytes>(nx, tall - 1, Bytes) == any);
  }
  CHECK(chosen<Bytes>(tt::most_tall_columns + 1, tall, Bytes) == any);
}

// A whole launch. Where rows have gaps the matrix may have few columns; where those of the output have, they are as
// long as whole tiles, and skewed into one more.
template <int Bytes>
void check_tall(std::size_t nx, std::size_t in_gap, std::size_t out_gap) {
  using type = element<Bytes>;
  using tile = typename tt::detail::tuned_shape<90, Bytes, Bytes, tt::tile_access::tall>::type;
  const std::size_t ny = tt::most_column_rows + (out_gap == 0 ? 1 : tile::tile_rows);
  const std::size_t in_stride = nx + in_gap;
  const std::size_t out_stride = ny + out_gap;
  tt::emulated_buffer<type> in(in_stride * ny, 1);
  tt::emulated_buffer<type> out(out_stride * nx, 3);
  fill(in);
  const tt::matrix_view<const type> from{in.data(), ny, nx, in_stride};
  const tt::matrix_view<type> to{out.data(), nx, ny, out_stride};
  cpu::this_device() = {};
  cpu::this_device().options.knows(from).knows(to);
  const cudaError_t status = tt::transpose(to, from);
  const cpu::device& device = cpu::this_device();
  INFO(Bytes << " bytes, " << nx << " columns, gaps of " << in_gap << " and " << out_gap
             << "; repeat with --rng-seed " << Catch::getSeed() << '\n'
             << device.last.table());
  CHECK(status == cudaSuccess);
  CHECK(device.faults == 0);
  CHECK(device.launches == 1);
  CHECK(device.kernel == kernel_of<Bytes, tt::tile_access::tall>());
  std::size_t wrong = 0;
  for (std::size_t y = 0; y < ny; ++y) {
    for (std::size_t x = 0; x < nx; ++x) {
      wrong += equal(out[x * out_stride + y], in[y * in_stride + x]) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("choice: tall matrices of few columns have tiles of their own") {
  check_choice<1>();
  check_choice<4>();
  check_choice<8>();
}

TEST_CASE("choice: large matrices of whole accesses have tiles of their own") {
  const void* const large = kernel_of<1, tt::tile_access::large>();
  const void* const whole = kernel_of<1, tt::tile_access::whole>();
  CHECK(large != whole);
  CHECK(chosen<1>(16384, 16384, 0) == large);
  CHECK(chosen<1>(16384, 16368, 0) == whole);  // too few
  CHECK(chosen<1>(2032, 1 << 20, 0) == whole);
}

TEST_CASE("tall tiles: bytes") {
  check_tall<1>(3, 2, 0);
  check_tall<1>(2, 7, 5);
  check_tall<1>(209, 0, 0);
}
TEST_CASE("tall tiles: words") {
  check_tall<4>(3, 2, 0);
  check_tall<4>(2, 1, 5);
  check_tall<4>(65, 0, 0);
}
TEST_CASE("tall tiles: double words") {
  check_tall<8>(3, 2, 0);
  check_tall<8>(2, 1, 3);
  check_tall<8>(33, 0, 0);
}
