// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Rows as a relocation, and relocations of rows. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/axes_panel.cuh>
#include <tiletranspose/detail/rows/row_plan.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A relocation of rows. Rows that run backwards in the input are reversed, and so is their order.
inline row_problem make_rows(const relocation& move) {
  const int y = move.rank - 1;
  const auto element = static_cast<long long>(move.in_element);
  const relocation_axis row = move.axes[y];
  const relocation_axis rows = y >= 1 ? move.axes[y - 1] : relocation_axis{1, 0, 0};
  const relocation_axis matrices = y >= 2 ? move.axes[0] : relocation_axis{1, 0, 0};
  const unsigned char* in = static_cast<const unsigned char*>(move.in);
  if (row.in_stride < 0) { in -= static_cast<long long>(row.extent - 1) * element; }
  if (rows.in_stride < 0) {
    in += static_cast<long long>(rows.extent - 1) * rows.in_stride * element;
  }
  return {{in, move.out, distance(rows.in_stride) * move.in_element,
           static_cast<size_type>(rows.out_stride) * move.out_element,
           static_cast<size_type>(matrices.in_stride) * move.in_element,
           static_cast<size_type>(matrices.out_stride) * move.out_element, row.extent, rows.extent,
           false},
          matrices.extent,
          move.in_element,
          rows.in_stride < 0,
          row.in_stride < 0};
}

/// True where joined rows of elements that reverses_in_panels are so short that a block has the threads for the period of
/// their segments: then a panel's segments run along many rows.
inline bool goes_in_panels(const row_problem& rows, size_type access_bytes) {
  return rows.reverses && !rows.from_last_row && rows.ny > 1 && rows.batch == 1 &&
         !rows.pointer_arrays && rows.dense() &&
         lanes_of_period(rows.row_bytes() / access_bytes, access_bytes) <=
             size_type{panel_axes_threads};
}

/// What moves such rows. Precondition: goes_in_panels.
inline relocation relocation_of(const row_problem& rows) {
  const size_type element = rows.element_bytes;
  const auto length = static_cast<long long>(rows.nx);
  relocation move{{static_cast<const unsigned char*>(rows.in) + (rows.nx - 1) * element, rows.out,
                   element, element, 1, 1},
                  2,
                  {}};
  move.axes[0] = {rows.ny, length, length};
  move.axes[1] = {rows.nx, -1, 1};
  return move;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
