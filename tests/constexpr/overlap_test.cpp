// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The integer arithmetic behind the launch wrappers: do two pitched regions share a byte, and
// division by a multiplication.

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/request/overlap.cuh>

namespace {

using tt::detail::address_type;
using tt::detail::memory_region;
using tt::detail::overlap;

__extension__ using wide_type = unsigned __int128;

// Byte by byte; for regions that end below `extent`.
bool share_a_byte(const memory_region& a, const memory_region& b, std::size_t extent) {
  std::vector<bool> in_a(extent);
  const auto visit = [](const memory_region& r, auto&& f) {
    for (address_type row = 0; row < r.rows; ++row) {
      for (address_type i = 0; i < r.row_bytes; ++i) {
        f(static_cast<std::size_t>(r.first + row * r.stride_bytes + i));
      }
    }
  };
  visit(a, [&](std::size_t at) { in_a.at(at) = true; });
  bool shared = false;
  visit(b, [&](std::size_t at) { shared = shared || in_a.at(at); });
  return shared;
}

// Row by row; for few rows anywhere in memory.
bool rows_share_a_byte(const memory_region& a, const memory_region& b) {
  for (address_type i = 0; i < a.rows; ++i) {
    for (address_type j = 0; j < b.rows; ++j) {
      const wide_type in_a = a.first + static_cast<wide_type>(i) * a.stride_bytes;
      const wide_type in_b = b.first + static_cast<wide_type>(j) * b.stride_bytes;
      if (in_a < in_b + b.row_bytes && in_b < in_a + a.row_bytes) { return true; }
    }
  }
  return false;
}

class random_numbers {
 public:
  address_type between(address_type lowest, address_type highest) {
    return std::uniform_int_distribution<address_type>(lowest, highest)(engine_);
  }

 private:
  std::mt19937_64 engine_{Catch::getSeed()};
};

std::string in_words(const memory_region& r) {
  return "first " + std::to_string(r.first) + ", " + std::to_string(r.rows) + " rows of " +
         std::to_string(r.row_bytes) + " bytes, stride " + std::to_string(r.stride_bytes) + "; ";
}

// Makes `rounds` pairs of regions by make_pair(random, round), and asks each whether `expected` is right.
template <class MakePair, class Expected>
void check_pairs(int rounds, MakePair make_pair, Expected expected) {
  random_numbers random;
  int met = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto [a, b] = make_pair(random, round);
    INFO("a: " << in_words(a) << "b: " << in_words(b) << "round " << round << " of --rng-seed "
               << Catch::getSeed());
    const bool meet = expected(a, b);
    met += meet ? 1 : 0;
    REQUIRE(overlap(a, b) == meet);
    REQUIRE(overlap(b, a) == meet);
  }
  // The rounds would show nothing if they were all of one kind.
  CHECK(met > rounds / 10);
  CHECK(met < rounds - rounds / 10);
}

constexpr address_type giga = address_type{1} << 30;

// Columns 0..99 and 100..199 of one parent of 200 bytes a row.
static_assert(!overlap({1000, 50, 100, 200}, {1100, 50, 100, 200}));
static_assert(overlap({1000, 50, 101, 200}, {1100, 50, 100, 200}));
static_assert(overlap({1000, 50, 100, 200}, {1099, 50, 100, 200}));
// Behind one another.
static_assert(!overlap({1000, 50, 100, 100}, {6000, 50, 100, 100}));
static_assert(overlap({1000, 50, 100, 100}, {5999, 50, 100, 100}));
static_assert(overlap({1000, 1, 8, 8}, {1000, 1, 8, 8}), "equal pointers");
// A single run in a gap, and one byte longer than the gap.
static_assert(!overlap({1000, 3, 10, 100}, {1110, 1, 90, 0}));
static_assert(overlap({1000, 3, 10, 100}, {1110, 1, 91, 0}));
static_assert(overlap({1109, 1, 1, 0}, {1000, 3, 10, 100}));
// Different strides that meet only late: 7 i == 11 j + 5 first at i == 7, j == 4.
static_assert(!overlap({0, 7, 1, 7}, {5, 4, 1, 11}));
static_assert(overlap({0, 8, 1, 7}, {5, 5, 1, 11}));

}  // namespace

TEST_CASE("overlap: random small regions, as every byte says", "[overlap]") {
  const auto make_pair = [](random_numbers& random, int) {
    // From crowded to sparse, so that both answers are frequent.
    const address_type most_bytes = address_type{1} << random.between(0, 4);
    const auto region = [&] {
      memory_region r{};
      r.rows = random.between(1, 20);
      r.row_bytes = random.between(1, most_bytes);
      r.stride_bytes = r.row_bytes + random.between(0, 40);
      if (r.rows == 1 && random.between(0, 1) == 0) { r.stride_bytes = 0; }
      r.first = random.between(0, 400);
      return r;
    };
    const memory_region a = region();
    return std::pair(a, region());
  };
  check_pairs(200000, make_pair, [](const memory_region& a, const memory_region& b) {
    return share_a_byte(a, b, 2048);
  });
}

TEST_CASE("overlap: random regions of few rows anywhere in memory", "[overlap]") {
  const auto make_pair = [](random_numbers& random, int round) {
    const address_type scale = address_type{1} << random.between(4, 40);
    const address_type place = random.between(0, address_type{1} << 47);
    const auto region = [&] {
      memory_region r{};
      r.rows = random.between(1, 12);
      r.stride_bytes = random.between(1, scale);
      r.row_bytes = random.between(1, r.stride_bytes);
      if (round % 2 == 0) { r.row_bytes = 1 + r.row_bytes / 8; }
      r.first = place + random.between(0, 4 * scale);
      return r;
    };
    const memory_region a = region();
    return std::pair(a, region());
  };
  check_pairs(100000, make_pair, rows_share_a_byte);
}

TEST_CASE("overlap: random batches of small regions, as every byte says", "[overlap]") {
  random_numbers random;
  int met = 0;
  constexpr int rounds = 20000;
  for (int round = 0; round < rounds; ++round) {
    const address_type most_bytes = address_type{1} << random.between(0, 3);
    const auto batch = [&] {
      tt::detail::region_batch r{};
      r.first.rows = random.between(1, 4);
      r.first.row_bytes = random.between(1, most_bytes);
      r.first.stride_bytes = r.first.row_bytes + random.between(0, 9);
      r.first.first = random.between(0, 100);
      r.count = random.between(1, 6);
      r.step_bytes = r.first.end() - r.first.first + random.between(0, 30);
      return r;
    };
    const tt::detail::region_batch a = batch();
    const tt::detail::region_batch b = batch();
    bool meet = false;
    for (address_type i = 0; i < a.count; ++i) {
      for (address_type j = 0; j < b.count; ++j) {
        meet = meet || share_a_byte(a.at(i), b.at(j), 1024);
      }
    }
    met += meet ? 1 : 0;
    INFO(a.count << " times, every " << a.step_bytes << ": " << in_words(a.first) << b.count
                 << " times, every " << b.step_bytes << ": " << in_words(b.first) << "round "
                 << round << " of --rng-seed " << Catch::getSeed());
    REQUIRE(overlap_batches(a, b) == meet);
    REQUIRE(overlap_batches(b, a) == meet);
  }
  CHECK(met > rounds / 10);
  CHECK(met < rounds - rounds / 10);
}

TEST_CASE("overlap: sub-matrices of a parent larger than 4 GiB", "[overlap]") {
  // A parent of 2^20 rows of 2^20 bytes at a GPU's address.
  const address_type parent = 0x7f0000000000;
  const address_type pitch = address_type{1} << 20;
  const memory_region left{parent, pitch, pitch / 2, pitch};
  const memory_region right{parent + pitch / 2, pitch, pitch / 2, pitch};
  CHECK(!overlap(left, right));
  CHECK(!overlap(right, left));
  CHECK(overlap(left, left));
  memory_region wider = left;
  ++wider.row_bytes;
  CHECK(overlap(wider, right));
  CHECK(overlap(right, wider));
  // Moved by whole rows, they still interleave; moved by a byte, they meet.
  memory_region moved = right;
  moved.first += 1000 * pitch;
  CHECK(!overlap(left, moved));
  ++moved.first;
  CHECK(overlap(left, moved));
  moved.first -= 2;
  CHECK(overlap(left, moved));
}

TEST_CASE("overlap: rows that meet only far into both", "[overlap]") {
  // One byte a row, strides p and p + 1, one start s bytes behind the other: row i of a lies on row
  // j of b where (i - j) p == s + j. For s == p - 1 that is j == 1 first; for s == 1, j == p - 1.
  const address_type p = (address_type{1} << 20) + 7;
  const memory_region a{giga, 4 * p, 1, p};
  CHECK(overlap(a, {giga + p - 1, 2, 1, p + 1}));
  CHECK(overlap(a, {giga + 1, p, 1, p + 1}));
  CHECK(!overlap(a, {giga + 1, p - 1, 1, p + 1}));
  CHECK(overlap({giga + 1, p, 1, p + 1}, a));
  CHECK(!overlap({giga + 1, p - 1, 1, p + 1}, a));
}

TEST_CASE("overlap: regions that end at the top of the address space", "[overlap]") {
  const address_type top = ~address_type{0};
  const memory_region last{top - 4 * giga, 4, giga / 2, giga};
  CHECK(!overlap(last, {top - 4 * giga + giga / 2, 3, giga / 2, giga}));
  CHECK(overlap(last, {top - giga, 1, 1, 0}));
  CHECK(!overlap(last, {0, 4, giga / 2, giga}));
  // As far apart as memory goes: most of the address space lies between.
  CHECK(!overlap({0, 2, 1, giga}, {top - 2 * giga, 2, 1, giga}));
  CHECK(!overlap({top - 2 * giga, 2, 1, giga}, {0, 2, 1, giga}));
}

TEST_CASE("overlap: the least multiple that falls into an interval", "[overlap]") {
  random_numbers random;
  for (int round = 0; round < 200000; ++round) {
    const address_type modulus = random.between(1, 300);
    const address_type step = random.between(0, 600);
    const address_type low = random.between(0, modulus - 1);
    const address_type high = random.between(low, modulus - 1);
    address_type expected = tt::detail::never;
    for (address_type x = 0; x < modulus && expected == tt::detail::never; ++x) {
      const address_type at = step * x % modulus;
      if (at >= low && at <= high) { expected = x; }
    }
    INFO("round " << round << " of --rng-seed " << Catch::getSeed() << ": " << step << " x mod "
                  << modulus << " in " << low << " .. " << high);
    REQUIRE(tt::detail::first_hit(step, modulus, low, high) == expected);
  }
}

TEST_CASE("overlap: a multiple found for large strides is one", "[overlap]") {
  const auto check = [](address_type step, address_type modulus, address_type low,
                        address_type high) {
    const address_type hit = tt::detail::first_hit(step, modulus, low, high);
    if (hit == tt::detail::never) { return; }
    const auto at = static_cast<address_type>(static_cast<wide_type>(step) * hit % modulus);
    INFO(step << " * " << hit << " mod " << modulus << " is " << at << ", not in " << low << " .. "
              << high);
    REQUIRE(at >= low);
    REQUIRE(at <= high);
  };
  // The product comes close to 2^64.
  check(647978211862373, 871146595798000, 114567894426038, 114569337485389);
  random_numbers random;
  INFO("--rng-seed " << Catch::getSeed());
  for (int round = 0; round < 200000; ++round) {
    const address_type modulus = random.between(1, address_type{1} << random.between(1, 62));
    const address_type step = random.between(0, address_type{1} << random.between(1, 62));
    const address_type low = random.between(0, modulus - 1);
    check(step, modulus, low,
          low + random.between(0, (modulus - 1 - low) >> random.between(0, 60)));
  }
}

TEST_CASE("divider: equals / and %", "[divide]") {
  constexpr unsigned most = 0x7fffffff;
  random_numbers random;
  std::vector<unsigned> divisors;
  for (unsigned i = 1; i <= 1000; ++i) { divisors.push_back(i); }
  for (unsigned power = 1; power < 0x80000000U; power *= 2) {
    for (const unsigned d : {power - 1, power, power + 1}) {
      if (d >= 1 && d <= most) { divisors.push_back(d); }
    }
  }
  divisors.insert(divisors.end(), {most - 1, most});
  for (int i = 0; i < 2000; ++i) {
    divisors.push_back(
        static_cast<unsigned>(random.between(1, address_type{1} << random.between(1, 31)) % most) +
        1);
  }
  for (const unsigned d : divisors) {
    const tt::detail::divider by(d);
    std::vector<unsigned> numbers{0, 1, most, most - 1, d, d - 1, most / d * d, most / d * d - 1};
    if (d < most) { numbers.push_back(d + 1); }
    for (int i = 0; i < 200; ++i) {
      const auto n = static_cast<unsigned>(random.between(0, most));
      numbers.insert(numbers.end(),
                     {n, n / d * d, n / d * d + d - 1 <= most ? n / d * d + d - 1 : n});
    }
    bool right = true;
    unsigned failed = 0;
    for (const unsigned n : numbers) {
      const unsigned quotient = by.quotient(n);
      if (quotient != n / d || by.remainder(n, quotient) != n % d) {
        right = false;
        failed = n;
      }
    }
    INFO(failed << " / " << d << ", --rng-seed " << Catch::getSeed());
    REQUIRE(right);
  }
  CHECK(tt::detail::divider{}.quotient(most) == most);
}
