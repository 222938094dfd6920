// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where the elements of a tile lie in shared memory, and of a micro-block in registers.

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstring>
#include <vector>

#include <tiletranspose/banks.cuh>
#include <tiletranspose/layout.cuh>
#include <tiletranspose/tile.cuh>
#include <tiletranspose/warp_transpose.cuh>

namespace {

template <int N>
struct bytes {
  unsigned char value[N];
};

static_assert(tt::padded_layout<float, 32, 32, 1>{}(2, 5) == 2 * 33 + 5);
static_assert(tt::padded_layout<float, 16, 32, 3>::size == 16 * 35);
static_assert(tt::swizzled_layout<float, 16, 32>::size == 16 * 32);
static_assert(tt::swizzled_layout<float, 32, 32>{}(0, 5) == 5);
static_assert(tt::swizzled_layout<float, 32, 32>{}(3, 5) == 3 * 32 + (5 ^ 3));

// Distinct offsets, all of them inside the storage.
template <class Layout>
void check_injective(Layout layout) {
  INFO(layout.rows << " x " << layout.cols << ", " << sizeof(typename Layout::element)
                   << " bytes, size " << layout.size);
  REQUIRE(layout.size >= layout.rows * layout.cols);
  std::vector<bool> taken(static_cast<std::size_t>(layout.size));
  bool right = true;
  for (int row = 0; row < layout.rows; ++row) {
    for (int col = 0; col < layout.cols; ++col) {
      const int at = layout(row, col);
      if (at < 0 || at >= layout.size || taken[static_cast<std::size_t>(at)]) {
        right = false;
      } else {
        taken[static_cast<std::size_t>(at)] = true;
      }
    }
  }
  REQUIRE(right);
}

// Vectors stay whole, aligned and in their row, so that one access can take them.
template <class T, int Rows, int Cols, int VectorBytes>
void check_swizzle() {
  const tt::swizzled_layout<T, Rows, Cols, VectorBytes> layout;
  check_injective(layout);
  INFO(Rows << " x " << Cols << ", " << sizeof(T) << " bytes, vectors of " << VectorBytes);
  constexpr int elements = VectorBytes / static_cast<int>(sizeof(T));
  bool right = true;
  for (int row = 0; row < Rows; ++row) {
    for (int col = 0; col < Cols; col += elements) {
      const int at = layout(row, col);
      right = right && at / Cols == row && at % elements == 0;
      for (int i = 1; i < elements; ++i) { right = right && layout(row, col + i) == at + i; }
    }
  }
  REQUIRE(right);
}

// ---------------------------------------------------- swizzles, walked down without conflict

template <class T, int Rows, int Cols>
constexpr bool swizzle_is_conflict_free() {
  return tt::is_conflict_free(tt::swizzled_layout<T, Rows, Cols>{});
}
static_assert(swizzle_is_conflict_free<float, 32, 32>());
static_assert(swizzle_is_conflict_free<float, 64, 32>());
static_assert(swizzle_is_conflict_free<float, 32, 64>());
static_assert(swizzle_is_conflict_free<float, 32, 256>());
static_assert(swizzle_is_conflict_free<double, 32, 16>());
static_assert(swizzle_is_conflict_free<double, 32, 32>());
static_assert(swizzle_is_conflict_free<bytes<16>, 32, 8>());
static_assert(swizzle_is_conflict_free<bytes<16>, 16, 32>());
static_assert(swizzle_is_conflict_free<bytes<32>, 16, 4>());
static_assert(swizzle_is_conflict_free<bytes<64>, 16, 2>());
// Rows shorter than all banks share a line of them.
static_assert(tt::conflict_ways(tt::swizzled_layout<float, 32, 8>{}, tt::along_columns) == 1);
static_assert(tt::conflict_ways(tt::swizzled_layout<float, 32, 16>{}, tt::along_columns) == 1);
static_assert(tt::conflict_ways(tt::padded_layout<float, 32, 32, 0>{}, tt::along_columns) == 32);

// With vectors of V elements lane l holds rows V l to V l + V - 1 of a column of vectors, and takes
// one of them at a time.
template <class T, int VectorBytes, int Cols>
constexpr int micro_block_ways() {
  constexpr int elements = VectorBytes / static_cast<int>(sizeof(T));
  const tt::swizzled_layout<T, 32 * elements, Cols, VectorBytes> layout;
  int worst = 0;
  for (int col = 0; col < Cols; col += elements) {
    for (int i = 0; i < elements; ++i) {
      const auto lane_map = [=](int lane) { return tt::tile_coordinate{lane * elements + i, col}; };
      const int ways = tt::conflict_ways(layout, lane_map, VectorBytes);
      worst = ways > worst ? ways : worst;
    }
  }
  return worst;
}
static_assert(micro_block_ways<char, 4, 128>() == 1);
static_assert(micro_block_ways<char, 8, 128>() == 1);
static_assert(micro_block_ways<char, 16, 128>() == 1);
static_assert(micro_block_ways<char, 16, 256>() == 1);
static_assert(micro_block_ways<short, 4, 64>() == 1);
static_assert(micro_block_ways<short, 16, 64>() == 1);
static_assert(micro_block_ways<float, 8, 32>() == 1);
static_assert(micro_block_ways<float, 16, 64>() == 1);
static_assert(micro_block_ways<double, 16, 16>() == 1);

// ---------------------------------------------------- layouts known at run time

template <class Layout>
constexpr bool same_places(Layout layout, tt::tile_map map) {
  bool same = map.size() == layout.size;
  for (int row = 0; row < layout.rows; ++row) {
    for (int col = 0; col < layout.cols; ++col) {
      same = same && map(row, col) == layout(row, col);
    }
  }
  return same;
}
static_assert(same_places(tt::padded_layout<char, 7, 33, 4>{}, tt::padded_map(1, 7, 33, 4)));
static_assert(same_places(tt::padded_layout<double, 32, 16, 0>{}, tt::padded_map(8, 32, 16, 0)));
static_assert(same_places(tt::swizzled_layout<float, 32, 32>{}, tt::swizzled_map(4, 32, 32, 4)));
static_assert(same_places(tt::swizzled_layout<char, 32, 32, 4>{}, tt::swizzled_map(1, 32, 32, 4)));
static_assert(same_places(tt::swizzled_layout<short, 9, 64, 16>{}, tt::swizzled_map(2, 9, 64, 16)));
static_assert(!same_places(tt::swizzled_layout<float, 32, 32>{}, tt::padded_map(4, 32, 32, 0)));
static_assert(tt::can_swizzle(4, 32, 4) && tt::can_swizzle(12, 48, 36));
static_assert(!tt::can_swizzle(4, 33, 4) && !tt::can_swizzle(4, 32, 2) &&
              !tt::can_swizzle(4, 32, 6));

// ---------------------------------------------------- micro-blocks

template <int ElementBytes, int Rows, int Columns>
void check_thread_transpose() {
  INFO(Rows << " x " << Columns << " elements of " << ElementBytes << " bytes");
  constexpr std::size_t count = Rows * Columns * ElementBytes;
  unsigned in[Rows][Columns * ElementBytes / 4];
  unsigned out[Columns][Rows * ElementBytes / 4];
  static_assert(sizeof in == count && sizeof out == count);
  // No two elements alike: the first byte counts them, the others tell their place too.
  std::vector<unsigned char> source(count);
  for (std::size_t i = 0; i < count; ++i) {
    source[i] = static_cast<unsigned char>(i / ElementBytes + 89 * (i % ElementBytes));
  }
  std::vector<unsigned char> expected(count);
  for (std::size_t r = 0; r < Rows; ++r) {
    for (std::size_t c = 0; c < Columns; ++c) {
      std::memcpy(&expected[(c * Rows + r) * ElementBytes],
                  &source[(r * Columns + c) * ElementBytes], ElementBytes);
    }
  }
  std::memcpy(in, source.data(), count);
  std::memset(out, 0xee, count);
  tt::thread_transpose<ElementBytes>(out, in);
  std::vector<unsigned char> found(count);
  std::memcpy(found.data(), out, count);
  REQUIRE(found == expected);
  std::memcpy(found.data(), in, count);
  REQUIRE(found == source);
}

}  // namespace

TEST_CASE("layout: padded tiles are injective", "[layout]") {
  check_injective(tt::padded_layout<char, 128, 128, 4>{});
  check_injective(tt::padded_layout<char, 1, 1, 0>{});
  check_injective(tt::padded_layout<short, 64, 32, 2>{});
  check_injective(tt::padded_layout<bytes<3>, 7, 5, 1>{});
  check_injective(tt::padded_layout<float, 32, 32, 0>{});
  check_injective(tt::padded_layout<float, 32, 32, 1>{});
  check_injective(tt::padded_layout<float, 16, 48, 3>{});
  check_injective(tt::padded_layout<double, 48, 16, 1>{});
  check_injective(tt::padded_layout<bytes<64>, 24, 9, 1>{});
}

TEST_CASE("layout: swizzled tiles are injective and keep vectors whole", "[layout]") {
  check_swizzle<char, 32, 128, 1>();
  check_swizzle<char, 128, 128, 4>();
  check_swizzle<char, 256, 128, 16>();
  check_swizzle<char, 16, 16, 16>();
  check_swizzle<short, 64, 64, 2>();
  check_swizzle<short, 128, 32, 8>();
  check_swizzle<float, 32, 32, 4>();
  check_swizzle<float, 5, 32, 4>();
  check_swizzle<float, 100, 8, 4>();
  check_swizzle<float, 64, 32, 16>();
  check_swizzle<double, 32, 16, 8>();
  check_swizzle<double, 33, 64, 16>();
  check_swizzle<bytes<3>, 32, 32, 3>();
  check_swizzle<bytes<12>, 32, 32, 12>();
  check_swizzle<bytes<12>, 32, 48, 36>();
  check_swizzle<bytes<16>, 32, 1, 16>();
  check_swizzle<bytes<64>, 9, 2, 64>();
}

TEST_CASE("thread_transpose: micro-blocks on the CPU", "[layout]") {
  check_thread_transpose<1, 4, 4>();
  check_thread_transpose<1, 4, 16>();
  check_thread_transpose<1, 16, 4>();
  check_thread_transpose<1, 8, 12>();
  check_thread_transpose<1, 16, 16>();
  check_thread_transpose<2, 2, 2>();
  check_thread_transpose<2, 2, 8>();
  check_thread_transpose<2, 8, 2>();
  check_thread_transpose<2, 4, 6>();
  check_thread_transpose<2, 8, 8>();
  check_thread_transpose<3, 4, 4>();
  check_thread_transpose<3, 8, 4>();
  check_thread_transpose<4, 1, 1>();
  check_thread_transpose<4, 1, 4>();
  check_thread_transpose<4, 4, 4>();
  check_thread_transpose<4, 3, 5>();
  check_thread_transpose<5, 4, 4>();
  check_thread_transpose<6, 2, 2>();
  check_thread_transpose<6, 4, 6>();
  check_thread_transpose<7, 4, 8>();
  check_thread_transpose<8, 2, 2>();
  check_thread_transpose<8, 3, 2>();
  check_thread_transpose<10, 2, 2>();
  check_thread_transpose<11, 4, 4>();
  check_thread_transpose<12, 2, 3>();
  check_thread_transpose<12, 4, 4>();
  check_thread_transpose<16, 2, 5>();
}

TEST_CASE("matrix_view: elements by row and column, on the CPU", "[layout]") {
  int data[] = {0, 1, 2, -1, 10, 11, 12, -1};  // 2 rows x 3 columns, a gap behind each
  const tt::matrix_view<int> view{data, 2, 3, 4};
  const tt::matrix_view<const int> readable{data, 2, 3, 4};
  view.set(1, 2, 99);
  CHECK(data[6] == 99);
  CHECK(data[7] == -1);
  CHECK(readable.get(1, 2) == 99);
  CHECK(view.get(0, 1) == 1);
}
