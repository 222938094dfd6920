// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tiles in and out of shared memory: filled edges, copies in the background, pipelines. The same checks run
// on the CPU, whose loads are plain copies.

#include <tiletranspose/smem.cuh>
#include <tiletranspose/tile_pipeline.cuh>

#include "parts.cuh"
#include "support.cuh"

using namespace tt_test;

namespace {

// The CPU as a block of one thread.
struct lone_thread {
  __host__ __device__ static unsigned thread_rank() { return 0; }
  __host__ __device__ static unsigned size() { return 1; }
  __host__ __device__ static void sync() {}
};

// ---------------------------------------------------- one tile, loaded every way

enum class loader {
  plain,
  async,
  pipeline_threads,
  pipeline_cp_async,
  pipeline_bulk,
  pipeline_box
};

template <loader Way>
inline constexpr tt::copy_engine engine_of =
    Way == loader::pipeline_threads    ? tt::copy_engine::threads
    : Way == loader::pipeline_cp_async ? tt::copy_engine::cp_async
                                       : tt::copy_engine::bulk;

constexpr int untouched = 0xa5;

// Fills `storage` with `untouched`, then loads the tile at (row0, col0) and waits for it.
template <loader Way, bool Filled, class T, class Layout, class Group, class Storage>
__host__ __device__ void load_one(Group group, Storage& storage,
                                  typename tt::tile_pipeline<2, engine_of<Way>>::storage& arrivals,
                                  const tt::bulk_view<tt::shared_tile<T, Layout>>& view,
                                  std::size_t row0, std::size_t col0, const T& fill) {
  const auto in = view.matrix;
  const tt::shared_tile<T, Layout> tile(storage);
  auto* const memory = reinterpret_cast<unsigned char*>(&storage);
  for (unsigned i = group.thread_rank(); i < sizeof storage; i += group.size()) {
    memory[i] = untouched;
  }
  tt::bulk_fence();
  const auto load = [&](auto call) {
    if constexpr (Filled) {
      call(fill);
    } else {
      call();
    }
  };
  if constexpr (Way == loader::plain) {
    group.sync();
    load([&](auto... f) { tt::load_tile(group, tile, in, row0, col0, f...); });
  } else if constexpr (Way == loader::async) {
    group.sync();
    load([&](auto... f) { tt::load_tile_async(group, tile, in, row0, col0, f...); });
    tt::async_commit();
    tt::async_wait<0>();
  } else {
    tt::tile_pipeline<2, engine_of<Way>> pipeline(group, arrivals);
    group.sync();
    load([&](auto... f) {
      if constexpr (Way == loader::pipeline_box) {
        pipeline.load(group, tile, view, row0, col0, f...);
      } else {
        pipeline.load(group, tile, in, row0, col0, f...);
      }
    });
    pipeline.commit();
    pipeline.wait();
  }
  group.sync();
}

template <class Group, loader Way, bool Filled, class T, class Layout>
__global__ void dump_tile(std::byte* out,
                          const __grid_constant__ tt::bulk_view<tt::shared_tile<T, Layout>> in,
                          std::size_t row0, std::size_t col0, T fill) {
  __shared__ __align__(128) typename tt::shared_tile<T, Layout>::storage storage;
  __shared__ typename tt::tile_pipeline<2, engine_of<Way>>::storage arrivals;
  const auto group = Group::make();
  load_one<Way, Filled, T, Layout>(group, storage, arrivals, in, row0, col0, fill);
  const auto* const memory = reinterpret_cast<const unsigned char*>(&storage);
  for (unsigned i = group.thread_rank(); i < sizeof storage; i += group.size()) {
    out[i] = static_cast<std::byte>(memory[i]);
  }
}

// Whether the device has an engine that copies boxes.
bool has_boxes() {
  int device = 0;
  int major = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
             "cudaDeviceGetAttribute");
  return major >= 9;
}

struct tile_place {
  shape s;
  std::size_t stride, misalignment, row0, col0;
};

// What the tile's storage must hold, byte by byte.
template <class T, class Layout>
byte_vector expected_storage(const tile_place& p, const host_matrix& in, bool filled,
                             const T& fill) {
  byte_vector expected(sizeof(typename tt::shared_tile<T, Layout>::storage),
                       static_cast<std::byte>(untouched));
  for (int row = 0; row < Layout::rows; ++row) {
    for (int col = 0; col < Layout::cols; ++col) {
      const std::size_t y = p.row0 + static_cast<std::size_t>(row);
      const std::size_t x = p.col0 + static_cast<std::size_t>(col);
      const bool inside = y < p.s.ny && x < p.s.nx;
      if (!inside && !filled) continue;
      const void* from =
          inside ? static_cast<const void*>(in.data + (y * p.stride + x) * sizeof(T)) : &fill;
      std::memcpy(&expected[static_cast<std::size_t>(Layout{}(row, col)) * sizeof(T)], from,
                  sizeof(T));
    }
  }
  return expected;
}

template <class Group, loader Way, bool Filled, class T, class Layout>
void check_place(const tile_place& p, random_source& random) {
  INFO(Layout::rows << " x " << Layout::cols << " tile of " << sizeof(T) << " bytes, loader "
                    << static_cast<int>(Way) << (Filled ? ", filled" : "") << ", " << p.s.ny
                    << " rows of " << p.s.nx << ", stride " << p.stride << ", misaligned by "
                    << p.misalignment << ", from row " << p.row0 << ", column " << p.col0
                    << ", --rng-seed " << Catch::getSeed());
  const byte_vector source = random.fill(((p.s.ny - 1) * p.stride + p.s.nx) * sizeof(T));
  const byte_vector fill_bytes = random.fill(sizeof(T));
  T fill;
  std::memcpy(&fill, fill_bytes.data(), sizeof fill);
  const host_matrix matrix{source.data(), p.s.ny, p.s.nx, p.stride, sizeof(T)};
  const byte_vector expected = expected_storage<T, Layout>(p, matrix, Filled, fill);
  if constexpr (std::is_same_v<Group, lone_thread>) {
    typename tt::shared_tile<T, Layout>::storage storage;
    typename tt::tile_pipeline<2, engine_of<Way>>::storage arrivals;
    std::vector<std::byte> memory(source.size() + 128);
    auto* base = memory.data();
    while (reinterpret_cast<std::uintptr_t>(base) % 64 != 0) ++base;
    base += p.misalignment;
    std::memcpy(base, source.data(), source.size());
    const tt::matrix_view<const T> in{reinterpret_cast<const T*>(base), p.s.ny, p.s.nx, p.stride};
    tt::bulk_view<tt::shared_tile<T, Layout>> view{in, {}, false};
    load_one<Way, Filled, T, Layout>(Group{}, storage, arrivals, view, p.row0, p.col0, fill);
    REQUIRE(std::memcmp(&storage, expected.data(), sizeof storage) == 0);
  } else {
    const input_buffer in{source, p.misalignment};
    output_buffer out{expected.size(), 0, random};
    out.expect(0, expected.size(), {expected.data(), 1, expected.size(), expected.size(), 1});
    out.poison();
    tt::bulk_view<tt::shared_tile<T, Layout>> view;
    const tt::matrix_view<const T> in_view{in.as<T>(), p.s.ny, p.s.nx, p.stride};
    REQUIRE(tt::make_bulk_view(&view, in_view) == cudaSuccess);
    const bool even = p.misalignment % 16 == 0 && p.stride * sizeof(T) % 16 == 0;
    if (has_boxes()) REQUIRE(view.described == (even && tt::detail::has_box<Layout>::value));
    dump_tile<Group, Way, Filled, T, Layout>
        <<<1, Group::shape()>>>(out.data(), view, p.row0, p.col0, fill);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(out.difference() == "");
    REQUIRE(in.unchanged());
  }
}

template <class Group, class T, class Layout, loader Way>
void check_places(random_source& random) {
  constexpr std::size_t rows = Layout::rows;
  constexpr std::size_t cols = Layout::cols;
  const auto check_at = [&](shape s, std::size_t row0, std::size_t col0) {
    // Rows that start anywhere, and rows that all start at multiples of 16 bytes.
    const std::size_t even = (s.nx + 15) / 16 * 16;
    for (const tile_place& p :
         {tile_place{s, s.nx, 0, row0, col0}, tile_place{s, s.nx + 3, alignof(T), row0, col0},
          tile_place{s, even, 0, row0, col0}}) {
      check_place<Group, Way, false, T, Layout>(p, random);
      check_place<Group, Way, true, T, Layout>(p, random);
    }
  };
  check_at({cols, rows}, 0, 0);
  check_at({cols - 1, rows - 1}, 0, 0);
  check_at({1, 1}, 0, 0);
  check_at({2 * cols, 2 * rows}, 3, 1);            // wholly inside, off the grid of tiles
  check_at({2 * cols, 2 * rows}, rows + 2, cols);  // the lower edge
  check_at({2 * cols, 2 * rows}, rows, cols + 2);  // the right edge
  check_at({2 * cols + 3, 2 * rows}, rows + 1, 16);
  check_at({2 * cols, 2 * rows}, 2 * rows - 1, 2 * cols - 1);
  check_at({2 * cols, 2 * rows}, 2 * rows, 0);  // outside
  check_at({2 * cols, 2 * rows}, 0, 2 * cols + 5);
}

template <class Group, class T, class Layout>
void check_loaders(random_source& random) {
  check_places<Group, T, Layout, loader::plain>(random);
  check_places<Group, T, Layout, loader::async>(random);
  if constexpr (tt::detail::has_box<Layout>::value) {
    check_places<Group, T, Layout, loader::pipeline_box>(random);
  }
}

// A layout that the library does not know: columns one after the other.
template <class T, int Rows, int Cols>
struct column_layout {
  using element = T;
  static constexpr int rows = Rows;
  static constexpr int cols = Cols;
  static constexpr int size = Rows * Cols;
  __host__ __device__ constexpr int operator()(int row, int col) const { return col * Rows + row; }
};

using byte_t = std::uint8_t;
using half_t = std::uint16_t;

// Every element size class, and of each the layouts that allow wide copies and those that do not.
template <template <int> class Known, class Any>
void check_all_loaders() {
  random_source random;
  check_loaders<Known<128>, byte_t, padded<byte_t, 32, 32, 4>>(random);
  check_loaders<Any, byte_t, padded<byte_t, 9, 48, 16>>(random);
  check_loaders<Any, byte_t, padded<byte_t, 9, 7, 0>>(random);
  check_loaders<Known<128>, half_t, swizzled<half_t, 16, 64, 16>>(random);
  check_loaders<Any, half_t, padded<half_t, 20, 24, 8>>(random);
  check_loaders<Any, bytes<3>, padded<bytes<3>, 16, 16, 0>>(random);
  check_loaders<Known<128>, float, padded<float, 32, 32, 1>>(random);
  check_loaders<Any, float, padded<float, 16, 32, 4>>(random);
  check_loaders<Any, float, swizzled<float, 32, 32, 16>>(random);
  check_loaders<Any, float, padded<float, 8, 16, 0>>(random);
  check_loaders<Any, float, column_layout<float, 12, 20>>(random);
  check_loaders<Known<128>, double, padded<double, 16, 16, 2>>(random);
  check_loaders<Any, float_triple, padded<float_triple, 8, 16, 0>>(random);
  check_loaders<Any, bytes<12>, padded<bytes<12>, 8, 16, 4>>(random);
  check_loaders<Any, aligned_quad, swizzled<aligned_quad, 16, 8>>(random);
  check_loaders<Known<128>, aligned_32, padded<aligned_32, 8, 8, 1>>(random);
  check_loaders<Any, bytes<64>, padded<bytes<64>, 5, 4, 0>>(random);
  check_places<Any, half_t, swizzled<half_t, 16, 64>, loader::plain>(random);
  check_places<Any, float, swizzled<float, 32, 32>, loader::plain>(random);
  check_places<Any, float, padded<float, 16, 32, 4>, loader::pipeline_threads>(random);
  check_places<Any, float, padded<float, 16, 32, 4>, loader::pipeline_cp_async>(random);
  check_places<Any, float, padded<float, 16, 32, 0>, loader::pipeline_bulk>(random);
  check_places<Any, float, padded<float, 16, 32, 4>, loader::pipeline_box>(random);
}

template <int>
using lone_threads = lone_thread;

// ---------------------------------------------------- pipelines

// Copies strips of tiles, one a block, through `Stages` stages, and turns every stage's tile upside down in
// place so that threads write to what the engine fills next.
template <class Group, int Stages, tt::copy_engine Engine, bool Boxes, class T, class Layout>
__global__ void copy_strips(tt::matrix_view<T> out,
                            const __grid_constant__ tt::bulk_view<tt::shared_tile<T, Layout>> in,
                            T fill) {
  using tile_type = tt::shared_tile<T, Layout>;
  using pipeline_type = tt::tile_pipeline<Stages, Engine>;
  constexpr tt::smem_layout smem{tt::smem_tiles<tile_type, Stages>().template aligned<128>(),
                                 tt::smem_array<typename pipeline_type::storage, 1>()};
  __shared__ __align__(16) unsigned char memory[smem.bytes()];
  auto [stages, storage] = smem.carve(memory);
  const auto tiles = stages;  // lambdas of C++17 capture no structured bindings
  const auto group = Group::make();
  pipeline_type pipeline(group, *storage);
  group.sync();
  const std::size_t col = blockIdx.x * std::size_t{Layout::cols};
  std::size_t to_load = 0;
  const auto load_next = [&] {
    if (to_load < in.matrix.rows) {
      if (Boxes) {
        pipeline.load(group, tiles[pipeline.acquire()], in, to_load, col, fill);
      } else {
        pipeline.load(group, tiles[pipeline.acquire()], in.matrix, to_load, col, fill);
      }
      pipeline.commit();
      to_load += Layout::rows;
    }
  };
  for (int stage = 0; stage + 1 < Stages; ++stage) load_next();
  for (std::size_t row = 0; row < in.matrix.rows; row += Layout::rows) {
    if constexpr (Stages == 1) {
      group.sync();
      load_next();
    }
    const unsigned stage = pipeline.wait();
    group.sync();
    if constexpr (Stages > 1) load_next();
    for (unsigned i = group.thread_rank(); i < Layout::rows / 2 * Layout::cols; i += group.size()) {
      const int upper = static_cast<int>(i) / Layout::cols;
      const int c = static_cast<int>(i) % Layout::cols;
      const int lower = Layout::rows - 1 - upper;
      const T swapped = tiles[stage].get(upper, c);
      tiles[stage].set(upper, c, tiles[stage].get(lower, c));
      tiles[stage].set(lower, c, swapped);
    }
    group.sync();
    tt::store_tile(group, out, row, col, tiles[stage]);
    pipeline.release();
  }
}

// out has whole tiles: fill shows in it.
template <class Group, int Stages, tt::copy_engine Engine, bool Boxes, class T, class Layout>
void check_pipeline(random_source& random) {
  constexpr std::size_t rows = Layout::rows;
  constexpr std::size_t cols = Layout::cols;
  for (const tile_place& p :
       {tile_place{{cols, 1}, cols, 0, 0, 0}, tile_place{{3 * cols, 7 * rows}, 3 * cols, 0, 0, 0},
        tile_place{{3 * cols - 1, 5 * rows + 1}, 3 * cols + 15, 0, 0, 0},
        tile_place{{cols + 1, 6 * rows - 1}, 2 * cols, 0, 0, 0},
        tile_place{{2 * cols + 2, 4 * rows}, 3 * cols, alignof(T), 0, 0}}) {
    INFO(Stages << " stages, engine " << static_cast<int>(Engine) << ", " << rows << " x " << cols
                << " tiles of " << sizeof(T) << " bytes, " << p.s.ny << " rows of " << p.s.nx
                << ", stride " << p.stride << ", --rng-seed " << Catch::getSeed());
    const input_buffer in{random.fill(((p.s.ny - 1) * p.stride + p.s.nx) * sizeof(T)),
                          p.misalignment};
    const std::size_t all_rows = (p.s.ny + rows - 1) / rows * rows;
    const std::size_t strips = (p.s.nx + cols - 1) / cols;
    const std::size_t all_cols = strips * cols;
    const byte_vector fill_bytes = random.fill(sizeof(T));
    T fill;
    std::memcpy(&fill, fill_bytes.data(), sizeof fill);
    byte_vector expected(all_rows * all_cols * sizeof(T));
    const host_matrix matrix = in.matrix(p.s.ny, p.s.nx, p.stride, sizeof(T));
    for (std::size_t y = 0; y < all_rows; ++y) {
      const std::size_t from = y / rows * rows + rows - 1 - y % rows;
      for (std::size_t x = 0; x < all_cols; ++x) {
        const bool inside = from < p.s.ny && x < p.s.nx;
        std::memcpy(&expected[(y * all_cols + x) * sizeof(T)],
                    inside ? matrix.data + (from * p.stride + x) * sizeof(T) : fill_bytes.data(),
                    sizeof(T));
      }
    }
    output_buffer out{expected.size(), 0, random};
    out.expect(0, all_cols, {expected.data(), all_rows, all_cols, all_cols, sizeof(T)});
    out.poison();
    tt::bulk_view<tt::shared_tile<T, Layout>> view;
    const tt::matrix_view<const T> in_view{in.as<T>(), p.s.ny, p.s.nx, p.stride};
    REQUIRE(tt::make_bulk_view(&view, in_view) == cudaSuccess);
    copy_strips<Group, Stages, Engine, Boxes, T, Layout>
        <<<static_cast<unsigned>(strips), Group::shape()>>>(
            {out.as<T>(), all_rows, all_cols, all_cols}, view, fill);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(out.difference() == "");
    REQUIRE(in.unchanged());
  }
}

template <class Group, int Stages, class T, class Layout>
void check_engines(random_source& random) {
  check_pipeline<Group, Stages, tt::copy_engine::threads, false, T, Layout>(random);
  check_pipeline<Group, Stages, tt::copy_engine::cp_async, false, T, Layout>(random);
  check_pipeline<Group, Stages, tt::copy_engine::bulk, false, T, Layout>(random);
  check_pipeline<Group, Stages, tt::copy_engine::bulk, true, T, Layout>(random);
}

// ---------------------------------------------------- stores

// One tile for all rows of a strip, written by threads, read by the engine.
template <class Group, class T, class Layout>
__global__ void copy_by_bulk(
    const __grid_constant__ tt::bulk_view<tt::shared_tile<T, Layout>, T> out,
    tt::matrix_view<const T> in) {
  using tile_type = tt::shared_tile<T, Layout>;
  __shared__ __align__(128) typename tile_type::storage storage;
  const tile_type tile(storage);
  const auto group = Group::make();
  const std::size_t col = blockIdx.x * std::size_t{Layout::cols};
  for (std::size_t row = 0; row < in.rows; row += Layout::rows) {
    tt::load_tile(group, tile, in, row, col);
    tt::bulk_fence();
    group.sync();
    tt::store_tile_bulk(group, out, row, col, tile);
    tt::bulk_wait();
    group.sync();
  }
}

template <class Group, class T, class Layout>
void check_bulk_store(random_source& random) {
  constexpr std::size_t rows = Layout::rows;
  constexpr std::size_t cols = Layout::cols;
  for (const tile_place& p :
       {tile_place{{cols, 1}, cols, 0, 0, 0}, tile_place{{2 * cols, 3 * rows}, 2 * cols, 0, 0, 0},
        tile_place{{2 * cols - 1, 3 * rows + 1}, 2 * cols + 16, 0, 0, 0},
        tile_place{{cols + 1, 2 * rows - 1}, 2 * cols, 0, 0, 0},
        tile_place{{2 * cols + 2, 2 * rows}, 2 * cols + 5, 0, 0, 0},
        tile_place{{2 * cols + 2, rows}, 3 * cols, alignof(T), 0, 0}}) {
    INFO(rows << " x " << cols << " tiles of " << sizeof(T) << " bytes, " << p.s.ny << " rows of "
              << p.s.nx << ", stride " << p.stride << ", --rng-seed " << Catch::getSeed());
    const input_buffer in{random.fill(p.s.ny * p.s.nx * sizeof(T))};
    output_buffer out{((p.s.ny - 1) * p.stride + p.s.nx) * sizeof(T), p.misalignment, random};
    out.expect(0, p.stride, in.matrix(p.s.ny, p.s.nx, p.s.nx, sizeof(T)));
    const auto strips = static_cast<unsigned>((p.s.nx + cols - 1) / cols);
    const tt::matrix_view<const T> in_view{in.as<T>(), p.s.ny, p.s.nx, p.s.nx};
    tt::bulk_view<tt::shared_tile<T, Layout>, T> view;
    REQUIRE(tt::make_bulk_view(&view, {out.as<T>(), p.s.ny, p.s.nx, p.stride}) == cudaSuccess);
    out.poison();
    copy_by_bulk<Group, T, Layout><<<strips, Group::shape()>>>(view, in_view);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(out.difference() == "");
    REQUIRE(in.unchanged());
  }
}

}  // namespace

TEST_CASE("tile io: loads and fills on the CPU", "[tile_io][quick]") {
  check_all_loaders<lone_threads, lone_thread>();
}

TEST_CASE("tile io: loads and fills", "[tile_io][quick]") {
  require_device();
  check_all_loaders<static_group, cooperative_group<16, 6>>();
}

TEST_CASE("tile io: groups smaller than a warp", "[tile_io][quick]") {
  require_device();
  random_source random;
  check_loaders<cooperative_group<1>, float, padded<float, 4, 8, 4>>(random);
  check_loaders<cooperative_group<7>, half_t, padded<half_t, 20, 24, 8>>(random);
}

TEST_CASE("tile io: pipelines of every engine", "[tile_io][quick]") {
  require_device();
  random_source random;
  check_engines<static_group<128>, 1, float, padded<float, 8, 32, 4>>(random);
  check_engines<static_group<128>, 2, float, padded<float, 8, 32, 0>>(random);
  check_engines<cooperative_group<16, 6>, 3, float, padded<float, 8, 32, 1>>(random);
  check_engines<static_group<64>, 4, half_t, padded<half_t, 16, 48, 0>>(random);
  check_engines<static_group<256>, 2, double, swizzled<double, 16, 16, 16>>(random);
  check_engines<cooperative_group<16, 6>, 2, bytes<3>, padded<bytes<3>, 6, 32, 0>>(random);
  check_engines<static_group<32>, 8, aligned_quad, padded<aligned_quad, 4, 8, 0>>(random);
  check_engines<cooperative_group<7>, 2, float, padded<float, 4, 16, 0>>(random);
  check_engines<static_group<64>, 3, float_triple, padded<float_triple, 6, 20, 0>>(random);
}

TEST_CASE("tile io: stores by the bulk engine", "[tile_io][quick]") {
  require_device();
  random_source random;
  check_bulk_store<static_group<128>, float, padded<float, 16, 32, 0>>(random);
  check_bulk_store<cooperative_group<7>, float_triple, padded<float_triple, 9, 4, 0>>(random);
  check_bulk_store<static_group<64>, double, padded<double, 16, 10, 0>>(random);
  check_bulk_store<cooperative_group<16, 6>, float, padded<float, 16, 32, 1>>(random);
  check_bulk_store<static_group<256>, byte_t, padded<byte_t, 40, 64, 0>>(random);
  check_bulk_store<cooperative_group<7>, half_t, padded<half_t, 9, 24, 8>>(random);
  check_bulk_store<cooperative_group<16, 6>, bytes<3>, padded<bytes<3>, 6, 32, 0>>(random);
  check_bulk_store<static_group<64>, double, swizzled<double, 16, 16, 16>>(random);
  check_bulk_store<static_group<64>, aligned_32, padded<aligned_32, 8, 8, 1>>(random);
}

TEST_CASE("tile io: what cannot be described", "[tile_io][quick]") {
  require_device();
  using tile_type = tt::shared_tile<float, padded<float, 16, 32, 0>>;
  const device_allocation memory{64 * 64 * sizeof(float)};
  auto* const data = reinterpret_cast<float*>(memory.data());
  tt::bulk_view<tile_type, float> view;
  using matrix = tt::matrix_view<float>;
  const auto described = [&](matrix m) {
    REQUIRE(tt::make_bulk_view(&view, m) == cudaSuccess);
    CHECK(view.matrix.data == m.data);
    CHECK(view.matrix.stride == m.stride);
    return view.described;
  };
  CHECK(described({data, 64, 64, 64}) == has_boxes());
  CHECK(described({data, 64, 61, 64}) == has_boxes());
  CHECK(described({data, 1, 1, 4}) == has_boxes());
  CHECK_FALSE(described({data + 1, 63, 63, 64}));
  CHECK_FALSE(described({data, 64, 63, 63}));
  CHECK_FALSE(described({data, 0, 64, 64}));
  CHECK_FALSE(described({nullptr, 64, 0, 64}));
  CHECK_FALSE(described({data, std::size_t{1} << 31, 4, 4}));
  CHECK_FALSE(described({data, 1, std::size_t{1} << 31, std::size_t{1} << 31}));
  CHECK_FALSE(described({data, 2, 4, std::size_t{1} << 38}));
  tt::bulk_view<tile_type> to_read;  // of a matrix that may be written, too
  CHECK(tt::make_bulk_view(&to_read, matrix{data, 64, 64, 64}) == cudaSuccess);
  CHECK(to_read.described == has_boxes());
  CHECK(tt::make_bulk_view(&to_read, {data, 64, 64, 64}) == cudaSuccess);
  CHECK(tt::make_bulk_view(&view, matrix{nullptr, 64, 64, 64}) == cudaErrorInvalidValue);
  CHECK(tt::make_bulk_view(&view, matrix{data, 1, 64, 63}) == cudaErrorInvalidValue);
  CHECK(tt::make_bulk_view(&view, matrix{data, 64, 64, 63}) == cudaErrorInvalidValue);
  CHECK(tt::make_bulk_view(static_cast<decltype(&view)>(nullptr), matrix{data, 64, 64, 64}) ==
        cudaErrorInvalidValue);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}
