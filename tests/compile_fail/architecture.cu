// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: tiletranspose needs compute capability 7.5 or newer: compile for sm_75 or later

#if defined(MUST_FAIL) && defined(__CUDA_ARCH__)
#undef __CUDA_ARCH__
#define __CUDA_ARCH__ 700
#endif

#include <tiletranspose/transpose.cuh>
