// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::transpose and tt::reorient over mdspans: every pair of layouts under every symmetry, extents that do
// not match, strides that are no rows.

#include <tiletranspose/mdspan.cuh>

#include "support.cuh"

using namespace tt_test;

namespace {

using cuda::std::dextents;
using cuda::std::extents;
using cuda::std::layout_left;
using cuda::std::layout_right;
using cuda::std::layout_stride;
using cuda::std::mdspan;

template <class T, class Layout>
using matrix = mdspan<T, dextents<std::size_t, 2>, Layout>;
template <class T>
using strided = matrix<T, layout_stride>;

// A matrix of any of the layouts, by its strides.
struct layout {
  std::size_t row_stride, col_stride;
  std::size_t span(std::size_t rows, std::size_t cols) const {
    return (rows - 1) * row_stride + (cols - 1) * col_stride + 1;
  }
};
enum class layout_kind { right, left, pitched_right, pitched_left };
constexpr layout_kind layouts[] = {layout_kind::right, layout_kind::left,
                                   layout_kind::pitched_right, layout_kind::pitched_left};

layout make_layout(layout_kind kind, std::size_t rows, std::size_t cols) {
  switch (kind) {
    case layout_kind::right:
      return {cols, 1};
    case layout_kind::left:
      return {1, rows};
    case layout_kind::pitched_right:
      return {cols + 3, 1};
    default:
      return {1, rows + 5};
  }
}

template <class T>
strided<T> make_strided(T* data, std::size_t rows, std::size_t cols, const layout& l) {
  const cuda::std::array<std::size_t, 2> strides{l.row_stride, l.col_stride};
  return strided<T>{data, layout_stride::mapping<dextents<std::size_t, 2>>{
                              dextents<std::size_t, 2>{rows, cols}, strides}};
}

// What out(i, j) is: this element of the input, by the definition of tt::symmetry.
shape source_of(tt::symmetry s, std::size_t i, std::size_t j, std::size_t rows, std::size_t cols) {
  switch (s) {
    case tt::symmetry::identity:
      return {j, i};
    case tt::symmetry::flip_lr:
      return {cols - 1 - j, i};
    case tt::symmetry::flip_ud:
      return {j, rows - 1 - i};
    case tt::symmetry::rotate_180:
      return {cols - 1 - j, rows - 1 - i};
    case tt::symmetry::transpose:
      return {i, j};
    case tt::symmetry::rotate_90:
      return {cols - 1 - i, j};
    case tt::symmetry::rotate_270:
      return {i, rows - 1 - j};
    default:
      return {cols - 1 - i, rows - 1 - j};
  }
}

// Random elements, moved by `call(out, in)` between the two layouts; every byte of the output's memory is
// compared, gaps between rows too.
template <class T, class Call>
void check_layouts(std::size_t rows, std::size_t cols, tt::symmetry s, const layout& in_layout,
                   const layout& out_layout, random_source& random, Call call) {
  const std::size_t out_rows = tt::transposes(s) ? cols : rows;
  const std::size_t out_cols = tt::transposes(s) ? rows : cols;
  INFO(rows << " x " << cols << ", symmetry " << static_cast<int>(s) << ", strides "
            << in_layout.row_stride << ", " << in_layout.col_stride << " -> "
            << out_layout.row_stride << ", " << out_layout.col_stride << "; repeat with --rng-seed "
            << Catch::getSeed());
  const byte_vector content = random.fill(in_layout.span(rows, cols) * sizeof(T));
  const input_buffer in{content};
  output_buffer out{out_layout.span(out_rows, out_cols) * sizeof(T), 0, random};
  for (std::size_t i = 0; i < out_rows; ++i) {
    for (std::size_t j = 0; j < out_cols; ++j) {
      const shape from = source_of(s, i, j, rows, cols);
      const std::size_t at = from.ny * in_layout.row_stride + from.nx * in_layout.col_stride;
      out.expect((i * out_layout.row_stride + j * out_layout.col_stride) * sizeof(T), 1,
                 {&content[at * sizeof(T)], 1, 1, 1, sizeof(T)});
    }
  }
  out.poison();
  REQUIRE(call(out.as<T>(), in.as<T>()) == cudaSuccess);
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
  REQUIRE(out.difference() == "");
  REQUIRE(in.unchanged());
}

template <class T>
void check_every_layout(std::size_t rows, std::size_t cols) {
  random_source random;
  for (int number = 0; number < 8; ++number) {
    const auto s = static_cast<tt::symmetry>(number);
    const std::size_t out_rows = tt::transposes(s) ? cols : rows;
    const std::size_t out_cols = tt::transposes(s) ? rows : cols;
    for (const layout_kind from : layouts) {
      for (const layout_kind to : layouts) {
        const layout in_layout = make_layout(from, rows, cols);
        const layout out_layout = make_layout(to, out_rows, out_cols);
        check_layouts<T>(rows, cols, s, in_layout, out_layout, random, [&](T* out, const T* in) {
          const auto out_span = make_strided(out, out_rows, out_cols, out_layout);
          const auto in_span = make_strided(in, rows, cols, in_layout);
          return s == tt::symmetry::transpose ? tt::transpose(out_span, in_span)
                                              : tt::reorient(out_span, in_span, s);
        });
      }
    }
  }
}

// Transposes and copies between dense layouts by their own types.
template <class OutLayout, class InLayout>
void check_types(const layout& out_layout, const layout& in_layout) {
  random_source random;
  check_layouts<float>(19, 37, tt::symmetry::transpose, in_layout, out_layout, random,
                       [](float* out, const float* in) {
                         return tt::transpose(matrix<float, OutLayout>{out, 37, 19},
                                              matrix<const float, InLayout>{in, 19, 37});
                       });
}

float* fake(std::size_t bytes) {
  return reinterpret_cast<float*>((std::uintptr_t{1} << 32) + bytes);
}

}  // namespace

TEST_CASE("mdspan: every pair of layouts under every symmetry", "[mdspan][quick]") {
  require_device();
  SECTION("4 bytes") { check_every_layout<float>(13, 21); }
  SECTION("a row") { check_every_layout<float>(1, 33); }
  SECTION("a column") { check_every_layout<float>(33, 1); }
  SECTION("12 bytes") { check_every_layout<float_triple>(9, 6); }
}

TEST_CASE("mdspan: larger matrices", "[mdspan]") {
  require_device();
  check_every_layout<std::uint16_t>(130, 67);
  check_every_layout<double>(70, 101);
}

TEST_CASE("mdspan: layouts by their types", "[mdspan][quick]") {
  require_device();
  check_types<layout_right, layout_right>({19, 1}, {37, 1});
  check_types<layout_left, layout_right>({1, 37}, {37, 1});
  check_types<layout_right, layout_left>({19, 1}, {1, 19});
  check_types<layout_left, layout_left>({1, 37}, {1, 19});
  random_source random;
  SECTION("static extents, narrow index type") {
    check_layouts<int>(4, 6, tt::symmetry::transpose, {6, 1}, {4, 1}, random,
                       [](int* out, const int* in) {
                         return tt::transpose(mdspan<int, extents<int, 6, 4>>{out},
                                              mdspan<const int, extents<short, 4, 6>>{in});
                       });
  }
  SECTION("one static extent of two") {
    check_layouts<int>(
        4, 6, tt::symmetry::rotate_90, {6, 1}, {4, 1}, random, [](int* out, const int* in) {
          using out_extents = extents<int, cuda::std::dynamic_extent, 4>;
          return tt::reorient(mdspan<int, out_extents>{out, 6},
                              mdspan<const int, extents<int, 4, 6>>{in}, tt::symmetry::rotate_90);
        });
  }
  SECTION("an input that is not const") {
    check_layouts<int>(
        2, 3, tt::symmetry::transpose, {3, 1}, {2, 1}, random, [](int* out, const int* in) {
          return tt::transpose(matrix<int, layout_right>{out, 3, 2},
                               matrix<int, layout_right>{const_cast<int*>(in), 2, 3});
        });
  }
}

// Stepping over elements along a dimension of one element steps nowhere.
TEST_CASE("mdspan: a stride that nothing uses may be anything", "[mdspan][quick]") {
  require_device();
  random_source random;
  for (const std::size_t unused : {std::size_t{1}, std::size_t{2}, std::size_t{1000}}) {
    check_layouts<float>(1, 21, tt::symmetry::transpose, {unused, 1}, {1, unused}, random,
                         [&](float* out, const float* in) {
                           return tt::transpose(make_strided(out, 21, 1, {1, unused}),
                                                make_strided(in, 1, 21, {unused, 1}));
                         });
    check_layouts<float>(1, 21, tt::symmetry::transpose, {unused, 3}, {2, unused}, random,
                         [&](float* out, const float* in) {
                           return tt::transpose(make_strided(out, 21, 1, {2, unused}),
                                                make_strided(in, 1, 21, {unused, 3}));
                         });
  }
}

// ---- refusals, which need no device: nothing is launched, so the addresses are only compared -----

TEST_CASE("mdspan: zero work succeeds whatever the pointers", "[mdspan][quick]") {
  float* const none = nullptr;
  CHECK(tt::transpose(matrix<float, layout_left>{none, 0, 5},
                      matrix<const float, layout_right>{none, 5, 0}) == cudaSuccess);
  CHECK(tt::reorient(matrix<float, layout_left>{none, 5, 0},
                     matrix<const float, layout_right>{none, 5, 0},
                     tt::symmetry::flip_lr) == cudaSuccess);
}

TEST_CASE("mdspan: bad input is refused", "[mdspan][quick]") {
  constexpr cudaError_t refused = cudaErrorInvalidValue;
  float* const in = fake(0);
  float* const out = fake(4096);
  const matrix<const float, layout_right> from{in, 5, 7};
  SECTION("null") {
    float* const none = nullptr;
    CHECK(tt::transpose(matrix<float, layout_right>{none, 7, 5}, from) == refused);
    CHECK(tt::transpose(matrix<float, layout_right>{out, 7, 5},
                        matrix<const float, layout_right>{none, 5, 7}) == refused);
  }
  SECTION("misaligned") {
    for (const std::size_t by : {1, 2, 3}) {
      float* const off = fake(4096 + by);
      CHECK(tt::transpose(matrix<float, layout_right>{off, 7, 5}, from) == refused);
      CHECK(tt::transpose(matrix<float, layout_left>{off, 7, 5}, from) == refused);
      CHECK(tt::transpose(matrix<float, layout_right>{in, 7, 5},
                          matrix<const float, layout_left>{off, 5, 7}) == refused);
      CHECK(tt::reorient(matrix<float, layout_right>{off, 5, 7}, from, tt::symmetry::flip_lr) ==
            refused);
      CHECK(tt::transpose(matrix<float, layout_right>{off, 7, 0},
                          matrix<const float, layout_right>{off, 0, 7}) == cudaSuccess);
    }
  }
  SECTION("extents") {
    CHECK(tt::transpose(matrix<float, layout_right>{out, 5, 7}, from) == refused);
    CHECK(tt::transpose(matrix<float, layout_left>{out, 5, 7}, from) == refused);
    CHECK(tt::transpose(matrix<float, layout_right>{out, 7, 6}, from) == refused);
    CHECK(tt::transpose(matrix<float, layout_right>{out, 0, 0}, from) == refused);
    CHECK(tt::reorient(matrix<float, layout_right>{out, 7, 5}, from, tt::symmetry::flip_lr) ==
          refused);
    CHECK(tt::reorient(matrix<float, layout_left>{out, 5, 7}, from, tt::symmetry::rotate_90) ==
          refused);
    // A row and a column lie alike in memory.
    CHECK(tt::transpose(matrix<float, layout_right>{out, 1, 9},
                        matrix<const float, layout_right>{in, 1, 9}) == refused);
  }
  SECTION("strides along both dimensions") {
    const layout gaps{20, 2};
    CHECK(tt::transpose(make_strided(out, 7, 5, gaps), from) == refused);
    CHECK(tt::transpose(matrix<float, layout_right>{out, 7, 5},
                        make_strided<const float>(in, 5, 7, gaps)) == refused);
  }
  SECTION("rows that overlap") {
    CHECK(tt::transpose(make_strided(out, 7, 5, {4, 1}), from) == refused);
    CHECK(tt::transpose(make_strided(out, 7, 5, {1, 6}), from) == refused);
  }
  SECTION("memory that overlaps") {
    CHECK(tt::transpose(matrix<float, layout_left>{fake(34 * 4), 7, 5}, from) == refused);
    CHECK(tt::reorient(matrix<float, layout_left>{in, 5, 7}, from, tt::symmetry::identity) ==
          refused);
  }
}
