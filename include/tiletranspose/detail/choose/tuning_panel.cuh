// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What is tuned of panels, a row for each number: which matrices are moved in panels, and how large these are. Plain
/// C++17.

#pragma once

#include <tiletranspose/detail/choose/tuning_row.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Threads of a block of each kind of panel.
inline constexpr int panel_threads = 256;

/// Blocks of word-shifted panels that share a multiprocessor as far as registers go.
inline constexpr tuning_row shifted_blocks{5, h200, "2026-11-21",
                                           "six blocks, five: batches of 150 x 150 bytes 83, 97"};

// ---- gathered panels: which matrices

/// Matrices of which every block may hold one, with pads and tables, are as large as this.
inline constexpr tuning_row large_matrix_bytes{40 * 1024, h200, "2026-11-25",
                                               "batches of 90 x 110 floats 59, 91"};

/// Where a block may ask for more, so many of them share a multiprocessor at least: of parts of words, and of words.
/// Tiles of whole accesses, where they can be, are better for all but 2-byte elements.
inline constexpr tuning_row blocks_of_largest_matrix{
    2, h200, "2026-11-21",
    "bytes, 250 x 250 83, 89, 251 x 253 62, 89; 2 bytes, 160 x 160 77, 93; but 336 x 336 bytes, "
    "whole, 89, 70"};
inline constexpr tuning_row blocks_of_largest_words{
    3, h200, "2026-11-21", "floats, 129 x 127 84, 92; 201 x 127, which two blocks hold, 89, 82"};

/// Up to so many rows of elements of 1 and 2 bytes are written as parts of longer segments where the matrices of a batch
/// are too large for a panel. Of words tiles are better.
inline constexpr tuning_row short_rows{
    224, h200, "2026-11-25",
    "1001 columns, tiles, panels, % of cudaMemcpyAsync in a graph: bytes, 125 rows 102, 128, 200 "
    "94, "
    "127, 250 106, 61; floats, 125 rows 136, 105, 160 141, 143, 250 145, 119"};

/// Columns or rows of elements of 1 and 2 bytes are few up to half a tile's, and so many however small the tile is.
inline constexpr tuning_row most_few_columns{64, h200, "2026-11-21",
                                             "2 bytes: 33 rows 34, 86, 64 columns 55, 87"};

/// Longer rows of the output are better off in two tiles; of words, elements of more bytes are not.
inline constexpr tuning_row most_element_beyond_a_tile{40, h200, "2026-11-22",
                                                       "40 bytes 80, 92, 48 bytes 93, 93"};
inline constexpr tuning_row most_element_of_two_tiles{20, h200, "2026-11-22",
                                                      "20 bytes, 50 rows 93, 90; 24 bytes 76, 92"};
inline constexpr tuning_row most_tiled_row_bytes{
    816, h200, "2026-11-22",
    "one tile of rows and a few more: 16 bytes, 45 rows 91, 93, 55 95, 92; 20 bytes, 38 84, 90, 50 "
    "93, 90; 8 bytes, 33 78, 93; 24 bytes, 50 76, 92"};

/// Columns and rows are few up to so many forty-eighths of a tile's, by which all of these fractions are whole numbers.
/// Columns of elements of several whole words, of single words and of bytes, and of halves of words:
inline constexpr tuning_row few_columns_of_words{
    32, h200, "2026-11-22",
    "8 bytes, 33 83, 90, 43 88, 89, 50 89, 87; 12 bytes, 17 72, 90, 24 91, 89"};
inline constexpr tuning_row few_columns_of_bytes{
    16, h200, "2026-11-22",
    "4 bytes, 24 90, 93, 36 92, 92, 43 92, 89; 3 bytes, 36 58, 61, 47 70, 62; 31 bytes, 5 59, 62, "
    "8 80, 59"};
inline constexpr tuning_row few_columns_of_halves{24, h200, "2026-11-22",
                                                  "6 bytes, 31 81, 90, 36 83, 79"};

/// Rows of whole words: of tiles of whole accesses, below it; of more than a tile's, up to it; and of those that start
/// off sectors.
inline constexpr tuning_row few_rows_of_whole_tiles{
    36, h200, "2026-11-22", "floats, 40 rows 92, 94, 48 97, 93; 8 bytes, 40 90, 94, 48 94, 93"};
inline constexpr tuning_row few_rows_beyond_a_tile{
    60, h200, "2026-11-22",
    "12 bytes, 33 56, 90; 28 bytes, 17 57, 93; 40 bytes 80, 92; 48 bytes 93, 93"};
inline constexpr tuning_row few_skewed_rows{
    102, h200, "2026-11-22", "floats, 65 66, 90, 100 85, 92; 12 bytes, 50 82, 89, 72 93, 87"};
/// Rows of parts of words, but not those of one whole tile.
inline constexpr tuning_row few_rows_of_parts{51, h200, "2026-11-25",
                                              "3 bytes, tiles, panels: 50 71, 84; 64 95, 72"};

/// Rows of a short side that have gaps between them are segments of their own. Of elements of whole words, those of the input
/// go in panels up to so many bytes, and those of the output never; of others both do from so many elements on.
inline constexpr tuning_row most_apart_bytes{96, h200, "2026-11-25",
                                             "a gap of one element, elements or tiles, panels: "
                                             "floats, 3 columns 44, 84, 8 23, 48, 24 56, 61, "
                                             "31 72, 68; 8 bytes, 7 42, 81, 17 86, 76; 12 bytes, 7 "
                                             "33, 78, 20 84, 81; 5 rows of floats 50, 25"};
inline constexpr tuning_row least_apart_elements{
    12, h200, "2026-11-25",
    "likewise: bytes, 8 columns 21, 10, 13 8, 22, 33 19, 36; 8 rows 26, 18, 13 5, 30, 33 11, 23; 3 "
    "bytes, 13 columns 9, 42, 13 rows 12, 32"};
constexpr bool goes_in_panels_apart(size_type elements, size_type element, bool of_input) {
  return element % 4 == 0 ? of_input && elements * element <= most_apart_bytes
                          : elements >= least_apart_elements;
}

// ---- vectorised panels

/// Columns or rows are few where they take so many bytes; more do better in tiles.
inline constexpr tuning_row few_bytes{
    128, h200, "2026-11-21", "floats, tiles, panels: 32 columns 93, 94, 64 columns 94, 93"};

// ---- word-shifted panels

/// Bytes of a panel, which takes twice as much shared memory.
inline constexpr tuning_row shifted_matrices_bytes{
    24000, h200, "2026-11-21", "batches of 49 x 51 bytes at 12, 16, 20 and 24 KB 93, 94, 97, 96"};
inline constexpr tuning_row shifted_columns_bytes{20 * 1024, h200, "2026-11-21",
                                                  "much the same from 12 to 24 KB"};
inline constexpr tuning_row shifted_rows_bytes{24 * 1024, h200, "2026-11-21",
                                               "bytes at 12, 24, 36 and 48 KB: 33 rows 91 each, 20 "
                                               "rows 86, 93, 92, 90, 7 rows 74, 90, 88, 80"};

/// Of 1- and 2-byte elements that are moved so, more columns are few, and more rows: that many, and so many bytes.
inline constexpr tuning_row most_shifted_columns{
    208, h200, "2026-11-22", "1 byte, 130 73, 86, 150 77, 82, 200 82, 85, 257 81, 74"};
inline constexpr tuning_row most_shifted_row_bytes{272, h200, "2026-11-22",
                                                   "2 bytes, 120 83, 90, 130 84, 89, 150 88, 85"};
inline constexpr tuning_row most_shifted_rows{
    260, h200, "2026-11-22", "1 byte, 100 66, 90, 150 56, 82, 257 71, 81, 300 81, 79"};
inline constexpr tuning_row most_shifted_column_bytes{304, h200, "2026-11-22",
                                                      "2 bytes, 100 67, 92, 150 53, 88"};

/// Where the output has few columns, shorter rows of the input are gathered.
inline constexpr tuning_row least_shifted_row_bytes{512, h200, "2026-11-21",
                                                    "a panel would hold the whole row"};
/// Fewer rows are gathered.
inline constexpr tuning_row least_shifted_rows{
    7, h200, "2026-11-21",
    "gathered, shifted: 5 rows of bytes 86, 77, 7 rows 89, 90, 13 rows 87, 93"};
/// So are matrices of fewer bytes, where rows of neither side are whole words, and where those of one are.
inline constexpr tuning_row least_shifted_bytes{
    256, h200, "2026-11-21",
    "gathered, shifted: 7 x 9 bytes 91, 60, 17 x 13 87, 83, 25 x 25 91, 95"};
inline constexpr tuning_row least_word_bytes{64, h200, "2026-11-21",
                                             "gathered, shifted: 8 x 9 bytes 85, 94"};
/// Of lanes whose matrices lie about a multiple of 128 bytes apart, so many may use one bank.
inline constexpr tuning_row most_walking_ways{
    4, h200, "2026-11-22", "gathered, shifted, of more: bytes, 17 x 30 93, 61, 5 x 77 71, 53"};
/// So many rows of bytes, four words each, reach eight banks.
inline constexpr tuning_row rows_in_eight_banks{16, h200, "2026-11-21",
                                                "gathered, shifted: bytes, 50 x 16 96, 82"};

/// A matrix whose output has no room beside it is moved in about so many parts at most, if its rows have so many
/// bytes.
inline constexpr tuning_row most_shifted_parts{
    4, h200, "2026-11-22",
    "gathered, in parts: bytes, 251 x 253 89, 96, 301 x 299 65, 84; 2 bytes, 201 x 203 88, 94"};
inline constexpr tuning_row least_parted_bytes{64, h200, "2026-11-22", "as the row above"};

/// Three blocks share a multiprocessor where two parts will do.
inline constexpr tuning_row blocks_of_parts{3, h200, "2026-11-22",
                                            "whole matrices, two parts: bytes, 199 x 201 92, 97, "
                                            "211 x 213 94, 97; 2 bytes, 141 x 143 93, 97"};

/// Rows of a panel are read by whole rounds of warps, or by parts of them where so many rows are more.
inline constexpr tuning_row most_rows_by_half_rounds{
    108, h200, "2026-11-22",
    "bytes, rows of 128, 256 and 512 bytes: 70 rows 63, 94, 96; 100 rows 83, 90, 90; 129 rows 77, "
    "76, 58; 200 rows 86, 57, 70"};

/// log2 of the groups of columns after which banks may repeat where rows of the output do not start on words, and words
/// are still shifted in rounds: of panels whose output rows follow each other, and of others.
inline constexpr tuning_row most_rounds_of_matrices{
    2, h200, "2026-11-22",
    "gathered, in rounds: batches of 64 x 64 bytes 61, 97, 40 x 40 48, 95, 24 x 24 41, 89; 2 "
    "bytes, 24 x 24 56, 97"};
inline constexpr tuning_row most_rounds_of_columns{
    1, h200, "2026-11-22",
    "bytes, 60 columns of a multiple of 16 57, 88, 33 84, 91; 47 of 8 bytes more 89, 84"};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
