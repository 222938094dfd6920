// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernels that transpose a rectangle in its own memory: permutations of its columns, of its rows, and of
/// its columns again.
/// Source: the decomposition of Catanzaro, Keller and Garland, "A decomposition for in-place matrix
/// transposition", PPoPP 2014; the passes over bands of columns and their order are ours.
///
/// The memory is seen as a grid of m rows and n columns, m >= n. With g = gcd(m, n) and b = n / g:
///
///     1. grid1(i, j) = grid((i + j / b) % m, j)                             where g > 1
///     2. grid2(i, (j * m + (i + j / b) % m) % n) = grid1(i, j)
///     3. grid3(r, c) = grid2((l - l / (m * b)) % m, c)                      l = r * n + c
///
/// An m x n matrix has become its transpose. The same steps, undone from the last to the first, make
/// the transpose of an n x m matrix.
///
/// Step 2 stays in a row, which shared memory holds. Steps 1 and 3 stay in a column: *bands* of adjacent columns
/// are copied to scratch memory that stays in the L2 cache, and back in their new order. In both, neighbours in
/// a row of the result come from a diagonal of the source: that is what a tile in shared memory turns.

#pragma once

#include <tiletranspose/detail/divide.cuh>
#include <tiletranspose/detail/memory.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The grid and its numbers.
struct rectangle {
  unsigned rows;              ///< m < 2^31
  unsigned cols;              ///< n <= m
  unsigned common;            ///< g
  unsigned long long period;  ///< m * b
  divider step;               ///< b
  divider by_cols;
  long_divider row_step;  ///< by n
  unsigned inverse;       ///< of m / g, modulo b

  rectangle() = default;
  rectangle(size_type m, size_type n)
      : rows(static_cast<unsigned>(m)),
        cols(static_cast<unsigned>(n)),
        common(greatest_common_divisor(rows, cols)),
        period(m * (n / common)),
        step(n / common),
        by_cols(n),
        row_step(n),
        inverse(modular_inverse(rows / common, cols / common)) {}

  static unsigned greatest_common_divisor(unsigned a, unsigned b) {
    while (b != 0) {
      const unsigned rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }
  /// x with value * x % modulus == 1 % modulus. Precondition: value and modulus have no common divisor.
  static unsigned modular_inverse(unsigned value, unsigned modulus) {
    long long x = 1, next_x = 0;
    long long rest = value % modulus, next_rest = modulus;
    while (next_rest != 0) {
      const long long quotient = rest / next_rest;
      long long swapped = rest - quotient * next_rest;
      rest = next_rest, next_rest = swapped;
      swapped = x - quotient * next_x;
      x = next_x, next_x = swapped;
    }
    return static_cast<unsigned>((x % static_cast<long long>(modulus) + modulus) % modulus);
  }

  /// Step 2: the column that element j of row i goes to.
  TILETRANSPOSE_FUNCTION unsigned target_col(unsigned i, unsigned j) const {
    unsigned from = i + step.quotient(j);
    if (from >= rows) { from -= rows; }
    return row_step.remainder(static_cast<unsigned long long>(j) * rows + from);
  }
};

enum class column_step {
  rotate,  ///< step 1
  shuffle  ///< step 3
};

/// What element `col + k` of a diagonal has done beyond column `col`: in which row the result finds it.
struct diagonal {
  unsigned row;    ///< of the result
  unsigned first;  ///< of the source, for element 0
  unsigned cut;    ///< step 3: elements from this one on come from one row less
};

/// The diagonal of a band whose first element comes from row `first` of the source.
template <column_step Step>
TILETRANSPOSE_FUNCTION diagonal find_diagonal(const rectangle& grid, unsigned first, unsigned col) {
  if constexpr (Step == column_step::rotate) {
    const unsigned shift = grid.step.quotient(col);
    return {first >= shift ? first - shift : first + grid.rows - shift, first, 0};
  } else {
    // Undo step 2 for column `col` of row `first`: which element (i, j) is there?
    const unsigned common = grid.common;
    const unsigned turns = (col % common + common - first % common) % common;
    unsigned i = first + turns;
    if (i >= grid.rows) { i -= grid.rows; }
    const unsigned i_col = i % grid.cols;
    const unsigned distance = col >= i_col ? col - i_col : col + grid.cols - i_col;
    const unsigned step = grid.step.divisor;
    const auto turned = static_cast<unsigned>(static_cast<unsigned long long>(distance / common) *
                                              grid.inverse % step);
    const unsigned j = turns * step + turned;
    const unsigned long long place = static_cast<unsigned long long>(j) * grid.rows + i;
    const unsigned long long left = grid.period - place % grid.period;
    return {static_cast<unsigned>(place / grid.cols), first,
            static_cast<unsigned>(smaller<unsigned long long>(left, grid.cols))};
  }
}

/// How many rows below its first element's a diagonal's element k comes from.
template <column_step Step>
TILETRANSPOSE_FUNCTION unsigned advance(const rectangle& grid, const diagonal& line, unsigned col,
                                        unsigned k) {
  if constexpr (Step == column_step::rotate) {
    return grid.step.quotient(col + k) - grid.step.quotient(col);
  } else {
    return k - (k >= line.cut ? 1 : 0);
  }
}

/// A band of columns: its copy in scratch memory, and the tile that turns diagonals.
struct band_arguments {
  const unsigned char* scratch;  ///< rows x (columns of all bands of the launch), dense
  unsigned char* data;
  rectangle grid;
  unsigned first_col;
  unsigned cols;         ///< of all bands of the launch
  unsigned band_cols;    ///< of a band; the last may have fewer
  unsigned tile_rows;    ///< diagonals that a block takes
  divider row_tiles;     ///< blocks of a band
  divider band_divider;  ///< band_cols
};

inline constexpr int rectangle_threads = 256;
inline constexpr int shuffle_threads = 512;
inline constexpr unsigned most_diagonals = 256;
/// Shared memory that a block takes for short rows.
inline constexpr size_type shuffle_block_bytes = 32 * 1024;

/// Shared memory of a block: the tile, and what is known of its diagonals.
TILETRANSPOSE_HOST_DEVICE constexpr unsigned band_tile_rows(unsigned tile_rows,
                                                            unsigned band_cols) {
  return tile_rows + band_cols + 1;
}

/// Moves a tile of a band out of scratch memory. Step 1 or 3, or undone: then diagonals of the *result* come
/// from rows of the source.
/// Shared memory: band_tile_rows() * band_cols elements and band_tile_rows() diagonals behind them, aligned
/// to 16. Barriers: two, inside.
template <column_step Step, bool Undo, int ElementBytes, int Unit, class Group>
TILETRANSPOSE_FUNCTION void move_band(Group group, unsigned char* shared,
                                      const band_arguments& arguments, unsigned block) {
  using word = access_word_t<Unit>;
  constexpr unsigned parts = ElementBytes / Unit;
  const rectangle& grid = arguments.grid;
  const unsigned band = arguments.row_tiles.quotient(block);
  const unsigned first = arguments.row_tiles.remainder(block, band) * arguments.tile_rows;
  const unsigned in_launch = band * arguments.band_cols;
  const unsigned col = arguments.first_col + in_launch;
  const unsigned cols = smaller(arguments.cols - in_launch, arguments.band_cols);
  const unsigned rows = smaller(grid.rows - first, arguments.tile_rows);
  const unsigned reach = cols + 1;  // rows more that diagonals touch
  const unsigned pitch = arguments.band_cols * ElementBytes;
  const unsigned all_rows = band_tile_rows(arguments.tile_rows, arguments.band_cols);
  auto* const lines =
      reinterpret_cast<diagonal*>(shared + round_up(static_cast<int>(all_rows * pitch), 16));
  const size_type scratch_pitch = size_type{arguments.cols} * ElementBytes;
  const size_type data_pitch = size_type{grid.cols} * ElementBytes;
  const unsigned char* const source = arguments.scratch + size_type{in_launch} * ElementBytes;
  unsigned char* const target = arguments.data + size_type{col} * ElementBytes;
  const unsigned rank = group.thread_rank();
  const auto wrapped = [&](unsigned row) {  // row counts from `first` - reach
    unsigned at = first + row + grid.rows - reach % grid.rows;
    while (at >= grid.rows) { at -= grid.rows; }
    return at;
  };
  const auto for_each_unit = [&](unsigned row_count, auto visit) {
    // A warp takes whole rows, one after the other: rows are 128 bytes where they can be.
    for (unsigned at = rank; at < row_count * arguments.band_cols * parts; at += group.size()) {
      const unsigned element = at / parts;
      const unsigned row = arguments.band_divider.quotient(element);
      const unsigned k = element - row * arguments.band_cols;
      if (k < cols) { visit(row, k, at % parts); }
    }
  };

  if constexpr (!Undo) {
    // result(line.row, k) = source(line.first + advance, k): stage rows from `first` - 1 on.
    for (unsigned t = rank; t < rows; t += group.size()) {
      const diagonal line = find_diagonal<Step>(grid, first + t, col);
      store_shared(lines + t, line);
    }
    for_each_unit(rows + reach, [&](unsigned row, unsigned k, unsigned part) {
      const unsigned from = wrapped(row + reach - 1);
      store_shared(
          shared + row * pitch + k * ElementBytes + part * Unit,
          load_global<word>(source + from * scratch_pitch + k * ElementBytes + part * Unit));
    });
    group.sync();
    for_each_unit(rows, [&](unsigned t, unsigned k, unsigned part) {
      const auto line = load_shared<diagonal>(lines + t);
      const unsigned row = t + 1 + advance<Step>(grid, line, col, k);
      store_global(target + line.row * data_pitch + k * ElementBytes + part * Unit,
                   load_shared<word>(shared + row * pitch + k * ElementBytes + part * Unit));
    });
  } else {
    // result(line.first + advance, k) = source(line.row, k): the lines that touch the tile's rows.
    for (unsigned t = rank; t < rows + reach; t += group.size()) {
      store_shared(lines + t, find_diagonal<Step>(grid, wrapped(t), col));
    }
    group.sync();
    for_each_unit(rows + reach, [&](unsigned t, unsigned k, unsigned part) {
      const auto line = load_shared<diagonal>(lines + t);
      const unsigned row = t + advance<Step>(grid, line, col, k) - reach;
      if (row < rows) {
        store_shared(
            shared + row * pitch + k * ElementBytes + part * Unit,
            load_global<word>(source + line.row * scratch_pitch + k * ElementBytes + part * Unit));
      }
    });
    group.sync();
    for_each_unit(rows, [&](unsigned row, unsigned k, unsigned part) {
      store_global(target + (first + row) * data_pitch + k * ElementBytes + part * Unit,
                   load_shared<word>(shared + row * pitch + k * ElementBytes + part * Unit));
    });
  }
}

/// Rows whose elements are permuted among themselves.
struct shuffle_arguments {
  unsigned char* data;
  unsigned char* scratch;  ///< rows that shared memory cannot hold are turned here; else null
  rectangle grid;
  unsigned first_row;
  unsigned rows;        ///< that the launch takes
  unsigned block_rows;  ///< that a block takes
};

/// Step 2 for the rows of a block, or undone.
/// Shared memory: block_rows * n elements, aligned to 16. Barriers: one, inside.
template <bool Undo, int ElementBytes, int Unit, class Group>
TILETRANSPOSE_FUNCTION void shuffle_rows(Group group, unsigned char* shared,
                                         const shuffle_arguments& arguments, unsigned block) {
  using word = access_word_t<Unit>;
  constexpr unsigned parts = ElementBytes / Unit;
  const rectangle& grid = arguments.grid;
  const unsigned begin = block * arguments.block_rows;
  const unsigned rows = smaller(arguments.rows - begin, arguments.block_rows);
  const unsigned first_row = arguments.first_row + begin;
  unsigned char* const data = arguments.data + size_type{first_row} * grid.cols * ElementBytes;
  const unsigned units = rows * grid.cols * parts;
  // Where unit `at` of the block's rows lies between its element's place before step 2 and the one after.
  const auto turned = [&](unsigned at) {
    const unsigned element = at / parts;
    const unsigned row = grid.by_cols.quotient(element);
    const unsigned col = grid.target_col(first_row + row, element - row * grid.cols);
    return ((row * grid.cols + col) * parts + at % parts) * Unit;
  };
  TILETRANSPOSE_UNROLL_BY(4)
  for (unsigned at = group.thread_rank(); at < units; at += group.size()) {
    store_shared(shared + (Undo ? at * Unit : turned(at)),
                 load_global<word>(data + size_type{at} * Unit));
  }
  group.sync();
  TILETRANSPOSE_UNROLL_BY(4)
  for (unsigned at = group.thread_rank(); at < units; at += group.size()) {
    store_global(data + size_type{at} * Unit,
                 load_shared<word>(shared + (Undo ? turned(at) : at * Unit)));
  }
}

/// The same between memory and scratch memory, for rows of any length: one element of one row a thread.
template <bool Undo, int ElementBytes, int Unit>
TILETRANSPOSE_FUNCTION void shuffle_long_row(const shuffle_arguments& arguments, size_type thread) {
  using word = access_word_t<Unit>;
  constexpr unsigned parts = ElementBytes / Unit;
  const rectangle& grid = arguments.grid;
  const size_type row_units = size_type{grid.cols} * parts;
  if (thread >= arguments.rows * row_units) { return; }
  const auto row = static_cast<unsigned>(thread / row_units);
  const auto at = static_cast<unsigned>(thread % row_units);
  const unsigned col = grid.target_col(arguments.first_row + row, at / parts);
  const size_type plain = at * size_type{Unit};
  const size_type turned = (size_type{col} * parts + at % parts) * Unit;
  const size_type row_bytes = size_type{grid.cols} * ElementBytes;
  unsigned char* const data = arguments.data + (size_type{arguments.first_row} + row) * row_bytes;
  unsigned char* const scratch = arguments.scratch + row * row_bytes;
  if constexpr (Undo) {
    store_global(data + plain, load_global<word>(scratch + turned));
  } else {
    store_global(scratch + turned, load_global<word>(data + plain));
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
