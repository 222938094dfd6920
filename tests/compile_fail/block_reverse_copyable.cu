// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: the element type must be trivially copyable; the library moves its bytes

#include <tiletranspose/block_reverse.cuh>

struct element {
#ifdef MUST_FAIL
  element(const element& other) : value(other.value) {}
#endif
  int value;
};

int call() { return static_cast<int>(sizeof(tt::block_reverse<element, tt::dynamic_size>)); }
