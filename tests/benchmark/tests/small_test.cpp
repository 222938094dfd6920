// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The shapes of the benchmark of small and middle problems, and its summary.

#include "../small/shapes.hpp"
#include "../small/summary.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace bench;

TEST_CASE("shapes are of their kind and size, whatever the seed") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::map<std::pair<std::size_t, int>, int> pairs;
    for (const small_shape& s : make_small_shapes(seed, 210)) {
      INFO("seed " << seed << ": " << s.nx << " x " << s.ny << " of " << s.element);
      ++pairs[{s.element, s.what}];
      REQUIRE(s.bytes() >= least_small_bytes);
      REQUIRE(s.bytes() <= most_small_bytes);
      REQUIRE(s.nx >= 2);
      REQUIRE(s.ny >= 2);
      switch (s.what) {
        case small_shape::square:
          REQUIRE(s.nx == s.ny);
          break;
        case small_shape::odd:
          REQUIRE((s.nx % 2 == 1 && s.ny % 2 == 1));
          break;
        case small_shape::narrow:
          REQUIRE(s.nx <= 64);
          break;
        case small_shape::wide:
          REQUIRE(s.ny <= 64);
          break;
        default:
          REQUIRE((s.nx % 8 == 0 && s.ny % 8 == 0));
      }
    }
    REQUIRE(pairs.size() == small_elements.size() * small_shape::kinds);
    for (const auto& [pair, count] : pairs) { REQUIRE(count == 6); }
  }
}

TEST_CASE("both families have shapes, small ones the more") {
  std::size_t small = 0;
  const auto shapes = make_small_shapes(1, 200);
  for (const small_shape& s : shapes) { small += s.bytes() <= std::size_t{1} << 20; }
  REQUIRE(small > 100);
  REQUIRE(small < 170);
}

TEST_CASE("a shape depends on the seed and its number alone") {
  const auto few = make_small_shapes(7, 20), many = make_small_shapes(7, 300);
  const auto others = make_small_shapes(8, 20);
  int same = 0;
  for (std::size_t i = 0; i < few.size(); ++i) {
    REQUIRE(few[i].nx == many[i].nx);
    REQUIRE(few[i].ny == many[i].ny);
    REQUIRE(few[i].draws == many[i].draws);
    same += few[i].nx == others[i].nx && few[i].ny == others[i].ny;
  }
  REQUIRE(same < 3);
}

TEST_CASE("batches and strides keep about as many elements") {
  for (const small_shape& s : make_small_shapes(3, 2000)) {
    small_numbers numbers(s.draws);
    const small_batch b = make_small_batch(s, numbers);
    INFO(s.nx << " x " << s.ny << " -> " << b.batch << " of " << b.nx << " x " << b.ny);
    REQUIRE(b.batch >= 2);
    REQUIRE(b.batch <= most_small_batch);
    const auto elements = static_cast<double>(b.nx * b.ny * b.batch);
    const double ratio = elements / static_cast<double>(s.nx * s.ny);
    REQUIRE(ratio >= 1);
    REQUIRE(ratio <= 1.6);
    const std::size_t stride = make_small_stride(s.nx, numbers);
    REQUIRE(stride > s.nx);
    REQUIRE(stride <= s.nx + std::max<std::size_t>(1, s.nx / 8));
    const small_shape cut = for_elements_of(s, 4 * s.element);
    REQUIRE(cut.nx * cut.ny * 4 <= s.nx * s.ny + 4 * std::min(cut.nx, cut.ny) * 4);
    REQUIRE(cut.nx * cut.ny * 4 >= s.nx * s.ny);
  }
}

TEST_CASE("percentiles and means") {
  std::vector<double> values;
  for (int i = 20; i > 0; --i) { values.push_back(i); }
  REQUIRE(percentile(values, 0.95) == 19);
  REQUIRE(percentile(values, 1) == 20);
  REQUIRE(percentile({5}, 0.95) == 5);
  REQUIRE(geometric_mean({1, 4, 16}) == Catch::Approx(4));
}

namespace {

small_result result(const std::string& family, const std::string& call, std::size_t element,
                    std::array<double, 5> seconds) {
  return {family, call, family + "/" + call, element, 1000000, seconds};
}

std::string summary(const std::vector<small_result>& results, std::size_t most = 10) {
  std::ostringstream text;
  write_summary(text, results, most);
  return text.str();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the summary counts by call, by element and by who is ahead") {
  const std::string text = summary({
      result("small", "transpose", 4, {1e-6, 1.2e-6, 1.3e-6, 1.2e-6, 2e-6}),
      result("small", "transpose", 1, {1e-6, 1.5e-6, 1.4e-6, 1.6e-6, 0}),  // textbook 7 % ahead
      result("small", "reverse", 4, {1e-6, 1.5e-6, 1.48e-6, 0, 0}),        // above 1.35
      result("middle", "transpose", 8, {1e-6, 2e-6, 2e-6, 1e-6, 1.5e-6}),
  });
  INFO(text);
  CHECK(
      has(text, "| transpose | 2 | 1.342 | 1.50 | 1.50 | 0 | 1 of 2 | 0 of 2 | 0 of 1 | 1 of 2 |"));
  CHECK(has(text, "| reverse | 1 | 1.500 | 1.50 | 1.50 | 1 | 0 of 1 | - | - | - |"));
  CHECK(has(text, "| all | 3 | 1.392 | 1.50 | 1.50 | 1 | 1 of 3 | 0 of 2 | 0 of 1 | 1 of 2 |"));
  CHECK(has(text, "| 4 | 2 | 1.342 |"));
  CHECK(
      has(text, "| transpose | 1 | 2.000 | 2.00 | 2.00 | - | 0 of 1 | 1 of 1 | 1 of 1 | 0 of 1 |"));
  CHECK(has(text, "above the limit up to 1 MB (1 of 1)"));
  CHECK(has(text, "| small/reverse | 1.00 | 1.50 | 1.00 | 1.50 | 1.48 | - | - |"));
}

TEST_CASE("lists begin with the worst and end where asked") {
  const std::string text = summary({result("small", "a", 4, {1e-6, 1.4e-6, 0, 0, 0}),
                                    result("small", "b", 4, {1e-6, 1.6e-6, 0, 0, 0}),
                                    result("small", "c", 4, {1e-6, 1.5e-6, 0, 0, 0})},
                                   2);
  CHECK(has(text, "(2 of 3)"));
  CHECK(text.find("| small/b |") < text.find("| small/c |"));
  CHECK_FALSE(has(text, "| small/a |"));
}

TEST_CASE("elements of 1 and 3 bytes have a limit of their own") {
  CHECK(result("small", "a", 1, {1, 1.59, 0, 0, 0}).above_limit() == false);
  CHECK(result("small", "a", 3, {1, 1.61, 0, 0, 0}).above_limit());
  CHECK(result("small", "a", 2, {1, 1.36, 0, 0, 0}).above_limit());
  CHECK(result("small", "a", 16, {1, 1.34, 0, 0, 0}).above_limit() == false);
}
