// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Tiles moved by the bulk tensor engine (compute capability 9.0 and newer): one thread starts the copy of the
/// whole tile, and no thread computes the addresses of its elements. Elsewhere, and where the matrix or the tile
/// does not suit the engine, the same calls do it with the threads.
///
/// Stores are here; loads need barriers to count them, which `tile_pipeline.cuh` keeps.
///
///     tile.set(i, j, value);
///     tt::bulk_fence();                                    // what this thread wrote, for the engine
///     block.sync();                                        // owed: what the others wrote
///     tt::store_tile_bulk(block, out, row, col, tile);     // out: a tt::bulk_view
///     ...                                                  // work that does not write to the tile
///     tt::bulk_wait();                                     // the engine has read what this thread started
///     block.sync();                                        // owed: what the others started
///
/// Boxes, although they need a descriptor that the host makes, and not single rows, which need only an address
/// (`cp.async.bulk`): rows were slower than `cp.async` for nearly every tile (H200, 2026-11-21, copies in tiles of
/// 16 KB, 4 stages, in % of cudaMemcpy: rows of 256 bytes 79 to 90, of 1 KB 91 to 92, of 4 KB 90 to 92), and a
/// matrix product with rows of 64 bytes took three times as long.
///
/// Opt-in, because it includes the driver's header, whose library is not needed.

#pragma once

#include <tiletranspose/bulk_view.cuh>
#include <tiletranspose/detail/core/async_copy.cuh>
#include <tiletranspose/tile_io_async.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <class Element>
TILETRANSPOSE_FUNCTION matrix_view<Element> matrix_of(matrix_view<Element> matrix) {
  return matrix;
}
template <class Tile, class Element>
TILETRANSPOSE_FUNCTION matrix_view<Element> matrix_of(const bulk_view<Tile, Element>& view) {
  return view.matrix;
}

/// Whether the engine can move this tile. Only a box that lies wholly inside of the matrix: where rows end inside of
/// a box, loads would write zeros to the tile and stores would write up to 15 bytes behind the row (seen on an H200).
/// And only one that starts at a multiple of 16 bytes: others are an illegal instruction.
template <class T, class Layout, class Element>
TILETRANSPOSE_FUNCTION bool is_box(shared_tile<T, Layout> tile,
                                   const bulk_view<shared_tile<T, Layout>, Element>& view,
                                   size_type row0, size_type col0) {
  return view.described && part_inside(view.matrix.rows, row0, Layout::rows) == Layout::rows &&
         part_inside(view.matrix.cols, col0, Layout::cols) == Layout::cols &&
         col0 * sizeof(T) % 16 == 0 && address_bits(tile.address(0, 0)) % box_alignment == 0;
}

/// The box that a tile is.
template <class T, class Layout, class Element>
TILETRANSPOSE_FUNCTION matrix_box box_of(shared_tile<T, Layout> tile, matrix_view<Element> matrix,
                                         size_type row0, size_type col0) {
  auto* const first = const_cast<T*>(matrix.data + row0 * matrix.stride + col0);
  return {tile.address(0, 0), detail::as_bytes(first), matrix.stride * sizeof(T), Layout::rows,
          Layout::cols * sizeof(T)};
}

/// Starts to fill a tile: as a box if it can be, else by load_tile_async.
/// \return the bytes that this thread must expect at the barrier
template <class Group, class T, class Layout, class Element>
TILETRANSPOSE_FUNCTION unsigned load_tile_box(Group group, shared_tile<T, Layout> tile,
                                              const bulk_view<shared_tile<T, Layout>, Element>& in,
                                              size_type row0, size_type col0,
                                              bulk_barrier* barrier) {
  if constexpr (has_bulk_copies && has_box<Layout>::value) {
    if (is_box(tile, in, row0, col0)) {
      if (group.thread_rank() != 0) { return 0; }
      bulk_load_box(box_of(tile, in.matrix, row0, col0), in.descriptor,
                    static_cast<int>(col0 * (sizeof(T) / box_word_bytes<T>)),
                    static_cast<int>(row0), barrier);
      return Layout::rows * Layout::cols * sizeof(T);
    }
  }
  tt::load_tile_async(group, tile, in.matrix, row0, col0);
  return 0;
}

}  // namespace detail

/// Starts to write a tile to a matrix.
///
///     out(row0 + i, col0 + j) == tile(i, j)    for every i, j inside both, once the kernel has ended
///
/// By the bulk engine if the architecture has it, out.described, the tile lies wholly inside of the matrix and
/// starts at a multiple of 128 bytes of shared memory, and col0 * sizeof(T) is a multiple of 16; else as `store_tile`.
/// Barriers: each thread that wrote to the tile bulk_fence(), then group.sync(), before this call; each thread
/// bulk_wait(), then group.sync(), before the tile is written again; each thread bulk_wait() before it ends.
template <class Group, class T, class Layout, class Tile, class Element>
TILETRANSPOSE_FUNCTION void store_tile_bulk(
    Group group, const bulk_view<Tile, Element>& out, size_type row0, size_type col0,
    shared_tile<T, Layout> tile, detail::access_site caller = detail::access_site::at()) {
  static_assert(detail::same_type<Tile, shared_tile<T, Layout>>,
                "tt: a bulk_view moves tiles of the type that it names");
  static_assert(detail::same_type<Element, T>,
                "tt: store_tile_bulk needs a view of elements without const: bulk_view<Tile, T>");
  const detail::call_scope here(caller);
  using namespace detail;
  if constexpr (has_bulk_copies && has_box<Layout>::value) {
    if (is_box(tile, out, row0, col0)) {
      if (group.thread_rank() == 0) {
        bulk_store_box(box_of(tile, out.matrix, row0, col0), out.descriptor,
                       static_cast<int>(col0 * (sizeof(T) / box_word_bytes<T>)),
                       static_cast<int>(row0));
      }
      return;
    }
  }
  tt::store_tile(group, out.matrix, row0, col0, tile);
}

/// Makes what this thread stored to shared memory visible to the bulk engine, once the group has synchronised.
TILETRANSPOSE_FUNCTION void bulk_fence() { detail::fence_for_bulk(); }

/// Waits until the bulk engine has read what this thread's store_tile_bulk handed to it.
TILETRANSPOSE_FUNCTION void bulk_wait() { detail::wait_for_bulk_reads(); }

TILETRANSPOSE_NAMESPACE_END
