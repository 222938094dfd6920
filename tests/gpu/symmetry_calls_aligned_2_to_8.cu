// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "symmetry_calls.cuh"

std::vector<tt_test::symmetry_calls> tt_test::aligned_calls_of_2_to_8_bytes() {
  return {make_symmetry_calls<block<2, 2>>(), make_symmetry_calls<block<6, 2>>(),
          make_symmetry_calls<block<4, 4>>(), make_symmetry_calls<block<8, 4>>(),
          make_symmetry_calls<block<8, 8>>()};
}
