// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: the function of transform_transpose must be callable, as a const object, with an element of the input, or with one and its row and column there, and yield what converts

#include <tiletranspose/transpose.cuh>

struct pair {
  float first;
  float second;
#ifndef MUST_FAIL
  __device__ operator float() const { return first; }
#endif
};

struct twice {
  __device__ pair operator()(float value) const { return {value, value}; }
};

cudaError_t call(float* out, const float* in) {
  return tt::transform_transpose(out, in, 4, 6, twice{});
}
