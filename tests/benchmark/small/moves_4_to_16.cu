// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "moves.cuh"

namespace bench {

void plan_moves_4_to_16(const small_shape& shape, small_plan& plan) {
  if (shape.element == sizeof(float)) { small_moves<float>(shape, plan).add_all(); }
  if (shape.element == sizeof(double)) { small_moves<double>(shape, plan).add_all(); }
  if (shape.element == sizeof(float3)) { small_moves<float3>(shape, plan).add_all(); }
  if (shape.element == sizeof(double2)) { small_moves<double2>(shape, plan).add_all(); }
}

}  // namespace bench
