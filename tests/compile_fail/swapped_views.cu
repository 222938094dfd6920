// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: the output comes first, and its elements must not be const

#include <tiletranspose/transpose.cuh>

cudaError_t call(tt::matrix_view<float> out, tt::matrix_view<const float> in) {
#ifdef MUST_FAIL
  return tt::transpose(in, out);
#else
  return tt::transpose(out, in);
#endif
}
