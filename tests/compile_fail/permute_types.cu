// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: input and output must have the same element type; transform_transpose converts

#include <tiletranspose/permute.cuh>

#ifdef MUST_FAIL
using element = double;
#else
using element = float;
#endif

cudaError_t call(float* out, const element* in) {
  return tt::permute(out, in, {2, 3, 4}, {2, 0, 1});
}
