// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: is not allowed
// flags: --extended-lambda

#include <tiletranspose/transpose.cuh>

#ifdef MUST_FAIL
#define ON_DEVICE
#else
#define ON_DEVICE __device__
#endif

cudaError_t call(float* out, const float* in, float factor) {
  return tt::transform_transpose(out, in, 4, 6,
                                 [factor] ON_DEVICE(float value) { return factor * value; });
}
