// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: ignoring return value from routine declared with "nodiscard" attribute
// flags: -Werror=all-warnings

#include <tiletranspose/transpose.cuh>

void call(float* out, const float* in) {
#ifdef MUST_FAIL
  tt::transpose(out, in, 4, 6);
#else
  static_cast<void>(tt::transpose(out, in, 4, 6));
#endif
}
