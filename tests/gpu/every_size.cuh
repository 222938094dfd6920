// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::transpose, tuned, of elements of FIRST_SIZE to LAST_SIZE single bytes. Include it in one place of a program.

#pragma once

#include "support.cuh"

using namespace tt_test;

namespace {

template <std::size_t... Index>
std::vector<flat_transpose> make_every_size(std::index_sequence<Index...>) {
  return {make_flat<bytes<FIRST_SIZE + Index>>(std::to_string(FIRST_SIZE + Index) + " bytes")...};
}

}  // namespace

TEST_CASE("tuned: every element size", "[transpose]") {
  for_each_type(
      make_every_size(std::make_index_sequence<LAST_SIZE - FIRST_SIZE + 1>{}),
      [&](const flat_transpose& t, random_source& random) {
        for (const shape s : {shape{33, 65}, shape{131, 259}, shape{5, 300}, shape{300, 5}}) {
          check(t, s, random);
          check(t, s, random, random.between(1, 31), random.between(1, 31));
        }
      });
}
