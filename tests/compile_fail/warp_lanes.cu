// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a warp transpose takes a group of 2, 4, 8, 16 or 32 lanes whose number the compiler knows, such as tt::static_warp or tt::static_lanes<8>

#include <cooperative_groups.h>

#include <tiletranspose/warp_transpose.cuh>

__device__ void call(float (&items)[3]) {
  const auto block = cooperative_groups::this_thread_block();
#ifdef MUST_FAIL
  tt::warp_striped_to_blocked(block, items);
#else
  tt::warp_striped_to_blocked(cooperative_groups::tiled_partition<16>(block), items);
#endif
}
