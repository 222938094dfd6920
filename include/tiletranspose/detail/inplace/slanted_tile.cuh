// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A tile of a band of columns of narrow accesses that is read at a slant.

#pragma once

#include <tiletranspose/detail/inplace/band_tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A tile of a band of 1- or 2-byte accesses, moved by words. Rows of the tile are what it writes: rows of the grid
/// where steps are undone, else lines, which go down a square of the grid with each square to the right and all of
/// which step 3 moves to one row. So rows are written whole and read at a slant:
///
///     lines of the grid     a . . .      of the tile's rows      a a a a
///                           b a . .                              b b b b
///                           c b a .
///                           . c b a                              c c c c
///
/// 16 threads take a row, 16 bytes each.
template <bool Undo, int Access>
struct slanted_tile : band_tile {
  using narrow = access_word_t<Access>;
  static constexpr int wide_accesses = 16 / Access;

  unsigned in_square;  ///< accesses to the left of the band's first one in its square

  /// The word of 16 bytes that a thread begins with: four threads whose words lie in the same banks begin with
  /// different ones.
  TILETRANSPOSE_FUNCTION unsigned rotation() const { return rank / 8 % 4; }
  TILETRANSPOSE_FUNCTION unsigned last_square() const {
    return arguments.square_accesses.quotient(in_square + accesses - 1);
  }
  TILETRANSPOSE_FUNCTION int start(unsigned square) const {
    const unsigned at = square * arguments.square_accesses.divisor;
    return at <= in_square ? 0 : smaller(static_cast<int>(at - in_square), accesses);
  }
  /// The accesses of slanted row v that are the tile's. `Single` where a square is one access.
  template <bool Single>
  TILETRANSPOSE_FUNCTION unsigned clip(unsigned v, unsigned last) const {
    const divider& by = arguments.grid.by_common;
    const unsigned most = smaller(Single ? v : by.quotient(v), last);
    const unsigned least = v < rows ? 0 : (Single ? v - rows : by.quotient(v - rows)) + 1;
    const unsigned from = Undo ? last - most : least;
    const unsigned to = (Undo ? last - least : most) + 1;
    return Single ? from + 65536 * to : start(from) + 65536 * start(to);
  }
  /// Where in shared memory access c of slanted row v is, and from there access by access to the right. `Single` where
  /// a square is one access. c may be up to 16 accesses outside of the band.
  template <bool Single>
  class path {
   public:
    TILETRANSPOSE_FUNCTION path(const slanted_tile& tile, unsigned v, int c, unsigned last)
        : width_(static_cast<int>(tile.arguments.square_accesses.divisor)) {
      const rectangle& grid = tile.arguments.grid;
      const int common = Single ? 1 : static_cast<int>(grid.common);
      const unsigned shifted = tile.in_square + c + 16 * width_;
      const int square =
          Single ? c : static_cast<int>(tile.arguments.square_accesses.quotient(shifted)) - 16;
      const int down = common * (Undo ? static_cast<int>(last) - square : square);
      at_ = (static_cast<int>(v) - down) * pitch + c * Access;
      step_ = Single ? Access + across : Access;
      if constexpr (!Single) {
        left_ = width_ - (static_cast<int>(tile.in_square) + c - square * width_);
        jump_ = common * across;
        if (tile.arguments.squares) {
          // With step 2: row and column in the square trade places.
          const unsigned row = grid.by_common.remainder(v, grid.by_common.quotient(v));
          at_ += (width_ - left_ - static_cast<int>(row)) * (pitch - Access);
          step_ = pitch;
          jump_ -= width_ * (pitch - Access);
        }
      }
    }
    TILETRANSPOSE_FUNCTION int at() const { return at_; }
    TILETRANSPOSE_FUNCTION void advance() {
      at_ += step_;
      if (!Single && --left_ == 0) {
        left_ = width_;
        at_ += jump_;
      }
    }

   private:
    static constexpr int pitch = static_cast<int>(slanted_pitch);
    static constexpr int across = Undo ? pitch : -pitch;  ///< a square to the right
    int at_;
    int step_;
    int width_;     ///< of a square
    int left_ = 0;  ///< accesses of it to go
    int jump_ = 0;
  };

  TILETRANSPOSE_FUNCTION unsigned grid_row(unsigned row) const {
    return row < arguments.grid.rows ? row : row - arguments.grid.rows;
  }

  TILETRANSPOSE_FUNCTION void read() const {
    if (arguments.square_accesses.divisor == 1) {
      read_squares<true>();
    } else {
      read_squares<false>();
    }
  }

  template <bool Single>
  TILETRANSPOSE_FUNCTION void read_squares() const {
    constexpr unsigned batch = Single ? 4 : 1;  // rows that are under way
    const rectangle& grid = arguments.grid;
    const int lane = static_cast<int>(rank % 16);
    const unsigned last = last_square();
    const unsigned slanted = rows + grid.common * last;
    const unsigned char* const lowest = arguments.source;
    const unsigned char* const highest = arguments.source +
                                         (grid.rows - 1) * arguments.source_pitch +
                                         arguments.accesses * size_type{Access};
    // Slanted rows may be more than the grid's.
    const column_walk::step step(grid, teams <= grid.rows ? teams : teams % grid.rows);
    const unsigned above = Undo ? grid.rows - grid.common * last : 0;
    column_walk walk(grid, grid_row(grid_row(first + above + rank / 16)), left);
    for (unsigned start = rank / 16; start < slanted; start += batch * teams) {
      unsigned clips[batch];  // begin and end
      int starts[batch];      // access of the wide
      word16 got[batch];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < batch; ++i) {
        const unsigned v = start + i * teams;
        const unsigned global_row = Undo ? walk.row(grid) : grid_row(first + v);
        if (Undo) { walk.advance(grid, step); }
        const unsigned char* const from = source + global_row * arguments.source_pitch;
        starts[i] = lane * wide_accesses - static_cast<int>(address_bits(from) % 16 / Access);
        clips[i] = v < slanted ? clip<Single>(v, last) : 0;
        const int lo = larger<int>(static_cast<int>(clips[i] % 65536) - starts[i], 0);
        const int hi = smaller<int>(static_cast<int>(clips[i] / 65536) - starts[i], wide_accesses);
        const unsigned char* const wide = from + starts[i] * Access;
        if (lo < hi) {
          if (wide >= lowest && wide + 16 <= highest) {
            got[i] = load_global_part<word16>(wide, lo * Access, hi * Access);
          } else {
            TILETRANSPOSE_UNROLL_BY(1)
            for (int u = lo; u < hi; ++u) {
              store_shared(shared + path<Single>(*this, v, starts[i] + u, last).at(),
                           load_global<narrow>(wide + u * Access));
            }
            clips[i] = 0;
          }
        }
      }
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < batch; ++i) {
        const loop_step here(i);
        const unsigned v = start + i * teams;
        const int begin = static_cast<int>(clips[i] % 65536);
        const unsigned length = clips[i] / 65536 - clips[i] % 65536;
        if (length == 0 || starts[i] + wide_accesses <= begin ||
            starts[i] >= begin + static_cast<int>(length)) {
          continue;
        }
        const unsigned read[4] = {got[i].x, got[i].y, got[i].z, got[i].w};
        // Lanes that hold words for the same banks begin with different ones.
        unsigned words[4];
        rotate_back(read, 4 - rotation(), words);
        TILETRANSPOSE_UNROLL
        for (unsigned w = 0; w < 4; ++w) {
          const int c = starts[i] + static_cast<int>((w + rotation()) % 4 * (4 / Access));
          path<Single> to(*this, v, c, last);
          TILETRANSPOSE_UNROLL
          for (int u = 0; u < 4 / Access; ++u) {
            const loop_step inner(w * 4 + u);
            if (Single || static_cast<unsigned>(c + u - begin) < length) {
              store_shared(shared + to.at(), static_cast<narrow>(words[w] >> 8 * Access * u));
            }
            to.advance();
          }
        }
      }
    }
  }

  TILETRANSPOSE_FUNCTION void write() const {
    write_rows<Undo, Access, 2>(*this, accesses, [](unsigned u) {
      return [=](int c) { return u * slanted_pitch + c * Access; };
    });
  }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
