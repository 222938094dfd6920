// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: the alignment of a part of shared memory must be a power of two, at least its

#include <tiletranspose/smem.cuh>

#ifdef MUST_FAIL
constexpr int alignment = 48;
#else
constexpr int alignment = 64;
#endif

constexpr tt::smem_layout smem{tt::smem_array<double>(3).aligned<alignment>()};
static_assert(smem.bytes() == 3 * sizeof(double) + 48);
