// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: the output comes first, and its elements must not be const

#include <tiletranspose/transpose.cuh>

#ifdef MUST_FAIL
using element = const float;
#else
using element = float;
#endif

cudaError_t call(tt::matrix_view<element> out, tt::matrix_view<const float> in) {
  return tt::transpose(out, in);
}
