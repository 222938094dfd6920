// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Tiles moved by the bulk copy engine (compute capability 9.0 and newer): one thread starts the copy of a
/// whole row of the tile, and no thread computes the addresses of its elements. Elsewhere, and where rows are
/// not aligned to 16 bytes, the same calls do it with the threads.
///
/// Stores are here; loads need barriers to count them, which `tile_pipeline.cuh` keeps.
///
///     tile.set(...);
///     tt::bulk_fence();                                    // what this thread wrote, for the engine
///     block.sync();                                        // owed: what the others wrote
///     tt::store_tile_bulk(block, out, row, col, tile);
///     ...                                                  // work that does not write to the tile
///     tt::bulk_wait();                                     // the engine has read what this thread started
///     block.sync();                                        // owed: what the others started
///
/// Rows, not boxes: a copy of a box (`cp.async.bulk.tensor`) needs a descriptor that the host makes for each
/// matrix, takes elements of 1, 2, 4 or 8 bytes, fills with zeros or NaNs only and swizzles by 16-byte vectors
/// only. A copy of a row needs an address.
///
/// Opt-in, because it includes cuda::ptx, which takes nvcc a second.

#pragma once

#include <tiletranspose/detail/bulk_copy.cuh>
#include <tiletranspose/tile_io_async.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// True where a tile's rows are spans that the bulk engine can copy.
template <class Layout>
struct has_bulk_rows {
  static constexpr bool value = false;
};
template <class T, int Rows, int Cols, int Padding>
struct has_bulk_rows<padded_layout<T, Rows, Cols, Padding>> {
  static constexpr bool value =
      Cols * sizeof(T) % bulk_unit == 0 && (Cols + Padding) * sizeof(T) % bulk_unit == 0;
};

/// Who starts copies: the first warp, so that few threads arrive at a barrier.
inline constexpr unsigned most_bulk_threads = 32;

TILETRANSPOSE_FUNCTION unsigned bulk_threads(unsigned group_size) {
  return smaller(group_size, most_bulk_threads);
}

/// Calls visit(row in global memory, row in the tile, bytes) for the spans of 16-byte multiples at the starts
/// of the tile's rows; each of the first threads takes rows of its own.
/// Precondition: the rows are aligned to 16 bytes in global memory.
template <class Group, class T, class Layout, class Element, class Visit>
TILETRANSPOSE_FUNCTION void for_each_row_span(Group group, shared_tile<T, Layout> tile,
                                              matrix_view<Element> matrix, size_type row0,
                                              size_type col0, Visit visit) {
  const unsigned threads = bulk_threads(group.size());
  const unsigned rows = part_inside(matrix.rows, row0, Layout::rows);
  const unsigned cols = part_inside(matrix.cols, col0, Layout::cols);
  const unsigned bytes = cols * static_cast<unsigned>(sizeof(T)) / bulk_unit * bulk_unit;
  if (bytes == 0 || group.thread_rank() >= threads) { return; }
  for (unsigned row = group.thread_rank(); row < rows; row += threads) {
    visit(as_bytes(matrix.data + (row0 + row) * matrix.stride + col0),
          tile.address(static_cast<int>(row), 0), bytes);
  }
}

/// Starts to fill a tile: by the engine as far as it can, the rest by load_tile_async.
/// \return the bytes that this thread must expect at the barrier
template <class Group, class T, class Layout, class Element>
TILETRANSPOSE_FUNCTION unsigned load_tile_bulk(Group group, shared_tile<T, Layout> tile,
                                               matrix_view<Element> in, size_type row0,
                                               size_type col0, bulk_barrier* barrier) {
  unsigned expected = 0;
  if constexpr (has_bulk_copies && has_bulk_rows<Layout>::value) {
    if (rows_aligned<bulk_unit>(in, row0, col0)) {
      for_each_row_span(group, tile, in, row0, col0,
                        [&](const void* global, void* shared, unsigned bytes) {
                          bulk_load(shared, global, bytes, barrier);
                          expected += bytes;
                        });
      for_each_unit_left<bulk_unit>(group, tile, in, row0, col0,
                                    [](const void* global, void* shared) {
                                      copy_async<element_units<T>::bytes>(shared, global);
                                    });
      return expected;
    }
  }
  load_tile_async(group, tile, in, row0, col0);
  return expected;
}

}  // namespace detail

/// Starts to write a tile to a matrix.
///
///     out(row0 + i, col0 + j) == tile(i, j)    for every i, j inside both, once the kernel has ended
///
/// By the bulk engine if the architecture has it, the tile is a `padded_layout` whose rows and pitch are
/// multiples of 16 bytes, and rows of `out` start at multiples of 16 bytes; else as `store_tile`.
/// Barriers: each thread that wrote to the tile bulk_fence(), then group.sync(), before this call; each thread
/// bulk_wait(), then group.sync(), before the tile is written again; each thread bulk_wait() before it ends.
template <class Group, class T, class Layout>
TILETRANSPOSE_FUNCTION void store_tile_bulk(Group group, matrix_view<T> out, size_type row0,
                                            size_type col0, shared_tile<T, Layout> tile) {
  using namespace detail;
  if constexpr (has_bulk_copies && has_bulk_rows<Layout>::value) {
    if (rows_aligned<bulk_unit>(out, row0, col0)) {
      for_each_row_span(group, tile, out, row0, col0,
                        [&](void* global, const void* shared, unsigned bytes) {
                          bulk_store(global, shared, bytes);
                        });
      commit_bulk_stores();
      for_each_unit_left<bulk_unit>(
          group, tile, out, row0, col0, [](void* global, const void* shared) {
            store_global(global, load_shared<typename element_units<T>::word>(shared));
          });
      return;
    }
  }
  store_tile(group, out, row0, col0, tile);
}

/// Makes what this thread stored to shared memory visible to the bulk engine, once the group has synchronised.
TILETRANSPOSE_FUNCTION void bulk_fence() { detail::fence_for_bulk(); }

/// Waits until the bulk engine has read what this thread's store_tile_bulk handed to it.
TILETRANSPOSE_FUNCTION void bulk_wait() { detail::wait_for_bulk_reads(); }

TILETRANSPOSE_NAMESPACE_END
