// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Squares in place whose rows start anywhere, or whose elements are no accesses: tiles of plain bytes.

#pragma once

#include <tiletranspose/detail/core/packed_elements.cuh>
#include <tiletranspose/detail/inplace/byte_tile_shape.cuh>
#include <tiletranspose/detail/inplace/swap_pairs.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The tile of a half-block, filled from one place and written, transposed, to another.
template <class Shape>
struct byte_tile {
  static constexpr int bytes = Shape::element_bytes;
  static constexpr int access_bytes = Shape::access_bytes;
  static constexpr unsigned words = Shape::words;
  using narrow = typename Shape::narrow;
  using word = typename Shape::word;

  unsigned char* shared;
  unsigned rank;

  /// Fills the tile from rows of which all wide accesses lie in memory, or those inside of `memory`: all of it, or
  /// `rows` rows of `cols` elements.
  template <bool Whole>
  TILETRANSPOSE_FUNCTION void fill(const unsigned char* from, size_type stride,
                                   const memory_range& memory, int rows = Shape::side,
                                   int cols = Shape::side) const {
    if (Whole) { rows = cols = Shape::side; }
    constexpr int batch = Whole ? Shape::loads : Shape::edge_loads;
    constexpr int steps = smaller(batch, Shape::steps);
    constexpr int phases = batch / steps;
    const int first = static_cast<int>(rank / Shape::lanes);
    const int lane = static_cast<int>(rank % Shape::lanes);
    const unsigned first_word = Shape::first_word(rank);
    TILETRANSPOSE_UNROLL_BY(1)
    for (int begin = 0; begin < Shape::rounds; begin += batch) {
      const int top = first + (batch == Shape::rounds ? 0 : Shape::row_of(begin));
      const unsigned char* const row = from + top * stride;
      // Where the wide accesses of a phase start in their rows, and whether a round's exists.
      const auto start = [&](int phase) {
        const unsigned char* const alike = row + phase * Shape::round_rows * stride;
        const int before = Shape::starts_aligned ? 0 : static_cast<int>(address_bits(alike) % 16);
        return lane * 16 - before;
      };
      const auto exists = [&](int phase, int step) {
        const int down = phase * Shape::round_rows + step * Shape::period;
        const bool has_row =
            (Whole && batch == Shape::rounds && down + Shape::round_rows <= Shape::side) ||
            top + down < rows;
        return has_row && start(phase) < cols * bytes;
      };
      const auto inside = [&](const unsigned char* wide) {
        return Whole || (wide >= memory.begin && wide + 16 <= memory.end);
      };
      word16 got[phases][steps];
      TILETRANSPOSE_UNROLL
      for (int phase = 0; phase < phases; ++phase) {
        const unsigned char* wide = row + phase * Shape::round_rows * stride + start(phase);
        TILETRANSPOSE_UNROLL
        for (int step = 0; step < steps; ++step, wide += Shape::period * stride) {
          const loop_step here(begin + phase * steps + step);
          if (exists(phase, step) && inside(wide)) {
            got[phase][step] = load_global_part<word16, Shape::fetched_bytes>(
                wide, larger(-start(phase), 0), smaller(cols * bytes - start(phase), 16));
          }
        }
      }
      // Word by word, so that few registers tell where narrow accesses go.
      TILETRANSPOSE_UNROLL
      for (int phase = 0; phase < phases; ++phase) {
        word rotated[steps][words];
        TILETRANSPOSE_UNROLL
        for (int step = 0; step < steps; ++step) {
          rotate_words(got[phase][step], first_word, rotated[step]);
        }
        TILETRANSPOSE_UNROLL
        for (unsigned w = 0; w < words; ++w) {
          const int byte = start(phase) + static_cast<int>((w + first_word) % words * sizeof(word));
          unsigned places[Shape::word_accesses];
          TILETRANSPOSE_UNROLL
          for (int u = 0; u < Shape::word_accesses; ++u) {
            places[u] = Shape::place(byte + u * access_bytes);
          }
          const unsigned char* wide = row + phase * Shape::round_rows * stride + start(phase);
          TILETRANSPOSE_UNROLL
          for (int step = 0; step < steps; ++step, wide += Shape::period * stride) {
            const loop_step here(begin + phase * steps + step);
            if (!exists(phase, step) || !inside(wide)) { continue; }
            unsigned char* const to =
                shared + (top + phase * Shape::round_rows + step * Shape::period) * bytes;
            TILETRANSPOSE_UNROLL
            for (int u = 0; u < Shape::word_accesses; ++u) {
              const loop_step inner(static_cast<int>(w) * Shape::word_accesses + u);
              store_shared(to + places[u], access_of(rotated[step][w], u));
            }
          }
        }
      }
      if (Whole) { continue; }
      static_assert(Whole || phases == 1, "");
      const unsigned char* wide = row + start(0);
      TILETRANSPOSE_UNROLL_BY(1)
      for (int step = 0; step < steps; ++step, wide += Shape::period * stride) {
        const loop_step here(begin + step);
        if (!exists(0, step) || inside(wide)) { continue; }
        unsigned char* const to = shared + (top + step * Shape::period) * bytes;
        TILETRANSPOSE_UNROLL_BY(1)
        for (int byte = larger(start(0), 0); byte < smaller(start(0) + 16, cols * bytes);
             byte += access_bytes) {
          const loop_step inner(byte);
          store_shared(to + Shape::place(byte), load_global<narrow>(wide + (byte - start(0))));
        }
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
    if constexpr (Shape::word_accesses == 1) {
      return from;
    } else {
      return static_cast<narrow>(from >> (8 * access_bytes * number));
    }
  }

  /// Writes `rows` rows of `length` bytes: wide accesses that start at multiples of 16 bytes, and narrow ones at both
  /// ends.
  TILETRANSPOSE_FUNCTION void drain(unsigned char* to, size_type stride, int rows,
                                    int length) const {
    const auto head = [&](const unsigned char* row) {
      return Shape::starts_aligned ? 0 : static_cast<int>((0u - address_bits(row)) % 16);
    };
    const int first = static_cast<int>(rank / Shape::lanes);
    const int lane = static_cast<int>(rank % Shape::lanes);
    TILETRANSPOSE_UNROLL_BY(1)
    for (int phase = 0; phase < Shape::phases; ++phase) {
      const int top = first + phase * Shape::round_rows;
      unsigned char* const row = to + top * stride;
      const int byte = head(row) + lane * 16;
      if (byte + 16 > length) { continue; }
      const unsigned from = static_cast<unsigned>(Shape::first + top * Shape::pitch + byte);
      TILETRANSPOSE_UNROLL
      for (int round = 0; round < Shape::steps; ++round) {
        const loop_step here(phase * Shape::steps + round);
        if (top + round * Shape::period < rows) {
          store_global(row + byte + round * Shape::period * stride,
                       read_shared<16, access_bytes>(shared, from,
                                                     round * Shape::period * Shape::pitch, rank));
        }
      }
    }
    if (Shape::starts_aligned && length % 16 == 0) { return; }
    TILETRANSPOSE_UNROLL_BY(2)
    for (int step = static_cast<int>(rank); step < rows * Shape::accesses; step += Shape::threads) {
      const loop_step here(step / Shape::threads);
      const int at = step / Shape::accesses;
      unsigned char* const out = to + at * stride;
      const unsigned char* const row = shared + Shape::first + at * Shape::pitch;
      const int front = smaller(head(out), length);
      const int ends = front + (length - front) % 16;
      TILETRANSPOSE_UNROLL_BY(1)
      for (int end = step % Shape::accesses * access_bytes; end < ends; end += 16) {
        const loop_step inner(end / 16);
        const int byte = end < front ? end : length - ends + end;
        store_global(out + byte, load_shared<narrow>(row + byte));
      }
    }
  }
};

/// The kernel's body where rows start anywhere, or elements are no accesses.
/// Group: 2 * Shape::threads. Shared memory: 2 * Shape::shared_bytes, aligned to 16. Barriers: one, inside.
template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void swap_byte_tiles(Group group, unsigned char* shared,
                                            const swap_arguments& arguments, unsigned block) {
  constexpr size_type side = Shape::side;
  using half = half_of<Group, Shape::threads>;
  const swap_arguments::work work = arguments(block);
  const square_problem& square = work.square;
  const pair_order::place& at = work.at;
  if (at.row > at.col || at.col * side >= square.side) { return; }
  const half_tile own(at, half::number(), side);
  const byte_tile<Shape> tile{shared + half::number() * Shape::shared_bytes, half::thread_rank()};
  const auto place = [&](size_type row, size_type col) {
    return square.data + row * square.stride_bytes + col * Shape::element_bytes;
  };
  const int rows = static_cast<int>(smaller(square.side - own.row, side));
  const int cols = static_cast<int>(smaller(square.side - own.col, side));
  const unsigned char* const from = place(own.row, own.col);
  unsigned char* const to = place(own.col, own.row);
  if (own.exists) {
    const unsigned char* const last = from + (rows - 1) * square.stride_bytes;
    if (smaller(rows, cols) == Shape::side &&
        (Shape::starts_aligned ||
         arguments.memory.reaches_around(from, last + cols * Shape::element_bytes))) {
      tile.template fill<true>(from, square.stride_bytes, arguments.memory);
    } else {
      tile.template fill<false>(from, square.stride_bytes, arguments.memory, rows, cols);
    }
  }
  group.sync();
  if (own.exists) { tile.drain(to, square.stride_bytes, cols, rows * Shape::element_bytes); }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
