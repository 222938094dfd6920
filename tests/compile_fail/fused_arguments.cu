// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: the function of transform_transpose must be callable, as a const object, with an element

#include <tiletranspose/transpose.cuh>

struct sum {
#ifdef MUST_FAIL
  __device__ float operator()(float a, float b) const { return a + b; }
#else
  __device__ float operator()(float a) const { return a; }
#endif
};

cudaError_t call(float* out, const float* in) {
  return tt::transform_transpose(out, in, 4, 6, sum{});
}
