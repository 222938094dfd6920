// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How a fused kernel loads rows of its input, `fused_loads`, and stores what it has loaded: converted, into the shared
/// rows, and into the copy. Rows are shared out as segments of the output are (tile_segments.cuh): a thread takes those
/// that lie alike, so that it works out once where they do (`tile_loads`).

#pragma once

#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/core/packed_elements.cuh>
#include <tiletranspose/detail/core/shuffle.cuh>
#include <tiletranspose/detail/tile/fused_shape.cuh>
#include <tiletranspose/detail/tile/tile_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The matrix beside input and output: ny x nx elements of the output's type. Null but for fusion::dual.
struct row_major_copy {
  void* data;
  size_type stride_bytes;
  bool in_step = false;  ///< its rows start as far from vectors' boundaries as the input's do

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
  using vector = typename Fused::vector;
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
  static constexpr int held_words = micro_rows * Fused::load_words;
  /// Rounds whose loads are under way at a time.
  static constexpr int most =
      Fused::loads_one_round
          ? 1
          : larger((Interior ? larger(registers - taken, 8) : registers / 2) / held_words, 1);
  static constexpr int batches = (rounds + most - 1) / most;
  static constexpr int batch = (rounds + batches - 1) / batches;
  /// Batches in a row without a loop: all of them, but rows of packed elements that are stored together spilled so (two
  /// outputs, 3 bytes to 2, 5 to 1, 6 to 2), and by two in whole words (4 bytes to 1).
  static constexpr int unrolled = !(Fused::loads_unaligned && Fused::copies && micro_rows > 1)
                                      ? batches
                                  : Fused::fills_words && access_width(in_bytes) == in_bytes ? 1
                                                                                             : 2;
  /// What a thread has loaded of a row in each round, of all rounds that are under way, and what it writes to the copy.
  using loaded_rows = vector[micro_rows];
  using loaded_batch = loaded_rows[batch];
  using copied_rows = typename Fused::copied[micro_rows];

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
  /// Whether the element of the lane's column `i` is one of its row's.
  TILETRANSPOSE_FUNCTION bool col_exists(int i) const { return byte_exists((col + i) * in_bytes); }

  /// The word at `address`, `byte` bytes after the tile's first column: what of it is inside of its row.
  template <int Fetched = 0>
  TILETRANSPOSE_FUNCTION unsigned load_word(const unsigned char* address, int byte) const {
    if (byte_exists(byte) && byte_exists(byte + 3)) {
      return load_near<unsigned, Fetched>(address);
    }
    unsigned result = 0;
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < 4; i += Fused::in_access) {
      const loop_step part(i);
      if (byte_exists(byte + i)) {
        result |= static_cast<unsigned>(load_constant<access_word_t<Fused::in_access>>(address + i))
                  << (8 * i);
      }
    }
    return result;
  }

  /// Loads what exists of the vector at `address`, `byte` bytes after a row's first column, element by element.
  TILETRANSPOSE_FUNCTION void load_parts(const unsigned char* address, int byte, vector& to) const {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < count * in_bytes; i += in_bytes) {
      const loop_step part(i);
      if (byte_exists(byte + i)) {
        const auto word = load_constant<access_word_t<Fused::in_access>>(address + i);
        __builtin_memcpy(to.memory + i, &word, Fused::in_access);
      }
    }
  }
  /// The same by the widest accesses.
  TILETRANSPOSE_FUNCTION void load_vector(const unsigned char* address, int byte,
                                          vector& to) const {
    if (Interior ||
        (byte >= tile.source.first_byte && byte + Fused::load_bytes <= tile.source.end_byte)) {
      to.template load<Fused::fetched>(address);
    } else if constexpr (Fused::loads == fused_loads::vectors && Fused::in_access < 4) {
      TILETRANSPOSE_UNROLL
      for (int w = 0; w < Fused::load_bytes; w += 4) {
        const loop_step part(w);
        const unsigned word = load_word(address + w, byte + w);
        copy_bytes(to.memory + w, &word, 4);
      }
    } else if constexpr (count > 1) {
      load_parts(address, byte, to);
    }
  }

  /// Loads a batch of rows as the words that its elements lie in, the first of them at `start`.
  TILETRANSPOSE_FUNCTION void load_unaligned_rows(int first, const unsigned char* start,
                                                  loaded_batch& loaded) const {
    const int byte = col * in_bytes;
    typename Fused::unaligned words[batch][micro_rows] = {};
    each_row(first, start, [&](int b, int r, const unsigned char* from) {
      if (!row_exists(first + b, r)) { return; }
      words[b][r].load(from, [&](const unsigned char* word) {
        return load_word<Fused::fetched>(word, byte + static_cast<int>(word - from));
      });
    });
    // Rows that there are not, too: nobody looks at them, and to ask again costs more.
    each_row(first, start, [&](int b, int r, const unsigned char* from) {
      words[b][r].copy(from, loaded[b][r].memory);
    });
  }

  /// Loads a batch of rows as words from the boundary at or below the lane's first element on; the next lane has what lacks.
  TILETRANSPOSE_FUNCTION void load_shifted_rows(int first, const unsigned char* start_row,
                                                loaded_batch& loaded) const {
    constexpr int bytes = Fused::load_bytes;
    constexpr int words = bytes / 4;
    static_assert(words <= 2 && apart * in_bytes % bytes == 0, "rounds are aligned alike");
    const size_type stride = tile.source.stride_bytes;
    unsigned raw[batch][micro_rows][words] = {};
    const unsigned char* starts[micro_rows];
    int past[micro_rows];  // bytes of a row's first load that lie before its first element
    TILETRANSPOSE_UNROLL
    for (int r = 0; r < micro_rows; ++r) {
      past[r] = static_cast<int>(address_bits(start_row + r * stride) % bytes);
      starts[r] = start_row + r * stride + col * in_bytes - past[r];
    }
    each_row(first, start_row, [&](int b, int r, const unsigned char*) {
      if (!row_exists(first + b, r)) { return; }
      const int from = col * in_bytes - past[r];
      const unsigned char* const start = starts[r] + b * apart * stride;
      if (byte_exists(from) && byte_exists(from + bytes - 1)) {
        const auto all = load_near<access_word_t<bytes>, Fused::fetched>(start);
        copy_bytes(raw[b][r], &all, bytes);
      } else {
        TILETRANSPOSE_UNROLL
        for (int w = 0; w < words; ++w) {
          const loop_step part(w);
          raw[b][r][w] = load_word(start + 4 * w, from + 4 * w);
        }
      }
    });
    const unsigned next = lane_index() + 1;
    each_row(first, start_row, [&](int b, int r, const unsigned char*) {
      const auto bits = static_cast<unsigned>(8 * past[r]);
      const unsigned(&own)[words] = raw[b][r];
      unsigned shifted[words];
      if constexpr (words == 1) {
        shifted[0] = funnel_shift(own[0], shuffle(own[0], next), bits);
      } else {
        const bool second = past[r] >= 4;  // the first element begins in the second word
        const unsigned low = second ? own[1] : own[0];
        const unsigned after = shuffle(own[0], next);
        const unsigned middle = second ? after : own[1];
        shifted[0] = funnel_shift(low, middle, bits);
        shifted[1] = funnel_shift(middle, shuffle(low, next), bits);
      }
      copy_bytes(loaded[b][r].memory, shifted, bytes);
    });
  }

  /// Starts the loads of the batch whose first round is `first`.
  TILETRANSPOSE_FUNCTION void load_rows(int first, loaded_batch& loaded) const {
    const unsigned char* const start = tile.source.row(row(first));
    const int byte = col * in_bytes;
    if constexpr (Fused::loads_unaligned) {
      load_unaligned_rows(first, start + byte, loaded);
    } else if constexpr (Fused::shifts) {
      load_shifted_rows(first, start, loaded);
    } else {
      const auto each = [&](auto load) {
        each_row(first, start, [&](int b, int r, const unsigned char* from) {
          if (row_exists(first + b, r)) { load(from, loaded[b][r]); }
        });
      };
      if (Fused::deals && !tile.copy.in_step) {
        each([&](const unsigned char* from, vector& to) { load_parts(from + byte, byte, to); });
        return;
      }
      each([&](const unsigned char* from, vector& to) { load_vector(from + byte, byte, to); });
    }
  }

  /// Writes the rows of round b of a batch to the copy, whose row of round `first`, the batch's first, is at `to`.
  TILETRANSPOSE_FUNCTION void store_copied(unsigned char* to, int first, int b,
                                           const copied_rows& copied) const {
    TILETRANSPOSE_UNROLL
    for (int r = 0; r < micro_rows; ++r) {
      if (!row_exists(first + b, r)) { continue; }
      unsigned char* const address = to + (b * apart + r) * tile.copy.stride_bytes;
      if (Interior || (col_exists(0) && col_exists(count - 1))) {
        copied[r].store(address);
      } else if constexpr (count > 1) {
        TILETRANSPOSE_UNROLL
        for (int i = 0; i < count; ++i) {
          const loop_step part(i);
          if (col_exists(i)) {
            packed_elements<typename Fused::out, 1, Fused::out_access> one;
            one.put(0, copied[r].get(i));
            one.store(address + i * Fused::out_bytes);
          }
        }
      }
    }
  }

  /// Combines column `i` of a round's micro-block with the accumulator operand from `to` on, row by row: behind the last
  /// row of the input there is none.
  template <class Convert>
  TILETRANSPOSE_FUNCTION void combine_one_by_one(int round, int i, const loaded_rows& loaded,
                                                 const Convert& convert, unsigned char* to) const {
    TILETRANSPOSE_UNROLL
    for (int r = 0; r < micro_rows; ++r) {
      if (!row_exists(round, r)) { continue; }
      packed_elements<typename Fused::stored, 1, Fused::access_bytes> one;
      one.load_from_shared(to + r * Fused::bytes);
      one.put(0, convert(loaded[r].get(i), one.get(0)));
      one.store_to_shared(to + r * Fused::bytes);
    }
  }

  /// Converts column `i` of a round's micro-block, with the accumulator operand if `column` holds it. `copied` takes its
  /// elements, too.
  template <class Convert, class Column>
  TILETRANSPOSE_FUNCTION void convert_column(int round, int i, const loaded_rows& loaded,
                                             const Convert& convert, Column& column,
                                             copied_rows& copied) const {
    TILETRANSPOSE_UNROLL
    for (int r = 0; r < micro_rows; ++r) {
      if (!Interior && micro_rows > 1 && !row_exists(round, r)) { continue; }
      if constexpr (Fused::holds_operand) {
        column.put(r, convert(loaded[r].get(i), column.get(r)));
      } else {
        const typename Fused::stored& element = convert(loaded[r].get(i), row(round) + r, col + i);
        column.put(r, element);
        if constexpr (Fused::copies) { copied[r].put(i, element); }
      }
    }
  }

  /// Stores a batch of loads into the shared rows, and into the copy. `convert` is called with an element and the old one
  /// that waits in the shared rows, else with an element and its row and column, counted from the tile's first.
  template <class Convert>
  TILETRANSPOSE_FUNCTION void store_rows(int first, const loaded_batch& loaded,
                                         const Convert& convert) const {
    const int from = offset();
    unsigned char* const to =
        tile.shared + (Fused::barrier_on_offset ? optimisation_barrier(from) : from);
    int columns[count];  // of the lane in the shared rows
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < count; ++i) {
      columns[i] = i * Fused::pitch - Fused::wrap_padding(i, shift);
      if constexpr (Fused::barrier_on_columns) {
        columns[i] = optimisation_barrier(from + columns[i]);
      }
    }
    // Some lanes are there for the copy alone, or for their neighbours.
    const bool is_filled = Fused::deals ? col > -count && col < Fused::tile_cols
                                        : !Fused::shifts || col < Fused::tile_cols;
    const bool is_copied = in_copy();
    unsigned char* const copy_to =
        tile.copy.place(static_cast<size_type>(row(first)), 0) + col * Fused::out_bytes;
    const auto store_round = [&](int b) {
      const int round = first + b;
      const loop_step here(round);
      // A lane that is there for its neighbour holds elements of several rows.
      const bool is_spare = Fused::shifts && !is_filled;
      if (round >= rounds || is_spare || !any_exists(round)) { return; }
      const int first_of_round = row(round);
      const auto place = [&](int i) {
        return (Fused::barrier_on_columns ? tile.shared : to) + columns[i] +
               round * apart * Fused::bytes;
      };
      copied_rows copied = {};
      if constexpr (Fused::transposes) {
        // What is stored is put together row by row, and transposed.
        unsigned rows[micro_rows][count * Fused::bytes / 4] = {};
        TILETRANSPOSE_UNROLL
        for (int r = 0; r < micro_rows; ++r) {
          if (!Interior && !row_exists(round, r)) { continue; }
          if constexpr (Fused::combines) {
            __builtin_memcpy(rows[r], loaded[b][r].memory, sizeof(rows[r]));
          } else {
            TILETRANSPOSE_UNROLL
            for (int i = 0; i < count; ++i) {
              if (!col_exists(i)) { continue; }
              copied[r].put(i, convert(loaded[b][r].get(i), first_of_round + r, col + i));
            }
            __builtin_memcpy(rows[r], copied[r].memory, sizeof(rows[r]));
          }
        }
        store_micro_block<Fused, Fused::bytes>(rows, place,
                                               [&](int i) { return !col_exists(i) || !is_filled; });
      } else {
        TILETRANSPOSE_UNROLL
        for (int i = 0; i < count; ++i) {
          const loop_step part(i);
          if (!col_exists(i)) { continue; }
          unsigned char* const to_shared = place(i);
          if constexpr (Fused::holds_operand && !Interior && micro_rows > 1) {
            if (!row_exists(round, micro_rows - 1)) {
              combine_one_by_one(round, i, loaded[b], convert, to_shared);
              continue;
            }
          }
          packed_elements<typename Fused::stored, micro_rows, Fused::fill_access> column = {};
          if constexpr (Fused::holds_operand) { column.load_from_shared(to_shared); }
          convert_column(round, i, loaded[b], convert, column, copied);
          if (is_filled) { column.store_to_shared(to_shared); }
        }
      }
      if constexpr (Fused::copies) {
        // Rows before the tile are another one's in the copy.
        if ((round + 1) * apart <= skew_rows || (round * apart < skew_rows && first_of_round < 0) ||
            !is_copied) {
          return;
        }
        store_copied(copy_to, first, b, copied);
      }
    };
    // A function, because nvcc 12.4 does not unroll all loops around what it does: what was loaded would lie in local memory.
    TILETRANSPOSE_UNROLL
    for (int b = 0; b < batch; ++b) { store_round(b); }
  }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
