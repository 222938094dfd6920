// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "symmetry_calls.cuh"

std::vector<tt_test::symmetry_calls> tt_test::calls_of_1_to_7_bytes() {
  return make_symmetry_calls_of_sizes<1, 1, 2, 3, 4, 7>();
}
