// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: an array to be permuted has at most 16 axes

#include <tiletranspose/permute.cuh>

#ifdef MUST_FAIL
constexpr int rank = 17;
#else
constexpr int rank = 16;
#endif

cudaError_t call(float* out, const float* in, const std::size_t (&extents)[rank],
                 const int (&axes)[rank]) {
  return tt::permute(out, in, extents, axes);
}
