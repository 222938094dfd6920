// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Tiles along several axes of elements of 1 to 3 bytes whose rows and columns start anywhere, as detail/README.md describes
/// them: rows are contiguous in the input, and columns in the output, each at a place of its own. A column's part begins at
/// its own sector, so that each sector has one writer: as many rows as a sector has elements are loaded twice for that.

#pragma once

#include <tiletranspose/detail/axes/axes_kernel.cuh>
#include <tiletranspose/detail/core/shuffle.cuh>
#include <tiletranspose/warp_transpose.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

struct word_shifted_tile_arguments {
  axes_tile_arguments<int> axes;
  unsigned rows;               ///< of a tile
  unsigned outer;              ///< pairs of sides
  const unsigned char* begin;  ///< of the input, which has no gaps
  const unsigned char* end;

  /// The word at `address`, as far as it is the input's.
  TILETRANSPOSE_FUNCTION unsigned load_inside(const unsigned char* address) const {
    unsigned word = 0;
    TILETRANSPOSE_UNROLL_BY(1)
    for (int i = 0; i < 4; ++i) {
      const loop_step here(i);
      if (address + i >= begin && address + i < end) {
        word |= static_cast<unsigned>(load_constant<unsigned char>(address + i)) << (8 * i);
      }
    }
    return word;
  }
};

/// What a block has in shared memory, and how it moves a tile.
template <int ElementBytes>
struct word_shifted_tile {
  static constexpr word_shifted_tile_shape shape{ElementBytes};
  static constexpr unsigned threads = shape.threads();
  static constexpr unsigned cols = shape.cols();
  static constexpr unsigned lead_rows = shape.lead_rows();
  static constexpr unsigned lane_cols = shape.lane_cols();
  static constexpr unsigned lane_words = lane_cols * ElementBytes / 4;  ///< of a row
  static constexpr unsigned lane_rows = shape.lane_rows();
  static constexpr unsigned lane_accesses = lane_rows * ElementBytes / 16;  ///< of a column
  static constexpr unsigned column_accesses = word_shifted_tile_shape::column_bytes / 16;

  word16 columns[cols][column_accesses];
  int row_places[shape.most_rows() + shape.lead_rows()];
  int column_places[cols];

  /// Where an access of a column is. Those of the columns that lanes next to each other have lie in different banks.
  TILETRANSPOSE_FUNCTION word16* access(unsigned col, unsigned index) {
    return &columns[col][(index ^ (col / lane_cols % 8)) % column_accesses];
  }

  /// Fills the tables. Barriers: none; the caller owes one before they are read.
  TILETRANSPOSE_FUNCTION void find_places(const word_shifted_tile_arguments& arguments, unsigned x0,
                                          unsigned y0, unsigned rank) {
    const axes_tile_arguments<int>& axes = arguments.axes;
    TILETRANSPOSE_UNROLL_BY(1)
    for (unsigned i = rank; i < arguments.rows + lead_rows; i += threads) {
      const unsigned row = y0 + i - lead_rows;
      store_shared(&row_places[i], row < axes.sides[1].extent ? axes.places(1, row).in : 0);
    }
    TILETRANSPOSE_UNROLL_BY(1)
    for (unsigned i = rank; i < cols; i += threads) {
      store_shared(&column_places[i],
                   x0 + i < axes.sides[0].extent ? axes.places(0, x0 + i).out : 0);
    }
  }

  /// Loads rows and stores them as parts of columns. Barriers: none.
  /// \param in  where the tile's part of a row would be that lies at place 0
  /// \tparam HoldsEnds  words may begin before the input, or end behind it
  template <bool HoldsEnds>
  TILETRANSPOSE_FUNCTION void fill_columns(const word_shifted_tile_arguments& arguments,
                                           const unsigned char* in, unsigned x0, unsigned y0,
                                           unsigned rank) {
    const unsigned lane = rank % 32;
    // A lane has a word of rows that do not end before it begins, `below` bytes before the lane's first element.
    const unsigned most_cols = smaller(arguments.axes.sides[0].extent - x0, 2 * cols);
    const int least_below =
        static_cast<int>(4 * lane_words * lane + 1) - static_cast<int>(most_cols) * ElementBytes;
    TILETRANSPOSE_UNROLL_BY(1)
    for (unsigned at = rank / 32; at * lane_rows < arguments.rows + lead_rows; at += threads / 32) {
      const loop_step here(at);
      const unsigned row = y0 + at * lane_rows - lead_rows;
      unsigned words[lane_rows][lane_words];
      unsigned below_all = 0;  // two bits each
      TILETRANSPOSE_UNROLL
      for (unsigned r = 0; r < lane_rows; ++r) {
        const unsigned char* const from =
            in + load_shared<int>(&row_places[at * lane_rows + r]) + 4 * lane_words * lane;
        const unsigned below = address_bits(from) % 4;
        below_all |= below << (2 * r);
        TILETRANSPOSE_UNROLL
        for (unsigned w = 0; w < lane_words; ++w) {
          const loop_step part(r * lane_words + w);
          words[r][w] = 0;
          if (row + r < arguments.axes.sides[1].extent &&
              static_cast<int>(below) >= least_below + static_cast<int>(4 * w)) {
            const unsigned char* const word = word_below(from) + 4 * w;
            const bool whole = !HoldsEnds || (word >= arguments.begin && word + 4 <= arguments.end);
            words[r][w] = whole ? load_constant<unsigned>(word) : arguments.load_inside(word);
          }
        }
      }
      TILETRANSPOSE_UNROLL
      for (unsigned r = 0; r < lane_rows; ++r) {
        const unsigned next = shuffle(words[r][0], lane + 1);
        TILETRANSPOSE_UNROLL
        for (unsigned w = 0; w < lane_words; ++w) {
          words[r][w] = funnel_shift(words[r][w], w + 1 < lane_words ? words[r][w + 1] : next,
                                     8 * (below_all >> (2 * r) & 3));
        }
      }
      unsigned transposed[lane_cols][4 * lane_accesses];
      thread_transpose<ElementBytes>(transposed, words);
      if (lane == 31) { continue; }
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < lane_cols * lane_accesses; ++i) {
        const unsigned c = i / lane_accesses;
        const unsigned part = i % lane_accesses;
        word16 rows;
        __builtin_memcpy(&rows, transposed[c] + 4 * part, sizeof rows);
        store_shared(access(lane * lane_cols + c, at * lane_accesses + part), rows);
      }
    }
  }

  /// Writes columns, each up to the sector where the next tile's part of it begins. Barriers: none.
  /// \param out  where the tile's part of a column would be that lies at place 0
  TILETRANSPOSE_FUNCTION void drain_columns(const word_shifted_tile_arguments& arguments,
                                            unsigned char* out, unsigned x0, unsigned y0,
                                            unsigned rank) {
    constexpr int bytes = ElementBytes;
    constexpr int single = access_width(bytes);
    constexpr int vector = max_access_bytes;
    constexpr unsigned lanes = column_accesses;
    using part_of_element = access_word_t<single>;
    const unsigned lane = rank % lanes;
    if (lane * vector >= arguments.rows * bytes) { return; }
    // The column's first byte and its end, counted from the tile's first row; tiles have fewer rows than `most`.
    constexpr unsigned most = 1u << 20;
    const unsigned extent = arguments.axes.sides[1].extent;
    const int first = -static_cast<int>(smaller(y0, most) * bytes);
    const int end = y0 < extent ? static_cast<int>(smaller(extent - y0, most) * bytes)
                                : -static_cast<int>((y0 - extent) * bytes);
    TILETRANSPOSE_UNROLL_BY(4)
    for (unsigned col = rank / lanes; col < cols; col += threads / lanes) {
      const loop_step here(col / (threads / lanes));
      if (x0 + col >= arguments.axes.sides[0].extent) { break; }
      unsigned char* const column = out + load_shared<int>(&column_places[col]);
      const unsigned skew = address_bits(column) % sector_bytes;
      const int byte = static_cast<int>(lane * vector - skew);
      if (byte >= end || byte + vector <= first) { continue; }
      const unsigned at = lead_rows * bytes + lane * vector - skew;
      const word16 low = load_shared<word16>(access(col, at / vector));
      const word16 high = load_shared<word16>(access(col, (at + vector - 1) / vector));
      const word16 value = shift_together<vector>(low, high, at % vector);
      if (byte >= first && byte + vector <= end) {
        store_global(column + byte, value);
        continue;
      }
      part_of_element parts[vector / single];
      __builtin_memcpy(parts, &value, vector);
      TILETRANSPOSE_UNROLL
      for (int i = 0; i < vector / single; ++i) {
        const loop_step part(i);
        const int inside = byte + i * single;
        if (inside >= first && inside < end) { store_global(column + inside, parts[i]); }
      }
    }
  }

  /// The kernel's body: block b moves tile b, counted along y, then x, then the outer axes. Barriers: two, inside.
  template <class Group>
  TILETRANSPOSE_FUNCTION void move(Group group, const word_shifted_tile_arguments& arguments,
                                   unsigned block) {
    const axes_tile_arguments<int>& axes = arguments.axes;
    const unsigned rank = group.thread_rank();
    const unsigned line = axes.y_tiles.quotient(block);
    const unsigned y0 = axes.y_tiles.remainder(block, line) * arguments.rows;
    const unsigned outer = axes.x_tiles.quotient(line);
    const unsigned x0 = axes.x_tiles.remainder(line, outer) * cols;
    const axis_steps<int> matrix = axes.outer_places(outer);
    find_places(arguments, x0, y0, rank);
    group.sync();
    constexpr size_type bytes = ElementBytes;
    const unsigned char* const in = axes.in + matrix.in + x0 * bytes;
    // Other rows begin and end a word or more from the ends of the input: sides are as long as fills their tiles.
    const bool holds_begin = x0 == 0 && y0 <= lead_rows && outer == 0;
    const bool holds_end = x0 + cols + lane_cols > axes.sides[0].extent &&
                           y0 + arguments.rows >= axes.sides[1].extent &&
                           outer + 1 == arguments.outer;
    if (holds_begin || holds_end) {
      fill_columns<true>(arguments, in, x0, y0, rank);
    } else {
      fill_columns<false>(arguments, in, x0, y0, rank);
    }
    group.sync();
    drain_columns(arguments, axes.out + matrix.out + y0 * bytes, x0, y0, rank);
  }
};

/// The launch of word-shifted tiles. Precondition: fits_word_shifted_tiles.
inline launch_plan<word_shifted_tile_arguments> plan_word_shifted_tiles(const axes_choice& choice,
                                                                        const relocation& move) {
  const word_shifted_tiles tiles = cut_word_shifted_tiles(choice, move);
  const auto* const in = static_cast<const unsigned char*>(move.in);
  return {{make_tile_arguments<int>(tiles.sides, move, tiles.x_tiles, tiles.y_tiles),
           static_cast<unsigned>(tiles.rows), static_cast<unsigned>(tiles.outer), in,
           in + count_elements(move) * move.in_element},
          tiles.blocks(),
          tiles.shape.threads(),
          0};
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
