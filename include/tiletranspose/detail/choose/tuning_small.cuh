// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Where little work ends: the tuning rows of the mover in detail/small. Plain C++17.
///
/// Measured inside a graph of 40 calls on one NVIDIA H200 (132 multiprocessors), CUDA 13.0, 2026-11-23, against the
/// movers for large problems at 2 KB to 67 MB. Up to 1 MB most calls gain a factor of 2 to 5, at the limits nothing.

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Up to how many elements the mover for little work is the fastest.
struct small_limits {
  int element_bytes;
  size_type tile;         ///< transposes whose sides are both long
  size_type whole;        ///< the same where rows of both sides start at multiples of 16 bytes
  size_type narrow;       ///< transposes with a side of at most narrow_side elements
  size_type rows;         ///< flips and reverses
  size_type vectors;      ///< whole tiles of 16-byte accesses are faster than elements up to here
  size_type direct_side;  ///< sides up to this are moved directly, without a tile
};

/// Elements of other sizes take the row of the next smaller size.
inline constexpr small_limits small_tuning[] = {
    // bytes    tile      whole     narrow    rows    vectors  direct
    {1, 7'000'000, 1'000'000, 400'000, 2'000'000, 16'777'216, 8},   //
    {2, 5'000'000, 3'500'000, 500'000, 1'700'000, 8'388'608, 8},    //
    {3, 4'500'000, 4'500'000, 2'000'000, 1'200'000, 0, 8},          //
    {4, 4'000'000, 2'000'000, 700'000, 1'100'000, 4'194'304, 8},    //
    {5, 1'500'000, 1'500'000, 1'500'000, 1'200'000, 0, 8},          //
    {8, 3'500'000, 2'500'000, 1'200'000, 2'500'000, 1'048'576, 4},  //
    {9, 700'000, 700'000, 700'000, 1'300'000, 0, 8},                //
    {16, 2'000'000, 2'000'000, 1'200'000, 1'200'000, 0, 4},         //
    {17, 250'000, 250'000, 250'000, 250'000, 0, 4},                 //
};

/// Sides up to this are short to the other movers, too, whose panels take them.
inline constexpr size_type narrow_side = 32;

/// Elements up to this size go through tiles of 32 x 32, wider ones through tiles of 16 x 16. Below 0.1 MB tiles of 16
/// x 16 would gain 5 % of 1 to 4 bytes and 10 % of 8: 137 x 139 floats 1.19 us in tiles of 32, 1.13 of 16; 333 x 500
/// 1.46, 1.54; 1001 x 999 doubles 3.97, 4.41; 333 x 500 of 12 bytes 2.29, 2.16; 1001 x 999 of 16 bytes 5.88, 5.96.
inline constexpr int widest_large_tile_element = 8;

/// Rows up to this are counted together with their neighbours: 59 x 257 bytes 1.11 us together, 1.19 by themselves;
/// 137 x 139 1.23 and 1.13.
inline constexpr size_type short_row = 100;

/// Whole tiles of 16-byte accesses take over where so many blocks of them share the multiprocessors' work: 512 x 512
/// bytes, 16 blocks, 1.54 us and 1.40 by elements; 512 x 512 halves, 64 blocks, 1.29 and 1.45.
inline constexpr size_type least_vector_blocks = 32;

/// Squares in place of up to so many a side are swapped element by element.
constexpr size_type little_square_side(int element_bytes) {
  return element_bytes <= 16 ? 700 : 300;
}

/// Tiles that the caller wrote are taken one a block up to so many bytes, else in strips.
inline constexpr size_type written_tile_bytes = 16'000'000;

/// Tiles that the caller wrote, of wide elements, whose output rows start inside of sectors: so many threads a
/// multiprocessor at a time leave fewer sectors half written. Doubles, % of cudaMemcpyAsync with 1536 threads and with
/// 1024: 509 x 143857 71, 80; 11587 x 11597 80, 83; 16384 x 8192, whose rows start on sectors, 95, 89. 12 bytes,
/// 308 x 130329 74, 79.
inline constexpr int most_ragged_threads = 1024;
inline constexpr int least_ragged_element = 8;

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
