// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The eight symmetries of a rectangle as the group that they are, against a reference that moves
// every element of a matrix as the table of tt::symmetry says.

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <climits>
#include <cstddef>
#include <string>
#include <vector>

#include <tiletranspose/symmetry.cuh>

namespace {

using tt::symmetry;

constexpr std::array<symmetry, 8> all{
    symmetry::identity,  symmetry::flip_lr,   symmetry::flip_ud,    symmetry::rotate_180,
    symmetry::transpose, symmetry::rotate_90, symmetry::rotate_270, symmetry::anti_transpose};

std::string name(symmetry s) {
  static const char* const names[] = {"identity",  "flip_lr",   "flip_ud",    "rotate_180",
                                      "transpose", "rotate_90", "rotate_270", "anti_transpose"};
  return names[static_cast<int>(s)];
}

struct matrix {
  std::size_t rows, cols;
  std::vector<int> elements;

  int at(std::size_t row, std::size_t col) const { return elements.at(row * cols + col); }
  bool operator==(const matrix& other) const {
    return rows == other.rows && cols == other.cols && elements == other.elements;
  }
};

// Every element another, so that no two symmetries give the same unless they are the same.
matrix numbered(std::size_t rows, std::size_t cols) {
  matrix m{rows, cols, {}};
  for (std::size_t i = 0; i < rows * cols; ++i) { m.elements.push_back(static_cast<int>(i)); }
  return m;
}

// out(i, j), from the formulas.
int element(symmetry s, const matrix& in, std::size_t i, std::size_t j) {
  const std::size_t last_row = in.rows - 1;
  const std::size_t last_col = in.cols - 1;
  switch (s) {
    case symmetry::identity:
      return in.at(i, j);
    case symmetry::flip_lr:
      return in.at(i, last_col - j);
    case symmetry::flip_ud:
      return in.at(last_row - i, j);
    case symmetry::rotate_180:
      return in.at(last_row - i, last_col - j);
    case symmetry::transpose:
      return in.at(j, i);
    case symmetry::rotate_90:
      return in.at(j, last_col - i);
    case symmetry::rotate_270:
      return in.at(last_row - j, i);
    case symmetry::anti_transpose:
      return in.at(last_row - j, last_col - i);
  }
  return -1;
}

bool swaps_sides(symmetry s) {
  return s == symmetry::transpose || s == symmetry::rotate_90 || s == symmetry::rotate_270 ||
         s == symmetry::anti_transpose;
}

matrix apply(symmetry s, const matrix& in) {
  matrix out{swaps_sides(s) ? in.cols : in.rows, swaps_sides(s) ? in.rows : in.cols, {}};
  for (std::size_t i = 0; i < out.rows; ++i) {
    for (std::size_t j = 0; j < out.cols; ++j) { out.elements.push_back(element(s, in, i, j)); }
  }
  return out;
}

// The compiler can work with all of it.
static_assert(tt::compose(symmetry::flip_ud, symmetry::transpose) == symmetry::rotate_90);
static_assert(tt::compose(symmetry::transpose, symmetry::flip_ud) == symmetry::rotate_270);
static_assert(tt::inverse(symmetry::rotate_90) == symmetry::rotate_270);
static_assert(tt::quarter_turns(-1) == symmetry::rotate_270);
static_assert(tt::make_symmetry(true, true, true) == symmetry::anti_transpose);

}  // namespace

TEST_CASE("symmetry: the reference tells all eight apart", "[symmetry]") {
  const matrix m = numbered(3, 3);
  for (const symmetry a : all) {
    for (const symmetry b : all) {
      INFO(name(a) << ", " << name(b));
      CHECK((apply(a, m) == apply(b, m)) == (a == b));
    }
  }
  // A quarter turn counter-clockwise, written out.
  CHECK(apply(symmetry::rotate_90, numbered(2, 3)) == matrix{3, 2, {2, 5, 1, 4, 0, 3}});
}

TEST_CASE("symmetry: what the three answers say is what is done", "[symmetry]") {
  const matrix m = numbered(3, 5);
  for (const symmetry s : all) {
    INFO(name(s));
    const matrix out = apply(s, m);
    CHECK(tt::transposes(s) == (out.rows == 5));
    // The input's row and column that the corner of the output comes from.
    const int corner = out.at(0, 0);
    CHECK(tt::reverses_rows(s) == (corner / 5 == 2));
    CHECK(tt::reverses_cols(s) == (corner % 5 == 4));
    CHECK(tt::make_symmetry(tt::transposes(s), tt::reverses_rows(s), tt::reverses_cols(s)) == s);
  }
}

TEST_CASE("symmetry: compose does one after the other", "[symmetry]") {
  for (const matrix& m : {numbered(3, 5), numbered(4, 2), numbered(3, 3)}) {
    for (const symmetry second : all) {
      for (const symmetry first : all) {
        INFO(name(second) << " after " << name(first) << ", " << m.rows << " x " << m.cols);
        CHECK(apply(tt::compose(second, first), m) == apply(second, apply(first, m)));
      }
    }
  }
}

TEST_CASE("symmetry: a group", "[symmetry]") {
  const symmetry none = symmetry::identity;
  bool commutes = true;
  for (const symmetry a : all) {
    INFO(name(a));
    CHECK(tt::compose(a, none) == a);
    CHECK(tt::compose(none, a) == a);
    CHECK(tt::compose(a, tt::inverse(a)) == none);
    CHECK(tt::compose(tt::inverse(a), a) == none);
    CHECK(tt::inverse(tt::inverse(a)) == a);
    std::array<int, 8> row{};
    std::array<int, 8> column{};
    for (const symmetry b : all) {
      const int product = static_cast<int>(tt::compose(a, b));
      REQUIRE(product >= 0);
      REQUIRE(product < 8);
      ++row[static_cast<std::size_t>(product)];
      ++column[static_cast<std::size_t>(tt::compose(b, a))];
      commutes = commutes && tt::compose(a, b) == tt::compose(b, a);
      CHECK(tt::inverse(tt::compose(a, b)) == tt::compose(tt::inverse(b), tt::inverse(a)));
      for (const symmetry c : all) {
        CHECK(tt::compose(tt::compose(a, b), c) == tt::compose(a, tt::compose(b, c)));
      }
    }
    // Each of the eight once in every row and column of the table.
    for (std::size_t i = 0; i < 8; ++i) {
      CHECK(row[i] == 1);
      CHECK(column[i] == 1);
    }
  }
  CHECK(!commutes);
}

TEST_CASE("symmetry: the dihedral group of order eight", "[symmetry]") {
  const auto order = [](symmetry s) {
    int turns = 1;
    for (symmetry power = s; power != symmetry::identity; power = tt::compose(s, power)) {
      if (++turns > 8) { return 0; }
    }
    return turns;
  };
  CHECK(order(symmetry::identity) == 1);
  for (const symmetry s : {symmetry::flip_lr, symmetry::flip_ud, symmetry::rotate_180,
                           symmetry::transpose, symmetry::anti_transpose}) {
    INFO(name(s));
    CHECK(order(s) == 2);
  }
  CHECK(order(symmetry::rotate_90) == 4);
  CHECK(order(symmetry::rotate_270) == 4);
  // A turn and a mirror generate the group, and the mirror turns the turn round.
  const symmetry turn = symmetry::rotate_90;
  for (const symmetry mirror :
       {symmetry::flip_lr, symmetry::flip_ud, symmetry::transpose, symmetry::anti_transpose}) {
    INFO(name(mirror));
    CHECK(tt::compose(mirror, tt::compose(turn, mirror)) == tt::inverse(turn));
    std::array<int, 8> met{};
    symmetry power = symmetry::identity;
    for (int i = 0; i < 4; ++i) {
      ++met[static_cast<std::size_t>(power)];
      ++met[static_cast<std::size_t>(tt::compose(power, mirror))];
      power = tt::compose(turn, power);
    }
    for (const int times : met) { CHECK(times == 1); }
  }
}

TEST_CASE("symmetry: quarter turns", "[symmetry]") {
  const matrix m = numbered(3, 5);
  symmetry forward = symmetry::identity;
  symmetry backward = symmetry::identity;
  for (long long turns = 0; turns <= 13; ++turns) {
    INFO(turns << " turns");
    CHECK(tt::quarter_turns(turns) == forward);
    CHECK(tt::quarter_turns(-turns) == backward);
    CHECK(apply(tt::quarter_turns(turns + 1), m) ==
          apply(symmetry::rotate_90, apply(tt::quarter_turns(turns), m)));
    forward = tt::compose(symmetry::rotate_90, forward);
    backward = tt::compose(symmetry::rotate_270, backward);
  }
  const long long many = 1LL << 40;
  CHECK(tt::quarter_turns(many) == symmetry::identity);
  CHECK(tt::quarter_turns(many + 1) == symmetry::rotate_90);
  CHECK(tt::quarter_turns(-many - 1) == symmetry::rotate_270);
  CHECK(tt::quarter_turns(-many - 2) == symmetry::rotate_180);
  // 2^63 - 1 is 3 more than a multiple of 4, -2^63 is one.
  CHECK(tt::quarter_turns(LLONG_MAX) == symmetry::rotate_270);
  CHECK(tt::quarter_turns(LLONG_MIN) == symmetry::identity);
  CHECK(tt::quarter_turns(LLONG_MIN + 1) == symmetry::rotate_90);
}
