// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What is tuned of panels, a row for each number: which matrices are moved in panels, and how large these are. Plain C++17.

#pragma once

#include <tiletranspose/detail/choose/tuning_row.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What a panel is made of.
enum class panel_kind {
  none,
  few_columns,    ///< some rows of a matrix of few columns
  few_rows,       ///< some columns of a matrix of few rows
  small_matrices  ///< several matrices of a batch, or one
};

/// Blocks of word-shifted panels that share a multiprocessor as far as registers go.
inline constexpr size_type shifted_blocks =
    tuning_row{5, "2026-11-21", "six blocks, five: batches of 150 x 150 bytes 83, 97"};

// ---- gathered panels: which matrices

/// Matrices of which every block may hold one, with pads and tables, are as large as this.
inline constexpr size_type large_matrix_bytes =
    tuning_row{40 * 1024, "2026-11-25", "batches of 90 x 110 floats 59, 91"};

/// Where a block may ask for more, so many of them share a multiprocessor at least: of parts of words, and of words.
/// Tiles of whole accesses, where they can be, are better for all but 2-byte elements.
inline constexpr size_type blocks_of_largest_matrix =
    tuning_row{2, "2026-11-21", "bytes, 251 x 253 62, 89; 2 bytes, 160 x 160 77, 93"};
inline constexpr size_type blocks_of_largest_words = tuning_row{
    3, "2026-11-21", "floats, 129 x 127 84, 92; 201 x 127, which two blocks hold, 89, 82"};

/// Rows of so many bytes, or a multiple, begin in few banks: matrices of 1 and 2 bytes are word-shifted, as few rows, or tiles.
inline constexpr size_type conflicting_row_bytes =
    tuning_row{64, "2026-11-28",
               "gathered, few rows: bytes, 132 rows of 832 68, 86; halves, 296 of 192 52, 81"};

/// The largest matrix of a batch that a panel of accesses of a width holds. \param shared_bytes  what a block may ask for
constexpr size_type largest_whole_matrix(int access_bytes, size_type shared_bytes) {
  const size_type blocks = access_bytes < 4 ? blocks_of_largest_matrix : blocks_of_largest_words;
  const size_type most = shared_bytes / blocks - 2048;
  return most > large_matrix_bytes ? most : large_matrix_bytes;
}

/// Up to so many rows of elements of 1 and 2 bytes are written as parts of longer segments where the matrices of a batch
/// are too large for a panel. Of words tiles are better.
inline constexpr size_type short_rows = tuning_row{
    224, "2026-11-25", "bytes, 1001 columns, tiles, panels: 200 rows 94, 127, 250 106, 61"};
/// In word-shifted panels columns of so many bytes, and of more where matrices would fill less than so many percent of tiles.
/// Such matrices have few columns and rows where those of a single one would be few, too (most_shifted_columns).
inline constexpr size_type most_shifted_batch_bytes = tuning_row{
    448, "2026-11-28", "tiles, panels: bytes, 248 rows of 956 67, 83, 494 of 966 75, 70"};
inline constexpr size_type most_shifted_unfilled_bytes = tuning_row{
    600, "2026-11-28", "tiles, panels: bytes, 524 rows of 288 45, 73; halves, 296 of 278 71, 80"};
inline constexpr size_type least_filled_by_panels =
    tuning_row{70, "2026-11-28",
               "tiles, panels: halves, 66 percent 73, 83, 85 80, 77; bytes, 63 61, 75, 83 77, 59"};

/// Columns or rows of elements of 1 and 2 bytes are few up to half a tile's, and so many however small the tile is.
inline constexpr size_type most_few_columns =
    tuning_row{64, "2026-11-21", "2 bytes: 33 rows 34, 86, 64 columns 55, 87"};

/// Columns and rows are few up to so many, of whole words and of others, and so many bytes. Speed of panels beside tiles':
inline constexpr size_type most_few_words =
    tuning_row{100, "2026-11-25", "floats, 60 rows 1.15, 100 rows 1.00, 145 0.94"};
inline constexpr size_type most_few_packed =
    tuning_row{72, "2026-11-25", "3 bytes, 72 columns 1.09, 80 0.91, 72 rows 1.40"};
inline constexpr size_type most_few_bytes =
    tuning_row{560, "2026-11-27", "12 bytes, 44 rows 1.13, 50 1.01; doubles, 33 1.14, 65 0.91"};
/// Fewer where tiles lose less: columns of words of one matrix, others of whole sectors, rows of whole accesses on both sides.
inline constexpr size_type most_few_in_tiles =
    tuning_row{40, "2026-11-27", "doubles, 36 columns 1.06, 48 0.92; floats, 40 0.97, 96 0.90"};

/// Rows of a short side that have gaps between them are segments of their own. Of elements of whole words, those of the input
/// go in panels up to so many bytes, and those of the output never; of others both do from so many elements on. Batches with
/// rows that are so short are little work, however many: 16 x 22 halves with 64 between, 117116 times, 4 % in panels, 33.
inline constexpr size_type most_apart_bytes =
    tuning_row{96, "2026-11-25", "without panels, in them: floats, 24 columns 56, 61, 31 72, 68"};
inline constexpr size_type least_apart_elements =
    tuning_row{12, "2026-11-25", "likewise: bytes, 8 columns 21, 10, 13 8, 22"};
/// So are batches whose matrices have gaps between them and so few elements, of 4 bytes and more and of fewer. Larger ones are
/// gathered, several to a panel; up to so many bytes they do not go in vectorised panels, which take them one by one.
inline constexpr size_type most_apart_matrix_words =
    tuning_row{256, "2026-11-27", "panels, little: floats, 96 76, 105, 256 107, 113, 512 111, 114"};
inline constexpr size_type most_apart_matrix_packed =
    tuning_row{32, "2026-11-27", "panels, little: bytes, 16 28, 38, 64 46, 39; halves, 32 53, 66"};
inline constexpr size_type most_apart_gathered_bytes =
    tuning_row{4096, "2026-11-27", "vectorised, gathered: 16 bytes, 1 KB 43, 119, 4 KB 68, 102"};
/// Smaller matrices of such a side are little work: the L2 cache holds what is read twice.
inline constexpr size_type least_apart_matrix_bytes = tuning_row{
    32 << 20, "2026-11-25", "us, elements, panels: floats, 11 of 12 columns, 24 MB 19.6, 24.2"};
constexpr bool goes_in_panels_apart(size_type elements, size_type element, bool of_input) {
  return element % 4 == 0 ? of_input && elements * element <= most_apart_bytes
                          : elements >= least_apart_elements;
}

/// Gathered panels of little more work than counts as little take parts of longer rows.
inline constexpr size_type most_whole_row_bytes =
    tuning_row{144, "2026-11-27", "6 MB, little, gathered: bytes, 138 columns 65, 74, 149 66, 51"};

// ---- vectorised panels

/// Columns or rows are few where they take so many bytes; more do better in tiles.
inline constexpr size_type few_bytes =
    tuning_row{128, "2026-11-21", "floats, tiles, panels: 32 columns 93, 94, 64 columns 94, 93"};

/// Three rows of fewer bytes are gathered: a panel has room for 4096 columns.
inline constexpr size_type least_pixel_columns =
    tuning_row{3072, "2026-11-26", "gathered 144; batches of 3 x 2048 bytes 87; 3 x 3136 150"};

// ---- word-shifted panels

/// Bytes of a panel, which takes twice as much shared memory.
inline constexpr size_type shifted_matrices_bytes = tuning_row{
    24000, "2026-11-21", "batches of 49 x 51 bytes at 12, 16, 20 and 24 KB 93, 94, 97, 96"};
inline constexpr size_type shifted_columns_bytes =
    tuning_row{20 * 1024, "2026-11-21", "much the same from 12 to 24 KB"};
inline constexpr size_type shifted_rows_bytes =
    tuning_row{24 * 1024, "2026-11-21", "bytes at 12, 24, 36 and 48 KB: 7 rows 74, 90, 88, 80"};

/// Of 1- and 2-byte elements that are moved so or gathered, more columns are few, and more rows: that many, and so many bytes.
inline constexpr size_type most_shifted_columns = tuning_row{
    200, "2026-11-27", "tiles, panels: 1 byte, 150 columns 75, 87, 199 84, 85, 204 83, 55"};
inline constexpr size_type most_shifted_row_bytes =
    tuning_row{256, "2026-11-27", "tiles, panels: 2 bytes, 120 columns 85, 89, 140 88, 84"};
inline constexpr size_type most_shifted_rows =
    tuning_row{260, "2026-11-22", "1 byte, 100 66, 90, 150 56, 82, 257 71, 81, 300 81, 79"};
inline constexpr size_type most_shifted_column_bytes =
    tuning_row{304, "2026-11-22", "2 bytes, 100 67, 92, 150 53, 88"};

/// Fewer rows of bytes are gathered; of halves, so many rows less one are shifted, too.
inline constexpr size_type least_shifted_rows = tuning_row{
    11, "2026-11-28", "gathered, shifted: bytes, 10 rows 95, 86, 11 89, 92; halves, 10 90, 97"};
/// Columns are gathered, but for multiples of 16, and for those multiples of 8 whose rows have more bytes.
inline constexpr size_type most_gathered_eighths_bytes = tuning_row{
    100, "2026-11-27", "shifted, gathered: bytes, 63 columns 69, 94, 150 78, 87, 168 84, 70"};
/// So are matrices of a batch of fewer bytes, where rows of neither side are whole words, and where those of one are.
inline constexpr size_type least_shifted_bytes = tuning_row{
    256, "2026-11-21", "gathered, shifted: 7 x 9 bytes 91, 60, 17 x 13 87, 83, 25 x 25 91, 95"};
inline constexpr size_type least_word_bytes =
    tuning_row{64, "2026-11-21", "gathered, shifted: 8 x 9 bytes 85, 94"};
/// Of lanes whose matrices lie about a multiple of 128 bytes apart, so many may use one bank.
inline constexpr size_type most_walking_ways =
    tuning_row{4, "2026-11-22", "gathered, shifted, of more: bytes, 17 x 30 93, 61, 5 x 77 71, 53"};
/// So many rows of bytes, four words each, reach eight banks.
inline constexpr size_type rows_in_eight_banks =
    tuning_row{16, "2026-11-21", "gathered, shifted: bytes, 50 x 16 96, 82"};

/// A matrix whose output has no room beside it is moved in about so many parts at most, if its rows have so many bytes.
inline constexpr size_type most_shifted_parts =
    tuning_row{4, "2026-11-22", "gathered, in parts: bytes, 251 x 253 89, 96, 301 x 299 65, 84"};
inline constexpr size_type least_parted_bytes = tuning_row{64, "2026-11-22", "as the row above"};

/// Three blocks share a multiprocessor where two parts will do.
inline constexpr size_type blocks_of_parts =
    tuning_row{3, "2026-11-22", "whole matrices, two parts: bytes, 199 x 201 92, 97"};

/// Panels of more rows, in shared memory, read shorter parts of them: up to 499 rows three blocks share a multiprocessor.
inline constexpr size_type most_shifted_rows_bytes =
    tuning_row{75000, "2026-11-28",
               "parts of 128 bytes, these: bytes, 389 rows of 876 46, 66, 408 of 360 47, 67"};

/// A warp reads up to `most_few_columns` rows one at a time, up to so many two at a time, and more four or eight at a time.
inline constexpr size_type most_rows_by_half_rounds = tuning_row{
    108, "2026-11-22", "rows of 128, 256 bytes: 100 rows 83, 90; 129 77, 76; 200 86, 57"};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
