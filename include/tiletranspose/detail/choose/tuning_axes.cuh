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

/// Sides of tiles up to this are too short: elements are then moved one by one.
inline constexpr size_type short_axis = tuning_row{
    16, "2026-11-23",
    "tiles, elements: 9 x 3003000 x 9 43, 56; 16 x 1001000 x 16 70, 84; 24 x 360600 x 24 86, 73"};

/// So are segments of so many elements of one side that the other side's fastest axis does not interrupt: a block of elements
/// touches whole lines of both anyway.
inline constexpr size_type short_segment = tuning_row{
    8, "2026-11-23",
    "tiles, elements: pixel shuffles by 2 41, 100, by 4 75, 99, by 8 89, 97, unshuffles by 2 62, "
    "98, by 4 79, 87; with 16: by 16 94, 92, unshuffle by 16 94, 45, shuffle by 12 81, 91"};

/// Matrices of a batch whose rows have fewer bytes, and between whose rows those of others lie, are no transposes.
inline constexpr size_type least_apart_row_bytes =
    tuning_row{192, "2026-11-23",
               "as transposes, otherwise: 3 x 30000000 x 3 0.3, 57; 32 x 250500 x 32 56, 88; 40 x "
               "90300 x 40 71, 78; 64 x 40200 x 64 93, 86"};

/// The axis along which the input's elements lie closest together is counted next to the output's fastest one, if it is
/// no longer than this.
inline constexpr size_type most_near_extent =
    tuning_row{64, "2026-11-23",
               "along the output alone, and so: 15 15 32 15 32 16 as 4 1 0 3 2 5 74, 94; 15 15 103 "
               "15 10 16 likewise 79, 93; patches of 16 x 16 pixels of 3 halves 88, 95"};

/// And up to this before the output's fastest one, where that is longer than the row above says.
inline constexpr size_type most_first_extent =
    tuning_row{16, "2026-11-23",
               "behind it, before it: 2 x 50000000 x 2 68, 99; 4 x 40000000 x 4 halves 41, 90"};

/// Of so many elements that are moved one by one, threads take one each; of more, four.
inline constexpr size_type most_single_round = tuning_row{
    256 << 10, "2026-11-25",
    "four, one: n x 9 x 21 as 1 0 2, floats of 64 KB 50, 75, 512 KB 50, 64, 1 MB 54, 64, 4 MB 64, "
    "64; bytes of 256 KB 55, 63, 512 KB 39, 40; 12 bytes of 512 KB 50, 63, 4 MB 65, 52"};

/// Bytes of a panel in shared memory, and those that its tables may take beside it.
inline constexpr size_type panel_axes_bytes =
    tuning_row{24 * 1024, "2026-11-24",
               "16 KB, 24, 32: 3 x 30000000 x 3 87, 94, 89; 7 x 6000000 x 7 92, 93, 93; 2 x "
               "50000000 x 2 86, 90, 88; 16 x 1001000 x 16 bytes 36, 37, 38"};
inline constexpr size_type panel_table_bytes =
    tuning_row{12 * 1024, "2026-11-24", "alone, with all blocks of a multiprocessor"};

/// Panels whose segments would have fewer bytes are larger, as far as every block may have the shared memory.
inline constexpr size_type short_segment_bytes =
    tuning_row{1024, "2026-11-25", "alone, with the size below"};
inline constexpr size_type large_panel_axes_bytes =
    tuning_row{44 * 1024, "2026-11-25",
               "24 KB, 44: floats, 50 columns 71, 86, 100 rows 69, 89, batches of 90 x 110 59, 91; "
               "12 bytes, batches of 50 x 50 65, 87; 50 columns of bytes 73, 78"};

/// Segments of fewer bytes are copied to panels by words or elements, since gaps would take too much of shared memory.
inline constexpr size_type least_wide_segment_bytes = tuning_row{64, "2026-11-25", "not compared"};

/// From so many bytes on, segments lie in a panel as in the lines of memory.
inline constexpr size_type least_line_segment_bytes =
    tuning_row{512, "2026-11-25",
               "asynchronous copies of 16 bytes, TB/s: shared and global address equal modulo 128 "
               "4.2, else 3.3 to 3.8; of 8 bytes 4.2 to 4.3 wherever they start"};

/// Longer segments of the output begin and end inside of sectors.
inline constexpr size_type most_skewed_segment_bytes =
    tuning_row{8 * 1024, "2026-11-25",
               "without, with: floats, 3 columns 98, 100, 5 94, 100, 17 93, 98, 31 87, 97, 47 81, "
               "96; bytes, 17 90, 100, 31 88, 96, 130 64, 91; 5 rows of bytes 80, 72"};

/// Panels that are less than so many times as long as their skew are not skewed.
inline constexpr size_type least_parts_of_skew =
    tuning_row{3, "2026-11-26",
               "8, 3, % of a copy of as odd a size: bytes, 2294 x 104351 37, 68, 17 x 22981 x 814 "
               "as 1 2 0 39, 60; halves, 570 x 40 x 28 x 163 as 0 2 1 3 38, 49; 4, 3: 301 x 97 x "
               "55 x 201 bytes 32, 43"};
/// Where an axis has fewer panels they become larger by their skew, rather than one more.
inline constexpr size_type few_panels = tuning_row{8, "2026-11-25", "not compared"};

/// Cycles of a warp's load of bytes or halves that this is worth; other accesses read sectors twice.
inline constexpr size_type cycles_of_lines =
    tuning_row{1, "2026-11-25",
               "rows multiples of 128 bytes apart, lines, none: bytes, 6 rows 79, 95, 9 73, 91, 24 "
               "78, 91; halves, 6 91, 94, 9 84, 92, 60 81, 88; floats, 20 91, 93, 33 96, 92"};

/// Panels that a problem is cut into at least, as long as each has work for its threads: two for a multiprocessor. Matrices
/// behind pointers are not cut for it, and of a batch those of parts of words.
inline constexpr size_type least_panels =
    tuning_row{264, "2026-11-26",
               "132 and 33 panels instead: up to 4 MB 0.92 to 1.2 and 0.8 to 1.3 times as fast; "
               "us, 222 matrices of 134 x 134 bytes behind pointers cut in two 13.3, whole 4.2"};

/// Fewer bytes are not moved in panels: their tables take longer than the work.
inline constexpr size_type least_panel_bytes =
    tuning_row{8 << 20, "2026-11-26", "735 arrays of 0.5 to 8 MB in panels, too: 0.88 to 1.04"};
/// Elements of 1 to 3 bytes that would be moved one by one go in panels from so many bytes on.
inline constexpr size_type least_panel_bytes_of_singles =
    tuning_row{3 << 20, "2026-11-26",
               "in a graph, time in panels beside that one by one: of 3 to 8 MB bytes 0.71, halves "
               "0.94, 3 bytes 0.79; of 1 to 3 MB 1.05, 0.81, 1.07"};

/// Segments of panels begin and end inside of sectors. Panels are faster than tiles as long as that makes up no more than
/// so many percent of the elements' bytes. Figures here and below: tiles, panels, % of a copy of as odd a size.
inline constexpr size_type most_ragged_single_bytes =
    tuning_row{40, "2026-11-26",
               "17 x 22981 x 814 as 1 2 0 39, 59; 8 x 7047 x 4661 as 2 1 0 38, 71; 39 x 189 x 9 x "
               "14 x 297 with 34 percent 35, 38; 1856 x 1616 x 11 x 10 with 49 percent 38, 26"};
inline constexpr size_type most_ragged_halves =
    tuning_row{23, "2026-11-26",
               "7 x 198 x 73130 with 18 percent 54, 78; 20 x 6 x 2752 x 76 x 5 with 1 percent 41, "
               "51; with 25 percent 65, 52"};
inline constexpr size_type most_ragged_pixels =
    tuning_row{18, "2026-11-26",
               "elements of 3 bytes: 3359 x 2685 x 10 with 14 percent 52, 67; 29 x 65485 x 40 with "
               "17 percent 57, 75; 18 x 24 x 68 x 84 x 39 with 19 percent 51, 38"};
inline constexpr size_type most_ragged_words =
    tuning_row{14, "2026-11-26",
               "29 x 57 x 61 x 623 with 11 percent 58, 82; 58 x 182 x 65 x 78 with 6 percent 62, "
               "94; with 17 to 19 percent 65, 80, but 97, 91 and 92, 83"};
inline constexpr size_type most_ragged_structs =
    tuning_row{12, "2026-11-26",
               "12 bytes: 122 x 7 x 143 x 155 with 6 percent 66, 87; 24 x 129 x 93 x 62 with 11 "
               "percent 76, 84; 21 x 21 x 10 x 9 x 11 x 41 with 13 percent 76, 60"};
inline constexpr size_type most_ragged_doubles =
    tuning_row{5, "2026-11-26",
               "22 x 45756 x 6 x 7 with 5 percent 73, 101; 11 x 79 x 8 x 94 x 55 with 4 percent "
               "74, 97; with 12 percent 94, 84"};
inline constexpr size_type most_ragged_quads =
    tuning_row{4, "2026-11-26",
               "29 x 34 x 13 x 10 x 133 with 4 percent 99, 102; with 8 percent 83, 89 and 104, 99"};
/// These for elements that tiles move by accesses of so many bytes.
constexpr size_type most_ragged_of(size_type element_bytes, size_type access_bytes) {
  return element_bytes == 3    ? most_ragged_pixels
         : access_bytes == 1   ? most_ragged_single_bytes
         : access_bytes == 2   ? most_ragged_halves
         : element_bytes == 4  ? most_ragged_words
         : element_bytes == 8  ? most_ragged_doubles
         : element_bytes == 16 ? most_ragged_quads
                               : most_ragged_structs;
}
/// Of fewer bytes, which stay in the L2 cache, but of single bytes, the percentage is divided by the number below. Fewer are
/// not moved in micro-blocks instead of as transposes, nor in word-shifted tiles instead of micro-blocks whose rows are no
/// multiples of 16.
inline constexpr size_type least_uncached_bytes = tuning_row{
    32 << 20, "2026-11-26",
    "in a graph: floats with 1 to 22 percent, 8 to 22 MB, tiles 1.15 times as fast; halves with 18 "
    "to 23 percent, 8 to 22 MB 84, 48 and 80, 66, of 200 MB 83, 101; as transposes, in "
    "micro-blocks: n x 12 x 64 floats reversed, of 6 MB 85, 73, of 12 MB 82, 76, of 48 MB 94, 94; "
    "micro-blocks, word-shifted: 264 x 87300 x 12 66, 86; 33060 x 60 x 104 78, 115; mean of 20 "
    "arrays 1.17, of 24 MB 118, 68; of 8 arrays of 3 bytes 1.20"};
inline constexpr size_type parts_of_cached_percent =
    tuning_row{3, "2026-11-26", "alone, with the size above"};
/// For elements one by one, or as many as an access of less than 16 bytes has.
inline constexpr size_type most_ragged_elements =
    tuning_row{25, "2026-11-26",
               "14 x 35 x 16 x 2604 elements of 12 bytes as 1 3 0 2 23, 91; rows of 1377 halves as "
               "0 3 2 1 4 31, 86; of 123 bytes as 2 0 3 1 4 16, 87; of 31 floats 49, 95"};
/// For micro-blocks of elements of at most 3 bytes.
inline constexpr size_type most_ragged_in_micro_blocks =
    tuning_row{8, "2026-11-26",
               "424 x 401 x 12 x 124 bytes as 1 0 3 2 52, 91; 320 x 96 x 75 x 96 bytes with 37 "
               "percent 84, 58"};

/// Word-shifted tiles of elements of 1 to 3 bytes are faster than panels and other tiles where so many percent of what they
/// have room for and load is elements.
inline constexpr size_type least_shifted_filled_bytes = tuning_row{
    60, "2026-11-26",
    "panels, these: 97 x 75 x 97 x 321 bytes 49, 124; by what is filled, mean of 390 arrays, 55 to "
    "65 percent 1.02, 65 to 75 1.49, 75 to 85 1.71; element tiles 2.1 to 2.4"};
inline constexpr size_type least_shifted_filled_wider =
    tuning_row{65, "2026-11-26",
               "97 x 75 x 97 x 321 halves 62, 115; by what is filled, mean of 279 arrays, 55 to 65 "
               "percent 0.79, 75 to 85 1.13; element tiles 1.0, 1.23; 3 bytes, panels, 65 percent "
               "and more 1.27, element tiles 1.45"};
constexpr size_type least_shifted_filled_of(size_type element_bytes) {
  return element_bytes == 1 ? least_shifted_filled_bytes : least_shifted_filled_wider;
}
/// Panels are faster than these as long as the ends of their segments make up less than so many percent.
inline constexpr size_type least_ragged_beside_shifted = tuning_row{
    10, "2026-11-26",
    "mean of panels of halves: 5 to 8 percent 102, 12 to 16 86, 25 to 30 78; of bytes 98, 77, 65"};
/// Matrices whose rows have fewer bytes and lie between those of others go in these: of 1 or 3 bytes, and of halves.
inline constexpr size_type most_apart_shifted_bytes =
    tuning_row{2048, "2026-11-26",
               "as transposes, in these, reversed: 235 x 572 x 204 bytes 32, 107; 641 x 643 x 647 "
               "64, 106; 2555 x 11 x 1203 78, 104; 4716 x 6 x 12210 115, 116; 79 x 1144 x 1087 of "
               "3 bytes 48, 112, 724 x 178 x 610 101, 111"};
inline constexpr size_type most_apart_shifted_halves =
    tuning_row{400, "2026-11-26",
               "181 x 217 x 181 halves 53, 103; 627 x 986 x 121 59, 104; 640 x 480 x 333 79, 71"};
/// As long as they are so many bytes, since the mover for little work takes fewer.
inline constexpr size_type least_apart_shifted_bytes =
    tuning_row{12 << 20, "2026-11-26",
               "3 bytes, little work, these: 278 x 33 x 360 77, 63; 110 x 70 x 466 76, 68; 212 x "
               "18 x 916 78, 75; bytes, 334 x 45 x 620 67, 81"};
constexpr size_type most_apart_shifted_of(size_type element_bytes) {
  return element_bytes == 2 ? most_apart_shifted_halves : most_apart_shifted_bytes;
}

/// Rows of up to so many bytes that stay rows go in panels but where accesses of 16 bytes move them, longer ones where
/// accesses are of less than 8. Rows that change places and are so short are never moved by the mover for rows.
inline constexpr size_type most_short_row_bytes =
    tuning_row{64, "2026-11-26",
               "accesses of 8 bytes, panels: rows of 30 floats 74, 96, of 46 101, 96; of 104 bytes "
               "97, 88; 1000 x 300 x 30 x 3 doubles as 2 1 0 3 33, 79; of 16, 16 elements of 3 "
               "bytes 40, 65, 32 bytes 95, 60; as rows, otherwise: n x n rows of 3 bytes 2, 36"};

/// Nor are rows of up to so many bytes that are whole words, or go in panels.
inline constexpr size_type most_placed_row_bytes = tuning_row{
    1792, "2026-11-26",
    "as rows, otherwise, n x n rows of 150 MB: 12 bytes 6, 82; 64 bytes 36, 84; 65 bytes 27, 76; "
    "200 bytes 57, 92; 512 bytes 91, 100; 1000 bytes 82, 97; 1275 bytes 81, 92; 3001 bytes 89, 85"};

/// Fewer bytes are not moved in micro-blocks, whose tiles are large: of elements of 1 or 2 bytes, and of others.
inline constexpr size_type least_micro_bytes =
    tuning_row{256 << 10, "2026-11-25",
               "elements, micro-blocks: n x 12 x 64 reversed, of 192 KB bytes 56, 59, halves 58, "
               "59; of 384 KB 54, 61 and 58, 61; of 12 MB bytes 25, 78"};
inline constexpr size_type least_micro_word_bytes =
    tuning_row{4 << 20, "2026-11-25",
               "elements, micro-blocks: n x 24 x 28 x 48 reversed, of 2.5 MB 64, 62; of 4 MB 69, "
               "70; of 16 MB 73, 85"};

/// Fewer bytes, and fewer of halves, go in tiles of 64 x 64 instead of 128 x 128.
inline constexpr size_type least_wide_bytes =
    tuning_row{4 << 20, "2026-11-25",
               "64, 128: n x 12 x 64 reversed, of 1.5 MB 63, 61; of 3 MB 64, 65; of 12 MB 70, 78"};
inline constexpr size_type least_wide_half_bytes = tuning_row{
    32 << 20, "2026-11-25",
    "64, 128: n x 12 x 64 reversed, of 8 MB 78, 70; of 24 MB 99, 95; TTC's cases 90, 92"};

/// Fewer bytes do not go in tiles, but one by one: of elements of up to 3 bytes, 4, 8 and more.
inline constexpr size_type least_tiled_bytes = tuning_row{
    64 << 10, "2026-11-26",
    "tiles, one by one, in a graph: bytes, 4 to 16 KB 54, 62, to 64 KB 66, 74, to 256 KB 56, 50"};
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
  const micro_limits* found = micro_tuning;
  for (const micro_limits& row : micro_tuning) {
    if (static_cast<size_type>(row.element_bytes) <= element_bytes) { found = &row; }
  }
  return *found;
}

/// Matrices whose rows have up to so many bytes and lie between those of others are moved in micro-blocks where they can
/// be and are many bytes, but those of single bytes; of halves and of 3 bytes in panels, as far as tiles of theirs are.
inline constexpr size_type most_apart_row_bytes =
    tuning_row{1024, "2026-11-26",
               "as transposes, in micro-blocks, s x n x s reversed: 64 of 3 bytes 33, 81; 256 of 3 "
               "bytes 60, 81; 100 halves 51, 71; 160 halves 70, 88; 100 floats 58, 75; 400 bytes "
               "77, 60; in panels, % of a copy of as odd a size: 242 x 64 x 8176 halves 42, 52; "
               "305 x 1293 x 309 62, 69; 776 x 457 x 213 of 3 bytes 50, 64; 540 x 770 x 229 52, "
               "68; 724 x 178 x 610 with rows of 1830 bytes 70, 62"};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
