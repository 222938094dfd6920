// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What is tuned of moves of arrays of many axes, a row for each number. Plain C++17.
///
/// Figures are of floats unless the row says otherwise; extents are those of the input, and the output has them in reverse
/// order where nothing else is said.

#pragma once

#include <tiletranspose/detail/choose/tuning.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Sides of tiles up to this are too short: elements are then moved one by one. Tiles, elements: 9 x 3003000 x 9 43, 56;
/// 16 x 1001000 x 16 70, 84; 24 x 360600 x 24 86, 73 (H200, 2026-11-23).
inline constexpr size_type short_axis = 16;

/// So are runs of so many elements of one side that the other side's fastest axis does not interrupt: a block of
/// elements touches whole lines of both anyway. Tiles, elements: pixel shuffles by 2 41, 100, by 4 75, 99, by 8 89, 97,
/// unshuffles by 2 62, 98, by 4 79, 87; with 16: by 16 94, 92, unshuffle by 16 94, 45, shuffle by 12 81, 91 (H200,
/// 2026-11-23).
inline constexpr size_type short_run = 8;

/// Matrices of a batch whose rows have fewer bytes, and between whose rows those of others lie, are no transposes. As
/// transposes, otherwise: 3 x 30000000 x 3 0.3, 57; 32 x 250500 x 32 56, 88; 40 x 90300 x 40 71, 78; 64 x 40200 x 64 93,
/// 86 (H200, 2026-11-23).
inline constexpr size_type least_apart_row_bytes = 192;

/// The axis along which the input's elements lie closest together is counted next to the output's fastest one, if it is
/// no longer than this. Along the output alone, and so: 15 15 32 15 32 16 as 4 1 0 3 2 5 74, 94; 15 15 103 15 10 16
/// likewise 79, 93; patches of 16 x 16 pixels of 3 halves 88, 95 (H200, 2026-11-23).
inline constexpr size_type most_near_extent = 64;

/// And up to this before the output's fastest one, where that is longer than the row above says. Behind it, before it: 2
/// x 50000000 x 2 68, 99; 4 x 40000000 x 4 halves 41, 90 (H200, 2026-11-23).
inline constexpr size_type most_first_extent = 16;

/// Of so many elements that are moved one by one, threads take one each; of more, four. Four, one: n x 9 x 21 as 1 0 2,
/// floats of 64 KB 50, 75, 512 KB 50, 64, 1 MB 54, 64, 4 MB 64, 64; bytes of 256 KB 55, 63, 512 KB 39, 40; 12 bytes of
/// 512 KB 50, 63, 4 MB 65, 52 (H200, 2026-11-25).
inline constexpr size_type most_single_round = 256 << 10;

/// Bytes of a panel in shared memory, and those that its tables may take beside it. 16 KB, 24, 32: 3 x 30000000 x 3 87,
/// 94, 89; 7 x 6000000 x 7 92, 93, 93; 2 x 50000000 x 2 86, 90, 88; 16 x 1001000 x 16 bytes 36, 37, 38 (H200,
/// 2026-11-24).
inline constexpr size_type panel_axes_bytes = 24 * 1024;
/// Alone, with all blocks of a multiprocessor (H200, 2026-11-24).
inline constexpr size_type panel_table_bytes = 12 * 1024;

/// Panels whose segments would have fewer bytes are larger, as far as every block may have the shared memory. Alone,
/// with the size below (H200, 2026-11-25).
inline constexpr size_type short_segment_bytes = 1024;
/// 24 KB, 44: floats, 50 columns 71, 86, 100 rows 69, 89, batches of 90 x 110 59, 91; 12 bytes, batches of 50 x 50 65,
/// 87; 50 columns of bytes 73, 78 (H200, 2026-11-25).
inline constexpr size_type large_panel_axes_bytes = 44 * 1024;

/// Segments of fewer bytes are copied to panels by words or elements, since gaps would take too much of shared memory.
/// Not compared (H200, 2026-11-25).
inline constexpr size_type least_wide_segment_bytes = 64;

/// From so many bytes on, segments lie in a panel as in the lines of memory. Asynchronous copies of 16 bytes, TB/s:
/// shared and global address equal modulo 128 4.2, else 3.3 to 3.8; of 8 bytes 4.2 to 4.3 wherever they start (H200,
/// 2026-11-25).
inline constexpr size_type least_line_segment_bytes = 512;

/// Longer segments of the output begin and end inside of sectors. Without, with: floats, 3 columns 98, 100, 5 94, 100,
/// 17 93, 98, 31 87, 97, 47 81, 96; bytes, 17 90, 100, 31 88, 96, 130 64, 91; 5 rows of bytes 80, 72 (H200, 2026-11-25).
inline constexpr size_type most_skewed_segment_bytes = 8 * 1024;

/// Panels that are less than so many times as long as their skew are not skewed. 8, 3, % of a copy of as odd a size:
/// bytes, 2294 x 104351 37, 68, 17 x 22981 x 814 as 1 2 0 39, 60; halves, 570 x 40 x 28 x 163 as 0 2 1 3 38, 49; 4, 3:
/// 301 x 97 x 55 x 201 bytes 32, 43 (H200, 2026-11-26).
inline constexpr size_type least_parts_of_skew = 3;
/// Where an axis has fewer panels they become larger by their skew, rather than one more. Not compared (H200,
/// 2026-11-25).
inline constexpr size_type few_panels = 8;

/// Cycles of a warp's load of bytes or halves that this is worth; other accesses read sectors twice. Rows multiples of
/// 128 bytes apart, lines, none: bytes, 6 rows 79, 95, 9 73, 91, 24 78, 91; halves, 6 91, 94, 9 84, 92, 60 81, 88;
/// floats, 20 91, 93, 33 96, 92 (H200, 2026-11-25).
inline constexpr size_type cycles_of_lines = 1;

/// Panels that a problem is cut into at least, as long as each has work for its threads: two for a multiprocessor.
/// Matrices behind pointers are not cut for it, and of a batch those of parts of words. 132 and 33 panels instead: up to
/// 4 MB 0.92 to 1.2 and 0.8 to 1.3 times as fast; us, 222 matrices of 134 x 134 bytes behind pointers cut in two 13.3,
/// whole 4.2 (H200, 2026-11-26).
inline constexpr size_type least_panels = 264;

/// Fewer bytes are not moved in panels: their tables take longer than the work. 735 arrays of 0.5 to 8 MB in panels,
/// too: 0.88 to 1.04 (H200, 2026-11-26).
inline constexpr size_type least_panel_bytes = 8 << 20;

/// Segments of panels begin and end inside of sectors. Panels are faster than tiles as long as that makes up no more
/// than so many percent of the elements' bytes, of elements that tiles move by accesses of so many bytes. Figures here and
/// below: tiles, panels, % of a copy of as odd a size (H200, 2026-11-26).
constexpr size_type most_ragged_of(size_type element_bytes, size_type access_bytes) {
  // 3359 x 2685 x 10 with 14 percent 52, 67; 29 x 65485 x 40 with 17 percent 57, 75; 18 x 24 x 68 x 84 x 39 with 19
  // percent 51, 38.
  if (element_bytes == 3) { return 18; }
  // 17 x 22981 x 814 as 1 2 0 39, 59; 8 x 7047 x 4661 as 2 1 0 38, 71; 39 x 189 x 9 x 14 x 297 with 34 percent 35, 38;
  // 1856 x 1616 x 11 x 10 with 49 percent 38, 26.
  if (access_bytes == 1) { return 40; }
  // 7 x 198 x 73130 with 18 percent 54, 78; 20 x 6 x 2752 x 76 x 5 with 1 percent 41, 51; with 25 percent 65, 52.
  if (access_bytes == 2) { return 23; }
  // 29 x 57 x 61 x 623 with 11 percent 58, 82; 58 x 182 x 65 x 78 with 6 percent 62, 94; with 17 to 19 percent 65, 80,
  // but 97, 91 and 92, 83.
  if (element_bytes == 4) { return 14; }
  // 22 x 45756 x 6 x 7 with 5 percent 73, 101; 11 x 79 x 8 x 94 x 55 with 4 percent 74, 97; with 12 percent 94, 84.
  if (element_bytes == 8) { return 5; }
  // 29 x 34 x 13 x 10 x 133 with 4 percent 99, 102; with 8 percent 83, 89 and 104, 99.
  if (element_bytes == 16) { return 4; }
  // 12 bytes: 122 x 7 x 143 x 155 with 6 percent 66, 87; 24 x 129 x 93 x 62 with 11 percent 76, 84; 21 x 21 x 10 x 9 x
  // 11 x 41 with 13 percent 76, 60.
  return 12;
}
/// Of fewer bytes, which stay in the L2 cache, but of single bytes, the percentage is divided by this. In a graph:
/// floats with 1 to 22 percent, 8 to 22 MB, tiles 1.15 times as fast; halves with 18 to 23 percent, 8 to 22 MB 84, 48
/// and 80, 66, of 200 MB 83, 101 (H200, 2026-11-26).
inline constexpr size_type least_uncached_bytes = 32 << 20;
/// Alone, with the size above (H200, 2026-11-26).
inline constexpr size_type parts_of_cached_percent = 3;
/// For elements one by one, or as many as an access of less than 16 bytes has. 14 x 35 x 16 x 2604 elements of 12 bytes
/// as 1 3 0 2 23, 91; rows of 1377 halves as 0 3 2 1 4 31, 86; of 123 bytes as 2 0 3 1 4 16, 87; of 31 floats 49, 95
/// (H200, 2026-11-26).
inline constexpr size_type most_ragged_elements = 25;
/// For micro-blocks of elements of at most 3 bytes. 424 x 401 x 12 x 124 bytes as 1 0 3 2 52, 91; 320 x 96 x 75 x 96
/// bytes with 37 percent 84, 58 (H200, 2026-11-26).
inline constexpr size_type most_ragged_in_micro_blocks = 8;

/// Word-shifted tiles of elements of 1 to 3 bytes are faster than panels and other tiles where so many percent of what
/// they have room for and load is elements. Panels, these, by what is filled: bytes, mean of 390 arrays, 55 to 65 percent
/// 1.02, 65 to 75 1.49, 75 to 85 1.71, element tiles 2.1 to 2.4; halves, mean of 279 arrays, 55 to 65 percent 0.79, 75 to
/// 85 1.13, element tiles 1.0, 1.23; 3 bytes, 65 percent and more 1.27, element tiles 1.45. 97 x 75 x 97 x 321 bytes 49,
/// 124, halves 62, 115 (H200, 2026-11-26).
constexpr size_type least_shifted_filled_of(size_type element_bytes) {
  return element_bytes == 1 ? 60 : 65;
}
/// Panels are faster than these as long as the ends of their segments make up less than so many percent. Mean of panels
/// of halves: 5 to 8 percent 102, 12 to 16 86, 25 to 30 78; of bytes 98, 77, 65 (H200, 2026-11-26).
inline constexpr size_type least_ragged_beside_shifted = 10;
/// So many bytes of elements of 1 or 3 go in these instead of micro-blocks whose rows are no multiples of 16.
/// Micro-blocks, these: 264 x 87300 x 12 66, 86; 33060 x 60 x 104 78, 115; 576 x 736 x 12 x 53 92, 81; mean of 20 arrays
/// 1.17; of 24 MB 118, 68; of 8 arrays of 3 bytes 1.20 (H200, 2026-11-26).
inline constexpr size_type least_shifted_blocks_bytes = 32 << 20;
/// Matrices whose rows have fewer bytes and lie between those of others go in these. As transposes, in these, reversed:
/// 235 x 572 x 204 bytes 32, 107; 641 x 643 x 647 64, 106; 2555 x 11 x 1203 78, 104; 4716 x 6 x 12210 115, 116; 79 x 1144
/// x 1087 of 3 bytes 48, 112, 724 x 178 x 610 101, 111; 181 x 217 x 181 halves 53, 103, 627 x 986 x 121 59, 104, 640 x 480
/// x 333 79, 71 (H200, 2026-11-26).
constexpr size_type most_apart_shifted_of(size_type element_bytes) {
  return element_bytes == 2 ? 400 : 2048;
}
/// As long as they are so many bytes, since the mover for little work takes fewer. 3 bytes, little work, these: 278 x 33
/// x 360 77, 63; 110 x 70 x 466 76, 68; 212 x 18 x 916 78, 75; bytes, 334 x 45 x 620 67, 81 (H200, 2026-11-26).
inline constexpr size_type least_apart_shifted_bytes = 12 << 20;

/// Rows of up to so many bytes that stay rows go in panels but where accesses of 16 bytes move them, longer ones where
/// accesses are of less than 8. Rows that change places and are so short are never moved by the mover for rows. Accesses
/// of 8 bytes, panels: rows of 30 floats 74, 96, of 46 101, 96; of 104 bytes 97, 88; 1000 x 300 x 30 x 3 doubles as 2 1
/// 0 3 33, 79; of 16, 16 elements of 3 bytes 40, 65, 32 bytes 95, 60; as rows, otherwise: n x n rows of 3 bytes 2, 36
/// (H200, 2026-11-26).
inline constexpr size_type most_short_row_bytes = 64;

/// Nor are rows of up to so many bytes that are whole words, or go in panels. As rows, otherwise, n x n rows of 150 MB:
/// 12 bytes 6, 82; 64 bytes 36, 84; 65 bytes 27, 76; 200 bytes 57, 92; 512 bytes 91, 100; 1000 bytes 82, 97; 1275 bytes
/// 81, 92; 3001 bytes 89, 85 (H200, 2026-11-26).
inline constexpr size_type most_placed_row_bytes = 1792;

/// From how many bytes on tiles are taken, and which, by the element's size; others take the row of the next smaller size.
/// A user's rows stand in TILETRANSPOSE_MICRO_TUNING. Measured on an H200, 2026-11-25 and 2026-11-26.
struct micro_limits {
  int element_bytes;
  /// Fewer bytes are not moved in micro-blocks, whose tiles are large. Elements, micro-blocks: n x 12 x 64 reversed, of
  /// 192 KB bytes 56, 59, halves 58, 59; of 384 KB 54, 61 and 58, 61; of 12 MB bytes 25, 78; n x 24 x 28 x 48 floats
  /// reversed, of 2.5 MB 64, 62; of 4 MB 69, 70; of 16 MB 73, 85.
  size_type least;
  /// Fewer go in tiles of 64 x 64 instead of 128 x 128; 0: all. 64, 128: n x 12 x 64 reversed, bytes of 1.5 MB 63, 61; of
  /// 3 MB 64, 65; of 12 MB 70, 78; halves of 8 MB 78, 70; of 24 MB 99, 95; TTC's cases 90, 92.
  size_type least_wide;
  /// Fewer do not go in tiles, but one by one. Tiles, one by one, in a graph: bytes, 4 to 16 KB 54, 62, to 64 KB 66, 74,
  /// to 256 KB 56, 50; floats, 64 to 256 KB 56, 60, to 1 MB 58, 51; doubles, 4 to 256 KB 45, 64, to 1 MB 50, 61, to 2 MB
  /// 68, 66; 12 and 16 bytes, 64 to 256 KB 60, 65, 1 to 2 MB 68, 61.
  size_type least_tiled = 0;
};
inline constexpr micro_limits micro_tuning[] = {
#if defined(TILETRANSPOSE_MICRO_TUNING)
    TILETRANSPOSE_MICRO_TUNING
#else
    {1, 256 << 10, 4 << 20, 64 << 10}, {2, 256 << 10, 32 << 20, 64 << 10},
    {3, 4 << 20, 0, 64 << 10},         {4, 4 << 20, 0, 256 << 10},
    {8, 4 << 20, 0, 1 << 20},          {9, 4 << 20, 0, 512 << 10},
#endif
};
constexpr const micro_limits& micro_limits_of(size_type element_bytes) {
  const micro_limits* found = micro_tuning;
  for (const micro_limits& row : micro_tuning) {
    if (static_cast<size_type>(row.element_bytes) <= element_bytes) { found = &row; }
  }
  return *found;
}

/// Matrices whose rows have up to so many bytes and lie between those of others are moved in micro-blocks where they can
/// be and are so many bytes, but those of single bytes. As transposes, in micro-blocks, s x n x s reversed: 64 of 3
/// bytes 33, 81; 256 of 3 bytes 60, 81; 100 halves 51, 71; 160 halves 70, 88; 100 floats 58, 75; 400 bytes 77, 60 (H200,
/// 2026-11-25).
inline constexpr size_type most_apart_row_bytes = 1024;
/// As transposes, in micro-blocks: n x 12 x 64 floats reversed, of 6 MB 85, 73; of 12 MB 82, 76; of 48 MB 94, 94 (H200,
/// 2026-11-25).
inline constexpr size_type least_apart_bytes = 32 << 20;

/// Those of halves and of 3 bytes whose rows have fewer go in panels, as far as tiles of theirs do. As transposes, in
/// panels, % of a copy of as odd a size, reversed: 242 x 64 x 8176 halves 42, 52; 305 x 1293 x 309 62, 69; 776 x 457 x
/// 213 of 3 bytes 50, 64; 540 x 770 x 229 52, 68; 724 x 178 x 610 with rows of 1830 bytes 70, 62 (H200, 2026-11-26).
inline constexpr size_type most_apart_panel_row_bytes = 1024;

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
