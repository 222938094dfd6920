// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A tile of a band of columns of narrow accesses whose rows come out of two rows of the matrix at most.

#pragma once

#include <tiletranspose/detail/inplace/band_tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The same where a square is as wide as a band or wider, so that a row of the tile comes out of two rows at most:
/// whole accesses that are copied as they are.
template <bool Undo, int Access>
struct shifted_tile : band_tile {
  using narrow = access_word_t<Access>;
  static constexpr int wide_accesses = 16 / Access;

  int boundary;  ///< accesses of the band in its first square

  TILETRANSPOSE_FUNCTION void read() const {
    const rectangle& grid = arguments.grid;
    const int lane = static_cast<int>(rank % 16);
    const unsigned char* const lowest = arguments.source;
    const unsigned char* const highest = arguments.source +
                                         (grid.rows - 1) * arguments.source_pitch +
                                         arguments.accesses * size_type{Access};
    const column_walk::step step(grid, teams);
    TILETRANSPOSE_UNROLL_BY(1)
    for (unsigned square = 0; square < (boundary < accesses ? 2u : 1u); ++square) {
      const int begin = (square == 0 ? 0 : boundary) * Access;
      const int end = (square == 0 ? boundary : accesses) * Access;
      const unsigned start = rank / 16;
      column_walk walk(grid, smaller(first + start, grid.rows - 1), left + square);
      unsigned row = first + start + square * grid.common;
      TILETRANSPOSE_UNROLL_BY(4)
      for (unsigned u = start; u < rows; u += teams) {
        const loop_step here(square * rows + u);
        row = smaller(row, row - grid.rows);
        const unsigned char* const from =
            source + (Undo ? walk.row(grid) : row) * arguments.source_pitch;
        if (Undo) { walk.advance(grid, step); }
        row += teams;
        const int shift = static_cast<int>(address_bits(from) % 16);
        unsigned char* const to = shared + u * shifted_pitch;
        const int at = lane * 16 - shift;
        const int lo = larger(begin - at, 0);
        const int hi = smaller(end - at, 16);
        if (lo < hi) {
          const unsigned char* const wide = from + at;
          unsigned char* const copy = to + square * shifted_gap + lane * 16;
          if (wide >= lowest && wide + 16 <= highest) {
            copy_part_async(copy, wide, lo, hi);
          } else {
            TILETRANSPOSE_UNROLL_BY(1)
            for (int i = lo; i < hi; i += Access) {
              store_shared(copy + i, load_global<narrow>(wide + i));
            }
          }
        }
        if (lane == 0) {
          store_shared(to + shifted_row_bytes + square, static_cast<unsigned char>(shift));
        }
      }
    }
    commit_copies();
    wait_for_copies(0);
  }

  TILETRANSPOSE_FUNCTION void write() const {
    write_rows<Undo, Access, 1>(*this, boundary, [&](unsigned u) {
      const unsigned from = u * shifted_pitch;
      const unsigned char* const shifts = shared + from + shifted_row_bytes;
      const unsigned shift = load_shared<unsigned char>(shifts);
      const unsigned second =
          boundary < accesses ? shifted_gap + load_shared<unsigned char>(shifts + 1) : 0;
      const int split = boundary;
      return [=](int c) { return from + (c < split ? shift : second) + c * Access; };
    });
  }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
