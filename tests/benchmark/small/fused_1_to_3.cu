// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fused.cuh"

namespace bench {

void plan_fused_1_to_3(const small_shape& shape, small_plan& plan) {
  using byte = unsigned char;
  plan_all_fused<byte, __half, byte>(shape, plan, convert<__half>{}, triple{}, update{});
  plan_all_fused<__half, float, __half>(shape, plan, convert<float>{}, triple{}, update{});
  plan_all_fused<pixel, colours, pixel>(shape, plan, to_colours{}, swap_ends{}, average{});
}

}  // namespace bench
