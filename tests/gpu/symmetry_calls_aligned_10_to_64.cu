// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "symmetry_calls.cuh"

std::vector<tt_test::symmetry_calls> tt_test::aligned_calls_of_10_to_64_bytes() {
  return {make_symmetry_calls<block<12, 4>>(), make_symmetry_calls<block<16, 16>>(),
          make_symmetry_calls<block<48, 16>>(), make_symmetry_calls<block<64, 16>>()};
}
