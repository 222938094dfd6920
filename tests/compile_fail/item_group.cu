// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: items in registers need a group of TileDim * BlockRows threads

#include <tiletranspose/block_transpose.cuh>

#ifdef MUST_FAIL
constexpr int threads = 128;
#else
constexpr int threads = 256;
#endif

using block_transpose = tt::block_transpose<float, 32, 8>;

__device__ void call(const block_transpose& transposer, float (&items)[4]) {
  transposer.read(tt::static_block<threads>{}, items);
}
