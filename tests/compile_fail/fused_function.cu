// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: the function of a fused transpose must be trivially copyable

#include <tiletranspose/transpose.cuh>

struct shifted {
#ifdef MUST_FAIL
  shifted(const shifted& other) : by(other.by) {}
#endif
  float by;
  __device__ float operator()(float value, float) const { return value + by; }
};

cudaError_t call(float* out, const float* in, const shifted& op) {
  return tt::accumulate_transpose(out, in, 4, 6, op);
}
