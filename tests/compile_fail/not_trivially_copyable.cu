// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: the element type must be trivially copyable; the library moves its bytes

#include <tiletranspose/transpose.cuh>

struct element {
#ifdef MUST_FAIL
  element(const element& other) : value(other.value) {}
#endif
  int value;
};

cudaError_t call(element* out, const element* in) { return tt::transpose(out, in, 32, 32); }
