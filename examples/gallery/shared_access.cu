// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Shared memory alone: a block writes a tile row by row and reads it column by column, many times over. A
/// round has two barriers, which take about as long as two-way conflicts of 4-byte elements do: those hide
/// behind them (H200, 2026-11-21), more do not.
#include <tiletranspose/banks.cuh>
#include <tiletranspose/tile.cuh>

#include <algorithm>
#include <sstream>

#include "dispatch.cuh"
#include "families.hpp"
#include "mover.cuh"

namespace gallery {
namespace {

constexpr int tile_cols = 32;
constexpr int rounds = 256;
// On the CPU, where nothing is timed. Odd: two transpositions of a square undo each other.
constexpr int emulated_rounds = 5;

/// One for every 32x32 tile of the matrix, but no more than it takes to fill a GPU.
std::size_t blocks_for(const problem& asked) {
  constexpr std::size_t most = 1024;
  return std::min(divide_up(asked.nx * asked.ny, tile_cols * tile_cols), most);
}

/// The element of the tile that a thread reads; thread t writes element (t / cols, t % cols).
struct read_column {
  template <class Layout>
  __host__ __device__ static tt::tile_coordinate of(unsigned thread, Layout) {
    return {static_cast<int>(thread) % Layout::rows, static_cast<int>(thread) / Layout::rows};
  }
};

/// A whole warp reads the first element of the row that it wrote.
struct read_broadcast {
  template <class Layout>
  __host__ __device__ static tt::tile_coordinate of(unsigned thread, Layout) {
    return {static_cast<int>(thread) / Layout::cols, 0};
  }
};

/// One thread per element: a 32x32 or 32x16 block.
template <class T, class Layout, class Reader, int Rounds>
struct access_body {
  static constexpr int threads = Layout::rows * Layout::cols;
  using tile = tt::shared_tile<T, Layout>;
  using storage = typename tile::storage;

  tt::matrix_view<T> out;  // one row per block
  tt::matrix_view<const T> in;

  template <class Group>
  __host__ __device__ void operator()(Group group, storage& memory, unsigned block) const {
    const tile shared(memory);
    const unsigned thread = group.thread_rank();
    const int row = static_cast<int>(thread) / Layout::cols;
    const int col = static_cast<int>(thread) % Layout::cols;
    const tt::tile_coordinate from = Reader::of(thread, Layout{});
    T value = in.get(block, thread);
    for (int round = 0; round < Rounds; ++round) {
      shared.set(row, col, value);
      group.sync();  // every element is written before one is read
      value = shared.get(from.row, from.col);
      group.sync();  // and read before it is written again
    }
    out.set(block, thread, value);
  }
};

/// Where a thread's value comes from after all rounds: each takes that of the thread it reads from.
template <class Layout, class Reader, int Rounds>
struct value_after_rounds {
  __host__ __device__ std::size_t operator()(std::size_t i) const {
    constexpr std::size_t threads = Layout::rows * Layout::cols;
    unsigned thread = static_cast<unsigned>(i % threads);
    for (int round = 0; round < Rounds; ++round) {
      const tt::tile_coordinate from = Reader::of(thread, Layout{});
      thread = static_cast<unsigned>(from.row * Layout::cols + from.col);
    }
    return i / threads * threads + thread;
  }
};

/// Ways of the worst warp that reads as Reader does.
template <class Layout, class Reader>
int read_ways(tt::bank_model banks) {
  constexpr int threads = Layout::rows * Layout::cols;
  int worst = 0;
  for (int first = 0; first < threads; first += warp_lanes) {
    const int ways = tt::conflict_ways(
        Layout{},
        [&](int lane) { return Reader::of(static_cast<unsigned>(first + lane), Layout{}); },
        static_cast<int>(sizeof(typename Layout::element)), banks);
    worst = std::max(worst, ways);
  }
  return worst;
}

/// The same tile on every kind of bank: those of today, the 8-byte mode of compute capability 3.x and the
/// 16 banks of 1.x.
template <class Layout, class Reader>
std::string ways_on_every_model() {
  struct named_model {
    const char* name;
    tt::bank_model banks;
  };
  std::ostringstream text;
  const char* separator = "write/read ways: ";
  for (const named_model& model :
       {named_model{"32 banks of 4 bytes", tt::banks_32x4}, named_model{"32 of 8", tt::banks_32x8},
        named_model{"16 of 4", tt::banks_16x4}}) {
    text << separator << model.name << " "
         << tt::conflict_ways(Layout{}, tt::along_rows, model.banks) << "/"
         << read_ways<Layout, Reader>(model.banks);
    separator = ", ";
  }
  return text.str();
}

template <class T, class Layout, class Reader>
routine access_routine(const problem& asked, const char* name, const char* summary) {
  using body = access_body<T, Layout, Reader, rounds>;
  using short_body = access_body<T, Layout, Reader, emulated_rounds>;
  constexpr std::size_t threads = body::threads;
  const std::size_t blocks = blocks_for(asked);
  const std::size_t count = blocks * threads;
  launch_case made;
  made.label = name;
  made.type = name_of(asked.type);
  made.counts = traffic::shared;
  made.bytes = 2 * rounds * count * sizeof(T);
  made.in_bytes = made.out_bytes = count * sizeof(T);
  made.plotted = false;
  made.note = ways_on_every_model<Layout, Reader>();
  predict_block<body>(made.predicted);
  made.predicted.write_ways = tt::conflict_ways(Layout{}, tt::along_rows, asked.banks);
  made.predicted.read_ways = read_ways<Layout, Reader>(asked.banks);
  made.prepare = [count](const workspace& memory) {
    fill(memory, reinterpret_cast<T*>(memory.in), count, random_bytes<T>{});
  };
  made.enqueue = [blocks](const workspace& memory) {
    const tt::matrix_view<T> out{reinterpret_cast<T*>(memory.out), blocks, threads, threads};
    const tt::matrix_view<const T> in{reinterpret_cast<const T*>(memory.in), blocks, threads,
                                      threads};
    return memory.cpu != nullptr ? launch_on_cpu(short_body{out, in}, blocks, memory)
                                 : launch(body{out, in}, blocks, memory);
  };
  made.count_wrong = [count](const workspace& memory) {
    using place = value_after_rounds<Layout, Reader, rounds>;
    using short_place = value_after_rounds<Layout, Reader, emulated_rounds>;
    const T* const found = reinterpret_cast<const T*>(memory.out);
    return memory.cpu != nullptr
               ? count_different_on_cpu(found, count, value_from<T, short_place>{short_place{}})
               : count_different(memory, found, count, value_from<T, place>{place{}});
  };
  return {name, family::shared_access, summary, {std::move(made)}};
}

template <class T, int Rows, int Padding>
using tile_of = tt::padded_layout<T, Rows, tile_cols, Padding>;

template <class T>
std::vector<routine> routines_of(const problem& asked) {
  constexpr int square = 32;
  constexpr int flat = 16;
  constexpr int square_model = tt::default_padding<T, square, tile_cols>();
  constexpr int flat_model = tt::default_padding<T, flat, tile_cols>();
  return {
      access_routine<T, tile_of<T, square, 0>, read_column>(
          asked, "shared-square-unpadded", "32x32 tile, rows written, columns read"),
      access_routine<T, tile_of<T, square, 1>, read_column>(asked, "shared-square-padded-by-1",
                                                            "the same with 1 column of padding"),
      access_routine<T, tile_of<T, square, 2>, read_column>(asked, "shared-square-padded-by-2",
                                                            "the same with 2 columns of padding"),
      access_routine<T, tile_of<T, square, square_model>, read_column>(
          asked, "shared-square-model-padding", "the same with the padding that the model finds"),
      access_routine<T, tile_of<T, square, 0>, read_broadcast>(
          asked, "shared-square-broadcast", "32x32 tile, a warp reads one element"),
      access_routine<T, tile_of<T, flat, 0>, read_column>(asked, "shared-flat-unpadded",
                                                          "tile of a 32x16 block: 16 rows of 32"),
      access_routine<T, tile_of<T, flat, 1>, read_column>(asked, "shared-flat-padded-by-1",
                                                          "the same with 1 column of padding"),
      access_routine<T, tile_of<T, flat, 2>, read_column>(asked, "shared-flat-padded-by-2",
                                                          "the same with 2 columns of padding"),
      access_routine<T, tile_of<T, flat, flat_model>, read_column>(
          asked, "shared-flat-model-padding", "the same with the padding that the model finds"),
      access_routine<T, tile_of<T, flat, 0>, read_broadcast>(
          asked, "shared-flat-broadcast", "tile of a 32x16 block, a warp reads one element"),
  };
}

}  // namespace

std::vector<routine> shared_access(const problem& asked) {
  std::vector<routine> made = with_bits(
      asked.type, [&](auto tag) { return routines_of<typename decltype(tag)::type>(asked); });
  made.front().remark =
      "shared-memory access: GB/s counts bytes of shared memory. Banks 8 bytes wide were a setting "
      "of\n"
      "compute capability 3.x, 16 banks those of 1.x; no GPU of today has either, so both are "
      "settings\n"
      "of the model. The choice between L1 cache and shared memory is --carveout now.";
  return made;
}

}  // namespace gallery
