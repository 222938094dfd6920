// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The random numbers of one case.

#pragma once

#include "image.hpp"

#include <cstdint>

namespace fuzz {

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  // 0 to bound - 1
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  // low to high
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + next() % (high - low + 1);
  }
  // 0 to 1
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace fuzz
