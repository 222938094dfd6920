// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Where the elements of a tile lie in shared memory. A layout is an empty type whose objects map
/// (row, column) to an element offset:
///
///     tt::padded_layout<float, 32, 32, 1> layout;
///     static_assert(layout(2, 5) == 2 * 33 + 5);
///
/// Every layout has `rows`, `cols`, `size` (elements to allocate) and `element` (the type). It is
/// injective: two coordinates of the tile never share an offset. Plain C++17, no CUDA needed.

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// Rows one after the other, `Padding` unused elements behind each.
///
///     layout(r, c) == r * (Cols + Padding) + c
template <class T, int Rows, int Cols, int Padding>
struct padded_layout {
  static_assert(Rows > 0 && Cols > 0, "tt: a tile needs at least one row and one column");
  static_assert(Padding >= 0, "tt: Padding must not be negative; 0 packs the rows of a tile");

  using element = T;
  static constexpr int rows = Rows;
  static constexpr int cols = Cols;
  static constexpr int padding = Padding;
  static constexpr int pitch = Cols + Padding;
  static constexpr int size = Rows * pitch;

  TILETRANSPOSE_HOST_DEVICE constexpr int operator()(int row, int col) const {
    return row * pitch + col;
  }
};

namespace detail {

/// The formula of `swizzled_layout`; see there.
TILETRANSPOSE_HOST_DEVICE constexpr int swizzled_offset(int row, int col, int cols,
                                                        int vector_elements, int rows_per_step) {
  const int vectors_per_row = cols / vector_elements;
  const int vector = (col / vector_elements) ^ (row / rows_per_step % vectors_per_row);
  return row * cols + vector * vector_elements + col % vector_elements;
}
/// Rows that keep one order of vectors: those that share a line of all banks, or one thread.
TILETRANSPOSE_HOST_DEVICE constexpr int swizzle_step(int row_bytes, int vector_elements) {
  const int rows_per_line = row_bytes < 128 ? 128 / row_bytes : 1;
  return vector_elements > rows_per_line ? vector_elements : rows_per_line;
}

TILETRANSPOSE_HOST_DEVICE constexpr bool is_power_of_two(int value) {
  return value > 0 && (value & (value - 1)) == 0;
}

}  // namespace detail

/// Rows packed without padding; the vectors of a row trade places by an XOR with the row number, which
/// spreads a column over the banks as padding would, without the space.
///
///     bits of a row:            r r r r | r r        <- the low log2(rows_per_step) bits do not take part
///     bits of a vector's index:   v v v v            vector ^= (row / rows_per_step) % vectors_per_row
///     bits of an element:               | e e        place inside a vector: unchanged
///
/// `VectorBytes` is the width of one thread's access. With VectorBytes == sizeof(T) threads read columns
/// element by element; with wider vectors of V elements, threads hold V x V micro-blocks, so V rows side by
/// side share one step. Conflict-free where VectorBytes is a word or a power of two of words, a row fills
/// all banks (128 bytes and more) and warps take whole columns; `conflict_ways` tells for the others.
/// Source of the technique: the XOR swizzles of CuTe (`swizzle.hpp`), restated for a 2-D tile.
template <class T, int Rows, int Cols, int VectorBytes = static_cast<int>(sizeof(T))>
struct swizzled_layout {
  static_assert(Rows > 0 && Cols > 0, "tt: a tile needs at least one row and one column");
  static_assert(VectorBytes >= static_cast<int>(sizeof(T)) && VectorBytes % sizeof(T) == 0,
                "tt: VectorBytes must be a multiple of sizeof(T)");
  static_assert((Cols * sizeof(T)) % VectorBytes == 0 &&
                    detail::is_power_of_two(static_cast<int>(Cols * sizeof(T)) / VectorBytes),
                "tt: a swizzled row must hold a power of two of vectors; pad the tile instead "
                "(padded_layout)");

  using element = T;
  static constexpr int rows = Rows;
  static constexpr int cols = Cols;
  static constexpr int size = Rows * Cols;
  static constexpr int vector_elements = VectorBytes / static_cast<int>(sizeof(T));
  static constexpr int vectors_per_row = Cols / vector_elements;
  static constexpr int row_bytes = Cols * static_cast<int>(sizeof(T));
  static constexpr int rows_per_step = detail::swizzle_step(row_bytes, vector_elements);

  TILETRANSPOSE_HOST_DEVICE constexpr int operator()(int row, int col) const {
    return detail::swizzled_offset(row, col, Cols, vector_elements, rows_per_step);
  }
};

/// A padded or swizzled layout whose numbers only the run knows, for programs that draw or search tiles:
///
///     static_assert(tt::padded_map(4, 32, 32, 1)(2, 5) == tt::padded_layout<float, 32, 32, 1>{}(2, 5));
///     static_assert(tt::swizzled_map(4, 32, 32, 4)(2, 5) == tt::swizzled_layout<float, 32, 32>{}(2, 5));
struct tile_map {
  int element_bytes;
  int rows;
  int cols;
  int padding;          ///< unused elements behind each row
  int vector_elements;  ///< of a swizzle; 0 without one

  TILETRANSPOSE_HOST_DEVICE constexpr int pitch() const { return cols + padding; }
  TILETRANSPOSE_HOST_DEVICE constexpr int size() const { return rows * pitch(); }

  TILETRANSPOSE_HOST_DEVICE constexpr int operator()(int row, int col) const {
    return vector_elements == 0 ? row * pitch() + col
                                : detail::swizzled_offset(
                                      row, col, cols, vector_elements,
                                      detail::swizzle_step(cols * element_bytes, vector_elements));
  }
};

/// `padded_layout<T, rows, cols, padding>` for a T of `element_bytes` bytes.
TILETRANSPOSE_HOST_DEVICE constexpr tile_map padded_map(int element_bytes, int rows, int cols,
                                                        int padding) {
  return {element_bytes, rows, cols, padding, 0};
}

/// True where `swizzled_layout` takes these numbers: rows hold a power of two of whole vectors.
TILETRANSPOSE_HOST_DEVICE constexpr bool can_swizzle(int element_bytes, int cols,
                                                     int vector_bytes) {
  return vector_bytes >= element_bytes && vector_bytes % element_bytes == 0 &&
         cols * element_bytes % vector_bytes == 0 &&
         detail::is_power_of_two(cols * element_bytes / vector_bytes);
}

/// `swizzled_layout<T, rows, cols, vector_bytes>` for a T of `element_bytes` bytes.
/// \pre can_swizzle(element_bytes, cols, vector_bytes)
TILETRANSPOSE_HOST_DEVICE constexpr tile_map swizzled_map(int element_bytes, int rows, int cols,
                                                          int vector_bytes) {
  return {element_bytes, rows, cols, 0, vector_bytes / element_bytes};
}

TILETRANSPOSE_NAMESPACE_END
