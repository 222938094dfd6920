// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: the transpose of a Rows x Columns micro-block has Columns rows of Rows elements

#include <tiletranspose/warp_transpose.cuh>

#ifdef MUST_FAIL
constexpr int out_rows = 4;
#else
constexpr int out_rows = 8;
#endif

__device__ void call(const unsigned (&in)[4][4], unsigned (&out)[out_rows][2]) {
  tt::thread_transpose<2>(out, in);
}
