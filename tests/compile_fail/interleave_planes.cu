// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: structures have 2 to 16 elements, and there is a plane for each

#include <tiletranspose/interleave.cuh>

#ifdef MUST_FAIL
constexpr int planes = 17;
#else
constexpr int planes = 16;
#endif

cudaError_t call(float* const (&out)[planes], const float* in) {
  return tt::deinterleave(out, in, 100);
}
