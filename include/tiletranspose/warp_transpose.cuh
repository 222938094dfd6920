// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Transposes in registers, without shared memory: `thread_transpose` inside one thread.

#pragma once

#include <tiletranspose/detail/memory.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// Transposes a micro-block that one thread holds packed in 32-bit registers.
///
///     element r of out[c] == element c of in[r]
///
/// `in` has `Rows` rows of 4 * RowWords / ElementBytes elements; `out` has as many rows as `in` has
/// columns, of Rows * ElementBytes / 4 words. Element i of a row lies in its bytes
/// [i * ElementBytes, (i + 1) * ElementBytes), lowest first. Sub-word elements cost one byte permute per
/// word (2 bytes) or two (1 byte); whole words only change their names.
///
///     unsigned in[2][1] = {{0x00010000}, {0x00110010}};    // rows (0x0000 0x0001) (0x0010 0x0011)
///     unsigned out[2][1];
///     tt::thread_transpose<2>(in, out);                     // {{0x00100000}, {0x00110001}}
///
/// \tparam ElementBytes  1, 2, or a multiple of 4
/// Shared memory: none. Barriers: none.
template <int ElementBytes, int Rows, int RowWords, int Columns, int ColumnWords>
TILETRANSPOSE_FUNCTION void thread_transpose(const unsigned (&in)[Rows][RowWords],
                                             unsigned (&out)[Columns][ColumnWords]) {
  static_assert(ElementBytes == 1 || ElementBytes == 2 || ElementBytes % 4 == 0,
                "tt: a micro-block is made of elements of 1, 2 or a multiple of 4 bytes");
  static_assert(
      Columns * ElementBytes == 4 * RowWords && Rows * ElementBytes == 4 * ColumnWords,
      "tt: the transpose of a Rows x Columns micro-block has Columns rows of Rows elements");
  if constexpr (ElementBytes == 1) {
    TILETRANSPOSE_UNROLL
    for (int r = 0; r < Rows; r += 4) {
      TILETRANSPOSE_UNROLL
      for (int w = 0; w < RowWords; ++w) {
        const unsigned low01 = detail::pick_bytes(in[r][w], in[r + 1][w], 0x5140);
        const unsigned high01 = detail::pick_bytes(in[r][w], in[r + 1][w], 0x7362);
        const unsigned low23 = detail::pick_bytes(in[r + 2][w], in[r + 3][w], 0x5140);
        const unsigned high23 = detail::pick_bytes(in[r + 2][w], in[r + 3][w], 0x7362);
        out[4 * w][r / 4] = detail::pick_bytes(low01, low23, 0x5410);
        out[4 * w + 1][r / 4] = detail::pick_bytes(low01, low23, 0x7632);
        out[4 * w + 2][r / 4] = detail::pick_bytes(high01, high23, 0x5410);
        out[4 * w + 3][r / 4] = detail::pick_bytes(high01, high23, 0x7632);
      }
    }
  } else if constexpr (ElementBytes == 2) {
    TILETRANSPOSE_UNROLL
    for (int r = 0; r < Rows; r += 2) {
      TILETRANSPOSE_UNROLL
      for (int w = 0; w < RowWords; ++w) {
        out[2 * w][r / 2] = detail::pick_bytes(in[r][w], in[r + 1][w], 0x5410);
        out[2 * w + 1][r / 2] = detail::pick_bytes(in[r][w], in[r + 1][w], 0x7632);
      }
    }
  } else {
    constexpr int words = ElementBytes / 4;
    TILETRANSPOSE_UNROLL
    for (int r = 0; r < Rows; ++r) {
      TILETRANSPOSE_UNROLL
      for (int w = 0; w < RowWords; ++w) { out[w / words][r * words + w % words] = in[r][w]; }
    }
  }
}

TILETRANSPOSE_NAMESPACE_END
