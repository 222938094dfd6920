// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::matrix_view: how it is made, and what it converts to.

#include <tiletranspose/tile.cuh>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <type_traits>

namespace {

using to_write = tt::matrix_view<float>;
using to_read = tt::matrix_view<const float>;

static_assert(std::is_aggregate_v<to_write> && std::is_trivially_copyable_v<to_write>);

static_assert(std::is_convertible_v<to_write, to_read>);
static_assert(!std::is_convertible_v<to_read, to_write>);
static_assert(!std::is_convertible_v<tt::matrix_view<double>, to_read>);
static_assert(std::is_convertible_v<tt::matrix_view<const double>, tt::matrix_view<const double>>);

float memory[48];
const float* const constant = memory;

static_assert(std::is_same_v<decltype(tt::matrix_view{memory, 6, 8}), to_write>);
static_assert(std::is_same_v<decltype(tt::matrix_view{memory, 6, 7, 8}), to_write>);
static_assert(std::is_same_v<decltype(tt::matrix_view{constant, 6, 8}), to_read>);
static_assert(std::is_same_v<decltype(tt::matrix_view{constant, 6, 7, 8}), to_read>);

// Not a template, so that arguments are converted.
std::size_t stride_of(to_read view) { return view.stride; }

}  // namespace

TEST_CASE("matrix_view: a stride is the row's length unless it is given", "[view]") {
  CHECK(to_write{memory, 6, 8}.stride == 8);
  CHECK(to_write{memory, 6, 7, 8}.stride == 8);
  CHECK(to_write{memory, 6, 8, 0}.stride == 0);
  CHECK(tt::matrix_view{constant, 6, 8}.stride == 8);
}

TEST_CASE("matrix_view: a default one is empty", "[view]") {
  const to_write view;
  CHECK(view.data == nullptr);
  CHECK(view.rows == 0);
  CHECK(view.cols == 0);
  CHECK(view.stride == 0);
}

TEST_CASE("matrix_view: the stride does not follow columns that are set later", "[view]") {
  to_write view;
  view.data = memory;
  view.rows = 6;
  view.cols = 8;
  CHECK(view.stride == 0);
  view.stride = view.cols;
  CHECK(stride_of(view) == 8);
}

TEST_CASE("matrix_view: one to write becomes one to read", "[view]") {
  const to_write view{memory + 1, 5, 7, 8};
  const to_read same = view;
  CHECK(same.data == memory + 1);
  CHECK(same.rows == 5);
  CHECK(same.cols == 7);
  CHECK(same.stride == 8);
  CHECK(stride_of(view) == 8);
}
