// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a matrix_view<const T> is read; take a matrix_view<T> to set elements

#include <tiletranspose/tile.cuh>

#ifdef MUST_FAIL
using element = const float;
#else
using element = float;
#endif

__global__ void kernel(tt::matrix_view<element> matrix) { matrix.set(0, 0, 1.0f); }
