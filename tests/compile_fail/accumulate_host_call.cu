// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: calling a __host__ function("doubled::operator ()(float, float) const") from a __

#include <tiletranspose/transpose.cuh>

#ifdef MUST_FAIL
#define ON_DEVICE
#else
#define ON_DEVICE __device__
#endif

struct doubled {
  ON_DEVICE float operator()(float value, float) const { return 2 * value; }
};

cudaError_t call(float* out, const float* in) {
  return tt::accumulate_transpose(out, in, 4, 6, doubled{});
}
