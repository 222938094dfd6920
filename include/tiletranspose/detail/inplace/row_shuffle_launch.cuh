// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Launches of step 1 of a rectangle in place, rectangle_rows.cuh: in shared memory, or through scratch memory.

#pragma once

#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/inplace/column_arguments.cuh>
#include <tiletranspose/detail/inplace/rectangle_problem.cuh>
#include <tiletranspose/detail/inplace/rectangle_rows.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <bool Undo, int ElementBytes, int Access>
__global__ void __launch_bounds__(shuffle_threads)
    shuffle_kernel(const __grid_constant__ shuffle_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  shuffle_rows<Undo, ElementBytes, Access>(static_block<shuffle_threads>{},
                                           tiletranspose_dynamic_shared, arguments, blockIdx.x);
}

template <bool Undo, int ElementBytes, int Access>
__global__ void __launch_bounds__(column_threads)
    long_row_kernel(const __grid_constant__ long_row_arguments arguments) {
  shuffle_long_row<Undo, ElementBytes, Access>(
      arguments, size_type{blockIdx.x} * column_threads + threadIdx.x);
}

/// What step 1 needs where rows fit the shared memory of a block.
struct shuffle_plan {
  shuffle_arguments arguments{};
  size_type blocks = 0;  ///< 0: rows pass through scratch memory
  size_type shared_bytes = 0;
};

/// Step 1, together with step 2 where g rows fit and `squares` is true.
template <int ElementBytes, int Access>
shuffle_plan plan_shuffles(const rectangle_problem& problem, const rectangle& grid, bool squares,
                           const device_limits& limits) {
  constexpr size_type element_accesses = ElementBytes / Access;
  const size_type row_bytes = problem.cols * ElementBytes;
  const size_type least_rows = squares ? grid.common : 1;
  shuffle_plan plan;
  if (!fits_block(limits, grid, least_rows, ElementBytes)) { return plan; }
  shuffle_arguments& arguments = plan.arguments;
  arguments.data = problem.data;
  arguments.grid = grid;
  arguments.squares = squares;
  arguments.block_rows = static_cast<unsigned>(
      smaller(problem.rows,
              larger<size_type>(shuffle_block_bytes / row_bytes / least_rows, 1) * least_rows));
  // Eight elements or more a thread: the first of a row takes some time to find.
  size_type team = shuffle_threads;
  while (team > 32 && team / 2 >= element_accesses && team * 8 > problem.cols * element_accesses) {
    team /= 2;
  }
  arguments.team = static_cast<unsigned>(team);
  // A thread takes an access of every `team`-th, or a word.
  const size_type skipped = gathers_words<ElementBytes, Access>
                                ? (team - 1) * (4 / ElementBytes) + 1
                                : team / element_accesses;
  arguments.step = row_walk::step(grid, static_cast<unsigned>(skipped));
  arguments.one = row_walk::step(grid, 1);
  arguments.word =
      row_walk::step(grid, static_cast<unsigned>(team * larger<size_type>(4 / ElementBytes, 1)));
  plan.blocks = divide_up(problem.rows, arguments.block_rows);
  plan.shared_bytes = arguments.block_rows * row_bytes + max_access_bytes;
  return plan;
}

/// Step 1 on all rows: in shared memory where the plan says so, else through scratch memory.
template <bool Undo, int ElementBytes, int Access>
cudaError_t launch_shuffles(const rectangle_problem& problem, const rectangle& grid,
                            shuffle_plan& plan, cudaStream_t stream) {
  const size_type row_bytes = problem.cols * ElementBytes;
  if (plan.blocks != 0) {
    void* pointers[] = {&plan.arguments};
    return start(&shuffle_kernel<Undo, ElementBytes, Access>, plan.blocks, shuffle_threads,
                 plan.shared_bytes, pointers, stream);
  }

  long_row_arguments arguments{};
  arguments.scratch = problem.scratch;
  arguments.data = problem.data;
  arguments.grid = grid;
  const size_type held = smaller(problem.scratch_bytes, cached_scratch_bytes) / row_bytes;
  const size_type together = larger<size_type>(held, 1);
  for (size_type row = 0; row < problem.rows; row += together) {
    arguments.first_row = static_cast<unsigned>(row);
    arguments.rows = static_cast<unsigned>(smaller(problem.rows - row, together));
    unsigned char* const data = problem.data + row * row_bytes;
    const size_type bytes = arguments.rows * row_bytes;
    cudaError_t status = cudaSuccess;
    if (Undo) {
      status = cudaMemcpyAsync(problem.scratch, data, bytes, cudaMemcpyDeviceToDevice, stream);
      if (status != cudaSuccess) { return status; }
    }
    void* pointers[] = {&arguments};
    status = start(&long_row_kernel<Undo, ElementBytes, Access>,
                   divide_up(bytes / Access, column_threads), column_threads, 0, pointers, stream);
    if (status != cudaSuccess) { return status; }
    if (!Undo) {
      status = cudaMemcpyAsync(data, problem.scratch, bytes, cudaMemcpyDeviceToDevice, stream);
      if (status != cudaSuccess) { return status; }
    }
  }
  return cudaSuccess;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
