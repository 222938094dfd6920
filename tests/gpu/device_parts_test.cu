// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The device functions inside of kernels that a user might write.

#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/warp_transpose.cuh>

#include "parts.cuh"
#include "support.cuh"

using namespace tt_test;

namespace {

// ---------------------------------------------------- tiles through shared memory

template <class Group, class T, class Layout, bool Transposes>
__global__ void move_tiles(tt::matrix_view<T> out, tt::matrix_view<const T> in) {
  using tile_type = tt::shared_tile<T, Layout>;
  __shared__ typename tile_type::storage storage;
  const tile_type tile(storage);
  const auto group = Group::make();
  const std::size_t row = blockIdx.y * std::size_t{Layout::rows};
  const std::size_t col = blockIdx.x * std::size_t{Layout::cols};
  tt::load_tile(group, tile, in, row, col);
  group.sync();
  if constexpr (Transposes) {
    tt::store_tile_transposed(group, out, col, row, tile);
  } else {
    tt::store_tile(group, out, row, col, tile);
  }
}

// The transpose, written with `get` and `set`.
template <class Group, class T, class Layout>
__global__ void transpose_by_elements(tt::matrix_view<T> out, tt::matrix_view<const T> in) {
  using tile_type = tt::shared_tile<T, Layout>;
  __shared__ typename tile_type::storage storage;
  const tile_type tile(storage);
  const auto group = Group::make();
  const std::size_t row0 = blockIdx.y * std::size_t{Layout::rows};
  const std::size_t col0 = blockIdx.x * std::size_t{Layout::cols};
  constexpr unsigned cells = Layout::rows * Layout::cols;
  for (unsigned i = group.thread_rank(); i < cells; i += group.size()) {
    const unsigned row = i / Layout::cols;
    const unsigned col = i % Layout::cols;
    if (row0 + row < in.rows && col0 + col < in.cols) {
      tile.set(static_cast<int>(row), static_cast<int>(col), in.get(row0 + row, col0 + col));
    }
  }
  group.sync();
  for (unsigned i = group.thread_rank(); i < cells; i += group.size()) {
    const unsigned col = i / Layout::rows;
    const unsigned row = i % Layout::rows;
    if (row0 + row < in.rows && col0 + col < in.cols) {
      out.set(col0 + col, row0 + row, tile.get(static_cast<int>(row), static_cast<int>(col)));
    }
  }
}

template <class Layout>
dim3 grid_of_tiles(std::size_t nx, std::size_t ny) {
  const auto count = [](std::size_t extent, int tile) {
    const auto side = static_cast<std::size_t>(tile);
    return static_cast<unsigned>((extent + side - 1) / side);
  };
  return {count(nx, Layout::cols), count(ny, Layout::rows)};
}

// Launches one of the kernels above.
template <class Group, class T, class Layout>
cudaError_t launch_on_tiles(void (*kernel)(tt::matrix_view<T>, tt::matrix_view<const T>),
                            tt::matrix_view<T> out, tt::matrix_view<const T> in) {
  kernel<<<grid_of_tiles<Layout>(in.cols, in.rows), Group::shape()>>>(out, in);
  return cudaGetLastError();
}

struct tile_case {
  element_type type;
  std::size_t rows, cols;
  decltype(view_transpose::launch) transpose, by_elements, copy;
};

template <class Group, class T, class Layout>
tile_case make_tile(std::string name) {
  return {describe<T>(std::move(name)),
          Layout::rows,
          Layout::cols,
          [](std::byte* out, std::size_t out_stride, const std::byte* in, std::size_t in_stride,
             std::size_t nx, std::size_t ny) {
            return launch_on_tiles<Group, T, Layout>(
                move_tiles<Group, T, Layout, true>, {reinterpret_cast<T*>(out), nx, ny, out_stride},
                {reinterpret_cast<const T*>(in), ny, nx, in_stride});
          },
          [](std::byte* out, std::size_t out_stride, const std::byte* in, std::size_t in_stride,
             std::size_t nx, std::size_t ny) {
            return launch_on_tiles<Group, T, Layout>(
                transpose_by_elements<Group, T, Layout>,
                {reinterpret_cast<T*>(out), nx, ny, out_stride},
                {reinterpret_cast<const T*>(in), ny, nx, in_stride});
          },
          [](std::byte* out, std::size_t out_stride, const std::byte* in, std::size_t in_stride,
             std::size_t nx, std::size_t ny) {
            return launch_on_tiles<Group, T, Layout>(
                move_tiles<Group, T, Layout, false>,
                {reinterpret_cast<T*>(out), ny, nx, out_stride},
                {reinterpret_cast<const T*>(in), ny, nx, in_stride});
          }};
}

#define MAKE_TILE(group, T, ...) make_tile<group, T, __VA_ARGS__>(#group ", " #T ", " #__VA_ARGS__)

// Trivially copyable, and yet neither assigned nor made without values.
struct constants {
  constants(int first, int second) : a(first), b(second) {}
  const int a;
  const int b;
};
static_assert(std::is_trivially_copyable_v<constants> && !std::is_copy_assignable_v<constants>);

using byte_t = std::uint8_t;
using byte_twelve = bytes<12>;
using block_96 = cooperative_group<96>;
using block_16x6 = cooperative_group<16, 6>;
using block_4x3x7 = cooperative_group<4, 3, 7>;
using block_1 = cooperative_group<1>;
using static_256 = static_group<256>;
using static_96 = static_group<96>;
using static_1024 = static_group<1024>;

const std::vector<tile_case>& tile_cases() {
  static const std::vector<tile_case> cases{
      MAKE_TILE(static_256, byte_t, padded<byte_t, 32, 32, 4>),
      MAKE_TILE(static_96, byte_t, padded<byte_t, 128, 64, 4>),
      MAKE_TILE(block_96, byte_t, swizzled<byte_t, 32, 128, 4>),
      MAKE_TILE(static_256, std::uint16_t, padded<std::uint16_t, 64, 32, 2>),
      MAKE_TILE(block_16x6, std::uint16_t, swizzled<std::uint16_t, 64, 64>),
      MAKE_TILE(static_256, float, padded<float, 32, 32, 1>),
      MAKE_TILE(static_1024, float, padded<float, 32, 32, 0>),
      MAKE_TILE(static_96, float, swizzled<float, 32, 32>),
      MAKE_TILE(block_96, float, padded<float, 32, 32, 1>),
      MAKE_TILE(block_4x3x7, float, padded<float, 16, 48, 1>),
      MAKE_TILE(block_16x6, float, swizzled<float, 48, 16, 16>),
      MAKE_TILE(block_1, float, padded<float, 5, 7, 2>),
      MAKE_TILE(static_256, double, swizzled<double, 32, 32>),
      MAKE_TILE(static_256, constants, padded<constants, 32, 32, 1>),
      MAKE_TILE(block_96, double, padded<double, 32, 16, 1>),
      MAKE_TILE(static_256, float_triple, padded<float_triple, 32, 32, 1>),
      MAKE_TILE(static_96, float_triple, swizzled<float_triple, 16, 32>),
      MAKE_TILE(block_96, float_triple, padded<float_triple, 8, 20, 0>),
      MAKE_TILE(block_96, byte_twelve, padded<byte_twelve, 16, 16, 1>),
      MAKE_TILE(static_256, aligned_quad, swizzled<aligned_quad, 32, 32>),
      MAKE_TILE(block_96, aligned_quad, padded<aligned_quad, 16, 32, 1>),
      MAKE_TILE(static_96, float_quad, padded<float_quad, 32, 16, 1>),
      MAKE_TILE(block_16x6, aligned_32, padded<aligned_32, 16, 16, 1>),
  };
  return cases;
}

// Visits every case at shapes on both sides of its tile's edges, and one whose rows lie apart.
template <class Visit>
void for_each_tile_case(random_source& random, Visit visit) {
  for (const tile_case& t : tile_cases()) {
    INFO(t.type.name << ", --rng-seed " << Catch::getSeed());
    const shape shapes[] = {{t.cols, t.rows},
                            {1, 1},
                            {2 * t.cols, 3 * t.rows},
                            {t.cols - 1, t.rows + 1},
                            {2 * t.cols + 1, t.rows - 1},
                            {1, 2 * t.rows + 3},
                            {3 * t.cols - 2, 1},
                            {random.between(1, 150), random.between(1, 150)}};
    for (const shape s : shapes) { visit(t, s, view_placement{s.nx, s.ny, 0, 0}); }
    const shape s{t.cols + 3, 2 * t.rows - 1};
    const std::size_t step = t.type.alignment;
    visit(t, s, view_placement{s.nx + 5, s.ny + 3, step, 3 * step});
  }
}

// ---------------------------------------------------- block_transpose

// Sums the elements of each tile in the memory that the tile passes through next.
template <class Group, int TileDim, int BlockRows>
__global__ void sum_and_transpose(tt::matrix_view<unsigned> out, tt::matrix_view<const unsigned> in,
                                  unsigned* sums) {
  using block_transpose = tt::block_transpose<unsigned, TileDim, BlockRows>;
  union scratch {
    typename block_transpose::storage tile;
    unsigned sums[1024];
  };
  __shared__ scratch shared;
  const auto group = Group::make();
  const block_transpose transposer(shared.tile);
  const std::size_t tiles_x = (in.cols + TileDim - 1) / TileDim;
  const std::size_t tiles_y = (in.rows + TileDim - 1) / TileDim;
  for (std::size_t i = blockIdx.x; i < tiles_x * tiles_y; i += gridDim.x) {
    const std::size_t row0 = i / tiles_x * TileDim;
    const std::size_t col0 = i % tiles_x * TileDim;
    unsigned sum = 0;
    for (unsigned cell = group.thread_rank(); cell < TileDim * TileDim; cell += group.size()) {
      const std::size_t row = row0 + cell / TileDim;
      const std::size_t col = col0 + cell % TileDim;
      if (row < in.rows && col < in.cols) sum += in.data[row * in.stride + col];
    }
    shared.sums[group.thread_rank()] = sum;
    group.sync();
    if (group.thread_rank() == 0) {
      unsigned total = 0;
      for (unsigned rank = 0; rank < group.size(); ++rank) total += shared.sums[rank];
      sums[i] = total;
    }
    group.sync();
    transposer.load(group, in, row0, col0);
    group.sync();
    transposer.store(group, out, col0, row0);
    group.sync();
  }
}

template <class Group, int TileDim, int BlockRows>
void check_sum_and_transpose(shape s, random_source& random) {
  INFO("tile of " << TileDim << ", threads " << Group::shape().x << " x " << Group::shape().y);
  const element_type type = describe<unsigned>("unsigned");
  const std::size_t tiles_x = (s.nx + TileDim - 1) / TileDim;
  const std::size_t tiles_y = (s.ny + TileDim - 1) / TileDim;
  const device_allocation sums{tiles_x * tiles_y * sizeof(unsigned)};
  byte_vector source;
  check_transpose(type, s, {s.nx, s.ny, 0, 0}, random, [&](std::byte* out, const std::byte* in) {
    source = download(in, s.nx * s.ny * sizeof(unsigned));
    sum_and_transpose<Group, TileDim, BlockRows>
        <<<3, Group::shape()>>>({reinterpret_cast<unsigned*>(out), s.nx, s.ny, s.ny},
                                {reinterpret_cast<const unsigned*>(in), s.ny, s.nx, s.nx},
                                reinterpret_cast<unsigned*>(sums.data()));
    return cudaGetLastError();
  });
  std::vector<unsigned> expected(tiles_x * tiles_y);
  for (std::size_t i = 0; i < s.nx * s.ny; ++i) {
    unsigned value = 0;
    std::memcpy(&value, &source[i * sizeof value], sizeof value);
    expected[i / s.nx / TileDim * tiles_x + i % s.nx / TileDim] += value;
  }
  const byte_vector found = download(sums.data(), expected.size() * sizeof(unsigned));
  REQUIRE(std::memcmp(found.data(), expected.data(), found.size()) == 0);
}

// One tile per block, as in the class's own example.
template <class Group, class T, int TileDim, int BlockRows, int... Tile>
__global__ void block_transpose_kernel(tt::matrix_view<T> out, tt::matrix_view<const T> in) {
  using block_transpose = tt::block_transpose<T, TileDim, BlockRows, Tile...>;
  __shared__ typename block_transpose::storage storage;
  const auto group = Group::make();
  const block_transpose transposer(storage);
  const std::size_t row0 = blockIdx.y * std::size_t{TileDim};
  const std::size_t col0 = blockIdx.x * std::size_t{TileDim};
  transposer.load(group, in, row0, col0);
  group.sync();
  transposer.store(group, out, col0, row0);
}

template <class Group, class T, int TileDim, int BlockRows, int... Tile>
void check_block_transpose(random_source& random) {
  const element_type type = describe<T>("block_transpose, " + std::to_string(sizeof(T)) + " bytes");
  INFO("tile of " << TileDim << ", threads " << Group::shape().x << " x " << Group::shape().y);
  for (const shape s :
       {shape{TileDim, TileDim}, shape{3 * TileDim - 1, TileDim + 1}, shape{1, 2 * TileDim + 1}}) {
    check_transpose(type, s, {s.nx + 2, s.ny + 1, sizeof(T), 0}, random,
                    [&](std::byte* out, const std::byte* in) {
                      using grid = tt::padded_layout<T, TileDim, TileDim, 0>;
                      block_transpose_kernel<Group, T, TileDim, BlockRows, Tile...>
                          <<<grid_of_tiles<grid>(s.nx, s.ny), Group::shape()>>>(
                              {reinterpret_cast<T*>(out), s.nx, s.ny, s.ny + 1},
                              {reinterpret_cast<const T*>(in), s.ny, s.nx, s.nx + 2});
                      return cudaGetLastError();
                    });
  }
}

// ---------------------------------------------------- thread_transpose

template <int ElementBytes, int Rows, int Columns>
__global__ void transpose_in_registers(unsigned* out, const unsigned* in, unsigned blocks) {
  constexpr int row_words = Columns * ElementBytes / 4;
  constexpr int column_words = Rows * ElementBytes / 4;
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= blocks) return;
  unsigned from[Rows][row_words];
  unsigned to[Columns][column_words];
  for (int row = 0; row < Rows; ++row) {
    for (int word = 0; word < row_words; ++word) {
      from[row][word] = in[(at * Rows + row) * row_words + word];
    }
  }
  tt::thread_transpose<ElementBytes>(to, from);
  for (int row = 0; row < Columns; ++row) {
    for (int word = 0; word < column_words; ++word) {
      out[(at * Columns + row) * column_words + word] = to[row][word];
    }
  }
}

template <int ElementBytes, int Rows, int Columns>
void check_thread_transpose(random_source& random) {
  INFO(Rows << " x " << Columns << " elements of " << ElementBytes << " bytes, --rng-seed "
            << Catch::getSeed());
  constexpr unsigned blocks = 77;
  constexpr std::size_t size = std::size_t{blocks} * Rows * Columns * ElementBytes;
  const byte_vector source = random.fill(size);
  const byte_vector expected = transposed_batch(source, {Columns, Rows}, blocks, ElementBytes);
  const input_buffer in{source};
  output_buffer out{size, 0, random};
  out.expect(0, size, {expected.data(), 1, size, size, 1});
  out.poison();
  transpose_in_registers<ElementBytes, Rows, Columns>
      <<<3, 32>>>(out.as<unsigned>(), in.as<unsigned>(), blocks);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(out.difference() == "");
  REQUIRE(in.unchanged());
}

}  // namespace

TEST_CASE("parts: load_tile and store_tile_transposed", "[parts][quick]") {
  require_device();
  random_source random;
  for_each_tile_case(random, [&](const tile_case& t, shape s, const view_placement& p) {
    check(view_transpose{t.type, t.transpose}, s, p, random);
  });
}

TEST_CASE("parts: get and set of a tile", "[parts][quick]") {
  require_device();
  random_source random;
  for_each_tile_case(random, [&](const tile_case& t, shape s, const view_placement& p) {
    check(view_transpose{t.type, t.by_elements}, s, p, random);
  });
}

TEST_CASE("parts: load_tile and store_tile", "[parts][quick]") {
  require_device();
  random_source random;
  for_each_tile_case(random, [&](const tile_case& t, shape s, view_placement p) {
    const std::size_t out_stride = s.nx + (p.out_stride - s.ny);
    INFO("nx " << s.nx << ", ny " << s.ny << ", strides " << p.in_stride << " -> " << out_stride);
    const input_buffer in{random.fill(((s.ny - 1) * p.in_stride + s.nx) * t.type.size),
                          p.in_misalignment};
    output_buffer out{((s.ny - 1) * out_stride + s.nx) * t.type.size, p.out_misalignment, random};
    out.expect(0, out_stride, in.matrix(s.ny, s.nx, p.in_stride, t.type.size));
    out.poison();
    REQUIRE(t.copy(out.data(), out_stride, in.data(), p.in_stride, s.nx, s.ny) == cudaSuccess);
    REQUIRE(out.difference() == "");
    REQUIRE(in.unchanged());
  });
}

TEST_CASE("parts: block_transpose in storage that a union shares", "[parts][quick]") {
  require_device();
  random_source random;
  for (const shape s : {shape{32, 32}, shape{131, 67}, shape{1, 1}, shape{5, 200}}) {
    check_sum_and_transpose<static_256, 32, 8>(s, random);
    check_sum_and_transpose<block_96, 32, 8>(s, random);
    check_sum_and_transpose<block_16x6, 16, 4>(s, random);
  }
}

TEST_CASE("parts: block_transpose with groups of any size", "[parts][quick]") {
  require_device();
  random_source random;
  check_block_transpose<static_256, float, 32, 8>(random);
  check_block_transpose<block_96, float, 32, 8>(random);
  check_block_transpose<block_4x3x7, float, 32, 8, 1>(random);
  check_block_transpose<block_16x6, byte_t, 64, 4>(random);
  check_block_transpose<static_96, std::uint16_t, 48, 2>(random);
  check_block_transpose<block_96, double, 32, 8, 1, 8>(random);
  check_block_transpose<static_256, float_triple, 32, 8>(random);
  check_block_transpose<block_96, aligned_quad, 32, 8>(random);
}

TEST_CASE("parts: thread_transpose", "[parts][quick]") {
  require_device();
  random_source random;
  check_thread_transpose<1, 4, 4>(random);
  check_thread_transpose<1, 4, 16>(random);
  check_thread_transpose<1, 16, 4>(random);
  check_thread_transpose<1, 8, 12>(random);
  check_thread_transpose<1, 16, 16>(random);
  check_thread_transpose<2, 2, 2>(random);
  check_thread_transpose<2, 2, 8>(random);
  check_thread_transpose<2, 8, 2>(random);
  check_thread_transpose<2, 4, 6>(random);
  check_thread_transpose<2, 8, 8>(random);
  check_thread_transpose<4, 1, 4>(random);
  check_thread_transpose<4, 4, 4>(random);
  check_thread_transpose<4, 3, 5>(random);
  check_thread_transpose<8, 2, 2>(random);
  check_thread_transpose<8, 3, 2>(random);
  check_thread_transpose<12, 2, 3>(random);
  check_thread_transpose<12, 4, 4>(random);
}
