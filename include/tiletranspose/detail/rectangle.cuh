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
/// | less, sides without a common divisor | 2: rows, columns |
/// | less, other sides | 3: columns, rows, columns |
///
/// Scratch for bands of columns is written and read again at once. Up to 24 MB of it the L2 cache holds; with less,
/// more and smaller launches do the work.

#pragma once

#include <tiletranspose/detail/inplace.cuh>
#include <tiletranspose/detail/launch.cuh>
#include <tiletranspose/detail/rectangle_kernel.cuh>
#include <tiletranspose/detail/row_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <column_step Step, bool Undo, int ElementBytes, int Unit>
__global__ void __launch_bounds__(rectangle_threads)
    band_kernel(const __grid_constant__ band_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  move_band<Step, Undo, ElementBytes, Unit>(static_block<rectangle_threads>{},
                                            tiletranspose_dynamic_shared, arguments, blockIdx.x);
}

template <bool Undo, int ElementBytes, int Unit>
__global__ void __launch_bounds__(shuffle_threads)
    shuffle_kernel(const __grid_constant__ shuffle_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  shuffle_rows<Undo, ElementBytes, Unit>(static_block<shuffle_threads>{},
                                         tiletranspose_dynamic_shared, arguments, blockIdx.x);
}

template <bool Undo, int ElementBytes, int Unit>
__global__ void __launch_bounds__(rectangle_threads)
    long_row_kernel(const __grid_constant__ shuffle_arguments arguments) {
  shuffle_long_row<Undo, ElementBytes, Unit>(
      arguments, size_type{blockIdx.x} * rectangle_threads + threadIdx.x);
}

/// The work on one rectangle: `rows` >= `cols` of the grid, whatever the matrix.
struct rectangle_problem {
  unsigned char* data;
  unsigned char* scratch;
  size_type scratch_bytes;
  size_type rows;
  size_type cols;
  bool undo;  ///< the matrix has as many rows as the grid has columns
};

/// Bytes of a band's rows: a line.
inline constexpr size_type band_bytes = 128;
/// Scratch that stays in the L2 cache beside what passes through it.
inline constexpr size_type cached_scratch_bytes = 24 * 1024 * 1024;

/// The smallest scratch for a matrix: one band, which the longest row fits, too; or all
/// of it, where that is less or where a side is too long for 32-bit arithmetic.
inline size_type least_scratch(size_type nx, size_type ny, size_type element) {
  const size_type longer = larger(nx, ny);
  const size_type shorter = smaller(nx, ny);
  const size_type band_cols = larger<size_type>(band_bytes / element, 1);
  const bool whole = shorter <= band_cols || longer >= size_type{1} << 31;
  return (whole ? shorter : band_cols) * longer * element;
}

/// Step 1 or 3 on all columns, band by band.
template <column_step Step, bool Undo, int ElementBytes, int Unit>
cudaError_t launch_bands(const rectangle_problem& problem, cudaStream_t stream) {
  constexpr size_type element = ElementBytes;
  constexpr size_type wide = larger<size_type>(band_bytes / element, 1);
  const size_type held = problem.scratch_bytes / (problem.rows * element);  // columns, at least 1
  const size_type cached = cached_scratch_bytes / (problem.rows * element);
  band_arguments arguments{};
  arguments.scratch = problem.scratch;
  arguments.data = problem.data;
  arguments.grid = rectangle(problem.rows, problem.cols);
  arguments.band_cols = static_cast<unsigned>(smaller(smaller(wide, held), problem.cols));
  const size_type bands =
      smaller(held, larger(cached, size_type{arguments.band_cols})) / arguments.band_cols;
  arguments.tile_rows = static_cast<unsigned>(smaller<size_type>(
      problem.rows, larger<size_type>(64, 24 * 1024 / (arguments.band_cols * element))));
  arguments.tile_rows = smaller(arguments.tile_rows, most_diagonals);
  const size_type row_tiles = divide_up(problem.rows, arguments.tile_rows);
  arguments.row_tiles = divider(row_tiles);
  arguments.band_divider = divider(arguments.band_cols);
  const unsigned tile_rows = band_tile_rows(arguments.tile_rows, arguments.band_cols);
  const unsigned shared_bytes = static_cast<unsigned>(
      round_up(static_cast<int>(tile_rows * arguments.band_cols * element), 16) +
      tile_rows * sizeof(diagonal));
  for (size_type col = 0; col < problem.cols; col += bands * arguments.band_cols) {
    arguments.first_col = static_cast<unsigned>(col);
    arguments.cols =
        static_cast<unsigned>(smaller(problem.cols - col, bands * arguments.band_cols));
    cudaError_t status =
        copy_rows(problem.scratch, arguments.cols * element, problem.data + col * element,
                  problem.cols * element, arguments.cols * element, problem.rows, stream);
    if (status != cudaSuccess) { return status; }
    void* pointers[] = {&arguments};
    status = start(&band_kernel<Step, Undo, ElementBytes, Unit>,
                   divide_up(arguments.cols, arguments.band_cols) * row_tiles, rectangle_threads,
                   shared_bytes, pointers, stream);
    if (status != cudaSuccess) { return status; }
  }
  return cudaSuccess;
}

/// Step 2 on all rows: in shared memory where a row fits it, else through scratch memory.
template <bool Undo, int ElementBytes, int Unit>
cudaError_t launch_shuffles(const rectangle_problem& problem, cudaStream_t stream) {
  const size_type row_bytes = problem.cols * ElementBytes;
  shuffle_arguments arguments{};
  arguments.data = problem.data;
  arguments.scratch = problem.scratch;
  arguments.grid = rectangle(problem.rows, problem.cols);
  int device = 0;
  int most_shared = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess) {
    status = cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  }
  if (status != cudaSuccess) { return status; }

  if (row_bytes <= static_cast<size_type>(most_shared)) {
    arguments.rows = static_cast<unsigned>(problem.rows);
    arguments.block_rows = static_cast<unsigned>(
        smaller(problem.rows, larger<size_type>(shuffle_block_bytes / row_bytes, 1)));
    const size_type shared_bytes = arguments.block_rows * row_bytes;
    const auto kernel = &shuffle_kernel<Undo, ElementBytes, Unit>;
    if (shared_bytes > default_shared_bytes) {
      status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_bytes));
      if (status != cudaSuccess) { return status; }
    }
    void* pointers[] = {&arguments};
    return start(kernel, divide_up(problem.rows, arguments.block_rows), shuffle_threads,
                 shared_bytes, pointers, stream);
  }

  const size_type held = smaller(problem.scratch_bytes, cached_scratch_bytes) / row_bytes;
  const size_type together = larger<size_type>(held, 1);
  for (size_type row = 0; row < problem.rows; row += together) {
    arguments.first_row = static_cast<unsigned>(row);
    arguments.rows = static_cast<unsigned>(smaller(problem.rows - row, together));
    unsigned char* const data = problem.data + row * row_bytes;
    const size_type bytes = arguments.rows * row_bytes;
    if (Undo) {
      status = cudaMemcpyAsync(problem.scratch, data, bytes, cudaMemcpyDeviceToDevice, stream);
      if (status != cudaSuccess) { return status; }
    }
    void* pointers[] = {&arguments};
    status =
        start(&long_row_kernel<Undo, ElementBytes, Unit>,
              divide_up(bytes / Unit, rectangle_threads), rectangle_threads, 0, pointers, stream);
    if (status != cudaSuccess) { return status; }
    if (!Undo) {
      status = cudaMemcpyAsync(data, problem.scratch, bytes, cudaMemcpyDeviceToDevice, stream);
      if (status != cudaSuccess) { return status; }
    }
  }
  return cudaSuccess;
}

template <int ElementBytes, int Unit>
cudaError_t launch_rectangle(const rectangle_problem& problem, cudaStream_t stream) {
  const bool coprime = rectangle::greatest_common_divisor(static_cast<unsigned>(problem.rows),
                                                          static_cast<unsigned>(problem.cols)) == 1;
  cudaError_t status = cudaSuccess;
  if (!problem.undo) {
    if (!coprime) {
      status = launch_bands<column_step::rotate, false, ElementBytes, Unit>(problem, stream);
    }
    if (status == cudaSuccess) {
      status = launch_shuffles<false, ElementBytes, Unit>(problem, stream);
    }
    if (status == cudaSuccess) {
      status = launch_bands<column_step::shuffle, false, ElementBytes, Unit>(problem, stream);
    }
    return status;
  }
  status = launch_bands<column_step::shuffle, true, ElementBytes, Unit>(problem, stream);
  if (status == cudaSuccess) {
    status = launch_shuffles<true, ElementBytes, Unit>(problem, stream);
  }
  if (status == cudaSuccess && !coprime) {
    status = launch_bands<column_step::rotate, true, ElementBytes, Unit>(problem, stream);
  }
  return status;
}

/// Transposes a dense matrix in place; `scratch` holds at least least_scratch() bytes.
template <int ElementBytes, int Alignment>
cudaError_t transpose_rectangle(const transpose_request& request, void* scratch,
                                size_type scratch_bytes, cudaStream_t stream) {
  if (request.nx == 1 || request.ny == 1) { return cudaSuccess; }  // a vector stays as it is
  if (request.nx == request.ny) {
    return transpose_square<ElementBytes, Alignment>(make_problem(request), stream);
  }
  const size_type bytes = request.nx * request.ny * ElementBytes;
  if (scratch_bytes >= bytes) {
    transpose_request copy = request;
    copy.out = scratch;
    copy.out_stride = request.ny;
    const cudaError_t status =
        transpose_problem<ElementBytes, Alignment>(make_problem(copy), 1, stream);
    return status != cudaSuccess
               ? status
               : cudaMemcpyAsync(request.out, scratch, bytes, cudaMemcpyDeviceToDevice, stream);
  }
  const bool tall = request.ny > request.nx;
  const rectangle_problem problem{
      static_cast<unsigned char*>(request.out), static_cast<unsigned char*>(scratch), scratch_bytes,
      tall ? request.ny : request.nx,           tall ? request.nx : request.ny,       !tall};
  constexpr int wanted = access_width(ElementBytes);
  constexpr int promised = access_width(ElementBytes, Alignment);
  const size_type bits =
      reinterpret_cast<size_type>(request.out) | reinterpret_cast<size_type>(scratch);
  if constexpr (promised < wanted) {
    if (bits % wanted != 0) { return launch_rectangle<ElementBytes, promised>(problem, stream); }
  }
  return launch_rectangle<ElementBytes, wanted>(problem, stream);
}

/// The two calls of a caller with scratch memory.
template <int ElementBytes, int Alignment>
cudaError_t transpose_with_scratch(void* temp, size_type& temp_bytes,
                                   const transpose_request& request, cudaStream_t stream) {
  const bool empty = request.nx == 0 || request.ny == 0;
  size_type elements = 0;
  size_type bytes = 0;
  if (!empty && (!multiplies(request.nx, request.ny, elements) ||
                 !multiplies(elements, ElementBytes, bytes))) {
    return cudaErrorInvalidValue;
  }
  const bool stays = empty || request.nx == 1 || request.ny == 1 || request.nx == request.ny;
  // Never 0: who allocates nothing has a null pointer, and would ask again.
  const size_type least = stays ? 1 : least_scratch(request.nx, request.ny, ElementBytes);
  if (temp == nullptr) {
    temp_bytes = least;
    return cudaSuccess;
  }
  const verdict answer = examine_inplace(request, symmetry::identity);
  if (answer != verdict::go) { return status_of(answer); }
  memory_region data{};
  memory_region scratch{};
  if (temp_bytes < least || !make_region(request.out, 1, elements, 0, ElementBytes, data) ||
      !make_region(temp, 1, temp_bytes, 0, 1, scratch) || overlap(data, scratch)) {
    return cudaErrorInvalidValue;
  }
  return transpose_rectangle<ElementBytes, Alignment>(request, temp, temp_bytes, stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
