// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which mover takes a relocation: those for transposes and for rows wherever it is one of theirs, however many axes the
/// caller gave, else the one that counts axes. Without tiles, which elements are taken for one wide one, and in which order
/// they are counted. Pure functions, plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/choose_small.cuh>
#include <tiletranspose/detail/choose/tuning_axes.cuh>
#include <tiletranspose/detail/request/problem.cuh>
#include <tiletranspose/detail/request/relocation.cuh>
#include <tiletranspose/layout.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Sides of tiles take one more axis that goes on where their memory ends while less of their places is used, and any other
/// while less than the latter is, or they are short; blocks of elements take one more while less than the last is: percent.
inline constexpr size_type least_filled_percent = 97;
inline constexpr size_type least_filled_apart_percent = 40;
inline constexpr size_type least_block_filled_percent = 90;

/// How elements are counted one by one: `axes`, the fastest first. Blocks of threads stay within the first `inner` of them.
struct element_order {
  int axes[most_axes];
  int inner;
  size_type inner_extent;  ///< elements along all of these
};

/// Counts along the output's fastest axis and the input's, as far as both can be short enough for a block to reach, and
/// then along the output. `block` elements are a block's.
inline element_order order_elements(const relocation& move, size_type block) {
  element_order order{{}, 0, 1};
  bool taken[most_axes] = {};
  if (move.rank == 0) { return order; }
  int count = 0;
  const auto take = [&](int axis) {
    order.axes[count++] = axis;
    taken[axis] = true;
  };
  const int y = move.rank - 1;
  const int x = nearest_of(true, move, taken);
  const size_type most_first = most_first_extent_of(move.out_element);
  if (move.axes[y].extent > most_near_extent && move.axes[x].extent <= most_first) { take(x); }
  take(y);
  const int nearest = nearest_of(true, move, taken);
  const size_type row_bytes = move.axes[y].extent * move.out_element;
  const bool shares_sectors =
      x == y && (row_bytes % sector_bytes != 0 || row_bytes > most_near_row_bytes);
  if (nearest >= 0 && move.axes[nearest].extent <= most_near_extent && !shares_sectors) {
    take(nearest);
  }
  while (count < move.rank) { take(nearest_of(false, move, taken)); }
  while (order.inner < count &&
         (order.inner == 0 || filled(order.inner_extent, block) < least_block_filled_percent)) {
    const size_type extent = move.axes[order.axes[order.inner]].extent;
    if (order.inner > 0 && extent > most_counted / order.inner_extent) { break; }
    order.inner_extent *= extent;
    ++order.inner;
  }
  return order;
}

/// Elements that make 16 bytes, where as many may be stored together; else 1.
constexpr size_type elements_together(size_type element_bytes) {
  return is_power_of_two(static_cast<int>(element_bytes))
             ? divide_up(max_access_bytes, element_bytes)
             : 1;
}

/// Where the elements of a wide one of the output come from: bytes from the first of them.
using gathered_places = long long[max_access_bytes];

/// Takes `together` elements that follow each other in the output for one; false where they do not come from the same
/// places everywhere, or their own place is not aligned. Precondition: a power of two; as wide an access exists.
inline bool gather(relocation& move, size_type together, gathered_places& places) {
  const size_type width = together * move.out_element;
  relocation wide = move;
  size_type taken = 1;
  int k = move.rank - 1;
  for (; taken < together; --k) {
    if (k < 0 || move.axes[k].out_stride != static_cast<long long>(taken)) { return false; }
    relocation_axis& axis = wide.axes[k];
    const size_type here = smaller(axis.extent, together / taken);
    if (axis.extent % here != 0 || together / taken % here != 0) { return false; }
    const long long step = move.in_step(k);
    for (size_type i = taken; i < taken * here; ++i) {
      places[i] = places[i % taken] + static_cast<long long>(i / taken) * step;
    }
    axis.extent /= here;
    axis.in_stride *= static_cast<long long>(here);
    axis.out_stride *= static_cast<long long>(here);
    taken *= here;
  }
  normalize(wide);
  size_type bits = reinterpret_cast<size_type>(move.out);
  for (k = 0; k < wide.rank; ++k) {
    const auto stride = static_cast<size_type>(wide.axes[k].out_stride);
    bits |= stride * move.out_element;
    wide.axes[k].out_stride = static_cast<long long>(stride / together);
  }
  if (bits % width != 0) { return false; }
  wide.out_element = width;
  move = wide;
  return true;
}

/// Takes the same bytes for elements of `width` bytes, of which all strides but those of the fastest axis are multiples.
inline void resize_elements(relocation& move, size_type width) {
  const auto scale = [&](long long stride) {
    return stride * static_cast<long long>(move.in_element) / static_cast<long long>(width);
  };
  for (int k = 0; k < move.rank; ++k) {
    move.axes[k].in_stride = scale(move.axes[k].in_stride);
    move.axes[k].out_stride = scale(move.axes[k].out_stride);
  }
  move.in_element = move.out_element = width;
}

/// The same where the fastest axis is contiguous on both sides. Precondition: its length is a multiple of them, too.
inline void join_elements(relocation& move, size_type width) {
  relocation_axis& fast = move.axes[move.rank - 1];
  const size_type extent = fast.extent * move.in_element / width;
  resize_elements(move, width);
  fast = {extent, 1, 1};
}

/// Takes three elements of 1 or 2 bytes, such as those of a pixel, for one; false where the fastest axis is not three,
/// contiguous on both sides, or others step by less. Precondition: as of widen.
inline bool pack(relocation& move) {
  const int y = move.rank - 1;
  const relocation_axis& fast = move.axes[y];
  if (move.in_element > 2 || fast.extent != 3 || fast.in_stride != 1 || fast.out_stride != 1) {
    return false;
  }
  for (int k = 0; k < y; ++k) {
    if (move.axes[k].in_stride % 3 != 0 || move.axes[k].out_stride % 3 != 0) { return false; }
  }
  join_elements(move, 3 * move.in_element);
  return true;
}

/// Takes the same bytes for elements as wide as all of it allows, up to 16 bytes; false where the fastest axis is not
/// contiguous on both sides. Precondition: input and output have elements of one size.
inline bool widen(relocation& move) {
  const int y = move.rank - 1;
  if (move.axes[y].in_stride != 1 || move.axes[y].out_stride != 1) { return false; }
  size_type bits = reinterpret_cast<size_type>(move.in) | reinterpret_cast<size_type>(move.out) |
                   move.axes[y].extent * move.in_element | max_access_bytes;
  for (int k = 0; k < y; ++k) {
    bits |=
        static_cast<size_type>(move.axes[k].in_stride | move.axes[k].out_stride) * move.in_element;
  }
  join_elements(move, bits & (0 - bits));
  return true;
}

/// Takes the accesses of an element for elements of their own, along one axis more.
inline relocation as_accesses(relocation move, size_type access_bytes) {
  const size_type accesses = move.in_element / access_bytes;
  if (accesses == 1) { return move; }
  resize_elements(move, access_bytes);
  move.axes[move.rank++] = {accesses, 1, 1};
  normalize(move);
  return move;
}

/// The first five are chosen without knowing by which accesses elements move; for tiles and elements of copies
/// choose_axes_copy.cuh goes on from there.
enum class axes_mover {
  copy,       ///< contiguous on both sides
  rows,       ///< the fastest axis is the same on both sides, and at most two others are left
  transpose,  ///< two axes change places, in a batch or not
  tiles,      ///< the same with more axes around them: by tiles in shared memory
  elements,   ///< all others: element by element along the output
  word_shifted_tiles,  ///< of elements of 1 to 3 bytes that start anywhere
  panels,
  gathered,      ///< elements that follow each other in the output are stored together
  wide_elements  ///< one by one, as wide as all allows
};

/// Axes that make up a side of a tile together, the fastest first.
struct side_axes {
  int count;
  int axes[3];
  size_type extent;
};

/// The mover, and what tiles need of the choice.
struct axes_choice {
  axes_mover mover;
  int x;               ///< the fastest axis of the input
  side_axes sides[2];  ///< of tiles: along the input's fastest axis, and along the output's
  int tile_side = 0;   ///< rows and columns of a tile
  int together = 1;    ///< and of the micro-blocks that it is moved in
};

/// Rows of threads of a block: few, since each works out places (TTC's cases 91 %, by 8 83), but not for 24 loads a thread.
constexpr int axes_block_rows(int accesses) { return accesses == 3 ? 8 : 4; }

/// Elements of more accesses do not go through tiles: those of 63 and 64 single bytes spilled.
inline constexpr int most_tile_accesses = 48;

/// Adds axes to the sides of tiles of so many elements along each: while places of tiles are empty, or output segments end
/// inside of sectors, those that go on where a side's memory ends, and others while most places are empty.
/// \param skewed  to the sectors of output segments, which thereby have one writer: sides are contiguous
inline void grow_sides(side_axes (&sides)[2], const relocation& move, int x,
                       const size_type (&tile)[2], bool skewed) {
  bool taken[most_axes] = {};
  const int fastest[2] = {x, move.rank - 1};
  for (int s = 0; s < 2; ++s) {
    sides[s] = {1, {fastest[s], 0, 0}, move.axes[fastest[s]].extent};
    taken[fastest[s]] = true;
  }
  const auto used = [&](int s) { return filled(sides[s].extent, tile[s]); };
  const auto grow = [&](int s, bool goes_on) {
    side_axes& grown = sides[s];
    const int next = nearest_of(s == 0, move, taken);
    if (grown.count == 3 || next < 0) { return false; }
    const relocation_axis& axis = move.axes[next];
    const long long stride = axis.stride(s == 0);
    const bool splits = !skewed && s == 1 && grown.extent * move.out_element % sector_bytes != 0;
    if (axis.extent > most_counted / grown.extent ||
        (goes_on ? stride != static_cast<long long>(grown.extent) ||
                       (used(s) >= least_filled_percent && !splits)
                 : used(s) >= least_filled_apart_percent &&
                       grown.extent > short_side_of(move.out_element))) {
      return false;
    }
    grown.axes[grown.count++] = next;
    grown.extent *= axis.extent;
    taken[next] = true;
    return true;
  };
  while ((sides[0].extent <= short_segment || (skewed && used(0) <= used(1))) && grow(0, true)) {}
  while (grow(1, true)) {}
  while (grow(0, true)) {}
  while (!skewed && grow(0, false)) {}
  while (!skewed && grow(1, false)) {}
}

/// The sides of tiles of `side` x `side` elements.
inline void fill_sides(axes_choice& choice, const relocation& move, int side) {
  choice.tile_side = side;
  const auto extent = static_cast<size_type>(side);
  grow_sides(choice.sides, move, choice.x, {extent, extent}, false);
}

/// True where few elements follow each other on a side before it goes on along `axis`.
inline bool has_short_segment(const relocation& move, bool input, int axis) {
  size_type elements = 1;
  for (int k = 0; k < move.rank; ++k) {
    if (is_nearer(move, input, k, axis)) { elements *= move.axes[k].extent; }
  }
  return elements <= short_segment;
}

/// True of a batch of matrices between whose rows, of less than `row_bytes` on one side, those of others lie: a tile of one
/// matrix would have little of what it touches.
inline bool is_interleaved(const relocation& move, int x, size_type row_bytes) {
  if (move.rank != 3) { return false; }
  const relocation_axis& col = move.axes[x];
  const relocation_axis& row = move.axes[2];
  const relocation_axis& matrix = move.axes[1 - x];
  return (distance(matrix.in_stride) < distance(row.in_stride) &&
          col.extent * move.in_element < row_bytes) ||
         (distance(matrix.out_stride) < distance(col.out_stride) &&
          row.extent * move.out_element < row_bytes);
}

/// True of rows that change places and are short: the mover for rows writes whole lines of the output, for which it reads
/// from many rows, far apart. Elements as wide as fits them go one by one, or in panels.
inline bool are_short_rows(const relocation& move) {
  if (move.rank != 3 || move.in_element != move.out_element ||
      distance(move.axes[0].in_stride) >= distance(move.axes[1].in_stride)) {
    return false;
  }
  const size_type row_bytes = move.axes[2].extent * move.in_element;
  relocation wide = move;
  const size_type width = widen(wide) ? wide.in_element : size_type{0};
  if (width == max_access_bytes && has_short_places(move)) { return row_bytes <= sector_bytes; }
  const bool are_many = count_elements(move) * move.in_element >= least_panel_bytes;
  return row_bytes <= most_short_row_bytes ||
         (row_bytes <= most_placed_row_bytes && (are_many || width >= 4));
}

/// Chooses the mover, whether something happens to elements on the way or not. Precondition: the relocation is normalized.
inline axes_choice choose_axes(const relocation& move) {
  if (move.rank == 0) { return {axes_mover::copy, 0, {}}; }
  const bool taken[most_axes] = {};
  const int y = move.rank - 1;
  const int x = nearest_of(true, move, taken);
  const relocation_axis& fast = move.axes[y];
  const bool steps_by_one = fast.out_stride == 1 && distance(move.axes[x].in_stride) == 1;
  if (x == y) {
    if (y == 0 && steps_by_one && fast.in_stride == 1 && share_words(move.out, move.in)) {
      return {axes_mover::copy, x, {}};
    }
    const bool rows_apart = y == 0 || distance(move.axes[y - 1].in_stride) >= fast.extent;
    const bool forwards = y != 2 || move.axes[0].in_stride > 0;
    const bool are_rows = steps_by_one && y <= 2 && rows_apart && forwards && !are_short_rows(move);
    return {are_rows ? axes_mover::rows : axes_mover::elements, x, {}};
  }
  const bool rows_apart = distance(fast.in_stride) >= move.axes[x].extent;
  const bool forwards = y != 2 || move.axes[1 - x].in_stride > 0;  // of 0, 1 and 2 = y the other
  axes_choice choice{axes_mover::transpose, x, {}};
  fill_sides(choice, move,
             axes_tile_side(static_cast<int>(smaller(move.in_element, move.out_element))));
  if (!(steps_by_one && y <= 2 && rows_apart && forwards) ||
      is_interleaved(move, x, least_apart_row_bytes)) {
    const size_type shorter = smaller(choice.sides[0].extent, choice.sides[1].extent);
    const bool long_segments =
        !has_short_segment(move, false, x) && !has_short_segment(move, true, y);
    const bool are_many = count_elements(move) * larger(move.in_element, move.out_element) >=
                          micro_limits_of(move.out_element).least_tiled;
    choice.mover = shorter > short_side_of(move.out_element) && long_segments && are_many
                       ? axes_mover::tiles
                       : axes_mover::elements;
  }
  return choice;
}

/// A transpose as a relocation of three axes; of pointer arrays that of one matrix, from where the array is.
inline relocation relocation_of(const batch_problem& problem, size_type in_element,
                                size_type out_element) {
  const auto elements = [](size_type bytes, size_type element) {
    return static_cast<long long>(bytes) / static_cast<long long>(element);
  };
  relocation move{
      {problem.in, problem.out, in_element, out_element, in_element, out_element}, 3, {}};
  move.axes[0] = problem.pointer_arrays
                     ? relocation_axis{1, 0, 0}
                     : relocation_axis{problem.batch, elements(problem.in_batch_bytes, in_element),
                                       elements(problem.out_batch_bytes, out_element)};
  move.axes[1] = {problem.ny, elements(problem.in_stride_bytes, in_element), 1};
  move.axes[2] = {problem.nx, 1, elements(problem.out_stride_bytes, out_element)};
  normalize(move);
  return move;
}

/// The matrices of a relocation that is a transpose, or a batch. Columns backwards in the input are output rows that are.
inline batch_problem make_problem(relocation move, int x) {
  const relocation_axis& rows = move.axes[move.rank - 1];
  relocation_axis& cols = move.axes[x];
  if (cols.in_stride < 0) {
    advance(move, x, cols.extent - 1);
    cols.out_stride = -cols.out_stride;
  }
  const relocation_axis matrices = move.rank == 3 ? move.axes[1 - x] : relocation_axis{1, 0, 0};
  const auto bytes = [](long long stride, size_type element) {
    return static_cast<size_type>(stride) * element;
  };
  return {{move.in, move.out, bytes(rows.in_stride, move.in_element),
           bytes(cols.out_stride, move.out_element), bytes(matrices.in_stride, move.in_element),
           bytes(matrices.out_stride, move.out_element), cols.extent, rows.extent, false},
          matrices.extent};
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
