// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which kernel takes which matrix, by tall tiles and by panels; and whole launches of tall matrices, of few
// columns so that they are not too large for the CPU, and of groups of elements in few rows.

#include "cuda_on_cpu.hpp"
#include "elements.hpp"

#include <tiletranspose/transpose.cuh>

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace {

using tt::detail::mover;

template <mover By, int Bytes>
constexpr tt::detail::typed_mover<By, Bytes, tt::access_width(Bytes)> typed_mover{};

template <int Bytes, tt::tile_access Access>
const void* kernel_of() {
  using tuned = tt::detail::tuned_shape<90, Bytes, tt::access_width(Bytes), Access>;
  return reinterpret_cast<const void*>(
      &tt::detail::tile_kernel<typename tuned::type, tuned::policy.blocks_per_sm>);
}

constexpr std::size_t tall = tt::detail::most_column_rows + 1;

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

// The kernel that a mover starts for a choice.
template <mover By, int Bytes, int Access>
const void* started_kernel(tt::detail::typed_mover<By, Bytes, Access> taken,
                           const tt::detail::choice& chosen) {
  if constexpr (By == mover::micro_tile) {
    using copy = tt::detail::copy_operation<Bytes, Access>;
    return chosen.micro_side == 128
               ? reinterpret_cast<const void*>(&tt::detail::axes_micro_kernel<copy, 32, int>)
               : reinterpret_cast<const void*>(&tt::detail::axes_micro_kernel<copy, 16, int>);
  } else {
    return reinterpret_cast<const void*>(tt::detail::kernel_of(taken, chosen));
  }
}

template <int Bytes>
const void* micro_kernel(std::size_t bytes) {
  tt::detail::choice chosen;
  chosen.micro_side = tt::detail::micro_matrix_side(Bytes, bytes);
  return started_kernel(typed_mover<mover::micro_tile, Bytes>, chosen);
}

template <int Bytes>
void check_choice() {
  INFO(Bytes << " bytes");
  const void* const taller = kernel_of<Bytes, tt::tile_access::tall>();
  const void* const any = kernel_of<Bytes, tt::tile_access::any>();
  CHECK(taller != any);
  for (const std::size_t nx : {std::size_t{209}, std::size_t{tt::detail::most_tall_columns}}) {
    INFO(nx << " columns");
    const std::size_t rows = Bytes == 1 ? tt::detail::least_tall_bytes / nx + 1 : tall;
    CHECK(chosen<Bytes>(nx, rows, Bytes) == taller);
    CHECK(chosen<Bytes>(nx, rows - 1, Bytes) == any);
  }
  CHECK(chosen<Bytes>(tt::detail::most_tall_columns + 1, 10 * tall, Bytes) == any);
}

// Columns that fill tiles of whole accesses, and 16 bytes more. Bytes that are fewer go in micro-blocks.
template <int Bytes, tt::tile_access Else>
void check_ragged() {
  INFO(Bytes << " bytes");
  using whole = tt::detail::tuned_shape<90, Bytes, Bytes, tt::tile_access::whole>;
  const std::size_t nx = (Bytes == 8 ? 3 : 2) * whole::policy.tile_cols;  // more than a few
  const std::size_t least = Bytes == 1   ? tt::detail::least_tall_bytes / nx
                            : Bytes == 2 ? 2 * tt::detail::most_micro_matrix_bytes / nx
                                         : tall;
  const std::size_t ny = least / 16 * 16 + 16;
  CHECK(chosen<Bytes>(nx, ny, 0) == kernel_of<Bytes, tt::tile_access::whole>());
  CHECK(chosen<Bytes>(nx + 16 / Bytes, ny, 0) == kernel_of<Bytes, Else>());
  const void* const few = chosen<Bytes>(nx + 16 / Bytes, tt::detail::most_column_rows, 0);
  if constexpr (Bytes <= 2) {
    CHECK(few == micro_kernel<Bytes>((nx * Bytes + 16) * tt::detail::most_column_rows));
  } else {
    CHECK(few == kernel_of<Bytes, tt::tile_access::whole>());
  }
}

enum class side { rows, columns };
constexpr std::size_t long_side = 3'000'017;

// So many rows or columns are moved in gathered panels, and so many in tiles. The other side is odd, and such that there
// is more than little work.
template <int Bytes>
void check_panels(side few, std::initializer_list<std::size_t> panels,
                  std::initializer_list<std::size_t> tiles) {
  constexpr int access_bytes = tt::access_width(Bytes, alignof(element<Bytes>));
  const void* const gathered =
      reinterpret_cast<const void*>(&tt::detail::axes_panel_kernel<access_bytes>);
  for (const bool in_panels : {true, false}) {
    for (const std::size_t n : in_panels ? panels : tiles) {
      INFO(Bytes << " bytes, " << n << (few == side::rows ? " rows" : " columns"));
      const std::size_t nx = few == side::rows ? long_side : n;
      const std::size_t ny = few == side::rows ? n : long_side;
      CHECK((chosen<Bytes>(nx, ny, 0) == gathered) == in_panels);
    }
  }
}

// A whole launch of a mover, whatever would be chosen. The buffers start so many elements behind a multiple of 256 bytes.
template <int Bytes, class Mover>
void check_launch(Mover taken, const tt::detail::choice& chosen, std::size_t nx, std::size_t ny,
                  std::size_t in_gap, std::size_t out_gap, std::size_t in_offset,
                  std::size_t out_offset, std::size_t batch = 1) {
  using type = element<Bytes>;
  const std::size_t in_stride = nx + in_gap;
  const std::size_t out_stride = ny + out_gap;
  const std::size_t in_matrix = in_stride * ny;
  const std::size_t out_matrix = out_stride * nx;
  tt::emulated_buffer<type> in(in_matrix * batch, in_offset);
  tt::emulated_buffer<type> out(out_matrix * batch, out_offset);
  fill(in);
  const tt::matrix_view<const type> from{in.data(), ny, nx, in_stride};
  const tt::matrix_view<type> to{out.data(), nx, ny, out_stride};
  cpu::this_device() = {};
  // The rows of all matrices, which follow each other.
  cpu::this_device().options.knows(
      tt::matrix_view<const type>{in.data(), ny * batch, nx, in_stride});
  cpu::this_device().options.knows(tt::matrix_view<type>{out.data(), nx * batch, ny, out_stride});
  tt::detail::batch_problem problem = tt::detail::make_problem(tt::detail::view_request(to, from));
  problem.batch = batch;
  problem.in_batch_bytes = in_matrix * Bytes;
  problem.out_batch_bytes = out_matrix * Bytes;
  constexpr int access_bytes = tt::access_width(Bytes);
  const tt::detail::transpose_facts facts =
      tt::detail::transpose_facts{problem,
                                  Bytes,
                                  access_bytes,
                                  tt::detail::address_bits_of(problem, access_bytes),
                                  {228 * 1024}};
  const cudaError_t status =
      tt::detail::run_choice<tt::detail::matrices::batch>(taken, facts, chosen, nullptr);
  const cpu::device& device = cpu::this_device();
  INFO(Bytes << " bytes, " << nx << " columns, " << ny << " rows, " << batch
             << " matrices, gaps of " << in_gap << " and " << out_gap << "; repeat with --rng-seed "
             << Catch::getSeed() << '\n'
             << device.last.table());
  CHECK(status == cudaSuccess);
  CHECK(device.faults == 0);
  CHECK(device.launches == 1);
  CHECK(device.kernel == started_kernel(taken, chosen));
  std::size_t wrong = 0;
  for (std::size_t n = 0; n < batch; ++n) {
    for (std::size_t y = 0; y < ny; ++y) {
      for (std::size_t x = 0; x < nx; ++x) {
        wrong +=
            equal(out[n * out_matrix + x * out_stride + y], in[n * in_matrix + y * in_stride + x])
                ? 0
                : 1;
      }
    }
  }
  CHECK(wrong == 0);
}
template <int Bytes, tt::tile_access Access>
void check_launch(std::size_t nx, std::size_t ny, std::size_t in_gap, std::size_t out_gap,
                  std::size_t in_offset, std::size_t out_offset) {
  tt::detail::choice chosen;
  chosen.access = Access;
  check_launch<Bytes>(typed_mover<mover::tile, Bytes>, chosen, nx, ny, in_gap, out_gap, in_offset,
                      out_offset);
}

// Matrices of whole groups of four that fill no tile, one tile and several; with gaps, shifted, and batches.
template <int Bytes>
void check_micro(int side) {
  const auto check = [side](auto... sizes) {
    tt::detail::choice chosen;
    chosen.micro_side = side;
    check_launch<Bytes>(typed_mover<mover::micro_tile, Bytes>, chosen,
                        static_cast<std::size_t>(sizes)...);
  };
  check(4, 8, 0, 0, 0, 0);
  check(side, side, 0, 0, 0, 0);
  check(side + 4, 2 * side - 4, 0, 0, 4, 8);
  check(3 * side - 8, side + 12, 4, 12, 8, 4);
  check(side / 2, side + 4, 0, 0, 0, 0, 5);
  check(side + 8, side / 2, 8, 0, 4, 0, 3);
}

// Small matrices with gaps between them on both sides, several to a gathered panel; what lies between them stays.
template <int Bytes>
void check_apart(std::size_t nx, std::size_t ny, std::size_t batch, std::size_t in_between,
                 std::size_t out_between) {
  using type = element<Bytes>;
  const std::size_t in_matrix = nx * ny + in_between;
  const std::size_t out_matrix = nx * ny + out_between;
  tt::emulated_buffer<type> in(in_matrix * batch, 1);
  tt::emulated_buffer<type> out(out_matrix * batch, 3);
  fill(in);
  fill(out);
  std::vector<type> want(out.data(), out.data() + out.size());
  for (std::size_t n = 0; n < batch; ++n) {
    for (std::size_t i = 0; i < nx * ny; ++i) {
      want[n * out_matrix + i % nx * ny + i / nx] = in.data()[n * in_matrix + i];
    }
  }
  cpu::this_device() = {};
  cpu::this_device().options.knows(static_cast<const type*>(in.data()), in.size());
  cpu::this_device().options.knows(out.data(), out.size());
  constexpr auto bytes = static_cast<std::size_t>(Bytes);
  const tt::detail::batch_problem problem{{in.data(), out.data(), nx * bytes, ny * bytes,
                                           in_matrix * bytes, out_matrix * bytes, nx, ny, false},
                                          batch};
  constexpr int access = tt::access_width(Bytes);
  const tt::detail::transpose_facts facts{problem, Bytes, access,
                                          tt::detail::address_bits_of(problem, access), 48 * 1024};
  tt::detail::choice chosen;
  chosen.shared_bytes = 48 * 1024;
  constexpr auto gathered = typed_mover<mover::gathered_panel, Bytes>;
  INFO(Bytes << " bytes, " << batch << " matrices of " << nx << " x " << ny);
  CHECK(plan_of(gathered, problem, chosen).blocks < batch / 4);
  CHECK(tt::detail::run_choice<tt::detail::matrices::batch>(gathered, facts, chosen, nullptr) ==
        cudaSuccess);
  CHECK(cpu::this_device().faults == 0);
  CHECK(std::memcmp(want.data(), out.data(), want.size() * sizeof(type)) == 0);
}

// Vectorised panels of a size for few columns, of 64 and 128 bytes, for few rows, and for a batch; each of several panels.
template <int Bytes>
void check_vectorised(int threads) {
  using tt::detail::panel_kind;
  const int side = tt::detail::vectorised_side(Bytes);
  const auto check = [&](panel_kind kind, auto... sizes) {
    tt::detail::choice chosen;
    chosen.shape = {kind, Bytes, threads, side, side};
    check_launch<Bytes>(typed_mover<mover::vectorised_panel, Bytes>, chosen,
                        static_cast<std::size_t>(sizes)...);
  };
  const std::size_t rows = tt::detail::vectorised_bytes(threads) / 32 + 48;
  check(panel_kind::few_columns, 64 / Bytes, rows, 0, 0, 0, 0);
  check(panel_kind::few_columns, 128 / Bytes, rows, 0, 0, 0, 0);
  check(panel_kind::few_rows, rows, 128 / Bytes, 0, 0, 0, 0);
  check(panel_kind::small_matrices, 4 * side, 3 * side, 0, 0, 0, 0, 2 * rows / side / side + 1);
}

// Three rows of bytes, such as the planes of an image, become pixels of three.
void check_pixels(int threads) {
  tt::detail::choice chosen;
  chosen.shape = {tt::detail::panel_kind::few_rows, 1, threads, 3, 4};
  const auto pixels = static_cast<std::size_t>(chosen.shape.panel_bytes()) / 3;
  check_launch<1>(typed_mover<mover::vectorised_panel, 1>, chosen, 2 * pixels + 48, 3, 0, 0, 0, 0);
  check_launch<1>(typed_mover<mover::vectorised_panel, 1>, chosen, 2 * pixels + 48, 3, 16, 0, 0, 0);
}

// Where rows have gaps the matrix may have few columns; where those of the output have, they are as long as whole
// tiles, and skewed into one more.
template <int Bytes>
void check_tall(std::size_t nx, std::size_t in_gap, std::size_t out_gap) {
  using tile = typename tt::detail::tuned_shape<90, Bytes, Bytes, tt::tile_access::tall>::type;
  const std::size_t ny = tt::detail::most_column_rows + (out_gap == 0 ? 1 : tile::tile_rows);
  check_launch<Bytes, tt::tile_access::tall>(nx, ny, in_gap, out_gap, 1, 3);
}

// Groups of elements in rows of whole accesses, of which the last tiles are cut off on either side.
template <int Bytes>
void check_groups() {
  const std::size_t narrow = tt::detail::narrow_row_bytes / Bytes / 16 * 16;
  check_launch<Bytes, tt::tile_access::any>(narrow + 16, 160, 0, 0, 0, 0);
  // Rows of the output end inside of a sector, or of a tile.
  check_launch<Bytes, tt::tile_access::any>(narrow + 48, 80, 16, 16, 16, 32);
}

}  // namespace

TEST_CASE("choice: a panel takes several small matrices that lie apart") {
  check_apart<1>(8, 8, 3000, 5, 64);
  check_apart<1>(5, 13, 2000, 1, 3);
  check_apart<2>(9, 4, 3000, 7, 2);
  check_apart<3>(7, 7, 1500, 2, 11);
  check_apart<4>(8, 8, 1500, 3, 8);
  check_apart<12>(3, 5, 1500, 1, 2);
}

TEST_CASE("choice: tall matrices of few columns have tiles of their own") {
  check_choice<1>();
  check_choice<4>();
  check_choice<8>();
}

TEST_CASE(
    "choice: tall matrices whose columns do not fill tiles of whole accesses take the others") {
  check_ragged<1, tt::tile_access::tall>();
  check_ragged<2, tt::tile_access::any>();
  check_ragged<4, tt::tile_access::tall>();
  check_ragged<8, tt::tile_access::tall>();
}

TEST_CASE("choice: few rows and few columns are moved in panels") {
  // Of whole words, a few rows more than a tile has.
  check_panels<4>(side::rows, {63, 64, 65, 72, 100}, {101, 128, 137});
  check_panels<8>(side::rows, {31, 32, 33, 70}, {71, 100});
  check_panels<12>(side::rows, {31, 33, 46}, {47, 64});
  check_panels<16>(side::rows, {31, 33, 35}, {36, 63});
  check_panels<24>(side::rows, {17, 23}, {24, 48});
  check_panels<28>(side::rows, {15, 17, 20}, {21, 35});
  check_panels<48>(side::rows, {10, 11}, {12, 33});
  // Of parts of words.
  check_panels<3>(side::rows, {20, 64, 72}, {73, 100});
  check_panels<5>(side::rows, {21, 72}, {73, 100});
  check_panels<9>(side::rows, {10, 32, 53, 1000}, {});  // they have no tile
  check_panels<31>(side::rows, {10, 32, 53, 1000}, {});
  check_panels<10>(side::rows, {10, 33, 56}, {57, 100});

  // Of words fewer; and of parts of words where they are whole sectors.
  check_panels<4>(side::columns, {32, 40}, {41, 65, 100, 101, 130});
  check_panels<8>(side::columns, {21, 40}, {41, 42, 70, 71, 100});
  check_panels<12>(side::columns, {21, 40}, {41, 46, 47, 64});
  check_panels<16>(side::columns, {21, 35}, {36, 64});
  check_panels<20>(side::columns, {21, 28}, {29, 33});
  check_panels<3>(side::columns, {32, 42, 63, 72}, {64, 73, 100});
  check_panels<6>(side::columns, {32, 47, 72}, {48, 64, 73});
  check_panels<31>(side::columns, {5, 6, 1000}, {});
}

TEST_CASE("choice: columns of 2^32 bytes and more are planned") {
  constexpr std::size_t bytes = std::size_t{1} << 32;
  const auto check = [](const void* kernel) { CHECK(kernel != nullptr); };
  check(chosen<4>(3, bytes / 4, 0));
  check(chosen<8>(20, bytes / 8, 0));
  check(chosen<16>(3, bytes / 16, 0));
  check(chosen<64>(9, bytes / 64, 0));
  check(chosen<3>(5, 3 * bytes, 0));
}

TEST_CASE("choice: tiles of groups of elements, cut off on either side") {
  check_groups<3>();
  check_groups<5>();
  check_groups<6>();
  check_groups<7>();
  check_groups<10>();
}

TEST_CASE("micro-blocks: matrices and batches") {
  check_micro<1>(64);
  check_micro<1>(128);
  check_micro<2>(64);
  check_micro<3>(64);
}

TEST_CASE("vectorised panels: every size") {
  for (const int threads :
       {tt::detail::least_vectorised_threads, 2 * tt::detail::least_vectorised_threads,
        tt::detail::large_vectorised_threads, tt::detail::most_vectorised_threads}) {
    INFO(threads << " threads");
    check_vectorised<1>(threads);
    if (threads <= 2 * tt::detail::least_vectorised_threads) { check_pixels(threads); }
    check_vectorised<2>(threads);
    check_vectorised<4>(threads);
    check_vectorised<8>(threads);
    check_vectorised<16>(threads);
  }
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
  check_tall<8>(43, 0, 0);
}
