// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Launches that transpose a rectangle in place by segments of elements, slab_kernel.cuh.

#pragma once

#include <tiletranspose/detail/inplace/column_launch.cuh>
#include <tiletranspose/detail/inplace/remainder_kernel.cuh>
#include <tiletranspose/detail/inplace/slab_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <bool Undo, int ElementBytes>
__global__ void __launch_bounds__(slab_threads,
                                  resident_blocks(slab_threads, slab_blocks(ElementBytes)))
    slab_kernel(const __grid_constant__ slab_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  transpose_slabs<Undo, ElementBytes>(static_block<slab_threads>{}, tiletranspose_dynamic_shared,
                                      arguments, blockIdx.x);
}

template <bool Back, int ElementBytes>
__global__ void __launch_bounds__(remainder_threads)
    remainder_kernel(const __grid_constant__ remainder_arguments arguments) {
  copy_remainder<Back, ElementBytes>(arguments, blockIdx.x * remainder_threads + threadIdx.x);
}

/// What segments are multiples of: two blocks of whole words, which neighbouring lanes move.
constexpr size_type segment_step(size_type element) {
  return 2 * max_access_bytes * element /
         common_divisor(static_cast<unsigned>(element), static_cast<unsigned>(max_access_bytes));
}
/// False for elements whose segments would be too long.
template <int ElementBytes>
inline constexpr bool has_segments = segment_step(ElementBytes) <= longest_segment_bytes;

/// Slabs of a matrix, and what is left of it.
struct slab_plan {
  /// Of shared memory beside the rows of a tile.
  static constexpr size_type spare_bytes = 32;

  size_type group = 0;  ///< elements, see segment_layout
  size_type slant = 0;  ///< the largest phase
  size_type rows = 0;   ///< of a slab
  size_type slabs = 0;  ///< 0: it cannot be cut so
  size_type segment_bytes = 0;
  size_type remainder = 0;  ///< elements of a column that are in no segment
  size_type tile_cols = 0;
  size_type tile_pitch = 0;  ///< bytes
  size_type held = 0;        ///< rows of a tile in shared memory
  size_type blocks = 0;      ///< that run at once

  /// Teams of a column that keep most threads busy.
  size_type column_teams() const {
    const size_type together = slab_threads / 2 / tile_cols;
    return larger<size_type>(smaller(together, segment_bytes / sector_bytes), 1);
  }
  bool dense(const rectangle_problem& problem) const { return tile_cols == problem.cols; }
  size_type tiles(const rectangle_problem& problem) const {
    return divide_up(problem.cols, tile_cols);
  }
  size_type shared_bytes() const { return held * tile_pitch + spare_bytes; }
  /// Slabs further down whose rows the segments of a slab may come to lie in: the remainder moves them.
  size_type reach() const { return divide_up(remainder, rows); }
  size_type remainder_bytes(const rectangle_problem& problem, size_type element) const {
    return divide_up(remainder * problem.cols * element, 16) * 16;
  }
  /// Of scratch memory, wherever it starts: the remainder, and what blocks count together.
  size_type scratch_bytes(const rectangle_problem& problem, size_type element) const {
    const size_type bands = problem.cols * segment_bytes / sector_bytes;
    return 32 + remainder_bytes(problem, element) + larger(bands, slabs + 1) * sizeof(unsigned);
  }

  slab_plan() = default;
  /// Blocks may have `most` bytes of shared memory; `together` of them run at once. Where a block holds a slab, the
  /// longest segments that fit; else such that rows of tiles are long. Segments begin on sectors or, where that leaves
  /// more than the scratch memory holds, on 16 bytes.
  slab_plan(const rectangle_problem& problem, size_type element, size_type most,
            size_type together) {
    const size_type step = segment_step(element);
    for (const size_type aligned : {size_type{sector_bytes}, size_type{max_access_bytes}}) {
      const size_type all =
          aligned / common_divisor(static_cast<unsigned>(element), static_cast<unsigned>(aligned));
      for (size_type bytes = divide_up(shortest_segment_bytes, step) * step;
           bytes <= longest_segment_bytes; bytes += step) {
        slab_plan found;
        found.blocks = together;
        found.group = all;
        found.slant =
            all - common_divisor(static_cast<unsigned>(problem.rows), static_cast<unsigned>(all));
        if (!found.set_tiles(problem, element, bytes, most)) { break; }
        const bool longer = found.dense(problem) || (found.tile_cols * element >= wide_tile_bytes &&
                                                     bytes <= longest_shared_segment_bytes);
        if ((slabs == 0 || longer) && found.cut(problem, element)) { *this = found; }
      }
      if (slabs != 0) { return; }
    }
  }

  /// False where a tile would be too narrow.
  bool set_tiles(const rectangle_problem& problem, size_type element, size_type bytes,
                 size_type most) {
    const size_type row_bytes = problem.cols * element;
    segment_bytes = bytes;
    rows = bytes / element;
    held = problem.undo ? rows : rows + slant;
    // Columns are read from their phases on, in rows that must not lie in the same banks.
    const auto spreads = [](size_type pitch) { return (pitch + 4) % 32 >= 8; };
    if (held * row_bytes + spare_bytes <= most && (spreads(row_bytes) || slant == 0)) {
      tile_cols = problem.cols;
      tile_pitch = row_bytes;
      return true;
    }
    // Rows of a tile start anywhere: the words of 16 bytes that they touch may not be those of another row, and lie in
    // shared memory as in the data.
    constexpr size_type touched = 30;  // bytes of these words beside a row's own, at most
    constexpr size_type most_gap = touched + 15 + 16;  // the latter two by the next steps
    constexpr size_type least_cols = 4;
    const size_type fitting = (most - spare_bytes) / held;
    if (fitting < most_gap + least_cols * element) { return false; }
    tile_cols = divide_up(problem.cols, divide_up(problem.cols, (fitting - most_gap) / element));
    tile_pitch = tile_cols * element + touched;
    tile_pitch += (row_bytes - tile_pitch) % 16;
    if (!spreads(tile_pitch)) { tile_pitch += 16; }
    return true;
  }

  /// Cuts a matrix into as many slabs as there can be without a divisor that their number and the columns have in
  /// common; false where the remainder then does not fit the scratch memory, or where more tiles wait for each other
  /// than run at once.
  bool cut(const rectangle_problem& problem, size_type element) {
    constexpr size_type most_slots = size_type{1} << 31;
    for (slabs = problem.rows / rows; slabs > 1; --slabs) {
      remainder = problem.rows - slabs * rows;
      if (scratch_bytes(problem, element) > problem.scratch_bytes ||
          (reach() + 2) * tiles(problem) > blocks ||
          remainder_bytes(problem, element) >= most_slots) {
        break;
      }
      if ((remainder == 0 || remainder > slant) && slabs * problem.cols < most_slots &&
          common_divisor(static_cast<unsigned>(slabs), static_cast<unsigned>(problem.cols)) == 1) {
        return true;
      }
    }
    return false;
  }
};

/// The slabs of a matrix and the bands of their columns; none of either where there are not both.
struct segment_plan {
  slab_plan slabs;
  column_plan columns;

  rectangle grid(const rectangle_problem& problem) const {
    return rectangle(slabs.slabs, problem.cols);
  }
};

template <bool Undo, int ElementBytes>
cudaError_t plan_segments(const rectangle_problem& problem, const device_limits& limits,
                          segment_plan& plan) {
  const auto kernel = &slab_kernel<Undo, ElementBytes>;
  const size_type most =
      smaller(most_tiles_bytes / slab_blocks(ElementBytes),
              smaller(limits.shared_of_multiprocessor / slab_blocks(ElementBytes) - 1024,
                      limits.shared_of_block));
  int resident = 0;
  cudaError_t status = allow_shared_bytes(kernel, most);
  if (status == cudaSuccess && limits.starts_together != 0) {
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel_pointer(kernel),
                                                           slab_threads, most);
  }
  if (status != cudaSuccess) { return status; }
  plan.slabs = slab_plan(problem, ElementBytes, most,
                         static_cast<size_type>(resident) * limits.multiprocessors);
  if (plan.slabs.slabs == 0) { return cudaSuccess; }
  status =
      plan_together(plan.grid(problem), plan.slabs.segment_bytes, 16, widest_segment_band_bytes,
                    &column_kernel<Undo, 16, true>, limits, plan.columns);
  if (plan.columns.blocks == 0) { plan.slabs = slab_plan(); }
  return status;
}

/// The steps of slab_kernel.cuh. Precondition: plan_segments made the plan, and found slabs.
template <bool Undo, int ElementBytes>
cudaError_t launch_segments(const rectangle_problem& problem, const segment_plan& plan,
                            cudaStream_t stream) {
  const auto count = [](size_type value) { return static_cast<unsigned>(value); };
  const slab_plan& cut = plan.slabs;
  const size_type row_bytes = problem.cols * ElementBytes;
  const size_type tiles = cut.tiles(problem);
  const bool slants = cut.remainder != 0 && cut.slant != 0;
  unsigned char* const remainder =
      problem.scratch + (0 - reinterpret_cast<size_type>(problem.scratch)) % 16;
  unsigned char* const free = remainder + cut.remainder_bytes(problem, ElementBytes);
  const segment_layout segments{divider(cut.slabs), count(cut.remainder), count(cut.group),
                                ElementBytes, count(cut.segment_bytes)};

  const auto slabs = [&] {
    slab_arguments arguments{};
    arguments.source = problem.data;
    arguments.data = problem.data;
    arguments.arrived = reinterpret_cast<unsigned*>(free);
    arguments.cols = count(problem.cols);
    arguments.rows = count(cut.rows);
    arguments.slant = slants ? count(cut.slant) : 0;
    arguments.column_teams = count(cut.column_teams());
    arguments.more = slants && Undo;
    arguments.tile_cols = count(cut.tile_cols);
    arguments.tile_pitch = count(cut.tile_pitch);
    arguments.segments = segments;
    arguments.tiles = count(arguments.slabs() * tiles);
    arguments.blocks = count(smaller<size_type>(arguments.tiles, cut.blocks));
    const size_type common_rows = slants ? 1 : 0;
    arguments.before = count(Undo ? cut.reach() : common_rows);
    arguments.after = count(Undo ? common_rows : cut.reach());
    arguments.slab_tiles = divider(tiles);
    arguments.columns = divider(cut.tile_cols);
    arguments.last_columns = divider(problem.cols - (tiles - 1) * cut.tile_cols);
    arguments.row_words = divider(divide_up(cut.tile_cols * ElementBytes + 30, 16));
    arguments.by_cols = long_divider(problem.cols);
    arguments.slab_bytes = cut.rows * row_bytes;
    arguments.bytes = problem.rows * row_bytes;
    const cudaError_t cleared =
        cudaMemsetAsync(free, 0, arguments.slabs() * sizeof(unsigned), stream);
    if (cleared != cudaSuccess) { return cleared; }
    void* pointers[] = {&arguments};
    return start_together(&slab_kernel<Undo, ElementBytes>, arguments.blocks, slab_threads,
                          cut.shared_bytes(), pointers, stream);
  };
  const auto columns = [&] {
    rectangle_problem of_slots = problem;
    of_slots.rows = cut.slabs;
    of_slots.scratch = free;
    return launch_columns(of_slots, plan.grid(problem), cut.segment_bytes, plan.columns,
                          &column_kernel<Undo, 16, true>, &segments, stream);
  };
  // To scratch memory before anything moves, and back at last: one of it out of m rows, the other into n columns.
  const auto copy_remainder = [&](auto kernel, bool down) {
    if (cut.remainder == 0) { return cudaSuccess; }
    remainder_arguments arguments{};
    arguments.data = problem.data;
    arguments.remainder = remainder;
    arguments.row_step = down ? ElementBytes : row_bytes;
    arguments.col_step = down ? problem.rows * ElementBytes : ElementBytes;
    arguments.segments = segments;
    arguments.cols = count(problem.cols);
    arguments.skipped = count(cut.slabs * cut.rows);
    arguments.count = count(cut.remainder * problem.cols);
    arguments.line = divider(down ? cut.remainder : problem.cols);
    arguments.down = down;
    void* pointers[] = {&arguments};
    return start(kernel, divide_up(arguments.count, remainder_threads), remainder_threads, 0,
                 pointers, stream);
  };

  cudaError_t status = copy_remainder(&remainder_kernel<false, ElementBytes>, Undo);
  const auto then = [&](auto step) {
    if (status == cudaSuccess) { status = step(); }
  };
  if constexpr (Undo) {
    then(columns);
    then(slabs);
  } else {
    then(slabs);
    then(columns);
  }
  then([&] { return copy_remainder(&remainder_kernel<true, ElementBytes>, !Undo); });
  return status;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
