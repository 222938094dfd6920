// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How a fused kernel loads rows of its input: `fused_loads`. Rows are shared out as segments of the output are
/// (tile_segments.cuh): a thread takes those that lie alike, so that it works out once where they do (`tile_loads`).

#pragma once

#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/core/shuffle.cuh>
#include <tiletranspose/detail/tile/fused_shape.cuh>
#include <tiletranspose/detail/tile/tile_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The matrix beside input and output: ny x nx elements of the output's type. Null but for fusion::dual.
struct row_major_copy {
  void* data;
  size_type stride_bytes;
  unsigned sector_mask = 0;  ///< as the one of tile_arguments
  bool in_step =
      false;  ///< its rows start as far from a vector's boundary as those of the input do

  TILETRANSPOSE_FUNCTION unsigned char* place(size_type row, size_type col_bytes) const {
    return static_cast<unsigned char*>(data) + row * stride_bytes + col_bytes;
  }
};

/// Where an element of the input is.
struct matrix_place {
  size_type row;
  size_type col;
};

/// A block's tile: where it comes from, where it goes, its shared rows and its place in the copy, where there is one.
struct fused_tile {
  tile_source source;
  tile_target target;
  matrix_place first;  ///< its first element
  unsigned char* shared;
  row_major_copy copy;
};

/// Which rows of a tile a thread loads, and which of their elements. The rows before the tile, of which skewed
/// segments begin, are loaded with the others. Rounds of a phase take rows that are aligned alike.
template <class Fused, bool Interior>
struct tile_loads {
  static constexpr int count = Fused::count;
  static constexpr int in_bytes = Fused::in_bytes;
  static constexpr int skew_rows = Fused::skew_rows;
  static constexpr int micro_rows = Fused::micro_rows;
  static constexpr int together = Fused::threads / Fused::lanes * micro_rows;
  static constexpr int phases = larger(Fused::period / together, 1);
  static constexpr int apart = phases * together;  ///< rows from round to round
  static constexpr int rounds = (skew_rows + Fused::tile_rows + apart - 1) / apart;
  /// Registers for what is loaded, of which old elements take some. At the ends of a matrix what exists is asked
  /// for each element, which takes registers, too.
  static constexpr int registers = Fused::deals ? 40
                                   : Fused::loads_unaligned
                                       ? (Fused::copies || in_bytes > 8 ? 8 : 32)
                                   : Fused::shifts             ? Fused::load_registers
                                   : micro_rows * in_bytes > 8 ? 16
                                                               : 32;
  static constexpr int taken =
      Fused::old_registers(Fused::tile_rows * Fused::tile_cols * Fused::out_bytes / Fused::threads);
  static constexpr int words = micro_rows * Fused::load_words;
  /// Rounds whose loads are under way at a time.
  static constexpr int most =
      Fused::loads_one_round
          ? 1
          : larger((Interior ? larger(registers - taken, 8) : registers / 2) / words, 1);
  static constexpr int batches = (rounds + most - 1) / most;
  static constexpr int batch = (rounds + batches - 1) / batches;
  /// Batches in a row without a loop: all of them, but rows of packed elements that are stored together spilled so (two
  /// outputs, 3 bytes to 2, 5 to 1, 6 to 2), and by two in whole words (4 bytes to 1).
  static constexpr int unrolled = !(Fused::loads_unaligned && Fused::copies && micro_rows > 1)
                                      ? batches
                                  : Fused::fills_words && access_width(in_bytes) == in_bytes ? 1
                                                                                             : 2;

  const fused_tile& tile;
  int lane;
  int first_row;  ///< of the phase
  int shift;      ///< elements that the first load of each row takes before the tile's first column
  int col;
  int from_row;
  int end_row;

  template <class Group>
  TILETRANSPOSE_FUNCTION tile_loads(Group group, const fused_tile& moved, int phase) : tile(moved) {
    const unsigned rank = group.thread_rank();
    lane = static_cast<int>(rank % Fused::lanes);
    first_row = static_cast<int>(rank / Fused::lanes) * micro_rows - skew_rows + phase * together;
    shift = 0;
    if constexpr (Fused::deals) {
      shift = static_cast<int>(address_bits(tile.copy.place(static_cast<size_type>(first_row), 0)) %
                               sector_bytes) /
              Fused::out_bytes;
    }
    col = lane * count - shift;
    from_row = tile.target.sector_mask != 0 ? -skew_rows : 0;
    end_row = Fused::tile_rows;
    if (!Interior) {
      from_row = larger(from_row, tile.source.first_row);
      end_row = smaller(end_row, tile.source.end_row);
    }
  }

  TILETRANSPOSE_FUNCTION int row(int round) const { return first_row + round * apart; }
  /// Whether each row of a round is one of the tile's, whatever the thread and the phase.
  TILETRANSPOSE_HOST_DEVICE static constexpr bool is_inside(int round) {
    return round * apart >= skew_rows && (round + 1) * apart <= skew_rows + Fused::tile_rows;
  }
  TILETRANSPOSE_FUNCTION bool row_exists(int round, int micro_row) const {
    const int at = row(round) + micro_row;
    return (Interior && is_inside(round)) || (at >= from_row && at < end_row);
  }
  TILETRANSPOSE_FUNCTION bool any_exists(int round) const {
    return row_exists(round, 0) || (!Interior && micro_rows > 1 && row(round) < end_row &&
                                    row(round) + micro_rows > from_row);
  }
  /// Calls visit(b, r, address) for row r of round b of the batch whose first round is `first`; `address` starts at that
  /// of the first of them.
  template <class Visit>
  TILETRANSPOSE_FUNCTION void each_row(int first, const unsigned char* address, Visit visit) const {
    const size_type stride = tile.source.stride_bytes;
    TILETRANSPOSE_UNROLL
    for (int b = 0; b < batch; ++b, address += (apart - micro_rows) * stride) {
      TILETRANSPOSE_UNROLL
      for (int r = 0; r < micro_rows; ++r, address += stride) {
        const loop_step here((first + b) * micro_rows + r);
        if (first + b < rounds) { visit(b, r, address); }
      }
    }
  }
  /// Some lanes are there for the copy alone, or for their neighbours.
  TILETRANSPOSE_FUNCTION bool fills() const {
    return Fused::deals ? col > -count && col < Fused::tile_cols
                        : !Fused::shifts || col < Fused::tile_cols;
  }
  /// The tile's part of the copy's row ends where the one of its right neighbour begins.
  TILETRANSPOSE_FUNCTION bool in_copy() const {
    return !Fused::deals || lane * count * Fused::out_bytes < (Fused::tile_cols + shift) *
                                                                  Fused::out_bytes / sector_bytes *
                                                                  sector_bytes;
  }
  /// Where the thread's first element is in the shared rows.
  TILETRANSPOSE_FUNCTION int offset() const {
    return static_cast<int>(Fused::row_offset(0)) + Fused::lead_bytes + row(0) * Fused::bytes +
           col * Fused::pitch + Fused::lane_padding(lane, shift);
  }
  TILETRANSPOSE_FUNCTION bool byte_exists(int byte) const {
    return Interior || (byte >= tile.source.first_byte && byte < tile.source.end_byte);
  }
};

/// What a thread has loaded of as many rounds as are under way at a time.
template <class Fused, bool Interior>
using loaded_batch = typename Fused::vector[tile_loads<Fused, Interior>::batch][Fused::micro_rows];

/// Loads what exists of a vector, element by element.
template <class Fused, class Places>
TILETRANSPOSE_FUNCTION void load_parts(const Places& at, const unsigned char* row, int byte,
                                       typename Fused::vector& loaded) {
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < Fused::count; ++i) {
    const loop_step part(i);
    const int from = byte + i * Fused::in_bytes;
    if (at.byte_exists(from)) {
      const auto word = load_constant<access_word_t<Fused::in_access>>(row + from);
      __builtin_memcpy(loaded.memory + i * Fused::in_bytes, &word, Fused::in_access);
    }
  }
}

/// The word at `address`, `byte` bytes after the tile's first column: what of it is inside of its row.
template <int AccessBytes, int Fetched = 0, class Places>
TILETRANSPOSE_FUNCTION unsigned load_word(const Places& at, const unsigned char* address,
                                          int byte) {
  if (at.byte_exists(byte) && at.byte_exists(byte + 3)) {
    return load_constant_near<unsigned, Fetched>(address);
  }
  unsigned result = 0;
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < 4; i += AccessBytes) {
    const loop_step part(i);
    if (at.byte_exists(byte + i)) {
      result |= static_cast<unsigned>(load_constant<access_word_t<AccessBytes>>(address + i))
                << (8 * i);
    }
  }
  return result;
}

/// Loads what exists of the vector at `address`, `byte` bytes after the tile's first column.
template <class Fused, bool Interior, class Places>
TILETRANSPOSE_FUNCTION void load_vector(const Places& at, const unsigned char* address, int byte,
                                        typename Fused::vector& to) {
  if (Interior ||
      (byte >= at.tile.source.first_byte && byte + Fused::load_bytes <= at.tile.source.end_byte)) {
    to.template load<Fused::fetched>(address);
  } else if constexpr (Fused::loads == fused_loads::vectors && Fused::in_access < 4) {
    TILETRANSPOSE_UNROLL
    for (int w = 0; w < Fused::load_bytes; w += 4) {
      const loop_step part(w);
      const unsigned word = load_word<Fused::in_access>(at, address + w, byte + w);
      copy_bytes(to.memory + w, &word, 4);
    }
  } else if constexpr (Fused::count > 1) {
    load_parts<Fused>(at, address - byte, byte, to);
  }
}

/// Loads a batch of rows as the words that its elements lie in, the first of them at `start`.
template <class Fused, bool Interior>
TILETRANSPOSE_FUNCTION void load_unaligned_rows(const tile_loads<Fused, Interior>& at, int first,
                                                const unsigned char* start,
                                                loaded_batch<Fused, Interior>& loaded) {
  using places = tile_loads<Fused, Interior>;
  const int byte = at.col * Fused::in_bytes;
  typename Fused::unaligned words[places::batch][places::micro_rows] = {};
  at.each_row(first, start, [&](int b, int r, const unsigned char* from) {
    if (!at.row_exists(first + b, r)) { return; }
    words[b][r].load(from, [&](const unsigned char* word) {
      return load_word<Fused::in_access, Fused::fetched>(at, word,
                                                         byte + static_cast<int>(word - from));
    });
  });
  // Rows that there are not, too: nobody looks at them, and to ask again costs more.
  at.each_row(first, start, [&](int b, int r, const unsigned char* from) {
    words[b][r].copy(from, loaded[b][r].memory);
  });
}

/// Loads a batch of rows as words from the boundary at or below each row's first element on, `byte` bytes after `row`; the
/// next lane has what lacks.
template <class Fused, bool Interior>
TILETRANSPOSE_FUNCTION void load_shifted_rows(const tile_loads<Fused, Interior>& at, int first,
                                              const unsigned char* row,
                                              loaded_batch<Fused, Interior>& loaded) {
  using places = tile_loads<Fused, Interior>;
  constexpr int bytes = Fused::load_bytes;
  constexpr int words = bytes / 4;
  static_assert(words <= 2 && places::apart * Fused::in_bytes % bytes == 0,
                "rounds are aligned alike");
  const size_type stride = at.tile.source.stride_bytes;
  unsigned raw[places::batch][places::micro_rows][words] = {};
  // Bytes of a row's first load that lie before its first element.
  const auto past = [&](int r) { return static_cast<int>(address_bits(row + r * stride) % bytes); };
  at.each_row(first, row, [&](int b, int r, const unsigned char* address) {
    if (!at.row_exists(first + b, r)) { return; }
    const int from = at.col * Fused::in_bytes - past(r);
    const unsigned char* const start = address + from;
    if (at.byte_exists(from) && at.byte_exists(from + bytes - 1)) {
      const auto all = load_constant_near<access_word_t<bytes>, Fused::fetched>(start);
      copy_bytes(raw[b][r], &all, bytes);
    } else {
      TILETRANSPOSE_UNROLL
      for (int w = 0; w < words; ++w) {
        const loop_step part(w);
        raw[b][r][w] = load_word<Fused::in_access>(at, start + 4 * w, from + 4 * w);
      }
    }
  });
  const unsigned next = lane_index() + 1;
  at.each_row(first, row, [&](int b, int r, const unsigned char*) {
    const auto shift = static_cast<unsigned>(8 * past(r));
    const unsigned(&own)[words] = raw[b][r];
    unsigned shifted[words];
    if constexpr (words == 1) {
      shifted[0] = funnel_shift(own[0], shuffle(own[0], next), shift);
    } else {
      const bool second = past(r) >= 4;  // the first element begins in the second word
      const unsigned low = second ? own[1] : own[0];
      const unsigned after = shuffle(own[0], next);
      const unsigned middle = second ? after : own[1];
      shifted[0] = funnel_shift(low, middle, shift);
      shifted[1] = funnel_shift(middle, shuffle(low, next), shift);
    }
    copy_bytes(loaded[b][r].memory, shifted, bytes);
  });
}

/// Starts the loads of a batch.
template <class Fused, bool Interior>
TILETRANSPOSE_FUNCTION void load_rows(const tile_loads<Fused, Interior>& at, int first,
                                      loaded_batch<Fused, Interior>& loaded) {
  const tile_source& source = at.tile.source;
  const unsigned char* const row = source.row(at.row(first));
  const int byte = at.col * Fused::in_bytes;
  if constexpr (Fused::loads_unaligned) {
    load_unaligned_rows<Fused, Interior>(at, first, row + byte, loaded);
  } else if constexpr (Fused::shifts) {
    load_shifted_rows<Fused, Interior>(at, first, row, loaded);
  } else {
    const auto each = [&](auto load) {
      at.each_row(first, row, [&](int b, int r, const unsigned char* from) {
        if (at.row_exists(first + b, r)) { load(from, loaded[b][r]); }
      });
    };
    using vector = typename Fused::vector;
    if (Fused::deals && !at.tile.copy.in_step) {
      each([&](const unsigned char* from, vector& to) { load_parts<Fused>(at, from, byte, to); });
      return;
    }
    each([&](const unsigned char* from, vector& to) {
      load_vector<Fused, Interior>(at, from + byte, byte, to);
    });
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
