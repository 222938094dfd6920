// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: the elements of a matrix that is changed must not be const

#include <tiletranspose/reverse.cuh>

#ifdef MUST_FAIL
using element = const float;
#else
using element = float;
#endif

cudaError_t call(element* data) { return tt::reverse_inplace(data, 7); }
