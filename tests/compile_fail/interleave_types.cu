// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: input and output must have the same element type; transform_transpose converts

#include <tiletranspose/interleave.cuh>

#ifdef MUST_FAIL
using element = double;
#else
using element = float;
#endif

cudaError_t call(float* out, element* const (&planes)[3]) {
  return tt::interleave(out, planes, 100);
}
