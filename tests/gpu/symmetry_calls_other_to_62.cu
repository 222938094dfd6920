// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "symmetry_calls.cuh"

std::vector<tt_test::symmetry_calls> tt_test::calls_of_other_sizes_to_62_bytes() {
  return make_symmetry_calls_of_sizes<1, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 49, 50, 51, 52,
                                      53, 54, 55, 56, 57, 58, 59, 60, 61, 62>();
}
