// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Step 3 of a rectangle in place, rectangle_grid.cuh: columns are permuted in bands that shared or scratch memory
/// holds, together with the squares of step 2 where those are no wider than a band.

#pragma once

#include <tiletranspose/detail/core/grid_barrier.cuh>
#include <tiletranspose/detail/inplace/column_tile.cuh>
#include <tiletranspose/detail/inplace/shifted_tile.cuh>
#include <tiletranspose/detail/inplace/slanted_tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Steps 2 and 3 for the tiles of a block, or undone.
/// Shared memory: tile_rows * tile_pitch bytes and, where accesses have less than 4 bytes, slanted_spare_bytes; aligned
/// to 16. Barriers: three a tile, inside.
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
    if constexpr (Access < 4) {
      const unsigned start = band * arguments.band_accesses;
      const unsigned start_access = arguments.first_access + start;
      const unsigned squares = square_accesses.quotient(start_access);
      const unsigned in_square = square_accesses.remainder(start_access, squares);
      const unsigned rows = smaller(grid.rows - first, arguments.tile_rows);
      const auto accesses =
          static_cast<int>(smaller(arguments.accesses - start, arguments.band_accesses));
      const unsigned char* const source = arguments.source + size_type{start} * Access;
      unsigned char* const target = arguments.data + size_type{start_access} * Access;
      const auto move = [&](const auto& tile) {
        if (at != block) { group.sync(); }  // the tile before has been written
        tile.read();
        grid_barrier(group, arguments.arrived == nullptr ? nullptr : arguments.arrived + band,
                     arguments.band_tiles.divisor);
        tile.write();
      };
      if (arguments.shifts) {
        const int boundary =
            static_cast<int>(smaller(square_accesses.divisor - in_square, unsigned(accesses)));
        move(shifted_tile<Undo, Access>{{arguments, shared, source, target, first, rows, accesses,
                                         squares, group.thread_rank(), group.size() / 16},
                                        boundary});
        continue;
      }
      if (!arguments.squares || arguments.element_accesses.divisor == 1) {
        move(slanted_tile<Undo, Access>{
            {arguments, shared + 15 * slanted_pitch + max_access_bytes, source, target, first, rows,
             accesses, squares, group.thread_rank(), group.size() / 16},
            in_square});
        continue;
      }
    }
    const unsigned in_launch = band * arguments.band_accesses + in_band;
    const unsigned access = arguments.first_access + in_launch;
    const unsigned left = square_accesses.quotient(access);
    const column_tile<Undo, Access, Segments> tile{arguments,
                                                   shared + in_band * Access,
                                                   arguments.source + size_type{in_launch} * Access,
                                                   arguments.data + size_type{access} * Access,
                                                   first,
                                                   smaller(grid.rows - first, arguments.tile_rows),
                                                   left,
                                                   square_accesses.quotient(access - in_band),
                                                   square_accesses.remainder(access, left),
                                                   line};
    const bool mine = line < smaller(arguments.lines, tile.rows) && in_launch < arguments.accesses;
    if (at != block) { group.sync(); }  // the tile before has been written
    if (mine) { tile.read(); }
    grid_barrier(group, arguments.arrived == nullptr ? nullptr : arguments.arrived + band,
                 arguments.band_tiles.divisor);
    if (mine) { tile.write(); }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
