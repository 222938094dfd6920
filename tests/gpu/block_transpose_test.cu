// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// block_transpose with its items in registers, and its storage in a union with CUB's.

#include <cub/block/block_reduce.cuh>

#include <tiletranspose/block_transpose.cuh>

#include "support.cuh"

using namespace tt_test;

namespace {

// Which half of a transpose goes through registers; the other is written by hand, or uses the tile.
enum class path { load, write, read, store, all };

template <class T, int TileDim, int BlockRows, path Path>
__global__ void transpose_by_items(tt::matrix_view<T> out, tt::matrix_view<const T> in) {
  using block_transpose = tt::block_transpose<T, TileDim, BlockRows>;
  __shared__ typename block_transpose::storage storage;
  const tt::static_block<block_transpose::threads> block;
  const block_transpose transposer(storage);
  const std::size_t row0 = blockIdx.y * std::size_t{TileDim};
  const std::size_t col0 = blockIdx.x * std::size_t{TileDim};
  const unsigned rank = block.thread_rank();
  const auto item_exists = [&](const auto& matrix, std::size_t row, std::size_t col, int k) {
    return row + block_transpose::item_row(rank, k) < matrix.rows &&
           col + block_transpose::item_col(rank) < matrix.cols;
  };
  const auto place = [&](std::size_t row, std::size_t col, std::size_t stride, int k) {
    return (row + block_transpose::item_row(rank, k)) * stride + col +
           block_transpose::item_col(rank);
  };

  T items[block_transpose::items_per_thread];
  if (Path == path::load || Path == path::all) {
    transposer.load(block, items, in, row0, col0);
  } else if (Path == path::write) {
    for (int k = 0; k < block_transpose::items_per_thread; ++k) {
      if (item_exists(in, row0, col0, k)) { items[k] = in.data[place(row0, col0, in.stride, k)]; }
    }
  }
  if (Path == path::load) {  // turned by hand
    for (int k = 0; k < block_transpose::items_per_thread; ++k) {
      if (item_exists(in, row0, col0, k)) {
        out.data[(col0 + block_transpose::item_col(rank)) * out.stride + row0 +
                 block_transpose::item_row(rank, k)] = items[k];
      }
    }
    return;
  }
  if (Path == path::write || Path == path::all) {
    transposer.write(block, items);
  } else {
    transposer.load(block, in, row0, col0);
  }
  block.sync();
  if (Path == path::write) {
    transposer.store(block, out, col0, row0);
    return;
  }
  transposer.read(block, items);
  if (Path == path::read) {
    for (int k = 0; k < block_transpose::items_per_thread; ++k) {
      if (item_exists(out, col0, row0, k)) {
        out.data[place(col0, row0, out.stride, k)] = items[k];
      }
    }
    return;
  }
  transposer.store(block, out, col0, row0, items);
}

template <class T, int TileDim, int BlockRows, path Path>
void check_path(random_source& random) {
  const element_type type = describe<T>(std::to_string(sizeof(T)) + " bytes");
  INFO("tile of " << TileDim << ", " << BlockRows << " rows of threads, path "
                  << static_cast<int>(Path));
  constexpr std::size_t dim = TileDim;
  for (const shape s :
       {shape{dim, dim}, shape{1, 1}, shape{3 * dim - 1, dim + 1}, shape{1, 2 * dim + 1},
        shape{2 * dim, dim - 1}, shape{random.between(1, 150), random.between(1, 150)}}) {
    check_transpose(type, s, {s.nx + 2, s.ny + 1, alignof(T), 0}, random,
                    [&](std::byte* out, const std::byte* in) {
                      const dim3 grid(static_cast<unsigned>((s.nx + dim - 1) / dim),
                                      static_cast<unsigned>((s.ny + dim - 1) / dim));
                      transpose_by_items<T, TileDim, BlockRows, Path>
                          <<<grid, TileDim * BlockRows>>>(
                              {reinterpret_cast<T*>(out), s.nx, s.ny, s.ny + 1},
                              {reinterpret_cast<const T*>(in), s.ny, s.nx, s.nx + 2});
                      return cudaGetLastError();
                    });
  }
}

template <class T, int TileDim, int BlockRows>
void check_paths(random_source& random) {
  check_path<T, TileDim, BlockRows, path::load>(random);
  check_path<T, TileDim, BlockRows, path::write>(random);
  check_path<T, TileDim, BlockRows, path::read>(random);
  check_path<T, TileDim, BlockRows, path::store>(random);
  check_path<T, TileDim, BlockRows, path::all>(random);
}

constexpr unsigned untouched = 0xa5a5a5a5u;

// Items as the threads hold them after a load.
__global__ void dump_items(unsigned* out, tt::matrix_view<const unsigned> in, std::size_t row0,
                           std::size_t col0) {
  using block_transpose = tt::block_transpose<unsigned, 32, 8>;
  const tt::static_block<block_transpose::threads> block;
  unsigned items[block_transpose::items_per_thread];
  for (unsigned& item : items) { item = untouched; }
  block_transpose::load(block, items, in, row0, col0);
  for (int k = 0; k < block_transpose::items_per_thread; ++k) {
    out[block.thread_rank() * block_transpose::items_per_thread + k] = items[k];
  }
}

void check_dump(shape s, std::size_t row0, std::size_t col0, random_source& random) {
  INFO(s.ny << " rows of " << s.nx << " from row " << row0 << ", column " << col0);
  const byte_vector content = random.fill(s.nx * s.ny * 4);
  const input_buffer in{content};
  byte_vector expected(32 * 32 * 4);
  for (std::size_t rank = 0; rank < 256; ++rank) {
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t row = row0 + rank / 32 + 8 * k;
      const std::size_t col = col0 + rank % 32;
      const bool exists = row < s.ny && col < s.nx;
      std::memcpy(&expected[(rank * 4 + k) * 4],
                  exists ? static_cast<const void*>(&content[(row * s.nx + col) * 4])
                         : static_cast<const void*>(&untouched),
                  4);
    }
  }
  output_buffer out{expected.size(), 0, random};
  out.expect(0, expected.size(), {expected.data(), 1, expected.size(), expected.size(), 1});
  out.poison();
  dump_items<<<1, 256>>>(out.as<unsigned>(), {in.as<unsigned>(), s.ny, s.nx, s.nx}, row0, col0);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(out.difference() == "");
  REQUIRE(in.unchanged());
}

// Transposes, and sums each tile in the memory that the tile passes through.
__global__ void transpose_and_sum(tt::matrix_view<unsigned> out, tt::matrix_view<const unsigned> in,
                                  unsigned* sums) {
  using block_transpose = tt::block_transpose<unsigned, 32, 8>;
  using reduce = cub::BlockReduce<unsigned, block_transpose::threads>;
  __shared__ union {
    typename block_transpose::storage tile;
    typename reduce::TempStorage sum;
  } storage;
  const tt::static_block<block_transpose::threads> block;
  const block_transpose transposer(storage.tile);
  const std::size_t row0 = blockIdx.y * std::size_t{32};
  const std::size_t col0 = blockIdx.x * std::size_t{32};
  unsigned items[block_transpose::items_per_thread] = {};
  transposer.load(block, items, in, row0, col0);
  unsigned sum = 0;
  for (const unsigned item : items) { sum += item; }
  sum = reduce(storage.sum).Sum(sum);
  if (block.thread_rank() == 0) { sums[blockIdx.y * gridDim.x + blockIdx.x] = sum; }
  block.sync();
  transposer.write(block, items);
  block.sync();
  transposer.read(block, items);
  transposer.store(block, out, col0, row0, items);
}

}  // namespace

TEST_CASE("block: items in registers on every path", "[block][quick]") {
  require_device();
  random_source random;
  check_paths<float, 32, 8>(random);
  check_paths<float, 64, 16>(random);
  check_paths<std::uint8_t, 32, 32>(random);
  check_paths<std::uint16_t, 48, 2>(random);
  check_paths<double, 32, 8>(random);
  check_paths<float_triple, 32, 8>(random);
  check_paths<bytes<7>, 16, 16>(random);
  check_paths<aligned_quad, 32, 8>(random);
}

TEST_CASE("block: items outside of the matrix keep what they held", "[block][quick]") {
  require_device();
  random_source random;
  check_dump({32, 32}, 0, 0, random);
  check_dump({31, 32}, 0, 0, random);
  check_dump({32, 31}, 0, 0, random);
  check_dump({70, 50}, 32, 64, random);
  check_dump({70, 50}, 50, 0, random);
  check_dump({70, 50}, 0, 70, random);
  check_dump({1, 1}, 0, 0, random);
}

TEST_CASE("block: storage in a union with CUB's", "[block][quick]") {
  require_device();
  random_source random;
  for (const shape s : {shape{32, 32}, shape{131, 67}, shape{1, 1}, shape{5, 200}}) {
    const dim3 grid(static_cast<unsigned>((s.nx + 31) / 32),
                    static_cast<unsigned>((s.ny + 31) / 32));
    const device_allocation sums{grid.x * grid.y * sizeof(unsigned)};
    byte_vector source;
    check_transpose(describe<unsigned>("unsigned"), s, {s.nx, s.ny, 0, 0}, random,
                    [&](std::byte* out, const std::byte* in) {
                      source = download(in, s.nx * s.ny * sizeof(unsigned));
                      transpose_and_sum<<<grid, 256>>>(
                          {reinterpret_cast<unsigned*>(out), s.nx, s.ny, s.ny},
                          {reinterpret_cast<const unsigned*>(in), s.ny, s.nx, s.nx},
                          reinterpret_cast<unsigned*>(sums.data()));
                      return cudaGetLastError();
                    });
    std::vector<unsigned> expected(grid.x * grid.y);
    for (std::size_t i = 0; i < s.nx * s.ny; ++i) {
      unsigned value = 0;
      std::memcpy(&value, &source[i * sizeof value], sizeof value);
      expected[i / s.nx / 32 * grid.x + i % s.nx / 32] += value;
    }
    const byte_vector found = download(sums.data(), expected.size() * sizeof(unsigned));
    REQUIRE(std::memcmp(found.data(), expected.data(), found.size()) == 0);
  }
}
