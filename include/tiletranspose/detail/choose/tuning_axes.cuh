// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What is tuned of moves of arrays of many axes, a row for each number. Plain C++17.
///
/// Figures: % of cudaMemcpyAsync, floats unless the row says otherwise; extents are those of the input, and the output has
/// them in reverse order where nothing else is said.

#pragma once

#include <tiletranspose/detail/choose/tuning.cuh>
#include <tiletranspose/detail/choose/tuning_row.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Sides of tiles up to this are too short: elements are then moved one by one.
inline constexpr tuning_row short_axis{16, h200, "2026-11-23",
                                       "tiles, elements: 9 x 3003000 x 9 43, 56; 16 x 1001000 x 16 "
                                       "70, 84; 24 x 360600 x 24 86, 73"};

/// So are runs of so many elements of one side that the other side's fastest axis does not interrupt: a block of elements
/// touches whole lines of both anyway.
inline constexpr tuning_row short_run{
    8, h200, "2026-11-23",
    "tiles, elements: pixel shuffles by 2 41, 100, by 4 75, 99, by 8 89, 97, unshuffles by 2 62, "
    "98, by 4 79, 87; with 16: by 16 94, 92, unshuffle by 16 94, 45, shuffle by 12 81, 91"};

/// Matrices of a batch whose rows have fewer bytes, and between whose rows those of others lie, are no transposes.
inline constexpr tuning_row least_apart_row_bytes{
    192, h200, "2026-11-23",
    "as transposes, otherwise: 3 x 30000000 x 3 0.3, 57; 32 x 250500 x 32 56, 88; 40 x 90300 x 40 "
    "71, 78; 64 x 40200 x 64 93, 86"};

/// The axis along which the input's elements lie closest together is counted next to the output's fastest one, if it is
/// no longer than this.
inline constexpr tuning_row most_near_extent{
    64, h200, "2026-11-23",
    "along the output alone, and so: 15 15 32 15 32 16 as 4 1 0 3 2 5 74, 94; 15 15 103 15 10 16 "
    "likewise 79, 93; patches of 16 x 16 pixels of 3 halves 88, 95"};

/// And up to this before the output's fastest one, where that is longer than the row above says.
inline constexpr tuning_row most_first_extent{16, h200, "2026-11-23",
                                              "behind it, before it: 2 x 50000000 x 2 68, 99; 4 x "
                                              "40000000 x 4 halves 41, 90"};

/// Of so many elements that are moved one by one, threads take one each; of more, four.
inline constexpr tuning_row most_single_round{
    256 << 10, h200, "2026-11-25",
    "four, one: n x 9 x 21 as 1 0 2, floats of 64 KB 50, 75, 512 KB 50, 64, 1 MB 54, 64, 4 MB 64, "
    "64; bytes of 256 KB 55, 63, 512 KB 39, 40; 12 bytes of 512 KB 50, 63, 4 MB 65, 52"};

/// Bytes of a panel in shared memory, and those that its tables may take beside it.
inline constexpr tuning_row panel_axes_bytes{
    24 * 1024, h200, "2026-11-24",
    "16 KB, 24, 32: 3 x 30000000 x 3 87, 94, 89; 7 x 6000000 x 7 92, 93, 93; 2 x 50000000 x 2 86, "
    "90, 88; 16 x 1001000 x 16 bytes 36, 37, 38"};
inline constexpr tuning_row panel_table_bytes{12 * 1024, h200, "2026-11-24",
                                              "alone, with all blocks of a multiprocessor"};

/// Panels whose segments would have fewer bytes are larger, as far as every block may have the shared memory.
inline constexpr tuning_row short_segment_bytes{1024, h200, "2026-11-25",
                                                "alone, with the size below"};
inline constexpr tuning_row large_panel_axes_bytes{
    44 * 1024, h200, "2026-11-25",
    "24 KB, 44: floats, 50 columns 71, 86, 100 rows 69, 89, batches of 90 x 110 59, 91; 12 bytes, "
    "batches of 50 x 50 65, 87; 50 columns of bytes 73, 78"};

/// Segments of fewer bytes are copied to panels by words or elements, since gaps would take too much of shared memory.
inline constexpr tuning_row least_wide_segment_bytes{64, h200, "2026-11-25", "not compared"};

/// From so many bytes on, segments lie in a panel as in the lines of memory.
inline constexpr tuning_row least_line_segment_bytes{
    512, h200, "2026-11-25",
    "asynchronous copies of 16 bytes, TB/s: shared and global address equal modulo 128 4.2, else "
    "3.3 "
    "to 3.8; of 8 bytes 4.2 to 4.3 wherever they start"};

/// Longer segments of the output begin and end inside of sectors.
inline constexpr tuning_row most_skewed_segment_bytes{
    8 * 1024, h200, "2026-11-25",
    "without, with: floats, 3 columns 98, 100, 5 94, 100, 17 93, 98, 31 87, 97, 47 81, 96; bytes, "
    "17 90, 100, 31 88, 96, 130 64, 91; 5 rows of bytes 80, 72"};

/// Panels that are less than so many times as long as their skew are not skewed.
inline constexpr tuning_row least_parts_of_skew{
    8, h200, "2026-11-25",
    "162 columns of bytes, 256 rows a panel, skewed beside not: 0.92 to 0.98"};
/// Where an axis has fewer panels they become larger by their skew, rather than one more.
inline constexpr tuning_row few_panels{8, h200, "2026-11-25", "not compared"};

/// Cycles of a warp's load of bytes or halves that this is worth; other accesses read sectors twice.
inline constexpr tuning_row cycles_of_lines{
    1, h200, "2026-11-25",
    "rows multiples of 128 bytes apart, lines, none: bytes, 6 rows 79, 95, 9 73, 91, 24 78, 91; "
    "halves, "
    "6 91, 94, 9 84, 92, 60 81, 88; floats, 20 91, 93, 33 96, 92"};

/// Panels that a problem is cut into at least, as long as each has work for its threads: two for a multiprocessor.
inline constexpr tuning_row least_panels{264, h200, "2026-11-24", "not compared"};

/// Fewer bytes are not moved in panels: their tables take longer than the work.
inline constexpr tuning_row least_panel_bytes{
    8 << 20, h200, "2026-11-24", "panels, otherwise: 50 arrays of 4 KB to 1 MB 36, 55"};

/// Shorter segments than this are no better than tiles.
inline constexpr tuning_row least_segment_bytes{
    128, h200, "2026-11-24",
    "tiles, panels: 5 x 5 x 5 x 5 x 5 x 12505 as 3 1 5 0 2 4 with segments of 160 bytes 66, 44"};

/// A fastest axis of less elements is a short side, for which panels are that take several axes. Bytes and packed
/// structures go in panels however long it is.
inline constexpr tuning_row least_long_side{
    32, h200, "2026-11-24",
    "tiles, panels: 4 x 39 x 71 x 206 x 23 as 2 4 0 1 3 60, 79; 105 x 1488 x 11 x 36 as 3 1 0 2 "
    "57, 73; 189 x 77 x 151 x 8 elements of 12 bytes as 3 1 2 0 61, 77; 7 x 44 x 62 x 30 x 13 x 15 "
    "halves as 1 3 2 5 4 0 53, 80; 4 x 48 x 31 x 266 x 155 bytes as 3 2 1 4 0 38, 82"};

/// Rows of up to so many bytes that stay rows, and are no whole accesses of 16, go in panels, too.
inline constexpr tuning_row most_short_row_bytes{
    64, h200, "2026-11-24",
    "elements, panels: 1000 x 300 x 30 x 3 as 2 1 0 3 floats 30, 47, doubles 33, 79, bytes 10, 31"};

/// Rows of up to so many bytes that change places, and are whole words, are moved as elements; shorter ones always.
inline constexpr tuning_row most_placed_row_bytes{
    1024, h200, "2026-11-24",
    "as rows, otherwise, n x n rows of 150 MB: 3 bytes 2, 36; 12 bytes 6, 82; 16 bytes 11, 70; 31 "
    "bytes 16, 19; 64 bytes 36, 84; 65 bytes 26, 19; 128 bytes 57, 98; 200 bytes 57, 92; 260 bytes "
    "58, 71; 512 bytes 91, 100; 1000 bytes 82, 97"};

/// Fewer bytes are not moved in micro-blocks, whose tiles are large: of elements of 1 or 2 bytes, and of others.
inline constexpr tuning_row least_micro_bytes{256 << 10, h200, "2026-11-25",
                                              "elements, micro-blocks: n x 12 x 64 reversed, of "
                                              "192 KB bytes 56, 59, halves 58, 59; of 384 KB "
                                              "54, 61 and 58, 61; of 12 MB bytes 25, 78"};
inline constexpr tuning_row least_micro_word_bytes{
    4 << 20, h200, "2026-11-25",
    "elements, micro-blocks: n x 24 x 28 x 48 reversed, of 2.5 MB 64, 62; of 4 MB 69, 70; of 16 MB "
    "73, 85"};

/// Fewer bytes, and fewer of halves, go in tiles of 64 x 64 instead of 128 x 128.
inline constexpr tuning_row least_wide_bytes{
    4 << 20, h200, "2026-11-25",
    "64, 128: n x 12 x 64 reversed, of 1.5 MB 63, 61; of 3 MB 64, 65; of 12 MB 70, 78"};
inline constexpr tuning_row least_wide_half_bytes{
    32 << 20, h200, "2026-11-25",
    "64, 128: n x 12 x 64 reversed, of 8 MB 78, 70; of 24 MB 99, 95; TTC's cases 90, 92"};

/// These for an element's size; 0: never. Others take the row of the next smaller size. A user's rows stand in
/// TILETRANSPOSE_MICRO_TUNING.
struct micro_limits {
  int element_bytes;
  size_type least;
  size_type least_wide;
};
inline constexpr micro_limits micro_tuning[] = {
#if defined(TILETRANSPOSE_MICRO_TUNING)
    TILETRANSPOSE_MICRO_TUNING
#else
    {1, least_micro_bytes, least_wide_bytes},
    {2, least_micro_bytes, least_wide_half_bytes},
    {3, least_micro_word_bytes, 0},
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
/// be and are so many bytes, but those of single bytes.
inline constexpr tuning_row most_apart_row_bytes{
    1024, h200, "2026-11-25",
    "as transposes, in micro-blocks, s x n x s reversed: 64 of 3 bytes 33, 81; 256 of 3 bytes 60, "
    "81; 100 halves 51, 71; 160 halves 70, 88; 100 floats 58, 75; 400 bytes 77, 60"};
inline constexpr tuning_row least_apart_bytes{
    32 << 20, h200, "2026-11-25",
    "as transposes, in micro-blocks: n x 12 x 64 floats reversed, of 6 MB 85, 73; of 12 MB 82, 76; "
    "of 48 MB 94, 94"};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
