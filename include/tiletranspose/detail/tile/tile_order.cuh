// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The order in which blocks take the tiles of a matrix, and what a launch of the tile kernel tells them.

#pragma once

#include <tiletranspose/detail/choose/tuning_tile.cuh>
#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/request/problem.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The order in which blocks take tiles: down a strip of `width` columns of input tiles, side by side, then
/// down the next strip. Going down makes neighbouring blocks write neighbouring memory; tiles side by side
/// read it. A walk that jumps goes down some tiles (jump_rows_of), takes as many from the strip `jump` further to the
/// right, and so on.
struct tile_order {
  /// The tiles that a walk goes down before it jumps; other kernels than move_tile were timed with these alone.
  static constexpr unsigned jump_rows = static_cast<unsigned>(tiles_before_jump);
  /// The same for tiles of so many rows.
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned jump_rows_of(int tile_rows) {
    return tile_rows == 64 ? static_cast<unsigned>(tiles_of_64_rows_before_jump) : jump_rows;
  }

  divider matrix;      ///< tiles of one matrix
  divider strip;       ///< tiles of a full strip
  divider width;       ///< columns of tiles in a full strip
  divider last_width;  ///< and in the last one
  unsigned last_strip;
  unsigned jump;  ///< 0, or less than there are strips of which none is narrower

  struct place {
    size_type batch;
    size_type row_tile;
    size_type col_tile;
  };

  tile_order() = default;

  /// Precondition: 1 <= row_tiles * col_tiles < 2^31.
  tile_order(size_type row_tiles, size_type col_tiles, size_type wanted_width)
      : matrix(row_tiles * col_tiles), jump(0) {
    const size_type columns = wanted_width < col_tiles ? wanted_width : col_tiles;
    const size_type strips = (col_tiles + columns - 1) / columns;
    strip = divider(columns * row_tiles);
    width = divider(columns);
    last_width = divider(col_tiles - (strips - 1) * columns);
    last_strip = static_cast<unsigned>(strips - 1);
  }

  /// Makes the walk jump by half of the matrix, if strips are alike.
  void jump_half() { jump = last_width.divisor == width.divisor ? (last_strip + 1) / 2 : 0; }

  TILETRANSPOSE_FUNCTION place operator()(unsigned block, unsigned down = jump_rows) const {
    const unsigned batch = matrix.quotient(block);
    return in_matrix(matrix.remainder(block, batch), batch, down);
  }
  /// The place of a tile, counted from the matrix' first one.
  TILETRANSPOSE_FUNCTION place in_matrix(unsigned tile, unsigned batch = 0,
                                         unsigned down = jump_rows) const {
    const unsigned at_strip = strip.quotient(tile);
    const unsigned in_strip = strip.remainder(tile, at_strip);
    const divider columns = at_strip == last_strip ? last_width : width;
    const unsigned row = columns.quotient(in_strip);
    const unsigned col = columns.remainder(in_strip, row);
    unsigned to_strip = at_strip;
    if (jump != 0 && row / down % 2 != 0) {
      to_strip += to_strip + jump <= last_strip ? jump : jump - last_strip - 1;
    }
    return {batch, row, size_type{to_strip} * width.divisor + col};
  }
};

struct tile_arguments {
  tile_problem problem;
  tile_order order;
  unsigned sector_mask;  ///< 31 where output rows may start off a sector, else 0
  unsigned tile_cols;    ///< columns of a tile, at most the shape's
  /// Rows of the input follow each other without a gap, so that loads may reach over their ends into the next ones.
  bool rows_touch = false;
  /// So do rows of the output, so that the last segment of one goes on to where the first of the next starts.
  bool cols_touch = false;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
