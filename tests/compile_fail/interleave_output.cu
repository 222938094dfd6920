// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: the output comes first, and its elements must not be const

#include <tiletranspose/interleave.cuh>

#ifdef MUST_FAIL
using element = const float;
#else
using element = float;
#endif

cudaError_t call(element* const (&planes)[3], float* points) {
  return tt::deinterleave(planes, points, 100);
}
