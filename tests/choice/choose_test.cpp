// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What detail::choose answers, as a table, and what holds of all its answers. Plain C++, without CUDA.

#include <tiletranspose/detail/choose/choose.cuh>
#include <tiletranspose/detail/panel/axes_panel_plan.cuh>
#include <tiletranspose/detail/tile/tile_plan.cuh>

#include <algorithm>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <string>

using namespace tt::detail;

namespace {

constexpr std::size_t h200_bytes = 227 * 1024;
constexpr std::size_t turing_bytes = 64 * 1024;

struct asked {
  std::size_t nx;
  std::size_t ny;
  int element_bytes;
  int access_bytes;
  std::size_t in_gap = 0;  ///< elements behind each row
  std::size_t out_gap = 0;
  std::size_t batch = 1;
  std::size_t offset = 0;  ///< elements from a multiple of 4096 bytes, on both sides
  bool pointers = false;
  std::size_t between = 0;  ///< elements between matrices
};

transpose_facts facts_of(const asked& a, std::size_t most_shared_bytes = h200_bytes) {
  const auto element = static_cast<std::size_t>(a.element_bytes);
  const auto at = [&](int bit) {
    return reinterpret_cast<unsigned char*>((std::uintptr_t{1} << bit) + a.offset * element);
  };
  const std::size_t matrix = a.batch > 1 && !a.pointers ? (a.nx * a.ny + a.between) * element : 0;
  const batch_problem problem{
      {at(40), at(45), (a.nx + a.in_gap) * element, (a.ny + a.out_gap) * element, matrix, matrix,
       a.nx, a.ny, a.pointers},
      a.batch};
  return {problem, a.element_bytes, a.access_bytes, address_bits_of(problem, element),
          most_shared_bytes};
}

/// True where a mover is compiled for elements of a size and access.
bool reachable(const choice& chosen, int element_bytes, int access_bytes) {
  switch (chosen.by) {
    case mover::little:
      return has_little_work(element_bytes, access_bytes, true);
    case mover::vector_tile:
      return has_vector_tile(element_bytes, access_bytes);
    case mover::micro_tile:
      return has_micro_tile(element_bytes, access_bytes);
    case mover::tile:
      return has_tile(chosen.access, element_bytes, access_bytes);
    case mover::vectorised_panel:
      return has_vectorised_panel(element_bytes, access_bytes) &&
             (!chosen.shape.pixels() || element_bytes == 1);
    case mover::word_shifted_panel:
      return has_word_shifted_panel(element_bytes, access_bytes);
    default:
      return true;
  }
}

struct row {
  asked question;
  const char* rule;
};

// One or more for each rule, on both sides of its thresholds.
constexpr row table[] = {
    {{512, 512, 4, 4}, "vector tiles"},
    {{512, 513, 4, 4}, "little work"},
    {{1800, 1902, 3, 1}, "little work"},
    {{1800, 1900, 3, 1}, "micro-blocks"},             // groups of four
    {{1800, 1900, 3, 1, 0, 0, 1, 1}, "little work"},  // but for their addresses
    {{1800, 1900, 3, 1, 4, 8}, "micro-blocks"},
    {{1800, 1900, 3, 1, 4, 6}, "little work"},
    {{600, 760, 1, 1}, "little work"},
    {{600, 768, 1, 1}, "micro-blocks"},  // 450 KB
    {{1000, 652, 2, 2}, "little work"},
    {{1000, 656, 2, 2}, "micro-blocks"},  // 1.25 MB
    {{1200, 1096, 1, 1}, "micro-blocks"},
    {{1200, 1096, 1, 1, 0, 0, 1, 4}, "micro-blocks"},
    {{1200, 1096, 1, 1, 0, 0, 1, 6}, "little work"},
    // Small matrices that lie apart.
    {{8, 8, 4, 4, 0, 0, 1000000}, "vectorised panels"},
    {{8, 8, 4, 4, 0, 0, 1000000, 0, false, 4}, "little work"},
    {{16, 16, 4, 4, 0, 0, 1000000, 0, false, 3}, "little work"},
    {{16, 18, 4, 4, 0, 0, 1000000, 0, false, 4}, "gathered panels"},
    {{32, 32, 4, 4, 0, 0, 100000, 0, false, 4}, "gathered panels"},
    {{32, 36, 4, 4, 0, 0, 100000, 0, false, 4}, "vectorised panels"},
    {{8, 4, 1, 1, 0, 0, 1000000, 0, false, 1}, "little work"},
    {{8, 8, 1, 1, 0, 0, 1000000, 0, false, 1}, "gathered panels"},
    {{60, 100000, 1, 1}, "vectorised panels"},  // not half of a tile
    {{64, 100000, 1, 1}, "micro-blocks"},
    {{28, 100000, 2, 2}, "vectorised panels"},
    {{36, 100000, 2, 2}, "micro-blocks"},
    {{36, 100000, 2, 1}, "gathered panels"},
    {{5788, 5796, 1, 1}, "micro-blocks"},  // 32 MB
    {{5796, 5796, 1, 1}, "any tiles"},
    {{8192, 8192, 1, 1}, "micro-blocks"},  // twice as many of whole accesses
    {{8192, 8208, 1, 1}, "whole tiles"},
    {{8196, 8192, 1, 1}, "micro-blocks"},  // all that are wide and have rows of sectors
    {{8188, 8192, 1, 1}, "any tiles"},
    {{8196, 8196, 1, 1}, "any tiles"},
    {{8196, 8192, 2, 2}, "any tiles"},  // of halves batches
    {{1004, 512, 2, 2, 0, 0, 100}, "micro-blocks"},
    {{4096, 8192, 2, 2}, "micro-blocks"},
    {{200, 120, 3, 1, 0, 0, 1000}, "gathered panels"},
    // Of a few large matrices of bytes elements one by one are as fast as panels of one each.
    {{330, 330, 1, 1, 0, 0, 38, 0, false, 13}, "little work"},
    {{330, 330, 1, 1, 0, 0, 77, 0, false, 13}, "gathered panels"},
    {{134, 134, 3, 1, 0, 0, 252}, "gathered panels"},
    {{192, 128, 3, 1, 0, 0, 1000}, "micro-blocks"},  // all such batches of 3 bytes
    {{192, 128, 3, 1, 0, 0, 100, 0, true}, "little work"},
    {{128, 124, 1, 1, 0, 0, 1000}, "vectorised panels"},
    {{256, 64, 1, 1, 0, 0, 12800}, "vectorised panels"},
    {{256, 256, 1, 1, 0, 0, 3000}, "whole tiles"},
    {{256, 192, 1, 1, 0, 0, 3000}, "micro-blocks"},  // they fill 75 % of whole tiles
    {{280, 448, 1, 1, 0, 0, 3000}, "micro-blocks"},  // rows of sectors, other accesses
    {{280, 452, 1, 1, 0, 0, 3000}, "word-shifted panels"},
    {{16, 22, 2, 2, 0, 64, 100000}, "little work"},  // short rows with gaps
    {{16, 48, 2, 2, 0, 64, 100000}, "little work"},
    {{16, 49, 2, 2, 0, 64, 100000}, "gathered panels"},
    {{48, 3000, 1, 1, 0, 0, 1000}, "word-shifted panels"},
    {{96, 44, 4, 4, 0, 0, 2000}, "vectorised panels"},
    {{96, 44, 4, 4, 0, 0, 1900}, "gathered panels"},  // the L2 cache holds them
    {{132, 128, 1, 1, 0, 0, 1000}, "micro-blocks"},
    {{4096, 4096, 4, 4}, "whole tiles"},
    {{4096, 4096, 4, 4, 0, 0, 1, 1}, "any tiles"},  // no address is a multiple of 16
    {{4097, 4096, 4, 4}, "any tiles"},              // nor is every row
    {{4096, 4100, 4, 4}, "any tiles"},              // rows of the output off sectors
    {{4096, 16416, 1, 1, 0, 16}, "whole tiles"},    // which bytes put up with
    {{16384, 16384, 1, 1}, "whole tiles"},
    {{4099, 4096, 2, 1}, "any tiles"},
    {{16384, 16384, 3, 1}, "any tiles"},
    {{16384, 16384, 9, 1}, "gathered panels"},  // they have no tile
    {{257, 400000, 1, 1}, "tall tiles"},
    {{257, 100000, 1, 1}, "any tiles"},
    {{257, 49152, 1, 1}, "any tiles"},
    {{1001, 49153, 1, 1}, "any tiles"},
    {{101, 100000, 4, 4, 0, 1}, "tall tiles"},
    {{32, 1 << 20, 4, 4}, "vectorised panels"},
    {{32, 1 << 20, 4, 4, 0, 0, 1, 0}, "vectorised panels"},
    {{31, 1 << 20, 4, 4, 0, 0, 1, 0}, "gathered panels"},
    {{40, 1 << 20, 4, 4, 0, 0, 1, 0}, "gathered panels"},
    {{41, 1 << 20, 4, 4, 0, 0, 1, 0}, "tall tiles"},
    {{41, 1001, 4, 4, 0, 0, 1000, 0}, "gathered panels"},
    {{1 << 20, 36, 4, 4, 0, 0, 1, 0}, "gathered panels"},
    {{1 << 20, 48, 4, 4, 0, 0, 1, 0}, "whole tiles"},
    {{(1 << 20) + 1, 48, 4, 4, 0, 0, 1, 0}, "gathered panels"},
    {{8, 96'000, 4, 4}, "little work"},
    {{8, 100'000, 4, 4}, "vectorised panels"},
    {{3, 800'000, 4, 4}, "little work"},
    {{13, 1 << 20, 1, 1}, "gathered panels"},
    {{16, 1 << 20, 1, 1}, "vectorised panels"},
    {{16, (1 << 20) + 1, 1, 1}, "word-shifted panels"},
    {{99, 1 << 20, 1, 1}, "gathered panels"},
    {{101, 1 << 20, 1, 1}, "gathered panels"},
    {{104, (1 << 20) + 1, 1, 1}, "word-shifted panels"},
    {{199, (1 << 20) + 1, 1, 1}, "gathered panels"},
    {{200, (1 << 20) + 1, 1, 1}, "word-shifted panels"},
    {{201, (1 << 20) + 1, 1, 1}, "tall tiles"},
    {{127, 1 << 20, 2, 2}, "gathered panels"},
    {{128, (1 << 20) + 1, 2, 2}, "word-shifted panels"},
    {{129, (1 << 20) + 1, 2, 2}, "any tiles"},
    {{138, 43479, 1, 1}, "gathered panels"},
    {{149, 40269, 1, 1}, "little work"},
    {{150, 66667, 1, 1}, "gathered panels"},
    {{192, 1 << 20, 1, 1}, "whole tiles"},
    {{272, 1 << 20, 1, 1}, "tall tiles"},
    {{272, 160'000, 1, 1}, "micro-blocks"},
    {{272, 264'000, 1, 1}, "any tiles"},
    {{96, 1 << 20, 2, 2}, "whole tiles"},
    {{136, 1 << 20, 2, 2}, "any tiles"},
    {{136, 1 << 20, 4, 4}, "tall tiles"},
    {{1 << 20, 64, 3, 1}, "any tiles"},
    {{1 << 20, 192, 1, 1}, "whole tiles"},
    {{1 << 20, 196, 1, 1}, "word-shifted panels"},
    {{1 << 20, 32, 4, 4}, "vectorised panels"},
    {{32, 32, 4, 4, 0, 0, 100000}, "vectorised panels"},
    {{64, 64, 4, 4, 0, 0, 10000}, "small tiles"},
    {{100, 384, 4, 4, 0, 0, 2644}, "small tiles"},
    {{128, 384, 4, 4, 0, 0, 2644}, "whole tiles"},  // floats that fill them
    {{384, 64, 4, 4, 0, 0, 2644}, "whole tiles"},
    {{168, 168, 2, 2, 0, 0, 2644}, "word-shifted panels"},  // they fill 43 % of whole tiles
    {{256, 128, 2, 2, 0, 0, 2644}, "whole tiles"},
    {{384, 68, 4, 4, 0, 0, 2644}, "gathered panels"},  // half of their rows begin inside of sectors
    {{64, 64, 8, 8, 0, 0, 10000}, "small tiles"},
    {{64, 64, 8, 8, 0, 0, 70000}, "vectorised panels"},  // more than a grid counts matrices
    {{80, 784, 4, 4, 0, 0, 1036}, "small tiles"},
    {{80, 785, 4, 4, 0, 0, 1036}, "gathered panels"},  // output rows begin inside of sectors
    {{23, 784, 4, 4, 0, 0, 4000}, "gathered panels"},
    {{24, 784, 4, 4, 0, 0, 4000}, "little work"},
    {{40, 784, 4, 4, 0, 0, 4000}, "small tiles"},
    {{200, 65536, 4, 4, 0, 0, 2}, "small tiles"},
    {{200, 65568, 4, 4, 0, 0, 2}, "tall tiles"},
    {{41, 88, 4, 4, 0, 0, 18000}, "gathered panels"},  // they fill 59 % of tiles
    {{80, 784, 4, 4, 0, 0, 1036, 0, true}, "gathered panels"},
    {{80, 784, 8, 8, 0, 0, 1036, 0, true}, "small tiles"},
    {{80, 784, 8, 4, 0, 0, 1036}, "any tiles"},
    {{8192, 4096, 8, 8, 0, 0, 100}, "small tiles"},  // more than 31 bits of elements

    {{16001, 10, 1, 1, 0, 0, 1000}, "gathered panels"},
    {{16001, 11, 1, 1, 0, 0, 1000}, "word-shifted panels"},
    {{1001, 447, 1, 1, 0, 0, 600}, "word-shifted panels"},
    {{1001, 449, 1, 1, 0, 0, 600}, "any tiles"},            // they fill 86 % of tiles
    {{365, 500, 1, 1, 0, 0, 1400}, "word-shifted panels"},  // 69
    {{369, 500, 1, 1, 0, 0, 1400}, "any tiles"},            // 70
    {{290, 599, 1, 1, 0, 0, 1400}, "word-shifted panels"},
    {{290, 601, 1, 1, 0, 0, 1400}, "any tiles"},
    {{278, 299, 2, 2, 0, 0, 1600}, "word-shifted panels"},
    {{278, 301, 2, 2, 0, 0, 1600}, "any tiles"},
    {{278, 299, 2, 2, 0, 0, 1600, 0, true}, "any tiles"},
    {{832, 132, 1, 1, 0, 0, 2300}, "word-shifted panels"},
    {{836, 132, 1, 1, 0, 0, 2300}, "gathered panels"},
    {{192, 296, 2, 2, 0, 0, 2300}, "word-shifted panels"},  // rows lie in few banks
    {{320, 286, 1, 1, 0, 0, 2300}, "word-shifted panels"},
    {{110881, 300, 1, 1, 0, 0, 2}, "word-shifted panels"},  // 44, 40 and so on leave one column
    {{152, 1160, 1, 1, 0, 0, 1500}, "word-shifted panels"},
    {{104, 1150, 2, 2, 0, 0, 1000}, "any tiles"},  // they fill 93 % of tiles

    {{33, 31, 4, 4, 0, 0, 100000}, "gathered panels"},
    {{33, 31, 1, 1, 0, 0, 100000}, "word-shifted panels"},
    {{33, 31, 1, 1, 0, 0, 60000, 0, true}, "little work"},
    {{33, 31, 1, 1, 0, 0, 70000, 0, true}, "little work"},  // more than a grid counts matrices
    {{40, 40, 1, 1, 0, 0, 60000, 0, true}, "gathered panels"},
    {{40, 40, 1, 1, 0, 0, 230}, "little work"},
    {{40, 40, 1, 1, 0, 0, 2000}, "vectorised panels"},
    {{134, 134, 3, 1, 0, 0, 700, 0, true}, "little work"},
    {{271, 264, 2, 2, 0, 0, 139}, "word-shifted panels"},
    {{271, 304, 2, 2, 0, 0, 119}, "little work"},
    {{517, 493, 2, 2, 0, 0, 49}, "any tiles"},
    {{239, 269, 4, 4, 0, 0, 90}, "little work"},
    {{274, 274, 1, 1, 0, 0, 221, 0, true},
     "little work"},  // they fill less than half of their tiles
    {{244, 244, 1, 1, 0, 0, 280, 0, true}, "any tiles"},
    {{419, 365, 4, 4, 0, 0, 90}, "any tiles"},
    {{269, 435, 3, 1, 0, 0, 56}, "any tiles"},
    {{8, 200001, 1, 1}, "little work"},
    {{8, 250001, 1, 1}, "gathered panels"},
    {{8, 500001, 1, 1}, "gathered panels"},
    {{500001, 8, 1, 1}, "gathered panels"},
    {{500001, 11, 1, 1}, "word-shifted panels"},
    {{500001, 10, 1, 1}, "gathered panels"},
    {{400001, 9, 2, 2}, "gathered panels"},
    {{400001, 10, 2, 2}, "word-shifted panels"},
    {{1 << 20, 33, 1, 1}, "word-shifted panels"},
    {{1 << 20, 6, 1, 1}, "gathered panels"},
    {{3, 1 << 22, 4, 4}, "gathered panels"},
    {{3, 1 << 22, 4, 4, 1}, "gathered panels"},
    {{8, 1 << 22, 1, 1, 1}, "little work"},
    {{13, 1 << 22, 1, 1, 1}, "gathered panels"},
    {{3, 1 << 22, 4, 4, 0, 5}, "gathered panels"},
    {{1 << 22, 3, 4, 4, 0, 5}, "little work"},
    {{1 << 22, 3, 12, 4}, "gathered panels"},
};

// At random, with sides and strides of all kinds.
class problems {
 public:
  asked operator()() {
    asked a{};
    a.element_bytes = between(0, 1) == 0 ? 1 << between(0, 4) : static_cast<int>(between(1, 64));
    a.access_bytes = tt::access_width(static_cast<std::size_t>(a.element_bytes), between(1, 16));
    a.nx = side();
    a.ny = side();
    if (between(0, 2) > 0) { (a.nx > a.ny ? a.nx : a.ny) += 6'000'000 / smaller(a.nx, a.ny); }
    if (between(0, 3) == 0) { a.batch = between(1, 100000); }
    a.pointers = a.batch > 1 && between(0, 5) == 0;
    if (a.batch == 1 && between(0, 2) == 0) { a.in_gap = between(0, 64); }
    if (a.batch == 1 && between(0, 2) == 0) { a.out_gap = between(0, 64); }
    if (between(0, 1) == 0) { a.offset = between(0, 64); }
    return a;
  }

 private:
  std::size_t between(std::size_t low, std::size_t high) {
    return low + engine_() % (high - low + 1);
  }
  std::size_t side() {
    const std::size_t most[] = {8, 70, 300, 2000, 20000};
    const std::size_t step[] = {1, 4, 16, 64, 128};
    const std::size_t multiple = step[between(0, 4)];
    return (between(1, most[between(0, 4)]) + multiple - 1) / multiple * multiple;
  }
  std::mt19937_64 engine_{Catch::getSeed()};
};

}  // namespace

TEST_CASE("choose: a table of questions and the rules that answer them") {
  for (const row& one : table) {
    const asked& a = one.question;
    INFO(a.nx << " x " << a.ny << " of " << a.element_bytes << " bytes by " << a.access_bytes
              << ", batch " << a.batch << ", gaps " << a.in_gap << ", " << a.out_gap << ", offset "
              << a.offset);
    CHECK(std::string(choose(facts_of(a)).rule) == one.rule);
  }
}

TEST_CASE("choose: blocks of a smaller device ask for less") {
  const asked batch{251, 253, 1, 1, 0, 0, 1000};
  CHECK(choose(facts_of(batch)).by == mover::word_shifted_panel);
  CHECK(choose(facts_of(batch, turing_bytes)).by == mover::tile);
  // Panels of many rows do not fit.
  const asked rows{290, 599, 1, 1, 0, 0, 1400};
  CHECK(choose(facts_of(rows)).by == mover::word_shifted_panel);
  CHECK(choose(facts_of(rows, turing_bytes)).by == mover::tile);
}

TEST_CASE("choose: three word-shifted panels of few rows share a multiprocessor") {
  constexpr std::size_t multiprocessor_bytes = 228 * 1024;
  for (std::size_t rows = 110; rows <= 448; ++rows) {
    for (const std::size_t columns : {301, 512, 800, 1001, 4099}) {
      const transpose_facts facts = facts_of({columns, rows, 1, 1, 0, 0, 1000});
      const auto shape = word_shifted_shape_of(1, panel_kind::few_rows);
      const auto plan = cut_word_shifted(facts, shape, facts.shared_bytes());
      INFO(rows << " x " << columns);
      CHECK(3 * (plan.shared_bytes + 1024) <= multiprocessor_bytes);
    }
  }
}

TEST_CASE("choose: vectorised panels are as large as a matrix needs, and smaller in the cache") {
  const auto threads = [](const asked& a) {
    const choice chosen = choose(facts_of(a));
    CHECK(chosen.by == mover::vectorised_panel);
    const auto bytes = static_cast<std::size_t>(chosen.shape.panel_bytes());
    CHECK(bytes == vectorised_bytes(chosen.shape.threads));
    return chosen.shape.threads;
  };
  CHECK(threads({16, 128, 4, 4, 0, 0, 10000}) == 128);  // 8 KB
  CHECK(threads({16, 132, 4, 4, 0, 0, 10000}) == 256);
  CHECK(threads({16, 260, 4, 4, 0, 0, 10000}) == 512);
  CHECK(threads({16, 516, 4, 4, 0, 0, 10000}) == 704);
  CHECK(threads({32, 1 << 20, 4, 4}) == 128);
  CHECK(threads({32, 2 << 20, 2, 2}) == 256);
  CHECK(threads({28, 1 << 19, 2, 2}) == 128);
}

TEST_CASE("choose: a block takes whole matrices that it holds, if these are enough blocks") {
  const auto blocks = [](const asked& a, std::size_t shared_bytes) {
    return plan_gathered(facts_of(a), static_cast<std::size_t>(a.element_bytes),
                         static_cast<std::size_t>(a.access_bytes), shared_bytes)
        .blocks;
  };
  CHECK(blocks({130, 130, 3, 1, 0, 0, 66}, h200_bytes) == 66);
  CHECK(blocks({130, 130, 3, 1, 0, 0, 65}, h200_bytes) > 264);
  CHECK(blocks({130, 130, 4, 4, 0, 0, 100, 0, false, 1}, h200_bytes) == 100);
  CHECK(blocks({130, 130, 3, 1, 0, 0, 66}, tt::default_shared_bytes) > 66);
  CHECK(blocks({130, 130, 3, 1}, h200_bytes) > 1);
  CHECK(blocks({1001, 200, 1, 1, 0, 0, 15}, h200_bytes) >
        264);  // one block would fill a multiprocessor
}

TEST_CASE("choose: tall matrices are walked in wide strips, sooner where tiles share lines") {
  const auto strip = [](std::size_t ny, std::size_t stride, std::size_t bytes) {
    const matrix_problem tall{nullptr, nullptr, stride * bytes, ny * bytes, 0, 0, 9000, ny, false};
    return strip_width_of(tall, bytes, 64, 64, 1);
  };
  CHECK(strip(32 * 1024, 9001, 4) == 1);
  CHECK(strip(32 * 1024 + 1, 9001, 4) > 1);
  CHECK(strip(32 * 1024 + 1, 9001, 2) == 1);
  CHECK(strip(32 * 1024 + 1, 9008, 4) > 1);  // sectors, but no lines
  CHECK(strip(48 * 1024, 9024, 4) == 1);
  CHECK(strip(48 * 1024 + 1, 9024, 4) > 1);
}

TEST_CASE("choose: every rule decides somewhere, and what it chooses can be launched") {
  problems next;
  std::map<std::string, int> decided;
  for (int i = 0; i < 30000; ++i) {
    const asked a = next();
    INFO(a.nx << " x " << a.ny << " of " << a.element_bytes << " bytes by " << a.access_bytes
              << ", batch " << a.batch << "; repeat with --rng-seed " << Catch::getSeed());
    for (const std::size_t most_shared_bytes : {h200_bytes, turing_bytes}) {
      const transpose_facts facts = facts_of(a, most_shared_bytes);
      const choice chosen = choose(facts);
      ++decided[chosen.rule];
      REQUIRE(reachable(chosen, a.element_bytes, a.access_bytes));
      REQUIRE(chosen.shared_bytes <= most_shared_bytes);
      if (chosen.by == mover::vectorised_panel) {
        const auto plan = plan_vectorised(facts, chosen.shape);
        REQUIRE(plan.blocks <= max_blocks);
        REQUIRE(plan.shared_bytes <= tt::default_shared_bytes);
      }
      if (chosen.by == mover::word_shifted_panel) {
        const auto shape = word_shifted_shape_of(a.element_bytes, chosen.panels);
        REQUIRE(cut_word_shifted(facts, shape, chosen.shared_bytes).shared_bytes <=
                most_shared_bytes);
      }
    }
  }
  for (const transpose_rule& rule : transpose_rules) {
    INFO("rule \"" << rule.rule << '"');
    CHECK(decided[rule.rule] > 0);
  }
}

// Time that the host takes to plan gathered panels, the least of many, in the time of a usual plan. Cuts that shrink by a
// hundredth at a time took 12 to 39 of these.
TEST_CASE("choose: gathered panels are cut in a few steps") {
  const auto time = [](const asked& a) {
    const transpose_facts facts = facts_of(a);
    auto least = std::chrono::steady_clock::duration::max();
    std::size_t blocks = 0;
    for (int i = 0; i < 200; ++i) {
      const auto start = std::chrono::steady_clock::now();
      blocks += plan_gathered(facts, static_cast<std::size_t>(a.element_bytes),
                              static_cast<std::size_t>(a.access_bytes), tt::default_shared_bytes)
                    .blocks;
      least = std::min(least, std::chrono::steady_clock::now() - start);
    }
    CHECK(blocks > 0);
    return static_cast<double>(least.count());
  };
  const double usual = time({36, 83, 8, 8, 0, 0, 2355});
  for (const asked& a : {asked{37, 84, 8, 8, 0, 0, 2355}, asked{10, 205, 4, 4, 0, 0, 25575},
                         asked{16, 130, 12, 4, 0, 0, 4020}, asked{22, 35, 8, 8, 0, 0, 14467}}) {
    INFO(a.nx << " x " << a.ny << " of " << a.element_bytes << " bytes");
    CHECK(time(a) < 8 * usual);
  }
}

TEST_CASE("choose: what is not asked of the device changes nothing") {
  problems next;
  for (int i = 0; i < 5000; ++i) {
    const asked a = next();
    INFO(a.nx << " x " << a.ny << " of " << a.element_bytes << " bytes by " << a.access_bytes
              << ", batch " << a.batch << "; repeat with --rng-seed " << Catch::getSeed());
    const transpose_facts little = facts_of(a, tt::default_shared_bytes);
    const choice first = choose(little);
    if (asks_shared_bytes(first, little)) { continue; }
    const choice asked_too = choose(facts_of(a, h200_bytes));
    REQUIRE(first.rule == asked_too.rule);
    REQUIRE(first.by == asked_too.by);
    REQUIRE(first.access == asked_too.access);
  }
}
