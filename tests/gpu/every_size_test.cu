// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::transpose, tuned, of elements of 1 to 64 single bytes.

#include "support.cuh"

using namespace tt_test;

namespace {

template <std::size_t... Index>
std::vector<flat_transpose> make_every_size(std::index_sequence<Index...>) {
  return {make_flat<bytes<Index + 1>>(std::to_string(Index + 1) + " bytes")...};
}

}  // namespace

TEST_CASE("tuned: every element size", "[transpose]") {
  for_each_type(make_every_size(std::make_index_sequence<64>{}), [&](const flat_transpose& t,
                                                                     random_source& random) {
    for (const shape s : {shape{33, 65}, shape{131, 259}, shape{5, 300}, shape{300, 5}}) {
      check(t, s, random);
      check(t, s, random, random.between(1, 31), random.between(1, 31));
    }
  });
}
