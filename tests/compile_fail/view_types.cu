// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: input and output must have the same element type; transform_transpose converts

#include <tiletranspose/transpose.cuh>

#ifdef MUST_FAIL
using element = int;
#else
using element = float;
#endif

cudaError_t call(tt::matrix_view<float> out, tt::matrix_view<const element> in) {
  return tt::transpose(out, in);
}
