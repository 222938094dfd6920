// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernels that make columns of a tall matrix short: with S rows turned at a time, what moves is a run of S
/// elements and no more a single one.
///
/// A matrix has m rows and n columns, of each of which k runs of S elements each move, from its phase on
/// (run_layout.cuh): run P of a column is elements P * S + phase and on. Chunk P is the S rows from P * S on, and the P-th
/// n of the slots where runs lie. Where k and n have no common divisor, that runs get to where they belong takes
///
///     1. chunks    run P of column y  ->  slot (P, Q),  Q = (y * k + P) % n
///     2. columns   slot (P, Q)  ->  slot ((P - Q) / n % k, Q), step 3 of rectangle_grid.cuh for a grid of slots
///
/// and the elements in no run are kept in scratch memory meanwhile. The same, undone from the last to the first, makes
/// the transpose of an n x m matrix.
///
/// Runs begin where sectors do, so that they are moved by whole ones; for that a chunk reads up to a group of rows
/// that the next one reads, too, or undone the last group of runs of the chunk before it.

#pragma once

#include <tiletranspose/detail/copy_async.cuh>
#include <tiletranspose/detail/divide.cuh>
#include <tiletranspose/detail/meet.cuh>
#include <tiletranspose/detail/memory.cuh>
#include <tiletranspose/detail/run_layout.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline constexpr int chunk_threads = 512;
/// Of a multiprocessor: one loads while others store. H200, 2026-11-22, % of cudaMemcpyAsync with 1, 2 and 3, bytes:
/// 1000 x 1073741 26.2, 25.6, 25.5, 1073741 x 1000 20.0, 24.5, 25.8.
inline constexpr int chunk_blocks = 3;

/// Step 1. A tile is some columns of a chunk, or all of them; a block takes one tile after the other.
struct chunk_arguments {
  const unsigned char* source;  ///< the data
  unsigned char* data;
  unsigned* arrived;    ///< for each chunk the tiles that have been read
  unsigned cols;        ///< n
  unsigned rows;        ///< S
  unsigned slant;       ///< rows that a chunk and the next one have in common: the largest phase
  unsigned run_words;   ///< of 16 bytes, an even number
  unsigned tail_words;  ///< undone: of a group, or none where there are no phases
  unsigned tile_cols;
  unsigned tile_pitch;   ///< bytes between rows of a tile in shared memory
  unsigned blocks;       ///< of the launch
  unsigned tiles;        ///< of all chunks; undone, of the rows behind the last one, too
  unsigned before;       ///< chunks that read what a chunk is written over
  unsigned after;        ///< the same behind it
  divider chunk_tiles;   ///< tiles of a chunk
  divider columns;       ///< of a tile
  divider last_columns;  ///< of a chunk's last tile
  divider row_words;     ///< that cover a row of a tile, wherever it starts
  long_divider by_cols;
  run_layout runs;
  size_type chunk_bytes;
  size_type bytes;  ///< of the data

  /// Whose tiles are taken.
  TILETRANSPOSE_FUNCTION unsigned chunks() const {
    return runs.tall.divisor + (tail_words == 0 ? 0 : 1);
  }
  /// Of tiles that wait for each other, and of all that is read.
  unsigned together() const { return chunk_tiles.divisor; }
  size_type source_bytes() const { return bytes; }
};

/// Step 1 for the tiles of a block, or undone.
/// Shared memory: 16 bytes and, for each row that is read or written, tile_pitch; aligned to 16. Barriers: three a
/// tile, inside.
/// Precondition: all blocks run at once, and are no fewer than tiles of the chunks that wait for each other.
template <bool Undo, int ElementBytes, class Group>
TILETRANSPOSE_FUNCTION void turn_chunks(Group group, unsigned char* shared,
                                        const chunk_arguments& arguments, unsigned block) {
  constexpr int unit_bytes = access_width(ElementBytes);
  constexpr int units = 16 / unit_bytes;
  constexpr unsigned batch = 4;
  using unit = access_word_t<unit_bytes>;
  const run_layout& runs = arguments.runs;
  const unsigned rank = group.thread_rank();
  const unsigned threads = group.size();
  const unsigned row_bytes = arguments.cols * ElementBytes;
  const unsigned tall = runs.tall.divisor;
  for (unsigned tile = block; tile < arguments.tiles; tile += arguments.blocks) {
    const unsigned chunk = arguments.chunk_tiles.quotient(tile);
    const unsigned first_col = arguments.chunk_tiles.remainder(tile, chunk) * arguments.tile_cols;
    const unsigned cols = smaller(arguments.cols - first_col, arguments.tile_cols);
    const unsigned char* const source = arguments.source + chunk * arguments.chunk_bytes;
    unsigned char* const target = arguments.data + chunk * arguments.chunk_bytes;
    const bool dense = arguments.chunk_tiles.divisor == 1;
    // Undone, the last runs end in rows behind the last chunk.
    const unsigned height = !Undo           ? arguments.rows + arguments.slant
                            : chunk == tall ? arguments.slant
                                            : arguments.rows;
    // Rows of a tile lie as far after a multiple of 16 in shared memory as in global memory.
    const unsigned first_byte = first_col * ElementBytes;
    unsigned char* const rows = shared + first_byte % 16;

    // Visits the words of 16 bytes that the rows of a tile are in: whole(shared, byte of the chunk) or, where some
    // bytes are not the tile's, part(shared, byte of the chunk, first, end).
    const auto each_word = [&](auto whole, auto part) {
      if (dense) {
        const unsigned end = height * row_bytes;
        TILETRANSPOSE_UNROLL_BY(4)
        for (unsigned at = rank * 16; at < end; at += threads * 16) { whole(shared + at, at); }
        return;
      }
      const unsigned words = height * arguments.row_words.divisor;
      TILETRANSPOSE_UNROLL_BY(2)
      for (unsigned at = rank; at < words; at += threads) {
        const loop_step here(at / threads);
        const unsigned row = arguments.row_words.quotient(at);
        const unsigned begin = row * row_bytes + first_byte;
        const unsigned end = begin + cols * ElementBytes;
        const unsigned byte = begin / 16 * 16 + arguments.row_words.remainder(at, row) * 16;
        unsigned char* const place = rows + row * arguments.tile_pitch + byte - begin;
        if (byte >= begin && byte + 16 <= end) {
          whole(place, byte);
        } else if (byte < end) {
          part(place, byte, byte < begin ? static_cast<int>(begin - byte) : 0,
               static_cast<int>(smaller(end - byte, 16u)));
        }
      }
    };

    // A word of a column: two that follow each other are neighbouring lanes', so that they write whole sectors.
    struct place {
      unsigned col;  ///< of the tile
      unsigned
          word;  ///< of the run; undone, those of the last group of the run before come behind it
    };
    const unsigned words = cols * (arguments.run_words + (Undo ? arguments.tail_words : 0));
    const divider& columns =
        cols == arguments.tile_cols ? arguments.columns : arguments.last_columns;
    const auto find = [&](unsigned number) {
      const unsigned pair = number / 2;
      const unsigned down = columns.quotient(pair);
      return place{pair - down * cols, 2 * down + number % 2};
    };
    // Byte of the data where a column's run of a chunk lies.
    const auto slot = [&](unsigned col, unsigned of_chunk) {
      const unsigned to = arguments.by_cols.remainder(
          static_cast<unsigned long long>(first_col + col) * tall + of_chunk);
      return runs.slot_bytes(of_chunk * arguments.cols + to);
    };

    if (tile != block) { group.sync(); }  // the tile before has been written
    if constexpr (Undo) {
      for (unsigned start = rank; start < words; start += batch * threads) {
        word16 got[batch];
        TILETRANSPOSE_UNROLL
        for (unsigned i = 0; i < batch; ++i) {
          const unsigned number = start + i * threads;
          if (number >= words) { continue; }
          const place at = find(number);
          // What is in no run, before the first and behind the last, comes out of scratch memory later.
          const bool tail = at.word >= arguments.run_words;
          const unsigned of_chunk = tail ? larger(chunk, 1u) - 1 : smaller(chunk, tall - 1);
          const unsigned word = tail ? at.word - arguments.tail_words : at.word;
          got[i] = load_global<word16>(arguments.source + slot(at.col, of_chunk) + word * 16);
        }
        TILETRANSPOSE_UNROLL
        for (unsigned i = 0; i < batch; ++i) {
          if (start + i * threads >= words) { break; }
          const loop_step here(i);
          const place at = find(start + i * threads);
          const bool tail = at.word >= arguments.run_words;
          const unsigned above = runs.phase(first_col + at.col) - (tail ? arguments.rows : 0);
          const unsigned word = tail ? at.word - arguments.tail_words : at.word;
          unit parts[units];
          copy_bytes(parts, &got[i], 16);
          TILETRANSPOSE_UNROLL
          for (int u = 0; u < units; ++u) {
            const unsigned byte = word * 16 + static_cast<unsigned>(u) * unit_bytes;
            const unsigned row = above + byte / ElementBytes;  // modulo 2^32
            if (row < arguments.rows) {
              store_shared(
                  rows + row * arguments.tile_pitch + at.col * ElementBytes + byte % ElementBytes,
                  parts[u]);
            }
          }
        }
      }
    } else {
      each_word([&](unsigned char* to, unsigned at) { copy_async<16>(to, source + at); },
                [&](unsigned char* to, unsigned at, int first, int end) {
                  copy_part_async(to, source + at, first, end);
                });
      commit_copies();
      wait_for_copies(0);
    }
    meet(group, arguments.arrived, chunk, chunk - smaller(chunk, arguments.before),
         smaller(chunk + arguments.after, arguments.chunks() - 1), arguments.chunk_tiles.divisor);
    if constexpr (Undo) {
      each_word([&](unsigned char* from,
                    unsigned at) { store_global(target + at, load_shared<word16>(from)); },
                [](unsigned char*, unsigned, int, int) {});
      // What is left of rows at both ends, a unit a thread.
      const unsigned ends = dense ? 0 : height * 2 * units;
      for (unsigned at = rank; at < ends; at += threads) {
        const loop_step here(at / threads);
        const unsigned row = at / (2 * units);
        const unsigned number = at % (2 * units);
        const unsigned begin = row * row_bytes + first_byte;
        const unsigned end = begin + cols * ElementBytes;
        const unsigned whole = divide_up(begin, 16u) * 16;  // a row may end before it
        const unsigned byte = number < units
                                  ? begin + number * unit_bytes
                                  : larger(whole, end / 16 * 16) + (number - units) * unit_bytes;
        if (byte < (number < units ? smaller(whole, end) : end)) {
          store_global(target + byte,
                       load_shared<unit>(rows + row * arguments.tile_pitch + (byte - begin)));
        }
      }
    } else {
      TILETRANSPOSE_UNROLL_BY(2)
      for (unsigned number = rank; number < words; number += threads) {
        const place here = find(number);
        const unsigned char* const column =
            rows + runs.phase(first_col + here.col) * arguments.tile_pitch +
            here.col * ElementBytes;
        unit parts[units];
        TILETRANSPOSE_UNROLL
        for (int u = 0; u < units; ++u) {
          const unsigned byte = here.word * 16 + static_cast<unsigned>(u) * unit_bytes;
          parts[u] = load_shared<unit>(column + byte / ElementBytes * arguments.tile_pitch +
                                       byte % ElementBytes);
        }
        word16 all;
        copy_bytes(&all, parts, 16);
        store_global(arguments.data + slot(here.col, chunk) + here.word * 16, all);
      }
    }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
