// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random sizes and places.

#pragma once

#include "case.hpp"
#include "random.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fuzz {

// Sides that kernels have edges at.
inline std::size_t near_an_edge(random_numbers& random, std::size_t most) {
  static constexpr std::size_t edges[] = {4, 8, 16, 32, 64, 128, 256, 512, 1024};
  const std::size_t edge = edges[random.below(9)];
  const std::size_t side = edge * random.between(1, 4) + random.between(0, 2) - 1;
  return std::clamp<std::size_t>(side, 1, most);
}

inline std::size_t log_uniform(random_numbers& random, std::size_t low, std::size_t high) {
  const double ratio = static_cast<double>(high) / static_cast<double>(low);
  return std::clamp(
      static_cast<std::size_t>(static_cast<double>(low) * std::pow(ratio, random.unit())), low,
      high);
}

inline std::size_t random_gap(random_numbers& random, unsigned element) {
  switch (random.below(5)) {
    case 0:
    case 1:
      return 0;
    case 2:
      return 16 / std::gcd(16u, element) * random.between(0, 4);
    case 3:
      return random.between(1, 9);
    default:
      return random.between(1, 100);
  }
}

// Bytes past a multiple of 256 that an element of this alignment may start at.
inline std::size_t random_offset(random_numbers& random, std::size_t alignment) {
  switch (random.below(4)) {
    case 0:
    case 1:
      return 0;
    case 2:
      return random.below(16) * 16 / alignment * alignment;
    default:
      return random.below(256) / alignment * alignment;
  }
}

// Hands out memory, with guards between.
class layout {
 public:
  explicit layout(random_numbers& random) : random_(random) {}

  // A place for so many bytes.
  std::size_t take(std::size_t bytes, std::size_t alignment) {
    const std::size_t at = end_ + 256 + random_offset(random_, alignment);
    end_ = (at + bytes + 64 + 255) / 256 * 256;
    return at;
  }
  std::size_t bytes() const { return end_ + 256; }

 private:
  random_numbers& random_;
  std::size_t end_ = 0;
};

inline unsigned narrow(std::size_t value) { return static_cast<unsigned>(value); }

}  // namespace fuzz
