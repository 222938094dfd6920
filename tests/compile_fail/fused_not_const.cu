// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: the function of transform_transpose must be callable, as a const object

#include <tiletranspose/transpose.cuh>

struct counter {
#ifdef MUST_FAIL
  __device__ float operator()(float value) { return value + ++count; }
#else
  __device__ float operator()(float value) const { return value + count; }
#endif
  int count;
};

cudaError_t call(float* copy, float* out, const float* in) {
  return tt::transform_transpose_dual(copy, out, in, 4, 6, counter{0});
}
