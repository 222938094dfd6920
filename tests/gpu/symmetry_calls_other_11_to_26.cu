// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "symmetry_calls.cuh"

std::vector<tt_test::symmetry_calls> tt_test::calls_of_other_sizes_11_to_26() {
  return make_symmetry_calls_of_sizes<1, 11, 14, 18, 19, 21, 22, 23, 25, 26>();
}
