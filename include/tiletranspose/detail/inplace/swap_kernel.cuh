// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernels that transpose a square in its own memory. A block takes a tile and the one it trades places
/// with on the other side of the diagonal, reads both and, after one barrier, writes both; no other block
/// touches them. A tile on the diagonal trades places with itself.

#pragma once

#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/detail/tile/tile_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A square of `side` x `side` elements.
struct square_problem {
  unsigned char* data;
  size_type stride_bytes;
  size_type side;
};

/// The memory around squares: accesses of 16 bytes may touch all of it.
struct memory_range {
  const unsigned char* begin;
  const unsigned char* end;

  /// True where 16 bytes may be read wherever they hold a byte of [first, last).
  TILETRANSPOSE_FUNCTION bool reaches_around(const unsigned char* first,
                                             const unsigned char* last) const {
    return first >= begin + 15 && last + 15 <= end;
  }
};

/// The order in which blocks take the pairs of tiles (row, col), row <= col: in patches of 4 x 4 tiles where there
/// are many, so that on both sides of the diagonal neighbouring blocks move neighbouring memory (H200, 2026-11-21:
/// 16381 x 16381 floats 67 % of cudaMemcpyAsync, 61 tile by tile). Patches are paired as tiles are. Line r of
/// their triangle is followed by the r-th last one, which makes lines of one length; the number of patches of a
/// side is rounded up to an even one:
///
///     (0,0) (0,1) (0,2) (0,3) | (3,3)
///     (1,1) (1,2) (1,3) | (2,2) (2,3)
///
/// Places below the diagonal or outside of the square are no pair; their blocks have nothing to do.
struct pair_order {
  unsigned bits;     ///< a patch is 2^bits x 2^bits tiles
  unsigned patches;  ///< of a side
  divider line;      ///< pairs of patches in a line

  struct place {
    unsigned row;
    unsigned col;
  };

  pair_order() = default;
  explicit pair_order(size_type side_tiles)
      : bits(side_tiles < 8 ? 0 : 2),
        patches(2 * static_cast<unsigned>(divide_up(side_tiles, size_type{2} << bits))),
        line(patches + size_type{1}) {}

  size_type blocks() const { return size_type{patches} / 2 * (patches + size_type{1}) << 2 * bits; }

  TILETRANSPOSE_FUNCTION place operator()(unsigned block) const {
    const unsigned pair = block >> 2 * bits;
    const unsigned at_line = line.quotient(pair);
    const unsigned in_line = line.remainder(pair, at_line);
    const unsigned first = patches - at_line;  // pairs that belong to row `at_line`
    const unsigned row = in_line < first ? at_line : patches - 1 - at_line;
    const unsigned col = row + (in_line < first ? in_line : in_line - first);
    const unsigned last = (1u << bits) - 1;
    return {(row << bits) + (block >> bits & last), (col << bits) + (block & last)};
  }
};

struct swap_arguments {
  square_problem square;
  pair_order order;
  memory_range memory;  ///< asked only where rows start anywhere
};

/// A value of the compiler's as an argument.
template <bool Value>
struct constant {
  static constexpr bool value = Value;
};

/// A square tile_shape whose input is its output: rows of 128 bytes and more, and a micro-block a thread. H200,
/// 2026-11-22, % of cudaMemcpyAsync as it is, with half and twice the side, with half and twice the threads: 16384 rows
/// of 1 byte 88, 77, 92, 82, 88, of 2 88, 50, 95, 84, -, of 4 94.5, 86, 93, 90, 94; 11264 of 8 93, 86, 91, 94, 93; 8192
/// of 16 92, 92, 78, 91, 92 (from 4 bytes on, half the side with half the threads).
template <int ElementBytes>
struct swap_policy {
  static constexpr int side = ElementBytes <= 1 ? 128 : ElementBytes <= 4 ? 64 : 32;
  static constexpr int threads = 128;  ///< of a tile
  static constexpr int load_bytes = ElementBytes <= 2 ? 8 : 16;
};
/// Elements of 1 or 2 bytes in rows of 256 bytes, where a multiprocessor holds one pair of tiles, or three.
template <int ElementBytes>
struct large_swap_policy {
  static constexpr int side = 256 / ElementBytes;
  static constexpr int threads = 128;
  static constexpr int load_bytes = 16;
};
template <int ElementBytes, class Policy = swap_policy<ElementBytes>>
struct swap_shape : tile_shape<ElementBytes, ElementBytes, Policy::side, Policy::side,
                               Policy::threads, Policy::load_bytes, 16, 16, true> {
  static constexpr bool in_place = true;
};

/// The tile at (row, col), as much of it as exists, as input and as output.
template <class Shape>
TILETRANSPOSE_FUNCTION tile_source square_source(const square_problem& square, size_type row,
                                                 size_type col) {
  return {square.data + row * square.stride_bytes + col * Shape::element_bytes,
          square.stride_bytes,
          0,
          clipped_distance(row, square.side),
          0,
          clipped_distance(col, square.side) * Shape::element_bytes};
}
template <class Shape>
TILETRANSPOSE_FUNCTION tile_target square_target(const square_problem& square, size_type row,
                                                 size_type col) {
  return {square.data + row * square.stride_bytes + col * Shape::element_bytes,
          square.stride_bytes,
          smaller(clipped_distance(row, square.side), Shape::tile_cols),
          0,
          smaller(clipped_distance(col, square.side), Shape::tile_rows) * Shape::element_bytes,
          0};
}

/// Half the threads of a block; each half moves one tile of a pair. It has no barrier of its own.
template <int Threads>
struct half_block {
  static constexpr int static_size = Threads;
  TILETRANSPOSE_FUNCTION static unsigned thread_rank() {
    return static_block<2 * Threads>::thread_rank() % Threads;
  }
  TILETRANSPOSE_FUNCTION static constexpr unsigned size() { return Threads; }
  /// 0 or 1: which half the calling thread belongs to.
  TILETRANSPOSE_FUNCTION static unsigned number() {
    return static_block<2 * Threads>::thread_rank() / Threads;
  }
};

/// What half `number` of a block does: it reads the tile whose first element is (row, col) and writes it at (col, row).
struct swap_share {
  size_type row;
  size_type col;
  bool exists;  ///< false for the second half where a tile trades places with itself

  TILETRANSPOSE_FUNCTION swap_share(const pair_order::place& at, unsigned number, size_type side)
      : row((number == 0 ? at.row : at.col) * side),
        col((number == 0 ? at.col : at.row) * side),
        exists(number == 0 || at.row != at.col) {}
};

/// The kernel's body where every address and the square's side are multiples of 16 bytes.
/// Group: 2 * Shape::threads. Shared memory: 2 * Shape::shared_bytes, aligned to 16. Barriers: one, inside.
template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void swap_tiles(Group group, unsigned char* shared,
                                       const swap_arguments& arguments, unsigned block) {
  constexpr size_type side = Shape::tile_rows;
  using half = half_block<Shape::threads>;
  static_assert(known_size<Group>::value == 2 * Shape::threads, "");
  const square_problem& square = arguments.square;
  const pair_order::place at = arguments.order(block);
  if (at.row > at.col || at.col * side >= square.side) { return; }
  const swap_share own(at, half::number(), side);
  unsigned char* const tile = shared + half::number() * Shape::shared_bytes;
  const auto move = [&](auto interior) {
    if (own.exists) {
      const tile_source source = square_source<Shape>(square, own.row, own.col);
      fill_rows<Shape, interior.value, Shape::tile_rows>(half{}, tile, source, 0, 0);
    }
    group.sync();
    if (own.exists) {
      const tile_target target = square_target<Shape>(square, own.col, own.row);
      drain_tile<Shape, interior.value>(half{}, tile, target);
    }
  };
  if (at.col * side + side <= square.side) {
    move(constant<true>{});
  } else {
    move(constant<false>{});
  }
}

/// Tiles of squares whose rows start anywhere. Both ends of a row share a sector with another tile, so that long rows
/// count, and so do blocks enough to read while others write: a multiprocessor holds about 1024 threads, each of which
/// has all of its loads under way at once. H200, 2026-11-22, % of cudaMemcpyAsync: 32749 rows of 1 byte 65.5 (tiles of
/// 112 rows 60, of 240 rows 64), 23143 of 2 bytes 74, 16381 of 3 bytes 74 (128 and 165 rows 71), of 4 bytes 80 (60 rows
/// 75), 9215 of 7 bytes 80 (56 rows 70), of 12 bytes 84 (32 rows 80), 6144 of 20 and 24 bytes 89 and 91, 5003 of 31
/// bytes 82; with half of a thread's loads at once, 9215 rows of 7 bytes 64. Tiles that trade places without being
/// turned, by the same accesses in the same order: floats 81, bytes 70.
template <int ElementBytes>
struct chunk_policy {
  static constexpr int most_side = ElementBytes == 1    ? 160
                                   : ElementBytes == 2  ? 120
                                   : ElementBytes == 3  ? 80
                                   : ElementBytes == 4  ? 124
                                   : ElementBytes <= 12 ? 64
                                   : ElementBytes <= 16 ? 48
                                   : ElementBytes <= 48 ? 32
                                                        : 16;
  static constexpr int most_lanes = ElementBytes <= 12 ? 32 : ElementBytes <= 16 ? 48 : 64;
  static constexpr int round_rows =  ///< that a tile's threads load at a time
      ElementBytes <= 4    ? 16
      : ElementBytes <= 12 ? 8
      : ElementBytes <= 48 ? 4
                           : 2;
  /// Of a multiprocessor; as many as leave each the registers for its loads.
  static constexpr int resident_threads = ElementBytes == 3                      ? 1536
                                          : ElementBytes == 1 || most_side == 48 ? 768
                                                                                 : 1024;
  /// That the L2 cache fetches round a load: neighbours load the rest of the lines at a tile's borders soon (H200,
  /// 2026-11-22, 0.3 to 1.2 points of cudaMemcpyAsync for each size, 6 for 8191 rows of 2 bytes).
  static constexpr int fetched_bytes = 128;
  /// Of a thread, under way at once; 0: all. Four where the compiler runs short of registers (H200, 2026-11-22: floats
  /// 79 % with all, 77.7 with four).
#if TILETRANSPOSE_ON_DEVICE && __CUDA_ARCH__ >= 1000
  static constexpr int most_loads = ElementBytes == 4 ? 4 : 0;
#else
  static constexpr int most_loads = 0;
#endif
};

/// The same of small squares, whose time is that of one tile or a few (H200, 2026-11-22, us with large and small
/// tiles: 1001 rows of 3 bytes 9.8, 7.1; 601 rows of 12 bytes 8.0, 5.9, of 31 bytes 16.1, 12.1).
template <int ElementBytes>
struct small_chunk_policy {
  static constexpr int most_side = ElementBytes <= 4 ? 48 : ElementBytes <= 16 ? 32 : 16;
  static constexpr int most_lanes = ElementBytes <= 16 ? 16 : 32;
  static constexpr int round_rows = ElementBytes <= 3 ? 16 : ElementBytes <= 16 ? 8 : 4;
  static constexpr int resident_threads = 1024;
  static constexpr int fetched_bytes = 128;
  static constexpr int most_loads = 0;
};

/// The same of squares whose rows start at multiples of 16 bytes: tiles whose rows do, too, and are whole lines where
/// there is room. H200, 2026-11-22, % of cudaMemcpyAsync with the tiles above and with these, rows of whole lines: 3
/// bytes 84, 89; 5: 86, 87; 6: 88.5, 89.7; 7: 88.7, 89.2; 9: 83, 88; 10: 85, 91; 11: 83, 88; 12: 86, 94; 15: 86, 89;
/// 20: 89.5, 90.0; 24: 93, 94; 31: 89.2, 89.8; 40: 88, 92; 48: 89, 95; 63: 77, 90. Rows on 64 and on 16 bytes: 3 bytes
/// 84, 86; 82, 81; 12: 85, 87.5; 84.6, 85.7. What lines two blocks share decides: rows of 384 bytes reach 89 to 90 for
/// 3, 6 and 12 bytes, of 768 bytes 94. 3 bytes in tiles of 64 rows 88, 12 bytes in tiles of 32 rows 90.
template <int ElementBytes>
struct whole_chunk_policy {
  static constexpr int most_side = ElementBytes == 3                          ? 128
                                   : ElementBytes <= 10 || ElementBytes == 12 ? 64
                                   : ElementBytes <= 32                       ? 32
                                                                              : 16;
  static constexpr int most_lanes = 64;
  static constexpr int round_rows = ElementBytes <= 10 || ElementBytes == 12 ? 8
                                    : ElementBytes <= 40                     ? 4
                                                                             : 2;
  static constexpr int resident_threads = 896;
  /// 256 and 128 fetched, on the same day: 3 bytes 90.0, 89.6, 5 88.3, 87.7, 6 90.0, 89.5, 12 93.3, 94.0.
  static constexpr int fetched_bytes = most_side * ElementBytes % 256 == 0 ? 128 : 256;
  static constexpr int most_loads = 0;
};

/// True where these pay, of elements that are no access (H200, 2026-11-22, 33 bytes: 85, 83). Those of 32 and 64 bytes
/// have such tiles anyhow.
template <int ElementBytes, int Unit>
inline constexpr bool has_whole_chunks =
    ElementBytes != access_width(ElementBytes) && Unit == access_width(ElementBytes) &&
    (ElementBytes < 32 || ElementBytes >= 40) && ElementBytes != 64;

/// In shared memory row c of such a tile is its column c as plain bytes: a row of the output. Rows of the input are
/// loaded in chunks of 16 bytes from the multiple of 16 at or below their start on, and dealt out unit by unit; `Unit`
/// divides the elements' bytes and their addresses:
///
///     row r     |. . a a a b b b c|c c d d d e . .|     column 0   .... a a a ....    elements of 3 bytes
///                   chunk 0             chunk 1         column 1   .... b b b ....
///                                                       column 2   .... c c c ....
///
/// Rows start at multiples of `Start` bytes: of a unit, or of a chunk. Then no chunk is two tiles'.
template <int ElementBytes, int Unit, class Policy = chunk_policy<ElementBytes>, int Start = Unit>
struct chunk_shape {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int unit_bytes = Unit;
  static constexpr int start_bytes = Start;
  static constexpr bool starts_on_chunks = Start == 16;
  static_assert(Start == Unit || starts_on_chunks, "");
  static constexpr int units = 16 / Unit;  ///< of a chunk
  static constexpr int side =
      smaller(Policy::most_side, (16 * Policy::most_lanes - 16 + Start) / ElementBytes);
  static constexpr int row_bytes = side * ElementBytes;
  static_assert(!starts_on_chunks || row_bytes % 16 == 0, "");
  static constexpr int round_rows = Policy::round_rows;
  static constexpr int fetched_bytes = Policy::fetched_bytes;
  /// Threads that cover a row wherever it starts.
  static constexpr int lanes = round_up((row_bytes + 16 - Start + 15) / 16, 32 / round_rows);
  static constexpr int threads = lanes * round_rows;  ///< of a tile

  /// Rows that lie a multiple of so many apart start alike in their chunks. A thread takes those in turn, `turns` of
  /// them, before it goes on to the next of its `phases`.
  static constexpr int phases = larger(units / round_rows, 1);
  static constexpr int period = phases * round_rows;
  static_assert(period % units == 0, "");
  static constexpr int turns = (side + period - 1) / period;
  static constexpr int rounds = phases * turns;
  static constexpr int loads = Policy::most_loads == 0 ? rounds : Policy::most_loads;
  static_assert(loads == rounds || turns % loads == 0, "");
  /// Of edges, whose limits take registers.
  static constexpr int edge_loads = turns % 2 == 0 ? 2 : 1;
  /// The first row of a round, counted from the thread's first.
  TILETRANSPOSE_HOST_DEVICE static constexpr int row_of(int round) {
    return round % turns * period + round / turns * round_rows;
  }

  /// Of a multiprocessor.
  static constexpr int blocks = (Policy::resident_threads + threads) / (2 * threads);

  /// Of chunks at the ends of a row some units are another tile's: they go to spare rows, without a question.
  static constexpr int spare_rows = (16 - Start + ElementBytes - 1) / ElementBytes;
  /// Elements of a row continue where the neighbour's end, modulo all banks: what a warp stores at once lies there as
  /// it lay in memory. Single units need an odd number of them only.
  static constexpr int pitch = ElementBytes == Unit
                                   ? (side | 1) * ElementBytes
                                   : round_up(row_bytes - ElementBytes, 128) + ElementBytes;
  static constexpr int first = spare_rows * pitch;  ///< where row 0 begins
  static constexpr int shared_bytes = round_up((side + 2 * spare_rows) * pitch, 16);

  /// A chunk is dealt out in words, each lane beginning with the one of its turn, so that eight lanes whose chunks lie
  /// in the same banks as others' do not meet them.
  using unit = access_word_t<Unit>;
  using word = access_word_t<larger(Unit, 4)>;
  static constexpr unsigned words = 16 / sizeof(word);
  static constexpr int word_units = units / static_cast<int>(words);
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
  /// The lanes of a row do not meet where they fill shared memory; those of several rows, whose chunks start anywhere,
  /// may. An order without conflicts shifts each chunk by what its place is off a word. H200, 2026-11-22, % of
  /// cudaMemcpyAsync, 32749 rows of 1 byte in tiles of 112, 23143 of 2: 60.2, 73.5 as it is, 53.2, 72.8 without
  /// conflicts, 60.9, 73.3 with the first word by the place of a chunk (2 ways).
  struct fill_lanes {
    unsigned turn;
    constexpr long long operator()(int lane) const {
      const unsigned number = (turn + first_word(static_cast<unsigned>(lane))) % words;
      return place(lane * 16 + static_cast<int>(number * sizeof(word)));
    }
  };
  static constexpr bool rows_do_not_conflict() {
    for (unsigned turn = 0; turn < words; ++turn) {
      if (request_ways(fill_lanes{turn}, Unit, banks_32x4, smaller(lanes, 32)) != 1) {
        return false;
      }
    }
    return true;
  }
  static_assert(rows_do_not_conflict(), "a shipped tile must not conflict");
  /// Rows of lanes that are no multiple of eight meet where two of them are read by eight.
  static_assert(turn_ways<16>(lanes) <= 2, "a shipped tile must not conflict");
};

/// The tile of a half-block: moved as it is from one place, turned to another.
template <class Shape>
struct chunk_tile {
  static constexpr int bytes = Shape::element_bytes;
  static constexpr int unit_bytes = Shape::unit_bytes;
  static constexpr unsigned words = Shape::words;
  using unit = typename Shape::unit;
  using word = typename Shape::word;

  unsigned char* shared;
  unsigned rank;

  /// Fills the tile from rows of which all chunks lie in memory, or those inside of `memory`: all of it, or `rows`
  /// rows of `cols` elements.
  template <bool Whole>
  TILETRANSPOSE_FUNCTION void fill(const unsigned char* from, size_type stride,
                                   const memory_range& memory, int rows = Shape::side,
                                   int cols = Shape::side) const {
    if (Whole) { rows = cols = Shape::side; }
    constexpr int batch = Whole ? Shape::loads : Shape::edge_loads;
    constexpr int turns = smaller(batch, Shape::turns);
    constexpr int phases = batch / turns;
    const int first = static_cast<int>(rank / Shape::lanes);
    const int lane = static_cast<int>(rank % Shape::lanes);
    const unsigned first_word = Shape::first_word(rank);
    TILETRANSPOSE_UNROLL_BY(1)
    for (int begin = 0; begin < Shape::rounds; begin += batch) {
      const int top = first + (batch == Shape::rounds ? 0 : Shape::row_of(begin));
      const unsigned char* const row = from + top * stride;
      // Where the chunks of a phase start in their rows, and whether a round's exists.
      const auto start = [&](int phase) {
        const unsigned char* const alike = row + phase * Shape::round_rows * stride;
        const int before = Shape::starts_on_chunks ? 0 : static_cast<int>(address_bits(alike) % 16);
        return lane * 16 - before;
      };
      const auto exists = [&](int phase, int turn) {
        const int down = phase * Shape::round_rows + turn * Shape::period;
        const bool has_row =
            (Whole && batch == Shape::rounds && down + Shape::round_rows <= Shape::side) ||
            top + down < rows;
        return has_row && start(phase) < cols * bytes;
      };
      const auto inside = [&](const unsigned char* chunk) {
        return Whole || (chunk >= memory.begin && chunk + 16 <= memory.end);
      };
      word16 got[phases][turns];
      TILETRANSPOSE_UNROLL
      for (int phase = 0; phase < phases; ++phase) {
        const unsigned char* chunk = row + phase * Shape::round_rows * stride + start(phase);
        TILETRANSPOSE_UNROLL
        for (int turn = 0; turn < turns; ++turn, chunk += Shape::period * stride) {
          const loop_step here(begin + phase * turns + turn);
          if (exists(phase, turn) && inside(chunk)) {
            got[phase][turn] = load_global_part<word16, Shape::fetched_bytes>(
                chunk, larger(-start(phase), 0), smaller(cols * bytes - start(phase), 16));
          }
        }
      }
      // Word by word, so that few registers tell where units go.
      TILETRANSPOSE_UNROLL
      for (int phase = 0; phase < phases; ++phase) {
        word turned[turns][words];
        TILETRANSPOSE_UNROLL
        for (int turn = 0; turn < turns; ++turn) {
          turn_words(got[phase][turn], first_word, turned[turn]);
        }
        TILETRANSPOSE_UNROLL
        for (unsigned w = 0; w < words; ++w) {
          const int byte = start(phase) + static_cast<int>((w + first_word) % words * sizeof(word));
          unsigned places[Shape::word_units];
          TILETRANSPOSE_UNROLL
          for (int u = 0; u < Shape::word_units; ++u) {
            places[u] = Shape::place(byte + u * unit_bytes);
          }
          const unsigned char* chunk = row + phase * Shape::round_rows * stride + start(phase);
          TILETRANSPOSE_UNROLL
          for (int turn = 0; turn < turns; ++turn, chunk += Shape::period * stride) {
            const loop_step here(begin + phase * turns + turn);
            if (!exists(phase, turn) || !inside(chunk)) { continue; }
            unsigned char* const to =
                shared + (top + phase * Shape::round_rows + turn * Shape::period) * bytes;
            TILETRANSPOSE_UNROLL
            for (int u = 0; u < Shape::word_units; ++u) {
              const loop_step part(static_cast<int>(w) * Shape::word_units + u);
              store_shared(to + places[u], unit_of(turned[turn][w], u));
            }
          }
        }
      }
      if (Whole) { continue; }
      static_assert(Whole || phases == 1, "");
      const unsigned char* chunk = row + start(0);
      TILETRANSPOSE_UNROLL_BY(1)
      for (int turn = 0; turn < turns; ++turn, chunk += Shape::period * stride) {
        const loop_step here(begin + turn);
        if (!exists(0, turn) || inside(chunk)) { continue; }
        unsigned char* const to = shared + (top + turn * Shape::period) * bytes;
        TILETRANSPOSE_UNROLL_BY(1)
        for (int byte = larger(start(0), 0); byte < smaller(start(0) + 16, cols * bytes);
             byte += unit_bytes) {
          const loop_step part(byte);
          store_shared(to + Shape::place(byte), load_global<unit>(chunk + (byte - start(0))));
        }
      }
    }
  }

  /// The words of 16 bytes, from number `first` on.
  TILETRANSPOSE_FUNCTION static void turn_words(const word16& chunk, unsigned first,
                                                word (&turned)[words]) {
    if constexpr (words == 1) {
      turned[0] = chunk;
    } else {
      word read[words];
      __builtin_memcpy(read, &chunk, 16);
      turn_back(read, words - first, turned);
    }
  }
  TILETRANSPOSE_FUNCTION static unit unit_of(const word& from, int number) {
    if constexpr (Shape::word_units == 1) {
      return from;
    } else {
      return static_cast<unit>(from >> (8 * unit_bytes * number));
    }
  }

  /// Writes `rows` rows of `length` bytes: chunks that start at multiples of 16 bytes, units at both ends.
  TILETRANSPOSE_FUNCTION void drain(unsigned char* to, size_type stride, int rows,
                                    int length) const {
    const auto head = [&](const unsigned char* row) {
      return Shape::starts_on_chunks ? 0 : static_cast<int>((0u - address_bits(row)) % 16);
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
      for (int round = 0; round < Shape::turns; ++round) {
        const loop_step here(phase * Shape::turns + round);
        if (top + round * Shape::period < rows) {
          store_global(row + byte + round * Shape::period * stride,
                       read_shared<16, unit_bytes>(shared, from,
                                                   round * Shape::period * Shape::pitch, rank));
        }
      }
    }
    if (Shape::starts_on_chunks && length % 16 == 0) { return; }
    TILETRANSPOSE_UNROLL_BY(2)
    for (int step = static_cast<int>(rank); step < rows * Shape::units; step += Shape::threads) {
      const loop_step here(step / Shape::threads);
      const int at = step / Shape::units;
      unsigned char* const out = to + at * stride;
      const unsigned char* const row = shared + Shape::first + at * Shape::pitch;
      const int front = smaller(head(out), length);
      const int ends = front + (length - front) % 16;
      TILETRANSPOSE_UNROLL_BY(1)
      for (int end = step % Shape::units * unit_bytes; end < ends; end += 16) {
        const loop_step part(end / 16);
        const int byte = end < front ? end : length - ends + end;
        store_global(out + byte, load_shared<unit>(row + byte));
      }
    }
  }
};

/// The kernel's body where rows start anywhere, or elements are no accesses.
/// Group: 2 * Shape::threads. Shared memory: 2 * Shape::shared_bytes, aligned to 16. Barriers: one, inside.
template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void swap_chunks(Group group, unsigned char* shared,
                                        const swap_arguments& arguments, unsigned block) {
  constexpr size_type side = Shape::side;
  using half = half_block<Shape::threads>;
  static_assert(known_size<Group>::value == 2 * Shape::threads, "");
  const square_problem& square = arguments.square;
  const pair_order::place at = arguments.order(block);
  if (at.row > at.col || at.col * side >= square.side) { return; }
  const swap_share own(at, half::number(), side);
  const chunk_tile<Shape> tile{shared + half::number() * Shape::shared_bytes, half::thread_rank()};
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
        (Shape::starts_on_chunks ||
         arguments.memory.reaches_around(from, last + cols * Shape::element_bytes))) {
      tile.template fill<true>(from, square.stride_bytes, arguments.memory);
    } else {
      tile.template fill<false>(from, square.stride_bytes, arguments.memory, rows, cols);
    }
  }
  group.sync();
  if (own.exists) { tile.drain(to, square.stride_bytes, cols, rows * Shape::element_bytes); }
}

/// True for small squares of elements that one access moves, whose time is that of a load and a store.
template <int ElementBytes, int Unit>
inline constexpr bool swaps_views = ElementBytes == Unit&& ElementBytes <= 8;

/// Their tile, from the public parts.
template <int ElementBytes>
struct swap_tile {
  using element_type = element<ElementBytes, ElementBytes>;
  static constexpr int side = ElementBytes <= 4 ? 64 : 32;
  static constexpr int threads = ElementBytes <= 4 ? 512 : 256;  ///< half of them a tile
  using type =
      shared_tile<element_type,
                  padded_layout<element_type, side, side, default_padding<element_type, side>()>>;
};

/// The kernel's body where addresses are what T asks for.
/// Group: of known size, each half of it moves a tile. Shared memory: the storage of two `Tile`s. Barriers: one,
/// inside.
template <class T, class Tile, class Group>
TILETRANSPOSE_FUNCTION void swap_views(Group group, typename Tile::storage (&storage)[2],
                                       const swap_arguments& arguments, unsigned block) {
  constexpr size_type side = Tile::rows;
  using half = half_block<known_size<Group>::value / 2>;
  const square_problem& square = arguments.square;
  const pair_order::place at = arguments.order(block);
  if (at.row > at.col || at.col * side >= square.side) { return; }
  const swap_share own(at, half::number(), side);
  const matrix_view<T> matrix{reinterpret_cast<T*>(square.data), square.side, square.side,
                              square.stride_bytes / sizeof(T)};
  const Tile tile(storage[half::number()]);
  if (own.exists) { load_tile(half{}, tile, matrix, own.row, own.col); }
  group.sync();
  if (own.exists) { store_tile_transposed(half{}, matrix, own.col, own.row, tile); }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
