// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: the element type must not be const or volatile

#include <tiletranspose/transpose.cuh>

#ifdef MUST_FAIL
using element = volatile float;
#else
using element = float;
#endif

cudaError_t call(element* out, const element* in) { return tt::transpose(out, in, 3, 4); }
