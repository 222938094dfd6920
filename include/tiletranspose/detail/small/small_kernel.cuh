// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The mover for little work, whose time is latency: one element an access, one tile a block or one element a thread (up to
/// eight, of many), 32-bit offsets, and a grid that answers where a block is. A *tile* passes through shared memory where
/// the fastest axes of input and output differ; elements are moved *directly* where they are the same or where one is
/// short. So are rows of whole accesses, few or many. What one block does, and how many there are.

#pragma once

#include <tiletranspose/detail/choose/choose_small.cuh>
#include <tiletranspose/detail/core/element_tile.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/request/request.cuh>
#include <tiletranspose/group.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Rows of threads of a block that moves a tile, of elements of a size that are moved in so many accesses, few or `many`.
constexpr int small_block_rows(int side, int kept_bytes, int accesses, bool many) {
  if (side == 32) { return !many && kept_bytes <= widest_large_tile_element ? 8 : 4; }
  return accesses == 1 || kept_bytes <= 4 ? 8 : 4;
}

/// One axis of rows.
struct small_axis {
  unsigned extent;
  int in_stride;  ///< bytes, of either sign
  int out_stride;
};

/// Where the matrices are: one behind the other, or where device arrays of pointers say.
template <matrices Matrices>
struct small_batch {
  static constexpr bool is_one = false;
  static constexpr bool pointers = Matrices == matrices::pointers;
  const void* in;
  void* out;
  /// Bytes to the next matrix; or from where a pointer leads to the element that comes first.
  long long in_step;
  long long out_step;

  TILETRANSPOSE_FUNCTION const unsigned char* in_matrix(unsigned b) const {
    return pointers ? static_cast<const unsigned char* const*>(in)[b] + in_step
                    : static_cast<const unsigned char*>(in) + b * in_step;
  }
  TILETRANSPOSE_FUNCTION unsigned char* out_matrix(unsigned b) const {
    return pointers ? static_cast<unsigned char* const*>(out)[b] + out_step
                    : static_cast<unsigned char*>(out) + b * out_step;
  }
};
template <>
struct small_batch<matrices::one> {
  static constexpr bool is_one = true;
  const void* in;
  void* out;

  TILETRANSPOSE_FUNCTION const unsigned char* in_matrix(unsigned) const {
    return static_cast<const unsigned char*>(in);
  }
  TILETRANSPOSE_FUNCTION unsigned char* out_matrix(unsigned) const {
    return static_cast<unsigned char*>(out);
  }
};

/// Where the matrices of a problem are. Precondition: `Matrices` says the truth.
template <matrices Matrices>
small_batch<Matrices> batch_of(const matrix_problem& problem) {
  if constexpr (Matrices == matrices::one) {
    return {problem.in, problem.out};
  } else {
    return {problem.in, problem.out, static_cast<long long>(problem.in_batch_bytes),
            static_cast<long long>(problem.out_batch_bytes)};
  }
}

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

/// Tiles of `side` rows and columns, for a problem that choose_small says they take.
template <class Batch>
launch_plan<small_tile_arguments<Batch>> plan_small_tiles(const small_problem& problem,
                                                          const Batch& batch, int side,
                                                          int block_rows) {
  const auto tile = static_cast<size_type>(side);
  return {{batch, static_cast<unsigned>(problem.slow.extent),
           static_cast<unsigned>(problem.fast.extent), static_cast<int>(problem.fast.in_stride),
           static_cast<int>(problem.slow.out_stride)},
          divide_up(problem.fast.extent, tile),
          side * block_rows,
          0,
          divide_up(problem.slow.extent, tile),
          problem.batch};
}

/// Moves accesses of `Width` bytes, whose elements it reverses where rows run backwards in the input. One kernel does both.
template <int ElementBytes, int Width>
struct access_operation : copy_operation<Width, Width> {
  using word = access_word_t<Width>;
  using stored = typename copy_operation<Width, Width>::stored;
  bool reverses;
  TILETRANSPOSE_FUNCTION word in_order(const word& value) const {
    return reverses ? reverse_elements<ElementBytes>(value) : value;
  }
  /// Reverses what is stored, not what is loaded, with which arrays of bytes in place were slower.
  TILETRANSPOSE_FUNCTION void store(unsigned char* to, const stored& moved, no_operand, unsigned,
                                    unsigned) const {
    store_global(to, in_order(moved.words[0]));
  }
};

/// Has such accesses of one memory trade places: those that are loaded with those where they are stored.
template <int ElementBytes, int Width>
struct swap_operation : access_operation<ElementBytes, Width> {
  using typename access_operation<ElementBytes, Width>::word;
  using fetched = word;
  struct stored {
    word value;
    unsigned char* from;
  };
  static constexpr bool fetches = true;
  TILETRANSPOSE_FUNCTION stored load(const unsigned char* from, unsigned, unsigned) const {
    return {load_global<word>(from), const_cast<unsigned char*>(from)};
  }
  static TILETRANSPOSE_FUNCTION word fetch(const unsigned char* to) {
    return load_global<word>(to);
  }
  TILETRANSPOSE_FUNCTION void store(unsigned char* to, const stored& moved, const word& old,
                                    unsigned, unsigned) const {
    store_global(to, this->in_order(moved.value));
    store_global(moved.from, this->in_order(old));
  }
  static TILETRANSPOSE_FUNCTION void write_second(const stored&, unsigned, unsigned) {}
};

/// What the row kernel moves: rows along axes[0], which is the fastest of both sides, or short.
template <class Batch>
struct small_row_arguments {
  Batch batch;
  small_axis axes[2];
  bool few;            ///< one element a thread
  unsigned count = 0;  ///< elements of all matrices; this and the next, where blocks take many rows
  divider area{};      ///< elements of a matrix
  divider width{};     ///< the extent of axes[0]
};

/// Rows, or, with `divides`, elements that are counted.
template <class Batch>
launch_plan<small_row_arguments<Batch>> plan_small_rows(const small_problem& problem,
                                                        const Batch& batch, bool divides,
                                                        int accesses) {
  const size_type fast = problem.fast.extent;
  const size_type slow = problem.slow.extent;
  const bool few = has_few_elements(problem);
  const int threads = few ? few_row_threads : small_row_threads(divides);
  const int rounds = few ? 1 : small_row_rounds(divides, problem.kept_bytes, accesses);
  const auto step = static_cast<size_type>(threads * rounds);
  const auto axis_of = [](const relocation_axis& axis) {
    return small_axis{static_cast<unsigned>(axis.extent), static_cast<int>(axis.in_stride),
                      static_cast<int>(axis.out_stride)};
  };
  small_row_arguments<Batch> arguments{batch, {axis_of(problem.fast), axis_of(problem.slow)}, few};
  if (!divides) { return {arguments, divide_up(fast, step), threads, 0, slow, problem.batch}; }
  const size_type count = fast * slow * problem.batch;
  arguments.count = static_cast<unsigned>(count);
  arguments.area = divider(fast * slow);
  arguments.width = divider(fast);
  return {arguments, divide_up(count, step), threads, 0};
}

/// The body of the row kernel: block (x, y, z) moves Threads * Rounds elements of row y of matrix z; or, where it
/// `Divides`, block (x, 0, 0) as many of the elements of all matrices, counted along axes[0] first.
template <bool Divides, int Threads, int Rounds, class Group, class Batch, class Operation>
TILETRANSPOSE_FUNCTION void move_small_rows(Group group,
                                            const small_row_arguments<Batch>& arguments,
                                            const Operation& operation, unsigned x, unsigned y,
                                            unsigned z) {
  const small_axis fast = arguments.axes[0];
  const small_axis slow = arguments.axes[1];
  const unsigned first = x * (Threads * Rounds) + group.thread_rank();
  const unsigned count = Divides ? arguments.count : fast.extent;
  const unsigned char* in = nullptr;
  unsigned char* out = nullptr;
  if constexpr (!Divides) {
    in = optimisation_barrier_global(
        arguments.batch.in_matrix(z) +
        (static_cast<int>(y) * slow.in_stride + static_cast<int>(first) * fast.in_stride));
    out = optimisation_barrier_global(
        arguments.batch.out_matrix(z) +
        (static_cast<int>(y) * slow.out_stride + static_cast<int>(first) * fast.out_stride));
  }
  typename Operation::stored held[Rounds];
  typename Operation::fetched old[Rounds];
  unsigned char* places[Rounds] = {};  // of elements of the output, where blocks take several rows
  unsigned row[Rounds];
  unsigned col[Rounds];
  const auto to = [&](int k) {
    if constexpr (Divides) {
      return places[k];
    } else {
      return out + static_cast<long long>(Threads * fast.out_stride) * k;
    }
  };
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < Rounds; ++k) {
    const unsigned i = first + static_cast<unsigned>(k * Threads);
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
      row[k] = y;
      col[k] = i;
      from = in + static_cast<long long>(Threads * fast.in_stride) * k;
    }
    held[k] = operation.load(from, row[k], col[k]);
    if constexpr (Operation::fetches) { old[k] = operation.fetch(to(k)); }
  }
  TILETRANSPOSE_UNROLL
  for (int k = 0; k < Rounds; ++k) {
    if (first + static_cast<unsigned>(k * Threads) >= count) { continue; }
    operation.write_second(held[k], row[k], col[k]);
    operation.store(to(k), held[k], old[k], row[k], col[k]);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
