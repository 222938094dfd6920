// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Where little work ends: the tuning rows of the mover in detail/small. Plain C++17.
///
/// Measured inside a graph of 40 calls on one NVIDIA H200 (132 multiprocessors), CUDA 13.0, 2026-11-23 to 2026-11-25,
/// against the movers for large problems at 2 KB to 67 MB. Up to 1 MB most calls gain a factor of 2 to 5.

#pragma once

#include <tiletranspose/config.cuh>
#include <tiletranspose/detail/choose/tuning_row.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Up to how many elements the mover for little work is the fastest, by what takes them else. Beside panels, the *work* is
/// compared: elements and the empty places of their tiles. Where a limit is 0 it is never taken, and what takes nothing is
/// not compiled.
struct small_limits {
  int element_bytes;
  size_type tile;             ///< beside tiles
  size_type whole;            ///< the same where rows of both sides start at multiples of 16 bytes
  size_type pitched;          ///< `tile` where rows have gaps, outputs run backwards or are two
  size_type fused;            ///< `tile` with an operation on the way to one output
  size_type fused_whole;      ///< `whole` with an operation
  size_type gathered;         ///< work beside gathered panels
  size_type vectorised;       ///< work beside vectorised panels
  size_type shifted;          ///< work beside word-shifted panels
  size_type shifted_columns;  ///< the same of few columns
  size_type rows;             ///< flips and reverses
  size_type small_tile;       ///< work up to which tiles are of 16 x 16 elements, then of 32 x 32
  size_type direct_rows;      ///< percent of tiles up to which elements of few rows go without one
  size_type direct_columns;   ///< and those of others
  size_type square_side;      ///< squares in place of up to so many rows
  size_type whole_square;     ///< the same where rows start at multiples of 16 bytes
  size_type square_tile;    ///< squares of more rows go through tiles of 32 x 32, others of 16 x 16
  size_type vectors;        ///< whole tiles of 16-byte accesses are faster than elements up to here
  size_type vector_blocks;  ///< if there are so many of these tiles
  size_type written_bytes;  ///< up to here blocks take one tile that the caller wrote, else strips
};

/// As many elements as little work ever has.
inline constexpr size_type all_work = size_type{1} << 30;

/// Elements of other sizes take the row of the next smaller size. tests/benchmark/tune.cu writes TILETRANSPOSE_SMALL_TUNING.
inline constexpr small_limits small_tuning[] = {
#if defined(TILETRANSPOSE_SMALL_TUNING)
    TILETRANSPOSE_SMALL_TUNING
#else
    // bytes; tile, whole, pitched, fused, fused whole; gathered, vectorised, shifted, of columns; rows; small tile; direct
    // rows, columns; squares: any, whole, tile; vectors, blocks; written
    {1,         10'000'000, 1'800'000, 10'700'000, 10'700'000, 4'000'000,          //
     3'300'000, 760'000,    2'300'000, 7'000'000,  1'200'000,  0,         50, 40,  //
     3500,      1120,       560,       16'777'216, 32,         16'000'000},
    {2,         7'100'000, 5'000'000, 7'100'000, 11'000'000, 7'500'000,          //
     4'000'000, 1'100'000, 4'500'000, 5'500'000, 3'500'000,  0,         45, 36,  //
     3700,      864,       560,       8'388'608, 32,         30'000'000},
    {3,         4'500'000, 3'500'000, 5'600'000, 6'500'000, 5'600'000,          //
     3'800'000, 3'800'000, 3'800'000, 3'800'000, 1'800'000, 60'000,    33, 33,  //
     2300,      2300,      560,       0,         0,         16'000'000},
    {4,         5'000'000, 5'000'000, 4'000'000, 8'000'000, 6'000'000,          //
     6'000'000, 3'100'000, 6'000'000, 6'000'000, 5'500'000, 0,         45, 28,  //
     3000,      2000,      640,       4'194'304, 1,         30'000'000},
    {5,         1'500'000, 1'800'000, 1'500'000, 1'500'000, 1'500'000,          //
     2'000'000, 2'000'000, 2'000'000, 2'000'000, 880'000,   0,         33, 25,  //
     1000,      1000,      1000,      0,         0,         16'000'000},
    {8,         3'500'000, 5'000'000, 4'000'000, 4'000'000, 5'000'000,          //
     5'900'000, 4'000'000, 5'900'000, 5'900'000, 2'500'000, 250'000,   36, 20,  //
     2200,      2200,      600,       1'048'576, 1,         30'000'000},
    {9,         1'200'000, 1'200'000, 700'000,   2'100'000,  2'100'000,          //
     3'000'000, 3'000'000, 3'000'000, 3'000'000, 10'000'000, 300'000,   45, 32,  //
     2000,      2200,      2200,      0,         0,          16'000'000},
    {16,        2'500'000, 2'500'000, 2'500'000, 2'500'000, 2'500'000,          //
     3'000'000, 2'500'000, 3'000'000, 3'000'000, 1'800'000, all_work,  60, 32,  //
     2200,      2200,      850,       0,         0,         40'000'000},
    {17,      78'000,  110'000, 250'000, 250'000, 250'000,            //
     230'000, 160'000, 160'000, 160'000, 250'000, all_work,  25, 25,  //
     300,     300,     300,     0,       0,       16'000'000},
#endif
};

/// Sides up to this leave large tiles mostly empty. Where no panel takes them, of pitched matrices and in fused calls, they
/// are moved as little work is, however many they are.
constexpr size_type lone_side(int element_bytes) { return element_bytes <= 2 ? 64 : 32; }

/// The same with two outputs of smaller elements than the input's, of up to 8 bytes.
inline constexpr size_type lone_dual_side = tuning_row{
    48, "2026-11-26", "us, tiles, little: floats to halves, 48 columns 148, 73; 57 117, 146"};

/// Outputs whose rows have so few elements have `direct_rows`: what is written directly are whole sectors.
inline constexpr size_type few_small_rows = 64;

/// With two outputs, of which one has the input's rows, so many percent are moved directly at most: lanes write that one in
/// rows that lie apart. 2026-11-28, us directly, in tiles, 23 MB: 3 bytes, 8 columns 59, 22, 4 27, 39, 8 rows of floats 8, 9.
constexpr size_type most_direct_dual(int kept_bytes, bool few_rows) {
  if (kept_bytes <= 2) { return 25; }
  if (few_rows) { return kept_bytes == 3 ? 16 : 25; }
  return kept_bytes > 8 && kept_bytes < 16 ? 7 : 13;
}

/// The same behind arrays of pointers, where each element waits for two of them.
inline constexpr size_type most_direct_pointers =
    tuning_row{36, "2026-11-26", "us, in tiles, directly: 10 of 41 x 41 floats 1.27, 1.33"};

/// Elements that are moved directly take as long as so many halves of a place, those of 8 bytes and more
/// `direct_halves_of_wide`; of a few columns, of which a warp writes many short segments, and of 4 to 15 bytes, each byte as
/// long as a place.
inline constexpr size_type direct_halves = tuning_row{
    4, "2026-11-28", "times of panels: 3 columns of bytes, 1.3 MB 0.83, of a batch 2 MB 1.4"};
inline constexpr size_type direct_halves_of_wide =
    tuning_row{3, "2026-11-28", "the same: 9 rows of doubles, 26 MB 0.93; 12 bytes, 16 MB 0.96"};
inline constexpr size_type most_long_segments = tuning_row{
    3, "2026-11-27", "directly, panels: 8 MB, 8 floats 70, 121; 12 bytes, 4 111, 123, 3 138, 119"};

/// Tiles of 16 x 16 are taken, however much work there is, where those of 32 x 32 would be emptier: of elements above 8
/// bytes where they have 60 percent of their places, of 8 bytes where they are full and those a quarter.
constexpr bool fits_small_tiles(int kept_bytes, size_type elements, size_type small_places,
                                size_type large_places) {
  return kept_bytes > 8    ? 5 * small_places <= 3 * large_places
         : kept_bytes == 8 ? small_places == elements && 4 * small_places <= large_places
                           : false;
}

/// Elements up to this size go through tiles of 32 x 32 where several axes make up a side.
inline constexpr int widest_large_tile_element = 8;

/// Matrices of so few elements behind pointers are little work, however many: panels take them one by one.
inline constexpr size_type most_lone_matrix =
    tuning_row{1024, "2026-11-26", "us, panels, little: 38 x 38 bytes 214, 190; floats 225, 281"};

/// Matrices of a batch of so few elements, of 2 and 4 bytes three times as many, or that fill fewer percent of their tiles,
/// leave large tiles partly empty: where no panel takes them, so many times `tile` is little work.
inline constexpr size_type most_lone_tile_elements = tuning_row{
    32'768, "2026-11-27", "tiles, little: bytes, 238 x 238 us 33, 49; halves, 271 x 264 % 61, 86"};
inline constexpr size_type least_filled_alone = tuning_row{
    56, "2026-11-28", "us, tiles, little: bytes, 16 MB, 38 percent 32, 21, 55 21.7, 20.9"};
inline constexpr size_type times_of_lone_matrices = tuning_row{
    3, "2026-11-28", "us, tiles, little: 38 percent, 48 MB 88, 70; 46 percent, 24 MB 34, 36"};

/// So many elements on, threads of tiles of words whose output rows are sectors load eight before they store, not four.
inline constexpr size_type least_many_tiles =
    tuning_row{4 << 20, "2026-11-28", "four, eight: batches, 260 MB 92, 95; up to 1 MB us 1, 1.03"};

/// Matrices of a batch with an operation on the way are little work, however many, if they fill fewer percent of large tiles;
/// of 4 bytes and more all whose output rows start on sectors. Single limits of little work do not matter then, nor below.
inline constexpr size_type least_filled_fused = tuning_row{
    75, "2026-11-28", "tiles, so: floats to halves, 60 percent 40, 87; halves, 90 83, 66"};

/// Matrices of a batch, of 4, 8 and 16 bytes an element, with sides of so many elements that fill so many percent of tiles of
/// little work go in these if rows of the output start on sectors. Behind pointers, where nobody knows, those of 8 and 16 do.
inline constexpr size_type least_small_tiled_side = tuning_row{
    24, "2026-11-28", "others, so: floats, 16 to 23 97, 88; 24 to 39 95, 98; to 260 94, 96"};
inline constexpr size_type least_small_tiled = tuning_row{
    60, "2026-11-28", "others, so: floats, 58 percent 97, 92, 74 98, 96; 16 bytes, 58 99, 91"};
/// They have so many rows at most: other output rows lie far apart. Batches of bytes and halves in micro-blocks, too.
inline constexpr size_type most_small_tiled_rows =
    tuning_row{64 << 10, "2026-11-28", "others, so: 131072 x 200, floats 92, 83, halves 93, 77"};

/// Panels of one matrix above `large_matrix_bytes` are few: of bytes and halves so many halves of `gathered` are little work.
inline constexpr size_type times_of_large_panels = tuning_row{
    3, "2026-11-28", "us, panels, little: 330 x 330 bytes, 4 MB 10.0, 5.6, 8 MB 10.2, 10.0"};

/// Rows up to this are counted together with their neighbours: 59 x 257 bytes 1.11 us, else 1.19; 137 x 139 1.23, 1.13.
inline constexpr size_type short_row = 100;

/// Of bytes and halves twice as many in rows of up to so many elements, and in reversed ones of up to `short_row`, are little
/// work as in others.
inline constexpr size_type tiny_row = tuning_row{
    5, "2026-11-28", "us, else, little: bytes, 2 MB, 5 in a row 6.4, 3.6, 95 reversed 4.7, 3.6"};

/// So are rows of more than `few_row_elements` that fill less of their blocks: percent.
inline constexpr size_type least_filled_rows =
    tuning_row{66, "2026-11-27", "12 MB, rows of 508 bytes by words, 25 percent: 53; together 119"};

/// Up to so many elements that are moved directly, or in rows, are one a thread; wider ones than widest_row_element always.
inline constexpr size_type few_row_elements = tuning_row{
    150'000, "2026-11-25", "us, reversed, four, one: 20001 bytes 1.13, 1.05; 200001 1.30, 1.35"};
inline constexpr int widest_row_element = 8;

/// Tiles that the caller wrote, of wide elements, whose output rows start inside of sectors: so many threads a multiprocessor
/// at a time leave fewer sectors half written. Doubles with 1536 threads and with 1024: 509 x 143857 71, 80.
inline constexpr int most_ragged_threads = 1024;
inline constexpr int least_ragged_element = 8;

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
