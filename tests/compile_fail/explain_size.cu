// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: elements may have 1 to 64 bytes; move larger ones by their parts

#include <tiletranspose/explain.cuh>

#ifdef MUST_FAIL
constexpr int bytes = 65;
#else
constexpr int bytes = 64;
#endif

struct element {
  unsigned char all[bytes];
};

const char* call(element* out, const element* in) { return tt::explain(out, in, 32, 32).rule; }
