// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Squares in place whose rows start anywhere, or whose elements are no accesses: tiles of plain bytes.

#pragma once

#include <tiletranspose/banks.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/core/packed_elements.cuh>
#include <tiletranspose/detail/inplace/swap_tiles.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// In shared memory row c of such a tile is its column c as plain bytes: a row of the output. Rows of the input are
/// loaded by *wide* accesses of 16 bytes, from the multiple of 16 at or below their start on, and dealt out by *narrow*
/// ones of `Access` bytes, which divide the elements' bytes and their addresses:
///
///     row r     |. . a a a b b b c|c c d d d e . .|     column 0   .... a a a ....    elements of 3 bytes
///               wide access 0       wide access 1       column 1   .... b b b ....
///                                                       column 2   .... c c c ....
///
/// Rows start at a narrow access, or at a wide one where the tiles are `aligned`. Then no wide access is two tiles'.
template <int ElementBytes, int Access, byte_tiles Tiles = byte_tiles::any>
struct byte_tile_shape {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int access_bytes = Access;
  static constexpr int start_bytes = Tiles == byte_tiles::aligned ? 16 : Access;
  static constexpr bool starts_aligned = start_bytes == 16;
  static constexpr int accesses = 16 / Access;  ///< narrow ones of a wide one
  static constexpr byte_tile_row tuned = byte_tile_row_of(Tiles, ElementBytes);
  static constexpr int side =
      smaller(tuned.side, (16 * tuned.lanes - 16 + start_bytes) / ElementBytes);
  static constexpr int row_bytes = side * ElementBytes;
  static_assert(!starts_aligned || row_bytes % 16 == 0, "");
  static constexpr int round_rows = tuned.round_rows;
  static constexpr int fetched_bytes = byte_tile_fetched_bytes(Tiles, row_bytes);
  /// Threads that cover a row wherever it starts.
  static constexpr int lanes = round_up((row_bytes + 16 - start_bytes + 15) / 16, 32 / round_rows);
  static constexpr int threads = lanes * round_rows;  ///< of a tile

  /// Rows that lie a `period` apart start alike in their wide accesses, in shared memory too. A thread writes `steps` of
  /// those before it goes on to the next of its `phases`.
  static constexpr int phases = larger(accesses / round_rows, 1);
  static constexpr int period = phases * round_rows;
  static_assert(period % accesses == 0, "");
  static constexpr int steps = (side + period - 1) / period;
  /// The same as the tile is filled: all aligned rows of the memory start alike.
  static constexpr int fill_phases = starts_aligned ? 1 : phases;
  static constexpr int fill_period = fill_phases * round_rows;
  static constexpr int fill_steps = (side + fill_period - 1) / fill_period;
  /// That are under way at once; of edges, whose limits take registers, fewer.
  static constexpr int most_loads = byte_tile_loads(Tiles, ElementBytes);
  static constexpr int loads = most_loads == 0 ? fill_steps : most_loads;
  static_assert(fill_steps % loads == 0, "");
  static constexpr int edge_loads = fill_steps % 2 == 0 ? 2 : 1;

  /// Of a multiprocessor.
  static constexpr int least_blocks =
      resident_blocks(2 * threads, (tuned.resident_threads + threads) / (2 * threads));

  /// Of wide accesses at the ends of a row some bytes are another tile's: they go to spare rows, so that nobody has to
  /// ask.
  static constexpr int spare_rows = (16 - start_bytes + ElementBytes - 1) / ElementBytes;
  /// Elements of a row continue where the neighbour's end, modulo all banks: what a warp stores at once lies there as
  /// it lay in memory. Elements that are one access only need an odd number of them.
  static constexpr int pitch = ElementBytes == Access
                                   ? (side | 1) * ElementBytes
                                   : round_up(row_bytes - ElementBytes, 128) + ElementBytes;
  static constexpr int first = spare_rows * pitch;  ///< where row 0 begins
  static constexpr int shared_bytes = round_up((side + 2 * spare_rows) * pitch, 16);

  /// A wide access is dealt out in words. Lanes begin with different ones, so that eight lanes whose wide accesses lie
  /// in the same banks as others' do not conflict with them.
  using narrow = access_word_t<Access>;
  using word = access_word_t<larger(Access, 4)>;
  static constexpr unsigned words = 16 / sizeof(word);
  static constexpr int word_accesses = accesses / static_cast<int>(words);
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned first_word(unsigned rank) {
    return rank / 8 % words;
  }
  /// Where the byte that follows the first of a row by `byte`, maybe less than 0, lies in shared memory if the row is
  /// the tile's first.
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned place(int byte) {
    constexpr unsigned shift = 17;
    constexpr unsigned inverse = (1u << shift) / ElementBytes + 1;
    const unsigned at = static_cast<unsigned>(byte + spare_rows * ElementBytes);
    return at + (at * inverse >> shift) * (pitch - ElementBytes);
  }
  /// The lanes of a row do not conflict where they fill shared memory (tests/constexpr/tile_banks_test.cpp); those of
  /// several rows, whose wide accesses start anywhere, may: every order without conflicts was slower. Rows of lanes that
  /// are no multiple of eight conflict where two of them are read by eight.
  static_assert(rotation_ways<16>(lanes) <= 2, "a shipped tile must not conflict");

  template <class Group>
  TILETRANSPOSE_FUNCTION static void move(Group group, const half_tile& tile,
                                          const memory_range& memory) {
    const unsigned rank = group.thread_rank();
    if (tile.exists) {
      const unsigned char* const last = tile.from + (tile.rows - 1) * tile.stride_bytes;
      if (smaller(tile.rows, tile.cols) == side &&
          (starts_aligned || memory.reaches_around(tile.from, last + tile.cols * element_bytes))) {
        fill<true>(rank, tile, memory, side, side);
      } else {
        fill<false>(rank, tile, memory, tile.rows, tile.cols);
      }
    }
    group.sync();
    if (tile.exists) { drain(rank, tile); }
  }

 private:
  /// Fills `rows` rows of `cols` elements. Of a whole tile all wide accesses lie in memory; at an edge those that do not
  /// are made of narrow ones.
  template <bool Whole>
  TILETRANSPOSE_FUNCTION static void fill(unsigned rank, const half_tile& tile,
                                          const memory_range& memory, int rows, int cols) {
    constexpr int batch = Whole ? loads : edge_loads;
    const size_type stride = tile.stride_bytes;
    const int lane = static_cast<int>(rank % lanes);
    TILETRANSPOSE_UNROLL_BY(1)
    for (int begin = 0; begin < fill_phases * fill_steps; begin += batch) {
      const int top = static_cast<int>(rank / lanes) + begin / fill_steps * round_rows +
                      (batch == fill_steps ? 0 : begin % fill_steps * fill_period);
      const unsigned char* const row = tile.from + top * stride;
      // Where the thread's wide accesses start in their rows.
      const int start = lane * 16 - (starts_aligned ? 0 : static_cast<int>(address_bits(row) % 16));
      if (start >= cols * element_bytes) { continue; }
      const size_type down = fill_period * stride;
      const auto to = [&](int step) {
        return tile.shared + (top + step * fill_period) * element_bytes;
      };
      const auto exists = [&](int step) {
        return (Whole && batch == fill_steps && (step + 1) * fill_period <= side) ||
               top + step * fill_period < rows;
      };
      const auto inside = [&](const unsigned char* wide) {
        return Whole || (wide >= memory.begin && wide + 16 <= memory.end);
      };
      word16 got[batch];
      const unsigned char* wide = row + start;
      TILETRANSPOSE_UNROLL
      for (int step = 0; step < batch; ++step, wide += down) {
        const loop_step here(begin + step);
        if (exists(step) && inside(wide)) {
          got[step] = load_global_part<word16, fetched_bytes>(
              wide, larger(-start, 0), smaller(cols * element_bytes - start, 16));
        }
      }
      word rotated[batch][words];
      TILETRANSPOSE_UNROLL
      for (int step = 0; step < batch; ++step) {
        rotate_words(got[step], first_word(rank), rotated[step]);
      }
      // Word by word, so that few registers tell where narrow accesses go.
      TILETRANSPOSE_UNROLL
      for (unsigned w = 0; w < words; ++w) {
        const int byte = start + static_cast<int>((w + first_word(rank)) % words * sizeof(word));
        unsigned places[word_accesses];
        TILETRANSPOSE_UNROLL
        for (int u = 0; u < word_accesses; ++u) { places[u] = place(byte + u * access_bytes); }
        wide = row + start;
        TILETRANSPOSE_UNROLL
        for (int step = 0; step < batch; ++step, wide += down) {
          const loop_step here(begin + step);
          if (!exists(step) || !inside(wide)) { continue; }
          TILETRANSPOSE_UNROLL
          for (int u = 0; u < word_accesses; ++u) {
            const loop_step inner(static_cast<int>(w) * word_accesses + u);
            store_shared(to(step) + places[u], access_of(rotated[step][w], u));
          }
        }
      }
      if (Whole) { continue; }
      wide = row + start;
      TILETRANSPOSE_UNROLL_BY(1)
      for (int step = 0; step < batch; ++step, wide += down) {
        const loop_step here(begin + step);
        if (!exists(step) || inside(wide)) { continue; }
        TILETRANSPOSE_UNROLL_BY(1)
        for (int byte = larger(start, 0); byte < smaller(start + 16, cols * element_bytes);
             byte += access_bytes) {
          const loop_step inner(byte);
          store_shared(to(step) + place(byte), load_global<narrow>(wide + (byte - start)));
        }
      }
    }
  }

  /// Writes wide accesses that start at multiples of 16 bytes, and narrow ones at both ends of rows.
  TILETRANSPOSE_FUNCTION static void drain(unsigned rank, const half_tile& tile) {
    const size_type stride = tile.stride_bytes;
    const int rows = tile.cols;
    const int length = tile.rows * element_bytes;
    const auto head = [&](const unsigned char* row) {
      return starts_aligned ? 0 : static_cast<int>((0u - address_bits(row)) % 16);
    };
    const int first_row = static_cast<int>(rank / lanes);
    const int lane = static_cast<int>(rank % lanes);
    TILETRANSPOSE_UNROLL_BY(1)
    for (int phase = 0; phase < phases; ++phase) {
      const int top = first_row + phase * round_rows;
      unsigned char* const row = tile.to + top * stride;
      const int byte = head(row) + lane * 16;
      if (byte + 16 > length) { continue; }
      const unsigned from = static_cast<unsigned>(first + top * pitch + byte);
      TILETRANSPOSE_UNROLL
      for (int step = 0; step < steps; ++step) {
        const loop_step here(phase * steps + step);
        if (top + step * period < rows) {
          store_global(
              row + byte + step * period * stride,
              read_shared<16, access_bytes>(tile.shared, from, step * period * pitch, rank));
        }
      }
    }
    if (starts_aligned && length % 16 == 0) { return; }
    TILETRANSPOSE_UNROLL_BY(2)
    for (int at = static_cast<int>(rank); at < rows * accesses; at += threads) {
      const loop_step here(at / threads);
      unsigned char* const out = tile.to + at / accesses * stride;
      const unsigned char* const row = tile.shared + first + at / accesses * pitch;
      const int front = smaller(head(out), length);
      const int ends = front + (length - front) % 16;
      TILETRANSPOSE_UNROLL_BY(1)
      for (int end = at % accesses * access_bytes; end < ends; end += 16) {
        const loop_step inner(end / 16);
        const int byte = end < front ? end : length - ends + end;
        store_global(out + byte, load_shared<narrow>(row + byte));
      }
    }
  }

  /// The words of 16 bytes, from number `first` on.
  TILETRANSPOSE_FUNCTION static void rotate_words(const word16& wide, unsigned first,
                                                  word (&rotated)[words]) {
    if constexpr (words == 1) {
      rotated[0] = wide;
    } else {
      word read[words];
      __builtin_memcpy(read, &wide, 16);
      rotate_back(read, words - first, rotated);
    }
  }
  TILETRANSPOSE_FUNCTION static narrow access_of(const word& from, int number) {
    if constexpr (word_accesses == 1) {
      return from;
    } else {
      return static_cast<narrow>(from >> (8 * access_bytes * number));
    }
  }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
