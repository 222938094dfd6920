// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The tuning rows of the mover in detail/inplace: tiles of squares, bands and segments of rectangles. Plain C++17.
///
/// Figures are percent of cudaMemcpyAsync's speed on one NVIDIA H200 (132 multiprocessors), CUDA 13.0, 2026-11-21 and
/// 2026-11-22, where nothing else is said.

#pragma once

#include <tiletranspose/detail/core/grid.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Squares of so many tiles a side take their pairs in patches of 4 x 4 tiles: 16381 x 16381 floats 67, 61 tile by tile.
inline constexpr size_type least_patched_tiles = 8;

/// Tiles of squares that are moved by whole accesses: floats 94.5, with half and twice the side 86, 93. Large tiles of elements
/// of 1 or 2 bytes, of which a multiprocessor holds one pair, or three, have rows of 256 bytes.
constexpr int swap_side(int element_bytes, bool is_large) {
  return is_large ? 256 / element_bytes : element_bytes <= 1 ? 128 : element_bytes <= 4 ? 64 : 32;
}
constexpr int swap_load_bytes(int element_bytes, bool is_large) {
  return element_bytes <= 2 && !is_large ? 8 : 16;
}
inline constexpr int swap_threads = 128;

/// Large tiles of whole accesses are for squares of so many of them a side: bytes, 8192 90, 87; 12288 89, 89; 16384 87, 92.
inline constexpr size_type large_whole_tiles = 48;

/// Larger elements in large squares whose rows do not start on lines take the longer rows of plain bytes: floats 74, 82.
inline constexpr int widest_unaligned_whole_element = 2;

/// Tiles of plain bytes that take half of a multiprocessor are for so many of them a side: floats, 4099 79, 76; 8191 74, 81.
inline constexpr size_type large_tiles = 32;

/// Squares that are moved in tiles of plain bytes: whose rows start anywhere; small ones; whose rows start at 16 bytes.
enum class byte_tiles { any, little, aligned };

/// Tiles of plain bytes for elements of one size, and of larger ones up to the next row.
struct byte_tile_row {
  byte_tiles tiles;
  int element_bytes;
  int side;              ///< at most
  int lanes;             ///< that take a row, at most
  int round_rows;        ///< rows that a tile's threads load at a time
  int resident_threads;  ///< of a multiprocessor; as many as leave each the registers for its loads
};

/// Where rows start anywhere, both ends of a row share a sector with another tile, so that long rows count, and so do
/// enough blocks to read while others write. Aligned rows of a tile are whole lines where there is room. Figures of small
/// squares are us with large and small tiles; those of aligned ones begin with what tiles for any square reach.
inline constexpr byte_tile_row byte_tile_tuning[] = {
    {byte_tiles::any, 1, 160, 32, 16, 768},     // 32749 rows 65.5; 112 rows a tile 60, 240 rows 64
    {byte_tiles::any, 2, 120, 32, 16, 1024},    // 23143 rows 74
    {byte_tiles::any, 3, 80, 32, 16, 1536},     // 16381 rows 74; 128 and 165 rows a tile 71
    {byte_tiles::any, 4, 124, 32, 16, 1024},    // 16381 rows 80; 60 rows a tile 75
    {byte_tiles::any, 5, 64, 32, 8, 1024},      // of 12 bytes 84, 32 rows a tile 80
    {byte_tiles::any, 13, 48, 48, 4, 768},      //
    {byte_tiles::any, 17, 32, 64, 4, 1024},     // 6144 rows of 20 and 24 bytes 89, 91
    {byte_tiles::any, 20, 32, 64, 4, 512},      // with the registers of 1024 threads they spill
    {byte_tiles::any, 21, 32, 64, 4, 1024},     //
    {byte_tiles::any, 49, 16, 64, 2, 1024},     //
    {byte_tiles::little, 1, 96, 16, 16, 1024},  //
    {byte_tiles::little, 2, 48, 16, 16, 1024},  // 1001 rows of 3 bytes 9.8, 7.1
    {byte_tiles::little, 4, 48, 16, 8, 1024},   //
    {byte_tiles::little, 5, 32, 16, 8, 1024},   // 601 rows of 12 bytes 8.0, 5.9
    {byte_tiles::little, 17, 16, 32, 4, 1024},  // of 31 bytes 16.1, 12.1
    {byte_tiles::aligned, 3, 128, 64, 8, 896},  // 84, 89; 64 rows a tile 88
    {byte_tiles::aligned, 4, 64, 64, 8, 896},   //
    {byte_tiles::aligned, 11, 32, 64, 4, 896},  // 83, 88
    {byte_tiles::aligned, 12, 64, 64, 8, 896},  // 86, 94; 32 rows a tile 90
    {byte_tiles::aligned, 13, 32, 64, 4, 896},  //
    {byte_tiles::aligned, 33, 16, 64, 4, 896},  // 40 bytes 88, 92
    {byte_tiles::aligned, 41, 16, 64, 2, 896},  // 48 bytes 89, 95; 63 77, 90
};

/// True where aligned tiles pay, of elements that are no access: not those of 32 to 39 bytes, nor of 64.
template <int ElementBytes, int Access>
inline constexpr bool has_aligned_byte_tiles =
    ElementBytes != access_width(ElementBytes) && Access == access_width(ElementBytes) &&
    (ElementBytes < 32 || ElementBytes >= 40) && ElementBytes != 64;

/// The last such row whose elements are no larger.
constexpr byte_tile_row byte_tile_row_of(byte_tiles tiles, int element_bytes) {
  byte_tile_row found{};
  for (const byte_tile_row& row : byte_tile_tuning) {
    if (row.tiles == tiles && row.element_bytes <= element_bytes) { found = row; }
  }
  return found;
}

/// Rows of threads for a tile of a small square with so many accesses in a row. Bytes in tiles of 32 x 32, with 4 and 2 rows,
/// times as long as a copy: 0.6 MB 1.44, 1.46, 0.8 1.76, 1.55, 1 1.89, 1.69, 1.5 1.61, 1.64, 2.5 1.82, 1.66 (2026-11-28).
constexpr int little_square_rows(int lanes, int element_bytes) {
  return lanes > 256 ? 1 : lanes > 128 || (lanes == 32 && element_bytes == 1) ? 2 : 4;
}

/// Bytes that the L2 cache fetches round a load: neighbours load what is left of the lines at a tile's borders soon. 128 are
/// worth 0.3 to 1.2 points, 256 of aligned squares 0.5 more, but of rows that are multiples of 256.
constexpr int byte_tile_fetched_bytes(byte_tiles tiles, int row_bytes) {
  return tiles == byte_tiles::aligned && row_bytes % 256 != 0 ? 256 : 128;
}

/// Loads of a thread that are under way at once, at most: fewer than it has where registers are short, on architectures
/// from 10.0 on of floats, and of aligned elements of 3 bytes by nvcc 12, which takes a register or two more than 13 for some
/// kernels that just fit: seen with 12.4, where they spilled.
constexpr int byte_tile_loads([[maybe_unused]] byte_tiles tiles,
                              [[maybe_unused]] int element_bytes) {
#if TILETRANSPOSE_ON_DEVICE && __CUDA_ARCH__ >= 1000
  if (tiles == byte_tiles::any && element_bytes == 4) { return 4; }
#endif
#if TILETRANSPOSE_ON_DEVICE && defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 13
  if (tiles == byte_tiles::aligned && element_bytes == 3) { return 8; }
#endif
  return 64;
}

/// Bytes of a band's rows in scratch memory, which is the least that a caller must have for each row: 64 10.6, 128 14.8.
inline constexpr size_type band_bytes = 128;

/// Scratch memory that stays in the L2 cache beside what passes through it. With 12, 24 and 48 MB: 17.4, 18.7, 19.6.
inline constexpr size_type cached_scratch_bytes = 24 * 1024 * 1024;

/// Shared memory of a block that takes a tile out of scratch memory. With 12, 24 and 48 KB: 13.7, 14.8, 14.8.
inline constexpr size_type scratch_tile_bytes = 24 * 1024;

/// Bytes of a band's rows in shared memory, at most: 64, 128, 256 and 512, 16381 x 16411 floats, columns only: 25, 45, 55, 52.
inline constexpr size_type widest_band_bytes = 256;

/// Wider bands pay where so many of them are under way at once.
inline constexpr size_type many_bands = 6;

/// Tenths of the memory for a tile that it uses where there is room for several bands; the others cache what two share: 55, 50.
inline constexpr size_type used_tile_tenths = 8;

/// Threads that permute columns. 256, 512 and 1024: 16411 x 16381 floats 33.5, 34.5, 30.2; 131072 x 2048 35.9, 35.3, 30.4.
inline constexpr int column_threads = 512;
/// Blocks of them that share a multiprocessor's memory: one waits while the other moves. 1, 2 and 4: floats 33.0, 34.5, 30.5.
inline constexpr int column_blocks = 2;

/// Threads that permute the elements of a row, at most.
inline constexpr int shuffle_threads = 512;

/// Threads that transpose slabs, and blocks of them for a multiprocessor: with 2 and 3 bytes 31.1, 28.6; 3 bytes 24.2, 27.8.
inline constexpr int slab_threads = 512;
constexpr int slab_blocks(int element_bytes) { return element_bytes == 1 ? 2 : 3; }

/// Bytes of a segment of a column, at least. 64 and 128: 20000 x 50000 bytes 31.0, 28.7.
inline constexpr size_type shortest_segment_bytes = 64;
/// At most, where a block holds a slab, and where several do: there segments are as long as tiles of wide_tile_bytes allow.
inline constexpr size_type longest_segment_bytes = 512;
inline constexpr size_type longest_shared_segment_bytes = 256;
inline constexpr size_type wide_tile_bytes = 800;
/// Shared memory of all tiles of a multiprocessor, at most.
inline constexpr size_type most_tiles_bytes = 192 * 1024;
/// Bytes of a band of segments, at most, where many_bands of them fit all blocks at once. 256 and 512: bytes 28.1, 31.0.
inline constexpr size_type widest_segment_band_bytes = 512;

/// Bytes of a band that are wide enough to be preferred to segments where one side is a multiple of the other: bytes 40, 26.
inline constexpr size_type least_square_band_bytes = 128;

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
