// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: a fused transpose takes a function object with a __device__ call operator

#include <tiletranspose/transpose.cuh>

__host__ __device__ float doubled(float value) { return 2 * value; }

struct calls_doubled {
  __device__ float operator()(float value) const { return doubled(value); }
};

cudaError_t call(float* out, const float* in) {
#ifdef MUST_FAIL
  return tt::transform_transpose(out, in, 4, 6, doubled);
#else
  return tt::transform_transpose(out, in, 4, 6, calls_doubled{});
#endif
}
