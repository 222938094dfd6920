// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The ceilings: what moving the bytes costs when nothing is turned.
#include <tiletranspose/tile_io.cuh>

#include "dispatch.cuh"
#include "families.hpp"
#include "mover.cuh"

namespace gallery {
namespace {

/// out[i] == in[i]; a thread loads all its elements before it stores the first.
template <class T>
struct copy_body {
  static constexpr int threads = 256;
  static constexpr int rounds = 4;
  using storage = no_storage;

  tt::matrix_view<T> out;  // one row of all elements
  tt::matrix_view<const T> in;

  template <class Group>
  __host__ __device__ void operator()(Group group, storage&, unsigned block) const {
    const std::size_t first = std::size_t{block} * (threads * rounds) + group.thread_rank();
    T held[rounds] = {};
    for (int i = 0; i < rounds; ++i) {
      const std::size_t at = first + static_cast<std::size_t>(i * threads);
      if (at < in.cols) { held[i] = in.get(0, at); }
    }
    for (int i = 0; i < rounds; ++i) {
      const std::size_t at = first + static_cast<std::size_t>(i * threads);
      if (at < in.cols) { out.set(0, at, held[i]); }
    }
  }
};

/// out(r, c) == in(r, c), by way of a tile in shared memory.
template <class T>
struct staged_copy_body {
  static constexpr int threads = 256;
  static constexpr int dim = 32;
  using tile = tt::shared_tile<T, tt::padded_layout<T, dim, dim, 0>>;
  using storage = typename tile::storage;

  tt::matrix_view<T> out;
  tt::matrix_view<const T> in;
  tile_grid grid;

  template <class Group>
  __host__ __device__ void operator()(Group group, storage& memory, unsigned block) const {
    const tile_grid::place at = grid(block);
    const tile staged(memory);
    tt::load_tile(group, staged, in, at.row, at.col);
    group.sync();
    tt::store_tile(group, out, at.row, at.col, staged);
  }
};

template <class T>
launch_case memcpy_case(const problem& asked) {
  const std::size_t bytes = asked.nx * asked.ny * sizeof(T);
  launch_case made =
      moving_case<T>(asked, reference_routine, same_place{}, [bytes](const workspace& memory) {
        return cudaMemcpyAsync(memory.out, memory.in, bytes, cudaMemcpyDeviceToDevice,
                               memory.stream);
      });
  made.needs_gpu = true;
  return made;
}

template <class T>
launch_case copy_case(const problem& asked) {
  using body = copy_body<T>;
  const std::size_t count = asked.nx * asked.ny;
  launch_case made = moving_case<T>(asked, "copy", same_place{}, [count](const workspace& memory) {
    const tt::matrix_view<T> out{reinterpret_cast<T*>(memory.out), 1, count, count};
    const tt::matrix_view<const T> in{reinterpret_cast<const T*>(memory.in), 1, count, count};
    return launch(body{out, in}, divide_up(count, body::threads * body::rounds), memory);
  });
  predict_block<body>(made.predicted);
  made.predicted.least_sectors = least_sectors(sizeof(T));
  made.predicted.load_sectors = made.predicted.store_sectors =
      tile_sectors({1, count, 1, body::threads, tt::along_rows}, sizeof(T));
  return made;
}

template <class T>
launch_case staged_copy_case(const problem& asked) {
  using body = staged_copy_body<T>;
  const tile_grid grid = tile_grid::of(asked.ny, asked.nx, body::dim, body::dim);
  launch_case made = moving_case<
      T>(asked, "copy-through-shared", same_place{}, [asked, grid](const workspace& memory) {
    const tt::matrix_view<T> out{reinterpret_cast<T*>(memory.out), asked.ny, asked.nx, asked.nx};
    return launch(body{out, input_of<T>(asked, memory), grid}, grid.tiles(), memory);
  });
  predict_block<body>(made.predicted);
  using layout = typename body::tile::layout;
  made.predicted.write_ways = tt::conflict_ways(layout{}, tt::along_rows, asked.banks);
  made.predicted.read_ways = made.predicted.write_ways;
  made.predicted.least_sectors = least_sectors(sizeof(T));
  made.predicted.load_sectors = made.predicted.store_sectors =
      tile_sectors({asked.ny, asked.nx, body::dim, body::dim, tt::along_rows}, sizeof(T));
  return made;
}

}  // namespace

std::vector<routine> ceilings(const problem& asked) {
  return with_bits(asked.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return std::vector<routine>{
        {reference_routine,
         family::ceilings,
         "cudaMemcpyAsync, device to device",
         {memcpy_case<T>(asked)}},
        {"copy",
         family::ceilings,
         "a kernel that copies element by element",
         {copy_case<T>(asked)}},
        {"copy-through-shared",
         family::ceilings,
         "a kernel that copies by way of 32x32 tiles",
         {staged_copy_case<T>(asked)}},
    };
  });
}

}  // namespace gallery
