// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: a block_reverse holds 1 element to 48 KB of them; for more hand over dynamic shared memory with tt::block_reverse<T, tt::dynamic_size>

#include <tiletranspose/block_reverse.cuh>

#ifdef MUST_FAIL
constexpr int size = 12289;
#else
constexpr int size = 12288;
#endif

__global__ void kernel(float* out, const float* in) {
  using block_reverse = tt::block_reverse<float, size>;
  __shared__ typename block_reverse::storage storage;
  const tt::static_block<256> block;
  const block_reverse reverser(storage);
  reverser.load(block, in);
  block.sync();
  reverser.store(block, out);
}
