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
  rectangle grid;
  size_type element;  ///< bytes of the grid's
  size_type access;   ///< bytes
  void (*kernel)(column_arguments);
  size_type band_bytes = 0;  ///< of a row of a band
  size_type tile_rows = 1;
  size_type blocks = 0;  ///< that run at once; 0: columns pass through scratch memory

  size_type row_bytes() const { return grid.cols * element; }
  size_type shared_bytes() const { return tile_rows * band_bytes; }
  size_type band_tiles() const { return divide_up(grid.rows, tile_rows); }
  size_type bands() const { return divide_up(row_bytes(), band_bytes); }

  /// Bands of up to `wanted` bytes or one access, tiles of up to `most` bytes.
  void set_bands(size_type wanted, size_type most) {
    const size_type accesses = smaller<size_type>(wanted / access, column_threads);
    band_bytes = smaller(larger<size_type>(accesses, 1) * access, row_bytes());
    limit_rows(most / band_bytes);
  }
  /// At most so many rows a tile.
  void limit_rows(size_type most) {
    tile_rows = smaller<size_type>(larger<size_type>(most, 1), grid.rows);
  }

  /// Bands in the shared memory of all blocks, as wide as fits it, up to `widest` bytes; no blocks where none fit.
  cudaError_t set_together(size_type widest) {
    blocks_at_once allowed;
    const cudaError_t status =
        allow_at_once(kernel, column_threads, column_blocks, ~size_type{0}, allowed);
    if (status != cudaSuccess) { return status; }
    for (size_type bytes = widest; bytes >= sector_bytes; bytes -= sector_bytes) {
      set_bands(bytes, allowed.shared_bytes);
      const size_type bands_at_once = bytes > widest_band_bytes ? many_bands : 1;
      if (shared_bytes() > allowed.shared_bytes || band_tiles() * bands_at_once > allowed.count) {
        continue;
      }
      // Where there is room for several bands, not all of it is used; and no fewer tiles than blocks, if they have
      // enough rows.
      const size_type fair = larger<size_type>(divide_up(grid.rows * bands(), allowed.count), 64);
      const size_type rows =
          2 * band_tiles() <= allowed.count ? tile_rows * used_tile_tenths / 10 : tile_rows;
      limit_rows(smaller(fair, rows));
      if (band_tiles() <= allowed.count) {
        blocks = smaller(allowed.count, bands() * band_tiles());
        return cudaSuccess;
      }
    }
    return cudaSuccess;
  }
};

/// Step 3. A template, so that the kernel that copies rows is compiled only where this is called.
/// Precondition: the kernel is allowed the plan's shared memory.
/// \param segments  what the grid's elements are, if they are segments
template <int NoElement = 0>
cudaError_t launch_columns(const rectangle_problem& problem, const column_plan& plan,
                           const segment_layout& segments, cudaStream_t stream) {
  const auto count = [](size_type value) { return static_cast<unsigned>(value); };
  const rectangle& grid = plan.grid;
  const size_type row_bytes = plan.row_bytes();
  const size_type band_tiles = plan.band_tiles();
  column_arguments arguments{};
  arguments.data = problem.data;
  arguments.data_pitch = row_bytes;
  arguments.grid = grid;
  arguments.band_accesses = count(plan.band_bytes / plan.access);
  arguments.square_accesses = divider(grid.common * plan.element / plan.access);
  arguments.tile_rows = count(plan.tile_rows);
  arguments.tile_pitch = count(plan.band_bytes);
  arguments.band_tiles = divider(band_tiles);
  arguments.lines = column_threads / arguments.band_accesses;
  arguments.step = column_walk::step(grid, smaller(arguments.lines, grid.rows));
  arguments.segments = segments;
  void* pointers[] = {&arguments};
  if (plan.blocks != 0) {
    const size_type bands = plan.bands();
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
                                 : start_together(plan.kernel, plan.blocks, column_threads,
                                                  plan.shared_bytes(), pointers, stream);
  }
  const size_type held = problem.scratch_bytes / grid.rows;  // bytes of a row, at least a band's
  const size_type cached = cached_scratch_bytes / grid.rows;
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
    cudaError_t status = copy_rows<NoElement>(problem.scratch, bytes, problem.data + first,
                                              row_bytes, bytes, grid.rows, stream);
    if (status != cudaSuccess) { return status; }
    status =
        start(plan.kernel, arguments.blocks, column_threads, plan.shared_bytes(), pointers, stream);
    if (status != cudaSuccess) { return status; }
  }
  return cudaSuccess;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
