// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: the function of transform_transpose must be callable, as a const object, with an element

#include <tiletranspose/transpose.cuh>

// An element and its row, without its column.
struct sum {
#ifdef MUST_FAIL
  __device__ float operator()(float a, std::size_t row) const { return a + row; }
#else
  __device__ float operator()(float a, std::size_t row, std::size_t) const { return a + row; }
#endif
};

cudaError_t call(float* out, const float* in) {
  return tt::transform_transpose(out, in, 4, 6, sum{});
}
