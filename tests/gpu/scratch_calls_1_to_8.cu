// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "scratch_calls.cuh"

std::vector<tt_test::scratch_call> tt_test::scratch_calls_of_1_to_8_bytes() {
  return make_scratch_calls_of_sizes<1, 1, 3, 6>();
}
