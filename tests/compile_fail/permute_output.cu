// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: the output comes first, and its elements must not be const

#include <tiletranspose/permute.cuh>

#ifdef MUST_FAIL
using output = const float;
#else
using output = float;
#endif

cudaError_t call(output* out, const float* in) {
  return tt::permute(out, {1, 3}, in, {5, -1}, {3, 4});
}
