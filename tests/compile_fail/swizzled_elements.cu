// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a tile needs at least one row and one column

#include <tiletranspose/layout.cuh>

#ifdef MUST_FAIL
constexpr int rows = 0;
#else
constexpr int rows = 1;
#endif

static_assert(tt::swizzled_layout<float, rows, 32>{}(0, 3) == 3);
