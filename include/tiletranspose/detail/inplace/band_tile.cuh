// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A tile of a band of columns of narrow accesses, and how its rows are written, 16 threads each.

#pragma once

#include <tiletranspose/detail/core/packed_elements.cuh>
#include <tiletranspose/detail/inplace/column_arguments.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A tile of a band of 1- or 2-byte accesses, as one of its threads sees it.
struct band_tile {
  const column_arguments& arguments;
  unsigned char* shared;
  const unsigned char* source;  ///< the band's first access in row 0
  unsigned char* target;
  unsigned first;  ///< row of the tile
  unsigned rows;
  int accesses;   ///< of the band
  unsigned left;  ///< squares to the left of the band's first access
  unsigned rank;
  unsigned teams;  ///< of 16 threads
};

/// Writes the rows of a tile of a band, 16 threads each: whole accesses where the target has them, accesses at the
/// ends. place_in(u) tells where accesses of row u lie in shared memory, in a segment that ends before access `boundary`
/// and one that begins there.
template <bool Undo, int Access, int Unroll, class PlaceIn>
TILETRANSPOSE_FUNCTION void write_rows(const band_tile& tile, int boundary, PlaceIn place_in) {
  using narrow = access_word_t<Access>;
  constexpr int wide_accesses = 16 / Access;
  const rectangle& grid = tile.arguments.grid;
  const int lane = static_cast<int>(tile.rank % 16);
  const column_walk::step step(grid, smaller(tile.teams, grid.rows));
  column_walk walk(grid, smaller(tile.first + tile.rank / 16, grid.rows - 1), tile.left);
  TILETRANSPOSE_UNROLL_BY(Unroll)
  for (unsigned u = tile.rank / 16; u < tile.rows; u += tile.teams) {
    const loop_step here(u);
    const unsigned row = Undo ? tile.first + u : walk.row(grid);
    if (!Undo) { walk.advance(grid, step); }
    unsigned char* const to = tile.target + row * tile.arguments.data_pitch;
    const auto place = place_in(u);
    const int head = static_cast<int>((0u - address_bits(to)) % 16 / Access);
    const int c = head + lane * wide_accesses;
    if (c + wide_accesses <= tile.accesses) {
      if (c >= boundary || c + wide_accesses <= boundary) {
        store_global(to + c * Access, read_shared<16, Access>(tile.shared, place(c), 0, tile.rank));
      } else {
        TILETRANSPOSE_UNROLL_BY(1)
        for (int e = c; e < c + wide_accesses; ++e) {
          const loop_step inner(e);
          store_global(to + e * Access, load_shared<narrow>(tile.shared + place(e)));
        }
      }
    }
    const int front = smaller(head, tile.accesses);
    const int tail = (tile.accesses - front) % wide_accesses;
    TILETRANSPOSE_UNROLL_BY(1)
    for (int e = lane; e < front + tail; e += 16) {
      const loop_step inner(e / 16);
      const int edge = e < front ? e : tile.accesses - front - tail + e;
      store_global(to + edge * Access, load_shared<narrow>(tile.shared + place(edge)));
    }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
