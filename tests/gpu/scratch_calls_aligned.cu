// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "scratch_calls.cuh"

std::vector<tt_test::scratch_call> tt_test::aligned_scratch_calls() {
  return {make_scratch_call<block<2, 2>>(),   make_scratch_call<block<4, 4>>(),
          make_scratch_call<block<8, 8>>(),   make_scratch_call<block<12, 4>>(),
          make_scratch_call<block<16, 16>>(), make_scratch_call<block<64, 16>>()};
}
