// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a smem_layout has at most 8 parts; make one of them a struct

#include <tiletranspose/smem.cuh>

using part = tt::smem_array<int>;

#ifdef MUST_FAIL
using smem_type = tt::smem_layout<part, part, part, part, part, part, part, part, part>;
#else
using smem_type = tt::smem_layout<part, part, part, part, part, part, part, part>;
#endif
static_assert(smem_type::alignment == 4);
