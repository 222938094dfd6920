// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A tile of a band of columns that is moved access by access, rectangle_columns.cuh.

#pragma once

#include <tiletranspose/detail/inplace/column_arguments.cuh>
#include <tiletranspose/detail/inplace/swap_pairs.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A tile of a band, read at one place and written at another. A thread takes one access of every `lines`-th row. Where
/// the grid's elements are segments, its rows have gaps, and may be fewer than its columns.
template <bool Undo, int Access, bool Segments>
struct column_tile {
  using word = access_word_t<Access>;

  const column_arguments& arguments;
  unsigned char* shared;        ///< where the thread's access of row 0 lies
  const unsigned char* source;  ///< the same in the grid's row 0
  unsigned char* target;
  unsigned first;  ///< row of the tile
  unsigned rows;
  unsigned left;       ///< squares to the left of the access
  unsigned band_left;  ///< and of the band
  unsigned line;       ///< where the thread starts

  /// A row of the tile, and the one that its access moves to.
  struct place {
    unsigned t;
    unsigned row;
  };

  /// Visits the thread's rows where the accesses of a warp lie in one row.
  class along_rows {
   public:
    TILETRANSPOSE_FUNCTION explicit along_rows(const column_tile& tile)
        : t_(tile.line), lines_(tile.arguments.lines) {}
    TILETRANSPOSE_FUNCTION place next() {
      const place here{t_, 0};
      t_ += lines_;
      return here;
    }

   private:
    unsigned t_;
    unsigned lines_;
  };

  /// Visits them where the accesses of a warp move to one row. One square further to the right, that is one square
  /// further down: such lines start in the tile's first column, and go on in its first row after its last.
  class along_lines {
   public:
    TILETRANSPOSE_FUNCTION explicit along_lines(const column_tile& tile)
        : tile_(tile),
          back_(tile.arguments.grid, tile.arguments.grid.rows - tile.rows),
          t_(tile.crossing(tile.line)),
          walk_(tile.arguments.grid, tile.first + t_, squares_left(tile)) {}
    TILETRANSPOSE_FUNCTION place next() {
      const rectangle& grid = tile_.arguments.grid;
      const place here{t_, walk_.row(grid)};
      t_ += tile_.arguments.lines;
      walk_.advance(grid, tile_.arguments.step);
      if (t_ >= tile_.rows) {
        t_ -= tile_.rows;
        walk_.advance(grid, back_);
      }
      return here;
    }

   private:
    /// The squares to the left, modulo p.
    TILETRANSPOSE_FUNCTION static unsigned squares_left(const column_tile& tile) {
      return Segments ? tile.arguments.grid.modulo_tall.remainder(tile.left) : tile.left;
    }

    const column_tile& tile_;
    column_walk::step back_;  ///< the tile's rows
    unsigned t_;
    column_walk walk_;
  };

  /// Bytes from the thread's access of the grid's row 0 to that of another row.
  TILETRANSPOSE_FUNCTION size_type offset(unsigned row, size_type pitch) const {
    const size_type bytes = row * pitch;
    return Segments ? bytes + arguments.segments.gaps(row * arguments.grid.cols + left) : bytes;
  }

  /// The row in which the line that starts in row t crosses the thread's column.
  TILETRANSPOSE_FUNCTION unsigned crossing(unsigned t) const {
    const size_type down = size_type{left - band_left} * arguments.grid.common % rows;
    const unsigned at = t + static_cast<unsigned>(down);
    return at < rows ? at : at - rows;
  }

  /// Moves the thread's words: put(place, take(place)), several at a time.
  template <class Along, class Take, class Put>
  TILETRANSPOSE_FUNCTION void move(Along along, Take take, Put put) const {
    constexpr unsigned batch = column_batch<Access>;
    const unsigned lines = arguments.lines;
    const auto move_batch = [&](auto whole, unsigned start) {
      place places[batch];
      word words[batch];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < batch; ++i) { places[i] = along.next(); }
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < batch; ++i) {
        if (whole.value || start + i * lines < rows) { words[i] = take(places[i]); }
      }
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < batch; ++i) {
        if (whole.value || start + i * lines < rows) { put(places[i], words[i]); }
      }
    };
    unsigned start = line;
    for (; start + (batch - 1) * lines < rows; start += batch * lines) {
      move_batch(constant<true>{}, start);
    }
    if (start < rows) { move_batch(constant<false>{}, start); }
  }

  /// The same from global to shared memory, all under way at once where copies can run in the background.
  template <class Along, class From, class To>
  TILETRANSPOSE_FUNCTION void fetch(Along along, From from, To to) const {
    if constexpr (copies_async && Access >= 4) {
      TILETRANSPOSE_UNROLL_BY(4)
      for (unsigned start = line; start < rows; start += arguments.lines) {
        const place here = along.next();
        copy_async<Access>(to(here), from(here));
      }
      commit_copies();
      wait_for_copies(0);
    } else {
      move(
          along, [&](place at) { return load_global<word>(from(at)); },
          [&](place at, const word& value) { store_shared(to(at), value); });
    }
  }

  /// Where in shared memory the access lies that is row t's.
  TILETRANSPOSE_FUNCTION unsigned char* in_tile(unsigned t) const {
    return shared + t * arguments.tile_pitch;
  }

  TILETRANSPOSE_FUNCTION void read() const {
    const auto to = [&](place at) { return in_tile(at.t); };
    if constexpr (Undo) {
      fetch(
          along_lines(*this),
          [&](place at) { return source + offset(at.row, arguments.source_pitch); }, to);
    } else {
      fetch(
          along_rows(*this),
          [&](place at) { return source + offset(first + at.t, arguments.source_pitch); }, to);
    }
  }

  TILETRANSPOSE_FUNCTION void write() const {
    const auto take = [&](place at) { return load_shared<word>(in_tile(at.t)); };
    if constexpr (Undo) {
      move(along_rows(*this), take, [&](place at, const word& value) {
        store_global(target + offset(first + at.t, arguments.data_pitch), value);
      });
    } else {
      move(along_lines(*this), take, [&](place at, const word& value) {
        store_global(target + offset(at.row, arguments.data_pitch), value);
      });
    }
  }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
