// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::transpose, tt::reorient, tt::permute and tt::copy over mdspans: every pair of layouts under every symmetry and under
// permutations of up to four axes, extents that do not match, strides that are no rows.

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

// ---- arrays of any rank ---------------------------------------------------------------------------

namespace {

template <std::size_t Rank>
using sizes = cuda::std::array<std::size_t, Rank>;

// The strides of an array: the last axis fastest, or the first, or the last with gaps.
template <std::size_t Rank>
sizes<Rank> make_strides(const sizes<Rank>& extents, int kind) {
  sizes<Rank> strides{};
  std::size_t step = 1;
  for (std::size_t i = 0; i < Rank; ++i) {
    const std::size_t k = kind == 1 ? i : Rank - 1 - i;
    strides[k] = step;
    step = step * extents[k] + (kind == 2 ? 3 : 0);
  }
  return strides;
}

template <class T, std::size_t Rank>
auto make_span(T* data, const sizes<Rank>& extents, const sizes<Rank>& strides) {
  using shape = dextents<std::size_t, Rank>;
  return mdspan<T, shape, layout_stride>{data,
                                         layout_stride::mapping<shape>{shape{extents}, strides}};
}

template <std::size_t Rank>
std::size_t elements_of(const sizes<Rank>& extents, const sizes<Rank>& strides) {
  std::size_t last = 0;
  for (std::size_t k = 0; k < Rank; ++k) { last += (extents[k] - 1) * strides[k]; }
  return last + 1;
}

// Permutes an array, or copies it where `axes` are in order, between every two of the layouts.
template <class T, std::size_t Rank>
void check_axes(const sizes<Rank>& extents, const int (&axes)[Rank], bool copies = false) {
  random_source random;
  sizes<Rank> out_extents{};
  for (std::size_t k = 0; k < Rank; ++k) { out_extents[k] = extents[axes[k]]; }
  for (int kinds = 0; kinds < 9; ++kinds) {
    const sizes<Rank> in_strides = make_strides(extents, kinds % 3);
    const sizes<Rank> out_strides = make_strides(out_extents, kinds / 3);
    const byte_vector content = random.fill(elements_of(extents, in_strides) * sizeof(T));
    const input_buffer in{content};
    output_buffer out{elements_of(out_extents, out_strides) * sizeof(T), 0, random};
    sizes<Rank> index{};  // of the output
    for (bool more = true; more;) {
      std::size_t from = 0;
      std::size_t to = 0;
      for (std::size_t k = 0; k < Rank; ++k) {
        from += index[k] * in_strides[axes[k]];
        to += index[k] * out_strides[k];
      }
      out.expect(to * sizeof(T), 1, {&content[from * sizeof(T)], 1, 1, 1, sizeof(T)});
      std::size_t k = Rank;
      while (k > 0 && ++index[k - 1] == out_extents[k - 1]) { index[--k] = 0; }
      more = k > 0;
    }
    out.poison();
    const auto to = make_span(out.as<T>(), out_extents, out_strides);
    const auto from = make_span(in.as<T>(), extents, in_strides);
    REQUIRE((copies ? tt::copy(to, from) : tt::permute(to, from, axes)) == cudaSuccess);
    REQUIRE(out.difference() == "");
    REQUIRE(in.unchanged());
  }
}

}  // namespace

TEST_CASE("mdspan: permutes between every two layouts", "[mdspan][quick]") {
  require_device();
  check_axes<float, 1>({37}, {0});
  check_axes<float, 3>({5, 33, 7}, {2, 0, 1});
  check_axes<float, 3>({5, 33, 7}, {0, 2, 1});
  check_axes<unsigned char, 4>({3, 9, 4, 11}, {3, 0, 2, 1});
  check_axes<float_triple, 4>({3, 5, 4, 7}, {0, 3, 1, 2});
}

TEST_CASE("mdspan: copies between every two layouts", "[mdspan][quick]") {
  require_device();
  check_axes<float, 1>({37}, {0}, true);
  check_axes<double, 2>({19, 37}, {0, 1}, true);
  check_axes<float, 3>({5, 33, 7}, {0, 1, 2}, true);
  check_axes<short, 4>({3, 9, 4, 11}, {0, 1, 2, 3}, true);
}

TEST_CASE("mdspan: permutes and copies by the layouts' own types", "[mdspan][quick]") {
  require_device();
  constexpr std::size_t count = 3 * 4 * 5;
  random_source random;
  const byte_vector content = random.fill(count * sizeof(int));
  device_allocation in(content.size()), left(content.size()), out(content.size());
  upload(in.data(), content);
  using shape = extents<short, 3, 4, 5>;
  using moved = extents<int, 5, cuda::std::dynamic_extent, 4>;
  const mdspan<const int, shape> from{reinterpret_cast<const int*>(in.data())};
  const mdspan<int, shape, layout_left> between{reinterpret_cast<int*>(left.data())};
  REQUIRE(tt::copy(between, from) == cudaSuccess);
  REQUIRE(tt::permute(mdspan<int, moved>{reinterpret_cast<int*>(out.data()), 3}, between,
                      {2, 0, 1}) == cudaSuccess);
  const byte_vector found = download(out.data(), content.size());
  bool right = true;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t a = i / 20, b = i / 5 % 4, c = i % 5;
    right = right && std::memcmp(&found[((c * 3 + a) * 4 + b) * sizeof(int)],
                                 &content[i * sizeof(int)], sizeof(int)) == 0;
  }
  CHECK(right);
}

// ---- refusals, which need no device: nothing is launched, so the addresses are only compared -----

namespace {

// A layout whose axes all run backwards from the last element in memory.
struct backwards {
  template <class Extents>
  struct mapping : layout_right::mapping<Extents> {
    using forwards = layout_right::mapping<Extents>;
    using layout_type = backwards;
    using forwards::forwards;
    template <class... Indices>
    constexpr typename Extents::index_type operator()(Indices... indices) const {
      return this->required_span_size() - 1 - forwards::operator()(indices...);
    }
    constexpr typename Extents::index_type stride(typename Extents::rank_type axis) const {
      return -forwards::stride(axis);
    }
  };
};
template <std::size_t Rank>
using backwards_span = mdspan<float, dextents<int, Rank>, backwards>;

}  // namespace

TEST_CASE("mdspan: a layout may start anywhere in its memory", "[mdspan][quick]") {
  const backwards_span<3> array{fake(0), 2, 3, 4};
  CHECK(tt::detail::first_of(array) == fake(0) + 23);
  CHECK(tt::detail::first_of(backwards_span<1>{nullptr, 4}) == nullptr);
  // The memory behind the first element in memory is the array's, and not that in front of it.
  const auto dense = [](float* data) { return matrix<float, layout_right>{data, 6, 4}; };
  const backwards_span<2> turned{fake(0), 6, 4};
  CHECK(tt::copy(dense(fake(0) + 23), turned) == cudaErrorInvalidValue);
  CHECK(tt::copy(turned, dense(fake(0) + 23)) == cudaErrorInvalidValue);
  CHECK(tt::permute(turned, dense(fake(0) + 23), {0, 1}) == cudaErrorInvalidValue);
  CHECK(tt::reorient(turned, dense(fake(0) + 23), tt::symmetry::identity) == cudaErrorInvalidValue);
  if (cudaFree(nullptr) == cudaSuccess) { return; }  // these would be moved
  (void)cudaGetLastError();
  CHECK(tt::copy(dense(fake(0) - 24), turned) != cudaErrorInvalidValue);
  CHECK(tt::reorient(turned, dense(fake(0) - 24), tt::symmetry::identity) != cudaErrorInvalidValue);
}

TEST_CASE("mdspan: matrices that run backwards are symmetries of their memory", "[mdspan][quick]") {
  using sides = dextents<int, 2>;
  const auto check = [](auto matrix, std::size_t rows, std::size_t cols, tt::symmetry seen) {
    const auto laid = tt::detail::lay_out(matrix);
    CHECK(laid.view.data == fake(0));
    CHECK(laid.view.rows == rows);
    CHECK(laid.view.cols == cols);
    CHECK(laid.view.stride == cols);
    CHECK(laid.seen == seen);
    for (std::size_t i = 0; i < rows; ++i) {  // matrix == seen(view)
      for (std::size_t j = 0; j < cols; ++j) {
        const bool swaps = tt::transposes(seen);
        const shape from = source_of(seen, swaps ? j : i, swaps ? i : j, rows, cols);
        const int a = static_cast<int>(swaps ? j : i), b = static_cast<int>(swaps ? i : j);
        CHECK(static_cast<std::size_t>(matrix.mapping()(a, b)) == from.ny * cols + from.nx);
      }
    }
  };
  check(backwards_span<2>{fake(0), 6, 4}, 6, 4, tt::symmetry::rotate_180);
  check(backwards_span<2>{fake(0), 6, 1}, 6, 1, tt::symmetry::flip_ud);
  check(backwards_span<2>{fake(0), 1, 4}, 1, 4, tt::symmetry::flip_lr);
  check(mdspan<float, sides, layout_left>{fake(0), 6, 4}, 4, 6, tt::symmetry::transpose);
  check(mdspan<float, sides>{fake(0), 6, 4}, 6, 4, tt::symmetry::identity);
}

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

TEST_CASE("mdspan: what of permutes and copies is refused", "[mdspan][quick]") {
  constexpr cudaError_t refused = cudaErrorInvalidValue;
  using cube = mdspan<float, dextents<int, 3>>;
  using constant = mdspan<const float, dextents<int, 3>, layout_left>;
  float* const in = fake(0);
  float* const out = fake(4096);
  float* const none = nullptr;
  const constant from{in, 3, 4, 5};
  CHECK(tt::permute(cube{out, 5, 3, 4}, from, {2, 0, 0}) == refused);
  CHECK(tt::permute(cube{out, 5, 3, 4}, from, {2, 0, 3}) == refused);
  CHECK(tt::permute(cube{out, 5, 3, 4}, from, {2, -1, 1}) == refused);
  CHECK(tt::permute(cube{out, 3, 4, 5}, from, {2, 0, 1}) == refused);
  CHECK(tt::permute(cube{none, 5, 3, 4}, from, {2, 0, 1}) == refused);
  CHECK(tt::permute(cube{fake(4097), 5, 3, 4}, from, {2, 0, 1}) == refused);
  CHECK(tt::permute(cube{fake(59 * 4), 5, 3, 4}, from, {2, 0, 1}) == refused);
  CHECK(tt::copy(cube{out, 3, 5, 4}, from) == refused);
  CHECK(tt::copy(cube{in, 3, 4, 5}, from) == refused);
  CHECK(tt::copy(cube{out, 3, 4, 5}, constant{none, 3, 4, 5}) == refused);
  CHECK(tt::copy(cube{none, 3, 0, 5}, constant{none, 3, 0, 5}) == cudaSuccess);
  CHECK(tt::permute(cube{none, 5, 3, 0}, constant{none, 3, 0, 5}, {2, 0, 1}) == cudaSuccess);
}
