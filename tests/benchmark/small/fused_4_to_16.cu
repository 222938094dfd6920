// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fused.cuh"

namespace bench {

void plan_fused_4_to_16(const small_shape& shape, small_plan& plan) {
  const to_single single{};
  plan_all_fused<float, __half, __half>(shape, plan, convert<__half>{}, convert<__half>{},
                                        update{});
  plan_all_fused<double, float, float>(shape, plan, convert<float>{}, convert<float>{}, update{});
  plan_all_fused<colours, pixel, pixel>(shape, plan, from_colours{}, from_colours{}, update{});
  plan_all_fused<cuDoubleComplex, cuFloatComplex, cuFloatComplex>(shape, plan, single, single,
                                                                  update{});
}

}  // namespace bench
