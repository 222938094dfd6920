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
/// | less | 2: slabs, columns (slab_kernel.cuh), where columns have segments that start on 16 bytes; see takes_bands |
/// | less | up to 3: rows, squares, columns (rectangle_grid.cuh) |
///
/// Rows stay as they are where the longer side is a multiple of the shorter one. Squares are transposed together
/// with rows where their rows fit a block's shared memory, together with columns where they are no wider than a
/// band, and take a pass of their own else. Bands of columns lie in the shared memory of all blocks at once, or move
/// through scratch memory where they are longer than that.

#pragma once

#include <tiletranspose/detail/inplace/column_launch.cuh>
#include <tiletranspose/detail/inplace/grid_squares_launch.cuh>
#include <tiletranspose/detail/inplace/row_shuffle_launch.cuh>
#include <tiletranspose/detail/inplace/slab_launch.cuh>
#include <tiletranspose/detail/inplace/square.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// All steps: squares together with rows, with columns where their plan says so, or by themselves. What can be refused
/// is refused before anything moves; a launch that fails later leaves the matrix half permuted.
template <bool Undo, int ElementBytes, int Access>
cudaError_t launch_steps(const rectangle_problem& problem, const rectangle& grid,
                         const column_plan& plan, void (*column_step)(column_arguments),
                         bool squares_in_rows, const device_limits& limits, cudaStream_t stream) {
  const bool by_squares = grid.common > 1 && !squares_in_rows && !plan.squares;
  cudaError_t status = cudaSuccess;
  shuffle_plan row_plan;
  const auto allow = [&](auto kernel, size_type bytes) {
    if (status == cudaSuccess) { status = allow_shared_bytes(kernel, bytes); }
    return status;
  };
  if (grid.wide > 1) {
    row_plan = plan_shuffles<ElementBytes, Access>(problem, grid, squares_in_rows, limits);
    allow(&shuffle_kernel<Undo, ElementBytes, Access>, row_plan.shared_bytes);
  }
  if (by_squares) {
    with_squares_kernel<ElementBytes, Access>(
        problem, grid,
        [&](auto kernel, int, int, size_type shared_bytes) { return allow(kernel, shared_bytes); });
  }
  if (plan.blocks == 0) { allow(column_step, plan.shared_bytes()); }  // else plan_together did

  const auto rows = [&] {
    if (status == cudaSuccess && grid.wide > 1) {
      status = launch_shuffles<Undo, ElementBytes, Access>(problem, grid, row_plan, stream);
    }
  };
  const auto squares = [&] {
    if (status != cudaSuccess || !by_squares) { return; }
    status = with_squares_kernel<ElementBytes, Access>(
        problem, grid, [&](auto kernel, int side, int threads, size_type shared_bytes) {
          return start_squares(kernel, problem, grid, ElementBytes, side, threads, shared_bytes,
                               stream);
        });
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

/// By segments, or by steps: squares together with rows where g rows fit a block, else with columns, else by
/// themselves.
template <bool Undo, int ElementBytes, int Access>
cudaError_t launch_rectangle(const rectangle_problem& problem, cudaStream_t stream) {
  const rectangle grid(problem.rows, problem.cols);
  device_limits limits;
  cudaError_t status = ask_device(limits);
  if (status != cudaSuccess) { return status; }
  const bool has_squares = grid.common > 1;
  const bool in_rows =
      has_squares && grid.wide > 1 && fits_block(limits, grid, grid.common, ElementBytes);
  const bool in_columns = has_squares && !in_rows;

  constexpr int widest = max_access_bytes;
  const size_type bits = reinterpret_cast<size_type>(problem.data) |
                         reinterpret_cast<size_type>(problem.scratch) | grid.common * ElementBytes;
  const size_type wide = bits % widest == 0 ? widest : Access;
  void (*const kernels[])(column_arguments) = {&column_kernel<Undo, Access>,
                                               &column_kernel<Undo, widest>};
  column_plan plan;
  status = plan_together(grid, in_columns, ElementBytes, Access, wide, widest_band_bytes, kernels,
                         limits, plan);
  if constexpr (Access == access_width(ElementBytes) && has_segments<ElementBytes>) {
    if (status == cudaSuccess &&
        !takes_bands(ElementBytes, grid.common, grid.wide, plan.blocks == 0 ? 0 : plan.band_bytes,
                     widest_slanted_bytes) &&
        reinterpret_cast<size_type>(problem.data) % 16 == 0) {
      // A cut that takes more than the least scratch memory leaves more rows over.
      segment_plan segments;
      rectangle_problem frugal = problem;
      frugal.scratch_bytes =
          smaller(problem.scratch_bytes, least_scratch(problem.cols, problem.rows, ElementBytes));
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
    const size_type tile_bytes =
        Access < 4 ? smaller(slanted_tile_bytes, limits.shared_of_block) : scratch_tile_bytes;
    plan =
        column_plan(grid, in_columns, ElementBytes, Access, wide, cols * ElementBytes, tile_bytes);
  }
  return launch_steps<Undo, ElementBytes, Access>(
      problem, grid, plan, kernels[plan.access == Access ? 0 : 1], in_rows, limits, stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
