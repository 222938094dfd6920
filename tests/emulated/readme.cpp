// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The program that the documents show for testing one's own kernel; documents.code asks that every line of it stands
// here.

#include <tiletranspose/emulator.cuh>
#include <tiletranspose/tile_io.cuh>

#include <cstddef>
#include <cstdio>

// The part of your kernel to be tested: what its __global__ function calls, with its own shared memory.
using tile = tt::shared_tile<float, tt::padded_layout<float, 32, 32, 0>>;  // no padding

TILETRANSPOSE_HOST_DEVICE void transpose_block(tile::storage& storage, tt::matrix_view<float> out,
                                               tt::matrix_view<const float> in, std::size_t row,
                                               std::size_t col) {
  const tt::static_block<256> block;
  tt::load_tile(block, tile(storage), in, row, col);
  block.sync();
  tt::store_tile_transposed(block, out, col, row, tile(storage));
}

int main() {
  tt::emulated_buffer<float> in(64 * 64), out(64 * 64);
  const tt::emulation_report report = tt::emulate(
      tt::emulated_dim(2, 2), 256, sizeof(tile::storage),  // grid, block, shared memory
      [](tt::emulated_block b, tt::matrix_view<float> to, tt::matrix_view<const float> from) {
        transpose_block(b.shared_as<tile::storage>(), to, from, b.index().y * 32, b.index().x * 32);
      },
      tt::matrix_view<float>{out.data(), 64, 64, 64},
      tt::matrix_view<const float>{in.data(), 64, 64, 64});
  std::printf("%s", report.table().c_str());
  return report.clean() && report.worst_ways() == 1 ? 0 : 1;
}
