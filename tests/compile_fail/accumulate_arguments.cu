// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: the function of accumulate_transpose must be callable, as a const object, with an element of the input and an old one

#include <tiletranspose/transpose.cuh>

struct sum {
#ifdef MUST_FAIL
  __device__ float operator()(float a) const { return a; }
#else
  __device__ float operator()(float a, float b) const { return a + b; }
#endif
};

cudaError_t call(float* out, const float* in) {
  return tt::accumulate_transpose(out, in, 4, 6, sum{});
}
