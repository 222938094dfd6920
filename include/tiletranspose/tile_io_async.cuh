// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Tiles that travel from global to shared memory in the background, by `cp.async`: no register holds what
/// is under way, and the thread goes on. On architectures before 8.0 the same calls load at once.
///
///     tt::load_tile_async(block, tile, in, row, col, 0.0f);
///     tt::async_commit();
///     ...                         // work that does not need the tile
///     tt::async_wait<0>();        // what this thread copied has arrived
///     block.sync();               // owed: what the others copied
///
/// `tile_pipeline.cuh` keeps several tiles under way. Opt-in, because it includes CUDA's pipeline primitives, for
/// which NVRTC must be given CUDA's include folder.

#pragma once

#include <tiletranspose/detail/core/async_copy.cuh>
#include <tiletranspose/tile_io.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The widest access (16 down to 1 bytes) by which rows of a tile can be written: every multiple of that
/// many bytes of a row lies together, at a multiple of as many bytes. An unknown layout promises no more than
/// its elements.
template <class Layout>
struct row_access {
  using accesses = element_accesses<typename Layout::element>;
  static constexpr int bytes = accesses::bytes;
};
template <class T, int Rows, int Cols, int Padding>
struct row_access<padded_layout<T, Rows, Cols, Padding>> {
  static constexpr int bytes = access_width(Cols * sizeof(T), (Cols + Padding) * sizeof(T));
};
template <class T, int Rows, int Cols, int VectorBytes>
struct row_access<swizzled_layout<T, Rows, Cols, VectorBytes>> {
  static constexpr int bytes = access_width(VectorBytes);
};

/// Where access `at` of `Bytes` bytes of a row of the tile lies.
template <int Bytes, class T, class Layout>
TILETRANSPOSE_FUNCTION unsigned char* shared_access(shared_tile<T, Layout> tile, unsigned row,
                                                    unsigned at) {
  constexpr unsigned element_bytes = sizeof(T);
  const unsigned byte = at * Bytes;
  return tile.address(static_cast<int>(row), static_cast<int>(byte / element_bytes)) +
         byte % element_bytes;
}

/// True where every row of the tile starts at a multiple of `Bytes` bytes of global memory.
template <int Bytes, class T>
TILETRANSPOSE_FUNCTION bool rows_aligned(matrix_view<T> matrix, size_type row0, size_type col0) {
  const unsigned start = detail::address_bits(matrix.data + row0 * matrix.stride + col0);
  const unsigned stride = static_cast<unsigned>(matrix.stride * sizeof(T));
  return (start | stride) % Bytes == 0;
}

/// Calls visit(address in global memory, address in the tile) for what accesses of `Bytes` bytes leave over: the last
/// elements' accesses of the rows, where the matrix ends inside of a wide one.
template <int Bytes, class Group, class T, class Layout, class Element, class Visit>
TILETRANSPOSE_FUNCTION void for_each_access_left(Group group, shared_tile<T, Layout> tile,
                                                 matrix_view<Element> matrix, size_type row0,
                                                 size_type col0, Visit visit) {
  using accesses = element_accesses<T>;
  constexpr unsigned wide_accesses = Bytes / accesses::bytes;
  if constexpr (wide_accesses > 1) {
    const unsigned cols = part_inside(matrix.cols, col0, Layout::cols);
    if (cols == Layout::cols) { return; }
    const unsigned rows = part_inside(matrix.rows, row0, Layout::rows);
    const unsigned end = cols * accesses::parts;
    const unsigned first = end / wide_accesses * wide_accesses;
    auto* const origin = detail::as_bytes(matrix.data + row0 * matrix.stride + col0);
    const size_type stride_bytes = matrix.stride * sizeof(T);
    for_each_cell<Layout::rows, static_cast<int>(wide_accesses) - 1>(
        group, [&](unsigned row, unsigned left) {
          const unsigned at = first + left;
          if (row < rows && at < end) {
            visit(origin + at * accesses::bytes + row * stride_bytes,
                  shared_element_access(tile, row, at / accesses::parts, at % accesses::parts));
          }
        });
  }
}

/// Copies the tile by accesses of `Bytes` bytes, which its rows are aligned for.
template <int Bytes, class Group, class T, class Layout, class Element>
TILETRANSPOSE_FUNCTION void copy_tile_async(Group group, shared_tile<T, Layout> tile,
                                            matrix_view<Element> in, size_type row0,
                                            size_type col0) {
  for_each_access<Layout::rows, Layout::cols, Bytes>(
      group, in, row0, col0, [&](const void* global, unsigned row, unsigned at) {
        copy_async<Bytes>(shared_access<Bytes>(tile, row, at), global);
      });
  for_each_access_left<Bytes>(group, tile, in, row0, col0, [](const void* global, void* shared) {
    copy_async<element_accesses<T>::bytes>(shared, global);
  });
}

}  // namespace detail

/// Starts to fill a tile from a matrix.
///
///     tile(i, j) == in(row0 + i, col0 + j)    for every i, j inside both, once the copies have arrived
///
/// Copies 16 bytes at a time, or as many as the tile's layout keeps together (a padded row whose pitch is a
/// multiple of 16 bytes, a swizzled one with VectorBytes of 16), if the rows of the matrix start at multiples
/// of as many; else by the widest access that divides T and its alignment. Of 1 and 2 bytes, which `cp.async`
/// cannot copy, the tile is loaded at once.
/// Elements of the tile outside of the matrix keep what they held.
/// \param group   the threads that share the work; every one of them calls
/// \param tile    Layout::rows x Layout::cols elements of shared memory
/// \param in      matrix in global memory, of the tile's element type; data is aligned as T
/// \param row0,col0  the element of `in` that becomes tile(0, 0)
/// Barriers: each thread async_commit() and async_wait<0>(), then group.sync(), before the tile is read.
template <class Group, class T, class Layout, class Element>
TILETRANSPOSE_FUNCTION void load_tile_async(
    Group group, shared_tile<T, Layout> tile, matrix_view<Element> in, size_type row0,
    size_type col0, detail::access_site caller = detail::access_site::at()) {
  static_assert(detail::check_source<T, Element>(), "");
  const detail::call_scope here(caller);
  [[maybe_unused]] constexpr int narrow = detail::element_accesses<T>::bytes;
  [[maybe_unused]] constexpr int wide = detail::row_access<Layout>::bytes;
  if constexpr (!detail::copies_async) {
    tt::load_tile(group, tile, in, row0, col0);
  } else if constexpr (wide > narrow && wide >= 4) {
    if (detail::rows_aligned<wide>(in, row0, col0)) {
      detail::copy_tile_async<wide>(group, tile, in, row0, col0);
    } else {
      detail::copy_tile_async<narrow>(group, tile, in, row0, col0);
    }
  } else {
    detail::copy_tile_async<narrow>(group, tile, in, row0, col0);
  }
}

/// Starts to fill a tile from a matrix, and fills it with a value where the matrix ends.
///
///     tile(i, j) == fill    for every i, j of the tile outside of the matrix
///
/// The value is stored, not copied: a copy that fills with zeros takes as long as a store and knows no other value.
/// Otherwise as the form above.
template <class Group, class T, class Layout, class Element>
TILETRANSPOSE_FUNCTION void load_tile_async(
    Group group, shared_tile<T, Layout> tile, matrix_view<Element> in, size_type row0,
    size_type col0, const typename shared_tile<T, Layout>::element& fill,
    detail::access_site caller = detail::access_site::at()) {
  const detail::call_scope here(caller);
  tt::load_tile_async(group, tile, in, row0, col0);
  detail::fill_outside(group, tile, in, row0, col0, fill);
}

/// Closes the group of copies that this thread started since its last call. A group may be empty.
TILETRANSPOSE_FUNCTION void async_commit() { detail::commit_copies(); }

/// Waits until all groups of copies of this thread but the `Pending` youngest have arrived.
/// Barriers: group.sync() after it, before a thread reads what others copied.
template <int Pending>
TILETRANSPOSE_FUNCTION void async_wait() {
  static_assert(Pending >= 0 && Pending <= 8,
                "tt: async_wait can leave 0 to 8 groups of copies under way");
  detail::wait_for_copies(Pending);
}

TILETRANSPOSE_NAMESPACE_END
