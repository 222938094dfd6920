// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: the element type must be trivially copyable; the library moves its bytes

#include <tiletranspose/emulator.cuh>

struct element {
  element() = default;
#ifdef MUST_FAIL
  element(const element& other) : value(other.value) {}
#endif
  float value;
};

std::size_t elements() { return tt::emulated_buffer<element>(3).size(); }
