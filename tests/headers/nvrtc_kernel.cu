// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A kernel that another project's run-time compilation might build from the device functions.

#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/group.cuh>

extern "C" __global__ void kernel(tt::matrix_view<float> out, tt::matrix_view<const float> in) {
  using block_transpose = tt::block_transpose<float, 32, 8>;
  __shared__ typename block_transpose::storage storage;
  const tt::static_block<block_transpose::threads> block;
  const block_transpose transposer(storage);
  transposer.load(block, in, blockIdx.y * 32, blockIdx.x * 32);
  block.sync();
  transposer.store(block, out, blockIdx.x * 32, blockIdx.y * 32);
}
