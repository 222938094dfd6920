// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which problems count as little work, and how they are moved: a pure function of sizes and strides. Plain C++17.

#pragma once

#include <tiletranspose/detail/choose/fused_policy.cuh>
#include <tiletranspose/detail/choose/tuning_small.cuh>
#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/request/problem.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// How little work is moved.
enum class small_mover {
  none,    ///< it is not little
  rows,    ///< block by block of each row
  direct,  ///< counted along the output's fastest axis
  tiles    ///< through tiles in shared memory
};

/// What is asked: `fast` is the output's fastest axis. With transposes the input's is `slow`, else it is `fast`, too.
struct small_problem {
  relocation_axis fast;
  relocation_axis slow;
  size_type batch;
  int element_bytes;  ///< the larger of input's and output's
  int kept_bytes;     ///< of an element as a block keeps it
  bool transposes;
  bool pointer_arrays = false;
  bool is_dual = false;  ///< an operation on the way writes to two outputs
};

/// From a single element no stride leads anywhere: what the caller said may be any number.
constexpr relocation_axis axis_of(size_type extent, size_type in_stride, size_type out_stride) {
  return {extent, extent == 1 ? 0 : static_cast<long long>(in_stride),
          extent == 1 ? 0 : static_cast<long long>(out_stride)};
}

/// A transpose as a small problem: rows of the output run along `fast`, rows of the input along `slow`.
constexpr small_problem small_transpose(const batch_problem& problem, int in_element,
                                        int out_element) {
  const auto in_bytes = static_cast<size_type>(in_element);
  const auto out_bytes = static_cast<size_type>(out_element);
  return {axis_of(problem.ny, problem.in_stride_bytes, out_bytes),
          axis_of(problem.nx, in_bytes, problem.out_stride_bytes),
          problem.batch,
          larger(in_element, out_element),
          larger(in_element, out_element),
          true,
          problem.pointer_arrays};
}

constexpr const small_limits& small_limits_of(int element_bytes) {
  return row_for(small_tuning, element_bytes);
}
static_assert(small_limits_of(1).element_bytes == 1,
              "tt: the rows of TILETRANSPOSE_SMALL_TUNING must have one of elements of 1 byte");

/// True where registers hold the elements that a thread loads together, each of so many accesses.
constexpr bool fits_registers(int element_bytes, int access) {
  return element_bytes / access <= 16;
}

/// True where there are transposes, or rows, of such elements that count as little work.
constexpr bool has_little_work(int element_bytes, int access, bool transposes) {
  const small_limits& limits = small_limits_of(element_bytes);
  if (!fits_registers(element_bytes, access)) { return false; }
  const size_type of_transposes = limits.tile | limits.whole | limits.pitched | limits.fused |
                                  limits.fused_whole | limits.gathered | limits.vectorised |
                                  limits.shifted | limits.shifted_columns;
  return (transposes ? of_transposes : limits.rows) > 0;
}

/// Elements that are counted by 31 bits, those that blocks at the end would have, too.
inline constexpr size_type most_counted = all_work;

/// No tile has more rows or columns, and no block takes more elements of a row.
inline constexpr size_type longest_tile_side = 256;
inline constexpr size_type longest_row_segment = 1024;

/// Rows and columns of a tile for elements of a size, where several axes make up a side.
constexpr int axes_tile_side(int element_bytes) {
  return element_bytes <= widest_large_tile_element ? 32 : 16;
}

/// The tiles that elements of a size have, kept in so many accesses: a thread holds several.
constexpr bool has_small_tile(int kept_bytes) { return small_limits_of(kept_bytes).small_tile > 0; }
constexpr bool has_large_tile(int kept_bytes, int accesses) {
  return small_limits_of(kept_bytes).small_tile < all_work &&
         (kept_bytes <= widest_large_tile_element || accesses <= 4);
}

constexpr size_type elements_of(const small_problem& problem) {
  return problem.fast.extent * problem.slow.extent * problem.batch;
}

/// The elements for which tiles have room, outside of the matrices, too.
constexpr size_type places_of(const small_problem& problem, int tile_side) {
  const auto side = static_cast<size_type>(tile_side);
  return divide_up(problem.fast.extent, side) * divide_up(problem.slow.extent, side) *
         problem.batch * side * side;
}

/// Rows and columns of the tiles that move a problem.
constexpr int small_tile_side(const small_problem& problem, int accesses) {
  const size_type places = places_of(problem, 32);
  const bool is_large =
      has_large_tile(problem.kept_bytes, accesses) &&
      places > small_limits_of(problem.kept_bytes).small_tile &&
      !fits_small_tiles(problem.kept_bytes, elements_of(problem), places_of(problem, 16), places);
  return is_large ? 32 : 16;
}

/// True of elements, moved in so many accesses, of which many in a batch go in blocks of fewer threads; and of such batches.
constexpr bool has_many_tiles(int element_bytes, int kept_bytes, int accesses) {
  return element_bytes == 4 && kept_bytes == 4 && accesses == 1;
}
constexpr bool are_many_tiles(const small_problem& problem) {
  return problem.batch > 1 && elements_of(problem) >= least_many_tiles &&
         problem.slow.out_stride % static_cast<long long>(sector_bytes) == 0;
}

/// How a transpose that is little work would be moved, and what limits are compared with: its tiles' places, or as much.
struct small_work {
  bool direct;  ///< so much of tiles would be empty that elements are moved without
  size_type places;
};
constexpr small_work work_of(const small_problem& problem) {
  const small_limits& limits = small_limits_of(problem.element_bytes);
  const size_type places = places_of(problem, small_tile_side(problem, 1));
  const size_type elements = elements_of(problem);
  const bool few_rows = problem.fast.extent <= few_small_rows;
  const size_type percent = few_rows ? limits.direct_rows : limits.direct_columns;
  const size_type most = problem.is_dual          ? most_direct_dual(problem.kept_bytes, few_rows)
                         : problem.pointer_arrays ? most_direct_pointers
                                                  : percent;
  const bool direct = 100 * elements <= smaller(percent, most) * places;
  const bool is_slow = problem.slow.extent > most_long_segments &&
                       problem.slow.extent < problem.fast.extent && problem.batch == 1 &&
                       problem.element_bytes >= 4 && problem.element_bytes < 16;
  const auto bytes = static_cast<size_type>(problem.element_bytes);
  const size_type halves = bytes < 8 ? direct_halves : direct_halves_of_wide;
  const size_type as_long = is_slow ? elements * bytes : halves * elements / 2;
  return {direct, direct ? as_long : places};
}

/// True where rows have so few elements that more blocks are worth more than loads together. Precondition: little work.
constexpr bool has_few_elements(const small_problem& problem) {
  return problem.kept_bytes > widest_row_element || elements_of(problem) <= few_row_elements;
}

/// Threads of a block that moves rows where elements are few, of which each takes one.
inline constexpr int few_row_threads = 256;

/// The same where elements are many, and how many each thread takes. `divides`: blocks take several rows.
TILETRANSPOSE_HOST_DEVICE constexpr int small_row_threads(bool divides) {
  return divides ? 256 : 128;
}
TILETRANSPOSE_HOST_DEVICE constexpr int small_row_rounds(bool divides, int kept_bytes,
                                                         int accesses) {
  if (divides) { return accesses == 1 ? 2 : 1; }
  return kept_bytes <= 2 ? 8 : 4;
}

/// How little work is moved; `none` where the grid has no room for it.
/// \param direct  of transposes: elements are moved without tiles
constexpr small_mover small_mover_of(const small_problem& problem, bool direct) {
  const size_type fast = problem.fast.extent;
  const size_type slow = problem.slow.extent;
  const bool fits_grid = problem.batch <= max_grid_side;
  if (!problem.transposes) {
    const bool is_one = slow == 1 && problem.batch == 1;
    const auto block = static_cast<size_type>(
        has_few_elements(problem)
            ? few_row_threads
            : small_row_threads(false) * small_row_rounds(false, problem.kept_bytes, 1));
    const bool fills_blocks = elements_of(problem) <= few_row_elements ||
                              100 * fast >= least_filled_rows * divide_up(fast, block) * block;
    const bool fills = is_one || (fast > short_row && fills_blocks);
    return fills && slow <= max_grid_side && fits_grid ? small_mover::rows : small_mover::direct;
  }
  if (direct) { return small_mover::direct; }
  const auto side = static_cast<size_type>(axes_tile_side(problem.kept_bytes));
  return fits_grid && divide_up(slow, side) <= max_grid_side ? small_mover::tiles
                                                             : small_mover::none;
}

/// How much is used of as many lengths of `length` elements as `extent` elements, and so many more, need: percent.
constexpr size_type filled(size_type extent, size_type length, size_type more = 0) {
  return 100 * extent / (divide_up(extent + more, length) * length);
}

/// True where a problem has so many elements at most, and bytes between any two elements of a matrix fit 31 bits, on both
/// sides; those of the elements that blocks at the ends would have, too, whose offsets are worked out before it is seen that
/// there are none. Precondition: no extent is 0.
/// \param side  of tiles that move it; 1 for elements that are moved directly
constexpr bool is_little(const small_problem& problem, size_type elements, size_type side) {
  constexpr size_type most_bytes = (size_type{1} << 31) - 1;
  const auto reach = [](size_type extent, long long stride) {
    const size_type step = distance(stride);
    return step == 0 ? 0 : extent > most_bytes / step ? most_bytes : extent * step;
  };
  const relocation_axis& fast = problem.fast;
  const relocation_axis& slow = problem.slow;
  const size_type row = fast.extent + (problem.transposes ? side : longest_row_segment);
  const size_type rows = slow.extent + (problem.transposes ? side : 0);
  const size_type most = smaller(elements, all_work);
  return fast.extent <= most && slow.extent <= most &&
         fast.extent * slow.extent <= most / problem.batch &&
         reach(row, fast.in_stride) + reach(rows, slow.in_stride) < most_bytes &&
         reach(row, fast.out_stride) + reach(rows, slow.out_stride) < most_bytes;
}

/// What moves a problem if it is little.
/// \param direct  of transposes: elements are moved without tiles
constexpr small_mover choose_small(const small_problem& problem, size_type elements, bool direct) {
  return is_little(problem, elements, direct ? 1 : longest_tile_side)
             ? small_mover_of(problem, direct)
             : small_mover::none;
}
/// Tiles for all matrices of a batch, whose number the grid alone limits.
constexpr small_mover choose_small_batch(small_problem problem) {
  const bool fits = problem.batch <= max_grid_side;
  problem.batch = 1;
  return fits ? choose_small(problem, most_counted, false) : small_mover::none;
}
constexpr small_mover choose_small_rows(const small_problem& problem) {
  const size_type most = small_limits_of(problem.element_bytes).rows;
  const bool are_short = problem.element_bytes <= 2 &&
                         problem.fast.extent <= (problem.fast.in_stride < 0 ? short_row : tiny_row);
  return choose_small(problem, are_short ? 2 * most : most, false);
}
/// The same of a transpose with an operation.
/// \param whole  addresses, strides and lengths of rows are multiples of 16 bytes
/// \param all    little work takes all matrices of a batch, as leaves_fused_tiles says
constexpr small_mover choose_small_operation(const small_problem& problem, bool whole, bool all) {
  const small_limits& limits = small_limits_of(problem.element_bytes);
  const size_type shorter = smaller(problem.fast.extent, problem.slow.extent);
  const bool narrows =
      problem.is_dual && problem.kept_bytes < problem.element_bytes && problem.element_bytes <= 8;
  const size_type lone = narrows ? lone_dual_side : lone_side(problem.element_bytes);
  const size_type most = shorter <= lone || all ? all_work
                         : whole                ? limits.fused_whole
                         : problem.is_dual      ? limits.pitched
                                                : limits.fused;
  const bool direct = work_of(problem).direct;
  return all && !direct ? choose_small_batch(problem) : choose_small(problem, most, direct);
}

/// True where the registers hold elements of a type that are loaded together, as those of a fused call are.
template <class T>
inline constexpr bool loads_together = sizeof(T) / access_width(sizeof(T), alignof(T)) <= 4 &&
                                       sizeof(T) <= 16;

/// True where some transposes with an operation count as little work.
template <class In, class Out, int Widest = larger<int>(sizeof(In), sizeof(Out))>
inline constexpr bool has_little_operation =
    loads_together<In>&& loads_together<Out>&& has_little_work(Widest, Widest, true);

/// True where no rows of other matrices lie between those of a matrix, and these are not many.
inline bool lie_together(const batch_problem& problem) {
  const auto bytes = [](size_type stride) { return distance(static_cast<long long>(stride)); };
  return problem.ny <= most_small_tiled_rows &&
         (problem.pointer_arrays ||
          ((problem.ny - 1) * bytes(problem.in_stride_bytes) < bytes(problem.in_batch_bytes) &&
           (problem.nx - 1) * bytes(problem.out_stride_bytes) < bytes(problem.out_batch_bytes)));
}

/// True of matrices of a batch that leave too much of large tiles empty, or gain nothing by them.
template <fusion Kind, class In, class Out>
bool leaves_fused_tiles(const batch_problem& transpose) {
  if constexpr (Kind != fusion::transform || !has_little_operation<In, Out>) {
    return false;
  } else {
    constexpr int in = sizeof(In);
    constexpr int out = sizeof(Out);
    const unsigned mask = sector_mask(transpose);  // rows of tiles begin at sectors
    const fused_loads loads = choose_loads(Kind, in, access_width(in, alignof(In)), out, false,
                                           row_bits_of(transpose, true) % max_access_bytes == 0);
    const fused_policy tile = tuned_fused_policy(Kind, in, out, loads, true, false);
    const auto rows = static_cast<size_type>(tile.rows);
    const auto cols =
        static_cast<size_type>((tile.lanes - (loads == fused_loads::shifted ? 1 : 0)) * tile.count);
    const bool fills =
        filled(transpose.ny, rows, mask / sizeof(Out)) * filled(transpose.nx, cols) >=
        100 * least_filled_fused;
    return mask == 0 ? !fills || (smaller(in, out) >= 4 && lie_together(transpose))
                     : !fills && larger(in, out) <= 4;
  }
}

/// A transpose as little work without panels, as those with an operation are, and what moves it.
struct little_operation {
  small_problem problem;
  small_mover mover;
};
template <fusion Kind, class In, class Out>
little_operation choose_little_operation(const batch_problem& transpose) {
  constexpr int in = sizeof(In);
  constexpr int out = sizeof(Out);
  small_problem problem = small_transpose(transpose, in, out);
  problem.kept_bytes = calls_as_stored(Kind, in, out) ? in : out;
  problem.is_dual = Kind == fusion::dual;
  const size_type bits = address_bits_of(transpose, 0) |
                         (transpose.nx | transpose.ny) * static_cast<size_type>(larger(in, out));
  const bool all = transpose.batch > 1 && leaves_fused_tiles<Kind, In, Out>(transpose);
  return {problem, has_little_operation<In, Out>
                       ? choose_small_operation(problem, bits % max_access_bytes == 0, all)
                       : small_mover::none};
}

/// True where so many blocks of whole tiles of 16-byte accesses are faster than elements one by one.
constexpr bool takes_vectors(size_type blocks, size_type elements, int element_bytes) {
  const small_limits& limits = small_limits_of(element_bytes);
  return blocks >= limits.vector_blocks && elements <= limits.vectors;
}

/// True where a square in place of so many rows is swapped element by element. `whole`: as choose_small_operation.
constexpr bool is_little_square(size_type side, size_type stride_bytes, int element_bytes,
                                bool whole) {
  const small_limits& limits = small_limits_of(element_bytes);
  constexpr size_type most = (size_type{1} << 31) - 1;  // bytes, those of the tiles at the end, too
  return side <= (whole ? limits.whole_square : limits.square_side) &&
         stride_bytes <= most / (side + longest_tile_side);
}

/// True where squares of such elements can be so large that their tiles are.
constexpr bool has_large_square_tile(int element_bytes) {
  const small_limits& limits = small_limits_of(element_bytes);
  return larger(limits.square_side, limits.whole_square) > limits.square_tile;
}

/// Rows and columns of the tiles of a little square.
constexpr int square_tile_side(size_type side, int element_bytes) {
  return has_large_square_tile(element_bytes) && side > small_limits_of(element_bytes).square_tile
             ? 32
             : 16;
}

/// True where strips of tiles of `side` would be mostly empty.
constexpr bool is_narrow(const small_problem& problem, int side) {
  return smaller(problem.fast.extent, problem.slow.extent) < static_cast<size_type>(side);
}

/// True where a tile of `side` that the caller wrote is taken one a block: of little work, and of narrow matrices.
constexpr bool takes_written_tile(const small_problem& problem, int side) {
  const auto rows = static_cast<size_type>(side);
  const size_type bytes = small_limits_of(problem.element_bytes).written_bytes;
  const size_type most = bytes / static_cast<size_type>(problem.element_bytes);
  return problem.batch <= max_grid_side && problem.slow.extent <= max_grid_side * rows &&
         is_little(problem, bytes > 0 && is_narrow(problem, side) ? all_work : most, rows);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
