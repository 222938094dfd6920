// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: BankWidth must be 4 or 8 bytes

#include <tiletranspose/banks.cuh>

#ifdef MUST_FAIL
constexpr int bank_width = 16;
#else
constexpr int bank_width = 8;
#endif

static_assert(tt::default_padding<float, 32, 32, bank_width>() >= 0);
