// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The mover for little work, whose time is latency: one element an access, one tile a block or one element a thread,
/// 32-bit offsets, and a grid that answers where a block is. A *tile* passes through shared memory where the fastest
/// axes of input and output differ; elements are moved *directly* where they are the same or where one is short.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/element_tile.cuh>
#include <tiletranspose/detail/request/request.cuh>
#include <tiletranspose/group.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// One axis of rows.
struct small_axis {
  unsigned extent;
  int in_stride;  ///< bytes, of either sign
  int out_stride;
};

/// Where the matrices are.
template <matrices Matrices>
struct small_batch {
  static constexpr bool is_one = false;
  const unsigned char* in;  ///< the first element of the first matrix
  unsigned char* out;
  long long in_stride;  ///< bytes to the next matrix
  long long out_stride;

  TILETRANSPOSE_FUNCTION const unsigned char* in_matrix(unsigned b) const {
    return in + b * in_stride;
  }
  TILETRANSPOSE_FUNCTION unsigned char* out_matrix(unsigned b) const {
    return out + b * out_stride;
  }
};
template <>
struct small_batch<matrices::one> {
  static constexpr bool is_one = true;
  const unsigned char* in;
  unsigned char* out;

  TILETRANSPOSE_FUNCTION const unsigned char* in_matrix(unsigned) const { return in; }
  TILETRANSPOSE_FUNCTION unsigned char* out_matrix(unsigned) const { return out; }
};
template <>
struct small_batch<matrices::pointers> {
  static constexpr bool is_one = false;
  const unsigned char* const* in;  ///< device arrays of pointers to the matrices
  unsigned char* const* out;
  long long in_first;  ///< bytes from where a pointer leads to the element that comes first
  long long out_first;

  TILETRANSPOSE_FUNCTION const unsigned char* in_matrix(unsigned b) const {
    return in[b] + in_first;
  }
  TILETRANSPOSE_FUNCTION unsigned char* out_matrix(unsigned b) const { return out[b] + out_first; }
};

/// What a tile kernel moves: matrices of `ny` rows of `nx` elements, which lie one behind the other, as do those of the
/// output's rows.
template <class Batch>
struct small_tile_arguments {
  Batch batch;
  unsigned nx;
  unsigned ny;
  int in_pitch;  ///< bytes from row to row, of either sign
  int out_pitch;
};

/// The place of a block in its grid.
struct block_place {
  unsigned x;
  unsigned y;
  unsigned z;
};

/// The body of the tile kernel: block (j, i, b) moves the tile in row j and column i of tiles of matrix b.
/// Shared memory: the storage of `Tile`. Barriers: one, inside.
template <class Tile, int BlockRows, class Group, class Batch, class Operation>
TILETRANSPOSE_FUNCTION void move_small_tile(Group group, typename Tile::storage& storage,
                                            const small_tile_arguments<Batch>& arguments,
                                            const Operation& operation, block_place block) {
  constexpr unsigned side = Tile::cols;
  const unsigned x0 = block.y * side;
  const unsigned y0 = block.x * side;
  const element_steps<int> in_steps{Operation::in_bytes, arguments.in_pitch};
  const element_steps<int> out_steps{Operation::out_bytes, arguments.out_pitch};
  const auto from =
      static_cast<int>(y0) * in_steps.along_col + static_cast<int>(x0) * in_steps.along_row;
  const auto to =
      static_cast<int>(y0) * out_steps.along_row + static_cast<int>(x0) * out_steps.along_col;
  transpose_elements<BlockRows>(
      group, Tile(storage), smaller(arguments.ny - y0, side), smaller(arguments.nx - x0, side), y0,
      x0, operation, optimisation_barrier_global(arguments.batch.in_matrix(block.z) + from),
      in_steps, optimisation_barrier_global(arguments.batch.out_matrix(block.z) + to), out_steps);
}

/// What the row kernel moves: rows along axes[0], which is the fastest of both sides, or short.
template <class Batch>
struct small_row_arguments {
  Batch batch;
  small_axis axes[2];
  bool few;        ///< one element a thread
  unsigned count;  ///< elements of all matrices; this and the next, where blocks take several rows
  divider area;    ///< elements of a matrix
  divider width;   ///< the extent of axes[0]
};

/// The elements that a block takes of a row: of each thread one every `Threads`.
template <int Threads, int Rounds>
struct small_segment {
  static constexpr int threads = Threads;
  static constexpr int rounds = Rounds;
};

/// The body of the row kernel: block (i, r, b) moves as many elements of row r of matrix b as `Segment` says; or, where it
/// `Divides`, block (i, 0, 0) as many of the elements of all matrices, counted along axes[0] first.
template <bool Divides, class Segment, class Group, class Batch, class Operation>
TILETRANSPOSE_FUNCTION void move_small_rows(Group group,
                                            const small_row_arguments<Batch>& arguments,
                                            const Operation& operation, block_place block) {
  constexpr int threads = Segment::threads;
  constexpr int rounds = Segment::rounds;
  const small_axis fast = arguments.axes[0];
  const small_axis slow = arguments.axes[1];
  const unsigned first = block.x * (threads * rounds) + group.thread_rank();
  const unsigned count = Divides ? arguments.count : fast.extent;
  const unsigned char* in = nullptr;
  unsigned char* out = nullptr;
  if constexpr (!Divides) {
    in = optimisation_barrier_global(
        arguments.batch.in_matrix(block.z) +
        (static_cast<int>(block.y) * slow.in_stride + static_cast<int>(first) * fast.in_stride));
    out = optimisation_barrier_global(
        arguments.batch.out_matrix(block.z) +
        (static_cast<int>(block.y) * slow.out_stride + static_cast<int>(first) * fast.out_stride));
  }
  typename Operation::stored held[rounds];
  typename Operation::fetched old[rounds];
  unsigned char* places[rounds] = {};  // of elements of the output, where blocks take several rows
  unsigned row[rounds];
  unsigned col[rounds];
  const auto to = [&](int k) {
    if constexpr (Divides) {
      return places[k];
    } else {
      return out + static_cast<long long>(threads * fast.out_stride) * k;
    }
  };
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < rounds; ++k) {
    const loop_step here(k);
    const unsigned i = first + static_cast<unsigned>(k * threads);
    if (i >= count) { continue; }
    const unsigned char* from = nullptr;
    if constexpr (Divides) {  // rows of the input run across the output's fastest axis
      const unsigned matrix = Batch::is_one ? 0 : arguments.area.quotient(i);
      const unsigned inside = Batch::is_one ? i : arguments.area.remainder(i, matrix);
      col[k] = arguments.width.quotient(inside);
      row[k] = arguments.width.remainder(inside, col[k]);
      const int at_fast = static_cast<int>(row[k]);
      const int at_slow = static_cast<int>(col[k]);
      from =
          arguments.batch.in_matrix(matrix) + (at_fast * fast.in_stride + at_slow * slow.in_stride);
      places[k] = arguments.batch.out_matrix(matrix) +
                  (at_fast * fast.out_stride + at_slow * slow.out_stride);
    } else {
      row[k] = block.y;
      col[k] = i;
      from = in + static_cast<long long>(threads * fast.in_stride) * k;
    }
    held[k] = operation.load(from, row[k], col[k]);
    if constexpr (Operation::fetches) { old[k] = operation.fetch(to(k)); }
  }
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < rounds; ++k) {
    const loop_step here(k);
    if (first + static_cast<unsigned>(k * threads) >= count) { continue; }
    operation.write_second(held[k], row[k], col[k]);
    operation.store(to(k), held[k], old[k], row[k], col[k]);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
