// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The cases of numpy.txt, and what make_numpy.py fills arrays with and adds up. For tests on the CPU and on the GPU.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace numpy {

struct permute_case {
  std::string line;
  std::size_t element = 0;  // bytes
  std::vector<std::size_t> extents;
  std::vector<int> axes;  // empty: all permutations, in lexicographic order
  bool refused = false;
  std::uint64_t sum = 0;

  std::size_t bytes() const {
    return std::accumulate(extents.begin(), extents.end(), element, std::multiplies<>());
  }
};

inline std::vector<permute_case> read_cases(const char* path) {
  std::ifstream file(path);
  std::vector<permute_case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') { continue; }
    std::istringstream words(line);
    permute_case next;
    std::size_t rank = 0;
    std::string word;
    next.line = line;
    words >> next.element >> rank;
    next.extents.resize(rank);
    for (std::size_t& extent : next.extents) { words >> extent; }
    words >> word;
    if (word != "all") {
      next.axes.push_back(std::stoi(word));
      for (std::size_t k = 1; k < rank && words >> word; ++k) {
        next.axes.push_back(std::stoi(word));
      }
    }
    words >> word;
    next.refused = word == "refused";
    if (!words) { throw std::runtime_error("no case: " + line); }
    if (!next.refused) { next.sum = std::stoull(word, nullptr, 16); }
    cases.push_back(next);
  }
  if (cases.size() < 100) { throw std::runtime_error("cases are missing"); }
  return cases;
}

inline std::vector<unsigned char> content(std::size_t count) {
  std::vector<unsigned char> bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<unsigned char>((i + 1) * 2654435761u >> 24);
  }
  return bytes;
}

inline std::uint64_t add(std::uint64_t sum, const unsigned char* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) { sum = (sum ^ bytes[i]) * 0x100000001B3u; }
  return sum;
}

// Calls permute(axes, extents) as arrays of as many elements as the case has axes, once or for all permutations.
template <std::size_t Rank, class Permute>
void run_rank(const permute_case& c, const Permute& permute) {
  std::array<std::size_t, Rank> extents{};
  std::array<int, Rank> axes{};
  for (std::size_t k = 0; k < Rank; ++k) {
    extents[k] = c.extents[k];
    axes[k] = c.axes.empty() ? static_cast<int>(k) : c.axes[k];
  }
  do {
    permute(extents, axes);
  } while (c.axes.empty() && std::next_permutation(axes.begin(), axes.end()));
}
template <class Permute, std::size_t Rank = 1>
void run(const permute_case& c, const Permute& permute) {
  if constexpr (Rank > 12) {
    throw std::runtime_error("too many axes: " + c.line);
  } else if (c.extents.size() == Rank) {
    run_rank<Rank>(c, permute);
  } else {
    run<Permute, Rank + 1>(c, permute);
  }
}

inline constexpr std::uint64_t first_sum = 0xCBF29CE484222325u;

}  // namespace numpy
