// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The transposes, from the naive kernels to the library's call. Each adds one idea to the one before.
#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/policy.cuh>
#include <tiletranspose/transpose.cuh>

#include <algorithm>

#include "cublas_peer.hpp"
#include "dispatch.cuh"
#include "families.hpp"
#include "mover.cuh"

namespace gallery {
namespace {

constexpr int dim = 32;        // rows and columns of a tile
constexpr int block_rows = 8;  // rows of threads
constexpr int block_threads = dim * block_rows;

/// Which of the two matrices a warp walks along the rows of; down the columns of the other.
enum class coalesced { input, output };

/// out(c, r) == in(r, c) without shared memory.
template <class T, coalesced Side>
struct naive_body {
  static constexpr int threads = block_threads;
  using storage = no_storage;

  tt::matrix_view<T> out;
  tt::matrix_view<const T> in;
  tile_grid grid;  // of the input, or of the output

  template <class Group>
  __host__ __device__ void operator()(Group group, storage&, unsigned block) const {
    const tile_grid::place at = grid(block);
    const std::size_t col = at.col + group.thread_rank() % dim;
    const std::size_t first = at.row + group.thread_rank() / dim;
    const std::size_t rows = Side == coalesced::input ? in.rows : out.rows;
    const std::size_t cols = Side == coalesced::input ? in.cols : out.cols;
    if (col >= cols) { return; }
    T held[dim / block_rows] = {};
    for (int i = 0; i < dim / block_rows; ++i) {
      const std::size_t row = first + static_cast<std::size_t>(i * block_rows);
      if (row < rows) { held[i] = Side == coalesced::input ? in.get(row, col) : in.get(col, row); }
    }
    for (int i = 0; i < dim / block_rows; ++i) {
      const std::size_t row = first + static_cast<std::size_t>(i * block_rows);
      if (row < rows) {
        Side == coalesced::input ? out.set(col, row, held[i]) : out.set(row, col, held[i]);
      }
    }
  }
};

/// out(c, r) == in(r, c) by way of one tile of the layout given: both matrices are walked along rows.
template <class T, class Layout>
struct staged_body {
  static constexpr int threads = block_threads;
  using layout = Layout;
  using tile = tt::shared_tile<T, Layout>;
  using storage = typename tile::storage;

  tt::matrix_view<T> out;
  tt::matrix_view<const T> in;
  tile_grid grid;  // of the input

  template <class Group>
  __host__ __device__ void operator()(Group group, storage& memory, unsigned block) const {
    const tile_grid::place at = grid(block);
    const tile staged(memory);
    tt::load_tile(group, staged, in, at.row, at.col);
    group.sync();
    tt::store_tile_transposed(group, out, at.col, at.row, staged);
  }
};

/// The same, composed from the library's block primitive.
template <class T, int Padding, int BankWidth>
struct block_primitive_body {
  using transposer = tt::block_transpose<T, dim, block_rows, Padding, BankWidth>;
  static constexpr int threads = transposer::threads;
  using layout = typename transposer::tile::layout;
  using storage = typename transposer::storage;

  tt::matrix_view<T> out;
  tt::matrix_view<const T> in;
  tile_grid grid;

  template <class Group>
  __host__ __device__ void operator()(Group group, storage& memory, unsigned block) const {
    const tile_grid::place at = grid(block);
    const transposer tile(memory);
    tile.load(group, in, at.row, at.col);
    group.sync();
    tile.store(group, out, at.col, at.row);
  }
};

/// Two tiles side by side: twice the loads are under way before the first is waited for.
template <class T, int Padding, int BankWidth>
struct unrolled_body {
  using transposer = tt::block_transpose<T, dim, block_rows, Padding, BankWidth>;
  static constexpr int threads = transposer::threads;
  using layout = typename transposer::tile::layout;
  struct storage {
    typename transposer::storage left, right;
  };

  tt::matrix_view<T> out;
  tt::matrix_view<const T> in;
  tile_grid grid;  // of pairs of tiles

  template <class Group>
  __host__ __device__ void operator()(Group group, storage& memory, unsigned block) const {
    const tile_grid::place at = grid(block);
    const transposer left(memory.left);
    const transposer right(memory.right);
    left.load(group, in, at.row, at.col);
    right.load(group, in, at.row, at.col + dim);
    group.sync();
    left.store(group, out, at.col, at.row);
    right.store(group, out, at.col + dim, at.row);
  }
};

/// What a warp walks along in each matrix.
struct walks {
  tt::tile_walk input, output;
};

template <class T>
void predict_sectors(prediction& predicted, const problem& asked, walks warp) {
  const int bytes = static_cast<int>(sizeof(T));
  predicted.least_sectors = least_sectors(bytes);
  predicted.load_sectors = tile_sectors({asked.ny, asked.nx, dim, dim, warp.input}, bytes);
  predicted.store_sectors = tile_sectors({asked.nx, asked.ny, dim, dim, warp.output}, bytes);
}

template <class T, class Enqueue>
launch_case transposing_case(const problem& asked, std::string name, Enqueue enqueue) {
  return moving_case<T>(asked, std::move(name), transposed_place{asked.nx, asked.ny},
                        std::move(enqueue));
}

/// A body with the members out, in and grid.
template <class T, class Body>
launch_case body_case(const problem& asked, std::string name, tile_grid grid) {
  launch_case made =
      transposing_case<T>(asked, std::move(name), [asked, grid](const workspace& memory) {
        return launch(
            Body{transposed_output_of<T>(asked, memory), input_of<T>(asked, memory), grid},
            grid.tiles(), memory);
      });
  predict_block<Body>(made.predicted);
  return made;
}

template <class T, coalesced Side>
launch_case naive_case(const problem& asked, std::string name, tile_grid::order order) {
  const tile_grid grid = Side == coalesced::input
                             ? tile_grid::of(asked.ny, asked.nx, dim, dim, order)
                             : tile_grid::of(asked.nx, asked.ny, dim, dim, order);
  launch_case made = body_case<T, naive_body<T, Side>>(asked, std::move(name), grid);
  predict_sectors<T>(made.predicted, asked,
                     Side == coalesced::input ? walks{tt::along_rows, tt::along_columns}
                                              : walks{tt::along_columns, tt::along_rows});
  return made;
}

template <class T, class Body>
launch_case tile_case(const problem& asked, std::string name, int tiles_across = 1) {
  const tile_grid grid =
      tile_grid::of(asked.ny, asked.nx, dim, static_cast<unsigned>(dim * tiles_across));
  launch_case made = body_case<T, Body>(asked, std::move(name), grid);
  predict_transposing_tile<typename Body::layout>(made.predicted, asked.banks);
  predict_sectors<T>(made.predicted, asked, {tt::along_rows, tt::along_rows});
  return made;
}

/// The padding comes from the model, and so depends on its bank width.
template <class T, int BankWidth, template <class, int, int> class Body>
launch_case model_case_of_width(const problem& asked, std::string name, int tiles_across) {
  constexpr int padding = tt::default_padding<T, dim, dim, BankWidth>();
  launch_case made =
      tile_case<T, Body<T, padding, BankWidth>>(asked, std::move(name), tiles_across);
  made.note = "padding " + std::to_string(padding);
  return made;
}

template <class T, template <class, int, int> class Body>
launch_case model_case(const problem& asked, std::string name, int tiles_across = 1) {
  return asked.banks.bank_width == 8
             ? model_case_of_width<T, 8, Body>(asked, std::move(name), tiles_across)
             : model_case_of_width<T, 4, Body>(asked, std::move(name), tiles_across);
}

/// Words of at least a bank's width trade places, so that bytes of one word stay together.
template <class T>
using swizzle =
    tt::swizzled_layout<T, dim, dim, static_cast<int>(std::max(sizeof(T), std::size_t{4}))>;

template <class T>
launch_case explicit_case(const problem& asked) {
  constexpr int padding = tt::default_padding<T, dim>();
  launch_case made =
      transposing_case<T>(asked, "transpose-explicit", [asked](const workspace& memory) {
        return tt::transpose<T, dim, block_rows>(reinterpret_cast<T*>(memory.out),
                                                 reinterpret_cast<const T*>(memory.in), asked.nx,
                                                 asked.ny, memory.stream);
      });
  made.needs_gpu = true;
  made.predicted.threads = block_threads;
  predict_transposing_tile<tt::padded_layout<T, dim, dim, padding>>(made.predicted, asked.banks);
  predict_sectors<T>(made.predicted, asked, {tt::along_rows, tt::along_rows});
  return made;
}

/// Of the tuned call its policy is public, its kernels are not: nothing is said where another kernel than
/// the policy's may run.
template <class T>
void predict_tuned(prediction& predicted, const problem& asked) {
  constexpr int bytes = static_cast<int>(sizeof(T));
  const auto whole = [](std::size_t side) { return side * bytes % tt::max_access_bytes == 0; };
  const bool large = asked.nx * asked.ny > std::size_t{1}
                                               << 24;  // smaller ones may have another mover
  if (!large || !whole(asked.nx) || !whole(asked.ny) || asked.nx * bytes < 2048 ||
      asked.ny * bytes < 2048) {
    return;
  }
  constexpr int architecture = 90;
  constexpr tt::tile_policy policy =
      tt::tuned_policy(architecture, bytes, bytes, tt::tile_access::whole);
  predicted.threads = policy.threads;
  const auto sectors = [](std::size_t rows, std::size_t cols, int tile_rows, int tile_cols,
                          int access) {
    return tile_sectors({rows, cols, tile_rows, tile_cols, {false, access}}, bytes);
  };
  predicted.load_sectors =
      sectors(asked.ny, asked.nx, policy.tile_rows, policy.tile_cols, policy.load_bytes);
  predicted.store_sectors =
      sectors(asked.nx, asked.ny, policy.tile_cols, policy.tile_rows, policy.store_bytes);
  predicted.least_sectors = least_sectors(std::max(policy.load_bytes, policy.store_bytes));
  // A static_assert of the library, for every policy.
  predicted.write_ways = 1;
  predicted.read_ways = 1;
  // One a word that a lane accesses: 16-byte accesses are served by quarter-warps.
  const auto wavefronts = [](int access) { return std::max(1.0, access / 4.0); };
  predicted.write_wavefronts = wavefronts(policy.fill_bytes);
  predicted.read_wavefronts = wavefronts(policy.store_bytes);
}

template <class T>
launch_case tuned_case(const problem& asked) {
  launch_case made =
      transposing_case<T>(asked, "transpose-tuned", [asked](const workspace& memory) {
        return tt::transpose(reinterpret_cast<T*>(memory.out),
                             reinterpret_cast<const T*>(memory.in), asked.nx, asked.ny,
                             memory.stream);
      });
  made.needs_gpu = true;
  predict_tuned<T>(made.predicted, asked);
  return made;
}

template <class T>
launch_case geam_case(const problem& asked) {
  peer library = cublas_transpose(asked.type, asked.nx, asked.ny);
  launch_case made = transposing_case<T>(asked, "transpose-cublas", std::move(library.enqueue));
  made.unavailable = std::move(library.unavailable);
  made.foreign = made.needs_gpu = true;
  return made;
}

constexpr const char* diagonal_remark =
    "diagonal block order: on GPUs of 2008 (compute capability 1.x) neighbouring blocks of a "
    "naive\n"
    "transpose queued for one memory partition, \"partition camping\", and walking the tiles "
    "along\n"
    "diagonals was the cure. Since compute capability 2.0 addresses are hashed over the "
    "partitions:\n"
    "camping is no longer an issue. What is left of the difference to the plain order comes from "
    "the\n"
    "caches, and may have either sign.";

constexpr const char* folklore_remark =
    "one column of padding (conflict-free): right for elements of 4 bytes and multiples of them. "
    "For\n"
    "smaller ones a row then moves by less than a bank; see the modelled ways and "
    "examples/bank_map.";

template <class T>
std::vector<routine> routines_of(const problem& asked) {
  using order = tile_grid::order;
  constexpr family group = family::transposes;
  const auto one = [](const char* summary, launch_case only, const char* remark = "") {
    const std::string name = only.label;
    return routine{name, group, summary, {std::move(only)}, remark};
  };
  return {
      one("no shared memory, input read along rows",
          naive_case<T, coalesced::input>(asked, "transpose-naive-rows", order::rows)),
      one("no shared memory, output written along rows",
          naive_case<T, coalesced::output>(asked, "transpose-naive-columns", order::rows)),
      one("a tile without padding: coalesced, with bank conflicts",
          tile_case<T, staged_body<T, tt::padded_layout<T, dim, dim, 0>>>(asked,
                                                                          "transpose-conflicts")),
      one("a tile with one column of padding",
          tile_case<T, staged_body<T, tt::padded_layout<T, dim, dim, 1>>>(
              asked, "transpose-conflict-free"),
          folklore_remark),
      one("a tile with the padding that the bank model finds",
          model_case<T, block_primitive_body>(asked, "transpose-model-padding")),
      one("a tile without padding whose words trade places",
          tile_case<T, staged_body<T, swizzle<T>>>(asked, "transpose-swizzle")),
      one("two padded tiles per block",
          model_case<T, unrolled_body>(asked, "transpose-unrolled", 2)),
      one("as naive-rows, blocks along diagonals",
          naive_case<T, coalesced::input>(asked, "transpose-diagonal-rows", order::diagonal),
          diagonal_remark),
      one("as naive-columns, blocks along diagonals",
          naive_case<T, coalesced::output>(asked, "transpose-diagonal-columns", order::diagonal)),
      one("tt::transpose<T, 32, 8>(out, in, nx, ny)", explicit_case<T>(asked)),
      one("tt::transpose(out, in, nx, ny)", tuned_case<T>(asked)),
      one("cublas<t>geam", geam_case<T>(asked)),
  };
}

}  // namespace

std::vector<routine> transposes(const problem& asked) {
  return with_bits(asked.type,
                   [&](auto tag) { return routines_of<typename decltype(tag)::type>(asked); });
}

}  // namespace gallery
