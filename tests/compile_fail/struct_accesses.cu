// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a thread's structures may take 64 accesses as wide as their type allows; move fewer at a time, or align the type

#include <tiletranspose/struct_io.cuh>

struct triple {
  float x, y, z;
};

#ifdef MUST_FAIL
constexpr int count = 22;  // 66 words
#else
constexpr int count = 21;
#endif

__device__ void call(triple (&items)[count], const triple* structs) {
  tt::load_structs(tt::static_warp{}, items, structs, 32 * count);
}
