// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Seeded shapes of small and middle problems, in plain C++. The same seed gives the same shapes
// everywhere, and shape i does not depend on how many others there are.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// A matrix of ny rows x nx columns, and numbers for whatever else a call draws.
struct small_shape {
  enum kind { square, odd, narrow, wide, even, kinds };
  std::size_t element;  // bytes
  std::size_t nx, ny;
  kind what;
  std::uint64_t draws;

  std::size_t bytes() const { return nx * ny * element; }
};

/// SplitMix64. The distributions of the standard library differ between its implementations.
class small_numbers {
 public:
  explicit small_numbers(std::uint64_t state) : state_{state} {}

  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }
  /// least <= result <= most
  std::size_t between(std::size_t least, std::size_t most) {
    return least + static_cast<std::size_t>(next() % (most - least + 1));
  }
  /// 0 <= result < 1
  double fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// Between two positive numbers, with even logarithms.
  double spread(double least, double most) { return least * std::pow(most / least, fraction()); }

 private:
  std::uint64_t state_;
};

inline constexpr std::array<std::size_t, 7> small_elements{1, 2, 3, 4, 8, 12, 16};
inline constexpr std::size_t least_small_bytes = 2 << 10, most_small_bytes = 32 << 20;
inline constexpr std::size_t most_small_batch = 256;

/// Types and kinds take turns, so that 35 shapes have each pair once.
inline small_shape make_small_shape(std::uint64_t seed, std::size_t i) {
  small_numbers numbers(small_numbers(seed).next() ^ (i * 0xD1342543DE82EF95u));
  small_shape s{};
  s.element = small_elements[i % small_elements.size()];
  s.what = static_cast<small_shape::kind>(i % small_shape::kinds);
  // Sides are rounded up, which needs room above.
  const double bytes = numbers.spread(least_small_bytes, 0.88 * most_small_bytes);
  const double elements = bytes / static_cast<double>(s.element);
  const auto up = [](double x) { return static_cast<std::size_t>(std::ceil(x)); };
  const auto sides = [&](double ratio) {
    s.nx = up(std::sqrt(elements * ratio));
    s.ny = up(elements / static_cast<double>(s.nx));
  };
  switch (s.what) {
    case small_shape::square:
      s.nx = s.ny = up(std::sqrt(elements));
      break;
    case small_shape::odd:
      sides(numbers.spread(1.0 / 3, 3));
      s.nx |= 1;
      s.ny |= 1;
      break;
    case small_shape::narrow:
    case small_shape::wide:
      s.nx = up(numbers.spread(1.01, std::min(64.0, std::sqrt(elements))));
      s.ny = up(elements / static_cast<double>(s.nx));
      if (s.what == small_shape::wide) { std::swap(s.nx, s.ny); }
      break;
    default: {
      sides(numbers.spread(1.0 / 8, 8));
      const std::size_t step = elements > 20000 && numbers.between(0, 1) == 0 ? 32 : 8;
      s.nx = (s.nx + step - 1) / step * step;
      s.ny = (s.ny + step - 1) / step * step;
    }
  }
  s.draws = numbers.next();
  return s;
}

inline std::vector<small_shape> make_small_shapes(std::uint64_t seed, std::size_t count) {
  std::vector<small_shape> shapes;
  for (std::size_t i = 0; i < count; ++i) { shapes.push_back(make_small_shape(seed, i)); }
  return shapes;
}

/// About as many elements in several matrices of about 64 elements or more.
struct small_batch {
  std::size_t nx, ny, batch;
};
inline small_batch make_small_batch(const small_shape& s, small_numbers& numbers) {
  const double most = std::min<double>(most_small_batch, static_cast<double>(s.nx * s.ny) / 64);
  const auto batch =
      std::max<std::size_t>(2, static_cast<std::size_t>(numbers.spread(2, std::max(2.0, most))));
  // The longer side is cut until both are alike, then both are.
  const bool is_wide = s.nx > s.ny;
  const auto longer = static_cast<double>(is_wide ? s.nx : s.ny);
  const auto shorter = static_cast<double>(is_wide ? s.ny : s.nx);
  const auto parts = static_cast<double>(batch);
  const double long_parts = std::min(parts, std::sqrt(parts * longer / shorter));
  const auto new_longer = static_cast<std::size_t>(std::ceil(longer / long_parts));
  const auto new_shorter = static_cast<std::size_t>(std::ceil(shorter * long_parts / parts));
  return {is_wide ? new_longer : new_shorter, is_wide ? new_shorter : new_longer, batch};
}

/// The longer side cut, so that elements of `bytes` bytes take about as much memory.
inline small_shape for_elements_of(small_shape s, std::size_t bytes) {
  if (bytes > s.element) {
    std::size_t& side = s.nx > s.ny ? s.nx : s.ny;
    side = std::max<std::size_t>(2, (side * s.element + bytes - 1) / bytes);
  }
  return s;
}

/// A stride for rows of n elements inside of a larger matrix, at most an eighth longer where they
/// are not short.
inline std::size_t make_small_stride(std::size_t n, small_numbers& numbers) {
  const std::size_t even = (n + 32) / 32 * 32;  // the next multiple of 32
  if (n >= 256 && numbers.between(0, 1) == 0) { return even; }
  return n + numbers.between(1, std::max<std::size_t>(1, std::min<std::size_t>(40, n / 8)));
}

}  // namespace bench
