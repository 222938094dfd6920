// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: async_wait can leave 0 to 8 groups of copies under way

#include <tiletranspose/tile_io_async.cuh>

#ifdef MUST_FAIL
constexpr int pending = 9;
#else
constexpr int pending = 8;
#endif

__global__ void kernel() { tt::async_wait<pending>(); }
