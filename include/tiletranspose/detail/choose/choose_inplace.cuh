// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How squares and rectangles are transposed in place, as far as it follows from sizes alone. Plain C++17.

#pragma once

#include <tiletranspose/detail/choose/tuning_inplace.cuh>
#include <tiletranspose/detail/core/divide.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A tile of a kernel for squares.
struct swap_tile {
  size_type side;
  size_type shared_bytes;  ///< of a pair
};

/// True where a pair of large tiles fits a block, and a problem of so many elements has work for all multiprocessors.
/// Squares of less than two tiles a side would leave most of them empty.
constexpr bool takes_large_tiles(const swap_tile& tile, size_type elements, size_type side,
                                 size_type most_shared) {
  const size_type least = large_tiles * tile.side;
  return side >= 2 * tile.side && elements >= least * least && tile.shared_bytes <= most_shared;
}

/// True where a square of `side` a side has so many of a tile that takes half of a multiprocessor.
constexpr bool has_many_tiles(const swap_tile& tile, size_type side, size_type most_shared) {
  return side >= large_whole_tiles * tile.side && tile.shared_bytes <= most_shared;
}

/// What memory is fetched by: rows of a tile that start on such boundaries share nothing with another tile.
inline constexpr size_type line_bytes = 128;

/// True where a square of `side` a side, whose rows and whose length have the bits `bits`, is moved by whole accesses of
/// 16 bytes, and not by tiles of plain bytes such as `bytes`.
constexpr bool takes_whole_accesses(int element_bytes, size_type side, size_type bits,
                                    const swap_tile& bytes, size_type most_shared) {
  return (bits | side * static_cast<size_type>(element_bytes)) % max_access_bytes == 0 &&
         (element_bytes <= widest_unaligned_whole_element || bits % line_bytes == 0 ||
          !has_many_tiles(bytes, side, most_shared));
}

/// The smallest scratch memory for a matrix: one band, which the longest row fits, too; or all of it, where that is
/// less or where a side is too long for 32-bit arithmetic. Where nothing moves, or a square needs none, it is not 0: who
/// allocates nothing has a null pointer, and would ask again.
constexpr size_type least_scratch(size_type nx, size_type ny, size_type element) {
  const size_type longer = larger(nx, ny);
  const size_type shorter = smaller(nx, ny);
  if (shorter <= 1 || shorter == longer) { return 1; }
  const size_type band_cols = larger<size_type>(band_bytes / element, 1);
  const bool whole = shorter <= band_cols || longer >= size_type{1} << 31;
  return (whole ? shorter : band_cols) * longer * element;
}

/// True where squares and bands of columns are quicker than segments, which are two passes whatever the shape: where one
/// side is a multiple of the other, in rows of whole accesses, and bands are as wide as they need be.
/// \param wide          how many times the shorter side has the greatest common divisor of both
/// \param square_bytes  bytes of a row of a square of that divisor
/// \param band          bytes of a row of a band, 0 where no band fits
constexpr bool takes_bands(size_type wide, size_type square_bytes, size_type band) {
  return wide == 1 && square_bytes % max_access_bytes == 0 && band > 0 &&
         band >= smaller(square_bytes, least_square_band_bytes);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
