// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A block-wide transpose of one tile, in the manner of CUB's block primitives: a class that names the
/// shared storage it needs, which the kernel allocates.

#pragma once

#include <tiletranspose/banks.cuh>
#include <tiletranspose/tile_io.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The rules that the compiler checks for a tile written by hand, for the class and the launch: the first that is broken has
/// its sentence.
/// \returns whether all hold
template <class T, int TileDim, int BlockRows, int Padding, int BankWidth>
TILETRANSPOSE_HOST_DEVICE constexpr bool check_tile() {
  if constexpr (!is_element<T>()) {
    return check_element<T>() && false;
  } else {
    constexpr bool divides = TileDim > 0 && BlockRows > 0 && TileDim % BlockRows == 0;
    static_assert(divides,
                  "tt: BlockRows must divide TileDim; 32x32 tiles take 1, 2, 4, 8, 16 or 32");
    constexpr bool fits_block = divides && TileDim * BlockRows <= 1024;
    static_assert(fits_block || !divides,
                  "tt: TileDim * BlockRows threads must fit a block of 1024; take fewer BlockRows");
    constexpr bool has_banks = fits_block && (BankWidth == 4 || BankWidth == 8);
    static_assert(has_banks || !fits_block, "tt: BankWidth must be 4 or 8 bytes");
    constexpr bool pads = has_banks && Padding >= 0;
    static_assert(pads || !has_banks,
                  "tt: Padding must not be negative; 0 packs the rows of a tile");
    constexpr bool fits_shared =
        pads && TileDim * (TileDim + Padding) * sizeof(T) <= default_shared_bytes;
    static_assert(fits_shared || !pads,
                  "tt: the tile must fit 48 KB of shared memory; take a smaller TileDim");
    if constexpr (fits_shared) {
      constexpr int bytes = static_cast<int>(sizeof(T));
      constexpr bank_model model = banks_of_width(BankWidth);
      constexpr bool conflict_free = padded_ways(bytes, TileDim, TileDim, Padding, model, 1) == 1 ||
                                     Padding == padding_for(bytes, TileDim, TileDim, model);
      static_assert(conflict_free,
                    "tt: with this Padding the threads that read a column of the tile use the same "
                    "banks; take tt::default_padding<T, TileDim, TileDim, BankWidth>()");
      return conflict_free;
    }
    return false;
  }
}

}  // namespace detail

/// Transposes a TileDim x TileDim tile with a group of any size, from matrix to matrix:
///
///     // Launch: ((rows + 63) / 64, (columns + 63) / 64) blocks of 512 threads.
///     __global__ void kernel(tt::matrix_view<float> out, tt::matrix_view<const float> in) {
///       using block_transpose = tt::block_transpose<float, 64, 8>;
///       __shared__ typename block_transpose::storage storage;
///       const tt::static_block<block_transpose::threads> block;
///       const block_transpose transposer(storage);
///       const std::size_t row = blockIdx.x * std::size_t{64};
///       const std::size_t col = blockIdx.y * std::size_t{64};
///       transposer.load(block, in, row, col);
///       block.sync();
///       transposer.store(block, out, col, row);
///     }
///
/// or by way of the registers of TileDim * BlockRows threads, which then compute on either side:
///
///       float items[block_transpose::items_per_thread];
///       transposer.load(block, items, in, row, col);
///       // ... items of in ...
///       transposer.write(block, items);
///       block.sync();
///       transposer.read(block, items);
///       // ... items of out ...
///       transposer.store(block, out, col, row, items);
///
/// Blocks that start after each other should write neighbouring memory: above, blockIdx.x goes down the rows
/// of the input. Both kernels take 1.01 times the time of the tuned `tt::transpose` at 16384 x 16384 floats;
/// <float, 64, 4> takes 1.02, <float, 32, 8> 1.11, <float, 64, 16> 1.20 (H200, 2026-11-21).
///
/// `storage` is a plain struct of bytes and may share a union with other storage, such as CUB's TempStorage;
/// the caller then owes a barrier between the two uses.
///
/// \tparam TileDim    rows and columns of the tile
/// \tparam BlockRows  rows of threads: the block has TileDim * BlockRows threads
/// \tparam Padding    unused elements behind each row of the tile; the default comes from the bank model
/// \tparam BankWidth  bytes a bank serves per cycle: 4, or 8 as compute capability 3.x could
/// Whatever of a tile lies outside of the matrix is neither read nor written.
/// Shared memory: TileDim * (TileDim + Padding) * sizeof(T) bytes, rounded up to 16, at most 48 KB.
template <class T, int TileDim, int BlockRows, int Padding = default_padding<T, TileDim>(),
          int BankWidth = 4>
class block_transpose {
  static_assert((detail::check_tile<T, TileDim, BlockRows, Padding, BankWidth>(), true), "");

 public:
  using tile = shared_tile<T, padded_layout<T, TileDim, TileDim, Padding>>;
  using storage = typename tile::storage;
  static constexpr int threads = TileDim * BlockRows;
  static constexpr int items_per_thread = TileDim / BlockRows;

  TILETRANSPOSE_FUNCTION explicit block_transpose(storage& memory) : tile_(memory) {}

  /// tile(i, j) == in(row0 + i, col0 + j). The caller owes group.sync() before `store`.
  template <class Group, class Element>
  TILETRANSPOSE_FUNCTION void load(Group group, matrix_view<Element> in, size_type row0,
                                   size_type col0,
                                   detail::access_site caller = detail::access_site::at()) const {
    tt::load_tile(group, tile_, in, row0, col0, caller);
  }

  /// out(row0 + j, col0 + i) == tile(i, j). The caller owes group.sync() before the next `load`.
  template <class Group>
  TILETRANSPOSE_FUNCTION void store(Group group, matrix_view<T> out, size_type row0, size_type col0,
                                    detail::access_site caller = detail::access_site::at()) const {
    tt::store_tile_transposed(group, out, row0, col0, tile_, caller);
  }

  /// The tile's row of item k of a thread, in every function that takes items.
  TILETRANSPOSE_FUNCTION static unsigned item_row(unsigned rank, int k) {
    return rank / TileDim + static_cast<unsigned>(k) * BlockRows;
  }
  /// Its column; the same for all items of the thread.
  TILETRANSPOSE_FUNCTION static unsigned item_col(unsigned rank) { return rank % TileDim; }

  /// items[k] == in(row0 + item_row(t, k), col0 + item_col(t)) for the thread of rank t, coalesced. Items
  /// outside of the matrix keep what they held. Touches no shared memory and owes no barrier.
  template <class Group, class Element>
  TILETRANSPOSE_FUNCTION static void load(Group group, T (&items)[items_per_thread],
                                          matrix_view<Element> in, size_type row0, size_type col0,
                                          detail::access_site caller = detail::access_site::at()) {
    static_assert(detail::check_source<T, Element>(), "");
    const detail::call_scope here(caller);
    const auto* const first = in.data + row0 * in.stride + col0;
    for_each_item(group, in, row0, col0,
                  [&](int k, size_type at) { items[k] = detail::load_global<T>(first + at); });
  }

  /// tile(item_row(t, k), item_col(t)) == items[k]. The caller owes group.sync() before the tile is read.
  template <class Group>
  TILETRANSPOSE_FUNCTION void write(Group group, const T (&items)[items_per_thread],
                                    detail::access_site caller = detail::access_site::at()) const {
    const detail::call_scope here(caller);
    check_group(group);
    const unsigned rank = group.thread_rank();
    TILETRANSPOSE_UNROLL
    for (int k = 0; k < items_per_thread; ++k) {
      tile_.set(static_cast<int>(item_row(rank, k)), static_cast<int>(item_col(rank)), items[k]);
    }
  }

  /// items[k] == tile(item_col(t), item_row(t, k)): the transposed tile, in registers. The caller owes
  /// group.sync() before the tile is written again.
  template <class Group>
  TILETRANSPOSE_FUNCTION void read(Group group, T (&items)[items_per_thread],
                                   detail::access_site caller = detail::access_site::at()) const {
    const detail::call_scope here(caller);
    check_group(group);
    const unsigned rank = group.thread_rank();
    TILETRANSPOSE_UNROLL
    for (int k = 0; k < items_per_thread; ++k) {
      items[k] = tile_.get(static_cast<int>(item_col(rank)), static_cast<int>(item_row(rank, k)));
    }
  }

  /// out(row0 + item_row(t, k), col0 + item_col(t)) == items[k] inside of the matrix, coalesced. Touches no
  /// shared memory and owes no barrier.
  template <class Group>
  TILETRANSPOSE_FUNCTION static void store(Group group, matrix_view<T> out, size_type row0,
                                           size_type col0, const T (&items)[items_per_thread],
                                           detail::access_site caller = detail::access_site::at()) {
    const detail::call_scope here(caller);
    T* const first = out.data + row0 * out.stride + col0;
    for_each_item(group, out, row0, col0,
                  [&](int k, size_type at) { detail::store_global(first + at, items[k]); });
  }

 private:
  template <class Group>
  TILETRANSPOSE_FUNCTION static void check_group(Group group) {
    constexpr int known = detail::known_size<Group>::value;
    static_assert(known == 0 || known == threads,
                  "tt: items in registers need a group of TileDim * BlockRows threads");
    TILETRANSPOSE_TELL_MACHINE(check_size(group.size(), threads, detail::access_site::at()));
    (void)group;
  }

  /// Calls visit(k, elements from the tile's first) for the thread's items that exist in the matrix. Tiles
  /// that lie wholly inside take a loop without a question in it.
  template <class Group, class Element, class Visit>
  TILETRANSPOSE_FUNCTION static void for_each_item(Group group, matrix_view<Element> matrix,
                                                   size_type row0, size_type col0, Visit visit) {
    check_group(group);
    detail::check_start(matrix, row0, col0);
    const unsigned rank = group.thread_rank();
    const unsigned rows = detail::part_inside(matrix.rows, row0, TileDim);
    const unsigned cols = detail::part_inside(matrix.cols, col0, TileDim);
    const size_type first = item_row(rank, 0) * matrix.stride + item_col(rank);
    const size_type step = BlockRows * matrix.stride;
    if (rows == TileDim && cols == TileDim) {
      TILETRANSPOSE_UNROLL
      for (int k = 0; k < items_per_thread; ++k) { visit(k, first + k * step); }
    } else if (item_col(rank) < cols) {
      TILETRANSPOSE_UNROLL
      for (int k = 0; k < items_per_thread; ++k) {
        if (item_row(rank, k) < rows) { visit(k, first + k * step); }
      }
    }
  }

  tile tile_;
};

TILETRANSPOSE_NAMESPACE_END
