// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a smem_layout has no part of that index

#include <tiletranspose/smem.cuh>

#ifdef MUST_FAIL
constexpr int asked = 2;
#else
constexpr int asked = 1;
#endif

constexpr tt::smem_layout smem{tt::smem_array<int, 3>(), tt::smem_array<double, 1>()};
static_assert(smem.part<asked>().length() == 1);
