// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: void has no size; cast the pointer to the type of the elements

#include <tiletranspose/transpose.cuh>

struct same {
  __device__ float operator()(float value) const { return value; }
};

#ifdef MUST_FAIL
using element = void;
#else
using element = float;
#endif

cudaError_t call(float* out, const element* in) {
  return tt::transform_transpose(out, in, 4, 6, same{});
}
