// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: both outputs of transform_transpose_dual must have the same element type

#include <tiletranspose/transpose.cuh>

struct same {
  __device__ float operator()(float value) const { return value; }
};

#ifdef MUST_FAIL
using element = double;
#else
using element = float;
#endif

cudaError_t call(element* copy, float* out, const float* in) {
  return tt::transform_transpose_dual(copy, out, in, 4, 6, same{});
}
