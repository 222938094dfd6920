// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What is tuned of moves of arrays of many axes, a row for each number. Plain C++17.
///
/// Figures: % of cudaMemcpyAsync, floats unless the row says otherwise; extents are those of the input, and the output has
/// them in reverse order where nothing else is said.

#pragma once

#include <tiletranspose/detail/choose/tuning_row.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Sides of tiles up to this, of as many elements of less than 4 bytes, are short: they take more axes, or elements go singly.
inline constexpr size_type short_side_bytes = tuning_row{
    64, "2026-11-27", "one by one, tiles: 16 bytes, 32 x 384 x 16 x 512 as 3 1 2 0 90, 98"};
constexpr size_type short_side_of(size_type element_bytes) {
  return short_side_bytes / (element_bytes > 4 ? element_bytes : 4);
}

/// So are segments of so many elements of one side that the other side's fastest axis does not interrupt: a block of elements
/// touches whole lines of both anyway.
inline constexpr size_type short_segment = tuning_row{
    8, "2026-11-23", "tiles, elements: pixel shuffles by 8 89, 97; by 16 as tiles 94, 92"};

/// Matrices of a batch whose rows have fewer bytes, and between whose rows those of others lie, are no transposes.
inline constexpr size_type least_apart_row_bytes = tuning_row{
    192, "2026-11-23", "as transposes, not: 40 x 90300 x 40 71, 78; 64 x 40200 x 64 93, 86"};

/// The axis of the input's nearest elements is counted next to the output's fastest one, if it is no longer than this.
inline constexpr size_type most_near_extent =
    tuning_row{64, "2026-11-23", "out alone, so: 15 15 32 15 32 16 as 4 1 0 3 2 5 74, 94"};

/// Where rows stay rows, only if these are whole sectors, and no longer than this: of others two blocks would write one sector.
inline constexpr size_type most_near_row_bytes =
    tuning_row{256, "2026-11-27", "out alone, so: rows of 48 bytes 95, 72; 64 95, 100; 264 92, 79"};

/// And up to this before the output's fastest one, where that is longer than most_near_extent: of elements of up to 3 bytes,
/// and of others.
inline constexpr size_type most_first_extent_of_small = tuning_row{
    8, "2026-11-28", "16 instead: 30 random arrays with axes of 9 to 16 take 1.56 times as long"};
inline constexpr size_type most_first_extent =
    tuning_row{16, "2026-11-23", "behind it, before it: 2 x 50000000 x 2 68, 99"};
constexpr size_type most_first_extent_of(size_type element_bytes) {
  return element_bytes <= 3 ? most_first_extent_of_small : most_first_extent;
}

/// Of so many elements that are moved one by one, threads take one each; of more, as many as `axes_element_rounds` says.
inline constexpr size_type most_single_round = tuning_row{
    256 << 10, "2026-11-25", "four, one: n x 9 x 21 as 1 0 2, floats, 1 MB 54, 64, 4 MB 64, 64"};

/// Bytes of a panel in shared memory, and those that its tables may take beside it.
inline constexpr size_type panel_axes_bytes =
    tuning_row{24 * 1024, "2026-11-24", "16 KB, 24, 32: 3 x 30000000 x 3 87, 94, 89"};
inline constexpr size_type panel_table_bytes =
    tuning_row{12 * 1024, "2026-11-24", "alone, with all blocks of a multiprocessor"};

/// Panels whose segments would have fewer bytes are larger, as far as every block may have the shared memory.
inline constexpr size_type short_segment_bytes =
    tuning_row{1024, "2026-11-25", "alone, with the size below"};
inline constexpr size_type large_panel_axes_bytes = tuning_row{
    44 * 1024, "2026-11-25", "24 KB, 44: floats, 100 rows 69, 89, batches of 90 x 110 59, 91"};

/// Segments of fewer bytes are copied to panels by words or elements, since gaps would take too much of shared memory.
inline constexpr size_type least_wide_segment_bytes = tuning_row{64, "2026-11-25", "not compared"};

/// From so many bytes on, segments lie in a panel as in the lines of memory.
inline constexpr size_type least_line_segment_bytes = tuning_row{
    512, "2026-11-25", "copies of 16 bytes, TB/s: equal modulo 128 4.2, else 3.3 to 3.8"};

/// Longer segments of the output begin and end inside of sectors.
inline constexpr size_type most_skewed_segment_bytes = tuning_row{
    8 * 1024, "2026-11-25", "without, with: floats, 47 columns 81, 96; bytes, 130 64, 91"};

/// Panels that are less than so many times as long as their skew are not skewed.
inline constexpr size_type least_parts_of_skew = tuning_row{
    3, "2026-11-26", "bytes, 8, 3: 2294 x 104351 37, 68; 4, 3: 301 x 97 x 55 x 201 32, 43"};
/// Where an axis has fewer panels they become larger by their skew, rather than one more.
inline constexpr size_type few_panels = tuning_row{8, "2026-11-25", "not compared"};

/// Cycles of a warp's load of bytes or halves that this is worth; other accesses read sectors twice.
inline constexpr size_type cycles_of_lines = tuning_row{
    1, "2026-11-25", "on lines, not: bytes, 9 rows 73, 91; floats, 20 91, 93, 33 96, 92"};

/// Panels that a problem is cut into at least, as long as each has work for its threads: two for a multiprocessor. Matrices
/// behind pointers are not cut for it, nor those of a batch of so many that a panel holds whole (largest_whole_matrix).
inline constexpr size_type least_panels = tuning_row{
    264, "2026-11-26", "132 instead: up to 4 MB 0.92 to 1.2 times as fast, 33 0.8 to 1.3"};
inline constexpr size_type least_whole_panels = tuning_row{
    66, "2026-11-28", "us, parts, whole: 3 bytes, 248 of 130 x 130 19.0, 8.7; 57 of 330 9.9, 10.1"};

/// Fewer bytes are not moved in panels: their tables take longer than the work.
inline constexpr size_type least_panel_bytes =
    tuning_row{8 << 20, "2026-11-26", "735 arrays of 0.5 to 8 MB in panels, too: 0.88 to 1.04"};
/// Elements of 1 to 3 bytes that would be moved one by one go in panels from so many bytes on.
inline constexpr size_type least_panel_bytes_of_singles = tuning_row{
    3 << 20, "2026-11-26", "time in panels beside single: 3 to 8 MB bytes 0.71, 1 to 3 1.05"};

/// Segments of panels begin and end inside of sectors. Panels are faster than tiles as long as that makes up no more than
/// so many percent of the elements' bytes. Figures here and below: tiles, panels, % of a copy of as odd a size.
inline constexpr size_type most_ragged_single_bytes =
    tuning_row{40, "2026-11-26", "34 percent 35, 38; 49 percent 38, 26"};
inline constexpr size_type most_ragged_halves =
    tuning_row{23, "2026-11-26", "18 percent 54, 78; 25 percent 65, 52"};
inline constexpr size_type most_ragged_pixels =
    tuning_row{18, "2026-11-26", "elements of 3 bytes: 17 percent 57, 75; 19 percent 51, 38"};
inline constexpr size_type most_ragged_words = tuning_row{
    14, "2026-11-26", "11 percent 58, 82; 17 to 19 percent 65, 80, but 97, 91 and 92, 83"};
inline constexpr size_type most_ragged_structs =
    tuning_row{12, "2026-11-26", "12 bytes: 11 percent 76, 84; 13 percent 76, 60"};
/// These for elements that tiles move by accesses of so many bytes. Tiles of 8 and 16 bytes are as fast as panels.
constexpr size_type most_ragged_of(size_type element_bytes, size_type access_bytes) {
  return element_bytes == 3       ? most_ragged_pixels
         : access_bytes == 1      ? most_ragged_single_bytes
         : access_bytes == 2      ? most_ragged_halves
         : element_bytes == 4     ? most_ragged_words
         : element_bytes % 8 == 0 ? 0
                                  : most_ragged_structs;
}
/// For elements one by one, or as many as an access of less than 16 bytes has.
inline constexpr size_type most_ragged_elements =
    tuning_row{25, "2026-11-26", "rows of 1377 halves 31, 86; of 31 floats 49, 95"};
/// For micro-blocks where the output has elements in segments that are too short for a side.
inline constexpr size_type most_ragged_in_micro_blocks = tuning_row{
    12, "2026-11-27", "micro-blocks, panels: rows of 12 halves 63, 85, of 12 of 3 bytes 46, 91"};

/// Word-shifted tiles of elements of 1 to 3 bytes are faster than panels and other tiles where so many percent of what they
/// have room for and load is elements.
inline constexpr size_type least_shifted_filled =
    tuning_row{65, "2026-11-26", "panels 1, filled by 55 to 65 percent 1.02, by 65 to 75 1.49"};

/// But panels of halves, where the ends of their segments make up less than so many percent.
inline constexpr size_type least_ragged_beside_shifted = tuning_row{
    13, "2026-11-27", "shifted, panels: halves, 5 to 13 percent 69, 82; bytes, 3 to 10 86, 59"};

/// Fewer bytes stay in the L2 cache, where accesses that begin and end inside of sectors cost less. Words of 12 bytes and
/// more are not moved in panels there, and vectorised panels are of 8 KB, or 16 for a matrix: bytes, 1 to 8 MB, 79 %, else 70.
inline constexpr size_type least_uncached_bytes = tuning_row{
    32 << 20, "2026-11-26", "halves with 18 to 23 percent, 8 to 22 MB 84, 48, of 200 MB 83, 101"};

/// Rows of up to so many bytes that stay rows go in panels where accesses of less than 16 bytes move them, and those of up to a
/// sector in any case where all is at multiples of 4 bytes; longer ones, and those that the L2 cache holds, where accesses are
/// of less than 8. Rows that change places and are so short are never moved by the mover for rows, but those of whole
/// accesses that are longer than a sector.
inline constexpr size_type most_short_row_bytes = tuning_row{
    64, "2026-11-26", "accesses of 8 bytes, panels: rows of 30 floats 74, 96, of 46 101, 96"};

/// Nor are rows of up to so many bytes that are whole words, or go in panels.
inline constexpr size_type most_placed_row_bytes =
    tuning_row{1792, "2026-11-26", "as rows, not, n x n rows: 200 bytes 57, 92; 3001 bytes 89, 85"};

/// Fewer bytes are not moved in micro-blocks, whose tiles are large: of elements of 1 or 2 bytes, and of others.
inline constexpr size_type least_micro_bytes = tuning_row{
    256 << 10, "2026-11-25", "elements, micro-blocks: bytes, 192 KB 56, 59; 384 KB 54, 61"};
inline constexpr size_type least_micro_word_bytes = tuning_row{
    4 << 20, "2026-11-25", "elements, micro-blocks: 2.5 MB 64, 62; 4 MB 69, 70; 16 MB 73, 85"};

/// Fewer bytes, and fewer of halves, go in tiles of 64 x 64 instead of 128 x 128.
inline constexpr size_type least_wide_bytes =
    tuning_row{4 << 20, "2026-11-25", "64, 128: 1.5 MB 63, 61; 3 MB 64, 65; 12 MB 70, 78"};
inline constexpr size_type least_wide_half_bytes =
    tuning_row{32 << 20, "2026-11-25", "64, 128: 8 MB 78, 70; 24 MB 99, 95; TTC's cases 90, 92"};

/// Fewer bytes do not go in tiles, but one by one: of elements of up to 3 bytes, 4, 8 and more.
inline constexpr size_type least_tiled_bytes = tuning_row{
    64 << 10, "2026-11-26", "tiles, one by one: bytes, to 64 KB 66, 74, to 256 KB 56, 50"};
inline constexpr size_type least_tiled_word_bytes =
    tuning_row{256 << 10, "2026-11-26", "64 to 256 KB 56, 60; 256 KB to 1 MB 58, 51"};
inline constexpr size_type least_tiled_double_bytes =
    tuning_row{1 << 20, "2026-11-26", "4 to 256 KB 45, 64; to 1 MB 50, 61; to 2 MB 68, 66"};
inline constexpr size_type least_tiled_quad_bytes =
    tuning_row{512 << 10, "2026-11-26", "12 and 16 bytes, 64 to 256 KB 60, 65; 1 to 2 MB 68, 61"};

/// These for an element's size; wide tiles, 0: never. Others take the row of the next smaller size. A user's rows stand in
/// TILETRANSPOSE_MICRO_TUNING.
struct micro_limits {
  int element_bytes;
  size_type least;
  size_type least_wide;
  size_type least_tiled = 0;
};
inline constexpr micro_limits micro_tuning[] = {
#if defined(TILETRANSPOSE_MICRO_TUNING)
    TILETRANSPOSE_MICRO_TUNING
#else
    {1, least_micro_bytes, least_wide_bytes, least_tiled_bytes},
    {2, least_micro_bytes, least_wide_half_bytes, least_tiled_bytes},
    {3, least_micro_word_bytes, 0, least_tiled_bytes},
    {4, least_micro_word_bytes, 0, least_tiled_word_bytes},
    {8, least_micro_word_bytes, 0, least_tiled_double_bytes},
    {9, least_micro_word_bytes, 0, least_tiled_quad_bytes},
#endif
};
constexpr const micro_limits& micro_limits_of(size_type element_bytes) {
  return row_for(micro_tuning, static_cast<int>(element_bytes));
}

/// Transposes of elements of up to 3 bytes go in micro-blocks from so many bytes on, and up to so many: where rows are whole
/// accesses twice as many, and of batches of 3 bytes all. In other rows bytes that are wider than high, and batches of bytes
/// and halves, all if output rows are sectors: bytes 87 to 96 %, batches 80 to 99. Tiles are at least half full along both.
inline constexpr size_type least_micro_matrix_bytes =
    tuning_row{5 << 18, "2026-11-27", "else, so: bytes, 0.5 MB 70, 57, 2 61, 83; halves, 2 88, 94"};
inline constexpr size_type least_micro_matrix_of_bytes = tuning_row{
    448 << 10, "2026-11-27", "little, these: 0.3 to 0.45 MB 76, 74; to 0.7 69, 71; to 1 67, 73"};
inline constexpr size_type most_micro_matrix_bytes = tuning_row{
    32 << 20, "2026-11-27", "else, so: bytes, 9 MB 69, 119, 28 101, 107, 60 81, 68, whole 90, 92"};
/// Transposes with an operation go so from so many bytes on, half of what is read and written, and with sides of so many
/// elements; one matrix up to most_micro_matrix_bytes, as often as an element becomes smaller.
inline constexpr size_type least_fused_micro_bytes = tuning_row{
    4 << 20, "2026-11-28", "else, so: batches of 260 MB, halves 61, 94, bytes 40, 78; 2 MB 78, 70"};
inline constexpr size_type least_fused_micro_side =
    tuning_row{8, "2026-11-28", "else, so: halves, 4 rows 65, 40, 8 to 11 columns 64, 97"};
/// But matrices of a batch of bytes or halves that are no larger and whose rows are no whole accesses go in panels.
inline constexpr size_type most_lone_panel_bytes = tuning_row{
    16 << 10, "2026-11-27", "panels, these: bytes, 64 x 72 141, 97; halves, 76 x 76 147, 111"};

/// Matrices whose rows have fewer bytes and lie between those of others go in micro-blocks or word-shifted tiles if they can.
inline constexpr size_type most_apart_row_bytes = tuning_row{
    1024, "2026-11-26", "micro-blocks instead: s x n x s, 160 halves 70, 88; 400 bytes 77, 60"};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
