// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a group of lanes has 2, 4, 8, 16 or 32 of them

#include <tiletranspose/warp_transpose.cuh>

#ifdef MUST_FAIL
constexpr int lanes = 24;
#else
constexpr int lanes = 16;
#endif

__device__ unsigned call() { return tt::static_lanes<lanes>::thread_rank(); }
