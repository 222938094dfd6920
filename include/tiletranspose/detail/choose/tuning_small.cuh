// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Where little work ends: the tuning rows of the mover in detail/small. Plain C++17.
///
/// Measured inside a graph of 40 calls on one NVIDIA H200 (132 multiprocessors), CUDA 13.0, 2026-11-23 to 2026-11-25,
/// against the movers for large problems at 2 KB to 67 MB. Up to 1 MB most calls gain a factor of 2 to 5, at the limits nothing.

#pragma once

#include <tiletranspose/config.cuh>
#include <tiletranspose/detail/choose/tuning.cuh>
#include <tiletranspose/detail/choose/tuning_row.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Up to how many elements the mover for little work is the fastest. Where a limit is 0 it is never taken, and what takes
/// nothing is not compiled.
struct small_limits {
  int element_bytes;
  size_type tile;           ///< transposes whose sides are both long
  size_type whole;          ///< the same where rows of both sides start at multiples of 16 bytes
  size_type pitched;        ///< `tile` where rows have gaps, or those of the output run backwards
  size_type fused;          ///< `tile` with an operation on the way to one output
  size_type fused_whole;    ///< `whole` with an operation
  size_type narrow;         ///< transposes with a side of at most narrow_side elements
  size_type rows;           ///< flips and reverses
  size_type small_tile;     ///< up to here tiles are of 16 x 16 elements, then of 32 x 32
  size_type direct_side;    ///< sides up to this are moved directly, without a tile
  size_type square_side;    ///< squares in place of up to so many rows
  size_type whole_square;   ///< the same where rows start at multiples of 16 bytes
  size_type square_tile;    ///< squares of more rows go through tiles of 32 x 32, others of 16 x 16
  size_type vectors;        ///< whole tiles of 16-byte accesses are faster than elements up to here
  size_type vector_blocks;  ///< if there are so many of these tiles
  size_type written_bytes;  ///< up to here blocks take one tile that the caller wrote, else strips
};

/// As many elements as little work ever has.
inline constexpr size_type all_work = size_type{1} << 30;

/// Elements of other sizes take the row of the next smaller size. A user's rows stand in TILETRANSPOSE_SMALL_TUNING.
///
/// `tile`, `whole`, `narrow` and `rows`, but of elements above 16 bytes, are tiletranspose_tune's on an NVIDIA H200.
/// Geometric means of what they gained where they decide: narrow matrices 1.05 to 1.5, whole rows 1.03 to 1.19, flips 1.04
/// to 1.32. What the others gained: squares of 600 to 2400 rows 1.1 to 2.6; fused calls of 2 to 11 million elements, which
/// have no tall tiles, 1.0 to 1.6; matrices with gaps of bytes 1.0 to 1.6; 12 bytes in large tiles 1.1 to 1.2, 3 and 8
/// bytes in small ones 1.06 to 1.12.
///
/// Whole tiles of bytes and halves share the multiprocessors' work from 32 on: 512 x 512 bytes, 16 tiles, 1.54 us and
/// 1.40 by elements; 512 x 512 halves, 64 tiles, 1.29 and 1.45. Wider elements gain from the first tile on: 64 x 64
/// floats 1.04 us instead of 1.14, doubles 1.05 instead of 1.21.
inline constexpr small_limits small_tuning[] = {
#if defined(TILETRANSPOSE_SMALL_TUNING)
    TILETRANSPOSE_SMALL_TUNING
#else
    // bytes, tile, whole, pitched, fused, whole,
    // narrow, rows, small tile, direct; squares: any, whole, tile; vectors, blocks; written
    {1, 10'000'000, 1'800'000, 10'700'000, 10'700'000, 4'000'000,  //
     1'800'000, 2'000'000, 0, 8, 2800, 800, 560, 16'777'216, 32, 16'000'000},
    {2, 7'100'000, 5'000'000, 7'100'000, 11'000'000, 7'500'000,  //
     2'400'000, 3'500'000, 0, 8, 3200, 800, 560, 8'388'608, 32, 16'000'000},
    {3, 4'500'000, 3'500'000, 5'600'000, 6'500'000, 5'600'000,  //
     1'800'000, 1'800'000, 30'000, 8, 2300, 2300, 560, 0, 0, 16'000'000},
    {4, 4'000'000, 5'000'000, 4'000'000, 8'000'000, 6'000'000,  //
     5'000'000, 5'500'000, 0, 8, 3000, 2000, 640, 4'194'304, 1, 16'000'000},
    {5, 1'500'000, 1'500'000, 1'500'000, 1'500'000, 1'500'000,  //
     1'200'000, 880'000, 0, 8, 1000, 1000, 1000, 0, 0, 16'000'000},
    {8, 3'500'000, 5'000'000, 4'000'000, 4'000'000, 5'000'000,  //
     3'500'000, 2'500'000, 40'000, 6, 2200, 2200, 600, 1'048'576, 1, 16'000'000},
    {9, 1'200'000, 1'200'000, 700'000, 2'100'000, 2'100'000,  //
     2'500'000, 10'000'000, 250'000, 6, 2000, 2200, 500, 0, 0, 16'000'000},
    {16, 2'500'000, 2'500'000, 2'500'000, 2'500'000, 2'500'000,  //
     1'800'000, 1'800'000, all_work, 4, 2200, 2200, 850, 0, 0, 40'000'000},
    {17, 60'000, 110'000, 250'000, 250'000, 250'000,  //
     160'000, 250'000, all_work, 4, 300, 300, 300, 0, 0, 16'000'000},
#endif
};

constexpr bool are_in_order(const small_limits* rows, size_type count) {
  int before = 0;
  for (size_type i = 0; i < count; ++i) {
    if (rows[i].element_bytes <= before) { return false; }
    before = rows[i].element_bytes;
  }
  return rows[0].element_bytes == 1;
}
static_assert(are_in_order(small_tuning, sizeof(small_tuning) / sizeof(small_tuning[0])),
              "tt: the rows of TILETRANSPOSE_SMALL_TUNING must ascend by their element size, and "
              "begin with that of 1 byte");

/// Sides up to this are short to the other movers, too, whose panels take them.
inline constexpr size_type narrow_side = 32;

/// Sides up to this leave large tiles mostly empty. Where no panel takes them, of pitched matrices and in fused calls, they
/// are moved as little work is, however many they are.
constexpr size_type lone_side(int element_bytes) { return element_bytes <= 2 ? 64 : 32; }

/// Elements up to this size go through tiles of 32 x 32 where several axes make up a side.
inline constexpr int widest_large_tile_element = 8;

/// Sides from here on have limits of their own where rows are whole accesses. Of bytes and halves, shorter ones fill no
/// whole tile and are left to panels, of which there are too few.
inline constexpr tuning_row least_whole_narrow{
    300, h200, "2026-11-25", "us: 160 x 8928 bytes 7.4 in panels, 2.4 by the explicit form"};
constexpr size_type least_whole_side(int element_bytes) {
  return element_bytes <= 2 ? least_whole_narrow : narrow_side + 1;
}

/// Matrices of a batch, of at most so many elements, have twice the limits of `narrow` and `direct`: they would leave most
/// threads of a tile idle, and panels are slower. 500 of 12 x 12 floats 1.61 us in tiles and 1.31 directly; 300 of 16 x
/// 16 1.42 and 1.32; 50000 of 3 x 5 bytes 4.75 in panels and 2.77, halves 3.44 and 2.77, 8 bytes 5.90 and 3.03.
inline constexpr size_type small_matrix = 2048;

/// Rows up to this are counted together with their neighbours: 59 x 257 bytes 1.11 us together, 1.19 by themselves;
/// 137 x 139 1.23 and 1.13.
inline constexpr size_type short_row = 100;

/// Up to so many elements that are moved directly, or in rows, are one a thread; wider ones than widest_row_element always.
inline constexpr tuning_row few_row_elements{
    150'000, h200, "2026-11-25",
    "us, reversed, four a thread and one: 20001 bytes 1.13, 1.05; 200001 1.30, 1.35"};
inline constexpr int widest_row_element = 8;

/// Tiles that the caller wrote, of wide elements, whose output rows start inside of sectors: so many threads a
/// multiprocessor at a time leave fewer sectors half written. Doubles, % of cudaMemcpyAsync with 1536 threads and with
/// 1024: 509 x 143857 71, 80; 11587 x 11597 80, 83; 16384 x 8192, whose rows start on sectors, 95, 89. 12 bytes,
/// 308 x 130329 74, 79.
inline constexpr int most_ragged_threads = 1024;
inline constexpr int least_ragged_element = 8;

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
