// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: the function of transform_permute takes an element alone, not its place

#include <tiletranspose/permute.cuh>

struct with_bias {
#ifdef MUST_FAIL
  __device__ float operator()(float value, std::size_t row, std::size_t) const {
    return value + row;
  }
#else
  __device__ float operator()(float value) const { return value + 1; }
#endif
};

cudaError_t call(float* out, const float* in) {
  return tt::transform_permute(out, in, {4, 6, 3}, {2, 0, 1}, with_bias{});
}
