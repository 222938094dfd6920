// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: the element type must be trivially copyable; the library moves its bytes

#include <tiletranspose/reverse.cuh>

struct element {
#ifdef MUST_FAIL
  element(const element& other) : value(other.value) {}
#endif
  int value;
};

cudaError_t call(element* data) { return tt::flip_ud_inplace(data, 32, 32); }
