// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Launches of step 3 of a rectangle in place, column_kernel.cuh: how wide bands are, and where they are held.

#pragma once

#include <tiletranspose/detail/core/driver.cuh>
#include <tiletranspose/detail/core/launch_bounds.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/inplace/column_kernel.cuh>
#include <tiletranspose/detail/inplace/rectangle_problem.cuh>
#include <tiletranspose/detail/rows/row_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <bool Undo, int Access, bool Segments = false>
__global__ void __launch_bounds__(column_threads, resident_blocks(column_threads, column_blocks))
    column_kernel(const __grid_constant__ column_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  move_columns<Undo, Access, Segments>(static_block<column_threads>{}, tiletranspose_dynamic_shared,
                                       arguments, blockIdx.x);
}

/// Bands of columns and their tiles.
struct column_plan {
  size_type access = 1;      ///< bytes
  size_type band_bytes = 0;  ///< of a row of a band
  size_type tile_rows = 1;
  size_type blocks = 0;  ///< that run at once; 0: columns pass through scratch memory

  size_type shared_bytes() const { return tile_rows * band_bytes; }
  size_type band_tiles(const rectangle& grid) const { return divide_up(grid.rows, tile_rows); }
  size_type bands(const rectangle& grid, size_type element) const {
    return divide_up(grid.cols * element, band_bytes);
  }

  column_plan() = default;
  /// Bands of up to `wanted` bytes or one access, tiles of up to `most` bytes.
  column_plan(const rectangle& grid, size_type element, size_type access_bytes, size_type wanted,
              size_type most)
      : access(access_bytes) {
    const size_type accesses = smaller<size_type>(wanted / access, column_threads);
    band_bytes = smaller(larger<size_type>(accesses, 1) * access, grid.cols * element);
    limit_rows(grid, most / band_bytes);
  }

  /// At most so many rows a tile.
  void limit_rows(const rectangle& grid, size_type most) {
    tile_rows = smaller<size_type>(larger<size_type>(most, 1), grid.rows);
  }
};

/// Bands in the shared memory of all blocks, as wide as fits it, up to `widest` bytes.
template <class Kernel>
cudaError_t plan_together(const rectangle& grid, size_type element, size_type access,
                          size_type widest, Kernel* kernel, const device_limits& limits,
                          column_plan& plan) {
  plan = column_plan();
  if (limits.starts_together == 0) { return cudaSuccess; }
  constexpr size_type reserved = 1024;  // by the system, of every block's shared memory
  const size_type most =
      smaller(limits.shared_of_multiprocessor / column_blocks - reserved, limits.shared_of_block);
  cudaError_t status = allow_shared_bytes(kernel, most);
  int resident = 0;
  if (status == cudaSuccess) {
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel_pointer(kernel),
                                                           column_threads, most);
  }
  if (status != cudaSuccess) { return status; }
  const size_type blocks = static_cast<size_type>(resident) * limits.multiprocessors;
  for (size_type bytes = widest; bytes >= sector_bytes; bytes -= sector_bytes) {
    column_plan found(grid, element, access, bytes, most);
    const size_type bands_at_once = bytes > widest_band_bytes ? many_bands : 1;
    if (found.shared_bytes() > most || found.band_tiles(grid) * bands_at_once > blocks) {
      continue;
    }
    // Where there is room for several bands, not all of it is used; and no fewer tiles than blocks, if they have enough
    // rows.
    const size_type bands = found.bands(grid, element);
    const size_type fair = larger<size_type>(divide_up(grid.rows * bands, blocks), 64);
    const size_type rows = 2 * found.band_tiles(grid) <= blocks
                               ? found.tile_rows * used_tile_tenths / 10
                               : found.tile_rows;
    found.limit_rows(grid, smaller(fair, rows));
    if (found.band_tiles(grid) > blocks) { continue; }
    found.blocks = smaller(blocks, bands * found.band_tiles(grid));
    plan = found;
    return cudaSuccess;
  }
  return cudaSuccess;
}

/// Step 3. The grid's elements are segments where `segments` is not null.
/// Precondition: the kernel is allowed the plan's shared memory.
template <class Kernel>
cudaError_t launch_columns(const rectangle_problem& problem, const rectangle& grid,
                           size_type element, const column_plan& plan, Kernel* kernel,
                           const segment_layout* segments, cudaStream_t stream) {
  const auto count = [](size_type value) { return static_cast<unsigned>(value); };
  const size_type row_bytes = problem.cols * element;
  const size_type band_tiles = plan.band_tiles(grid);
  column_arguments arguments{};
  arguments.data = problem.data;
  arguments.data_pitch = row_bytes;
  arguments.grid = grid;
  arguments.band_accesses = count(plan.band_bytes / plan.access);
  arguments.square_accesses = divider(grid.common * element / plan.access);
  arguments.tile_rows = count(plan.tile_rows);
  arguments.tile_pitch = count(plan.band_bytes);
  arguments.band_tiles = divider(band_tiles);
  arguments.lines = column_threads / arguments.band_accesses;
  arguments.step = column_walk::step(grid, smaller(arguments.lines, grid.rows));
  if (segments != nullptr) { arguments.segments = *segments; }
  void* pointers[] = {&arguments};
  if (plan.blocks != 0) {
    const size_type bands = plan.bands(grid, element);
    const size_type misaligned = reinterpret_cast<size_type>(problem.scratch) % sizeof(unsigned);
    arguments.arrived = reinterpret_cast<unsigned*>(
        problem.scratch + (misaligned == 0 ? 0 : sizeof(unsigned) - misaligned));
    arguments.source = problem.data;
    arguments.source_pitch = row_bytes;
    arguments.accesses = count(row_bytes / plan.access);
    arguments.tiles = count(bands * band_tiles);
    arguments.blocks = count(plan.blocks);
    const cudaError_t status =
        cudaMemsetAsync(arguments.arrived, 0, bands * sizeof(unsigned), stream);
    return status != cudaSuccess ? status
                                 : start_together(kernel, plan.blocks, column_threads,
                                                  plan.shared_bytes(), pointers, stream);
  }
  const size_type held = problem.scratch_bytes / problem.rows;  // bytes of a row, at least a band's
  const size_type cached = cached_scratch_bytes / problem.rows;
  const size_type step =
      smaller(held, larger(cached, plan.band_bytes)) / plan.band_bytes * plan.band_bytes;
  arguments.source = problem.scratch;
  for (size_type first = 0; first < row_bytes; first += step) {
    const size_type bytes = smaller(row_bytes - first, step);
    arguments.first_access = count(first / plan.access);
    arguments.accesses = count(bytes / plan.access);
    arguments.source_pitch = bytes;
    arguments.tiles = count(divide_up(bytes, plan.band_bytes) * band_tiles);
    arguments.blocks = arguments.tiles;
    cudaError_t status = copy_rows(problem.scratch, bytes, problem.data + first, row_bytes, bytes,
                                   problem.rows, stream);
    if (status != cudaSuccess) { return status; }
    status = start(kernel, arguments.blocks, column_threads, plan.shared_bytes(), pointers, stream);
    if (status != cudaSuccess) { return status; }
  }
  return cudaSuccess;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
