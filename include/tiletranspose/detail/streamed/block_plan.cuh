// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How a host matrix is cut into blocks that go through the GPU one after the other. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Columns [x, x + cols) and rows [y, y + rows).
struct matrix_block {
  size_type x;
  size_type cols;
  size_type y;
  size_type rows;

  constexpr matrix_block transposed() const { return {y, rows, x, cols}; }
};

/// Blocks that are under way at once: one comes in, one is transposed, one goes out.
inline constexpr size_type blocks_under_way = 3;
inline constexpr size_type block_alignment = 256;
inline constexpr size_type least_buffer_bytes = size_type{64} << 10;
/// Segments of output rows that go out at nearly the link's speed, in bytes: half as long ones took a sixth more time.
inline constexpr size_type long_segment_bytes = 2048;
/// Transposed rows may lie so many elements further apart than they are long.
inline constexpr size_type most_padding = 15;

/// Buffers that serve well: more makes longer copies, but also longer ones at both ends, where they go one way only.
constexpr size_type good_buffer_bytes(size_type matrix_bytes, size_type most) {
  const size_type part = matrix_bytes / 32 / block_alignment * block_alignment;
  return smaller(larger(part, least_buffer_bytes), most);
}

/// The cut for buffers of a given size, each of which takes a block. Blocks are panels of whole rows where these are enough
/// for segments of long_segment_bytes, else so many rows and what fits of them. In small buffers they are about squares.
class block_plan {
 public:
  /// Precondition: buffer_bytes >= least_buffer_bytes, element_bytes <= 64, the matrix is not empty.
  constexpr block_plan(size_type nx, size_type ny, size_type element_bytes, size_type buffer_bytes)
      : nx_(nx), ny_(ny), block_bytes_(buffer_bytes / block_alignment * block_alignment) {
    const size_type most = (block_bytes_ - most_padding) / element_bytes;  // elements of a block
    size_type least = divide_up(long_segment_bytes, 64 * element_bytes) * 64;  // rows
    while (least * (least + most_padding) > most) { least /= 2; }
    const size_type whole = most / nx;  // rows of a panel
    const size_type panel = whole >= ny ? ny : whole - smaller(whole, most_padding);
    rows_ = equal_parts(larger(panel, least), ny);
    cols_ = equal_parts(most / (rows_ == ny ? ny : rows_ + most_padding), nx);
    across_ = divide_up(nx, cols_);
  }

  constexpr size_type count() const { return across_ * divide_up(ny_, rows_); }
  constexpr size_type block_bytes() const { return block_bytes_; }
  constexpr matrix_block block(size_type index) const {
    const size_type x = index % across_ * cols_;
    const size_type y = index / across_ * rows_;
    return {x, smaller(cols_, nx_ - x), y, smaller(rows_, ny_ - y)};
  }
  /// Bytes of the buffers of all blocks under way, and where in them a block lies.
  constexpr size_type all_bytes() const { return blocks_under_way * block_bytes_; }
  constexpr size_type offset(size_type index) const {
    return index % blocks_under_way * block_bytes_;
  }

 private:
  /// Of at most `most`, which start where rows are aligned, but for short ones.
  static constexpr size_type equal_parts(size_type most, size_type all) {
    if (most >= all) { return all; }
    const size_type step = most >= 64 ? 64 : 1;
    const size_type parts = divide_up(all, most / step * step);
    return divide_up(all, parts * step) * step;
  }

  size_type nx_;
  size_type ny_;
  size_type block_bytes_;
  size_type cols_ = 1;
  size_type rows_ = 1;
  size_type across_ = 1;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
