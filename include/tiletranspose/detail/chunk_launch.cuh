// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Launches that transpose a rectangle in place by runs of elements, chunk_kernel.cuh.

#pragma once

#include <tiletranspose/detail/chunk_kernel.cuh>
#include <tiletranspose/detail/column_launch.cuh>
#include <tiletranspose/detail/spread_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <bool Undo, int ElementBytes>
__global__ void __launch_bounds__(chunk_threads, resident_blocks(chunk_threads, chunk_blocks))
    chunk_kernel(const __grid_constant__ chunk_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  turn_chunks<Undo, ElementBytes>(static_block<chunk_threads>{}, tiletranspose_dynamic_shared,
                                  arguments, blockIdx.x);
}

template <bool Undo, int Unit>
__global__ void __launch_bounds__(spread_threads)
    spread_kernel(const __grid_constant__ spread_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
#if TILETRANSPOSE_ON_DEVICE
  __shared__ unsigned ticket;
  if (threadIdx.x == 0) { ticket = atomicAdd(arguments.ticket, 1u); }
  __syncthreads();
#else
  const unsigned ticket = blockIdx.x;
#endif
  spread_tile<Undo, Unit>(static_block<spread_threads>{}, tiletranspose_dynamic_shared, arguments,
                          ticket);
}

/// Bytes of a run, at least, and at most. H200, 2026-11-22, % of cudaMemcpyAsync with 64, 128 and 256 where several
/// blocks hold a chunk, bytes: 20000 x 50000 25.3, 22.1, 21.2, 10000 x 100100 25.3, 23.3, 21.3.
inline constexpr size_type shortest_run_bytes = 64;
/// With 128, 256 and 512 where a block holds one: 2097143 x 127 floats 23.3, 25.8, 26.9.
inline constexpr size_type longest_run_bytes = 512;
/// Shared memory of a tile, at most: eight words of 16 bytes a thread, which are two batches of loads. H200,
/// 2026-11-22, % of cudaMemcpyAsync with nine and with eight: 1048573 x 255 floats 21.6, 26.5, 100100 x 10000 bytes
/// 20.4, 22.5.
inline constexpr size_type most_tile_bytes = 8 * 16 * chunk_threads + 16;
/// Of a column of runs: a tile of the last step is of two columns at most.
inline constexpr size_type least_piece_bytes = 16 * 1024;
/// Between two of them: what is beside a tile of the last step in shared memory.
inline constexpr size_type most_gap_bytes = 8 * 1024;

/// Chunks of a matrix, and what is left of it.
struct chunk_plan {
  size_type rows = 0;    ///< of a chunk
  size_type chunks = 0;  ///< 0: it cannot be cut so
  size_type run_bytes = 0;
  size_type rest = 0;  ///< rows that are in no chunk
  size_type tile_cols = 0;
  size_type tile_pitch = 0;  ///< bytes
  size_type blocks = 0;      ///< that run at once

  bool dense(const rectangle_problem& problem) const { return tile_cols == problem.cols; }
  size_type tiles(const rectangle_problem& problem) const {
    return divide_up(problem.cols, tile_cols);
  }
  size_type shared_bytes() const { return rows * tile_pitch + 16; }
  size_type rest_bytes(const rectangle_problem& problem, size_type element) const {
    return divide_up(rest * problem.cols * element, 16) * 16;
  }
  /// Of scratch memory, wherever it starts: the rest, and what blocks count together or a band of runs.
  size_type scratch_bytes(const rectangle_problem& problem, size_type element) const {
    const size_type bands = problem.cols * run_bytes / sector_bytes;
    const size_type tiles = problem.rows * problem.cols * element / least_piece_bytes + 2;
    return 32 + rest_bytes(problem, element) +
           larger(larger(bands, tiles) * sizeof(unsigned), chunks * band_bytes);
  }

  chunk_plan() = default;
  /// Blocks may have `most` bytes of shared memory; `together` of them run at once. Where a block holds a chunk, the
  /// longest runs that fit; else short ones, whose rows are long. And such that nothing is left, if there are.
  chunk_plan(const rectangle_problem& problem, size_type element, size_type most,
             size_type together) {
    const size_type step =
        element * (sector_bytes / common_divisor(static_cast<unsigned>(element),
                                                 static_cast<unsigned>(sector_bytes)));
    const size_type shortest = larger(shortest_run_bytes, 4 * element);
    for (size_type bytes = divide_up(shortest, step) * step; bytes <= longest_run_bytes;
         bytes += step) {
      chunk_plan found;
      found.blocks = together;
      if (!found.set_tiles(problem, element, bytes, most)) { return; }
      if (found.cut(problem, element) && (chunks == 0 || found.rest == 0 || found.dense(problem)) &&
          (found.dense(problem) || found.tiles(problem) <= together)) {
        *this = found;
        if (rest == 0) { return; }
      }
    }
  }

  /// False where a tile would be too narrow.
  bool set_tiles(const rectangle_problem& problem, size_type element, size_type bytes,
                 size_type most) {
    const size_type row_bytes = problem.cols * element;
    run_bytes = bytes;
    rows = bytes / element;
    if (rows * row_bytes + 16 <= most) {
      tile_cols = problem.cols;
      tile_pitch = row_bytes;
      return true;
    }
    if ((most - 16) / rows < 45 + 4 * element) { return false; }
    // Rows of a tile start anywhere: 16 bytes that some are in may be in those of no other row.
    const size_type fitting = ((most - 16) / rows - 45) / element;
    tile_cols = divide_up(problem.cols, divide_up(problem.cols, fitting));
    tile_pitch = tile_cols * element + 30;
    tile_pitch += (row_bytes - tile_pitch) % 16;
    return true;
  }

  /// Cuts a matrix into as many chunks as there can be without a divisor that their number and the columns have in
  /// common; false where the rest then does not fit the scratch memory. The rest of a column is nothing, or 16 bytes
  /// or more: what ends a copy of a column by 16 bytes lies in it.
  bool cut(const rectangle_problem& problem, size_type element) {
    for (chunks = problem.rows / rows; chunks * run_bytes >= least_piece_bytes; --chunks) {
      rest = problem.rows - chunks * rows;
      if (rest * element > most_gap_bytes ||
          scratch_bytes(problem, element) > problem.scratch_bytes) {
        break;
      }
      if ((rest == 0 || rest * element >= 16) &&
          common_divisor(static_cast<unsigned>(chunks), static_cast<unsigned>(problem.cols)) == 1) {
        return true;
      }
    }
    return false;
  }
};

template <bool Undo, int ElementBytes>
cudaError_t plan_chunks(const rectangle_problem& problem, const device_limits& limits,
                        chunk_plan& plan) {
  const auto kernel = &chunk_kernel<Undo, ElementBytes>;
  const size_type most =
      smaller(most_tile_bytes,
              smaller(static_cast<size_type>(limits.shared_of_multiprocessor) / chunk_blocks - 1024,
                      static_cast<size_type>(limits.shared_of_block)));
  int resident = 0;
  cudaError_t status = allow_shared_bytes(kernel, most);
  if (status == cudaSuccess && limits.starts_together != 0) {
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, chunk_threads, most);
  }
  if (status == cudaSuccess) {
    plan = chunk_plan(problem, ElementBytes, most,
                      static_cast<size_type>(resident) * limits.multiprocessors);
  }
  return status;
}

/// The steps of chunk_kernel.cuh. Precondition: plan_chunks made the plan, and so asked for the shared memory of
/// chunks.
template <bool Undo, int ElementBytes>
cudaError_t launch_chunks(const rectangle_problem& problem, const chunk_plan& plan,
                          const device_limits& limits, cudaStream_t stream) {
  const auto count = [](size_type value) { return static_cast<unsigned>(value); };
  const size_type row_bytes = problem.cols * ElementBytes;
  const size_type piece = plan.chunks * plan.run_bytes;
  const size_type gap = plan.rest * ElementBytes;
  unsigned char* const rest =
      problem.scratch + (0 - reinterpret_cast<size_type>(problem.scratch)) % 16;
  unsigned char* const free = rest + plan.rest_bytes(problem, ElementBytes);

  // All that a device may refuse is asked before anything moves.
  const rectangle runs(plan.chunks, problem.cols);
  const auto by_columns = &column_kernel<Undo, 16>;
  void (*const kernels[])(column_arguments) = {by_columns, by_columns};
  column_plan bands;
  cudaError_t status = plan_together(runs, false, plan.run_bytes, 16, 16, kernels, limits, bands);
  if (bands.blocks == 0) {
    bands = column_plan(runs, false, plan.run_bytes, 16, 16, band_bytes, scratch_tile_bytes);
  }
  const auto spreads = &spread_kernel<Undo, access_width(ElementBytes)>;
  const size_type spread_shared_bytes = spread_bytes + gap + 32;
  if (status == cudaSuccess) { status = allow_shared_bytes(spreads, spread_shared_bytes); }

  const auto chunks = [&] {
    chunk_arguments arguments{};
    const size_type tiles = plan.tiles(problem);
    arguments.source = problem.data;
    arguments.data = problem.data;
    arguments.cols = count(problem.cols);
    arguments.rows = count(plan.rows);
    arguments.run_words = count(plan.run_bytes / 16);
    arguments.tall = count(plan.chunks);
    arguments.tile_cols = count(plan.tile_cols);
    arguments.tile_pitch = count(plan.tile_pitch);
    arguments.tiles = count(plan.chunks * tiles);
    arguments.chunk_tiles = divider(tiles);
    arguments.columns = divider(plan.tile_cols);
    arguments.last_columns = divider(problem.cols - (tiles - 1) * plan.tile_cols);
    arguments.row_words = divider(divide_up(plan.tile_cols * ElementBytes + 30, 16));
    arguments.by_cols = long_divider(problem.cols);
    arguments.chunk_bytes = plan.rows * row_bytes;
    const auto kernel = &chunk_kernel<Undo, ElementBytes>;
    void* pointers[] = {&arguments};
    if (plan.dense(problem)) {
      arguments.blocks = arguments.tiles;
      return start(kernel, arguments.blocks, chunk_threads, plan.shared_bytes(), pointers, stream);
    }
    arguments.arrived = reinterpret_cast<unsigned*>(free);
    arguments.blocks = count(smaller<size_type>(arguments.tiles, plan.blocks));
    const cudaError_t cleared = cudaMemsetAsync(free, 0, plan.chunks * sizeof(unsigned), stream);
    return cleared != cudaSuccess ? cleared
                                  : start_together(kernel, arguments.blocks, chunk_threads,
                                                   plan.shared_bytes(), pointers, stream);
  };
  const auto columns = [&] {
    rectangle_problem part = problem;
    part.rows = plan.chunks;
    part.scratch = free;
    part.scratch_bytes -= static_cast<size_type>(free - problem.scratch);
    return launch_columns(part, runs, plan.run_bytes, bands, by_columns, stream);
  };
  const auto spread = [&] {
    spread_arguments arguments{};
    arguments.source = problem.data;
    arguments.data = problem.data;
    arguments.ticket = reinterpret_cast<unsigned*>(free);
    arguments.read = arguments.ticket + 1;
    arguments.piece = piece;
    arguments.source_step = Undo ? piece + gap : piece;
    arguments.target_step = Undo ? piece : piece + gap;
    arguments.bytes = (problem.cols - 1) * arguments.target_step + piece;
    // No tile is of more than two pieces.
    arguments.tile_bytes = count(smaller<size_type>(piece / 4096 * 4096, spread_bytes));
    arguments.tiles = count(divide_up(arguments.bytes, arguments.tile_bytes));
    arguments.reach = count(gap * problem.cols / arguments.tile_bytes + 2);
    const cudaError_t cleared =
        cudaMemsetAsync(free, 0, (size_type{arguments.tiles} + 1) * sizeof(unsigned), stream);
    if (cleared != cudaSuccess) { return cleared; }
    void* pointers[] = {&arguments};
    return start(spreads, arguments.tiles, spread_threads, spread_shared_bytes, pointers, stream);
  };
  // The rest, row by row in scratch memory and at the end of the data, column by column behind the pieces.
  const auto copy_rest = [&] {
    unsigned char* const rows = problem.data + piece * problem.cols;
    return cudaMemcpyAsync(Undo ? rows : rest, Undo ? rest : rows, plan.rest * row_bytes,
                           cudaMemcpyDeviceToDevice, stream);
  };
  const auto turn_rest = [&] {
    const tile_problem turned{Undo ? problem.data + piece : rest,
                              Undo ? rest : problem.data + piece,
                              (Undo ? problem.rows : problem.cols) * ElementBytes,
                              (Undo ? problem.cols : problem.rows) * ElementBytes,
                              0,
                              0,
                              Undo ? plan.rest : problem.cols,
                              Undo ? problem.cols : plan.rest,
                              false};
    return transpose_problem<ElementBytes, access_width(ElementBytes)>(turned, 1, stream);
  };

  const auto then = [&](auto step) {
    if (status == cudaSuccess) { status = step(); }
  };
  const bool rests = plan.rest != 0;
  if constexpr (Undo) {
    if (rests) {
      then(turn_rest);
      then(spread);
    }
    then(columns);
    then(chunks);
    if (rests) { then(copy_rest); }
  } else {
    if (rests) { then(copy_rest); }
    then(chunks);
    then(columns);
    if (rests) {
      then(spread);
      then(turn_rest);
    }
  }
  return status;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
