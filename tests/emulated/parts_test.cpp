// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The device functions that kernels are composed from, each run by a block on the CPU at the edges of
// matrices that no tile divides. lanes_test.cpp has the exchanges between lanes.

#include "elements.hpp"

#include <tiletranspose/block_reverse.cuh>
#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/detail/tile/tile_kernel.cuh>
#include <tiletranspose/smem.cuh>
#include <tiletranspose/struct_io.cuh>
#include <tiletranspose/tile_io_async.cuh>
#include <tiletranspose/tile_pipeline.cuh>
#include <tiletranspose/warp_exchange.cuh>

#include <algorithm>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstring>
#include <vector>

namespace {

// 41 x 50 elements inside of rows of 53, which tiles of 16 x 32 straddle; `out` is their copy or transpose. Rows of 64 start
// at whole accesses, and end inside of one.
constexpr std::size_t rows = 41;
constexpr std::size_t cols = 50;
constexpr std::size_t odd_pitch = 53;
constexpr std::size_t even_pitch = 64;

template <class T>
struct matrices {
  std::size_t pitch;
  tt::emulated_buffer<T> in{rows * pitch};
  tt::emulated_buffer<T> out{(rows > cols ? rows : cols) * pitch};

  explicit matrices(std::size_t between_rows = odd_pitch) : pitch(between_rows) { fill(in); }
  tt::matrix_view<const T> from() const { return {in.data(), rows, cols, pitch}; }
  tt::matrix_view<T> copy() { return {out.data(), rows, cols, pitch}; }
  tt::matrix_view<T> transpose() { return {out.data(), cols, rows, pitch}; }

  bool is_copy() const {
    bool same = true;
    for (std::size_t i = 0; i < rows * cols; ++i) {
      const std::size_t at = i / cols * pitch + i % cols;
      same = same && equal(out[at], in[at]);
    }
    return same;
  }
  bool is_transpose() const {
    bool same = true;
    for (std::size_t i = 0; i < rows * cols; ++i) {
      same = same && equal(out[i % cols * pitch + i / cols], in[i / cols * pitch + i % cols]);
    }
    return same;
  }
};

tt::emulated_dim grid_of(int tile_rows, int tile_cols) {
  return {static_cast<unsigned>((cols + tile_cols - 1) / tile_cols),
          static_cast<unsigned>((rows + tile_rows - 1) / tile_rows)};
}

enum class way { at_once, filled, in_background, in_background_filled };

template <class T, class Layout, int Threads>
void check_tiles(way loads, bool transposes, std::size_t pitch = odd_pitch) {
  using tile_type = tt::shared_tile<T, Layout>;
  matrices<T> m(pitch);
  bool filled = true;
  const T outside = m.in[0];
  const tt::emulation_report report = tt::emulate(
      grid_of(Layout::rows, Layout::cols), Threads, sizeof(typename tile_type::storage),
      [&](tt::emulated_block b, tt::matrix_view<T> to, tt::matrix_view<const T> from) {
        const tile_type tile(b.shared_as<typename tile_type::storage>());
        const tt::static_block<Threads> block;
        const std::size_t row = b.index().y * std::size_t{Layout::rows};
        const std::size_t col = b.index().x * std::size_t{Layout::cols};
        switch (loads) {
          case way::at_once:
            tt::load_tile(block, tile, from, row, col);
            break;
          case way::filled:
            tt::load_tile(block, tile, from, row, col, outside);
            break;
          case way::in_background:
            tt::load_tile_async(block, tile, from, row, col);
            break;
          case way::in_background_filled:
            tt::load_tile_async(block, tile, from, row, col, outside);
            break;
        }
        tt::async_commit();
        tt::async_wait<0>();
        block.sync();
        if (loads == way::filled || loads == way::in_background_filled) {
          for (int c = static_cast<int>(block.thread_rank()); c < Layout::cols; c += Threads) {
            const bool exists = row + Layout::rows <= rows && col + c < cols;
            if (!exists && !equal(tile.get(Layout::rows - 1, c), outside)) { filled = false; }
          }
        }
        if (transposes) {
          tt::store_tile_transposed(block, to, col, row, tile);
        } else {
          tt::store_tile(block, to, row, col, tile);
        }
      },
      transposes ? m.transpose() : m.copy(), m.from());
  INFO("element of " << sizeof(T) << ", tile " << Layout::rows << " x " << Layout::cols
                     << ", rows of " << pitch << ", way " << static_cast<int>(loads)
                     << ", --rng-seed " << Catch::getSeed() << '\n'
                     << report.table());
  CHECK(report.clean());
  CHECK(filled);
  CHECK((transposes ? m.is_transpose() : m.is_copy()));
}

template <class T>
void check_layouts() {
  for (const way loads :
       {way::at_once, way::filled, way::in_background, way::in_background_filled}) {
    for (const bool transposes : {false, true}) {
      check_tiles<T, tt::padded_layout<T, 16, 32, 0>, 64>(loads, transposes);
      check_tiles<T, tt::padded_layout<T, 19, 5, 1>, 40>(loads, transposes);
      check_tiles<T, tt::swizzled_layout<T, 16, 16>, 96>(loads, transposes);
      check_tiles<T, tt::padded_layout<T, 16, 32, 0>, 64>(loads, transposes, even_pitch);
    }
  }
}

// Fill values in braces, which name no type, at the corner of a matrix: the other elements of the tile become the value.
struct two_numbers {
  float a, b;
};

enum class loader { at_once, in_background, pipeline };

template <loader Loader, class Group, class Tile, class... Pipeline>
void load_with_braces(Group group, Tile tile, tt::matrix_view<const two_numbers> from, int value,
                      Pipeline&... pipeline) {
  if constexpr (Loader == loader::at_once) {
    if (value == 0) { tt::load_tile(group, tile, from, 3, 4, {}); }
    if (value == 1) { tt::load_tile(group, tile, from, 3, 4, {0, 0}); }
    if (value == 2) { tt::load_tile(group, tile, from, 3, 4, {0, 5}); }
  } else if constexpr (Loader == loader::in_background) {
    if (value == 0) { tt::load_tile_async(group, tile, from, 3, 4, {}); }
    if (value == 1) { tt::load_tile_async(group, tile, from, 3, 4, {0, 0}); }
    if (value == 2) { tt::load_tile_async(group, tile, from, 3, 4, {0, 5}); }
  } else {
    if (value == 0) { (pipeline.load(group, tile, from, 3, 4, {}), ...); }
    if (value == 1) { (pipeline.load(group, tile, from, 3, 4, {0, 0}), ...); }
    if (value == 2) { (pipeline.load(group, tile, from, 3, 4, {0, 5}), ...); }
  }
}

template <loader Loader>
void check_fill_in_braces(int value) {
  using tile_type = tt::shared_tile<two_numbers, tt::padded_layout<two_numbers, 8, 8, 1>>;
  using pipeline_type = tt::tile_pipeline<1>;
  const tt::smem_layout smem{tt::smem_tiles<tile_type, 1>(),
                             tt::smem_array<pipeline_type::storage, 1>()};
  tt::emulated_buffer<two_numbers> in(6 * 9);
  tt::emulated_buffer<two_numbers> out(8 * 8);
  for (std::size_t i = 0; i < in.size(); ++i) { in[i] = {static_cast<float>(i), 1}; }
  const tt::emulation_report report = tt::emulate(
      1, 32, smem.bytes(),
      [&](tt::emulated_block block, tt::matrix_view<two_numbers> to,
          tt::matrix_view<const two_numbers> from) {
        const auto [tiles, storage] = smem.carve(block.shared());
        const auto tile = tiles[0];
        pipeline_type pipeline(block, *storage);
        const int rank = static_cast<int>(block.thread_rank());
        for (int i = rank; i < 64; i += 32) { tile.set(i / 8, i % 8, two_numbers{-7, -7}); }
        block.sync();
        load_with_braces<Loader>(block, tile, from, value, pipeline);
        pipeline.commit();
        pipeline.wait();
        block.sync();
        tt::store_tile(block, to, 0, 0, tile);
      },
      tt::matrix_view<two_numbers>{out.data(), 8, 8},
      tt::matrix_view<const two_numbers>{in.data(), 6, 9});
  INFO("loader " << static_cast<int>(Loader) << ", value " << value << '\n' << report.table());
  CHECK(report.clean());
  bool right = true;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool inside = i / 8 < 3 && i % 8 < 5;
    const two_numbers outside = {0, value == 2 ? 5.0f : 0.0f};
    right = right && equal(out[i], inside ? in[(i / 8 + 3) * 9 + i % 8 + 4] : outside);
  }
  CHECK(right);
}

template <class T, int TileDim, int BlockRows>
void check_block_transpose() {
  using block_transpose = tt::block_transpose<T, TileDim, BlockRows>;
  matrices<T> m;
  const tt::emulation_report report = tt::emulate(
      grid_of(TileDim, TileDim), block_transpose::threads,
      sizeof(typename block_transpose::storage),
      [](tt::emulated_block block, tt::matrix_view<T> to, tt::matrix_view<const T> from) {
        const block_transpose transposer(block.shared_as<typename block_transpose::storage>());
        const std::size_t row = block.index().y * std::size_t{TileDim};
        const std::size_t col = block.index().x * std::size_t{TileDim};
        transposer.load(block, from, row, col);
        block.sync();
        transposer.store(block, to, col, row);
      },
      m.transpose(), m.from());
  CHECK(report.clean());
  CHECK(m.is_transpose());
}

// By way of the threads' registers on both sides.
template <class T, int TileDim, int BlockRows>
void check_items() {
  using block_transpose = tt::block_transpose<T, TileDim, BlockRows>;
  matrices<T> m;
  const tt::emulation_report report = tt::emulate(
      grid_of(TileDim, TileDim), block_transpose::threads,
      sizeof(typename block_transpose::storage),
      [](tt::emulated_block b, tt::matrix_view<T> to, tt::matrix_view<const T> from) {
        const block_transpose transposer(b.shared_as<typename block_transpose::storage>());
        const tt::static_block<block_transpose::threads> block;
        const std::size_t row = b.index().y * std::size_t{TileDim};
        const std::size_t col = b.index().x * std::size_t{TileDim};
        T items[block_transpose::items_per_thread] = {};
        transposer.load(block, items, from, row, col);
        transposer.write(block, items);
        block.sync();
        transposer.read(block, items);
        transposer.store(block, to, col, row, items);
      },
      m.transpose(), m.from());
  CHECK(report.clean());
  CHECK(m.is_transpose());
}

// What store_tile_bulk does where there is no such engine.
template <class T>
void check_bulk_store() {
  using tile_type = tt::shared_tile<T, tt::padded_layout<T, 16, 32, 0>>;
  matrices<T> m;
  const tt::emulation_report report = tt::emulate(
      grid_of(16, 32), 64, sizeof(typename tile_type::storage),
      [](tt::emulated_block block, tt::matrix_view<T> to, tt::matrix_view<const T> from) {
        const tile_type tile(block.shared_as<typename tile_type::storage>());
        const tt::bulk_view<tile_type, T> out{to, {}, false};
        const std::size_t row = block.index().y * std::size_t{16};
        const std::size_t col = block.index().x * std::size_t{32};
        tt::load_tile(block, tile, from, row, col);
        tt::bulk_fence();
        block.sync();
        tt::store_tile_bulk(block, out, row, col, tile);
        tt::bulk_wait();
      },
      m.copy(), m.from());
  CHECK(report.clean());
  CHECK(m.is_copy());
}

// A block walks down a column of tiles, as many of them under way as there are stages.
template <class T, int Stages, tt::copy_engine Engine>
void check_pipeline() {
  using tile_type = tt::shared_tile<T, tt::padded_layout<T, 8, 16, 1>>;
  using pipeline_type = tt::tile_pipeline<Stages, Engine>;
  const tt::smem_layout smem{tt::smem_tiles<tile_type, Stages>(),
                             tt::smem_array<typename pipeline_type::storage, 1>()};
  matrices<T> m;
  const tt::emulation_report report = tt::emulate(
      grid_of(1000, 16), 64, smem.bytes(),
      [&](tt::emulated_block block, tt::matrix_view<T> to, tt::matrix_view<const T> from) {
        const auto [tiles, storage] = smem.carve(block.shared());
        pipeline_type pipeline(block, *storage);
        block.sync();
        const std::size_t col = block.index().x * std::size_t{16};
        std::size_t loaded = 0;
        const auto load = [&, &tiles = tiles] {
          if (loaded < rows) {
            pipeline.load(block, tiles[pipeline.acquire()], from, loaded, col);
            pipeline.commit();
            loaded += 8;
          }
        };
        for (int stage = 0; stage + 1 < Stages; ++stage) { load(); }
        for (std::size_t row = 0; row < rows; row += 8) {
          if (Stages == 1) { load(); }
          const unsigned stage = pipeline.wait();
          block.sync();
          if (Stages > 1) { load(); }
          tt::store_tile_transposed(block, to, col, row, tiles[stage]);
          pipeline.release();
          if (Stages == 1) { block.sync(); }
        }
      },
      m.transpose(), m.from());
  INFO(report.table());
  CHECK(report.clean());
  CHECK(m.is_transpose());
}

template <class T>
void check_reverse() {
  constexpr int size = 100;
  for (const unsigned count : {100u, 99u, 33u, 1u}) {
    tt::emulated_buffer<T> in(count);
    tt::emulated_buffer<T> out(count);
    tt::emulated_buffer<T> again(count);
    fill(in);
    tt::emulator_options options;
    options.knows(static_cast<const T*>(in.data()), count).knows(out).knows(again);
    using block_reverse = tt::block_reverse<T, size>;
    const tt::emulation_report report = tt::emulate(
        options, 1, 64, sizeof(typename block_reverse::storage), [&](tt::emulated_block block) {
          const block_reverse reverser(block.shared_as<typename block_reverse::storage>());
          reverser.load(block, static_cast<const T*>(in.data()), count);
          block.sync();
          reverser.store(block, out.data(), count);
          block.sync();
          const tt::block_reverse<T, tt::dynamic_size> dynamic(
              reinterpret_cast<T*>(block.shared()));
          dynamic.load(block, static_cast<const T*>(in.data()), count);
          block.sync();
          dynamic.store(block, again.data(), count);
        });
    bool right = true;
    for (unsigned i = 0; i < count; ++i) {
      right = right && equal(out[i], in[count - 1 - i]) && equal(again[i], in[count - 1 - i]);
    }
    CHECK(report.clean());
    CHECK(right);
  }
}

}  // namespace

TEST_CASE("tiles between memories, elements of 1 to 4 bytes") {
  check_layouts<element<1>>();
  check_layouts<element<2>>();
  check_layouts<element<3>>();
  check_layouts<element<4>>();
  check_layouts<element<4, 1>>();
}

TEST_CASE("tiles between memories, elements of 6 to 64 bytes") {
  check_layouts<element<6>>();
  check_layouts<element<8>>();
  check_layouts<element<12>>();
  check_layouts<element<16>>();
  check_layouts<element<64>>();
}

TEST_CASE("tiles filled with a value in braces") {
  for (const int value : {0, 1, 2}) {
    check_fill_in_braces<loader::at_once>(value);
    check_fill_in_braces<loader::in_background>(value);
    check_fill_in_braces<loader::pipeline>(value);
  }
}

TEST_CASE("block_transpose") {
  check_block_transpose<element<1>, 32, 4>();
  check_block_transpose<element<2>, 32, 2>();
  check_block_transpose<element<4>, 16, 16>();
  check_block_transpose<element<12>, 32, 8>();
  check_block_transpose<element<16>, 7, 7>();
}

TEST_CASE("block_transpose by way of registers") {
  check_items<element<1>, 32, 4>();
  check_items<element<3>, 16, 8>();
  check_items<element<4>, 32, 8>();
  check_items<element<16>, 8, 8>();
  check_items<element<64>, 8, 4>();
}

TEST_CASE("tiles handed to the bulk engine") {
  check_bulk_store<element<1>>();
  check_bulk_store<element<4>>();
  check_bulk_store<element<12>>();
}

TEST_CASE("pipelines of tiles") {
  check_pipeline<element<4>, 1, tt::copy_engine::threads>();
  check_pipeline<element<4>, 2, tt::copy_engine::threads>();
  check_pipeline<element<4>, 2, tt::copy_engine::cp_async>();
  check_pipeline<element<1>, 3, tt::copy_engine::cp_async>();
  check_pipeline<element<12>, 4, tt::copy_engine::cp_async>();
  check_pipeline<element<16>, 3, tt::copy_engine::bulk>();
}

TEST_CASE("block_reverse") {
  check_reverse<element<1>>();
  check_reverse<element<2>>();
  check_reverse<element<3>>();
  check_reverse<element<4>>();
  check_reverse<element<16>>();
  check_reverse<element<64>>();
}

TEST_CASE("parts of dynamic shared memory do not overlap") {
  const tt::smem_layout smem{tt::smem_array<unsigned>(5), tt::smem_array<unsigned char>(3),
                             tt::smem_array<unsigned long long>(7).aligned<64>()};
  tt::emulated_buffer<unsigned> wrong(1);
  const tt::emulation_report report =
      tt::emulate(1, 8, smem.bytes(), [&](tt::emulated_block block) {
        const auto [words, bytes, longs] = smem.carve(block.shared());
        const unsigned rank = block.thread_rank();
        if (rank < 5) { tt::detail::store_shared(words + rank, rank); }
        if (rank < 3) { tt::detail::store_shared<unsigned char>(bytes + rank, 0xee); }
        if (rank < 7) { tt::detail::store_shared(longs + rank, 0x100000000ull + rank); }
        block.sync();
        if (rank == 0) {
          for (unsigned i = 0; i < 5; ++i) {
            wrong[0] += tt::detail::load_shared<unsigned>(words + i) != i;
          }
          for (unsigned i = 0; i < 7; ++i) {
            wrong[0] +=
                tt::detail::load_shared<unsigned long long>(longs + i) != 0x100000000ull + i;
          }
        }
      });
  CHECK(report.clean());
  CHECK(wrong[0] == 0);
}

TEST_CASE("elements that can neither be assigned nor made without values") {
  struct constants {
    constants(int first, int second) : a(first), b(second) {}
    const int a;
    const int b;
  };
  using tile_type = tt::shared_tile<constants, tt::padded_layout<constants, 4, 8, 1>>;
  tt::emulated_buffer<int> in(2 * 32);
  tt::emulated_buffer<int> out(2 * 32);
  fill(in);
  const tt::emulation_report report =
      tt::emulate(1, 32, sizeof(tile_type::storage), [&](tt::emulated_block block) {
        const tile_type tile(block.shared_as<tile_type::storage>());
        const tt::matrix_view<const constants> from{reinterpret_cast<const constants*>(in.data()),
                                                    4, 8, 8};
        const tt::matrix_view<constants> to{reinterpret_cast<constants*>(out.data()), 8, 4, 4};
        const int row = static_cast<int>(block.thread_rank()) / 8;
        const int col = static_cast<int>(block.thread_rank()) % 8;
        tile.set(row, col, from.get(row, col));
        block.sync();
        to.set(col, row, tile.get(row, col));
      });
  CHECK(report.clean());
  for (int i = 0; i < 32; ++i) {
    const int from = 2 * i;
    const int to = 2 * (i % 8 * 4 + i / 8);
    CHECK(out[to] == in[from]);
    CHECK(out[to + 1] == in[from + 1]);
  }
}

// An element whose namespace has functions with the names of the library's own, and the same parameters: where a call were
// found by its arguments' types, the compiler could not choose.
namespace others {

struct triple {
  float x, y, z;
};

template <class T>
unsigned char* as_bytes(T* data);
template <class T>
const unsigned char* as_bytes(const T* data);
template <class T>
void store(void* address, const T& value);
void copy_bytes(void* to, const void* from, std::size_t bytes);
unsigned address_bits(const void* address);
template <class Group, class T, class Layout, class Element>
void load_tile(Group group, tt::shared_tile<T, Layout> tile, tt::matrix_view<Element> in,
               std::size_t row0, std::size_t col0);
template <class Group, class T, class Layout, class Element>
void load_tile_async(Group group, tt::shared_tile<T, Layout> tile, tt::matrix_view<Element> in,
                     std::size_t row0, std::size_t col0);
template <class Group, class T, class Layout>
void store_tile_transposed(Group group, tt::matrix_view<T> out, std::size_t row0, std::size_t col0,
                           tt::shared_tile<T, Layout> tile);
template <class Group, class T, int N>
void warp_striped_to_blocked(Group group, T (&items)[N]);
template <class Group, class T, int N>
void warp_blocked_to_striped(Group group, T (&items)[N]);

}  // namespace others

TEST_CASE("functions of an element's own namespace are not called") {
  check_tiles<others::triple, tt::padded_layout<others::triple, 16, 32, 1>, 64>(way::filled, true);
  check_tiles<others::triple, tt::padded_layout<others::triple, 16, 32, 0>, 64>(
      way::in_background_filled, false);
  check_block_transpose<others::triple, 16, 4>();
  check_items<others::triple, 16, 8>();
  check_bulk_store<others::triple>();
  check_pipeline<others::triple, 2, tt::copy_engine::threads>();
  check_pipeline<others::triple, 2, tt::copy_engine::bulk>();
  check_reverse<others::triple>();
  tt::emulated_buffer<others::triple> in(64);
  tt::emulated_buffer<others::triple> out(64);
  fill(in);
  const tt::emulation_report report = tt::emulate(1, 32, 1024, [&](tt::emulated_block b) {
    const tt::static_warp warp;
    const tt::shared_array<others::triple, 64> shared(
        reinterpret_cast<others::triple*>(b.shared()));
    others::triple items[2];
    tt::load_structs(warp, items, static_cast<const others::triple*>(in.data()), 64);
    tt::warp_exchange<others::triple, 2>::storage storage;
    const tt::warp_exchange<others::triple, 2> exchange(storage);
    exchange.blocked_to_striped(warp, items);
    for (unsigned i = 0; i < 2; ++i) { shared.set(32 * i + b.thread_rank(), items[i]); }
    exchange.striped_to_blocked(warp, items);
    tt::store_structs(warp, out.data(), 32, items[0]);
    tt::store_structs(warp, out.data() + 32, 32, shared.get(32 + b.thread_rank()));
  });
  CHECK(report.clean());
  bool right = true;
  for (std::size_t i = 0; i < 32; ++i) {
    right = right && equal(out[i], in[2 * i]) && equal(out[32 + i], in[32 + i]);
  }
  CHECK(right);
}

TEST_CASE("arrays are elements, too, though no function returns one") {
  using triple = float[3];
  using tile_type = tt::shared_tile<triple, tt::padded_layout<triple, 16, 16, 1>>;
  constexpr std::size_t size = 20;
  tt::emulated_buffer<triple> in(size * size);
  tt::emulated_buffer<triple> out(size * size);
  fill(in);
  const triple outside = {1, 2, 3};
  const tt::emulation_report report = tt::emulate(
      tt::emulated_dim(2, 2), 64, sizeof(tile_type::storage),
      [&](tt::emulated_block b, tt::matrix_view<triple> to, tt::matrix_view<const triple> from) {
        const tile_type tile(b.shared_as<tile_type::storage>());
        const std::size_t row = b.index().y * std::size_t{16};
        const std::size_t col = b.index().x * std::size_t{16};
        tt::load_tile(b, tile, from, row, col, outside);
        b.sync();
        if (b.index().x == 0 && b.thread_rank() == 0) { tile.set(0, 0, outside); }
        b.sync();
        tt::store_tile_transposed(b, to, col, row, tile);
        b.sync();
        if (b.index().x == 1 && b.thread_rank() == 0) { to.set(col, row, outside); }
      },
      tt::matrix_view<triple>{out.data(), size, size, size},
      tt::matrix_view<const triple>{in.data(), size, size, size});
  INFO(report.table());
  CHECK(report.clean());
  bool right = true;
  for (std::size_t i = 0; i < size * size; ++i) {
    const std::size_t row = i / size;
    const std::size_t col = i % size;
    const bool is_set = row % 16 == 0 && col % 16 == 0;
    right = right && equal(out[col * size + row], is_set ? outside : in[i]);
  }
  CHECK(right);
}

TEST_CASE("tiles: a walk takes every one once, and jumps between strips") {
  using tt::detail::tile_order;
  for (const unsigned rows : {1u, 9u, 11u, 12u, 13u, 40u}) {
    for (const unsigned columns : {1u, 2u, 5u, 6u, 24u}) {
      for (const unsigned width : {1u, 2u, 3u, 30u}) {
        for (const bool jumps : {false, true}) {
          tile_order order(rows, columns, width);
          if (jumps) { order.jump_half(); }
          const unsigned across = order.jump * std::min(width, columns);
          for (const unsigned down : {tile_order::jump_rows_of(32), tile_order::jump_rows_of(64)}) {
            if (order.jump != 0 && rows > down) {  // where the first strip's walk goes on
              const unsigned before = down * std::min(width, columns);
              REQUIRE(order(before - 1, down).col_tile == std::min(width, columns) - 1);
              REQUIRE(order(before, down).col_tile == across);
            }
            std::vector<int> taken(2 * rows * columns);
            for (unsigned block = 0; block < taken.size(); ++block) {
              const auto at = order(block, down);
              REQUIRE((at.batch < 2 && at.row_tile < rows && at.col_tile < columns));
              ++taken[(at.batch * rows + at.row_tile) * columns + at.col_tile];
            }
            INFO(rows << " x " << columns << " tiles, strips of " << width << ", down " << down);
            REQUIRE(taken == std::vector<int>(taken.size(), 1));
          }
          const bool alike = width >= columns || columns % width == 0;
          const bool several = width < columns;
          REQUIRE((order.jump != 0) == (jumps && alike && several));
        }
      }
    }
  }
}
