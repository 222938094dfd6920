// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How a matrix is cut into tiles, the order in which blocks take them, and what a launch tells the kernel. Plain C++17.

#pragma once

#include <tiletranspose/detail/choose/tuning_tile.cuh>
#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/request/problem.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The order in which blocks take tiles: down a strip of `width` columns of input tiles, side by side, then down the next
/// strip. Going down makes neighbouring blocks write neighbouring memory; tiles side by side read it. A walk that jumps goes
/// down some tiles (jump_rows_of), takes as many from the strip `jump` further to the right, and so on.
struct tile_order {
  /// The tiles of so many rows that a walk goes down before it jumps. Other kernels than move_tile take the usual number.
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned jump_rows_of(int tile_rows) {
    return static_cast<unsigned>(tile_rows == 64 ? tiles_of_64_rows_before_jump
                                                 : tiles_before_jump);
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
    const size_type strips = divide_up(col_tiles, columns);
    strip = divider(columns * row_tiles);
    width = divider(columns);
    last_width = divider(col_tiles - (strips - 1) * columns);
    last_strip = static_cast<unsigned>(strips - 1);
  }

  /// Makes the walk jump by half of the matrix, if strips are alike.
  void jump_half() { jump = last_width.divisor == width.divisor ? (last_strip + 1) / 2 : 0; }

  TILETRANSPOSE_FUNCTION place operator()(unsigned block, unsigned down = jump_rows_of(0)) const {
    const unsigned batch = matrix.quotient(block);
    const unsigned tile = matrix.remainder(block, batch);
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
  matrix_problem problem;
  tile_order order;
  unsigned sector_mask;  ///< 31 where output rows may start off a sector, else 0
  unsigned tile_cols;    ///< columns of a tile, at most the shape's
  /// Rows of the input follow each other without a gap, so that loads may reach over their ends into the next ones.
  bool rows_touch = false;
  /// So do rows of the output, so that the last segment of one goes on to where the first of the next starts.
  bool cols_touch = false;
};

/// Cuts a problem into tiles of `segment_bytes` of an output row and arguments.tile_cols columns of the input, and says
/// how many there are: max_blocks + 1 where one launch cannot take them all.
inline size_type order_tiles(tile_arguments& arguments, size_type batch, size_type out_element,
                             int segment_bytes, size_type strip_width) {
  // Joined segments of a row begin and end with sectors, and cover as many as would hold the row.
  const unsigned skew = arguments.cols_touch ? 0 : arguments.sector_mask;
  const matrix_problem& problem = arguments.problem;
  const size_type row_tiles =
      divide_up(problem.ny * out_element + skew, static_cast<size_type>(segment_bytes));
  const size_type col_tiles = divide_up(problem.nx, arguments.tile_cols);
  if (row_tiles > max_blocks / col_tiles || row_tiles * col_tiles > max_blocks / batch) {
    return max_blocks + 1;
  }
  arguments.order = tile_order(row_tiles, col_tiles, strip_width);
  // Rows of the input lie so far apart that reads down a strip fall on the same memory parts, and half a row away on others.
  const auto stride = static_cast<long long>(problem.in_stride_bytes);
  if (arguments.sector_mask == 0 && distance(stride) == jump_stride_bytes &&
      problem.ny >= least_jump_rows && problem.ny <= most_jump_rows) {
    arguments.order.jump_half();
  }
  return row_tiles * col_tiles * batch;
}

/// Columns of tiles that are walked down side by side: `usual`, or by narrow_row_bytes where a matrix is narrow or tall.
inline size_type strip_width_of(const matrix_problem& problem, size_type element_bytes,
                                size_type tile_cols, size_type cols, size_type usual) {
  const size_type most = larger<size_type>(narrow_row_bytes / (tile_cols * element_bytes), 1);
  const size_type col_tiles = divide_up(problem.nx, cols);
  const bool shares_lines = element_bytes > 2 && problem.in_stride_bytes % 128 != 0;
  const size_type most_rows = shares_lines ? most_column_rows_off_lines : most_column_rows;
  return col_tiles <= most || problem.ny > most_rows
             ? divide_up(col_tiles, divide_up(col_tiles, most))
             : usual;
}

/// `strip_width` columns of tiles are walked down side by side, but in narrow matrices and tall ones.
template <class Shape>
launch_plan<tile_arguments> plan_tiles(const batch_problem& problem, size_type strip_width) {
  constexpr size_type element_bytes = Shape::element_bytes;
  constexpr size_type most_cols = Shape::tile_cols;
  size_type cols = most_cols;
  // Tiles that may have any width get about the same, as far as that costs none of them a question that it had not.
  if (Shape::deals_loads || (Shape::shifts_loads && problem.nx <= 2 * cols)) {
    const size_type even = divide_up(problem.nx, divide_up(problem.nx, cols));
    cols = smaller<size_type>(cols, divide_up(even, 8) * 8);
  }
  launch_plan<tile_arguments> plan{{problem, {}, sector_mask(problem), static_cast<unsigned>(cols)},
                                   0,
                                   Shape::threads,
                                   Shape::shared_bytes};
  tile_arguments& arguments = plan.arguments;
  const size_type row_bytes = problem.nx * element_bytes;
  arguments.rows_touch =
      row_bytes >= least_touching_row_bytes && is_dense(problem.in_stride_bytes, row_bytes);
  // The precondition of join_segments.
  arguments.cols_touch = Shape::joins_segments && arguments.sector_mask != 0 &&
                         problem.ny >= 2 * Shape::skew_rows &&
                         problem.out_stride_bytes == problem.ny * element_bytes;
  if (!Shape::whole) {
    strip_width = strip_width_of(problem, element_bytes, most_cols, cols, strip_width);
  }
  plan.blocks =
      order_tiles(arguments, problem.batch, element_bytes, Shape::segment_bytes, strip_width);
  return plan;
}

/// Of vector_kernel, whose grid is two-dimensional. Precondition: sides are multiples of the tile's.
template <class Shape>
launch_plan<matrix_problem> plan_vector_tiles(const matrix_problem& problem) {
  return {problem, problem.nx / Shape::tile_cols, Shape::threads, 0, problem.ny / Shape::tile_rows};
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
