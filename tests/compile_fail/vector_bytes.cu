// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: VectorBytes must be a multiple of sizeof(T)

#include <tiletranspose/layout.cuh>

#ifdef MUST_FAIL
constexpr int vector_bytes = 6;
#else
constexpr int vector_bytes = 8;
#endif

static_assert(tt::swizzled_layout<float, 32, 32, vector_bytes>{}(0, 3) == 3);
