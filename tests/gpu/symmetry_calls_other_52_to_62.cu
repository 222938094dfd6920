// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "symmetry_calls.cuh"

std::vector<tt_test::symmetry_calls> tt_test::calls_of_other_sizes_52_to_62() {
  return make_symmetry_calls_of_sizes<1, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62>();
}
