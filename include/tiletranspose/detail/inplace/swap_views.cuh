// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Small squares in place, moved by the public parts: their time is that of a load and a store.

#pragma once

#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/detail/inplace/swap_pairs.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// True for small squares of elements that one access moves, whose time is that of a load and a store.
template <int ElementBytes, int Access>
inline constexpr bool swaps_views = ElementBytes == Access&& ElementBytes <= 8;

/// Their tile, from the public parts.
template <int ElementBytes>
struct swap_tile {
  using element_type = element<ElementBytes, ElementBytes>;
  static constexpr int side = ElementBytes <= 4 ? 64 : 32;
  static constexpr int threads = ElementBytes <= 4 ? 512 : 256;  ///< half of them a tile
  using type =
      shared_tile<element_type,
                  padded_layout<element_type, side, side, default_padding<element_type, side>()>>;
};

/// The kernel's body where addresses are what T asks for.
/// Group: of known size, each half of it moves a tile. Shared memory: the storage of two `Tile`s. Barriers: one,
/// inside.
template <class T, class Tile, class Group>
TILETRANSPOSE_FUNCTION void swap_views(Group group, typename Tile::storage (&storage)[2],
                                       const swap_arguments& arguments, unsigned block) {
  constexpr size_type side = Tile::rows;
  using half = half_block<known_size<Group>::value / 2>;
  const square_problem& square = arguments.square;
  const pair_order::place at = arguments.order(block);
  if (at.row > at.col || at.col * side >= square.side) { return; }
  const half_tile own(at, half::number(), side);
  const matrix_view<T> matrix{reinterpret_cast<T*>(square.data), square.side, square.side,
                              square.stride_bytes / sizeof(T)};
  const Tile tile(storage[half::number()]);
  if (own.exists) { load_tile(half{}, tile, matrix, own.row, own.col); }
  group.sync();
  if (own.exists) { store_tile_transposed(half{}, matrix, own.col, own.row, tile); }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
