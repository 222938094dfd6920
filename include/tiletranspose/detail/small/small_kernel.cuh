// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The mover for little work, whose time is latency: one element an access, one tile a block or one element a thread,
/// 32-bit offsets, and a grid that answers where a block is. A *tile* passes through shared memory where the fastest
/// axes of input and output differ; elements are moved *directly* where they are the same or where one is short.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/element_tile.cuh>
#include <tiletranspose/group.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// One axis of a small problem.
struct small_axis {
  unsigned extent;
  int in_stride;  ///< bytes, of either sign
  int out_stride;
};

/// Where the matrices of a batch are: one behind the other, or where tables of pointers say.
struct small_batch {
  const void* in;  ///< the first element of the first matrix; or a device array of pointers
  void* out;
  long long in_stride;  ///< bytes to the next matrix; with tables, to where its first element is
  long long out_stride;
  bool tables;

  TILETRANSPOSE_FUNCTION const unsigned char* in_matrix(unsigned b) const {
    return tables ? static_cast<const unsigned char* const*>(in)[b] + in_stride
                  : static_cast<const unsigned char*>(in) + b * in_stride;
  }
  TILETRANSPOSE_FUNCTION unsigned char* out_matrix(unsigned b) const {
    return tables ? static_cast<unsigned char* const*>(out)[b] + out_stride
                  : static_cast<unsigned char*>(out) + b * out_stride;
  }
};

/// What a tile kernel moves: `x` is the fastest axis of the input, `y` that of the output.
struct small_tile_arguments {
  small_batch batch;
  small_axis x;
  small_axis y;
};

/// The place of a block in its grid.
struct block_place {
  unsigned x;
  unsigned y;
  unsigned z;
};

/// The body of the tile kernel: block (j, i, b) moves the tile in row j and column i of tiles of matrix b.
/// Shared memory: the storage of `Tile`. Barriers: one, inside.
template <class Tile, int BlockRows, class Group, class Operation>
TILETRANSPOSE_FUNCTION void move_small_tile(Group group, typename Tile::storage& storage,
                                            const small_tile_arguments& arguments,
                                            const Operation& operation, block_place block) {
  constexpr unsigned side = Tile::cols;
  const small_axis x = arguments.x;
  const small_axis y = arguments.y;
  const unsigned x0 = block.y * side;
  const unsigned y0 = block.x * side;
  const int in_at = static_cast<int>(y0) * y.in_stride + static_cast<int>(x0) * x.in_stride;
  const int out_at = static_cast<int>(y0) * y.out_stride + static_cast<int>(x0) * x.out_stride;
  const unsigned char* const in = arguments.batch.in_matrix(block.z) + in_at;
  unsigned char* const out = arguments.batch.out_matrix(block.z) + out_at;
  const element_steps<int> in_steps{x.in_stride, y.in_stride};
  const element_steps<int> out_steps{y.out_stride, x.out_stride};
  transpose_elements<BlockRows>(group, Tile(storage), smaller(y.extent - y0, side),
                                smaller(x.extent - x0, side), y0, x0, operation, in, in_steps, out,
                                out_steps);
}

/// What the row kernel moves: rows along axes[0], which is the fastest of both sides, or short.
struct small_row_arguments {
  small_batch batch;
  small_axis axes[2];
  unsigned count =
      0;          ///< elements of all matrices; this and the next, where blocks take several rows
  divider area;   ///< elements of a matrix
  divider width;  ///< the extent of axes[0]
};

/// The body of the row kernel: block (i, r, b) moves Threads * Rounds elements of row r of matrix b; or, where it
/// `Divides`, block (i, 0, 0) as many of the elements of all matrices, counted along axes[0] first.
template <bool Divides, int Threads, int Rounds, class Group, class Operation>
TILETRANSPOSE_FUNCTION void move_small_rows(Group group, const small_row_arguments& arguments,
                                            const Operation& operation, block_place block) {
  const small_axis fast = arguments.axes[0];
  const small_axis slow = arguments.axes[1];
  const unsigned first = block.x * (Threads * Rounds) + group.thread_rank();
  const unsigned count = Divides ? arguments.count : fast.extent;
  const unsigned char* in = nullptr;
  unsigned char* out = nullptr;
  if constexpr (!Divides) {
    in = arguments.batch.in_matrix(block.z) +
         (static_cast<int>(block.y) * slow.in_stride + static_cast<int>(first) * fast.in_stride);
    out = arguments.batch.out_matrix(block.z) +
          (static_cast<int>(block.y) * slow.out_stride + static_cast<int>(first) * fast.out_stride);
  }
  typename Operation::stored held[Rounds];
  typename Operation::fetched old[Rounds];
  unsigned char* places[Rounds] = {};  // of elements of the output, where blocks take several rows
  unsigned rows[Rounds];
  unsigned cols[Rounds];
  const auto to = [&](int k) {
    if constexpr (Divides) {
      return places[k];
    } else {
      return out + static_cast<long long>(Threads * fast.out_stride) * k;
    }
  };
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < Rounds; ++k) {
    const loop_step here(k);
    const unsigned i = first + static_cast<unsigned>(k * Threads);
    if (i >= count) { continue; }
    const unsigned char* from = nullptr;
    if constexpr (Divides) {  // rows of the input run across the output's fastest axis
      const unsigned matrix = arguments.area.quotient(i);
      const unsigned inside = arguments.area.remainder(i, matrix);
      cols[k] = arguments.width.quotient(inside);
      rows[k] = arguments.width.remainder(inside, cols[k]);
      const int at_fast = static_cast<int>(rows[k]);
      const int at_slow = static_cast<int>(cols[k]);
      from =
          arguments.batch.in_matrix(matrix) + (at_fast * fast.in_stride + at_slow * slow.in_stride);
      places[k] = arguments.batch.out_matrix(matrix) +
                  (at_fast * fast.out_stride + at_slow * slow.out_stride);
    } else {
      rows[k] = block.y;
      cols[k] = i;
      from = in + static_cast<long long>(Threads * fast.in_stride) * k;
    }
    held[k] = operation.load(from, rows[k], cols[k]);
    if constexpr (Operation::fetches) { old[k] = operation.fetch(to(k)); }
  }
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < Rounds; ++k) {
    const loop_step here(k);
    if (first + static_cast<unsigned>(k * Threads) >= count) { continue; }
    operation.write_second(held[k], rows[k], cols[k]);
    operation.store(to(k), held[k], old[k]);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
