// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: the output comes first, and its elements must not be const

#include <tiletranspose/transpose.cuh>

struct same {
  __device__ float operator()(float value) const { return value; }
};

cudaError_t call(float* copy, float* out, const float* in) {
#ifdef MUST_FAIL
  return tt::transform_transpose_dual(in, copy, out, 4, 6, same{});
#else
  return tt::transform_transpose_dual(copy, out, in, 4, 6, same{});
#endif
}
