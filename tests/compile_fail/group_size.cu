// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a block has 1 to 1024 threads

#include <tiletranspose/group.cuh>

#ifdef MUST_FAIL
constexpr int threads = 1025;
#else
constexpr int threads = 1024;
#endif

template struct tt::static_block<threads>;
