// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a micro-block is made of elements of 1, 2 or a multiple of 4 bytes

#include <tiletranspose/warp_transpose.cuh>

#ifdef MUST_FAIL
constexpr int element_bytes = 3;
#else
constexpr int element_bytes = 4;
#endif

__device__ void call(const unsigned (&in)[4][4], unsigned (&out)[4][4]) {
  tt::thread_transpose<element_bytes>(in, out);
}
