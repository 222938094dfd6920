// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What tiletranspose_tune makes of its measurements. Compiled with a header such as it writes.

#include "../tune/limits.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <tiletranspose/detail/choose/choose_small.cuh>
#include <vector>

using namespace bench;
using Catch::Approx;
using tt::detail::small_limits;
using tt::detail::small_limits_of;

TEST_CASE("the limit lies where the other mover gets faster") {
  const std::vector<timed_both_ways> timed{
      {1000, 1.0, 2.0}, {2000, 1.5, 2.0}, {4000, 2.0, 2.5}, {8000, 4.0, 2.5}, {16000, 9.0, 3.0}};
  // Between 4000 and 8000, by their geometric mean, to two digits.
  const found_limit too_large = find_limit(timed, 20000);
  CHECK(too_large.limit == 5700);
  CHECK(too_large.gain == Approx(std::sqrt(4.0 / 2.5 * 9.0 / 3.0)));
  const found_limit too_small = find_limit(timed, 1000);
  CHECK(too_small.limit == 5700);
  CHECK(too_small.gain == Approx(std::sqrt(2.0 / 1.5 * 2.5 / 2.0)));
  // All limits between the same two problems are as good.
  CHECK(find_limit(timed, 4000).limit == 4000);
  CHECK(find_limit(timed, 7999).limit == 7999);
}

TEST_CASE("a single problem that does not fit the others moves no limit") {
  const std::vector<timed_both_ways> timed{
      {1000, 1.0, 2.0}, {2000, 1.5, 1.4}, {4000, 2.0, 2.5}, {8000, 2.4, 2.5}, {16000, 9.0, 3.0}};
  CHECK(find_limit(timed, 1400).limit == 11000);
}

TEST_CASE("what gains less than 3 % stays as it is") {
  const std::vector<timed_both_ways> timed{{1000, 1.0, 2.0}, {2000, 1.0, 1.02}, {4000, 3.0, 1.0}};
  CHECK(find_limit(timed, 1500).limit == 1500);
  CHECK(find_limit(timed, 1500).gain == 1);
  CHECK(find_limit({}, 1500).limit == 1500);
}

TEST_CASE(
    "a mover that always wins takes all that was tried, and one that never does takes nothing") {
  const std::vector<timed_both_ways> faster{{1000, 1, 2}, {2000, 1, 2}};
  const std::vector<timed_both_ways> slower{{1000, 2, 1}, {2000, 2, 1}};
  CHECK(find_limit(faster, 10).limit == 2000);
  CHECK(find_limit(slower, 5000).limit == 500);
}

TEST_CASE("the header that is written is the one that the library reads") {
  std::ostringstream written;
  print_header(written, "a GPU; 2026-11-24",
               {{1,       7'000'000, 1'000'000, 7'500'000,  8'000'000, 1'100'000, 400'000,
                 300'000, 500'000,   600'000,   2'000'000,  0,         50,        40,
                 1000,    800,       500,       16'777'216, 32,        16'000'000},
                {4,         1200, 0,  1300, 1400, 1500, 340, 350,       360, 370,
                 1'100'000, 40,   30, 20,   700,  600,  300, 4'194'304, 1,   40'000'000}});
  std::ifstream file(TUNED_HEADER);
  std::stringstream expected;
  expected << file.rdbuf();
  CHECK(written.str() == expected.str());

  CHECK(small_limits_of(1).tile == 7'000'000);
  CHECK(small_limits_of(3).rows == 2'000'000);
  CHECK(small_limits_of(4).tile == 1200);
  CHECK(small_limits_of(64).gathered == 340);
  CHECK(small_limits_of(1).vectorised == 300'000);
  CHECK(small_limits_of(1).shifted == 500'000);
  CHECK(small_limits_of(4).shifted_columns == 370);
  CHECK(small_limits_of(4).small_tile == 40);
  CHECK(small_limits_of(4).direct_rows == 30);
  CHECK(small_limits_of(4).direct_columns == 20);
  CHECK(small_limits_of(4).square_tile == 300);
  CHECK(small_limits_of(4).written_bytes == 40'000'000);
}
