// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the command line asks for.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>

namespace fuzz {

struct options {
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  std::uint64_t cases = 10'000;
  double seconds = 0;      // 0: as long as it takes
  bool each = false;       // wait for every case
  bool describes = false;  // every case, before it runs
};

inline constexpr const char* usage =
    " [--cases N] [--seconds S] [--seed S] [--first N] [--case N] [--each] [--describe]\n"
    "  --cases N    how many, 10000 if left out\n"
    "  --seconds S  end after so many seconds; without --cases as many as fit\n"
    "  --seed S     which; a fresh one if left out\n"
    "  --first N    start at case N of the seed\n"
    "  --case N     case N alone, in words\n"
    "  --each       wait for every case before the next\n"
    "  --describe   say every case in words before it runs\n";

inline std::uint64_t fresh_seed() {
  std::random_device device;
  return device() % 1'000'000'000u;  // which one can copy by hand
}

inline options read_options(int argc, char** argv) {
  options asked;
  asked.seed = fresh_seed();
  bool counted = false;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&] {
      if (i + 1 == argc) { throw std::invalid_argument(name + " needs a value"); }
      return std::string(argv[++i]);
    };
    if (name == "--cases") {
      asked.cases = std::stoull(value());
      counted = true;
    } else if (name == "--seconds") {
      asked.seconds = std::stod(value());
    } else if (name == "--seed") {
      asked.seed = std::stoull(value());
    } else if (name == "--first") {
      asked.first = std::stoull(value());
    } else if (name == "--case") {
      asked.first = std::stoull(value());
      asked.cases = 1;
      counted = asked.describes = true;
    } else if (name == "--each") {
      asked.each = true;
    } else if (name == "--describe") {
      asked.describes = true;
    } else {
      throw std::invalid_argument("unknown option " + name);
    }
  }
  if (asked.seconds > 0 && !counted) { asked.cases = ~std::uint64_t{0}; }
  return asked;
}

}  // namespace fuzz
