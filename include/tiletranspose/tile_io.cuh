// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Tiles between global and shared memory. Consecutive threads touch consecutive bytes of global memory
/// in every function here, so accesses are coalesced; whatever lies outside of the matrix is skipped, or
/// filled with a value of the caller's. `tile_io_async.cuh` has the forms that copy in the background.
///
///     __global__ void transpose_tiles(tt::matrix_view<float> out, tt::matrix_view<const float> in) {
///       using tile_type = tt::shared_tile<float, tt::padded_layout<float, 32, 32, 1>>;
///       __shared__ typename tile_type::storage storage;
///       tile_type tile(storage);
///       const tt::static_block<256> block;
///       const std::size_t row = blockIdx.y * std::size_t{32};
///       const std::size_t col = blockIdx.x * std::size_t{32};
///       tt::load_tile(block, tile, in, row, col);
///       block.sync();
///       tt::store_tile_transposed(block, out, col, row, tile);
///     }
///
/// The last parameter of each, `caller`, is the place of the call, which the emulator's reports name; leave it out.
/// No function here contains a barrier. The caller owes one `group.sync()` between filling a tile and
/// reading it, and one between reading it and filling it again.

#pragma once

#include <tiletranspose/group.cuh>
#include <tiletranspose/tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// How many of `extent` rows (or columns) starting at `first` exist, at most `most`.
TILETRANSPOSE_FUNCTION unsigned part_inside(size_type extent, size_type first, unsigned most) {
  const size_type left = first < extent ? extent - first : 0;
  return left < most ? static_cast<unsigned>(left) : most;
}

/// Tells the emulator of tiles that start in front of the first row or column: such numbers are the largest there are, and
/// the whole tile lies behind the matrix.
template <class T>
TILETRANSPOSE_FUNCTION void check_start(const matrix_view<T>& matrix, size_type row0,
                                        size_type col0) {
  if ((row0 | col0) > ~size_type{0} / 2) {
    TILETRANSPOSE_TELL_MACHINE(
        check_matrix(row0, col0, matrix.rows, matrix.cols, access_site::at()));
  }
  (void)matrix;
}

template <class T>
TILETRANSPOSE_FUNCTION unsigned char* as_bytes(T* data) {
  return reinterpret_cast<unsigned char*>(data);
}
template <class T>
TILETRANSPOSE_FUNCTION const unsigned char* as_bytes(const T* data) {
  return reinterpret_cast<const unsigned char*>(data);
}

/// The widest access that divides T and that T's alignment allows. Elements are moved by such accesses, so that
/// consecutive threads touch consecutive bytes whatever the size of T.
template <class T>
struct element_accesses {
  static constexpr int bytes = access_width(sizeof(T), alignof(T));
  static constexpr int parts = static_cast<int>(sizeof(T)) / bytes;
  using word = access_word_t<bytes>;
};

/// Calls visit(address in global memory, row, access in the row) for the accesses of `Bytes` bytes of a Rows x Cols
/// tile that lie wholly inside of the matrix. Tiles that do so take a loop without a question in it.
/// Precondition: Bytes divides a row of the tile; the address and the stride of the matrix are multiples of
/// what one access of Bytes needs.
template <int Rows, int Cols, int Bytes, class Group, class T, class Visit>
TILETRANSPOSE_FUNCTION void for_each_access(Group group, matrix_view<T> matrix, size_type row0,
                                            size_type col0, Visit visit) {
  constexpr unsigned row_accesses = Cols * sizeof(T) / Bytes;
  detail::check_start(matrix, row0, col0);
  const unsigned rows = part_inside(matrix.rows, row0, Rows);
  const unsigned cols = part_inside(matrix.cols, col0, Cols);
  // Counted in bytes: an access may start inside of an element.
  auto* const origin = detail::as_bytes(matrix.data + row0 * matrix.stride + col0);
  const size_type stride_bytes = matrix.stride * sizeof(T);
  const auto address = [=](unsigned row, unsigned at) {
    return origin + at * Bytes + row * stride_bytes;
  };
  if (rows == Rows && cols == Cols) {
    for_each_cell<Rows, row_accesses>(
        group, [&](unsigned row, unsigned at) { visit(address(row, at), row, at); });
  } else {
    const unsigned accesses_inside = cols * static_cast<unsigned>(sizeof(T)) / Bytes;
    for_each_cell<Rows, row_accesses>(group, [&](unsigned row, unsigned at) {
      if (row < rows && at < accesses_inside) { visit(address(row, at), row, at); }
    });
  }
}

/// The same of elements' own accesses.
template <int Rows, int Cols, class Group, class T, class Visit>
TILETRANSPOSE_FUNCTION void for_each_element_access(Group group, matrix_view<T> matrix,
                                                    size_type row0, size_type col0, Visit visit) {
  for_each_access<Rows, Cols, element_accesses<T>::bytes>(group, matrix, row0, col0, visit);
}

/// The place of an element's access in a tile, given the row and column of the element.
template <class T, class Layout>
TILETRANSPOSE_FUNCTION unsigned char* shared_element_access(shared_tile<T, Layout> tile,
                                                            unsigned row, unsigned col,
                                                            unsigned part) {
  return tile.address(static_cast<int>(row), static_cast<int>(col)) +
         part * element_accesses<T>::bytes;
}

/// Sets the elements of a tile that lie outside of the matrix, and touches no other: no barrier is needed
/// between this and the loads.
template <class Group, class T, class Layout, class Element>
TILETRANSPOSE_FUNCTION void fill_outside(Group group, shared_tile<T, Layout> tile,
                                         matrix_view<Element> in, size_type row0, size_type col0,
                                         const T& fill) {
  const unsigned rows = part_inside(in.rows, row0, Layout::rows);
  const unsigned cols = part_inside(in.cols, col0, Layout::cols);
  if (rows == Layout::rows && cols == Layout::cols) { return; }
  for_each_cell<Layout::rows, Layout::cols>(group, [&](unsigned row, unsigned col) {
    if (row >= rows || col >= cols) {
      tile.set(static_cast<int>(row), static_cast<int>(col), fill);
    }
  });
}

}  // namespace detail

/// Fills a tile from a matrix.
///
///     tile(i, j) == in(row0 + i, col0 + j)    for every i, j inside both
///
/// Elements of the tile outside of the matrix keep what they held.
/// \param group   the threads that share the work; every one of them calls
/// \param tile    Layout::rows x Layout::cols elements of shared memory
/// \param in      matrix in global memory, of the tile's element type; data is aligned as T
/// \param row0,col0  the element of `in` that becomes tile(0, 0); may lie behind the matrix, but not in front of it
/// Barriers: group.sync() after this call and before the tile is read.
template <class Group, class T, class Layout, class Element>
TILETRANSPOSE_FUNCTION void load_tile(Group group, shared_tile<T, Layout> tile,
                                      matrix_view<Element> in, size_type row0, size_type col0,
                                      detail::access_site caller = detail::access_site::at()) {
  static_assert(detail::check_source<T, Element>(), "");
  const detail::call_scope here(caller);
  using accesses = detail::element_accesses<T>;
  detail::for_each_element_access<Layout::rows, Layout::cols>(
      group, in, row0, col0, [&](const void* global, unsigned row, unsigned at) {
        detail::store_shared(
            detail::shared_element_access(tile, row, at / accesses::parts, at % accesses::parts),
            detail::load_global<typename accesses::word>(global));
      });
}

/// Fills a tile from a matrix, and with a value where the matrix ends.
///
///     tile(i, j) == in(row0 + i, col0 + j)    for every i, j inside of the matrix
///     tile(i, j) == fill                      for every other i, j of the tile
///
/// \param fill  what a neutral element is to the work that follows: 0 for sums, the smallest value for maxima
/// Otherwise as the form above; tiles that lie wholly inside cost the same.
/// Barriers: group.sync() after this call and before the tile is read.
template <class Group, class T, class Layout, class Element>
TILETRANSPOSE_FUNCTION void load_tile(Group group, shared_tile<T, Layout> tile,
                                      matrix_view<Element> in, size_type row0, size_type col0,
                                      const typename shared_tile<T, Layout>::element& fill,
                                      detail::access_site caller = detail::access_site::at()) {
  const detail::call_scope here(caller);
  tt::load_tile(group, tile, in, row0, col0);
  detail::fill_outside(group, tile, in, row0, col0, fill);
}

/// Writes a tile to a matrix.
///
///     out(row0 + i, col0 + j) == tile(i, j)    for every i, j inside both
///
/// Barriers: group.sync() between the last write to the tile and this call, and after this call before
/// the tile is written again.
template <class Group, class T, class Layout>
TILETRANSPOSE_FUNCTION void store_tile(Group group, matrix_view<T> out, size_type row0,
                                       size_type col0, shared_tile<T, Layout> tile,
                                       detail::access_site caller = detail::access_site::at()) {
  const detail::call_scope here(caller);
  using accesses = detail::element_accesses<T>;
  detail::for_each_element_access<Layout::rows, Layout::cols>(
      group, out, row0, col0, [&](void* global, unsigned row, unsigned at) {
        const auto* shared =
            detail::shared_element_access(tile, row, at / accesses::parts, at % accesses::parts);
        detail::store_global(global, detail::load_shared<typename accesses::word>(shared));
      });
}

/// Writes the transpose of a tile to a matrix: columns of the tile become rows.
///
///     out(row0 + j, col0 + i) == tile(i, j)    for every i, j inside both
///
/// Conflict-free where `tt::is_conflict_free(Layout{})`.
/// Barriers: as `store_tile`.
template <class Group, class T, class Layout>
TILETRANSPOSE_FUNCTION void store_tile_transposed(
    Group group, matrix_view<T> out, size_type row0, size_type col0, shared_tile<T, Layout> tile,
    detail::access_site caller = detail::access_site::at()) {
  const detail::call_scope here(caller);
  using accesses = detail::element_accesses<T>;
  detail::for_each_element_access<Layout::cols, Layout::rows>(
      group, out, row0, col0, [&](void* global, unsigned row, unsigned at) {
        const auto* shared =
            detail::shared_element_access(tile, at / accesses::parts, row, at % accesses::parts);
        detail::store_global(global, detail::load_shared<typename accesses::word>(shared));
      });
}

// Matrices of other elements than the tile's.

template <class Group, class Element, class T, class Layout, class... Caller>
TILETRANSPOSE_FUNCTION void store_tile(Group, matrix_view<Element>, size_type, size_type,
                                       shared_tile<T, Layout>, Caller...) {
  static_assert(detail::check_target<T, Element>(), "");
}
template <class Group, class Element, class T, class Layout, class... Caller>
TILETRANSPOSE_FUNCTION void store_tile_transposed(Group, matrix_view<Element>, size_type, size_type,
                                                  shared_tile<T, Layout>, Caller...) {
  static_assert(detail::check_target<T, Element>(), "");
}

TILETRANSPOSE_NAMESPACE_END
