// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: Padding must not be negative; 0 packs the rows of a tile

#include <tiletranspose/layout.cuh>

#ifdef MUST_FAIL
constexpr int padding = -1;
#else
constexpr int padding = 0;
#endif

static_assert(tt::padded_layout<float, 32, 32, padding>{}(0, 3) == 3);
