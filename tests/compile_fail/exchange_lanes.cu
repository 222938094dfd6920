// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a warp_exchange takes whole warps

#include <tiletranspose/warp_exchange.cuh>

using warp_exchange = tt::warp_exchange<float, 24>;

__device__ void call(warp_exchange::storage& storage, float (&items)[24]) {
  const warp_exchange exchanger(storage);
#ifdef MUST_FAIL
  exchanger.striped_to_blocked(tt::static_lanes<16>{}, items);
  exchanger.blocked_to_striped(tt::static_lanes<16>{}, items);
#else
  exchanger.striped_to_blocked(tt::static_lanes<32>{}, items);
  exchanger.blocked_to_striped(tt::static_lanes<32>{}, items);
#endif
}
