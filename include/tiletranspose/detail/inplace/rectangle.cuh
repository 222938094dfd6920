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
cudaError_t launch_steps(const rectangle_problem& problem, const column_plan& plan,
                         cudaStream_t stream) {
  const rectangle& grid = plan.grid;
  const size_type row_bytes = problem.row_bytes();
  const size_type square_bytes = grid.common * ElementBytes;
  const auto rows = [&] {
    return grid.wide == 1 ? cudaSuccess
                          : launch_row_shuffles<Undo, ElementBytes, Access>(problem, grid, stream);
  };
  square_kernel square{};
  if (grid.common > 1) {
    const size_type bits = reinterpret_cast<size_type>(problem.data) | row_bytes | square_bytes;
    square =
        find_square_kernel<ElementBytes, Access>(problem.rows * problem.cols, grid.common, bits);
  }
  const auto squares = [&] {
    if (grid.common == 1) { return cudaSuccess; }
    const swap_arguments arguments(
        {problem.data, row_bytes, grid.common}, square.tile.side, square_bytes,
        {problem.data, problem.data + problem.rows * row_bytes}, grid.wide);
    return launch_swaps(square, arguments, grid.tall, stream);
  };
  const auto columns = [&] { return launch_columns(problem, plan, {}, stream); };
  return take_steps<false>(
      [&] { return allow_shared_bytes(square.function, square.tile.shared_bytes); },
      [&] {
        return allow_shared_bytes(&row_shuffle_kernel<Undo, ElementBytes, Access>,
                                  grid.wide == 1 ? 0 : row_shuffle_bytes(problem));
      },
      [&] {  // else allow_at_once did
        return allow_shared_bytes(plan.kernel, plan.blocks == 0 ? plan.shared_bytes() : 0);
      },
      [&] { return take_steps<Undo>(rows, squares, columns); });
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
  if constexpr (Access == access_width(ElementBytes) && has_segments<ElementBytes>) {
    if (reinterpret_cast<size_type>(problem.data) % 16 == 0 &&
        !takes_bands(grid.wide, grid.common * ElementBytes,
                     plan.blocks == 0 ? 0 : plan.band_bytes)) {
      // A cut that takes more than the least scratch memory leaves more rows over.
      segment_plan segments;
      rectangle_problem frugal = problem;
      frugal.scratch_bytes = least_scratch(problem.cols, problem.rows, ElementBytes);
      status = plan_segments<Undo, ElementBytes>(frugal, segments);
      if (status == cudaSuccess && segments.slabs == 0) {
        status = plan_segments<Undo, ElementBytes>(problem, segments);
      }
      if (status != cudaSuccess) { return status; }
      if (segments.slabs != 0) { return launch_segments<Undo, ElementBytes>(segments, stream); }
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
