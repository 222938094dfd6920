// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which matrices the turned kernel takes, and the boxes it cuts them into. Host only.

#pragma once

#include <tiletranspose/detail/panel/row_pitch.cuh>
#include <tiletranspose/detail/panel/vectorised_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// True where elements have turned shapes.
constexpr bool has_turned_shape(int element_bytes, int unit) { return unit == element_bytes; }

/// Side of a micro-block: what permutes make of words, or accesses of 8 or 16 bytes.
constexpr int turned_side_of(int element_bytes) {
  return element_bytes <= 2 ? 4 : element_bytes <= 8 ? 2 : 1;
}

/// Boxes of 16 KB, and of 32 and 44 KB for matrices that do not fit or that would leave them half empty. H200,
/// 2026-11-21, 1 byte, 128 x 128: 97, 96 and 89 % of cudaMemcpyAsync; floats, 32 x 32: 97, 96 and 97.
template <int ElementBytes>
using turned_box = turned_shape<ElementBytes, 256, turned_side_of(ElementBytes)>;
template <int ElementBytes>
using medium_turned_box = turned_shape<ElementBytes, 512, turned_side_of(ElementBytes)>;
template <int ElementBytes>
using large_turned_box = turned_shape<ElementBytes, 704, turned_side_of(ElementBytes)>;

/// Three rows of bytes, turned into pixels.
using pixel_box = turned_shape<1, 256, 3, 4>;

/// `pieces`: some columns of matrices that are too large for a box.
enum class turned_kind { none, matrices, few_columns, few_rows, pieces };

/// Columns or rows are few where they take so many bytes; more do better in tiles. H200, 2026-11-21, floats:
/// 32 columns 94 % and 93, 64 columns 93 and 94.
inline constexpr size_type few_bytes = 128;

/// True where matrices, whose output rows are whole sectors, waste no more than a fifth of the tiles of whole accesses
/// that they take, and bytes that do not fit a small box no more than half: their tiles may be half empty across. H200,
/// 2026-11-22, tiles and turned boxes: 128 x 64 floats 100 and 98 %, 112 x 112 97 and 98.5, 104 x 112 95 and 99, 64 x
/// 48 97.5 and 99; bytes, 192 x 192 97.5 and 95, 176 x 160 95.5 and 98.5, 160 x 160 93 and 99.
inline bool fill_tiles(const tile_problem& problem, size_type element, size_type tile_rows,
                       size_type tile_cols) {
  const size_type cols = divide_up(problem.nx, tile_cols) * tile_cols;
  const size_type rows = divide_up(problem.ny, tile_rows) * tile_rows;
  const size_type elements = problem.nx * problem.ny;
  return element == 1 && elements >= turned_box<1>::box_bytes ? 2 * elements >= cols * rows
                                                              : 5 * elements >= 4 * cols * rows;
}

/// What pays for a request whose matrices do not fill tiles.
inline turned_kind choose_turned(const tile_problem& problem, size_type batch, size_type element) {
  const auto side = static_cast<size_type>(turned_side_of(static_cast<int>(element)));
  const size_type nx = problem.nx;
  const size_type ny = problem.ny;
  const size_type starts =
      reinterpret_cast<size_type>(problem.in) | reinterpret_cast<size_type>(problem.out);
  const bool pixels = element == 1 && ny == pixel_box::rows;
  if (problem.pointer_arrays || nx % side != 0 || (ny % side != 0 && !pixels) ||
      starts % max_access_bytes != 0) {
    return turned_kind::none;
  }
  constexpr size_type most_bytes = large_turned_box<1>::box_bytes;
  const bool in_dense = problem.in_stride_bytes == nx * element;
  const bool out_dense = problem.out_stride_bytes == ny * element;
  const size_type matrix_bytes = nx * ny * element;
  if (batch > 1 && in_dense && out_dense && !pixels && problem.in_batch_bytes == matrix_bytes &&
      problem.out_batch_bytes == matrix_bytes && matrix_bytes <= most_bytes) {
    return turned_kind::matrices;
  }
  const size_type gaps = batch > 1 ? problem.in_batch_bytes | problem.out_batch_bytes : 0;
  const auto multiples = [&](size_type stride_bytes, size_type extent, size_type bytes) {
    return (starts | gaps | stride_bytes | extent * element) % bytes == 0;
  };
  if (in_dense && nx * element <= few_bytes &&
      multiples(problem.out_stride_bytes, ny, max_access_bytes)) {
    return turned_kind::few_columns;
  }
  if (out_dense && ny * element <= few_bytes &&
      multiples(problem.in_stride_bytes, nx, max_access_bytes)) {
    return turned_kind::few_rows;
  }
  // Short pieces of rows have to be whole sectors.
  const bool pieces = batch > 1 && out_dense && element >= 4 &&
                      ny * 128 <= medium_turned_box<1>::box_bytes &&
                      multiples(problem.in_stride_bytes, nx, sector_bytes);
  return pieces ? turned_kind::pieces : turned_kind::none;
}

struct turned_plan {
  turned_arguments arguments;
  size_type blocks;
  unsigned shared_bytes;
};

/// Elements of a long side that a box takes: whole lines where there are many boxes, else even parts.
template <class Shape>
constexpr size_type cut_side(size_type extent, size_type other_bytes) {
  constexpr size_type line = 128 / Shape::element_bytes;
  constexpr size_type sector = sector_bytes / Shape::element_bytes;
  const size_type most = Shape::box_bytes / other_bytes;
  const size_type lines = most / line * line;
  if (extent > 16 * lines) { return lines; }
  const size_type even = divide_up(extent, divide_up(extent, most / sector * sector));
  return divide_up(even, sector) * sector;
}

/// Precondition: choose_turned named the kind; matrices fit Shape::box_bytes.
template <class Shape>
turned_plan plan_turned(const tile_problem& problem, size_type batch, turned_kind kind) {
  constexpr size_type element = Shape::element_bytes;
  constexpr size_type rows = Shape::rows;
  constexpr size_type cols = Shape::cols;
  const size_type row_bytes = problem.nx * element;
  const size_type col_bytes = problem.ny * element;
  const size_type matrix_bytes = problem.nx * col_bytes;
  turned_plan plan{};
  turned_arguments& arguments = plan.arguments;
  turned_side& in = arguments.in_side;
  turned_side& out = arguments.out_side;
  size_type box_matrices = 1;
  size_type box_rows = problem.ny;
  size_type box_cols = problem.nx;
  size_type in_pieces = 1;
  size_type out_pieces = 1;
  size_type parts = 0;
  size_type box_parts = 0;
  if (kind == turned_kind::matrices) {
    box_matrices = smaller(batch, Shape::box_bytes / matrix_bytes);
    parts = batch;
    box_parts = box_matrices;
    arguments.part_rows = static_cast<unsigned>(box_rows / rows);
    arguments.all_cols = static_cast<unsigned>(box_cols / cols);
    in.part = out.part = static_cast<unsigned>(matrix_bytes);
    in.box_bytes = out.box_bytes = box_matrices * matrix_bytes;
  } else if (kind == turned_kind::few_columns) {
    box_rows = cut_side<Shape>(problem.ny, row_bytes);
    parts = problem.ny / rows;
    box_parts = box_rows / rows;
    arguments.part_rows = 1;
    arguments.all_cols = static_cast<unsigned>(box_cols / cols);
    in.part = static_cast<unsigned>(rows * row_bytes);
    out.part = static_cast<unsigned>(rows * element);
    in.box_bytes = box_rows * row_bytes;
    out.box_bytes = box_rows * element;
    out_pieces = box_cols;
  } else {
    box_cols = cut_side<Shape>(problem.nx, col_bytes);
    parts = problem.nx / cols;
    box_parts = box_cols / cols;
    arguments.all_rows = static_cast<unsigned>(box_rows / rows);
    arguments.part_cols = 1;
    in.part = Shape::access;
    out.part = static_cast<unsigned>(cols * col_bytes);
    in.box_bytes = box_cols * element;
    out.box_bytes = box_cols * col_bytes;
    in_pieces = box_rows;
  }
  const size_type boxes = divide_up(parts, box_parts);
  plan.blocks = (kind == turned_kind::matrices ? 1 : batch) * boxes;
  if (parts >= size_type{1} << 31 || plan.blocks >= size_type{1} << 31) {
    plan.blocks = 0;  // another kernel splits the work
    return plan;
  }
  const size_type chunks = box_matrices * box_rows * box_cols * element / max_access_bytes;
  const size_type in_groups = box_matrices * (box_rows / rows);
  const size_type out_groups = Shape::pixels ? 1 : box_matrices * (box_cols / cols);
  const auto describe = [&](turned_side& one, size_type pieces, size_type groups, size_type length,
                            size_type stride_bytes, size_type batch_bytes) {
    one.batch_bytes = batch_bytes;
    one.piece_bytes = stride_bytes;
    one.piece = divider(chunks / pieces);
    one.row_bytes = static_cast<unsigned>(length * element);
    one.group = divider(chunks / groups);
  };
  describe(in, in_pieces, in_groups, box_cols, problem.in_stride_bytes, problem.in_batch_bytes);
  describe(out, out_pieces, out_groups, box_rows, problem.out_stride_bytes,
           problem.out_batch_bytes);
  constexpr unsigned words = Shape::access / 4;
  arguments.strip_shift = strip_shift(words, in_groups, box_cols / cols);
  in.pitch = strip_pitch(in.group.divisor, words, box_cols / cols, arguments.strip_shift);
  if (in_groups * in.pitch * max_access_bytes > default_shared_bytes) {
    arguments.strip_shift = 0;
    in.pitch = filled_pitch(in.group.divisor);
  }
  out.pitch = turned_pitch(out.group.divisor);
  in.step = in.pitch * max_access_bytes;
  out.step = Shape::pixels ? Shape::micro_bytes : out.pitch * max_access_bytes;
  arguments.in = static_cast<const unsigned char*>(problem.in);
  arguments.out = static_cast<unsigned char*>(problem.out);
  arguments.boxes = divider(boxes);
  arguments.parts = static_cast<unsigned>(parts);
  arguments.box_parts = static_cast<unsigned>(box_parts);
  arguments.chunks = static_cast<unsigned>(chunks);
  arguments.rows = divider(box_rows / rows);
  arguments.cols = divider(box_cols / cols);
  plan.shared_bytes = static_cast<unsigned>(max_access_bytes *
                                            larger(in_groups * in.pitch, out_groups * out.pitch));
  if (plan.shared_bytes > default_shared_bytes) { plan.blocks = 0; }
  return plan;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
