// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// No case outgrows the memory that the GPU has for it.

#include "gpu_limits.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>
#include <vector>

TEST_CASE("a case fits the memory of a stream") {
  std::vector<fuzz::target> targets;
  for (int call = 0; call < static_cast<int>(fuzz::call::count); ++call) {
    for (const unsigned bytes : {1u, 2u, 3u, 4u, 5u, 8u, 12u, 16u, 24u, 64u}) {
      for (const int planes : {2, 7, 16}) {
        targets.push_back({static_cast<fuzz::call>(call), {bytes, 1}, {bytes, 1}, planes});
      }
    }
  }
  const fuzz::catalogue catalogue(targets);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    std::size_t most = 0;
    std::string largest;
    for (std::uint64_t number = 0; number < 300'000; ++number) {
      const fuzz::test_case made = fuzz::generate(seed, number, catalogue, fuzz::gpu_limits);
      if (made.memory.bytes > most) {
        most = made.memory.bytes;
        largest = fuzz::describe(made);
      }
    }
    INFO(largest);
    CHECK(most <= fuzz::gpu_memory_bytes);
    CHECK(most > fuzz::gpu_limits.bytes);
  }
}
