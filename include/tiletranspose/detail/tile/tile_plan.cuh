// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How a matrix is cut into tiles, and the order in which blocks take them. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/tuning_tile.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/tile/tile_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// True where rows of the input lie so far apart that reads down a strip fall on the same parts of the memory, and
/// reads half a row away in others.
inline bool jumps(const tile_problem& problem) {
  const size_type stride = jump_stride_bytes;
  return (problem.in_stride_bytes == stride || problem.in_stride_bytes == 0 - stride) &&
         problem.ny >= least_jump_rows && problem.ny <= most_jump_rows;
}

/// Cuts a problem into tiles of `segment_bytes` of an output row and arguments.tile_cols columns of the input;
/// false where one launch cannot take them all.
inline bool order_tiles(tile_arguments& arguments, size_type batch, size_type out_element,
                        int segment_bytes, int strip_width, size_type& blocks) {
  // Joined segments of a row begin and end with sectors, and cover as many as would hold the row.
  const unsigned skew = arguments.cols_touch ? 0 : arguments.sector_mask;
  const size_type row_tiles =
      divide_up(arguments.problem.ny * out_element + skew, static_cast<size_type>(segment_bytes));
  const size_type col_tiles = divide_up(arguments.problem.nx, arguments.tile_cols);
  if (row_tiles > max_blocks / col_tiles || row_tiles * col_tiles > max_blocks / batch) {
    return false;
  }
  blocks = row_tiles * col_tiles * batch;
  arguments.order = tile_order(row_tiles, col_tiles, static_cast<size_type>(strip_width));
  if (arguments.sector_mask == 0 && jumps(arguments.problem)) { arguments.order.jump_half(); }
  return true;
}

/// What a plan has to know of the shape of a tile.
struct tile_traits {
  size_type element_bytes;
  size_type tile_cols;
  int threads;
  int segment_bytes;
  size_type shared_bytes;
  int strip_width;
  bool whole;
  bool deals_loads;
  bool shifts_loads;
  size_type
      joined_rows;  ///< from which segments go on from one output row to the next; 0 where they do not
};

/// From a shape and the columns of tiles that are walked down side by side.
template <class Shape>
constexpr tile_traits traits_of(int strip_width) {
  tile_traits traits{};
  traits.element_bytes = Shape::element_bytes;
  traits.tile_cols = Shape::tile_cols;
  traits.threads = Shape::threads;
  traits.segment_bytes = Shape::segment_bytes;
  traits.shared_bytes = Shape::shared_bytes;
  traits.strip_width = strip_width;
  traits.whole = Shape::whole;
  traits.deals_loads = Shape::deals_loads;
  traits.shifts_loads = Shape::shifts_loads;
  if constexpr (Shape::joins_segments) { traits.joined_rows = 2 * Shape::skew_rows; }
  return traits;
}

inline launch_plan<tile_arguments> plan_tiles(const tile_problem& problem, size_type batch,
                                              const tile_traits& shape) {
  size_type cols = shape.tile_cols;
  const size_type most_tiles =
      larger<size_type>(narrow_row_bytes / (cols * shape.element_bytes), 1);
  // Tiles that may have any width get about the same, as far as that costs none of them a question that it had not.
  if (shape.deals_loads || (shape.shifts_loads && problem.nx <= 2 * cols)) {
    const size_type even = divide_up(problem.nx, divide_up(problem.nx, cols));
    cols = smaller<size_type>(cols, divide_up(even, 8) * 8);
  }
  launch_plan<tile_arguments> plan{
      {problem, {}, sector_mask(problem, batch), static_cast<unsigned>(cols)},
      max_blocks + 1,
      shape.threads,
      shape.shared_bytes};
  tile_arguments& arguments = plan.arguments;
  const size_type row_bytes = problem.nx * shape.element_bytes;
  arguments.rows_touch =
      row_bytes >= least_touching_row_bytes && is_dense(problem.in_stride_bytes, row_bytes);
  if (shape.joined_rows > 0) {  // by join_segments
    arguments.cols_touch = arguments.sector_mask != 0 && problem.ny >= shape.joined_rows &&
                           problem.out_stride_bytes == problem.ny * shape.element_bytes;
  }
  const size_type col_tiles = divide_up(problem.nx, cols);
  const bool narrow = !shape.whole && (col_tiles <= most_tiles || problem.ny > most_column_rows);
  const size_type strip_width = divide_up(col_tiles, divide_up(col_tiles, most_tiles));
  size_type blocks = 0;
  if (order_tiles(arguments, batch, shape.element_bytes, shape.segment_bytes,
                  narrow ? static_cast<int>(strip_width) : shape.strip_width, blocks)) {
    plan.blocks = blocks;
  }
  return plan;
}

/// What vector_kernel is called with; the grid is two-dimensional.
struct vector_tile_arguments {
  const void* in;
  void* out;
  size_type in_stride_bytes;
  size_type out_stride_bytes;
};

/// Precondition: sides are multiples of the tile's.
template <class Shape>
launch_plan<vector_tile_arguments> plan_vector_tiles(const tile_problem& problem) {
  return {{problem.in, problem.out, problem.in_stride_bytes, problem.out_stride_bytes},
          problem.nx / Shape::tile_cols,
          Shape::threads,
          0,
          problem.ny / Shape::tile_rows};
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
