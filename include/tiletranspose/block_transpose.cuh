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

/// The rules that the compiler checks for a tile written by hand; one place for the class and the launch.
template <class T, int TileDim, int BlockRows, int Padding, int BankWidth>
TILETRANSPOSE_HOST_DEVICE constexpr bool check_tile() {
  static_assert(check_element<T>(), "");
  static_assert(TileDim > 0 && BlockRows > 0 && TileDim % BlockRows == 0,
                "tt: BlockRows must divide TileDim; 32x32 tiles take 1, 2, 4, 8, 16 or 32");
  static_assert(TileDim * BlockRows <= 1024,
                "tt: TileDim * BlockRows threads must fit a block of 1024; take fewer BlockRows");
  static_assert(BankWidth == 4 || BankWidth == 8, "tt: BankWidth must be 4 or 8 bytes");
  static_assert(Padding >= 0, "tt: Padding must not be negative; 0 packs the rows of a tile");
  static_assert(TileDim * (TileDim + Padding) * sizeof(T) <= 48 * 1024,
                "tt: the tile must fit 48 KB of shared memory; take a smaller TileDim");
  if constexpr (TileDim > 0 && Padding >= 0) {
    constexpr int bytes = static_cast<int>(sizeof(T));
    constexpr bank_model model = banks_of_width(BankWidth);
    constexpr bool conflict_free = padded_ways(bytes, TileDim, TileDim, Padding, model, 1) == 1;
    static_assert(
        conflict_free || Padding == padding_for(bytes, TileDim, TileDim, model),
        "tt: with this Padding the threads that read a column of the tile meet in the same "
        "banks; leave Padding out, or take tt::default_padding<T, TileDim>()");
  }
  return true;
}

}  // namespace detail

/// Transposes a TileDim x TileDim tile with a group of any size.
///
///     __global__ void kernel(tt::matrix_view<float> out, tt::matrix_view<const float> in) {
///       using block_transpose = tt::block_transpose<float, 32, 8>;
///       __shared__ typename block_transpose::storage storage;
///       const tt::static_block<block_transpose::threads> block;
///       block_transpose transposer(storage);
///       transposer.load(block, in, blockIdx.y * 32, blockIdx.x * 32);
///       block.sync();
///       transposer.store(block, out, blockIdx.x * 32, blockIdx.y * 32);
///     }
///
/// \tparam TileDim    rows and columns of the tile
/// \tparam BlockRows  rows of threads: the block has TileDim * BlockRows threads
/// \tparam Padding    unused elements behind each row of the tile; the default comes from the bank model
/// \tparam BankWidth  bytes a bank serves per cycle: 4, or 8 as compute capability 3.x could
/// Shared memory: TileDim * (TileDim + Padding) * sizeof(T) bytes, at most 48 KB.
template <class T, int TileDim, int BlockRows, int Padding = default_padding<T, TileDim>(),
          int BankWidth = 4>
class block_transpose {
  static_assert(detail::check_tile<T, TileDim, BlockRows, Padding, BankWidth>(), "");

 public:
  using tile = shared_tile<T, padded_layout<T, TileDim, TileDim, Padding>>;
  using storage = typename tile::storage;
  static constexpr int threads = TileDim * BlockRows;

  TILETRANSPOSE_FUNCTION explicit block_transpose(storage& memory) : tile_(memory) {}

  /// tile(i, j) == in(row0 + i, col0 + j). The caller owes group.sync() before `store`.
  template <class Group, class Element>
  TILETRANSPOSE_FUNCTION void load(Group group, matrix_view<Element> in, size_type row0,
                                   size_type col0) const {
    load_tile(group, tile_, in, row0, col0);
  }

  /// out(row0 + j, col0 + i) == tile(i, j). The caller owes group.sync() before the next `load`.
  template <class Group>
  TILETRANSPOSE_FUNCTION void store(Group group, matrix_view<T> out, size_type row0,
                                    size_type col0) const {
    store_tile_transposed(group, out, row0, col0, tile_);
  }

 private:
  tile tile_;
};

TILETRANSPOSE_NAMESPACE_END
