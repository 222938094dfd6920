// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From a relocation to rows. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/request/relocation.cuh>
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

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
