// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernels that make columns of a tall matrix short: with S rows transposed at a time, what moves is a segment of S
/// elements and no more a single one.
///
/// A matrix has m rows and n columns, of each of which k segments of S elements each move, from its phase on
/// (segment_layout): segment P of a column is elements P * S + phase and on. Slab P is the S rows from P * S on;
/// the P-th n of the slots where segments lie are its, too. Where k and n have no common divisor, two steps take
/// segments to where they belong:
///
///     1. slabs    segment P of column y  ->  slot (P, Q),  Q = (y * k + P) % n
///     2. columns   slot (P, Q)  ->  slot ((P - Q) / n % k, Q), step 3 of rectangle_grid.cuh for a grid of slots
///
/// and the elements in no segment are kept in scratch memory meanwhile. The same, undone from the last to the first,
/// makes the transpose of an n x m matrix.
///
/// Segments begin where sectors do, so that they are moved by whole ones; for that a slab reads up to a group of rows
/// that the next one reads, too, or undone the last group of segments of the slab before it.

#pragma once

#include <type_traits>

#include <tiletranspose/detail/choose/choose_inplace.cuh>
#include <tiletranspose/detail/core/async_copy.cuh>
#include <tiletranspose/detail/core/grid_barrier.cuh>
#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/inplace/rectangle_grid.cuh>
#include <tiletranspose/group.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Step 1. A tile is some columns of a slab, or all of them; a block takes one tile after the other.
struct slab_arguments {
  const unsigned char* source;  ///< the data; where blocks cannot wait for each other, a copy of it
  unsigned char* data;
  unsigned* arrived;      ///< for each slab the tiles that have been read
  unsigned cols;          ///< n
  unsigned rows;          ///< S
  unsigned slant;         ///< rows that a slab and the next one have in common: the largest phase
  unsigned column_teams;  ///< of threads that share the segments of a column
  bool more;              ///< undone: the last segments end in rows behind the last slab
  unsigned tile_cols;
  unsigned tile_pitch;   ///< bytes between rows of a tile in shared memory
  unsigned blocks;       ///< of the launch
  unsigned tiles;        ///< of all slabs; undone, of the rows behind the last one, too
  unsigned before;       ///< slabs that read what a slab is written over
  unsigned after;        ///< the same behind it
  divider slab_tiles;    ///< tiles of a slab
  divider columns;       ///< of a tile
  divider last_columns;  ///< of a slab's last tile
  divider row_words;     ///< that cover a row of a tile, wherever it starts
  long_divider by_cols;
  segment_layout segments;
  size_type slab_bytes;

  /// Whose tiles are taken.
  TILETRANSPOSE_FUNCTION unsigned slabs() const { return segments.tall.divisor + (more ? 1 : 0); }
  /// Blocks that must run at once, so that they do not wait for ever: the one with the first of all tiles under way
  /// waits for none beyond the slabs behind its own, and all of those must have been read.
  unsigned together() const { return smaller((after + 1) * slab_tiles.divisor, tiles); }
  /// Of all that is read.
  size_type source_bytes() const {
    return segments.tall.divisor * slab_bytes +
           size_type{segments.remainder} * cols * segments.element_bytes;
  }
};

/// What segments are multiples of: a *pair* of halves, each of which is the fewest elements that are whole words of 16
/// bytes.
constexpr unsigned segment_step(unsigned element) {
  return 2 * 16 / common_divisor(element, 16) * element;
}

/// A tile of a slab, as one of its threads sees it.
///
/// Segments are moved in pairs, a half a lane, so that two neighbouring lanes move whole sectors; the next two lanes take
/// the next column. Item i of a tile is half i % 2 of each pair that is its team's of column i / 2 % cols.
template <bool Undo, int ElementBytes>
struct slab_tile {
  static constexpr int access_bytes = access_width(ElementBytes);
  using narrow = access_word_t<access_bytes>;
  static constexpr int accesses = 16 / access_bytes;  ///< of a word
  static constexpr unsigned pair_bytes = segment_step(ElementBytes);
  static constexpr int words = pair_bytes / 32;  ///< of a half
  /// Words that a thread has under way: more than these would take more registers than it has.
  static constexpr int together = words <= 3 ? words : 1;

  const slab_arguments& arguments;
  unsigned char* shared;
  unsigned tile;
  unsigned rank = static_block<slab_threads>::thread_rank();
  unsigned slab = arguments.slab_tiles.quotient(tile);
  unsigned first_col = arguments.slab_tiles.remainder(tile, slab) * arguments.tile_cols;
  unsigned cols = smaller(arguments.cols - first_col, arguments.tile_cols);
  const unsigned char* source = arguments.source + slab * arguments.slab_bytes;
  unsigned char* target = arguments.data + slab * arguments.slab_bytes;
  bool dense =
      arguments.slab_tiles.divisor == 1 && arguments.tile_pitch == arguments.cols * ElementBytes;
  unsigned row_bytes = arguments.cols * ElementBytes;  ///< of the data
  /// Rows. Undone, the last segments end in rows behind the last slab.
  unsigned height = !Undo                                     ? arguments.rows + arguments.slant
                    : slab == arguments.segments.tall.divisor ? arguments.slant
                                                              : arguments.rows;
  unsigned first_byte = first_col * ElementBytes;
  /// In shared memory, as far after a multiple of 16 as in global memory.
  unsigned char* rows = shared + first_byte % 16;
  const divider& columns = cols == arguments.tile_cols ? arguments.columns : arguments.last_columns;
  unsigned half = rank % 2 * (pair_bytes / 2);  ///< byte of a pair

  TILETRANSPOSE_FUNCTION slab_tile(const slab_arguments& all, unsigned char* memory,
                                   unsigned number)
      : arguments(all), shared(memory), tile(number) {}

  /// Visits the words of 16 bytes that the rows of a tile are in: whole(shared, byte of the slab) or, where some bytes
  /// are not the tile's, edge(shared, byte of the slab, first, end).
  template <class Whole, class Edge>
  TILETRANSPOSE_FUNCTION void each_word(Whole whole, Edge edge) const {
    if (dense) {
      const unsigned end = height * row_bytes;
      TILETRANSPOSE_UNROLL_BY(4)
      for (unsigned at = rank * 16; at < end; at += slab_threads * 16) { whole(shared + at, at); }
      return;
    }
    const unsigned count = height * arguments.row_words.divisor;
    TILETRANSPOSE_UNROLL_BY(2)
    for (unsigned at = rank; at < count; at += slab_threads) {
      const loop_step here(at / slab_threads);
      const unsigned row = arguments.row_words.quotient(at);
      const unsigned begin = row * row_bytes + first_byte;
      const unsigned end = begin + cols * ElementBytes;
      const unsigned byte = begin / 16 * 16 + arguments.row_words.remainder(at, row) * 16;
      unsigned char* const place = rows + row * arguments.tile_pitch + byte - begin;
      if (byte >= begin && byte + 16 <= end) {
        whole(place, byte);
      } else if (byte < end) {
        edge(place, byte, byte < begin ? static_cast<int>(begin - byte) : 0,
             static_cast<int>(smaller(end - byte, 16u)));
      }
    }
  }

  /// Byte of the data where a column's segment of a slab lies.
  TILETRANSPOSE_FUNCTION size_type slot(unsigned col, unsigned of_slab) const {
    const unsigned to = arguments.by_cols.short_remainder(
        static_cast<unsigned long long>(first_col + col) * arguments.segments.tall.divisor +
        of_slab);
    return arguments.segments.slot_bytes(of_slab * arguments.cols + to);
  }

  /// Visits the accesses that word `number` of a half is made of: (element, byte of it, access).
  template <class Visit>
  TILETRANSPOSE_FUNCTION static void each_access(int number, narrow (&of_word)[accesses],
                                                 Visit visit) {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < accesses; ++i) {
      const int byte = number * 16 + i * access_bytes;
      visit(byte / ElementBytes, byte % ElementBytes, of_word[i]);
    }
  }

  TILETRANSPOSE_FUNCTION void read_rows() const {
    each_word([&](unsigned char* to, unsigned at) { copy_async<16>(to, source + at); },
              [&](unsigned char* to, unsigned at, int first, int end) {
                copy_async<16>(to, source + at, first, end);
              });
    commit_copies();
    wait_for_copies(0);
  }

  TILETRANSPOSE_FUNCTION void write_segments() const {
    const unsigned teams = arguments.column_teams;
    for (unsigned item = rank; item < 2 * cols * teams; item += slab_threads) {
      const unsigned team = columns.quotient(item / 2);
      const unsigned col = columns.remainder(item / 2, team);
      const unsigned char* const column =
          rows + arguments.segments.phase(first_col + col) * arguments.tile_pitch +
          col * ElementBytes;
      unsigned char* const segment = arguments.data + slot(col, slab);
      TILETRANSPOSE_UNROLL_BY(words == 1 ? 2 : 1)
      for (unsigned at = team * pair_bytes + half; at < arguments.segments.segment_bytes;
           at += teams * pair_bytes) {
        const loop_step here(at);
        const unsigned char* const from = column + at / ElementBytes * arguments.tile_pitch;
        TILETRANSPOSE_UNROLL
        for (int w = 0; w < words; ++w) {
          narrow of_word[accesses];
          each_access(w, of_word, [&](int element, int byte, narrow& value) {
            value = load_shared<narrow>(from + element * arguments.tile_pitch + byte);
          });
          word16 word;
          copy_bytes(&word, of_word, 16);
          store_global(segment + at + w * 16, word);
        }
      }
    }
  }

  /// Undone: a column of the tile is the end of one segment, and of the next one all but what the next slab begins
  /// with. What is in no segment, before the first and behind the last, comes out of scratch memory later.
  TILETRANSPOSE_FUNCTION void read_segments() const {
    const unsigned teams = arguments.column_teams;
    const unsigned tall = arguments.segments.tall.divisor;
    const unsigned segment_bytes = arguments.segments.segment_bytes;
    const unsigned pairs = segment_bytes / pair_bytes;
    const unsigned ends = arguments.slant == 0 ? 0 : 1;  // pairs of the segment before
    constexpr unsigned batch = words == 1 ? 3 : 1;
    for (unsigned item = rank; item < 2 * cols * teams; item += slab_threads) {
      const unsigned team = columns.quotient(item / 2);
      const unsigned col = columns.remainder(item / 2, team);
      const unsigned phase = arguments.segments.phase(first_col + col);
      const unsigned char* const before = arguments.source + slot(col, larger(slab, 1u) - 1) +
                                          (segment_bytes - ends * pair_bytes) + half;
      const unsigned char* const own = arguments.source + slot(col, smaller(slab, tall - 1)) + half;
      unsigned char* const column = rows + col * ElementBytes;
      TILETRANSPOSE_UNROLL_BY(1)
      for (unsigned start = team; start < pairs + ends; start += batch * teams) {
        TILETRANSPOSE_UNROLL
        for (int first = 0; first < words; first += together) {
          word16 got[batch][together];
          TILETRANSPOSE_UNROLL
          for (unsigned i = 0; i < batch; ++i) {
            const unsigned at = start + i * teams;
            if (at >= pairs + ends) { break; }
            const unsigned char* const from = at < ends ? before : own + (at - ends) * pair_bytes;
            TILETRANSPOSE_UNROLL
            for (int w = 0; w < together; ++w) {
              got[i][w] = load_global<word16>(from + (first + w) * 16);
            }
          }
          TILETRANSPOSE_UNROLL
          for (unsigned i = 0; i < batch; ++i) {
            const unsigned at = start + i * teams;
            const loop_step here(at);
            if (at >= pairs + ends) { break; }
            const unsigned row = phase + (at - ends) * (pair_bytes / ElementBytes) +
                                 half / ElementBytes;  // mod 2^32
            unsigned char* const to =
                column + static_cast<int>(row) * static_cast<int>(arguments.tile_pitch);
            const bool inside = ends == 0 || (at != 0 && at != pairs);
            TILETRANSPOSE_UNROLL
            for (int w = 0; w < together; ++w) {
              stage_word(to, row, first + w, got[i][w], inside);
            }
          }
        }
      }
    }
  }

  /// Stores word `number` of the half whose first element belongs at `to`, in row `row` of the tile, modulo
  /// 2^32. Where they are not all `inside`, only elements of rows that the tile has are stored.
  TILETRANSPOSE_FUNCTION void stage_word(unsigned char* to, unsigned row, int number,
                                         const word16& word, bool inside) const {
    narrow of_word[accesses];
    copy_bytes(of_word, &word, 16);
    const auto store = [&](auto all) {
      each_access(number, of_word, [&](int element, int byte, const narrow& value) {
        if (all.value || row + static_cast<unsigned>(element) < arguments.rows) {
          store_shared(to + element * arguments.tile_pitch + byte, value);
        }
      });
    };
    if (inside) {
      store(std::true_type{});
    } else {
      store(std::false_type{});
    }
  }

  TILETRANSPOSE_FUNCTION void write_rows() const {
    each_word([&](unsigned char* from,
                  unsigned at) { store_global(target + at, load_shared<word16>(from)); },
              [](unsigned char*, unsigned, int, int) {});
    // What is left of rows at both ends, an access a thread.
    const unsigned ends = dense ? 0 : height * 2 * accesses;
    for (unsigned at = rank; at < ends; at += slab_threads) {
      const loop_step here(at / slab_threads);
      const unsigned row = at / (2 * accesses);
      const unsigned number = at % (2 * accesses);
      const unsigned begin = row * row_bytes + first_byte;
      const unsigned end = begin + cols * ElementBytes;
      const auto whole =
          static_cast<unsigned>(divide_up(begin, 16) * 16);  // a row may end before it
      const unsigned byte = number < accesses
                                ? begin + number * access_bytes
                                : larger(whole, end / 16 * 16) + (number - accesses) * access_bytes;
      if (byte < (number < accesses ? smaller(whole, end) : end)) {
        store_global(target + byte,
                     load_shared<narrow>(rows + row * arguments.tile_pitch + (byte - begin)));
      }
    }
  }
};

/// Step 1 for the tiles of a block, or undone.
/// Shared memory: 16 bytes and, for each row that is read or written, tile_pitch; aligned to 16. Barriers: three a
/// tile, inside.
/// Precondition: all blocks run at once, and are no fewer than tiles of the slabs that wait for each other.
template <bool Undo, int ElementBytes>
TILETRANSPOSE_FUNCTION void transpose_slabs(unsigned char* shared, const slab_arguments& arguments,
                                            unsigned block) {
  const static_block<slab_threads> group;
  for (unsigned number = block; number < arguments.tiles; number += arguments.blocks) {
    const slab_tile<Undo, ElementBytes> tile(arguments, shared, number);
    if (number != block) { group.sync(); }  // the tile before has been written
    const unsigned slab = tile.slab;
    const auto wait = [&] {
      grid_barrier(group, arguments.arrived, slab, slab - smaller(slab, arguments.before),
                   smaller(slab + arguments.after, arguments.slabs() - 1),
                   arguments.slab_tiles.divisor);
    };
    if constexpr (Undo) {
      tile.read_segments();
      wait();
      tile.write_rows();
    } else {
      tile.read_rows();
      wait();
      tile.write_segments();
    }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
