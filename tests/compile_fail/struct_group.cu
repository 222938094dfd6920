// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: structures are moved by whole warps; take a group of 32 threads or a multiple

#include <tiletranspose/struct_io.cuh>

#ifdef MUST_FAIL
using group = tt::static_lanes<8>;
#else
using group = tt::static_warp;
#endif

__device__ void call(float3& item, const float3* structs) {
  tt::load_structs(group{}, item, structs, 32);
}
