// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "symmetry_calls.cuh"

std::vector<tt_test::symmetry_calls> tt_test::calls_of_other_sizes_27_to_39() {
  return make_symmetry_calls_of_sizes<1, 27, 28, 29, 30, 34, 35, 36, 37, 38, 39>();
}
