// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: the element type that is written before the tile must be that of the matrices

#include <tiletranspose/transpose.cuh>

#ifdef MUST_FAIL
using element = double;
#else
using element = float;
#endif

cudaError_t call(tt::matrix_view<element> out, tt::matrix_view<element> in) {
  return tt::transpose<float, 32, 8>(out, in);
}
