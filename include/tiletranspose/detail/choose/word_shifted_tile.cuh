// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which copies of elements of 1 to 3 bytes go in tiles whose rows and columns start anywhere, and how these are cut. Pure
/// functions, plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/choose_axes.cuh>
#include <tiletranspose/detail/choose/tuning_axes.cuh>
#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/policy.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The shape of these tiles. Rows are of the input; a column's bytes, those of the rows before the tile included, take
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
  side_axes sides[2];
  size_type x_tiles;
  size_type y_tiles;
  size_type rows;   ///< of a tile
  size_type outer;  ///< pairs of sides

  size_type blocks() const { return x_tiles * y_tiles * outer; }

  /// Percent of what tiles have room for, and of the rows that they load twice, that is elements.
  size_type filled(const word_shifted_tile_shape& shape) const {
    const auto loaded = rows + static_cast<size_type>(shape.lead_rows());
    return 100 * sides[0].extent / (x_tiles * static_cast<size_type>(shape.cols())) * 100 *
           sides[1].extent / (y_tiles * loaded) / 100;
  }
};

/// Rows are cut evenly: those of a column that starts inside of a sector reach into one tile more.
inline word_shifted_tiles cut_word_shifted_tiles(const axes_choice& choice, const relocation& move,
                                                 const word_shifted_tile_shape& shape) {
  word_shifted_tiles tiles{};
  const auto cols = static_cast<size_type>(shape.cols());
  const auto most_rows = static_cast<size_type>(shape.most_rows());
  const auto step = static_cast<size_type>(shape.sector_rows());
  grow_sides(tiles.sides, move, choice.x, {cols, most_rows}, true);
  const size_type reached =
      tiles.sides[1].extent + (sector_bytes - 1) / static_cast<size_type>(shape.element_bytes);
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
      !has_dense_input(move) || begin_of_input(move) != move.in ||
      count_elements(move) * bytes < least_panel_bytes) {
    return false;
  }
  const word_shifted_tile_shape shape{static_cast<int>(bytes)};
  const word_shifted_tiles tiles = cut_word_shifted_tiles(choice, move, shape);
  return larger(tiles.sides[0].extent, tiles.sides[1].extent) <= most_counted &&
         tiles.blocks() <= max_blocks && tiles.filled(shape) >= least_shifted_filled_of(bytes);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
