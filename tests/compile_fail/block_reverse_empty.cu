// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a block_reverse holds 1 element to 48 KB of them

#include <tiletranspose/block_reverse.cuh>

#ifdef MUST_FAIL
constexpr int size = 0;
#else
constexpr int size = 1;
#endif

int call() { return static_cast<int>(sizeof(tt::block_reverse<float, size>)); }
