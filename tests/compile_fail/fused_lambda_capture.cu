// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: the function of a fused transpose must be trivially copyable
// flags: --extended-lambda

#include <tiletranspose/transpose.cuh>

struct tracked {
  float by;
#ifdef MUST_FAIL
  __host__ __device__ tracked(const tracked& other) : by(other.by) {}
#endif
};

cudaError_t call(float* out, const float* in, const tracked& shift) {
  return tt::transform_transpose(
      out, in, 4, 6, [shift] __host__ __device__(float value) { return value + shift.by; });
}
