// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Launches that transpose a rectangle in place by segments of elements, slab_kernel.cuh.

#pragma once

#include <numeric>

#include <tiletranspose/detail/inplace/rectangle_columns.cuh>
#include <tiletranspose/detail/inplace/slab_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <bool Undo, int ElementBytes>
__global__ void __launch_bounds__(slab_threads,
                                  resident_blocks(slab_threads, slab_blocks(ElementBytes)))
    slab_kernel(const __grid_constant__ slab_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  transpose_slabs<Undo, ElementBytes>(tiletranspose_dynamic_shared, arguments, blockIdx.x);
}

inline constexpr int remainder_threads = 256;

/// The remainder in scratch memory is a matrix of r rows: column y has what comes before its first segment and then
/// what comes behind its last.
struct remainder_arguments {
  unsigned char* data;
  unsigned char* remainder;
  size_type row_step;  ///< bytes of the data between elements of a column, which is m of them
  size_type col_step;  ///< and of a row
  segment_layout segments;
  unsigned cols;     ///< n
  unsigned skipped;  ///< elements of a column that are in segments
  unsigned count;    ///< n * r
  divider line;      ///< n, or r: neighbouring lanes take elements that lie together
  bool down;         ///< the latter: those of a column do
};

/// Copies the remainder to scratch memory, or back.
template <bool Back, int ElementBytes>
__global__ void __launch_bounds__(remainder_threads)
    remainder_kernel(const __grid_constant__ remainder_arguments arguments) {
  constexpr int access_bytes = access_width(ElementBytes);
  using narrow = access_word_t<access_bytes>;
  const unsigned number = blockIdx.x * remainder_threads + threadIdx.x;
  if (number >= arguments.count) { return; }
  const unsigned above = arguments.line.quotient(number);
  const unsigned in_line = arguments.line.remainder(number, above);
  const unsigned col = arguments.down ? above : in_line;
  const unsigned row = arguments.down ? in_line : above;
  const unsigned in_data = row < arguments.segments.phase(col) ? row : arguments.skipped + row;
  unsigned char* const data =
      arguments.data + in_data * arguments.row_step + col * arguments.col_step;
  unsigned char* const remainder =
      arguments.remainder + (size_type{row} * arguments.cols + col) * ElementBytes;
  const unsigned char* const from = Back ? remainder : data;
  unsigned char* const to = Back ? data : remainder;
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < ElementBytes; i += access_bytes) {
    store_global(to + i, load_global<narrow>(from + i));
  }
}

/// False for elements whose segments would be too long.
template <int ElementBytes>
inline constexpr bool has_segments = segment_step(ElementBytes) <= longest_segment_bytes;

/// Slabs of a matrix, the bands of their columns, and what is left of it.
struct segment_plan {
  /// Of shared memory beside the rows of a tile.
  static constexpr size_type spare_bytes = 32;

  rectangle_problem problem{};
  size_type group = 0;  ///< elements, see segment_layout
  size_type slant = 0;  ///< the largest phase
  size_type rows = 0;   ///< of a slab
  size_type slabs = 0;  ///< 0: it cannot be cut so
  size_type segment_bytes = 0;
  size_type remainder = 0;  ///< elements of a column that are in no segment
  size_type tile_cols = 0;
  size_type tile_pitch = 0;  ///< bytes
  size_type held = 0;        ///< rows of a tile in shared memory
  blocks_at_once allowed;
  column_plan columns{};

  size_type tiles() const { return divide_up(problem.cols, tile_cols); }
  size_type shared_bytes() const { return held * tile_pitch + spare_bytes; }
  /// Slabs further down whose rows the segments of a slab may come to lie in: the remainder moves them.
  size_type reach() const { return divide_up(remainder, rows); }
  size_type remainder_bytes() const { return divide_up(remainder * problem.row_bytes(), 16) * 16; }
  /// Of scratch memory, wherever it starts: the remainder, and what blocks count together.
  size_type scratch_bytes() const {
    const size_type bands = problem.cols * segment_bytes / sector_bytes;
    return 32 + remainder_bytes() + larger(bands, slabs + 1) * sizeof(unsigned);
  }

  segment_plan() = default;
  /// Where a block holds a slab, the longest segments that fit; else such that rows of tiles are long. Segments begin on
  /// sectors or, where that leaves more than the scratch memory holds, on 16 bytes.
  segment_plan(const rectangle_problem& whole, const blocks_at_once& offered) {
    const size_type element = whole.element_bytes;
    const size_type step = segment_step(static_cast<unsigned>(element));
    segment_plan found;
    found.problem = whole;
    found.allowed = offered;
    for (const size_type aligned : {size_type{sector_bytes}, size_type{max_access_bytes}}) {
      found.group = aligned / std::gcd(element, aligned);
      found.slant = found.group - std::gcd(whole.rows, found.group);
      for (size_type bytes = divide_up(shortest_segment_bytes, step) * step;
           bytes <= longest_segment_bytes; bytes += step) {
        if (!found.set_tiles(bytes)) { break; }
        const bool longer =
            found.tile_cols == whole.cols ||
            (found.tile_cols * element >= wide_tile_bytes && bytes <= longest_shared_segment_bytes);
        if ((slabs == 0 || longer) && found.cut()) { *this = found; }
      }
      if (slabs != 0) { return; }
    }
  }

  /// False where a tile would be too narrow.
  bool set_tiles(size_type bytes) {
    const size_type most = allowed.shared_bytes - spare_bytes;
    const size_type element = problem.element_bytes;
    const size_type row_bytes = problem.row_bytes();
    segment_bytes = bytes;
    rows = bytes / element;
    held = problem.undo ? rows : rows + slant;
    // Columns are read from their phases on, in rows that must not lie in the same banks.
    const auto spreads = [](size_type pitch) { return (pitch + 4) % 32 >= 8; };
    if (held * row_bytes <= most && (spreads(row_bytes) || slant == 0)) {
      tile_cols = problem.cols;
      tile_pitch = row_bytes;
      return true;
    }
    // Rows of a tile start anywhere: the words of 16 bytes that they touch may not be those of another row, and lie in
    // shared memory as in the data.
    constexpr size_type touched = 30;  // bytes of these words beside a row's own, at most
    constexpr size_type most_gap = touched + 15 + 16;  // the latter two by the next steps
    constexpr size_type least_cols = 4;
    const size_type fitting = most / held;
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
  bool cut() {
    constexpr size_type most_slots = size_type{1} << 31;
    for (slabs = problem.rows / rows; slabs > 1; --slabs) {
      remainder = problem.rows - slabs * rows;
      if (scratch_bytes() > problem.scratch_bytes || (reach() + 2) * tiles() > allowed.count ||
          remainder_bytes() >= most_slots) {
        break;
      }
      if ((remainder == 0 || remainder > slant) && slabs * problem.cols < most_slots &&
          std::gcd(slabs, problem.cols) == 1) {
        return true;
      }
    }
    return false;
  }
};

/// Leaves the plan without slabs where there are not both, slabs and bands of their columns.
template <bool Undo, int ElementBytes>
cudaError_t plan_segments(const rectangle_problem& problem, segment_plan& plan) {
  constexpr int sharing = slab_blocks(ElementBytes);
  blocks_at_once allowed;
  cudaError_t status = allow_at_once(&slab_kernel<Undo, ElementBytes>, slab_threads, sharing,
                                     most_tiles_bytes / sharing, allowed);
  if (status != cudaSuccess || allowed.count == 0) { return status; }
  plan = segment_plan(problem, allowed);
  if (plan.slabs == 0) { return cudaSuccess; }
  plan.columns = {rectangle(plan.slabs, problem.cols), plan.segment_bytes, 16,
                  &column_kernel<Undo, 16, true>};
  status = plan.columns.set_together(widest_segment_band_bytes);
  if (plan.columns.blocks == 0) { plan.slabs = 0; }
  return status;
}

/// The steps of slab_kernel.cuh. Precondition: plan_segments made the plan, and found slabs.
template <bool Undo, int ElementBytes>
cudaError_t launch_segments(const segment_plan& plan, cudaStream_t stream) {
  const auto count = [](size_type value) { return static_cast<unsigned>(value); };
  const rectangle_problem& problem = plan.problem;
  const size_type row_bytes = problem.row_bytes();
  unsigned char* const remainder =
      problem.scratch + (0 - reinterpret_cast<size_type>(problem.scratch)) % 16;
  unsigned char* const free = remainder + plan.remainder_bytes();
  const segment_layout segments{divider(plan.slabs), count(plan.remainder), count(plan.group),
                                ElementBytes, count(plan.segment_bytes)};

  const auto slabs = [&] {
    const size_type tiles = plan.tiles();
    const bool slants = plan.remainder != 0 && plan.slant != 0;
    const size_type common_rows = slants ? 1 : 0;
    slab_arguments arguments{};
    arguments.source = problem.data;
    arguments.data = problem.data;
    arguments.arrived = reinterpret_cast<unsigned*>(free);
    arguments.cols = count(problem.cols);
    arguments.rows = count(plan.rows);
    arguments.slant = slants ? count(plan.slant) : 0;
    // As many as keep most threads busy, and have segments.
    arguments.column_teams = count(larger<size_type>(
        smaller(slab_threads / 2 / plan.tile_cols, plan.segment_bytes / sector_bytes), 1));
    arguments.more = slants && Undo;
    arguments.tile_cols = count(plan.tile_cols);
    arguments.tile_pitch = count(plan.tile_pitch);
    arguments.segments = segments;
    arguments.tiles = count(arguments.slabs() * tiles);
    arguments.blocks = count(smaller<size_type>(arguments.tiles, plan.allowed.count));
    arguments.before = count(Undo ? plan.reach() : common_rows);
    arguments.after = count(Undo ? common_rows : plan.reach());
    arguments.slab_tiles = divider(tiles);
    arguments.columns = divider(plan.tile_cols);
    arguments.last_columns = divider(problem.cols - (tiles - 1) * plan.tile_cols);
    arguments.row_words = divider(divide_up(plan.tile_cols * ElementBytes + 30, 16));
    arguments.by_cols = long_divider(problem.cols);
    arguments.slab_bytes = plan.rows * row_bytes;
    return start_together(&slab_kernel<Undo, ElementBytes>, arguments, arguments.slabs(),
                          slab_threads, plan.shared_bytes(), stream);
  };
  const auto columns = [&] {
    rectangle_problem of_slots = problem;
    of_slots.scratch = free;
    return launch_columns(of_slots, plan.columns, segments, stream);
  };
  // To scratch memory before anything moves, and back at last: one of it out of m rows, the other into n columns.
  const auto copy_remainder = [&](auto kernel, bool down) {
    if (plan.remainder == 0) { return cudaSuccess; }
    remainder_arguments arguments{};
    arguments.data = problem.data;
    arguments.remainder = remainder;
    arguments.row_step = down ? ElementBytes : row_bytes;
    arguments.col_step = down ? problem.rows * ElementBytes : ElementBytes;
    arguments.segments = segments;
    arguments.cols = count(problem.cols);
    arguments.skipped = count(plan.slabs * plan.rows);
    arguments.count = count(plan.remainder * problem.cols);
    arguments.line = divider(down ? plan.remainder : problem.cols);
    arguments.down = down;
    void* pointers[] = {&arguments};
    return start(kernel, divide_up(arguments.count, remainder_threads), remainder_threads, 0,
                 pointers, stream);
  };
  return take_steps([&] { return copy_remainder(&remainder_kernel<false, ElementBytes>, Undo); },
                    [&] { return Undo ? take_steps(columns, slabs) : take_steps(slabs, columns); },
                    [&] { return copy_remainder(&remainder_kernel<true, ElementBytes>, !Undo); });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
