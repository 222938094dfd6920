// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Where columns of a rectangle in place move in step 3, rectangle_grid.cuh, and the arguments of a launch over bands
/// of them.

#pragma once

#include <tiletranspose/detail/choose/choose_inplace.cuh>
#include <tiletranspose/detail/core/async_copy.cuh>
#include <tiletranspose/detail/inplace/rectangle_grid.cuh>
#include <tiletranspose/detail/inplace/segment_layout.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Accesses that a thread of a column has under way. All of them take registers, the more where copies cannot run
/// in the background.
template <int Access>
inline constexpr unsigned column_batch = Access >= 4 && Access < 16 && copies_async ? 8
                                         : Access == 1                              ? 3
                                                                                    : 4;

/// Step 3 for a band: in which row elements are after it. A walk visits every `stride`-th row of a column.
struct column_walk {
  /// What `stride` rows are: whole squares, and rows of one.
  struct step {
    unsigned rows;   ///< stride % g
    unsigned shift;  ///< stride / g squares further on, step 3 is so many rows further on, modulo p

    step() = default;
    /// Precondition: stride <= m.
    TILETRANSPOSE_FUNCTION step(const rectangle& grid, unsigned stride) {
      const unsigned squares = grid.by_common.quotient(stride);
      rows = grid.by_common.remainder(stride, squares);
      shift =
          grid.modulo_tall.remainder(static_cast<unsigned long long>(squares) * grid.wide_inverse);
    }
  };

  unsigned s;  ///< row in its square
  unsigned x;  ///< (P - Q) / q % p

  /// Precondition: row < m, and `left`, squares to the left of the column, < p.
  TILETRANSPOSE_FUNCTION column_walk(const rectangle& grid, unsigned row, unsigned left) {
    const unsigned above = grid.by_common.quotient(row);
    s = grid.by_common.remainder(row, above);
    const unsigned diagonal = above >= left ? above - left : above + grid.tall - left;
    x = grid.modulo_tall.remainder(static_cast<unsigned long long>(diagonal) * grid.wide_inverse);
  }
  TILETRANSPOSE_FUNCTION unsigned row(const rectangle& grid) const { return s * grid.tall + x; }
  TILETRANSPOSE_FUNCTION void advance(const rectangle& grid, const step& by) {
    s += by.rows;
    x = add_modulo(x, by.shift, grid.tall);
    if (s >= grid.common) {
      s -= grid.common;
      x = add_modulo(x, grid.wide_inverse, grid.tall);
    }
  }
};

/// A launch over bands of columns, whose widths are counted in accesses: the columns of a square move alike, whatever
/// their elements, so that an access may move several of them, or part of one. A block takes tiles of bands, one after
/// the other.
struct column_arguments {
  const unsigned char* source;  ///< the data, or a copy of the launch's columns
  unsigned char* data;
  /// For each band the tiles that have been read; null where the source is a copy that nobody writes. The memory
  /// that a tile is written to has been read by others: they must all have done so.
  unsigned* arrived;
  size_type source_pitch;  ///< bytes
  size_type data_pitch;    ///< bytes
  rectangle grid;
  unsigned first_access;    ///< of a row
  unsigned accesses;        ///< of all bands of the launch
  unsigned band_accesses;   ///< of a band; the last may have fewer
  divider square_accesses;  ///< of a square
  unsigned tile_rows;
  divider band_tiles;       ///< tiles of a band
  unsigned tiles;           ///< of all bands
  unsigned blocks;          ///< of the launch
  unsigned tile_pitch;      ///< bytes between rows of the tile in shared memory
  unsigned lines;           ///< rows of a tile that threads take at a time
  column_walk::step step;   ///< of `lines` rows
  segment_layout segments;  ///< what the grid's elements are, if they are segments

  /// Blocks that must run at once: tiles of a band wait for each other.
  unsigned together() const { return band_tiles.divisor; }
  /// Of all that is read.
  size_type source_bytes() const {
    return grid.rows * source_pitch + segments.gaps(grid.rows * grid.cols - 1);
  }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
