// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Step 3 of a rectangle in place, rectangle_grid.cuh: columns are permuted in bands that shared or scratch memory
/// holds, together with the squares of step 2 where those are no wider than a band.

#pragma once

#include <tiletranspose/detail/core/async_copy.cuh>
#include <tiletranspose/detail/core/grid_barrier.cuh>
#include <tiletranspose/detail/core/packed_elements.cuh>
#include <tiletranspose/detail/inplace/rectangle_grid.cuh>
#include <tiletranspose/detail/inplace/segment_layout.cuh>
#include <tiletranspose/detail/inplace/swap_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Bytes of a band's rows in shared memory, at most. Rows that start anywhere share a sector at each end of them,
/// which is written in two pieces: 16381 x 16411 floats by bands of 64, 128, 256 and 512 bytes 25, 45, 55 and 52 % of
/// cudaMemcpyAsync (columns only, H200, 2026-11-21).
inline constexpr size_type widest_band_bytes = 256;

/// The same of tiles that are read at a slant: wherever a row starts, 16 threads cover it with 16 bytes each.
inline constexpr size_type widest_slanted_bytes = 15 * 16;
/// Their pitch, and what is left around the rows: of the 16 bytes that a thread reads up to 15 may be another tile's,
/// which then go to the left or right of a row, or above or below all rows, without a question.
inline constexpr unsigned slanted_pitch = widest_slanted_bytes + 2 * 16;
inline constexpr size_type slanted_spare_bytes = (2 * 15 + 1) * slanted_pitch;

/// Of tiles whose rows come out of two squares at most: 16 bytes a thread for each, as far after a multiple of 16 as in
/// global memory; the second square's come 32 bytes later, so that neither writes over the other; and both distances.
inline constexpr unsigned shifted_gap = 32;
inline constexpr unsigned shifted_row_bytes = 16 * 16 + shifted_gap;
inline constexpr unsigned shifted_pitch = shifted_row_bytes + 16;

/// H200, 2026-11-22, % of cudaMemcpyAsync with 256, 512 and 1024: 16411 x 16381 floats 33.5, 34.5, 30.2, 131072 x 2048
/// 35.9, 35.3, 30.4.
inline constexpr int column_threads = 512;

/// Accesses that a thread of a column has under way. All of them take registers, the more where copies cannot run
/// in the background.
template <int Unit>
inline constexpr unsigned column_batch = Unit >= 4 && Unit < 16 && copies_async ? 8
                                         : Unit == 1                            ? 3
                                                                                : 4;

/// Step 3 for a band: in which row elements are after it. A walk visits every `stride`-th row of a column.
struct column_walk {
  /// What `stride` rows are: whole squares, and rows of one.
  struct step {
    unsigned rows;  ///< stride % g
    unsigned turn;  ///< stride / g squares further on, step 3 is so many rows further on, modulo p

    step() = default;
    /// Precondition: stride <= m.
    TILETRANSPOSE_FUNCTION step(const rectangle& grid, unsigned stride) {
      const unsigned squares = grid.by_common.quotient(stride);
      rows = grid.by_common.remainder(stride, squares);
      turn =
          grid.modulo_tall.remainder(static_cast<unsigned long long>(squares) * grid.wide_inverse);
    }
  };

  unsigned s;  ///< row in its square
  unsigned x;  ///< (P - Q) / q % p

  /// Precondition: row < m, and `left`, squares to the left of the column, < p.
  TILETRANSPOSE_FUNCTION column_walk(const rectangle& grid, unsigned row, unsigned left) {
    const unsigned above = grid.by_common.quotient(row);
    s = grid.by_common.remainder(row, above);
    const unsigned diagonal = above >= left ? above - left : above + grid.tall - left;
    x = grid.modulo_tall.remainder(static_cast<unsigned long long>(diagonal) * grid.wide_inverse);
  }
  TILETRANSPOSE_FUNCTION unsigned row(const rectangle& grid) const { return s * grid.tall + x; }
  TILETRANSPOSE_FUNCTION void advance(const rectangle& grid, const step& by) {
    s += by.rows;
    x = add_modulo(x, by.turn, grid.tall);
    if (s >= grid.common) {
      s -= grid.common;
      x = add_modulo(x, grid.wide_inverse, grid.tall);
    }
  }
};

/// A launch over bands of columns, which count units: the columns of a square move alike, whatever their
/// elements, so that a unit may be several of them, or part of one. A block takes tiles of bands, one after the
/// other.
struct column_arguments {
  const unsigned char* source;  ///< the data, or a copy of the launch's columns
  unsigned char* data;
  /// For each band the tiles that have been read; null where the source is a copy that nobody writes. The memory
  /// that a tile is written to has been read by others: they must all have done so.
  unsigned* arrived;
  size_type source_pitch;  ///< bytes
  size_type data_pitch;    ///< bytes
  rectangle grid;
  unsigned first_unit;     ///< of a row
  unsigned units;          ///< of all bands of the launch
  unsigned band_units;     ///< of a band; the last may have fewer
  divider square_units;    ///< of a square
  divider parts;           ///< units of an element; asked only where squares are transposed
  unsigned tile_rows;      ///< a multiple of g where squares are transposed
  divider band_tiles;      ///< tiles of a band
  unsigned tiles;          ///< of all bands
  unsigned blocks;         ///< of the launch
  unsigned tile_pitch;     ///< bytes between rows of the tile in shared memory
  unsigned lines;          ///< rows of a tile that threads take at a time
  column_walk::step step;  ///< of `lines` rows
  bool squares;            ///< step 2, too; bands are multiples of g wide
  bool shifts;             ///< bands of units of less than 4 bytes that are no wider than a square
  run_layout runs;         ///< what the grid's elements are, if they are runs

  /// Blocks that must run at once: tiles of a band wait for each other.
  unsigned together() const { return band_tiles.divisor; }
  /// Of all that is read.
  size_type source_bytes() const {
    return grid.rows * source_pitch + runs.gaps(grid.rows * grid.cols - 1);
  }
};

/// A tile of a band, read at one place and written at another. A thread takes one unit of every `lines`-th row. Where
/// the grid's elements are runs, its rows have gaps, and may be fewer than its columns.
template <bool Undo, int Unit, bool Runs>
struct column_tile {
  using word = access_word_t<Unit>;

  const column_arguments& arguments;
  unsigned char* shared;        ///< where the thread's unit of row 0 lies
  const unsigned char* source;  ///< the same in the grid's row 0
  unsigned char* target;
  unsigned first;  ///< row of the tile
  unsigned rows;
  unsigned left;       ///< squares to the left of the unit
  unsigned band_left;  ///< and of the band
  unsigned in_square;  ///< units to the left of it in its square
  unsigned line;       ///< where the thread starts

  /// A row of the tile, and the one that its unit moves to.
  struct place {
    unsigned t;
    unsigned row;
  };

  /// Visits the thread's rows where the units of a warp lie in one row.
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

  /// Visits them where the units of a warp move to one row. One square further to the right, that is one square
  /// further down: such lines start in the tile's first column, and go on in its first row after its last.
  class along_lines {
   public:
    TILETRANSPOSE_FUNCTION explicit along_lines(const column_tile& tile)
        : tile_(tile),
          back_(tile.arguments.grid, tile.arguments.grid.rows - tile.rows),
          t_(tile.turned(tile.line)),
          walk_(tile.arguments.grid, tile.first + t_, turns(tile)) {}
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
    TILETRANSPOSE_FUNCTION static unsigned turns(const column_tile& tile) {
      return Runs ? tile.arguments.grid.modulo_tall.remainder(tile.left) : tile.left;
    }

    const column_tile& tile_;
    column_walk::step back_;  ///< the tile's rows
    unsigned t_;
    column_walk walk_;
  };

  /// Bytes from the thread's unit of the grid's row 0 to that of another row.
  TILETRANSPOSE_FUNCTION size_type offset(unsigned row, size_type pitch) const {
    const size_type bytes = row * pitch;
    return Runs ? bytes + arguments.runs.gaps(row * arguments.grid.cols + left) : bytes;
  }

  /// The row in which the line that starts in row t meets the thread's column.
  TILETRANSPOSE_FUNCTION unsigned turned(unsigned t) const {
    const size_type down = size_type{left - band_left} * arguments.grid.common % rows;
    const unsigned at = t + static_cast<unsigned>(down);
    return at < rows ? at : at - rows;
  }

  /// Moves the thread's words: put(place, take(place)), several at a time.
  template <class Along, class Take, class Put>
  TILETRANSPOSE_FUNCTION void move(Along along, Take take, Put put) const {
    constexpr unsigned batch = column_batch<Unit>;
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
    if constexpr (copies_async && Unit >= 4) {
      TILETRANSPOSE_UNROLL_BY(4)
      for (unsigned start = line; start < rows; start += arguments.lines) {
        const place here = along.next();
        copy_async<Unit>(to(here), from(here));
      }
      commit_copies();
      wait_for_copies(0);
    } else {
      move(
          along, [&](place at) { return load_global<word>(from(at)); },
          [&](place at, const word& value) { store_shared(to(at), value); });
    }
  }

  /// Where in shared memory the unit lies that is row t's before step 2, and after it.
  TILETRANSPOSE_FUNCTION unsigned char* before_squares(unsigned t) const {
    const rectangle& grid = arguments.grid;
    const unsigned row = grid.by_common.remainder(t, grid.by_common.quotient(t));
    const unsigned col = arguments.parts.quotient(in_square);
    const int element_bytes = static_cast<int>(arguments.parts.divisor) * Unit;
    return after_squares(t) + (static_cast<int>(col) - static_cast<int>(row)) *
                                  (static_cast<int>(arguments.tile_pitch) - element_bytes);
  }
  TILETRANSPOSE_FUNCTION unsigned char* after_squares(unsigned t) const {
    return shared + t * arguments.tile_pitch;
  }

  TILETRANSPOSE_FUNCTION void read() const {
    const auto after = [&](place at) { return after_squares(at.t); };
    if constexpr (Undo) {
      fetch(
          along_lines(*this),
          [&](place at) { return source + offset(at.row, arguments.source_pitch); }, after);
    } else {
      const auto from = [&](place at) {
        return source + offset(first + at.t, arguments.source_pitch);
      };
      if (arguments.squares) {
        fetch(along_rows(*this), from, [&](place at) { return before_squares(at.t); });
      } else {
        fetch(along_rows(*this), from, after);
      }
    }
  }

  TILETRANSPOSE_FUNCTION void write() const {
    const auto after = [&](place at) { return load_shared<word>(after_squares(at.t)); };
    if constexpr (Undo) {
      const auto put = [&](place at, const word& value) {
        store_global(target + offset(first + at.t, arguments.data_pitch), value);
      };
      if (arguments.squares) {
        move(
            along_rows(*this), [&](place at) { return load_shared<word>(before_squares(at.t)); },
            put);
      } else {
        move(along_rows(*this), after, put);
      }
    } else {
      move(along_lines(*this), after, [&](place at, const word& value) {
        store_global(target + offset(at.row, arguments.data_pitch), value);
      });
    }
  }
};

/// A tile of a band of 1- or 2-byte units, as one of its threads sees it.
struct band_tile {
  const column_arguments& arguments;
  unsigned char* shared;
  const unsigned char* source;  ///< the band's first unit in row 0
  unsigned char* target;
  unsigned first;  ///< row of the tile
  unsigned rows;
  int units;      ///< of the band
  unsigned left;  ///< squares to the left of the band's first unit
  unsigned rank;
  unsigned teams;  ///< of 16 threads
};

/// Writes the rows of a tile of a band, 16 threads each: whole accesses where the target has them, units at the ends.
/// place_in(u) tells where units of row u lie in shared memory, in a piece that ends before unit `boundary` and one
/// that begins there.
template <bool Undo, int Unit, int Unroll, class PlaceIn>
TILETRANSPOSE_FUNCTION void write_rows(const band_tile& tile, int boundary, PlaceIn place_in) {
  using unit_word = access_word_t<Unit>;
  constexpr int chunk_units = 16 / Unit;
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
    const int head = static_cast<int>((0u - address_bits(to)) % 16 / Unit);
    const int c = head + lane * chunk_units;
    if (c + chunk_units <= tile.units) {
      if (c >= boundary || c + chunk_units <= boundary) {
        store_global(to + c * Unit, read_shared<16, Unit>(tile.shared, place(c), 0, tile.rank));
      } else {
        TILETRANSPOSE_UNROLL_BY(1)
        for (int e = c; e < c + chunk_units; ++e) {
          const loop_step part(e);
          store_global(to + e * Unit, load_shared<unit_word>(tile.shared + place(e)));
        }
      }
    }
    const int front = smaller(head, tile.units);
    const int tail = (tile.units - front) % chunk_units;
    TILETRANSPOSE_UNROLL_BY(1)
    for (int e = lane; e < front + tail; e += 16) {
      const loop_step part(e / 16);
      const int edge = e < front ? e : tile.units - front - tail + e;
      store_global(to + edge * Unit, load_shared<unit_word>(tile.shared + place(edge)));
    }
  }
}

/// A tile of a band of 1- or 2-byte units, moved by words. Rows of the tile are what it writes: rows of the grid
/// where steps are undone, else lines, which go down a square of the grid with each square to the right and all of
/// which step 3 moves to one row. So rows are written whole and read at a slant:
///
///     lines of the grid     a . . .      of the tile's rows      a a a a
///                           b a . .                              b b b b
///                           c b a .
///                           . c b a                              c c c c
///
/// 16 threads take a row, 16 bytes each.
template <bool Undo, int Unit>
struct slanted_tile : band_tile {
  using unit_word = access_word_t<Unit>;
  static constexpr int chunk_units = 16 / Unit;

  unsigned in_square;  ///< units to the left of the band's first one in its square

  /// The word of 16 bytes that a thread begins with: four threads whose words lie in the same banks take turns.
  TILETRANSPOSE_FUNCTION unsigned turn() const { return rank / 8 % 4; }
  TILETRANSPOSE_FUNCTION unsigned last_square() const {
    return arguments.square_units.quotient(in_square + units - 1);
  }
  TILETRANSPOSE_FUNCTION int start(unsigned square) const {
    const unsigned at = square * arguments.square_units.divisor;
    return at <= in_square ? 0 : smaller(static_cast<int>(at - in_square), units);
  }
  /// The units of slanted row v that are the tile's. `Single` where a square is one unit.
  template <bool Single>
  TILETRANSPOSE_FUNCTION unsigned clip(unsigned v, unsigned last) const {
    const divider& by = arguments.grid.by_common;
    const unsigned most = smaller(Single ? v : by.quotient(v), last);
    const unsigned least = v < rows ? 0 : (Single ? v - rows : by.quotient(v - rows)) + 1;
    const unsigned from = Undo ? last - most : least;
    const unsigned to = (Undo ? last - least : most) + 1;
    return Single ? from + 65536 * to : start(from) + 65536 * start(to);
  }
  /// Where in shared memory unit c of slanted row v is, and from there unit by unit to the right. `Single` where a
  /// square is one unit. c may be up to 16 units outside of the band.
  template <bool Single>
  class path {
   public:
    TILETRANSPOSE_FUNCTION path(const slanted_tile& tile, unsigned v, int c, unsigned last)
        : width_(static_cast<int>(tile.arguments.square_units.divisor)) {
      const rectangle& grid = tile.arguments.grid;
      const int common = Single ? 1 : static_cast<int>(grid.common);
      const unsigned shifted = tile.in_square + c + 16 * width_;
      const int square =
          Single ? c : static_cast<int>(tile.arguments.square_units.quotient(shifted)) - 16;
      const int down = common * (Undo ? static_cast<int>(last) - square : square);
      at_ = (static_cast<int>(v) - down) * pitch + c * Unit;
      step_ = Single ? Unit + across : Unit;
      if constexpr (!Single) {
        left_ = width_ - (static_cast<int>(tile.in_square) + c - square * width_);
        jump_ = common * across;
        if (tile.arguments.squares) {
          // With step 2: row and column in the square trade places.
          const unsigned row = grid.by_common.remainder(v, grid.by_common.quotient(v));
          at_ += (width_ - left_ - static_cast<int>(row)) * (pitch - Unit);
          step_ = pitch;
          jump_ -= width_ * (pitch - Unit);
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
    int left_ = 0;  ///< units of it to go
    int jump_ = 0;
  };

  TILETRANSPOSE_FUNCTION unsigned grid_row(unsigned row) const {
    return row < arguments.grid.rows ? row : row - arguments.grid.rows;
  }

  TILETRANSPOSE_FUNCTION void read() const {
    if (arguments.square_units.divisor == 1) {
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
                                         arguments.units * size_type{Unit};
    // Slanted rows may be more than the grid's.
    const column_walk::step step(grid, teams <= grid.rows ? teams : teams % grid.rows);
    const unsigned above = Undo ? grid.rows - grid.common * last : 0;
    column_walk walk(grid, grid_row(grid_row(first + above + rank / 16)), left);
    for (unsigned start = rank / 16; start < slanted; start += batch * teams) {
      unsigned clips[batch];  // begin and end
      int starts[batch];      // unit of the chunk
      word16 got[batch];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < batch; ++i) {
        const unsigned v = start + i * teams;
        const unsigned global_row = Undo ? walk.row(grid) : grid_row(first + v);
        if (Undo) { walk.advance(grid, step); }
        const unsigned char* const from = source + global_row * arguments.source_pitch;
        starts[i] = lane * chunk_units - static_cast<int>(address_bits(from) % 16 / Unit);
        clips[i] = v < slanted ? clip<Single>(v, last) : 0;
        const int lo = larger<int>(static_cast<int>(clips[i] % 65536) - starts[i], 0);
        const int hi = smaller<int>(static_cast<int>(clips[i] / 65536) - starts[i], chunk_units);
        const unsigned char* const chunk = from + starts[i] * Unit;
        if (lo < hi) {
          if (chunk >= lowest && chunk + 16 <= highest) {
            got[i] = load_global_part<word16>(chunk, lo * Unit, hi * Unit);
          } else {
            TILETRANSPOSE_UNROLL_BY(1)
            for (int u = lo; u < hi; ++u) {
              store_shared(shared + path<Single>(*this, v, starts[i] + u, last).at(),
                           load_global<unit_word>(chunk + u * Unit));
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
        if (length == 0 || starts[i] + chunk_units <= begin ||
            starts[i] >= begin + static_cast<int>(length)) {
          continue;
        }
        const unsigned read[4] = {got[i].x, got[i].y, got[i].z, got[i].w};
        // Lanes that hold words for the same banks begin with different ones.
        unsigned words[4];
        turn_back(read, 4 - turn(), words);
        TILETRANSPOSE_UNROLL
        for (unsigned w = 0; w < 4; ++w) {
          const int c = starts[i] + static_cast<int>((w + turn()) % 4 * (4 / Unit));
          path<Single> to(*this, v, c, last);
          TILETRANSPOSE_UNROLL
          for (int u = 0; u < 4 / Unit; ++u) {
            const loop_step part(w * 4 + u);
            if (Single || static_cast<unsigned>(c + u - begin) < length) {
              store_shared(shared + to.at(), static_cast<unit_word>(words[w] >> 8 * Unit * u));
            }
            to.advance();
          }
        }
      }
    }
  }

  TILETRANSPOSE_FUNCTION void write() const {
    write_rows<Undo, Unit, 2>(*this, units, [](unsigned u) {
      return [=](int c) { return u * slanted_pitch + c * Unit; };
    });
  }
};

/// The same where a square is as wide as a band or wider, so that a row of the tile comes out of two rows at most:
/// whole accesses that are copied as they are.
template <bool Undo, int Unit>
struct shifted_tile : band_tile {
  using unit_word = access_word_t<Unit>;
  static constexpr int chunk_units = 16 / Unit;

  int boundary;  ///< units of the band in its first square

  TILETRANSPOSE_FUNCTION void read() const {
    const rectangle& grid = arguments.grid;
    const int lane = static_cast<int>(rank % 16);
    const unsigned char* const lowest = arguments.source;
    const unsigned char* const highest = arguments.source +
                                         (grid.rows - 1) * arguments.source_pitch +
                                         arguments.units * size_type{Unit};
    const column_walk::step step(grid, teams);
    TILETRANSPOSE_UNROLL_BY(1)
    for (unsigned square = 0; square < (boundary < units ? 2u : 1u); ++square) {
      const int begin = (square == 0 ? 0 : boundary) * Unit;
      const int end = (square == 0 ? boundary : units) * Unit;
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
          const unsigned char* const chunk = from + at;
          unsigned char* const copy = to + square * shifted_gap + lane * 16;
          if (chunk >= lowest && chunk + 16 <= highest) {
            copy_part_async(copy, chunk, lo, hi);
          } else {
            TILETRANSPOSE_UNROLL_BY(1)
            for (int i = lo; i < hi; i += Unit) {
              store_shared(copy + i, load_global<unit_word>(chunk + i));
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
    write_rows<Undo, Unit, 1>(*this, boundary, [&](unsigned u) {
      const unsigned from = u * shifted_pitch;
      const unsigned char* const shifts = shared + from + shifted_row_bytes;
      const unsigned shift = load_shared<unsigned char>(shifts);
      const unsigned second =
          boundary < units ? shifted_gap + load_shared<unsigned char>(shifts + 1) : 0;
      const int split = boundary;
      return [=](int c) { return from + (c < split ? shift : second) + c * Unit; };
    });
  }
};

/// Steps 2 and 3 for the tiles of a block, or undone.
/// Shared memory: tile_rows * tile_pitch bytes and, where units have less than 4 bytes, slanted_spare_bytes; aligned to
/// 16. Barriers: three a tile, inside.
/// Precondition: where `arrived` is not null all blocks run at once, and are no fewer than tiles of a band.
template <bool Undo, int Unit, bool Runs = false, class Group>
TILETRANSPOSE_FUNCTION void move_columns(Group group, unsigned char* shared,
                                         const column_arguments& arguments, unsigned block) {
  const rectangle& grid = arguments.grid;
  const divider& square_units = arguments.square_units;
  const unsigned line = group.thread_rank() / arguments.band_units;
  const unsigned in_band = group.thread_rank() - line * arguments.band_units;
  for (unsigned at = block; at < arguments.tiles; at += arguments.blocks) {
    const unsigned band = arguments.band_tiles.quotient(at);
    const unsigned first = arguments.band_tiles.remainder(at, band) * arguments.tile_rows;
    if constexpr (Unit < 4) {
      const unsigned start = band * arguments.band_units;
      const unsigned start_unit = arguments.first_unit + start;
      const unsigned squares = square_units.quotient(start_unit);
      const unsigned in_square = square_units.remainder(start_unit, squares);
      const unsigned rows = smaller(grid.rows - first, arguments.tile_rows);
      const auto units = static_cast<int>(smaller(arguments.units - start, arguments.band_units));
      const unsigned char* const source = arguments.source + size_type{start} * Unit;
      unsigned char* const target = arguments.data + size_type{start_unit} * Unit;
      const auto move = [&](const auto& tile) {
        if (at != block) { group.sync(); }  // the tile before has been written
        tile.read();
        meet(group, arguments.arrived == nullptr ? nullptr : arguments.arrived + band,
             arguments.band_tiles.divisor);
        tile.write();
      };
      if (arguments.shifts) {
        const int boundary =
            static_cast<int>(smaller(square_units.divisor - in_square, unsigned(units)));
        move(shifted_tile<Undo, Unit>{{arguments, shared, source, target, first, rows, units,
                                       squares, group.thread_rank(), group.size() / 16},
                                      boundary});
        continue;
      }
      if (!arguments.squares || arguments.parts.divisor == 1) {
        move(slanted_tile<Undo, Unit>{
            {arguments, shared + 15 * slanted_pitch + max_access_bytes, source, target, first, rows,
             units, squares, group.thread_rank(), group.size() / 16},
            in_square});
        continue;
      }
    }
    const unsigned in_launch = band * arguments.band_units + in_band;
    const unsigned unit = arguments.first_unit + in_launch;
    const unsigned left = square_units.quotient(unit);
    const column_tile<Undo, Unit, Runs> tile{arguments,
                                             shared + in_band * Unit,
                                             arguments.source + size_type{in_launch} * Unit,
                                             arguments.data + size_type{unit} * Unit,
                                             first,
                                             smaller(grid.rows - first, arguments.tile_rows),
                                             left,
                                             square_units.quotient(unit - in_band),
                                             square_units.remainder(unit, left),
                                             line};
    const bool mine = line < smaller(arguments.lines, tile.rows) && in_launch < arguments.units;
    if (at != block) { group.sync(); }  // the tile before has been written
    if (mine) { tile.read(); }
    meet(group, arguments.arrived == nullptr ? nullptr : arguments.arrived + band,
         arguments.band_tiles.divisor);
    if (mine) { tile.write(); }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
