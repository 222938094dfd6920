// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The elements of a rectangle in place that are in no segment, segment_layout.cuh: a copy of them in scratch memory.

#pragma once

#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/inplace/segment_layout.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline constexpr int remainder_threads = 256;

/// The remainder in scratch memory is a matrix of r rows: column y has what comes before its first segment and then
/// what comes behind its last.
struct remainder_arguments {
  unsigned char* data;
  unsigned char* remainder;
  size_type row_step;  ///< bytes of the data between elements of a column, which is m of them
  size_type col_step;  ///< and of a row
  segment_layout segments;
  unsigned cols;     ///< n
  unsigned skipped;  ///< elements of a column that are in segments
  unsigned count;    ///< n * r
  divider
      line;  ///< n, or r where elements of a column lie together: neighbouring lanes take those that do
  bool down;  ///< the latter
};

/// Copies element `number` of the remainder to scratch memory, or back.
template <bool Back, int ElementBytes>
TILETRANSPOSE_FUNCTION void copy_remainder(const remainder_arguments& arguments, unsigned number) {
  constexpr int access_bytes = access_width(ElementBytes);
  using narrow = access_word_t<access_bytes>;
  if (number >= arguments.count) { return; }
  const unsigned above = arguments.line.quotient(number);
  const unsigned in_line = arguments.line.remainder(number, above);
  const unsigned col = arguments.down ? above : in_line;
  const unsigned row = arguments.down ? in_line : above;
  const unsigned in_data = row < arguments.segments.phase(col) ? row : arguments.skipped + row;
  unsigned char* const data =
      arguments.data + in_data * arguments.row_step + col * arguments.col_step;
  unsigned char* const remainder =
      arguments.remainder + (size_type{row} * arguments.cols + col) * ElementBytes;
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < ElementBytes; i += access_bytes) {
    if constexpr (Back) {
      store_global(data + i, load_global<narrow>(remainder + i));
    } else {
      store_global(remainder + i, load_global<narrow>(data + i));
    }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
