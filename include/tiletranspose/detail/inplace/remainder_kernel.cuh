// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The elements of a rectangle in place that are in no run, run_layout.cuh: a copy of them in scratch memory.

#pragma once

#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/inplace/segment_layout.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline constexpr int rest_threads = 256;

/// The rest in scratch memory is a matrix of r rows: column y has what comes before its first run and then what comes
/// behind its last.
struct rest_arguments {
  unsigned char* data;
  unsigned char* rest;
  size_type row_step;  ///< bytes of the data between elements of a column, which is m of them
  size_type col_step;  ///< and of a row
  run_layout runs;
  unsigned cols;     ///< n
  unsigned skipped;  ///< elements of a column that are in runs
  unsigned count;    ///< n * r
  divider
      line;  ///< n, or r where elements of a column lie together: neighbouring lanes take those that do
  bool down;  ///< the latter
};

/// Copies element `number` of the rest to scratch memory, or back.
template <bool Back, int ElementBytes>
TILETRANSPOSE_FUNCTION void copy_rest(const rest_arguments& arguments, unsigned number) {
  constexpr int unit_bytes = access_width(ElementBytes);
  using unit = access_word_t<unit_bytes>;
  if (number >= arguments.count) { return; }
  const unsigned above = arguments.line.quotient(number);
  const unsigned in_line = arguments.line.remainder(number, above);
  const unsigned col = arguments.down ? above : in_line;
  const unsigned row = arguments.down ? in_line : above;
  const unsigned in_data = row < arguments.runs.phase(col) ? row : arguments.skipped + row;
  unsigned char* const data =
      arguments.data + in_data * arguments.row_step + col * arguments.col_step;
  unsigned char* const rest =
      arguments.rest + (size_type{row} * arguments.cols + col) * ElementBytes;
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < ElementBytes; i += unit_bytes) {
    if constexpr (Back) {
      store_global(data + i, load_global<unit>(rest + i));
    } else {
      store_global(rest + i, load_global<unit>(data + i));
    }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
