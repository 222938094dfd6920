// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a warp_exchange takes 1 to 64 items a lane; move more in parts

#include <tiletranspose/warp_exchange.cuh>

#ifdef MUST_FAIL
constexpr int count = 65;
#else
constexpr int count = 64;
#endif

using warp_exchange = tt::warp_exchange<float, count>;

__device__ void call(warp_exchange::storage& storage, float (&items)[count]) {
  warp_exchange(storage).blocked_to_striped(tt::static_warp{}, items);
}
