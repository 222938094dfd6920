// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: elements may have 1 to 64 bytes; move larger ones by their parts

#include <tiletranspose/warp_transpose.cuh>

#ifdef MUST_FAIL
constexpr int bytes = 65;
#else
constexpr int bytes = 64;
#endif

struct element {
  char value[bytes];
};

__device__ void call(element (&items)[2]) { tt::warp_transpose(items); }
