// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Launches that transpose a rectangle in its own memory, with as much scratch memory as the caller has.
///
/// What each amount buys, for a matrix of s bytes; every pass reads and writes s bytes of DRAM:
///
/// | scratch | passes |
/// |---|---|
/// | s | 2: transposed into the scratch, copied back |
/// | less | 2: squares, columns (rectangle_grid.cuh), where takes_bands says so |
/// | less | 2: slabs, columns (slab_kernel.cuh), where columns have segments that start on 16 bytes |
/// | less | 2 or 3 else: rows, squares, columns |
///
/// Bands of columns lie in the shared memory of all blocks at once, and rows in that of one; where they are longer than
/// that they move through scratch memory.

#pragma once

#include <tiletranspose/detail/inplace/column_launch.cuh>
#include <tiletranspose/detail/inplace/rectangle_rows.cuh>
#include <tiletranspose/detail/inplace/slab_launch.cuh>
#include <tiletranspose/detail/inplace/square.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The steps of rectangle_grid.cuh. What can be refused is refused before anything moves; a launch that fails later
/// leaves the matrix half permuted.
template <bool Undo, int ElementBytes, int Access>
cudaError_t launch_steps(const rectangle_problem& problem, const rectangle& grid,
                         const column_plan& plan, void (*column_step)(column_arguments),
                         cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  const auto allow = [&](auto kernel, size_type bytes) {
    if (status == cudaSuccess) { status = allow_shared_bytes(kernel, bytes); }
    return status;
  };
  const size_type row_bytes = problem.cols * ElementBytes;
  const size_type square_bytes = grid.common * ElementBytes;
  square_kernel square{};
  if (grid.common > 1) {
    const size_type bits = reinterpret_cast<size_type>(problem.data) | row_bytes | square_bytes;
    square =
        find_square_kernel<ElementBytes, Access>(problem.rows * problem.cols, grid.common, bits);
    allow(square.function, square.tile.shared_bytes);
  }
  if (grid.wide > 1) {
    allow(&row_shuffle_kernel<Undo, ElementBytes, Access>,
          row_shuffle_bytes(problem, ElementBytes));
  }
  if (plan.blocks == 0) { allow(column_step, plan.shared_bytes()); }  // else plan_together did

  const auto rows = [&] {
    if (status != cudaSuccess || grid.wide == 1) { return; }
    status = launch_row_shuffles<Undo, ElementBytes, Access>(problem, grid, stream);
  };
  const auto squares = [&] {
    if (status != cudaSuccess || grid.common == 1) { return; }
    const swap_arguments arguments(
        {problem.data, row_bytes, grid.common}, square.tile.side, square_bytes,
        {problem.data, problem.data + problem.rows * row_bytes}, grid.wide);
    status = launch_swaps(square, arguments, grid.tall, stream);
  };
  const auto columns = [&] {
    if (status != cudaSuccess) { return; }
    status = launch_columns(problem, grid, ElementBytes, plan, column_step, nullptr, stream);
  };
  if constexpr (Undo) {
    columns();
    squares();
    rows();
  } else {
    rows();
    squares();
    columns();
  }
  return status;
}

/// By segments, or by steps.
template <bool Undo, int ElementBytes, int Access>
cudaError_t launch_rectangle(const rectangle_problem& problem, cudaStream_t stream) {
  const rectangle grid(problem.rows, problem.cols);
  device_limits limits;
  cudaError_t status = ask_device(limits);
  if (status != cudaSuccess) { return status; }

  const size_type bits = reinterpret_cast<size_type>(problem.data) |
                         reinterpret_cast<size_type>(problem.scratch) | grid.common * ElementBytes;
  const bool whole = bits % max_access_bytes == 0;
  void (*const column_step)(column_arguments) =
      whole ? &column_kernel<Undo, max_access_bytes> : &column_kernel<Undo, Access>;
  const size_type access = whole ? max_access_bytes : Access;
  column_plan plan;
  status = plan_together(grid, ElementBytes, access, widest_band_bytes, column_step, limits, plan);
  if constexpr (Access == access_width(ElementBytes) && has_segments<ElementBytes>) {
    if (status == cudaSuccess && reinterpret_cast<size_type>(problem.data) % 16 == 0 &&
        !takes_bands(grid.wide, grid.common * ElementBytes,
                     plan.blocks == 0 ? 0 : plan.band_bytes)) {
      // A cut that takes more than the least scratch memory leaves more rows over.
      segment_plan segments;
      rectangle_problem frugal = problem;
      frugal.scratch_bytes = least_scratch(problem.cols, problem.rows, ElementBytes);
      status = plan_segments<Undo, ElementBytes>(frugal, limits, segments);
      if (status == cudaSuccess && segments.slabs.slabs == 0) {
        status = plan_segments<Undo, ElementBytes>(problem, limits, segments);
      }
      if (status == cudaSuccess && segments.slabs.slabs != 0) {
        return launch_segments<Undo, ElementBytes>(problem, segments, stream);
      }
    }
  }
  if (status != cudaSuccess) { return status; }
  if (plan.blocks == 0) {
    constexpr size_type cols = larger<size_type>(band_bytes / ElementBytes, 1);
    plan = column_plan(grid, ElementBytes, access, cols * ElementBytes, scratch_tile_bytes);
  }
  return launch_steps<Undo, ElementBytes, Access>(problem, grid, plan, column_step, stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
