// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <tiletranspose/banks.cuh>

static_assert(tt::default_padding<float, 32>() == 1);

int main() {}
