// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Permutes on the CPU beside what NumPy makes of the same arrays, and their laws: back again is the identity, and one
// permute behind another is a permute.

#include "cuda_on_cpu.hpp"

#include <tiletranspose/permute.cuh>

#include <catch2/catch_test_macros.hpp>
#include <random>
#include <vector>

#include "../permutes/numpy.hpp"

namespace {

struct alignas(4) triple {
  unsigned char bytes[12];
};

template <class T, std::size_t Rank>
cudaError_t permute(unsigned char* out, const unsigned char* in,
                    const std::array<std::size_t, Rank>& extents,
                    const std::array<int, Rank>& axes) {
  tt::size_type given[Rank];
  int order[Rank];
  std::copy(extents.begin(), extents.end(), given);
  std::copy(axes.begin(), axes.end(), order);
  return tt::permute(reinterpret_cast<T*>(out), reinterpret_cast<const T*>(in), given, order);
}
template <std::size_t Rank>
cudaError_t permute_bytes(std::size_t element, unsigned char* out, const unsigned char* in,
                          const std::array<std::size_t, Rank>& extents,
                          const std::array<int, Rank>& axes) {
  return element == 1   ? permute<unsigned char>(out, in, extents, axes)
         : element == 4 ? permute<float>(out, in, extents, axes)
                        : permute<triple>(out, in, extents, axes);
}

}  // namespace

TEST_CASE("permute: as NumPy transposes") {
  for (const numpy::permute_case& c : numpy::read_cases(NUMPY_CASES)) {
    INFO(c.line);
    const std::vector<unsigned char> in = numpy::content(c.bytes());
    std::vector<unsigned char> out(in.size());
    std::uint64_t sum = numpy::first_sum;
    numpy::run(c, [&](const auto& extents, const auto& axes) {
      std::fill(out.begin(), out.end(), static_cast<unsigned char>(0xA5));
      const cudaError_t status = permute_bytes(c.element, out.data(), in.data(), extents, axes);
      REQUIRE((status == cudaErrorInvalidValue) == c.refused);
      sum = numpy::add(sum, out.data(), out.size());
    });
    if (!c.refused) { REQUIRE(sum == c.sum); }
  }
}

namespace {

// Two random permutes one behind the other, the permute that both make, and all the way back.
template <std::size_t Rank>
void check_laws(std::mt19937& generator, std::size_t element) {
  std::array<std::size_t, Rank> extents{};
  std::array<int, Rank> first{};
  std::array<int, Rank> second{};
  std::size_t left = 3000;
  for (std::size_t& extent : extents) {
    extent = 1 + generator() % std::min<std::size_t>(left, 20);
    left /= extent;
    left += left == 0 ? 1 : 0;
  }
  std::iota(first.begin(), first.end(), 0);
  std::iota(second.begin(), second.end(), 0);
  std::shuffle(extents.begin(), extents.end(), generator);
  std::shuffle(first.begin(), first.end(), generator);
  std::shuffle(second.begin(), second.end(), generator);
  std::array<std::size_t, Rank> between{};
  std::array<std::size_t, Rank> after{};
  std::array<int, Rank> both{};
  std::array<int, Rank> inverse{};
  std::size_t count = element;
  const auto at = [](int axis) { return static_cast<std::size_t>(axis); };
  for (std::size_t k = 0; k < Rank; ++k) {
    between[k] = extents[at(first[k])];
    both[k] = first[at(second[k])];
    after[k] = extents[at(both[k])];
    inverse[at(both[k])] = static_cast<int>(k);
    count *= extents[k];
  }
  const std::vector<unsigned char> in = numpy::content(count);
  std::vector<unsigned char> one(count), two(count), at_once(count), back(count);
  REQUIRE(permute_bytes(element, one.data(), in.data(), extents, first) == cudaSuccess);
  REQUIRE(permute_bytes(element, two.data(), one.data(), between, second) == cudaSuccess);
  REQUIRE(permute_bytes(element, at_once.data(), in.data(), extents, both) == cudaSuccess);
  REQUIRE(two == at_once);
  REQUIRE(permute_bytes(element, back.data(), two.data(), after, inverse) == cudaSuccess);
  REQUIRE(back == in);
}

}  // namespace

TEST_CASE("permute: one behind another, and back again") {
  std::mt19937 generator(17);
  for (int i = 0; i < 6; ++i) {
    INFO("case " << i);
    for (const std::size_t element : {1u, 4u, 12u}) {
      check_laws<3>(generator, element);
      check_laws<4>(generator, element);
      check_laws<6>(generator, element);
      check_laws<8>(generator, element);
    }
  }
}
