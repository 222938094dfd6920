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

/// Tiles of squares whose rows start anywhere.
template <int ElementBytes>
struct byte_tile_policy {
  static constexpr byte_tile_row row = byte_tile_row_of(byte_tile_tuning, ElementBytes);
  static constexpr int fetched_bytes = byte_tile_fetched_bytes;
  /// Of a thread that are under way at once, 0: all.
#if TILETRANSPOSE_ON_DEVICE && __CUDA_ARCH__ >= 1000
  static constexpr int most_loads = ElementBytes == 4 ? byte_tile_loads_of_floats : 0;
#else
  static constexpr int most_loads = 0;
#endif
};

/// The same of small squares.
template <int ElementBytes>
struct small_byte_tile_policy {
  static constexpr byte_tile_row row = byte_tile_row_of(small_byte_tile_tuning, ElementBytes);
  static constexpr int fetched_bytes = byte_tile_fetched_bytes;
  static constexpr int most_loads = 0;
};

/// The same of squares whose rows start at multiples of 16 bytes. What lines two blocks share decides how fast they
/// are.
template <int ElementBytes>
struct aligned_byte_tile_policy {
  static constexpr byte_tile_row row = byte_tile_row_of(aligned_byte_tile_tuning, ElementBytes);
  static constexpr int fetched_bytes =
      row.side * ElementBytes % aligned_byte_tile_fetched_bytes == 0
          ? byte_tile_fetched_bytes
          : aligned_byte_tile_fetched_bytes;
  static constexpr int most_loads = is_nvcc_12 && ElementBytes == 3 ? 8 : 0;
};

/// In shared memory row c of such a tile is its column c as plain bytes: a row of the output. Rows of the input are
/// loaded by *wide* accesses of 16 bytes, from the multiple of 16 at or below their start on, and dealt out by *narrow*
/// ones of `Access` bytes, which divide the elements' bytes and their addresses:
///
///     row r     |. . a a a b b b c|c c d d d e . .|     column 0   .... a a a ....    elements of 3 bytes
///               wide access 0       wide access 1       column 1   .... b b b ....
///                                                       column 2   .... c c c ....
///
/// Rows start at multiples of `Start` bytes: of a narrow access, or of a wide one. Then no wide access is two tiles'.
template <int ElementBytes, int Access, class Policy = byte_tile_policy<ElementBytes>,
          int Start = Access>
struct byte_tile_shape {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int access_bytes = Access;
  static constexpr int start_bytes = Start;
  static constexpr bool starts_aligned = Start == 16;
  static_assert(Start == Access || starts_aligned, "");
  static constexpr int accesses = 16 / Access;  ///< narrow ones of a wide one
  static constexpr int side =
      smaller(Policy::row.side, (16 * Policy::row.lanes - 16 + Start) / ElementBytes);
  static constexpr int row_bytes = side * ElementBytes;
  static_assert(!starts_aligned || row_bytes % 16 == 0, "");
  static constexpr int round_rows = Policy::row.round_rows;
  static constexpr int fetched_bytes = Policy::fetched_bytes;
  /// Threads that cover a row wherever it starts.
  static constexpr int lanes = round_up((row_bytes + 16 - Start + 15) / 16, 32 / round_rows);
  static constexpr int threads = lanes * round_rows;  ///< of a tile

  /// Rows that lie a multiple of so many apart start alike in their wide accesses. A thread takes `steps` of
  /// those before it goes on to the next of its `phases`.
  static constexpr int phases = larger(accesses / round_rows, 1);
  static constexpr int period = phases * round_rows;
  static_assert(period % accesses == 0, "");
  static constexpr int steps = (side + period - 1) / period;
  static constexpr int rounds = phases * steps;
  static constexpr int loads = Policy::most_loads == 0 ? rounds : Policy::most_loads;
  static_assert(loads == rounds || steps % loads == 0, "");
  /// Of edges, whose limits take registers.
  static constexpr int edge_loads = steps % 2 == 0 ? 2 : 1;
  /// The first row of a round, counted from the thread's first.
  TILETRANSPOSE_HOST_DEVICE static constexpr int row_of(int round) {
    return round % steps * period + round / steps * round_rows;
  }

  /// Of a multiprocessor.
  static constexpr int blocks = (Policy::row.resident_threads + threads) / (2 * threads);

  /// Of wide accesses at the ends of a row some bytes are another tile's: they go to spare rows, so that nobody has to
  /// ask.
  static constexpr int spare_rows = (16 - Start + ElementBytes - 1) / ElementBytes;
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
  /// The lanes of a row do not conflict where they fill shared memory; those of several rows, whose wide accesses start
  /// anywhere, may. Every order without conflicts was slower.
  static constexpr bool rows_do_not_conflict() {
    for (unsigned round = 0; round < words; ++round) {
      const auto address = [round](int lane) -> long long {
        const unsigned number = (round + first_word(static_cast<unsigned>(lane))) % words;
        return place(lane * 16 + static_cast<int>(number * sizeof(word)));
      };
      if (request_ways(address, Access, banks_32x4, smaller(lanes, 32)) != 1) { return false; }
    }
    return true;
  }
  static_assert(rows_do_not_conflict(), "a shipped tile must not conflict");
  /// Rows of lanes that are no multiple of eight conflict where two of them are read by eight.
  static_assert(rotation_ways<16>(lanes) <= 2, "a shipped tile must not conflict");
};

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
/// Threads: 2 * Shape::threads. Shared memory: 2 * Shape::shared_bytes, aligned to 16. Barriers: one, inside.
template <class Shape>
TILETRANSPOSE_FUNCTION void swap_byte_tiles(unsigned char* shared, const swap_arguments& arguments,
                                            unsigned block) {
  constexpr size_type side = Shape::side;
  using half = half_block<Shape::threads>;
  const auto [square, at] = arguments(block);
  if (at.row > at.col || at.col * side >= square.side) { return; }
  const half_tile own(at, half::number(), side);
  const byte_tile<Shape> tile{shared + half::number() * Shape::shared_bytes, half::thread_rank()};
  const size_type stride = square.stride_bytes;
  const int rows = static_cast<int>(smaller(square.side - own.row, side));
  const int cols = static_cast<int>(smaller(square.side - own.col, side));
  const unsigned char* const from = square.place<Shape>(own.row, own.col);
  unsigned char* const to = square.place<Shape>(own.col, own.row);
  if (own.exists) {
    const unsigned char* const last = from + (rows - 1) * stride;
    if (smaller(rows, cols) == Shape::side &&
        (Shape::starts_aligned ||
         arguments.memory.reaches_around(from, last + cols * Shape::element_bytes))) {
      tile.template fill<true>(from, stride, arguments.memory);
    } else {
      tile.template fill<false>(from, stride, arguments.memory, rows, cols);
    }
  }
  half::sync();
  if (own.exists) { tile.drain(to, stride, cols, rows * Shape::element_bytes); }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
