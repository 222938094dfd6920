// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How a fused kernel stores what it has loaded: converted, into the shared rows, and into the copy.

#pragma once

#include <tiletranspose/detail/core/packed_elements.cuh>
#include <tiletranspose/detail/tile/fused_rows.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Writes the rows of a round's micro-block to the copy, whose row of the batch's first round is at `copy_to`.
template <class Fused, bool Interior>
TILETRANSPOSE_FUNCTION void store_copied(
    const tile_loads<Fused, Interior>& at, unsigned char* copy_to, int round, int round_in_batch,
    const typename Fused::copied (&copied)[Fused::micro_rows]) {
  using places = tile_loads<Fused, Interior>;
  [[maybe_unused]] constexpr int count = Fused::count;
  TILETRANSPOSE_UNROLL
  for (int r = 0; r < places::micro_rows; ++r) {
    if (!at.row_exists(round, r)) { continue; }
    unsigned char* const address =
        copy_to + (round_in_batch * places::apart + r) * at.tile.copy.stride_bytes;
    if (Interior || (at.byte_exists(at.col * Fused::in_bytes) &&
                     at.byte_exists((at.col + count - 1) * Fused::in_bytes))) {
      copied[r].store(address);
    } else if constexpr (count > 1) {
      TILETRANSPOSE_UNROLL
      for (int i = 0; i < count; ++i) {
        const loop_step part(i);
        if (at.byte_exists((at.col + i) * Fused::in_bytes)) {
          packed_elements<typename Fused::out, 1, Fused::out_access> one;
          one.put(0, copied[r].get(i));
          one.store(address + i * Fused::out_bytes);
        }
      }
    }
  }
}

/// Where a lane's columns are in the shared rows, from where its first element is.
template <class Fused, bool Interior>
TILETRANSPOSE_FUNCTION void find_columns(const tile_loads<Fused, Interior>& at, int offset,
                                         int (&columns)[Fused::count]) {
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < Fused::count; ++i) {
    columns[i] = i * Fused::pitch - Fused::wrap_padding(i, at.shift);
    if constexpr (Fused::barrier_on_columns) {
      columns[i] = optimisation_barrier(offset + columns[i]);
    }
  }
}

/// Combines column `i` of a round's micro-block with the accumulator operand from `to` on, row by row: behind the last
/// row of the input there is none.
template <class Fused, bool Interior, class Convert>
TILETRANSPOSE_FUNCTION void combine_one_by_one(
    const tile_loads<Fused, Interior>& at, int round, unsigned char* to,
    const typename Fused::vector (&loaded)[Fused::micro_rows], int i, const Convert& convert) {
  TILETRANSPOSE_UNROLL
  for (int r = 0; r < Fused::micro_rows; ++r) {
    if (!at.row_exists(round, r)) { continue; }
    packed_elements<typename Fused::stored, 1, Fused::access_bytes> one;
    one.load_from_shared(to + r * Fused::bytes);
    one.put(0, convert(loaded[r].get(i), one.get(0)));
    one.store_to_shared(to + r * Fused::bytes);
  }
}

/// Converts column `i` of a round's micro-block, with the accumulator operand if `column` holds it. `copied` takes its
/// elements, too.
template <class Fused, bool Interior, class Convert, class Column>
TILETRANSPOSE_FUNCTION void convert_column(
    const tile_loads<Fused, Interior>& at, int round, int i,
    const typename Fused::vector (&loaded)[Fused::micro_rows], const Convert& convert,
    Column& column, typename Fused::copied (&copied)[Fused::micro_rows]) {
  TILETRANSPOSE_UNROLL
  for (int r = 0; r < Fused::micro_rows; ++r) {
    if (!Interior && Fused::micro_rows > 1 && !at.row_exists(round, r)) { continue; }
    if constexpr (Fused::holds_operand) {
      column.put(r, convert(loaded[r].get(i), column.get(r)));
    } else {
      const typename Fused::stored& element =
          convert(loaded[r].get(i), at.row(round) + r, at.col + i);
      column.put(r, element);
      if constexpr (Fused::copies) { copied[r].put(i, element); }
    }
  }
}

/// Stores a batch of loads into the shared rows, and into the copy. `convert` is called with an element and the old one
/// that waits in the shared rows, else with an element and its row and column, counted from the tile's first.
template <class Fused, bool Interior, class Convert>
TILETRANSPOSE_FUNCTION void store_rows(const tile_loads<Fused, Interior>& at, int first,
                                       const loaded_batch<Fused, Interior>& loaded,
                                       const Convert& convert) {
  using places = tile_loads<Fused, Interior>;
  constexpr int count = Fused::count;
  const int offset = at.offset();
  unsigned char* const to =
      at.tile.shared + (Fused::barrier_on_offset ? optimisation_barrier(offset) : offset);
  int columns[count];
  find_columns(at, offset, columns);
  const bool fills = at.fills();
  const bool in_copy = at.in_copy();
  unsigned char* const copy_to =
      at.tile.copy.place(static_cast<size_type>(at.row(first)), 0) + at.col * Fused::out_bytes;
  const auto store_round = [&](int b) {
    const int round = first + b;
    const loop_step here(round);
    // A lane that is there for its neighbour holds elements of several rows.
    const bool is_spare = Fused::shifts && !fills;
    if (round >= places::rounds || is_spare || !at.any_exists(round)) { return; }
    const int row = at.row(round);
    const auto place = [&](int i) {
      return (Fused::barrier_on_columns ? at.tile.shared : to) + columns[i] +
             round * places::apart * Fused::bytes;
    };
    typename Fused::copied copied[places::micro_rows] = {};
    if constexpr (Fused::transposes) {
      // What is stored is put together row by row, and transposed.
      unsigned rows[places::micro_rows][Fused::count * Fused::bytes / 4] = {};
      TILETRANSPOSE_UNROLL
      for (int r = 0; r < places::micro_rows; ++r) {
        if (!Interior && !at.row_exists(round, r)) { continue; }
        if constexpr (Fused::combines) {
          __builtin_memcpy(rows[r], loaded[b][r].memory, sizeof(rows[r]));
        } else {
          TILETRANSPOSE_UNROLL
          for (int i = 0; i < count; ++i) {
            if (!at.byte_exists((at.col + i) * Fused::in_bytes)) { continue; }
            copied[r].put(i, convert(loaded[b][r].get(i), row + r, at.col + i));
          }
          __builtin_memcpy(rows[r], copied[r].memory, sizeof(rows[r]));
        }
      }
      constexpr int words = places::micro_rows * Fused::bytes / 4;
      unsigned transposed[count][words];
      thread_transpose<Fused::bytes>(transposed, rows);
      TILETRANSPOSE_UNROLL
      for (int i = 0; i < count; ++i) {
        const loop_step part(i);
        if (!at.byte_exists((at.col + i) * Fused::in_bytes) || !fills) { continue; }
        packed_elements<unsigned, words, 4 * words> column;
        copy_bytes(column.memory, transposed[i], sizeof transposed[i]);
        column.store_to_shared(place(i));
      }
    } else {
      TILETRANSPOSE_UNROLL
      for (int i = 0; i < count; ++i) {
        const loop_step part(i);
        if (!at.byte_exists((at.col + i) * Fused::in_bytes)) { continue; }
        unsigned char* const to_shared = place(i);
        if constexpr (Fused::holds_operand && !Interior && places::micro_rows > 1) {
          // Behind the last row no old elements wait.
          if (!at.row_exists(round, places::micro_rows - 1)) {
            combine_one_by_one(at, round, to_shared, loaded[b], i, convert);
            continue;
          }
        }
        packed_elements<typename Fused::stored, places::micro_rows, Fused::fill_access> column = {};
        if constexpr (Fused::holds_operand) { column.load_from_shared(to_shared); }
        convert_column(at, round, i, loaded[b], convert, column, copied);
        if (fills) { column.store_to_shared(to_shared); }
      }
    }
    if constexpr (Fused::copies) {
      // Rows before the tile are another one's in the copy.
      if ((round + 1) * places::apart <= Fused::skew_rows ||
          (round * places::apart < Fused::skew_rows && row < 0) || !in_copy) {
        return;
      }
      store_copied(at, copy_to, round, b, copied);
    }
  };
  // A function, because loops around what it does are not all unrolled by nvcc 12.4: what was loaded would lie in
  // local memory.
  TILETRANSPOSE_UNROLL
  for (int b = 0; b < places::batch; ++b) { store_round(b); }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
