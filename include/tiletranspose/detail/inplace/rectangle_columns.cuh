// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Step 3 of a rectangle in place, rectangle_grid.cuh: columns are permuted in bands that shared or scratch memory
/// holds.

#pragma once

#include <tiletranspose/detail/core/grid_barrier.cuh>
#include <tiletranspose/detail/inplace/column_tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Step 3 for the tiles of a block, or undone.
/// Shared memory: tile_rows * tile_pitch bytes, aligned to 16. Barriers: three a tile, inside.
/// Precondition: where `arrived` is not null all blocks run at once, and are no fewer than tiles of a band.
template <bool Undo, int Access, bool Segments = false, class Group>
TILETRANSPOSE_FUNCTION void move_columns(Group group, unsigned char* shared,
                                         const column_arguments& arguments, unsigned block) {
  const rectangle& grid = arguments.grid;
  const divider& square_accesses = arguments.square_accesses;
  const unsigned line = group.thread_rank() / arguments.band_accesses;
  const unsigned in_band = group.thread_rank() - line * arguments.band_accesses;
  for (unsigned at = block; at < arguments.tiles; at += arguments.blocks) {
    const unsigned band = arguments.band_tiles.quotient(at);
    const unsigned first = arguments.band_tiles.remainder(at, band) * arguments.tile_rows;
    const unsigned in_launch = band * arguments.band_accesses + in_band;
    const unsigned access = arguments.first_access + in_launch;
    const column_tile<Undo, Access, Segments> tile{arguments,
                                                   shared + in_band * Access,
                                                   arguments.source + size_type{in_launch} * Access,
                                                   arguments.data + size_type{access} * Access,
                                                   first,
                                                   smaller(grid.rows - first, arguments.tile_rows),
                                                   square_accesses.quotient(access),
                                                   square_accesses.quotient(access - in_band),
                                                   line};
    const bool mine = line < smaller(arguments.lines, tile.rows) && in_launch < arguments.accesses;
    if (at != block) { group.sync(); }  // the tile before has been written
    if (mine) { tile.read(); }
    grid_barrier(group, arguments.arrived == nullptr ? nullptr : arguments.arrived + band, 0, 0, 0,
                 arguments.band_tiles.divisor);
    if (mine) { tile.write(); }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
