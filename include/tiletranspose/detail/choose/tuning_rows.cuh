// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The tuning rows of the mover in detail/rows: how many threads and accesses a block has, and from which sizes on rows
/// are joined or reversed by another kernel. Plain C++17.
///
/// Figures are percent of cudaMemcpyAsync's speed on one NVIDIA H200 (132 multiprocessors), CUDA 13.0, 2026-11-21 and
/// 2026-11-22.

#pragma once

#include <tiletranspose/detail/choose/tuning_row.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The most threads of a block; it has no more than its segments need. With 128, 256 and 512: rows of 8191 bytes 88, 98, 85.
inline constexpr int row_block_threads = 256;

/// Accesses of 16 bytes that a thread has under way where rows go through shared memory: with 2, 4 and 8 85, 98, 87.
inline constexpr int row_rounds = 4;

/// The same where words of joined rows are assembled one by one. With 4, 6 and 8, rows of 100 bytes flipped: 1 byte 85, 94, 99;
/// floats 88, 97, 99. Elements of 8 bytes and more have enough with 4: 12 bytes 93, and 85 with 8.
inline constexpr int word_rounds = 8;

/// Blocks of a multiprocessor that leave a kernel the registers it needs, for each way to what an access writes. Accesses
/// whose bytes lie together gain from blocks up to 6: rows of 1001 bytes reversed 96, with 8 90.
inline constexpr int together_row_blocks = 6;
inline constexpr int word_row_blocks = 4;  ///< words of joined rows
inline constexpr int byte_row_blocks = 3;  ///< the same byte by byte
inline constexpr int access_row_blocks = 6;
inline constexpr int grouped_row_blocks = 5;

/// Rows up to so many bytes that are taken from the last to the first count as the elements of one array. Row by row and as
/// elements, floats: rows of 124 bytes 48, 95; 508 87, 98; 2044 97, 99; in place 124 bytes 48, 93; 2044 95, 96.
inline constexpr size_type most_element_row_bytes = 2047;
/// The same of rows of whole lines: 256 bytes 95, 98; 512 98, 97; 1024 100, 97.
inline constexpr size_type most_element_line_bytes = 256;

/// Rows up to so many bytes are joined whose accesses lie together in the input, of elements of 1, 2 and 4 bytes. One by one
/// and joined, bytes: rows of 252 68, 99; 1000 96, 99; 1200 99, 98; in place 256 77, 95; 1000 95, 97.
inline constexpr size_type most_joined_word_bytes = 1023;
/// The same where joined rows are read access by access: 264 72, 90; 384 95, 93; in place 256 79, 96; 448 93, 98.
inline constexpr size_type most_joined_access_bytes = 448;
/// The same of all others: 40 bytes, 480 96, 92; 3, 5 and 6 bytes, 396 76, 61; 83, 62; 76, 60.
inline constexpr size_type most_joined_other_bytes = 256;

/// Odd elements of so many bytes and more are not grouped, but read access by access.
inline constexpr int least_ungrouped_element = 32;

/// Shorter rows of grouped elements are joined instead.
inline constexpr size_type least_grouped_row_bytes = 1024;
/// The same of elements of less than 15 bytes: rows of 481 bytes, 13 an element, joined 73, by themselves 79.
inline constexpr size_type least_small_grouped_row_bytes = 256;
inline constexpr size_type least_large_grouped_element = 15;

/// The least shared memory of a full block that reverses groups, so that a multiprocessor holds five of them: 98, six 92.
inline constexpr unsigned least_grouped_memory = 38 * 1024;

/// Segments of packed elements are no multiples of this: those that a block reads lie as far from the row's end as those that
/// it writes from its start, and would fall on the same parts of the memory.
inline constexpr size_type uneven_segment_bytes = tuning_row{
    4096, "2026-11-24", "3 bytes, rows of 4096 92, 98, 16384 92, 97; 12 bytes, 4096 93, 98"};

/// Segments with gaps between them, of rows or of matrices, go element by element up to so many bytes: of elements of whole
/// words, of halves and of others. Row kernel, elements: bytes, 12 in each row 9, 39, 50 34, 45, 100 50, 44.
inline constexpr size_type most_apart_words_bytes = tuning_row{
    384, "2026-11-27", "H100, row kernel, elements: floats, 12 bytes 8, 42, 350 95, 111"};
inline constexpr size_type most_apart_halves_bytes =
    tuning_row{160, "2026-11-27", "likewise: 12 bytes 9, 50, 70 46, 89, 130 58, 67, 260 74, 65"};
inline constexpr size_type most_apart_packed_bytes =
    tuning_row{80, "2026-11-27", "likewise: 3 bytes, 12 9, 31, 50 29, 43, 130 52, 47"};
constexpr size_type most_apart_segment_bytes(size_type element_bytes) {
  return element_bytes % 4 == 0   ? most_apart_words_bytes
         : element_bytes % 2 == 0 ? most_apart_halves_bytes
                                  : most_apart_packed_bytes;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
