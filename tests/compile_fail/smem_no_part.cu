// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a smem_layout needs at least one part

#include <tiletranspose/smem.cuh>

#ifdef MUST_FAIL
using smem_type = tt::smem_layout<>;
#else
using smem_type = tt::smem_layout<tt::smem_array<char>>;
#endif
static_assert(smem_type::alignment == 1);
