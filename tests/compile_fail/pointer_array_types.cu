// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: input and output must have the same element type; transform_transpose converts

#include <tiletranspose/reverse.cuh>

#ifdef MUST_FAIL
using element = double;
#else
using element = float;
#endif

cudaError_t call(float* const* outs, const element** ins) {
  return tt::reorient_batched(outs, ins, 4, 6, 3, tt::symmetry::rotate_90);
}
