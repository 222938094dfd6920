// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: BankWidth must be 4 or 8 bytes

#include <tiletranspose/transpose.cuh>

#ifdef MUST_FAIL
constexpr int bank_width = 16;
#else
constexpr int bank_width = 8;
#endif

cudaError_t call(double* out, const double* in) {
  return tt::transpose<double, 32, 8, 1, bank_width>(out, in, 32, 32);
}
