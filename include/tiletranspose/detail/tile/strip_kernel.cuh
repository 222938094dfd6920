// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernel behind `tt::transpose<T, TileDim, BlockRows, Padding, BankWidth>`: the tile, the block and
/// the padding that the caller wrote, composed from the public parts of tile_io.cuh.

#pragma once

#include <tiletranspose/detail/core/element_tile.cuh>
#include <tiletranspose/detail/tile/tile_kernel.cuh>
#include <tiletranspose/tile_io.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Tiles that one block moves, one below the other: up to 8 loads of 4 bytes in flight per thread, as far
/// as 18 KB of shared memory hold them. Two tiles of <float, 32, 8> are a tenth faster than one.
template <int ElementBytes, int TileDim, int BlockRows, int Padding>
constexpr int tiles_per_block() {
  constexpr int tile_bytes = TileDim * (TileDim + Padding) * ElementBytes;
  constexpr int thread_bytes = TileDim / BlockRows * ElementBytes;
  constexpr int wanted = larger(32 / thread_bytes, 1);
  constexpr int held = larger(18 * 1024 / tile_bytes, 1);
  return smaller(wanted, held);
}

/// Strips side by side that blocks walk down together: tiles are narrow, so their reads are joined with a
/// neighbour's (one: 94 and 91 % at the sizes above).
inline constexpr int joined_strips = 2;

/// The strip as one tall tile: TileDim columns with the caller's padding, so that it conflicts no more than
/// one tile does, and rows of the output that are Tiles times as long.
template <class T, int TileDim, int Padding, int Tiles>
using strip_tile = shared_tile<T, padded_layout<T, TileDim * Tiles, TileDim, Padding>>;

/// The kernel's body: one block transposes one strip.
/// Shared memory: the storage of `Tile`. Barriers: one, inside.
template <class T, class Tile, class Group>
TILETRANSPOSE_FUNCTION void move_strip(Group group, typename Tile::storage& storage,
                                       const tile_arguments& arguments, unsigned block) {
  const tile_order::place at = arguments.order(block);
  const tile_problem& problem = arguments.problem;
  const matrix_view<const T> in{reinterpret_cast<const T*>(problem.in_matrix(at.batch)), problem.ny,
                                problem.nx, problem.in_stride_bytes / sizeof(T)};
  const matrix_view<T> out{reinterpret_cast<T*>(problem.out_matrix(at.batch)), problem.nx,
                           problem.ny, problem.out_stride_bytes / sizeof(T)};
  const size_type row = at.row_tile * Tile::rows;
  const size_type col = at.col_tile * Tile::cols;
  const Tile tile(storage);
  load_tile(group, tile, in, row, col);
  group.sync();
  store_tile_transposed(group, out, col, row, tile);
}

/// The kernel's body for structures, which are several accesses each: one block transposes one tile, element by element.
/// Shared memory: the storage of `Tile`. Barriers: one, inside.
template <class Tile, int BlockRows, class Operation, class Group>
TILETRANSPOSE_FUNCTION void move_structures(Group group, typename Tile::storage& storage,
                                            const tile_arguments& arguments, unsigned block) {
  const tile_order::place at = arguments.order(block);
  const tile_problem& problem = arguments.problem;
  constexpr size_type side = Tile::cols;
  constexpr auto element = static_cast<long long>(sizeof(typename Tile::element));
  const size_type row = at.row_tile * side;
  const size_type col = at.col_tile * side;
  const element_steps<long long> in_steps{element, static_cast<long long>(problem.in_stride_bytes)};
  const element_steps<long long> out_steps{element,
                                           static_cast<long long>(problem.out_stride_bytes)};
  transpose_elements<BlockRows>(
      group, Tile(storage), static_cast<unsigned>(smaller(problem.ny - row, side)),
      static_cast<unsigned>(smaller(problem.nx - col, side)), 0, 0, Operation{},
      problem.in_matrix(at.batch) + row * problem.in_stride_bytes + col * element, in_steps,
      problem.out_matrix(at.batch) + col * problem.out_stride_bytes + row * element, out_steps);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
