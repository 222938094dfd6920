// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: warp_transpose(items) takes squares of 2, 4, 8, 16 or 32 items a lane; name the group for other shapes: warp_transpose(tt::static_warp{}, items)

#include <tiletranspose/warp_transpose.cuh>

__device__ void call(float (&items)[3]) {
#ifdef MUST_FAIL
  tt::warp_transpose(items);
#else
  tt::warp_transpose(tt::static_warp{}, items);
#endif
}
