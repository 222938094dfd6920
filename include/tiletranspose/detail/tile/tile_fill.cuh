// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How a tile is filled: rows of the input are loaded, transposed in registers, and stored as segments of output rows.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/tile/tile_segments.cuh>
#include <tiletranspose/warp_transpose.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Words as one access. Two are joined by a shift: a copy of their bytes is other code.
template <int Bytes>
TILETRANSPOSE_FUNCTION access_word_t<Bytes> join_words(const unsigned* words) {
  if constexpr (Bytes == 8) {
    return (static_cast<unsigned long long>(words[1]) << 32) | words[0];
  } else {
    return as_word<Bytes>(words);
  }
}

/// The words that `Bytes` bytes of memory lie in, the first at a multiple of `AccessBytes` bytes, 1 or 2, or of a word's:
///
///     words     |. . . a|b b b c|c c d d|      four elements of 3 bytes, of which the first begins in byte 3
///
/// Words are loaded whatever the first byte of them is, so that the last may hold nothing that is asked for. Bytes that
/// start at a multiple of 4 are what their words hold.
template <int Bytes, int AccessBytes>
struct unaligned_words {
  static constexpr bool shifts = AccessBytes < 4;
  static constexpr int count = (Bytes + 7 - (shifts ? AccessBytes : 4)) / 4;
  /// Bytes that loads may reach over behind the last one; before the first they are at most 3.
  static constexpr int reach = shifts ? 8 : 0;
  static_assert(!shifts || 4 * count - Bytes <= reach, "");

  unsigned words[count];

  /// load(address) is the word at `address`.
  template <class Load>
  TILETRANSPOSE_FUNCTION void load(const unsigned char* first, Load load) {
    const unsigned char* const from = shifts ? word_below(first) : first;
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < count; ++i) {
      const loop_step part(i);
      words[i] = load(from + 4 * i);
    }
  }
  /// Copies the bytes that lie from `first` on, as loaded.
  TILETRANSPOSE_FUNCTION void copy(const unsigned char* first, unsigned char* to) const {
    if constexpr (!shifts) {
      __builtin_memcpy(to, words, Bytes);
    } else {
      constexpr int whole = (Bytes + 3) / 4;
      unsigned shifted[whole];
      TILETRANSPOSE_UNROLL
      for (int i = 0; i < whole; ++i) {
        shifted[i] =
            funnel_shift(words[i], words[i + 1 < count ? i + 1 : i], 8 * address_bits(first));
      }
      __builtin_memcpy(to, shifted, Bytes);
    }
  }
};

/// Where a tile's input lies and how much of it exists.
struct tile_source {
  const unsigned char* first;  ///< element (0, 0) of the tile
  size_type stride_bytes;
  int first_row;  ///< the matrix' first row and its end, counted from the tile's first row
  int end_row;
  int first_byte;  ///< the row's first byte and its end, counted from the tile's first column
  int end_byte;
  int next_rows = 0;  ///< rows behind the last one: the matrix' first ones, a column further right
  long long next_bytes = 0;  ///< from where they would lie to where they do

  TILETRANSPOSE_FUNCTION const unsigned char* row(int index) const {
    return first + static_cast<long long>(index) * static_cast<long long>(stride_bytes);
  }
};

/// Loads a row of a micro-block from `from` on, `from_byte` bytes after the tile's first column. A part that does not
/// exist stays as it is.
template <class Shape, bool Interior>
TILETRANSPOSE_FUNCTION void load_micro_row(const tile_source& source, const unsigned char* from,
                                           int from_byte, bool row_exists,
                                           unsigned (&loaded)[larger(Shape::load_bytes / 4, 1)]) {
  if constexpr (!Shape::shifts_loads) {
    if (row_exists && (Interior || from_byte + Shape::load_bytes <= source.end_byte)) {
      // In place the kernel writes what it reads.
      constexpr int fetched = Shape::in_place ? 0 : Shape::fetched;
      const auto all = load_near<access_word_t<Shape::load_bytes>, fetched, Shape::in_place>(from);
      if constexpr (Shape::load_bytes == 8) {
        loaded[0] = static_cast<unsigned>(all), loaded[1] = static_cast<unsigned>(all >> 32);
      } else {
        copy_bytes(loaded, &all, Shape::load_bytes);
      }
    }
  } else {
    // One word more than wanted, from the word boundary on, shifted together.
    constexpr int words = Shape::load_bytes / 4;
    const int below = static_cast<int>(address_bits(from) % 4);
    unsigned next = 0;
    if (row_exists && (Interior || (from_byte - below >= source.first_byte &&
                                    from_byte - below + 4 * words + 4 <= source.end_byte))) {
      TILETRANSPOSE_UNROLL
      for (int w = 0; w < words; ++w) {
        loaded[w] = load_near<unsigned, Shape::fetched>(word_below(from) + 4 * w);
      }
      next = load_near<unsigned, Shape::fetched>(word_below(from) + 4 * words);
    }
    TILETRANSPOSE_UNROLL
    for (int w = 0; w < words; ++w) {
      loaded[w] =
          funnel_shift(loaded[w], w + 1 < words ? loaded[w + 1] : next, 8 * address_bits(from));
    }
  }
}

/// Transposes a micro-block and stores its columns, but for those it lacks, each into its own shared row, at place(column).
template <class Shape, int Bytes, int Rows, int Words, class Place, class Lacks>
TILETRANSPOSE_FUNCTION void store_micro_block(const unsigned (&loaded)[Rows][Words], Place place,
                                              Lacks lacks) {
  constexpr int columns = 4 * Words / Bytes;
  unsigned transposed[columns][Rows * Bytes / 4];
  thread_transpose<Bytes>(transposed, loaded);
  TILETRANSPOSE_UNROLL
  for (int c = 0; c < columns; ++c) {
    const loop_step column(c);
    if (lacks(c)) { continue; }
    TILETRANSPOSE_UNROLL
    for (int byte = 0; byte < Rows * Bytes; byte += Shape::fill_access) {
      store_shared(place(c) + byte, join_words<Shape::fill_access>(transposed[c] + byte / 4));
    }
  }
}

/// Fills rows [from_row, from_row + Rows) of a tile. All loads are under way before the first store.
/// Rows before `first_row` are left out: they lie before the tile. So are columns from `cols` on, whose shared bytes
/// stay as they were. Words that reach over the end of a row are left to `fill_row_ends`. `Interior` promises that
/// there are none and that all rows exist: most tiles of a large matrix are spared every question.
template <class Shape, bool Interior, int Rows, class Group>
TILETRANSPOSE_FUNCTION void fill_rows(Group group, unsigned char* shared, const tile_source& source,
                                      int from_row, int first_row, int cols = Shape::tile_cols) {
  constexpr int words = larger(Shape::load_bytes / 4, 1);
  constexpr int micro_rows = Shape::micro_rows;
  constexpr unsigned load_threads = Shape::load_threads;
  constexpr unsigned steps = Rows / micro_rows * load_threads;
  constexpr int rounds = (steps + Shape::threads - 1) / Shape::threads;
  constexpr bool all_busy = steps % Shape::threads == 0;
  const unsigned rank = group.thread_rank();
  const loop_step call(from_row);

  // A round takes whole rows: each thread stays in its column, and one addition finds the next row.
  static_assert(Shape::threads % load_threads == 0, "");
  if (load_threads != Shape::row_loads && rank % load_threads >= Shape::row_loads) { return; }
  constexpr int round_rows = Shape::round_rows;
  const size_type round_bytes = (round_rows - micro_rows) * source.stride_bytes;

  // The first row of a round that is the thread's.
  const auto row_of = [&](int round) {
    return from_row + static_cast<int>(rank / load_threads * micro_rows + round * round_rows);
  };
  // Which rounds may hold such rows the compiler knows.
  const auto is_left_out = [&](int round, int row) {
    return first_row != from_row && from_row + round * round_rows < 0 && row < first_row;
  };
  // What all loads of a thread share is asked once, because loads between which more is asked are not under way together.
  const int byte = static_cast<int>(rank % load_threads * Shape::load_bytes);
  if (Shape::varies_width && byte >= cols * Shape::element_bytes) { return; }
  unsigned loaded[rounds][micro_rows][words];
  const unsigned char* address = source.row(row_of(0)) + byte;
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const unsigned step = rank + round * Shape::threads;
    const int row = row_of(round);
    if (round > 0) { address += round_bytes; }
    TILETRANSPOSE_UNROLL
    for (int r = 0; r < micro_rows; ++r, address += source.stride_bytes) {
      const loop_step here(round * micro_rows + r);
      const bool row_exists = (all_busy || step < steps) && !is_left_out(round, row) &&
                              (Interior || (row + r >= source.first_row &&
                                            row + r < source.end_row + source.next_rows));
      const bool is_next = !Interior && Shape::joins_segments && row + r >= source.end_row;
      const unsigned char* const from = is_next ? address + source.next_bytes : address;
      const int from_byte = is_next ? byte + Shape::element_bytes : byte;
      TILETRANSPOSE_UNROLL
      for (int w = 0; w < words; ++w) { loaded[round][r][w] = 0; }
      load_micro_row<Shape, Interior>(source, from, from_byte, row_exists, loaded[round][r]);
    }
  }
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const unsigned step = rank + round * Shape::threads;
    const int row = row_of(round);
    if ((!all_busy && step >= steps) || is_left_out(round, row)) { continue; }
    unsigned char* const to = shared + Shape::fill_offset(rank % load_threads) + Shape::lead_bytes +
                              row * Shape::element_bytes;
    if constexpr (micro_rows == 1 && Shape::micro_cols == 1 && !Shape::moves_groups) {
      store_shared(to, join_words<Shape::fill_bytes>(loaded[round][0]));
    } else {
      store_micro_block<Shape, Shape::element_bytes>(
          loaded[round], [to](int c) { return to + c * Shape::pitch; }, [](int) { return false; });
    }
  }
}

/// Fills rows [from_row, from_row + Rows) of a tile, negative ones only where it is `skewed`, with 16-byte loads,
/// whatever the alignment of its rows: a load takes the elements from the boundary at or below the row's on, a warp
/// takes whole rows, and each element goes to the shared row of its own column. All rows of a thread lie in their
/// vectors alike. All loads are under way before the first store.
template <class Shape, bool Interior, int Rows, class Group>
TILETRANSPOSE_FUNCTION void fill_rows_dealt(Group group, unsigned char* shared,
                                            const tile_source& source, int from_row, bool skewed,
                                            int cols) {
  constexpr int element_bytes = Shape::element_bytes;
  constexpr int elements = 16 / element_bytes;
  constexpr int row_lanes = Shape::row_lanes;
  constexpr int together = Shape::threads / row_lanes;
  constexpr int rounds = (Rows + together - 1) / together;
  static_assert(Shape::row_loads <= 32 && together % elements == 0, "");
  const loop_step call(from_row);
  using word = access_word_t<element_bytes>;
  struct alignas(16) vector {
    word elements[16 / Shape::element_bytes];
  };
  const int lane = static_cast<int>(group.thread_rank() % row_lanes);
  const int first_row = Shape::dealt_row(static_cast<int>(group.thread_rank())) + from_row;
  const unsigned char* row = source.row(first_row);
  const int shift =
      static_cast<int>(address_bits(row) % 16) / element_bytes;  // elements before the first column
  const int byte = (lane * elements - shift) * element_bytes;
  if (byte >= cols * element_bytes) { return; }
  const auto exists = [&](int round) {
    const int at = first_row + round * together;
    return ((round + 1) * together <= Rows || at < from_row + Rows) &&
           (round * together >= Shape::skew_rows || skewed || at >= 0) &&
           (Interior || (at >= source.first_row && at < source.end_row));
  };

  vector loaded[rounds];
  const bool whole = Interior || (byte >= source.first_byte && byte + 16 <= source.end_byte);
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const loop_step here(round);
    if (whole && exists(round)) {
      const word16 all =
          load_near<word16, Shape::fetched>(row + byte + round * together * source.stride_bytes);
      __builtin_memcpy(&loaded[round], &all, 16);
    }
  }
  // Afterwards, because loads between which more is asked are not under way together.
  if (!whole) {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < elements; ++i) {
      const int from = byte + i * element_bytes;
      if (from < source.first_byte || from >= source.end_byte) { continue; }
      TILETRANSPOSE_UNROLL
      for (int round = 0; round < rounds; ++round) {
        const loop_step here(i * rounds + round);
        if (exists(round)) {
          loaded[round].elements[i] =
              load_constant<word>(row + from + round * together * source.stride_bytes);
        }
      }
    }
  }
  // Elements before the first column and behind the last go to the spare ones.
  unsigned char* const to = shared + Shape::dealt_offset(lane, shift) + Shape::lead_bytes +
                            first_row * Shape::element_bytes;
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const loop_step here(round);
    if (!exists(round)) { continue; }
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < elements; ++i) {
      store_shared(to + i * Shape::pitch + Shape::dealt_padding(i, shift) +
                       round * together * Shape::element_bytes,
                   loaded[round].elements[i]);
    }
  }
}

/// Fills what `fill_rows` left out, an access of elements' own at a time.
/// Barriers: group.sync() between fill_rows and this call.
template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void fill_row_ends(Group group, unsigned char* shared,
                                          const tile_source& source, int from_row, int rows) {
  static_assert(Shape::shifts_loads && Shape::joins_segments, "");
  constexpr int bytes = Shape::element_bytes;
  constexpr int left_cols = Shape::micro_cols;  // loads that start less than 4 bytes into the row
  constexpr int right_cols =  // and that end less than 4 bytes before its end, or one further right
      Shape::micro_cols + (3 + bytes - 1) / bytes + 1;
  constexpr int row_accesses = (left_cols + right_cols) * Shape::parts;
  using word = access_word_t<Shape::access_bytes>;
  const int first_col = source.first_byte / bytes;
  const int end_col = smaller(source.end_byte / bytes, Shape::tile_cols);
  for (int step = static_cast<int>(group.thread_rank()); step < rows * row_accesses;
       step += Shape::threads) {
    const loop_step here(step / Shape::threads);
    const int row = from_row + step / row_accesses;
    const int end = step % row_accesses / Shape::parts;
    const bool left = end < left_cols;
    const int col = left ? first_col + end : end_col - 1 - (end - left_cols);
    const bool is_next = row >= source.end_row;
    if (row < source.first_row || row >= source.end_row + source.next_rows || col < 0 ||
        col >= end_col || (is_next && (col + 1) * bytes >= source.end_byte)) {
      continue;
    }
    // In a narrow tile the ends overlap: what the left end stores the right one leaves alone.
    if (!left && col < first_col + left_cols) { continue; }
    const int byte = step % Shape::parts * Shape::access_bytes;
    store_shared(shared + Shape::row_offset(col) + Shape::lead_bytes + row * bytes + byte,
                 load_global<word>(source.row(row) + (is_next ? source.next_bytes : 0) +
                                   col * bytes + byte));
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
