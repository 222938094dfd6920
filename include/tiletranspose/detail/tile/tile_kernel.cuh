// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The bodies of the kernels for large matrices, and for small ones of whole tiles: one tile a block.
///
/// *Fill*: threads read rows of the input, transpose micro-blocks in registers and write their columns into shared
/// memory, where each row holds a segment of one **output** row as plain bytes:
///
///     input                          shared memory                     output
///     row r0-X  . . . .              column c0    | r0-X .. r0+TR |    row c0    ....[== segment ==]....
///     row r0    a b c d      fill    column c0+1  | r0-X .. r0+TR |    row c0+1  ..[== segment ==]......
///     row r0+1  e f g h     ----->   ...                         drain ...
///     ...                            column c0+TC |               | ----->
///
/// *Drain*: threads copy a segment of each shared row to the output. X rows more than the tile are read where rows of the
/// output start off their sectors: each segment then starts earlier by its row's distance from its sector (detail/README.md).

#pragma once

#include <tiletranspose/detail/request/problem.cuh>
#include <tiletranspose/detail/tile/tile_fill.cuh>
#include <tiletranspose/detail/tile/tile_plan.cuh>
#include <tiletranspose/detail/tile/tile_segments.cuh>
#include <tiletranspose/detail/tile/tile_shape.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Where the tile of a place goes in the matrix at `out`, its segments not joined.
template <class Shape>
TILETRANSPOSE_FUNCTION tile_target make_target(const tile_arguments& arguments,
                                               const tile_order::place& at, unsigned char* out) {
  const matrix_problem& problem = arguments.problem;
  const size_type row_bytes = problem.ny * Shape::element_bytes;
  const size_type segment = at.row_tile * Shape::segment_bytes;
  const size_type first_col = at.col_tile * arguments.tile_cols;
  return {out + first_col * problem.out_stride_bytes + segment,
          problem.out_stride_bytes,
          smaller(clipped_distance(first_col, problem.nx), static_cast<int>(arguments.tile_cols)),
          clipped_distance(segment, 0),
          clipped_distance(segment, row_bytes),
          arguments.sector_mask};
}

/// And where it comes from in the one at `in`.
template <class Shape>
TILETRANSPOSE_FUNCTION tile_source make_source(const tile_arguments& arguments,
                                               const tile_order::place& at,
                                               const unsigned char* in) {
  const matrix_problem& problem = arguments.problem;
  const size_type first_row = at.row_tile * Shape::tile_rows;
  const size_type first_byte = at.col_tile * arguments.tile_cols * Shape::in_bytes;
  return {in + first_row * problem.in_stride_bytes + first_byte,
          problem.in_stride_bytes,
          clipped_distance(first_row, 0),
          clipped_distance(first_row, problem.ny),
          clipped_distance(first_byte, 0),
          clipped_distance(first_byte, problem.nx * Shape::in_bytes)};
}

/// Moves a tile down by its skew, where rows of the output touch. The first segment of an output row then starts at the
/// first sector behind the row's start, or the one after it, and the last segment ends where the first one of the next
/// row starts: of that row it holds the first elements, which the input has in its first rows, a column further right:
///
///     input, ny rows             output rows c, c + 1              segments of row c
///     row 0         a A          a b c d e f|A B C D E F           k = 0: c d e
///     ...           . .                                            k = 1: f A B
///     row ny - 1    f F          rows ny, ny + 1 of column c: A B
///
/// Only the matrix' first row has bytes before its segments, and only its last row ends inside of one; drain_matrix_ends.
/// Elements that are stored one by one, and those moved in parts, would lose by it.
/// Precondition: at least twice as many rows as the skew has.
template <class Shape>
TILETRANSPOSE_FUNCTION void join_segments(tile_source& source, tile_target& target,
                                          const tile_arguments& arguments,
                                          const tile_order::place& at) {
  constexpr int bytes = Shape::element_bytes;
  constexpr int rows = Shape::skew_rows;
  const matrix_problem& problem = arguments.problem;
  source.first += rows * source.stride_bytes;
  source.first_row -= rows;
  source.end_row -= rows;
  source.next_rows = rows;
  source.next_bytes = bytes - static_cast<long long>(problem.ny * problem.in_stride_bytes);
  target.first += rows * bytes;
  target.first_byte -= rows * bytes;
  target.joined_bytes = rows * bytes;
  target.matrix = problem.out_matrix(at.batch);
  target.matrix_end = target.matrix + problem.nx * problem.out_stride_bytes;
}

/// True where every load of a tile reads inside of the matrix, and every store of its segments writes inside
/// of their rows. Where rows touch, loads that reach over an end of a row read the next one.
template <class Shape>
TILETRANSPOSE_FUNCTION bool is_interior(const tile_source& source, int row_bytes, bool skewed,
                                        bool rows_touch) {
  // Loads that start at a boundary reach over both ends of the tile.
  constexpr int reach = Shape::shifts_loads ? 4 : Shape::deals_loads ? 16 : 0;
  const int first_row = skewed ? -Shape::skew_rows : 0;
  const bool has_neighbours =
      rows_touch && source.first_row < first_row && source.end_row > Shape::tile_rows;
  return source.first_row <= first_row && source.end_row >= Shape::tile_rows &&
         (has_neighbours ? Shape::varies_width || source.end_byte >= row_bytes
                         : source.first_byte <= -reach && source.end_byte >= row_bytes + reach);
}

template <class Shape, bool Interior, class Group>
TILETRANSPOSE_FUNCTION void move_tile_between(Group group, unsigned char* shared,
                                              const tile_source& source,
                                              const tile_target& target) {
  const bool skewed = target.sector_mask != 0;
  if constexpr (Shape::deals_loads) {
    constexpr int skew = Shape::skew_rows;
    fill_rows_dealt<Shape, Interior, skew + Shape::tile_rows>(group, shared, source, -skew, skewed,
                                                              target.rows);
    if (!Interior && source.next_rows > 0 && source.end_row < Shape::tile_rows) {
      constexpr int bytes = Shape::element_bytes;
      const tile_source next{source.first + source.next_bytes,
                             source.stride_bytes,
                             source.end_row,
                             smaller(source.end_row + source.next_rows, Shape::tile_rows),
                             source.first_byte - bytes,
                             source.end_byte - bytes};
      fill_rows_dealt<Shape, false, skew>(group, shared, next, source.end_row, true, target.rows);
    }
  } else {
    constexpr int lead = Shape::leads_with_tile ? Shape::skew_rows : 0;
    if constexpr (!Interior && Shape::loops_at_edges) {
      static_assert((lead + Shape::tile_rows) % Shape::round_rows == 0, "");
      TILETRANSPOSE_UNROLL_BY(1)
      for (int row = -lead; row < Shape::tile_rows; row += Shape::round_rows) {
        fill_rows<Shape, false, Shape::round_rows>(group, shared, source, row, skewed ? -lead : 0,
                                                   target.rows);
      }
    } else {
      fill_rows<Shape, Interior, lead + Shape::tile_rows>(group, shared, source, -lead,
                                                          skewed ? -lead : 0, target.rows);
    }
    if constexpr (lead == 0) {
      if (skewed) {
        fill_rows<Shape, Interior, Shape::skew_rows>(group, shared, source, -Shape::skew_rows,
                                                     -Shape::skew_rows, target.rows);
      }
    }
  }
  group.sync();
  if constexpr (!Interior && Shape::shifts_loads) {
    // Where a tile touches the first or the last bytes of its rows, `fill_rows` leaves out their words.
    const int reach = 4 + (source.next_rows > 0 ? Shape::element_bytes : 0);
    const bool has_row_ends =
        source.first_byte > -3 || source.end_byte < Shape::tile_cols * Shape::element_bytes + reach;
    if (has_row_ends) {
      const int lead = skewed ? Shape::skew_rows : 0;
      fill_row_ends<Shape>(group, shared, source, -lead, Shape::tile_rows + lead);
      group.sync();
    }
  }
  target.drain_segments<Shape, Interior>(group, shared);
}

/// The shape of tiles with fewer columns, which whole tiles need not ask for.
template <class Shape>
struct narrower_shape : Shape {
  static constexpr bool varies_width = true;
};

/// The kernel's body: one block moves the tile that `block` names.
/// Shared memory: Shape::shared_bytes, aligned to 16. Barriers: inside.
template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void move_tile(Group group, unsigned char* shared,
                                      const tile_arguments& arguments, unsigned block) {
  const tile_order::place at = arguments.order(block, tile_order::jump_rows_of(Shape::tile_rows));
  tile_source source = make_source<Shape>(arguments, at, arguments.problem.in_matrix(at.batch));
  tile_target target = make_target<Shape>(arguments, at, arguments.problem.out_matrix(at.batch));
  if constexpr (Shape::joins_segments) {
    if (arguments.cols_touch) { join_segments<Shape>(source, target, arguments, at); }
  }
  const int row_bytes = static_cast<int>(arguments.tile_cols) * Shape::element_bytes;
  const bool skewed = arguments.sector_mask != 0;
  // The first tile of joined segments has the bytes before them, too.
  const bool first =
      Shape::joins_segments && arguments.cols_touch && at.row_tile + at.col_tile == 0;
  const bool whole = !first && (Shape::varies_width || arguments.tile_cols == Shape::tile_cols);
  if (whole && is_interior<Shape>(source, row_bytes, skewed, arguments.rows_touch)) {
    move_tile_between<Shape, true>(group, shared, source, target);
    return;
  }
  if constexpr (Shape::shifts_loads && !Shape::varies_width) {
    using narrower = narrower_shape<Shape>;
    if (!first && is_interior<narrower>(source, row_bytes, skewed, arguments.rows_touch)) {
      move_tile_between<narrower, true>(group, shared, source, target);
      return;
    }
  }
  move_tile_between<Shape, false>(group, shared, source, target);
}

/// The body of the kernel for whole tiles of a matrix so small that the time to the first load counts: the
/// block's tile is its place in a two-dimensional grid, and no tile needs a question.
/// Shared memory: Shape::shared_bytes, aligned to 16. Barriers: inside.
template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void move_vector_tile(Group group, unsigned char* shared,
                                             const matrix_problem& problem, unsigned tile_row,
                                             unsigned tile_col) {
  constexpr int row_bytes = Shape::tile_cols * Shape::element_bytes;
  const size_type in_stride = problem.in_stride_bytes;
  const size_type out_stride = problem.out_stride_bytes;
  const auto* const in = static_cast<const unsigned char*>(problem.in) +
                         tile_row * Shape::tile_rows * in_stride + tile_col * row_bytes;
  auto* const out = static_cast<unsigned char*>(problem.out) +
                    tile_col * Shape::tile_cols * out_stride + tile_row * Shape::segment_bytes;
  move_tile_between<Shape, true>(group, shared, {in, in_stride, 0, Shape::tile_rows, 0, row_bytes},
                                 {out, out_stride, Shape::tile_cols, 0, Shape::segment_bytes, 0});
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
