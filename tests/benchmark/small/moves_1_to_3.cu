// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "moves.cuh"

namespace bench {

void plan_moves_1_to_3(const small_shape& shape, small_plan& plan) {
  if (shape.element == sizeof(unsigned char)) { small_moves<unsigned char>(shape, plan).add_all(); }
  if (shape.element == sizeof(unsigned short)) {
    small_moves<unsigned short>(shape, plan).add_all();
  }
  if (shape.element == sizeof(uchar3)) { small_moves<uchar3>(shape, plan).add_all(); }
}

}  // namespace bench
