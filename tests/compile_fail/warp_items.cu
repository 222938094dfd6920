// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a warp transpose takes 1 to 64 items a lane; move more in parts

#include <tiletranspose/warp_transpose.cuh>

#ifdef MUST_FAIL
constexpr int count = 65;
#else
constexpr int count = 64;
#endif

__device__ void call(float (&items)[count]) {
  tt::warp_blocked_to_striped(tt::static_warp{}, items);
}
