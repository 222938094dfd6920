// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: the output comes first, and its elements must not be const

#include <tiletranspose/reverse.cuh>

cudaError_t call(float* out, const float* in) {
#ifdef MUST_FAIL
  return tt::rotate(in, out, 4, 6, 1);
#else
  return tt::rotate(out, in, 4, 6, 1);
#endif
}
