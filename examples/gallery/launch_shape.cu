// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// One kernel, many shapes: tiles of 8x8 to 64x64 and blocks of 128 to 1024 threads. A tile of fewer elements
/// than the block has threads is shared out: the block moves several, each by a part of its threads.
#include <tiletranspose/block_transpose.cuh>

#include <algorithm>
#include <utility>

#include "dispatch.cuh"
#include "families.hpp"
#include "mover.cuh"

namespace gallery {
namespace {

/// `Threads` neighbouring threads of a block. Its barrier is the whole block's, so all parts must meet it.
template <int Threads, class Group>
struct part_of {
  static constexpr int static_size = Threads;
  Group block;

  __host__ __device__ unsigned thread_rank() const { return block.thread_rank() % Threads; }
  __host__ __device__ static constexpr unsigned size() { return Threads; }
  __host__ __device__ void sync() const { block.sync(); }
};

template <class T, int TileDim, int Threads>
struct shape_body {
  static constexpr int threads = Threads;
  static constexpr int part_threads = std::min(Threads, TileDim* TileDim);
  static constexpr int parts = Threads / part_threads;
  using transposer = tt::block_transpose<T, TileDim, part_threads / TileDim>;
  using layout = typename transposer::tile::layout;
  struct storage {
    typename transposer::storage tiles[parts];
  };

  tt::matrix_view<T> out;
  tt::matrix_view<const T> in;
  tile_grid grid;

  static std::size_t blocks(const tile_grid& grid) { return divide_up(grid.tiles(), parts); }

  template <class Group>
  __host__ __device__ void operator()(Group group, storage& memory, unsigned block) const {
    const part_of<part_threads, Group> part{group};
    const unsigned mine = group.thread_rank() / part_threads;
    // Behind the last tile lie places below the matrix, of which nothing is loaded or stored.
    const tile_grid::place at = grid(block * parts + mine);
    const transposer tile(memory.tiles[mine]);
    tile.load(part, in, at.row, at.col);
    part.sync();
    tile.store(part, out, at.col, at.row);
  }
};

template <class T, int TileDim, int Threads>
launch_case shape_case(const problem& asked) {
  using body = shape_body<T, TileDim, Threads>;
  const std::string side = std::to_string(TileDim);
  const tile_grid grid = tile_grid::of(asked.ny, asked.nx, TileDim, TileDim);
  launch_case made = moving_case<T>(
      asked, side + "x" + side + " tile, " + std::to_string(Threads) + " threads",
      transposed_place{asked.nx, asked.ny}, [asked, grid](const workspace& memory) {
        return launch(
            body{transposed_output_of<T>(asked, memory), input_of<T>(asked, memory), grid},
            body::blocks(grid), memory);
      });
  made.plotted = false;
  if (body::parts > 1) { made.note = std::to_string(body::parts) + " tiles a block"; }
  predict_block<body>(made.predicted);
  predict_transposing_tile<typename body::layout>(made.predicted, asked.banks);
  const int bytes = static_cast<int>(sizeof(T));
  made.predicted.least_sectors = least_sectors(bytes);
  made.predicted.load_sectors =
      tile_sectors({asked.ny, asked.nx, TileDim, TileDim, tt::along_rows}, bytes);
  made.predicted.store_sectors =
      tile_sectors({asked.nx, asked.ny, TileDim, TileDim, tt::along_rows}, bytes);
  return made;
}

template <class T, int... TileDims>
std::vector<launch_case> shapes_of(const problem& asked, std::integer_sequence<int, TileDims...>) {
  std::vector<launch_case> made;
  const auto add = [&](auto... some) { (made.push_back(std::move(some)), ...); };
  (add(shape_case<T, TileDims, 128>(asked), shape_case<T, TileDims, 256>(asked),
       shape_case<T, TileDims, 512>(asked), shape_case<T, TileDims, 1024>(asked)),
   ...);
  return made;
}

}  // namespace

std::vector<routine> launch_shapes(const problem& asked) {
  return with_bits(asked.type, [&](auto tag) {
    routine sweep{"launch-shape", family::launch_shape,
                  "block_transpose with tiles of 8x8 to 64x64 and 128 to 1024 threads",
                  shapes_of<typename decltype(tag)::type>(
                      asked, std::integer_sequence<int, 8, 16, 32, 64>{})};
    sweep.best_is_a_result = true;
    return std::vector<routine>{std::move(sweep)};
  });
}

}  // namespace gallery
