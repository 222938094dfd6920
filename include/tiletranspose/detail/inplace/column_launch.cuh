// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What is asked of a rectangle in place, how its kernels are started, and launches of step 3, column_kernel.cuh: how wide
/// bands are, and where they are held.

#pragma once

#include <tiletranspose/detail/core/driver.cuh>
#include <tiletranspose/detail/core/launch_bounds.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/inplace/column_kernel.cuh>
#include <tiletranspose/detail/rows/row_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The work on one rectangle: `rows` > `cols` of the grid, whatever the matrix.
struct rectangle_problem {
  unsigned char* data;
  unsigned char* scratch;
  size_type scratch_bytes;
  size_type rows;
  size_type cols;
  size_type element_bytes;
  bool undo;  ///< the matrix has as many rows as the grid has columns

  size_type row_bytes() const { return cols * element_bytes; }
};

/// Blocks of a kernel that wait for each other.
struct blocks_at_once {
  size_type shared_bytes = 0;  ///< that each may have
  size_type count = 0;  ///< that run at once; 0 where the device knows no cooperative launches
};

/// Allows so many blocks that share a multiprocessor's memory equal parts of it, up to `most` bytes each.
template <class Kernel>
cudaError_t allow_at_once(Kernel* kernel, int threads, size_type sharing, size_type most,
                          blocks_at_once& allowed) {
  if (ask_device_for(cudaDevAttrCooperativeLaunch, 0) == 0) { return cudaSuccess; }
  constexpr size_type reserved = 1024;  // by the system, of every block's shared memory
  const size_type bytes = smaller(
      smaller(shared_bytes_of_multiprocessor() / sharing - reserved, most), most_shared_bytes());
  int resident = 0;
  cudaError_t status = allow_shared_bytes(kernel, bytes);
  if (status == cudaSuccess) {
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel_pointer(kernel),
                                                           threads, bytes);
  }
  allowed = {bytes, resident * ask_device_for(cudaDevAttrMultiProcessorCount, 0)};
  return status;
}

/// As start(), of blocks that wait for each other: all of them run at once.
template <class Kernel>
cudaError_t start_together(Kernel* kernel, size_type blocks, int threads, size_type shared_bytes,
                           void** arguments, cudaStream_t stream) {
  return cudaLaunchCooperativeKernel(kernel_pointer(kernel), dim3(static_cast<unsigned>(blocks)),
                                     dim3(static_cast<unsigned>(threads)), arguments, shared_bytes,
                                     stream);
}

template <bool Undo>
cudaError_t take_steps() {
  return cudaSuccess;
}
/// Takes steps one after the other or, to undo them, from the last to the first, until one fails.
template <bool Undo, class First, class... Others>
cudaError_t take_steps(First first, Others... others) {
  const auto behind = [&] { return take_steps<Undo>(others...); };
  const cudaError_t status = Undo ? behind() : first();
  return status != cudaSuccess ? status : Undo ? first() : behind();
}

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
  const bool together = plan.blocks != 0;
  const size_type row_bytes = plan.row_bytes();
  const size_type held = problem.scratch_bytes / grid.rows;  // bytes of a row, at least a band's
  const size_type cached = larger(cached_scratch_bytes / grid.rows, plan.band_bytes);
  const size_type step =
      together ? row_bytes : smaller(held, cached) / plan.band_bytes * plan.band_bytes;
  column_arguments arguments{};
  arguments.data = problem.data;
  arguments.data_pitch = row_bytes;
  arguments.source = together ? problem.data : problem.scratch;
  arguments.grid = grid;
  arguments.band_accesses = count(plan.band_bytes / plan.access);
  arguments.square_accesses = divider(grid.common * plan.element / plan.access);
  arguments.tile_rows = count(plan.tile_rows);
  arguments.tile_pitch = count(plan.band_bytes);
  arguments.band_tiles = divider(plan.band_tiles());
  arguments.lines = column_threads / arguments.band_accesses;
  arguments.step = column_walk::step(grid, smaller(arguments.lines, grid.rows));
  arguments.segments = segments;
  if (together) {
    arguments.arrived = reinterpret_cast<unsigned*>(
        problem.scratch + (0 - reinterpret_cast<size_type>(problem.scratch)) % sizeof(unsigned));
  }
  void* pointers[] = {&arguments};
  for (size_type first = 0; first < row_bytes; first += step) {
    const size_type bytes = smaller(row_bytes - first, step);
    const size_type bands = divide_up(bytes, plan.band_bytes);
    arguments.first_access = count(first / plan.access);
    arguments.accesses = count(bytes / plan.access);
    arguments.source_pitch = bytes;
    arguments.tiles = count(bands * plan.band_tiles());
    arguments.blocks = together ? count(plan.blocks) : arguments.tiles;
    cudaError_t status =
        together ? cudaMemsetAsync(arguments.arrived, 0, bands * sizeof(unsigned), stream)
                 : copy_rows<NoElement>(problem.scratch, bytes, problem.data + first, row_bytes,
                                        bytes, grid.rows, stream);
    if (status != cudaSuccess) { return status; }
    status = together ? start_together(plan.kernel, arguments.blocks, column_threads,
                                       plan.shared_bytes(), pointers, stream)
                      : start(plan.kernel, arguments.blocks, column_threads, plan.shared_bytes(),
                              pointers, stream);
    if (status != cudaSuccess) { return status; }
  }
  return cudaSuccess;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
