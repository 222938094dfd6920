// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What is tuned of plain transposes by tiles: one small, comparable struct and one constexpr function that chooses it
/// from the element and the alignment. One architecture was measured, 9.0; all of them take its tiles. Plain C++17.
///
/// Movers with other shapes keep their numbers in detail/choose, or beside what plans them.

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// How a block moves a tile. Rows and columns are elements of the input, accesses are bytes of a thread.
struct tile_policy {
  int tile_rows;
  int tile_cols;
  int threads;     ///< of a block
  int load_bytes;  ///< taken at a time from an input row: one access, or words of a group of elements
  int fill_bytes;     ///< put at a time into a row of the tile, likewise
  int store_bytes;    ///< per access to an output row
  int blocks_per_sm;  ///< the compiler keeps registers low enough for so many
  int strip_width;    ///< columns of tiles that are walked down side by side
  int fetched_bytes;  ///< that the L2 cache fetches where a load needs some of them; 0 for no more than these

  TILETRANSPOSE_HOST_DEVICE friend constexpr bool operator==(const tile_policy& a,
                                                             const tile_policy& b) {
    return a.tile_rows == b.tile_rows && a.tile_cols == b.tile_cols && a.threads == b.threads &&
           a.load_bytes == b.load_bytes && a.fill_bytes == b.fill_bytes &&
           a.store_bytes == b.store_bytes && a.blocks_per_sm == b.blocks_per_sm &&
           a.strip_width == b.strip_width && a.fetched_bytes == b.fetched_bytes;
  }
  TILETRANSPOSE_HOST_DEVICE friend constexpr bool operator!=(const tile_policy& a,
                                                             const tile_policy& b) {
    return !(a == b);
  }
};

/// What is known of the addresses a launch touches.
enum class tile_access {
  whole,  ///< pointers, strides and row lengths are multiples of 16 bytes, on both sides
  tall,   ///< as `any`, in a matrix of few columns and many rows
  any     ///< every address is a multiple of the elements' access, and no more
};

namespace detail {

/// The fewest elements that fill whole words: 4 of an odd size, 2 of another even one, 1 of whole words.
TILETRANSPOSE_HOST_DEVICE constexpr int word_elements(int element_bytes) {
  return element_bytes % 2 != 0 ? 4 : element_bytes % 4 != 0 ? 2 : 1;
}

/// True where elements are so large, and start so far inside of words, that groups of them would not fit registers: they are
/// moved in panels, however long both sides are, at 62 to 85 % of cudaMemcpyAsync's speed.
TILETRANSPOSE_HOST_DEVICE constexpr bool lacks_tile(int element_bytes, int access_bytes) {
  return access_bytes < 4 && element_bytes > (element_bytes % 2 == 0 ? 12 : 8);
}

/// Tiles for small ones: as many elements as fill whole words are a load, as many rows of them a micro-block. Figures:
/// H200, 2026-11-22, odd shapes, before and with these tiles.
TILETRANSPOSE_HOST_DEVICE constexpr tile_policy groups_policy(int element_bytes) {
  switch (element_bytes) {
    case 3:
      return {64, 128, 192, 12, 12, 16, 5, 1, 128};  // 87, 90 %; 16384 x 16384: 87, 92
    case 5:
      return {64, 64, 160, 20, 20, 16, 5, 1, 256};  // 82, 92
    case 6:
      return {64, 64, 192, 12, 12, 16, 5, 1, 256};  // 87, 93
    case 7:
      return {64, 64, 256, 28, 28, 16, 4, 1, 256};  // 85, 90
    case 10:
      return {32, 64, 192, 20, 20, 16, 5, 1, 256};  // 92, 94
    default:
      break;
  }
  const int group = word_elements(element_bytes);
  const int group_bytes = group * element_bytes;
  int rows = 8;
  while (rows * element_bytes % 128 != 0 || rows * element_bytes < 256) { rows *= 2; }
  // With the registers of four blocks 2 bytes at multiples of 1 spill (nvcc 13.0, 9.0).
  const int blocks = element_bytes == 2 ? 3 : 4;
  const int strip = element_bytes <= 4 ? 2 : 1;  // 8 bytes at multiples of 1: 90, 93 %; 4: 81, 84
  return {rows, 64, 256, group_bytes, group_bytes, 16, blocks, strip, 256};
}

/// Tiles for elements that are moved in parts of whole words: segments of whole sectors, and a
/// number of threads that takes whole rows of accesses, each of as many as fill all banks, or some more that are idle.
TILETRANSPOSE_HOST_DEVICE constexpr tile_policy parts_policy(int element_bytes, int access_bytes) {
  const int side = 16;
  const int group = 128 / access_bytes;
  const int row_threads = (side * element_bytes / access_bytes + group - 1) / group * group;
  const int threads = row_threads > 192 ? row_threads : 192 / row_threads * row_threads;
  // Accesses of 8 and 16 bytes: 64 bytes 83 % with 4 blocks, 95 with 7.
  return {
      side, side, threads, access_bytes, access_bytes, 16, access_bytes >= 8 ? 7 : 768 / threads,
      1,    256};
}

}  // namespace detail

/// The policy for elements of `element_bytes` whose addresses are multiples of `access_bytes` bytes, on a GPU of
/// compute capability `architecture` (90 for 9.0). Figures: share of cudaMemcpyAsync, NVIDIA H200, CUDA 13.0,
/// 2026-11-22, 16384 x 16384 elements (32768 x 32768 for 1 and 2 bytes) and, for `any`, odd sizes near them. Edges of
/// tiles in rows that start anywhere lie inside of lines: with what the L2 cache fetches round a load, the next column
/// of tiles finds the other part of these there. Odd shapes without, with 128 and with 256 bytes: 4 bytes 92.4, 92.9,
/// 93.1 %; 8: 93.2, 94.2, 94.9; 12: 92.3, 94.7, 95.4; 16: 93.7, 94.7, 95.7; 2: 88.9, 90.0, 89.7. Architectures that
/// were not measured take the same tiles: their blocks need at most 48 KB of shared memory and 512 threads, which all
/// of them have.
/// \pre `whole` only where has_whole_policy; `tall` where has_tall_policy, elsewhere it is `any`.
TILETRANSPOSE_HOST_DEVICE constexpr tile_policy tuned_policy(int architecture, int element_bytes,
                                                             int access_bytes, tile_access access) {
  (void)architecture;
  if (access_bytes < element_bytes) {
    // 12 bytes: 96 % at 9216 x 9216 and at 9215 x 9221.
    if (element_bytes == 12 && access_bytes == 4) { return {32, 32, 192, 4, 4, 16, 6, 1, 256}; }
    // 20 bytes: 96 % at odd sizes.
    if (element_bytes == 20 && access_bytes == 4) { return {32, 32, 160, 4, 4, 16, 4, 1, 256}; }
    if (access_bytes >= 4) { return detail::parts_policy(element_bytes, access_bytes); }
    // No kernel has this one; it suits tiles of the caller's.
    if (detail::lacks_tile(element_bytes, access_bytes)) {
      return {32, 16, 256, access_bytes, access_bytes, 16, 4, 1, 256};
    }
    return detail::groups_policy(element_bytes);
  }
  const bool whole = access == tile_access::whole;
  switch (element_bytes) {
    case 1:
      if (access == tile_access::tall) { return {256, 128, 288, 8, 8, 16, 4, 1, 128}; }
      return whole ? tile_policy{128, 256, 128, 16, 16, 16, 3, 1, 0}   // 95 %
                   : tile_policy{128, 256, 320, 8, 8, 16, 3, 1, 128};  // 88 %
    case 2:
      return whole ? tile_policy{128, 128, 512, 8, 16, 16, 3, 1, 0}     // 97 %
                   : tile_policy{128, 112, 256, 16, 2, 16, 3, 1, 128};  // 90 %
    case 4:
      if (access == tile_access::tall) { return {128, 60, 256, 16, 4, 16, 4, 1, 256}; }
      return whole ? tile_policy{64, 64, 256, 16, 16, 16, 4, 1, 0}    // 97 %
                   : tile_policy{64, 96, 256, 16, 4, 16, 3, 1, 256};  // 94 %
    case 8:
      if (access == tile_access::tall) { return {64, 32, 256, 8, 8, 8, 4, 1, 256}; }
      return whole ? tile_policy{64, 32, 256, 16, 16, 16, 4, 1, 0}  // 96 %
                   : tile_policy{32, 64, 256, 8, 8, 8, 4, 1, 256};  // 95 %
    default:
      return {32, 32, 256, 16, 16, 16, 4, 1, 256};  // 16 bytes: 96 %; 95 %
  }
}

/// Bytes of a row of the tiles of 16-byte accesses by which small matrices are moved that consist of whole ones.
inline constexpr int vector_tile_row_bytes = 128;

/// True where a separate kernel for whole accesses pays.
TILETRANSPOSE_HOST_DEVICE constexpr bool has_whole_policy(int element_bytes, int access_bytes) {
  return access_bytes == element_bytes && element_bytes <= 8;
}

/// True where matrices of few columns and many rows have tiles of their own, of longer segments of output rows, which
/// lose where output rows are short: H200, 2026-11-22, % of cudaMemcpyAsync in other tiles and in these, 65 rows of 8
/// bytes 89, 83, 999 rows of bytes 87, 81.
TILETRANSPOSE_HOST_DEVICE constexpr bool has_tall_policy(int element_bytes, int access_bytes) {
  return access_bytes == element_bytes &&
         (element_bytes == 1 || element_bytes == 4 || element_bytes == 8);
}

TILETRANSPOSE_NAMESPACE_END
