// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "symmetry_calls.cuh"

std::vector<tt_test::symmetry_calls> tt_test::calls_of_other_sizes_40_to_51() {
  return make_symmetry_calls_of_sizes<1, 40, 41, 42, 43, 44, 45, 46, 47, 49, 50, 51>();
}
