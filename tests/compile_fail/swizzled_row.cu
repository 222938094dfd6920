// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a swizzled row must hold a power of two of vectors; pad the tile instead

#include <tiletranspose/layout.cuh>

#ifdef MUST_FAIL
constexpr int cols = 24;
#else
constexpr int cols = 32;
#endif

static_assert(tt::swizzled_layout<float, 32, cols>{}(0, 3) == 3);
