// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What is tuned of the choice of a tile, a row for each number. The tiles themselves are in policy.cuh. Plain C++17.

#pragma once

#include <tiletranspose/detail/choose/tuning_row.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Matrices whose rows, which start anywhere, have up to so many bytes are walked row by row of tiles, and those of more than
/// `most_column_rows` rows in strips of about as many: two columns of tiles share the memory accesses at their border.
inline constexpr size_type narrow_row_bytes = tuning_row{
    8 * 1024, "2026-11-22", "strips of one, of 16: floats, 67109 rows 88, 89, 134217 80, 87"};
inline constexpr size_type most_column_rows = tuning_row{
    48 * 1024, "2026-11-22", "strips of one, of 16: 33553 rows, floats 93, 89, 2 bytes 93, 89"};
/// So are those of elements above 2 bytes whose input rows lie no multiple of 128 bytes apart, from fewer rows on: before the
/// next column of tiles needs the lines that it shares, the L2 cache has lost them.
inline constexpr size_type most_column_rows_off_lines = tuning_row{
    32 * 1024, "2026-11-28", "one, 8 KB: 48001 rows, 4 bytes 80, 88, 8 82, 90, 16 83, 91"};

/// Matrices of up to so many columns and more than `most_column_rows` rows have tiles of longer segments of output rows.
inline constexpr size_type most_tall_columns =
    tuning_row{1000, "2026-11-22", "bytes, 257 columns 71, 79, 1000 85, 85; floats, 127 86, 89"};
/// Of bytes only from so many on.
inline constexpr size_type least_tall_bytes =
    tuning_row{96 << 20, "2026-11-27", "tall, others: 8 to 64 MB 85, 92; 128 82, 81; 200 82, 79"};

/// Of bytes and halves they take tiles of whole accesses, ragged ones too, in rows of so many bytes.
inline constexpr size_type most_ragged_row_bytes = tuning_row{
    256, "2026-11-27", "without, so: bytes, 192 columns 72, 88, 272 79, 69; halves, 96 85, 91"};

/// Elements of so many bytes and more take tiles of whole accesses only where output rows start on sectors.
inline constexpr size_type least_whole_element_off_sectors =
    tuning_row{4, "2026-11-21", "with, without: floats, 11588 rows 87, 91; bytes, 23168 91, 79"};

/// The large tiles of fused calls take matrices of at least so many of them along each side, and of so many times 8 x 8.
inline constexpr size_type least_large_tiles =
    tuning_row{8, "2026-11-22", "keeps all multiprocessors busy, as the row below"};
inline constexpr size_type least_large_squares =
    tuning_row{64, "2026-11-22", "128 x 256, 256 x 256: 16384 rows 95.6, 96.7, 12288 96.4, 96.3"};

/// Matrices of a batch, in rows of whole accesses, that no panel holds take tiles of these if they fill so many percent.
inline constexpr size_type least_filled = tuning_row{
    80, "2026-11-28", "tiles, micro-blocks: bytes, 192 x 320 88, 95; halves, 128 x 384 97, 95"};

/// Where rows of the input lie this many bytes apart, reads down a strip fall on the same parts of the memory, and reads half a
/// row away in others: a walk of matrices of so many rows jumps. Rows of other lengths lose by it, and so do skewed tiles.
inline constexpr size_type jump_stride_bytes = tuning_row{
    128 * 1024, "2026-11-22", "without, with: 8192 rows of bytes 91.8, 95.4; floats 92.3, 94.4"};
inline constexpr size_type least_jump_rows = tuning_row{2048, "2026-11-22", "as the row above"};
/// The tiles that a walk goes down before it jumps, and those of tiles of 64 rows: with 12, 9 and 7, 8192 rows.
inline constexpr size_type tiles_before_jump = tuning_row{
    12, "2026-11-22", "2 bytes 95.8, 93.6, 94.6; 1: 95.4, 94.5, 95.0; 16: 94.6, 94.7, 95.0"};
inline constexpr size_type tiles_of_64_rows_before_jump = tuning_row{
    9, "2026-11-22", "8 bytes 95.4, 96.1, 96.0, rotated 94.7, 95.2, 95.2; 4: 93.9, 96.1, 95.9"};
inline constexpr size_type most_jump_rows =
    tuning_row{16384, "2026-11-22", "doubles, 16384 rows 94.4, 95.1; 32768 rows 95.6, 93.9"};

/// Loads of rows that follow each other may reach over their ends, where rows have so many bytes.
inline constexpr size_type least_touching_row_bytes =
    tuning_row{32, "2026-11-22", "without, with: floats, rows of 150 70, 88, of 1000 88, 88"};

/// Columns of tiles that fused calls with two outputs walk along side by side: with 32, 128 and 512, 16381 x 16411.
inline constexpr size_type dual_strip_width =
    tuning_row{512, "2026-11-22", "floats 83.0, 84.9, 85.4"};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
