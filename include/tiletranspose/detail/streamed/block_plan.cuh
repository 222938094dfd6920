// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How a host matrix is cut into blocks that go through the GPU one after the other. Plain C++17, host only.

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Columns [x, x + cols) and rows [y, y + rows) of the input.
struct matrix_block {
  size_type x;
  size_type cols;
  size_type y;
  size_type rows;
};

/// Blocks that are under way at once: one comes in, one is transposed, one goes out.
inline constexpr size_type blocks_under_way = 3;
inline constexpr size_type block_alignment = 256;
/// Rows in host memory that the copy engines take at the link's speed, in bytes. Not measured yet.
inline constexpr size_type long_row_bytes = size_type{16} << 10;

/// The largest whole number whose square is at most n.
constexpr size_type square_root(size_type n) {
  size_type root = 0;
  for (size_type bit = size_type{1} << 31; bit > 0; bit /= 2) {
    if ((root + bit) * (root + bit) <= n) { root += bit; }
  }
  return root;
}

/// The cut for a given amount of scratch: half of each of three equal buffers takes a block as it comes in, the other half
/// takes it transposed. Blocks are panels of whole rows or of whole columns, whichever leaves longer rows to the side that
/// is copied row by row; where those are shorter than long_row_bytes, blocks are squares.
class block_plan {
 public:
  /// Precondition: scratch_bytes >= 2 * blocks_under_way * 64 KiB, element_bytes <= 64, the matrix is not empty.
  constexpr block_plan(size_type nx, size_type ny, size_type element_bytes, size_type scratch_bytes)
      : nx_(nx),
        ny_(ny),
        block_bytes_(scratch_bytes / (2 * blocks_under_way) / block_alignment * block_alignment) {
    const size_type most = block_bytes_ / element_bytes;  // elements of a block
    const size_type side = square_root(most);
    const size_type long_row = (long_row_bytes + element_bytes - 1) / element_bytes;
    if (nx <= side || (nx <= ny && most / nx >= long_row)) {
      cols_ = nx;
      rows_ = rounded(most / nx, ny);
    } else if (ny <= side || most / ny >= long_row) {
      rows_ = ny;
      cols_ = rounded(most / ny, nx);
    } else {
      cols_ = rounded(side, nx);
      rows_ = rounded(most / cols_, ny);
    }
    across_ = (nx + cols_ - 1) / cols_;
    count_ = across_ * ((ny + rows_ - 1) / rows_);
  }

  constexpr size_type count() const { return count_; }
  constexpr size_type block_bytes() const { return block_bytes_; }
  constexpr matrix_block block(size_type index) const {
    matrix_block result{index % across_ * cols_, cols_, index / across_ * rows_, rows_};
    if (result.cols > nx_ - result.x) { result.cols = nx_ - result.x; }
    if (result.rows > ny_ - result.y) { result.rows = ny_ - result.y; }
    return result;
  }
  /// Where a block lies in scratch as it comes in, and transposed; bytes.
  constexpr size_type in_offset(size_type index) const {
    return index % blocks_under_way * 2 * block_bytes_;
  }
  constexpr size_type out_offset(size_type index) const { return in_offset(index) + block_bytes_; }

 private:
  /// Rows of blocks start where they are aligned, but for short ones.
  static constexpr size_type rounded(size_type length, size_type all) {
    return length >= all ? all : length >= 64 ? length / 64 * 64 : length;
  }

  size_type nx_;
  size_type ny_;
  size_type block_bytes_;
  size_type cols_ = 1;
  size_type rows_ = 1;
  size_type across_ = 1;
  size_type count_ = 1;
};

/// Queues all blocks in their order. `Machine`, each of whose calls returns false where it failed:
///
///     load(k)       has block k copied into its half of the scratch
///     transpose(k)  then transposed into the other half
///     store(k)      then copied from there into the output
///     finish(k)     waits until all of that has happened
///
/// Block k takes the buffers of block k - 3, which is finished before.
template <class Machine>
bool stream_blocks(const block_plan& plan, Machine& machine) {
  constexpr size_type ahead = blocks_under_way - 1;
  for (size_type k = 0; k < plan.count() + ahead; ++k) {
    if (k < plan.count() && !(machine.load(k) && machine.transpose(k) && machine.store(k))) {
      return false;
    }
    if (k >= ahead && k - ahead < plan.count() && !machine.finish(k - ahead)) { return false; }
  }
  return true;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
