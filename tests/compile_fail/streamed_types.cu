// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: input and output must have the same element type; transform_transpose converts

#include <tiletranspose/streamed.cuh>

#ifdef MUST_FAIL
using element = double;
#else
using element = float;
#endif

cudaError_t call(float* out, const element* in, void* temp, std::size_t& temp_bytes) {
  return tt::streamed_transpose(out, in, 4, 6, temp, temp_bytes);
}
