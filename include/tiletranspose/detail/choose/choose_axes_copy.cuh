// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How elements that nothing happens to on the way are moved along their axes, where neither the movers for transposes nor
/// those for rows take them; and what goes in micro-blocks, with an operation, too. Pure functions, plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/choose_axes.cuh>
#include <tiletranspose/detail/choose/panel_cut.cuh>
#include <tiletranspose/detail/choose/tuning_axes.cuh>
#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/policy.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The shape of word-shifted tiles. Rows are of the input; a column's bytes, those of the rows before the tile included, take
/// `column_bytes` of shared memory.
struct word_shifted_tile_shape {
  static constexpr int column_bytes = 256;
  int element_bytes;

  /// As many warps as take all rows at once: those of 3 bytes take many registers.
  TILETRANSPOSE_HOST_DEVICE constexpr int threads() const { return element_bytes == 3 ? 160 : 256; }
  /// Columns of a lane, which are whole words, and rows that it takes at a time, which are whole accesses of a column.
  TILETRANSPOSE_HOST_DEVICE constexpr int lane_cols() const { return word_elements(element_bytes); }
  TILETRANSPOSE_HOST_DEVICE constexpr int lane_rows() const { return 4 * lane_cols(); }
  /// The last lane of a warp has the word behind those of the others.
  TILETRANSPOSE_HOST_DEVICE constexpr int cols() const { return 31 * lane_cols(); }
  /// Rows that are whole sectors of columns.
  TILETRANSPOSE_HOST_DEVICE constexpr int sector_rows() const { return 8 * lane_cols(); }
  /// Rows before the tile's own, for columns that start at their sectors.
  TILETRANSPOSE_HOST_DEVICE constexpr int lead_rows() const {
    return round_up(static_cast<int>(sector_bytes - 1) / element_bytes + 1, lane_rows());
  }
  TILETRANSPOSE_HOST_DEVICE constexpr int most_rows() const {
    return (column_bytes / element_bytes - lead_rows()) / sector_rows() * sector_rows();
  }
};

/// How an array is cut into such tiles, along sides that are contiguous: x in the input, y in the output.
struct word_shifted_tiles {
  word_shifted_tile_shape shape;
  side_axes sides[2];
  size_type x_tiles;
  size_type y_tiles;
  size_type rows;   ///< of a tile
  size_type outer;  ///< pairs of sides

  size_type blocks() const { return x_tiles * y_tiles * outer; }

  /// Percent of what tiles have room for, and of the rows that they load twice, that is elements.
  size_type filled() const {
    const auto loaded = rows + static_cast<size_type>(shape.lead_rows());
    return 100 * sides[0].extent / (x_tiles * static_cast<size_type>(shape.cols())) * 100 *
           sides[1].extent / (y_tiles * loaded) / 100;
  }
};

/// Rows are cut evenly: those of a column that starts inside of a sector reach into one tile more.
inline word_shifted_tiles cut_word_shifted_tiles(const axes_choice& choice,
                                                 const relocation& move) {
  word_shifted_tiles tiles{};
  tiles.shape = {static_cast<int>(move.in_element)};
  const word_shifted_tile_shape& shape = tiles.shape;
  const auto cols = static_cast<size_type>(shape.cols());
  const auto most_rows = static_cast<size_type>(shape.most_rows());
  const auto step = static_cast<size_type>(shape.sector_rows());
  const auto address_step = static_cast<size_type>(access_width(move.in_element));
  grow_sides(tiles.sides, move, choice.x, {cols, most_rows}, true);
  const size_type reached =
      tiles.sides[1].extent + divide_up(sector_bytes - address_step, move.in_element);
  tiles.rows = divide_up(divide_up(reached, divide_up(reached, most_rows)), step) * step;
  tiles.x_tiles = divide_up(tiles.sides[0].extent, cols);
  tiles.y_tiles = divide_up(reached, tiles.rows);
  tiles.outer = count_elements(move) / (tiles.sides[0].extent * tiles.sides[1].extent);
  return tiles;
}

/// True where such tiles are possible, and filled enough. One launch counts them.
inline bool fits_word_shifted_tiles(const axes_choice& choice, const relocation& move) {
  const size_type bytes = move.in_element;
  if (bytes > 3 || (bytes == 2 && address_bits_of(move) % bytes != 0) ||
      choice.x == move.rank - 1 || move.axes[move.rank - 1].out_stride != 1 ||
      !has_dense_input(move) || begin_of_input(move) != move.in || !has_short_places(move) ||
      count_elements(move) * bytes < least_panel_bytes) {
    return false;
  }
  const word_shifted_tiles tiles = cut_word_shifted_tiles(choice, move);
  return larger(tiles.sides[0].extent, tiles.sides[1].extent) <= most_counted &&
         tiles.blocks() <= max_blocks && tiles.filled() >= least_shifted_filled;
}

/// Rows and columns of a micro-block, which a thread transposes in registers, and rows of threads of a block that does.
inline constexpr int micro_elements = 4;
inline constexpr int micro_block_rows = 8;

/// Sizes of elements that go in micro-blocks: a row of theirs is one access or three. With an operation, which words are as
/// fast with in other tiles, they are those of small numbers.
constexpr bool has_micro_blocks(size_type element_bytes) {
  return element_bytes <= 4 || element_bytes == 6;
}
constexpr bool has_fused_micro_blocks(size_type in_bytes, size_type out_bytes) {
  return in_bytes != 3 && out_bytes != 3 && larger(in_bytes, out_bytes) <= 4 &&
         smaller(in_bytes, out_bytes) <= 2;
}

/// Rows and columns of a tile of micro-blocks, where all are so many bytes: of few, smaller tiles are more blocks. And of a
/// tile of a transpose, for which fewer kernels are enough.
constexpr int micro_tile_side(size_type element_bytes, size_type bytes) {
  const size_type least = micro_limits_of(element_bytes).least_wide;
  return least > 0 && bytes >= least ? 128 : 64;
}
constexpr int micro_matrix_side(int element_bytes, size_type bytes) {
  return element_bytes == 1 ? micro_tile_side(1, bytes) : 64;
}
constexpr bool has_micro_tile(int element_bytes, int access_bytes) {
  return element_bytes <= 3 && access_bytes == access_width(static_cast<size_type>(element_bytes));
}

/// Tiles in micro-blocks are as large as leaves at least half of them used, along both sides.
inline bool fills_tiles(const axes_choice& choice) {
  const auto side = static_cast<size_type>(choice.tile_side);
  return smaller(filled(choice.sides[0].extent, side), filled(choice.sides[1].extent, side)) >= 50;
}

/// True where rows of both sides are whole micro-blocks, and aligned. x: the fastest axis of the input.
inline bool has_whole_blocks(const relocation& move, int x) {
  constexpr size_type count = micro_elements;
  const auto offset = [](const void* data, size_type element) {
    return reinterpret_cast<size_type>(data) %
           static_cast<size_type>(access_width(count * element));
  };
  size_type odd = offset(move.in, move.in_element) | offset(move.out, move.out_element);
  for (int k = 0; k < move.rank; ++k) {
    const relocation_axis& axis = move.axes[k];
    const bool fast_in = k == x;
    const bool fast_out = k == move.rank - 1;
    odd |= fast_in ? axis.in_stride != 1 : static_cast<size_type>(axis.in_stride) % count;
    odd |= fast_out ? axis.out_stride != 1 : static_cast<size_type>(axis.out_stride) % count;
    odd |= fast_in || fast_out ? axis.extent % count : 0;
  }
  return odd == 0;
}

/// Has tiles moved in micro-blocks where that can be. Precondition: both elements have them.
inline void take_micro_blocks(axes_choice& choice, const relocation& move) {
  const size_type wider = larger(move.in_element, move.out_element);
  const size_type bytes = count_elements(move) * wider;
  if (choice.mover == axes_mover::tiles && has_micro_blocks(wider) &&
      bytes >= micro_limits_of(wider).least && has_whole_blocks(move, choice.x)) {
    choice.together = micro_elements;
    fill_sides(choice, move, micro_tile_side(wider, bytes));
    if (!fills_tiles(choice)) { fill_sides(choice, move, micro_tile_side(wider, 0)); }
  }
}

/// A transpose in tiles of micro-blocks, of so many elements along their sides.
struct micro_transpose {
  relocation move;
  axes_choice tiles;
};
inline micro_transpose cut_micro_tiles(const batch_problem& problem, size_type in_element,
                                       size_type out_element, int side) {
  micro_transpose cut{relocation_of(problem, in_element, out_element), {}};
  cut.tiles = choose_axes(cut.move);
  cut.tiles.together = micro_elements;
  fill_sides(cut.tiles, cut.move, side);
  return cut;
}

/// The side of the tiles of micro-blocks that take a transpose with an operation; 0 where others do.
inline int fused_micro_side(const batch_problem& problem, size_type in_element,
                            size_type out_element) {
  const size_type bytes = problem.nx * problem.ny * problem.batch * (in_element + out_element) / 2;
  const size_type most = most_micro_matrix_bytes * larger(in_element / out_element, size_type{1});
  const size_type shorter = smaller(problem.nx, problem.ny);
  if (!has_fused_micro_blocks(in_element, out_element) || problem.pointer_arrays ||
      shorter < least_fused_micro_side || larger(problem.nx, problem.ny) > most_counted ||
      bytes < least_fused_micro_bytes || (problem.batch == 1 && bytes > most)) {
    return 0;
  }
  // Segments of rows that start anywhere are longer in large tiles.
  const bool splits = problem.ny * out_element % sector_bytes != 0 && shorter >= 64;
  const int side = micro_tile_side(larger(in_element, out_element), splits ? ~size_type{0} : 0);
  const micro_transpose cut = cut_micro_tiles(problem, in_element, out_element, side);
  // An operation may ask for an element's row and column, which axes of several matrices do not have.
  const bool counts = cut.move.axes[cut.tiles.x].extent == problem.nx &&
                      cut.move.axes[cut.move.rank - 1].extent == problem.ny;
  return counts && has_whole_blocks(cut.move, cut.tiles.x) ? side : 0;
}

/// Has elements that would be moved one by one go in micro-blocks, if they fill tiles: but not those that the output has in
/// short segments, as where pixels are shuffled, for which blocks of elements touch whole lines.
inline bool choose_filled_tiles(axes_choice& choice, const relocation& move) {
  if (choice.x == move.rank - 1 || has_short_segment(move, false, choice.x)) { return false; }
  axes_choice tiles = choice;
  tiles.mover = axes_mover::tiles;
  take_micro_blocks(tiles, move);
  if (tiles.together == 1 || !fills_tiles(tiles)) { return false; }
  choice = tiles;
  return true;
}

/// Takes what stays together along the fastest axis for elements that change places in tiles; false where they do not. Those
/// that go neither in micro-blocks nor in word-shifted tiles are of 2, 4, 8 or 16 bytes.
inline bool choose_wide_tiles(relocation& move, axes_choice& choice) {
  relocation wide = move;
  if ((!pack(wide) && !widen(wide)) || wide.in_element <= move.in_element) { return false; }
  normalize(wide);
  axes_choice tiles = choose_axes(wide);
  const size_type shorter = smaller(tiles.sides[0].extent, tiles.sides[1].extent);
  if (tiles.mover == axes_mover::transpose && shorter > short_side_of(wide.in_element)) {
    tiles.mover = axes_mover::tiles;
  }
  take_micro_blocks(tiles, wide);
  if (tiles.mover != axes_mover::tiles ||
      (tiles.together == 1 && !is_power_of_two(static_cast<int>(wide.in_element)) &&
       !fits_word_shifted_tiles(tiles, wide))) {
    return false;
  }
  move = wide;
  choice = tiles;
  return true;
}

/// Percent of the elements' bytes that panels of accesses of a width touch beside them: a sector of each segment that begins
/// and ends inside of one, along as many axes as make it long. What two panels stage counts half, since the second finds it
/// in the L2 cache.
inline size_type ragged_percent(const relocation& move, size_type access_bytes) {
  const relocation accesses = as_accesses(move, access_bytes);
  panel_cut cut = cut_by_size(accesses, panel_axes_bytes, large_panel_axes_bytes);
  cut.out = find_segments(accesses, cut.out, cut.extents, long_segment);
  const auto of = [&](const panel_segments& segments) {
    return 100 * static_cast<size_type>(sector_bytes) / (segments.length * access_bytes);
  };
  return of(cut.in) + (cut.skew > 0 ? 50 * cut.skew / cut.part(cut.out.split) : of(cut.out));
}

/// The most of that with which panels are faster than what `choice` has.
inline size_type most_ragged_percent(const axes_choice& choice, const relocation& move,
                                     size_type access_bytes) {
  if (choice.together > 1) {
    const side_axes& side = choice.sides[1];
    const size_type extent = move.axes[move.rank - 1].extent;
    const bool goes_on = side.count > 1 && distance(move.axes[side.axes[1]].out_stride) == extent;
    const bool is_short = !goes_on && extent <= short_side_of(move.out_element);
    return is_short ? most_ragged_in_micro_blocks : 0;
  }
  if (choice.x == move.rank - 1) {  // rows stay rows
    relocation wide = move;
    if (!widen(wide)) { return 0; }
    const size_type row_bytes = move.axes[choice.x].extent * move.in_element;
    const bool is_cached = count_elements(move) * move.in_element < least_uncached_bytes;
    const size_type narrower = is_cached || row_bytes > most_short_row_bytes  ? 8
                               : row_bytes > sector_bytes || access_bytes < 4 ? max_access_bytes
                                                                              : sector_bytes;
    return wide.in_element < narrower ? most_ragged_elements : 0;
  }
  const size_type tiles = most_ragged_of(move.in_element, access_bytes);
  return choice.mover == axes_mover::tiles ? tiles : larger(tiles, most_ragged_elements);
}

/// Which mover takes elements that nothing happens to on the way.
inline axes_choice choose_copy(const relocation& move) {
  const axes_choice choice = choose_axes(move);
  axes_choice tiles = choice;
  if (choice.mover == axes_mover::transpose &&
      is_interleaved(move, choice.x, most_apart_row_bytes)) {
    tiles.mover = axes_mover::tiles;
  }
  take_micro_blocks(tiles, move);
  return tiles.mover == choice.mover || tiles.together > 1 || fits_word_shifted_tiles(tiles, move)
             ? tiles
             : choice;
}

/// What becomes of axes_mover::tiles and axes_mover::elements of a copy, whose accesses are known.
struct axes_copy : axes_choice {
  relocation move;         ///< in the elements that are moved; panels move them as they are
  gathered_places places;  ///< of gathered elements
};

/// How axes_mover::tiles and axes_mover::elements move a copy by accesses of `access_bytes`: in tiles of whole elements or as
/// single elements, if neither panels nor word-shifted tiles are better.
inline axes_copy choose_axes_copy(const axes_choice& chosen, const relocation& move,
                                  int access_bytes) {
  axes_copy copy{chosen, move, {}};
  const bool are_tiles = chosen.mover == axes_mover::tiles || choose_wide_tiles(copy.move, copy);
  if (!are_tiles && widen(copy.move)) {
    copy.mover = axes_mover::wide_elements;
  } else if (!are_tiles && !choose_filled_tiles(copy, move)) {
    const size_type together = elements_together(move.in_element);
    if (static_cast<size_type>(access_bytes) == move.in_element && together > 1 &&
        gather(copy.move, together, copy.places)) {
      copy.mover = axes_mover::gathered;
      return copy;
    }
  }
  const size_type bytes = copy.move.in_element;
  const bool is_wide = copy.mover == axes_mover::tiles && bytes > move.in_element;
  const auto width = static_cast<size_type>(is_wide ? access_width(bytes) : access_bytes);
  const relocation& moved = is_wide ? copy.move : move;
  const size_type most_ragged = most_ragged_percent(copy, moved, width);
  const bool are_small = copy.mover == axes_mover::elements && moved.in_element <= 3;
  const bool are_wide = moved.in_element >= 12 && width >= 4;
  const size_type least = are_small  ? least_panel_bytes_of_singles
                          : are_wide ? least_uncached_bytes
                                     : least_panel_bytes;
  const bool panels = (!is_wide || bytes <= 4) && most_ragged > 0 &&
                      count_elements(moved) * moved.in_element >= least &&
                      ragged_percent(moved, width) <= most_ragged;
  if ((copy.mover == axes_mover::tiles || copy.mover == axes_mover::elements) &&
      copy.together == 1 && fits_word_shifted_tiles(copy, copy.move) &&
      !(panels && bytes == 2 && ragged_percent(copy.move, width) < least_ragged_beside_shifted)) {
    copy.mover = axes_mover::word_shifted_tiles;
  } else if (panels) {
    copy.mover = axes_mover::panels;
  }
  return copy;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
