// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Launches that transpose a rectangle in its own memory, with as much scratch memory as the caller has: by segments, where
/// columns have some that start on 16 bytes and bands are not quicker (rectangle_segments.cuh), else by rectangle_columns.cuh.

#pragma once

#include <tiletranspose/detail/inplace/rectangle_segments.cuh>
#include <tiletranspose/detail/inplace/square.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Rows whose elements are permuted among themselves, in step 1. A block copies a row and permutes the copy, row after row.
struct row_shuffle_arguments {
  unsigned char* data;
  unsigned char* copies;  ///< a row for each block; null where its shared memory holds one
  rectangle grid;
  unsigned threads;  ///< of a block
  unsigned blocks;
};

/// Step 1, or undone. Only shapes take it that no segments can be cut of.
/// Shared memory: a row where there are no copies. Barriers: two a row.
template <bool Undo, int ElementBytes, int Access>
__global__ void __launch_bounds__(shuffle_threads)
    row_shuffle_kernel(const __grid_constant__ row_shuffle_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  const any_block group;
  using word = access_word_t<Access>;
  const rectangle& grid = arguments.grid;
  const size_type row_bytes = size_type{grid.cols} * ElementBytes;
  const bool is_shared = arguments.copies == nullptr;
  unsigned char* const shared = tiletranspose_dynamic_shared;
  unsigned char* const copy = arguments.copies + blockIdx.x * row_bytes;
  const unsigned first = group.thread_rank() * Access;
  const unsigned step = arguments.threads * Access;
  for (unsigned number = blockIdx.x; number < grid.rows; number += arguments.blocks) {
    unsigned char* const row = arguments.data + number * row_bytes;
    if (number != blockIdx.x) { group.sync(); }  // the copy before has been read
    TILETRANSPOSE_UNROLL_BY(4)
    for (size_type at = first; at < row_bytes; at += step) {
      if (is_shared) {
        copy_async<Access>(shared + at, row + at);
      } else {
        store_global(copy + at, load_global<word>(row + at));
      }
    }
    commit_copies();
    wait_for_copies(0);
    group.sync();
    const unsigned above = grid.by_common.quotient(number);
    TILETRANSPOSE_UNROLL_BY(4)
    for (size_type at = first; at < row_bytes; at += step) {
      const auto element = static_cast<unsigned>(at / ElementBytes);
      const unsigned s = grid.by_wide.quotient(element);
      const unsigned t = grid.by_wide.remainder(element, s);
      const unsigned col =
          grid.modulo_wide.remainder(static_cast<unsigned long long>(t) * grid.tall + above) *
              grid.common +
          s;
      const size_type moved = size_type{col} * ElementBytes + at % ElementBytes;
      const size_type from = Undo ? moved : at;
      store_global(row + (Undo ? at : moved),
                   is_shared ? load_shared<word>(shared + from) : load_global<word>(copy + from));
    }
  }
}

/// The steps of rectangle_columns.cuh. What can be refused is refused before anything moves; a launch that fails later
/// leaves the matrix half permuted.
template <bool Undo, int ElementBytes, int Access>
cudaError_t launch_steps(const rectangle_problem& problem, const column_plan& plan,
                         cudaStream_t stream) {
  const rectangle& grid = plan.grid;
  const size_type row_bytes = problem.row_bytes();
  const size_type square_bytes = grid.common * ElementBytes;
  const auto shuffle = &row_shuffle_kernel<Undo, ElementBytes, Access>;
  // Where a row does not fit the shared memory of a block, scratch memory has the copies.
  const bool is_shared = grid.wide == 1 || row_bytes <= most_shared_bytes();
  const size_type shuffle_bytes = is_shared ? row_bytes : 0;
  const auto rows = [&] {
    if (grid.wide == 1) { return cudaSuccess; }
    const size_type held = smaller(problem.scratch_bytes, cached_scratch_bytes) / row_bytes;
    const size_type blocks =
        is_shared ? problem.rows : smaller(larger<size_type>(held, 1), problem.rows);
    const size_type warps = divide_up(row_bytes, 32 * Access);
    const int threads = 32 * static_cast<int>(smaller<size_type>(warps, shuffle_threads / 32));
    const row_shuffle_arguments arguments{problem.data, is_shared ? nullptr : problem.scratch, grid,
                                          static_cast<unsigned>(threads),
                                          static_cast<unsigned>(blocks)};
    return start(shuffle, blocks, threads, shuffle_bytes, stream, arguments);
  };
  const size_type bits = reinterpret_cast<size_type>(problem.data) | row_bytes | square_bytes;
  const square_kernel square =
      find_square_kernel<ElementBytes, Access>(problem.rows * problem.cols, grid.common, bits);
  const auto squares = [&] {
    if (grid.common == 1) { return cudaSuccess; }
    swap_arguments arguments{{problem.data, row_bytes, grid.common},
                             pair_order(divide_up(grid.common, square.tile.side)),
                             {problem.data, problem.data + problem.rows * row_bytes},
                             square_bytes};
    arguments.wide = divider(grid.wide);
    return launch_swaps(square, arguments, grid.tall, stream);
  };
  const auto columns = [&] { return launch_columns(problem, plan, {}, stream); };
  cudaError_t status = cudaSuccess;
  if (grid.common > 1) { status = allow_shared_bytes(square.function, square.tile.shared_bytes); }
  if (status == cudaSuccess && grid.wide > 1) {
    status = allow_shared_bytes(shuffle, shuffle_bytes);
  }
  if (status == cudaSuccess && plan.blocks == 0) {  // else allow_at_once did
    status = allow_shared_bytes(plan.kernel, plan.shared_bytes());
  }
  if (status != cudaSuccess) { return status; }
  return Undo ? take_steps(columns, squares, rows) : take_steps(rows, squares, columns);
}

/// By segments, or by steps.
template <bool Undo, int ElementBytes, int Access>
cudaError_t launch_rectangle(const rectangle_problem& problem, cudaStream_t stream) {
  const rectangle grid(problem.rows, problem.cols);
  const size_type bits = reinterpret_cast<size_type>(problem.data) |
                         reinterpret_cast<size_type>(problem.scratch) | grid.common * ElementBytes;
  column_plan plan{grid, ElementBytes, Access, &column_kernel<Undo, Access>};
  if (bits % max_access_bytes == 0) {
    plan.access = max_access_bytes;
    plan.kernel = &column_kernel<Undo, max_access_bytes>;
  }
  cudaError_t status = plan.set_together(widest_band_bytes);
  if (status != cudaSuccess) { return status; }
  if constexpr (Access == access_width(ElementBytes) &&
                segment_step(ElementBytes) <= longest_segment_bytes) {
    if (reinterpret_cast<size_type>(problem.data) % 16 == 0 &&
        !takes_bands(grid.wide, grid.common * ElementBytes,
                     plan.blocks == 0 ? 0 : plan.band_bytes)) {
      // A cut that takes more than the least scratch memory leaves more rows over.
      for (const size_type scratch_bytes :
           {least_scratch(problem.cols, problem.rows, ElementBytes), problem.scratch_bytes}) {
        rectangle_problem frugal = problem;
        frugal.scratch_bytes = scratch_bytes;
        segment_plan segments;
        status = plan_segments<Undo, ElementBytes>(frugal, segments);
        if (status != cudaSuccess) { return status; }
        if (segments.slabs != 0) { return launch_segments<Undo, ElementBytes>(segments, stream); }
      }
    }
  }
  if (plan.blocks == 0) {
    plan.set_bands(larger<size_type>(band_bytes / ElementBytes, 1) * ElementBytes,
                   scratch_tile_bytes);
  }
  return launch_steps<Undo, ElementBytes, Access>(problem, plan, stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
