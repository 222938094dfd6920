// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernel that moves large matrices, one tile a block.
///
/// *Fill*: threads read rows of the input, turn micro-blocks in registers and write chunks into shared
/// memory, where each row holds a piece of one **output** row as plain bytes:
///
///     input                          shared memory                     output
///     row r0-X  . . . .              column c0    | r0-X .. r0+TR |    row c0    ....[=== piece ===]....
///     row r0    a b c d      fill    column c0+1  | r0-X .. r0+TR |    row c0+1  ..[=== piece ===]......
///     row r0+1  e f g h     ----->   ...                         drain ...
///     ...                            column c0+TC |               | ----->
///
/// *Drain*: threads copy a piece of each shared row to the output. Rows of the output that start off a
/// sector get a piece that starts `m` bytes earlier, m being the row's distance from its sector, so that
/// every piece covers whole sectors and no sector is written by two blocks. X rows more than the tile are
/// read for that; neighbours read the same rows at the same time, so they come from L2.
///
/// *Joined pieces*: where rows of the output follow each other without a gap, what lies behind the end of one is the
/// start of the next. Pieces then go on until the sector that the next row's first piece starts with, so that no
/// row ends inside of one; `join_pieces` says how.
///
/// Blocks walk down strips of input tiles (tile_order), so that neighbouring blocks write neighbouring memory.

#pragma once

#include <tiletranspose/banks.cuh>
#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/core/packed_elements.cuh>
#include <tiletranspose/detail/request/problem.cuh>
#include <tiletranspose/detail/tile/tile_segments.cuh>
#include <tiletranspose/warp_transpose.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The order in which blocks take tiles: down a strip of `width` columns of input tiles, side by side, then
/// down the next strip. Going down makes neighbouring blocks write neighbouring memory; tiles side by side
/// read it. A walk that jumps goes down some tiles (jump_rows_of), takes as many from the strip `jump` further to the
/// right, and so on.
struct tile_order {
  /// The tiles that a walk goes down before it jumps; other kernels than move_tile were timed with these alone.
  static constexpr unsigned jump_rows = 12;
  /// The same for tiles of so many rows. H200, 2026-11-22, % of cudaMemcpyAsync with 12, 9 and 7, rows of
  /// 128 KB, 8192 of them: 8 bytes 95.4, 96.1, 96.0; 4: 93.9, 96.1, 95.9; but 2: 95.8, 93.6, 94.6; 1: 95.4, 94.5, 95.0;
  /// 16: 94.6, 94.7, 95.0. 16384 rows of doubles, turned by 90 degrees: 94.7, 95.2, 95.2.
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned jump_rows_of(int tile_rows) {
    return tile_rows == 64 ? 9 : jump_rows;
  }

  divider matrix;      ///< tiles of one matrix
  divider strip;       ///< tiles of a full strip
  divider width;       ///< columns of tiles in a full strip
  divider last_width;  ///< and in the last one
  unsigned last_strip;
  unsigned jump;  ///< 0, or less than there are strips of which none is narrower

  struct place {
    size_type batch;
    size_type row_tile;
    size_type col_tile;
  };

  tile_order() = default;

  /// Precondition: 1 <= row_tiles * col_tiles < 2^31.
  tile_order(size_type row_tiles, size_type col_tiles, size_type wanted_width)
      : matrix(row_tiles * col_tiles), jump(0) {
    const size_type columns = wanted_width < col_tiles ? wanted_width : col_tiles;
    const size_type strips = (col_tiles + columns - 1) / columns;
    strip = divider(columns * row_tiles);
    width = divider(columns);
    last_width = divider(col_tiles - (strips - 1) * columns);
    last_strip = static_cast<unsigned>(strips - 1);
  }

  /// Makes the walk jump by half of the matrix, if strips are alike.
  void jump_half() { jump = last_width.divisor == width.divisor ? (last_strip + 1) / 2 : 0; }

  TILETRANSPOSE_FUNCTION place operator()(unsigned block, unsigned down = jump_rows) const {
    const unsigned batch = matrix.quotient(block);
    return in_matrix(matrix.remainder(block, batch), batch, down);
  }
  /// The place of a tile, counted from the matrix' first one.
  TILETRANSPOSE_FUNCTION place in_matrix(unsigned tile, unsigned batch = 0,
                                         unsigned down = jump_rows) const {
    const unsigned at_strip = strip.quotient(tile);
    const unsigned in_strip = strip.remainder(tile, at_strip);
    const divider columns = at_strip == last_strip ? last_width : width;
    const unsigned row = columns.quotient(in_strip);
    const unsigned col = columns.remainder(in_strip, row);
    unsigned to_strip = at_strip;
    if (jump != 0 && row / down % 2 != 0) {
      to_strip += to_strip + jump <= last_strip ? jump : jump - last_strip - 1;
    }
    return {batch, row, size_type{to_strip} * width.divisor + col};
  }
};

struct tile_arguments {
  tile_problem problem;
  tile_order order;
  unsigned sector_mask;  ///< 31 where output rows may start off a sector, else 0
  unsigned tile_cols;    ///< columns of a tile, at most the shape's
  /// Rows of the input follow each other without a gap, so that loads may reach over their ends into the next ones.
  bool rows_touch = false;
  /// So do rows of the output, so that the last piece of one goes on to where the first of the next starts.
  bool cols_touch = false;
};

/// The compile-time side of the kernel. `Unit` is the access that element addresses allow; accesses wider
/// than it need either `Whole` (every address, row length and stride is a multiple of them) or the byte
/// shifts and the careful ends of rows that the kernel otherwise generates.
template <int ElementBytes, int Unit, int TileRows, int TileCols, int Threads, int LoadBytes,
          int ChunkBytes, int StoreBytes, bool Whole, int Fetched = 0>
struct tile_shape {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int unit = Unit;
  static constexpr int tile_rows = TileRows;
  static constexpr int tile_cols = TileCols;
  static constexpr int threads = Threads;
  static constexpr int load_bytes = LoadBytes;
  static constexpr int chunk_bytes = ChunkBytes;
  static constexpr int store_bytes = StoreBytes;
  static constexpr bool whole = Whole;
  static constexpr int fetched = Fetched;    // load_constant_near
  static constexpr bool in_place = false;    // input and output are one
  static constexpr bool splices = false;     // spliced_tile.cuh
  static constexpr bool groups_rows = true;  // threads_of_row
  static constexpr int skew_bytes = sector_bytes;

  static constexpr bool splits_element = Unit < ElementBytes && LoadBytes == Unit;
  static constexpr int parts = ElementBytes / Unit;
  // Loads of whole words are shifted together from one word more; loads of 16 bytes start where their row is
  // aligned and are dealt out to the columns they hold. Stores of 16 bytes are assembled from words.
  static constexpr bool deals_loads =
      !Whole && LoadBytes == 16 && Unit < 16 && Unit == ElementBytes;
  static constexpr bool shifts_loads = !Whole && LoadBytes % 4 == 0 && Unit < 4 && !deals_loads;
  static constexpr bool joins_stores = !Whole && StoreBytes == 16 && Unit < 16;
  /// Pieces of a launch may go on from one output row to the next; join_pieces.
  static constexpr bool joins_pieces = deals_loads || shifts_loads;
  static_assert(!joins_pieces || joins_stores, "the ends of joined pieces are no whole stores");
  /// Tiles of a launch may have fewer columns than tile_cols.
  static constexpr bool varies_width = deals_loads;
  static_assert(!splits_element || (ChunkBytes == Unit && Unit >= 4), "");
  static_assert(Whole || LoadBytes == Unit || shifts_loads || deals_loads, "");
  /// Elements that words do not hold one by one are loaded, turned and stored in groups of whole words.
  static constexpr bool moves_groups = (Whole || shifts_loads) && Unit < ElementBytes;
  static_assert(!moves_groups || (Unit < 4 && LoadBytes % 4 == 0), "");
  static constexpr int chunk_access = moves_groups ? 4 : ChunkBytes;
  static_assert(Whole || StoreBytes == Unit || joins_stores, "");

  // a micro-block: what one thread loads at a time
  static constexpr int micro_rows = splits_element ? 1 : larger(ChunkBytes / ElementBytes, 1);
  static constexpr int micro_cols = splits_element ? 1 : larger(LoadBytes / ElementBytes, 1);
  static constexpr int row_loads =  // micro-blocks per tile row; one more where rows start anywhere
      TileCols * ElementBytes / LoadBytes + (deals_loads ? 1 : 0);
  /// Threads that share a row of loads. Those of parts are as many more as make whole groups of lanes, so that no group
  /// goes on to the next row, where it would meet what it wrote at the end of the last.
  static constexpr int load_threads =
      splits_element ? round_up(row_loads, static_cast<int>(bank_group<Unit>)) : row_loads;
  /// Threads that share a row of dealt loads, and rows that a warp takes: as far apart as elements of other
  /// words are, so that each of them keeps to banks of its own, wherever in 16 bytes it starts.
  static constexpr int row_lanes = row_loads <= 8 ? 8 : row_loads <= 16 ? 16 : 32;
  static constexpr int warp_rows = 32 / row_lanes;
  static constexpr int row_gap = larger(4 / ElementBytes, 1);
  static_assert(!deals_loads || Threads / 32 % row_gap == 0, "");
  TILETRANSPOSE_HOST_DEVICE static constexpr int dealt_row(int rank) {
    const int warp = rank / 32;
    return warp / row_gap * row_gap * warp_rows + warp % row_gap + rank % 32 / row_lanes * row_gap;
  }
  /// Columns before the first and behind the last one that dealt loads may write without a question.
  static constexpr int spare_cols = deals_loads ? micro_cols : 0;
  /// Rows that are loaded at a time: up to 32 registers' worth per thread, or all.
  static constexpr int thread_words =
      TileRows * load_threads / Threads / micro_rows * micro_rows * larger(LoadBytes / 4, 1);
  static constexpr int rows_at_once = !splits_element     ? TileRows
                                      : thread_words > 64 ? TileRows / 4
                                      : thread_words > 32 ? TileRows / 2
                                                          : TileRows;
  static constexpr int skew_rows =
      round_up((sector_bytes + ElementBytes - 1) / ElementBytes, micro_rows);
  static constexpr int lead_bytes =
      skew_rows * ElementBytes;  // shared bytes before the tile's first row
  static constexpr int round_rows = Threads / load_threads * micro_rows;
  TILETRANSPOSE_HOST_DEVICE static constexpr int rounds_of(int rows) {
    return divide_up(rows, larger(round_rows, 1));
  }
  /// Whether the rows before the tile are loaded with its first ones: where that takes no round more or, where some
  /// threads of a row rest, none more than by themselves, so that all loads are under way together. H200, 2026-11-22,
  /// 60 bytes: 86 % of cudaMemcpyAsync with the rows before them by themselves, 95 together.
  static constexpr bool leads_with_tile = round_rows > 0 &&
                                          rounds_of(skew_rows + rows_at_once) <=
                                              rounds_of(rows_at_once) + (load_threads != row_loads
                                                                             ? rounds_of(skew_rows)
                                                                             : 0);
  static constexpr int piece_bytes = TileRows * ElementBytes;
  static_assert(piece_bytes % sector_bytes == 0 && TileRows % micro_rows == 0, "");
  static_assert(TileCols % micro_cols == 0 && piece_bytes % StoreBytes == 0, "");

  // A shared row takes a pitch that spreads neighbouring columns over the banks: parts of elements
  // continue where the neighbour's end (pitch = element, modulo all banks), chunks keep an odd pitch, and
  // where a thread fills several rows, every micro_cols rows are followed by one chunk of padding. Where
  // words of groups are stored, neighbouring micro-blocks of a row lie an odd multiple of as many words
  // apart as a warp fills rows of micro-blocks.
  static constexpr int used_bytes = lead_bytes + piece_bytes;
  static constexpr int pitch = splits_element
                                   ? round_up(used_bytes - ElementBytes, 128) + ElementBytes
                               : moves_groups ? used_bytes
                               : deals_loads  ? round_up(used_bytes, larger(Unit, 4) * warp_rows)
                               : micro_cols > 1
                                   ? round_up(used_bytes, larger(2 * ChunkBytes, 4))
                                   : round_up(used_bytes - ChunkBytes, 2 * ChunkBytes) + ChunkBytes;
  static constexpr int group_step = 4 * larger(32 / row_loads, 1);
  static constexpr int group_padding = moves_groups ? (3 * group_step -
                                                       micro_cols * pitch % (2 * group_step)) %
                                                          (2 * group_step)
                                       : deals_loads    ? larger(Unit, 4) * warp_rows
                                       : micro_cols > 1 ? larger(ChunkBytes, 4)
                                                        : 0;
  static constexpr int shared_cols = TileCols + 2 * spare_cols;
  static constexpr int shared_bytes =
      round_up(shared_cols * pitch + shared_cols / micro_cols * group_padding, 16);
  // Pairs of tiles that trade places may have a multiprocessor's memory.
  static_assert(shared_bytes <= 2 * default_shared_bytes, "");

  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned row_offset(unsigned col) {
    return (col + spare_cols) * pitch + (col + spare_cols) / micro_cols * group_padding;
  }
  /// Shared offset that micro-block `load` of a row writes its first chunk to, before adding the row.
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned chunk_offset(unsigned load) {
    return splits_element ? row_offset(load / parts) + load % parts * Unit
                          : row_offset(load * micro_cols);
  }

  /// Shared offset of the first unit of a dealt load, before adding the row: `shift` units of the load of
  /// lane 0 lie before the first column.
  TILETRANSPOSE_HOST_DEVICE static constexpr int dealt_offset(int lane, int shift) {
    return static_cast<int>(row_offset(0)) + (lane * micro_cols - shift) * pitch +
           (shift == 0 ? lane : lane - 1) * group_padding;
  }
  /// The padding before unit `i` of such a load: units that wrap into the next group of columns lie one
  /// padding further.
  TILETRANSPOSE_HOST_DEVICE static constexpr int dealt_padding(int i, int shift) {
    return shift != 0 && i >= shift ? group_padding : 0;
  }

  struct fill_lanes {
    // Of dealt loads: the unit that is stored, and the shifts of the rows of a warp.
    int unit;
    int shift;
    int shift_step;
    constexpr long long operator()(int step) const {
      if (deals_loads) {
        const int turned = (shift + step % 32 / row_lanes * shift_step) % micro_cols;
        return dealt_offset(step % row_lanes, turned) + dealt_padding(unit, turned) + unit * pitch +
               dealt_row(step) * ElementBytes;
      }
      if (step % load_threads >= row_loads) { return -1; }
      return chunk_offset(step % load_threads) + step / load_threads * micro_rows * ElementBytes;
    }
  };
  static constexpr bool fills_without_conflict() {
    const int shifts = deals_loads ? micro_cols : 1;
    const int steps = warp_rows > 1 ? shifts : 1;
    for (int shift = 0; shift < shifts; ++shift) {
      for (int step = 0; step < steps; ++step) {
        const fill_lanes lanes{(shift + 3 * step) % shifts, shift, step};
        if (request_ways(lanes, chunk_access) != 1) { return false; }
      }
    }
    return true;
  }
  static_assert(fills_without_conflict(), "a shipped tile must not conflict");

  /// Whether threads read words in turns for their stores, or accesses that hold what they store. Where rows are a
  /// group's of lanes each, the word behind what begins inside of a word seldom meets others, but may four ways: H200,
  /// 2026-11-22, bytes, % of cudaMemcpyAsync, by words and by accesses: 86.8, 86.1.
  static constexpr bool reads_words = Unit >= 4 || piece_bytes == 128;
  static constexpr int word_bytes = joins_stores && reads_words ? larger(Unit, 4) : StoreBytes;
  static constexpr int next_word_ways =
      joins_stores && reads_words && Unit < 4
          ? detail::next_word_ways<StoreBytes>(piece_bytes / StoreBytes)
          : 0;
  static_assert(next_word_ways == (joins_stores && reads_words && ElementBytes == 1 ? 4 : 0), "");
  /// Pieces of 3 and 5 bytes are no whole lines, and threads enough for whole groups would be slower: H200, 2026-11-22,
  /// 88.1 instead of 89.1 and 90.0 instead of 90.8 % of cudaMemcpyAsync. Groups of theirs read two rows, which may
  /// meet.
  static constexpr int drain_ways =
      turn_ways<StoreBytes>(threads_of_row<StoreBytes>(piece_bytes, Threads));
  static_assert(drain_ways == (moves_groups && (ElementBytes == 3 || ElementBytes == 5) ? 2 : 1),
                "a shipped tile must not conflict");

  /// The warps that follow the first one of a round: as many as take whole rows together.
  struct later_lanes {
    int first;
    constexpr long long operator()(int lane) const { return fill_lanes{}(first + lane); }
  };
  static constexpr bool fills_later_without_conflict() {
    for (int warp = 1; warp < (deals_loads ? 1 : load_threads); ++warp) {
      if (request_ways(later_lanes{32 * warp}, chunk_access) != 1) { return false; }
      if (32 * (warp + 1) % load_threads == 0) { break; }
    }
    return true;
  }
  static_assert(fills_later_without_conflict(), "a shipped tile must not conflict");
};

/// end - begin, cut to a range that any tile's arithmetic fits.
TILETRANSPOSE_FUNCTION int clipped_distance(size_type begin, size_type end) {
  constexpr size_type most = 1 << 20;
  return end >= begin ? static_cast<int>(smaller(end - begin, most))
                      : -static_cast<int>(smaller(begin - end, most));
}

/// `Constant` promises that nobody writes the memory while the kernel runs; Fetched: load_constant_near.
template <int Bytes, bool Constant, int Fetched>
TILETRANSPOSE_FUNCTION void load_words(const void* address,
                                       unsigned (&words)[larger(Bytes / 4, 1)]) {
  access_word_t<Bytes> word;
  if constexpr (Constant) {
    word = load_constant_near<access_word_t<Bytes>, Fetched>(address);
  } else {
    word = load_global<access_word_t<Bytes>>(address);
  }
  if constexpr (Bytes == 16) {
    words[0] = word.x, words[1] = word.y, words[2] = word.z, words[3] = word.w;
  } else if constexpr (Bytes == 8) {
    words[0] = static_cast<unsigned>(word), words[1] = static_cast<unsigned>(word >> 32);
  } else {
    words[0] = word;
  }
}

template <int Bytes, int Words>
TILETRANSPOSE_FUNCTION access_word_t<Bytes> join_words(const unsigned (&words)[Words]) {
  if constexpr (Bytes == 16) {
    return {words[0], words[1], words[2], words[3]};
  } else if constexpr (Bytes == 8) {
    return (static_cast<unsigned long long>(words[1]) << 32) | words[0];
  } else {
    return static_cast<access_word_t<Bytes>>(words[0]);
  }
}

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

  // Where a round takes whole rows, each thread stays in its column and one addition finds the next row.
  constexpr bool straight = Shape::threads % load_threads == 0;
  static_assert(straight || load_threads == Shape::row_loads,
                "a thread that rests does so in every round");
  if (load_threads != Shape::row_loads && rank % load_threads >= Shape::row_loads) { return; }
  constexpr int round_rows = Shape::threads / load_threads * micro_rows;
  const size_type round_bytes = (straight ? round_rows - micro_rows : 0) * source.stride_bytes;

  // The first row of a round that is the thread's.
  const auto row_of = [&](int round) {
    const unsigned step = rank + round * Shape::threads;
    return from_row + static_cast<int>(straight
                                           ? rank / load_threads * micro_rows + round * round_rows
                                           : step / load_threads * micro_rows);
  };
  // Which rounds may hold such rows the compiler knows.
  const auto is_left_out = [&](int round, int row) {
    return first_row != from_row && from_row + round * round_rows < 0 && row < first_row;
  };
  // What all loads of a thread share is asked once, because loads between which more is asked are not under way
  // together.
  constexpr bool may_leave = straight && Shape::varies_width;
  if (may_leave &&
      static_cast<int>(rank % load_threads * Shape::load_bytes) >= cols * Shape::element_bytes) {
    return;
  }
  unsigned loaded[rounds][micro_rows][words];
  const unsigned char* address =
      source.row(from_row + static_cast<int>(rank / load_threads * micro_rows)) +
      rank % load_threads * Shape::load_bytes;
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const unsigned step = rank + round * Shape::threads;
    const int row = row_of(round);
    const int byte = static_cast<int>((straight ? rank : step) % load_threads * Shape::load_bytes);
    if constexpr (!straight) { address = source.row(row) + byte; }
    if (straight && round > 0) { address += round_bytes; }
    TILETRANSPOSE_UNROLL
    for (int r = 0; r < micro_rows; ++r, address += source.stride_bytes) {
      const loop_step here(round * micro_rows + r);
      const bool row_exists =
          (all_busy || step < steps) && !is_left_out(round, row) &&
          (!Shape::varies_width || may_leave || byte < cols * Shape::element_bytes) &&
          (Interior ||
           (row + r >= source.first_row && row + r < source.end_row + source.next_rows));
      const bool is_next = !Interior && Shape::joins_pieces && row + r >= source.end_row;
      const unsigned char* const from = is_next ? address + source.next_bytes : address;
      const int from_byte = is_next ? byte + Shape::element_bytes : byte;
      TILETRANSPOSE_UNROLL
      for (int w = 0; w < words; ++w) { loaded[round][r][w] = 0; }
      if constexpr (!Shape::shifts_loads) {
        if (row_exists && (Interior || from_byte + Shape::load_bytes <= source.end_byte)) {
          if constexpr (!Shape::moves_groups) {
            load_words<Shape::load_bytes, !Shape::in_place, Shape::fetched>(from, loaded[round][r]);
          } else {
            TILETRANSPOSE_UNROLL
            for (int w = 0; w < words; ++w) {
              const loop_step part(w);
              loaded[round][r][w] = load_constant_near<unsigned, Shape::fetched>(from + 4 * w);
            }
          }
        }
      } else {
        // One word more than wanted, from the word boundary on, shifted together.
        const int below = static_cast<int>(address_bits(from) % 4);
        unsigned next = 0;
        if (row_exists && (Interior || (from_byte - below >= source.first_byte &&
                                        from_byte - below + 4 * words + 4 <= source.end_byte))) {
          TILETRANSPOSE_UNROLL
          for (int w = 0; w < words; ++w) {
            const loop_step part(w);
            loaded[round][r][w] =
                load_constant_near<unsigned, Shape::fetched>(word_below(from) + 4 * w);
          }
          next = load_constant_near<unsigned, Shape::fetched>(word_below(from) + 4 * words);
        }
        TILETRANSPOSE_UNROLL
        for (int w = 0; w < words; ++w) {
          loaded[round][r][w] =
              funnel_shift(loaded[round][r][w], w + 1 < words ? loaded[round][r][w + 1] : next,
                           8 * address_bits(from));
        }
      }
    }
  }
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const unsigned step = rank + round * Shape::threads;
    const int row = row_of(round);
    if ((!all_busy && step >= steps) || is_left_out(round, row)) { continue; }
    unsigned char* chunk = shared + Shape::chunk_offset((straight ? rank : step) % load_threads) +
                           Shape::lead_bytes + row * Shape::element_bytes;
    if constexpr (Shape::micro_rows == 1 && Shape::micro_cols == 1 && !Shape::moves_groups) {
      store_shared(chunk, join_words<Shape::chunk_bytes>(loaded[round][0]));
    } else {
      unsigned turned[Shape::micro_cols][Shape::chunk_bytes / 4];
      thread_transpose<Shape::element_bytes>(turned, loaded[round]);
      TILETRANSPOSE_UNROLL
      for (int c = 0; c < Shape::micro_cols; ++c) {
        if constexpr (!Shape::moves_groups) {
          store_shared(chunk + c * Shape::pitch, join_words<Shape::chunk_bytes>(turned[c]));
        } else {
          TILETRANSPOSE_UNROLL
          for (int w = 0; w < Shape::chunk_bytes / 4; ++w) {
            const loop_step part(c * Shape::chunk_bytes / 4 + w);
            store_shared(chunk + c * Shape::pitch + 4 * w, turned[c][w]);
          }
        }
      }
    }
  }
}

/// Fills rows [from_row, from_row + Rows) of a tile, negative ones only where it is `skewed`, with 16-byte loads,
/// whatever the alignment of its rows: a load takes the units from the boundary at or below the row's on, a warp takes
/// whole rows, and each unit goes to the shared row of its own column. All rows of a thread lie in their vectors alike.
/// All loads are under way before the first store.
template <class Shape, bool Interior, int Rows, class Group>
TILETRANSPOSE_FUNCTION void fill_rows_dealt(Group group, unsigned char* shared,
                                            const tile_source& source, int from_row, bool skewed,
                                            int cols) {
  constexpr int unit = Shape::unit;
  constexpr int units = 16 / unit;
  constexpr int row_lanes = Shape::row_lanes;
  constexpr int together = Shape::threads / row_lanes;
  constexpr int rounds = (Rows + together - 1) / together;
  static_assert(Shape::row_loads <= 32 && together % units == 0, "");
  const loop_step call(from_row);
  using word = access_word_t<unit>;
  struct alignas(16) vector {
    word units[16 / Shape::unit];
  };
  const int lane = static_cast<int>(group.thread_rank() % row_lanes);
  const int first_row = Shape::dealt_row(static_cast<int>(group.thread_rank())) + from_row;
  const unsigned char* row = source.row(first_row);
  const int shift =
      static_cast<int>(address_bits(row) % 16) / unit;  // units before the first column
  const int byte = (lane * units - shift) * unit;
  if (byte >= cols * unit) { return; }
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
      const word16 all = load_constant_near<word16, Shape::fetched>(
          row + byte + round * together * source.stride_bytes);
      __builtin_memcpy(&loaded[round], &all, 16);
    }
  }
  // Afterwards, because loads between which more is asked are not under way together.
  if (!whole) {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < units; ++i) {
      const int from = byte + i * unit;
      if (from < source.first_byte || from >= source.end_byte) { continue; }
      TILETRANSPOSE_UNROLL
      for (int round = 0; round < rounds; ++round) {
        const loop_step here(i * rounds + round);
        if (exists(round)) {
          loaded[round].units[i] =
              load_constant<word>(row + from + round * together * source.stride_bytes);
        }
      }
    }
  }
  // Units before the first column and behind the last go to the spare ones.
  unsigned char* const to = shared + Shape::dealt_offset(lane, shift) + Shape::lead_bytes +
                            first_row * Shape::element_bytes;
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const loop_step here(round);
    if (!exists(round)) { continue; }
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < units; ++i) {
      const loop_step part(i);
      store_shared(to + i * Shape::pitch + Shape::dealt_padding(i, shift) +
                       round * together * Shape::element_bytes,
                   loaded[round].units[i]);
    }
  }
}

/// True where a tile touches the first or the last bytes of its rows, whose words `fill_rows` leaves out.
template <class Shape>
TILETRANSPOSE_FUNCTION bool has_row_ends(const tile_source& source) {
  constexpr int row_bytes = Shape::tile_cols * Shape::element_bytes;
  const int reach = 4 + (source.next_rows > 0 ? Shape::element_bytes : 0);
  return source.first_byte > -3 || source.end_byte < row_bytes + reach;
}

/// Fills what `fill_rows` left out, unit by unit.
/// Barriers: group.sync() between fill_rows and this call.
template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void fill_row_ends(Group group, unsigned char* shared,
                                          const tile_source& source, int from_row, int rows) {
  static_assert(Shape::shifts_loads && Shape::joins_pieces, "");
  constexpr int bytes = Shape::element_bytes;
  constexpr int left_cols = Shape::micro_cols;  // loads that start less than 4 bytes into the row
  constexpr int right_cols =  // and that end less than 4 bytes before its end, or one further right
      Shape::micro_cols + (3 + bytes - 1) / bytes + 1;
  constexpr int row_units = (left_cols + right_cols) * Shape::parts;
  using word = access_word_t<Shape::unit>;
  const int first_col = source.first_byte / bytes;
  const int end_col = smaller(source.end_byte / bytes, Shape::tile_cols);
  for (int step = static_cast<int>(group.thread_rank()); step < rows * row_units;
       step += Shape::threads) {
    const loop_step here(step / Shape::threads);
    const int row = from_row + step / row_units;
    const int end = step % row_units / Shape::parts;
    const bool left = end < left_cols;
    const int col = left ? first_col + end : end_col - 1 - (end - left_cols);
    const bool is_next = row >= source.end_row;
    if (row < source.first_row || row >= source.end_row + source.next_rows || col < 0 ||
        col >= end_col || (is_next && (col + 1) * bytes >= source.end_byte)) {
      continue;
    }
    // In a narrow tile the ends meet: what the left end stores the right one leaves alone.
    if (!left && col < first_col + left_cols) { continue; }
    const int byte = step % Shape::parts * Shape::unit;
    store_shared(shared + Shape::row_offset(col) + Shape::lead_bytes + row * bytes + byte,
                 load_global<word>(source.row(row) + (is_next ? source.next_bytes : 0) +
                                   col * bytes + byte));
  }
}

/// Copies one piece of each shared row to the output, but for the ends of output rows.
template <class Shape, bool Interior, class Group>
TILETRANSPOSE_FUNCTION void drain_tile(Group group, const unsigned char* shared,
                                       const tile_target& target) {
  constexpr int bytes = Shape::store_bytes;
  constexpr int unit = Shape::joins_stores ? Shape::unit : Shape::moves_groups ? 4 : bytes;
  const unsigned rank = group.thread_rank();
  visit_vectors<Shape, bytes, Interior>(
      group, target,
      [&](unsigned, unsigned char* address, int byte, unsigned row, unsigned further) {
        if (Interior || is_whole_vector<Shape, bytes>(target, address, byte)) {
          store_global(address, read_shared<bytes, unit, Shape::reads_words>(
                                    shared, Shape::row_offset(row) + Shape::lead_bytes + byte,
                                    further, rank));
        }
      });
}

/// Writes the ends of pieces out of the shared rows.
template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void drain_ends(Group group, const unsigned char* shared,
                                       const tile_target& target) {
  store_piece_ends<Shape>(group, target, [&](int row, int byte) {
    return load_shared<access_word_t<Shape::unit>>(shared + Shape::row_offset(row) +
                                                   Shape::lead_bytes + byte);
  });
}

/// Writes all of a tile's pieces. Barriers: group.sync() between filling the tile and this call.
template <class Shape, bool Interior, class Group>
TILETRANSPOSE_FUNCTION void drain_pieces(Group group, const unsigned char* shared,
                                         const tile_target& target) {
  drain_tile<Shape, Interior>(group, shared, target);
  if constexpr (!Interior && Shape::joins_stores) { drain_ends<Shape>(group, shared, target); }
}

/// Where the tile of a place goes, its pieces not joined.
template <class Shape>
TILETRANSPOSE_FUNCTION tile_target make_target(const tile_arguments& arguments,
                                               const tile_order::place& at) {
  const tile_problem& problem = arguments.problem;
  const size_type row_bytes = problem.ny * Shape::element_bytes;
  const size_type piece = at.row_tile * Shape::piece_bytes;
  const size_type first_col = at.col_tile * arguments.tile_cols;
  return {problem.out_matrix(at.batch) + first_col * problem.out_stride_bytes + piece,
          problem.out_stride_bytes,
          smaller(clipped_distance(first_col, problem.nx), static_cast<int>(arguments.tile_cols)),
          clipped_distance(piece, 0),
          clipped_distance(piece, row_bytes),
          arguments.sector_mask};
}

/// And where it comes from.
template <class Shape>
TILETRANSPOSE_FUNCTION tile_source make_source(const tile_arguments& arguments,
                                               const tile_order::place& at) {
  const tile_problem& problem = arguments.problem;
  const size_type first_row = at.row_tile * Shape::tile_rows;
  const size_type first_byte = at.col_tile * arguments.tile_cols * Shape::element_bytes;
  return {problem.in_matrix(at.batch) + first_row * problem.in_stride_bytes + first_byte,
          problem.in_stride_bytes,
          clipped_distance(first_row, 0),
          clipped_distance(first_row, problem.ny),
          clipped_distance(first_byte, 0),
          clipped_distance(first_byte, problem.nx * Shape::element_bytes)};
}

/// Moves a tile down by its skew, where rows of the output touch. The first piece of an output row then starts at the
/// first sector behind the row's start, or the one after it, and the last piece ends where the first one of the next
/// row starts: of that row it holds the first elements, which the input has in its first rows, a column further right:
///
///     input, ny rows             output rows c, c + 1              pieces of row c
///     row 0         a A          a b c d e f|A B C D E F           k = 0: c d e
///     ...           . .                                            k = 1: f A B
///     row ny - 1    f F          rows ny, ny + 1 of column c: A B
///
/// Only the matrix' first row has bytes before its pieces, and only its last row ends inside of one; store_matrix_ends.
/// H200, 2026-11-22, % of cudaMemcpyAsync without and with: 999 rows of bytes 65, 88, 200 rows 32, 78; 127 rows of
/// floats 75, 92; 200 rows of 2 bytes 69, 86; 100 rows of 3 bytes 43, 82; of 9 bytes, 100 rows 61, 65. Not so for
/// elements that are stored one by one, and for those moved in parts: 65 rows of 8 bytes 89, 78, of 12 bytes 84, 81.
/// Precondition: at least twice as many rows as the skew has.
template <class Shape>
TILETRANSPOSE_FUNCTION void join_pieces(tile_source& source, tile_target& target,
                                        const tile_arguments& arguments,
                                        const tile_order::place& at) {
  constexpr int bytes = Shape::element_bytes;
  constexpr int rows = Shape::skew_rows;
  const tile_problem& problem = arguments.problem;
  source.first += rows * source.stride_bytes;
  source.first_row -= rows;
  source.end_row -= rows;
  source.next_rows = rows;
  source.next_bytes = bytes - static_cast<long long>(problem.ny * problem.in_stride_bytes);
  target.first += rows * bytes;
  target.first_byte -= rows * bytes;
  target.joined_bytes = rows * bytes;
  target.matrix = problem.out_matrix(at.batch);
  target.matrix_end = target.matrix + problem.nx * problem.out_stride_bytes;
}

/// True where every load of a tile reads inside of the matrix, and every store of its pieces writes inside
/// of their rows. Where rows touch, loads that reach over an end of a row read the next one.
template <class Shape>
TILETRANSPOSE_FUNCTION bool is_interior(const tile_source& source, int row_bytes, bool skewed,
                                        bool rows_touch) {
  // Loads that start at a boundary reach over both ends of the tile.
  constexpr int reach = Shape::shifts_loads ? 4 : Shape::deals_loads ? 16 : 0;
  const int first_row = skewed ? -Shape::skew_rows : 0;
  const bool has_neighbours =
      rows_touch && source.first_row < first_row && source.end_row > Shape::tile_rows;
  return source.first_row <= first_row && source.end_row >= Shape::tile_rows &&
         (has_neighbours ? Shape::varies_width || source.end_byte >= row_bytes
                         : source.first_byte <= -reach && source.end_byte >= row_bytes + reach);
}

/// The rows of a tile that lie a column further right, as a source of their own.
template <class Shape>
TILETRANSPOSE_FUNCTION tile_source next_rows_of(const tile_source& source) {
  return {source.first + source.next_bytes,
          source.stride_bytes,
          source.end_row,
          smaller(source.end_row + source.next_rows, Shape::tile_rows),
          source.first_byte - Shape::element_bytes,
          source.end_byte - Shape::element_bytes};
}

template <class Shape, bool Interior, class Group>
TILETRANSPOSE_FUNCTION void move_tile_between(Group group, unsigned char* shared,
                                              const tile_source& source,
                                              const tile_target& target) {
  const bool skewed = target.sector_mask != 0;
  if constexpr (Shape::deals_loads) {
    constexpr int skew = Shape::skew_rows;
    fill_rows_dealt<Shape, Interior, skew + Shape::tile_rows>(group, shared, source, -skew, skewed,
                                                              target.rows);
    if (!Interior && source.next_rows > 0 && source.end_row < Shape::tile_rows) {
      fill_rows_dealt<Shape, false, skew>(group, shared, next_rows_of<Shape>(source),
                                          source.end_row, true, target.rows);
    }
  } else {
    constexpr int lead = Shape::leads_with_tile ? Shape::skew_rows : 0;
    fill_rows<Shape, Interior, lead + Shape::rows_at_once>(group, shared, source, -lead,
                                                           skewed ? -lead : 0, target.rows);
    if constexpr (Shape::rows_at_once < Shape::tile_rows) {
      for (int row = Shape::rows_at_once; row < Shape::tile_rows; row += Shape::rows_at_once) {
        fill_rows<Shape, Interior, Shape::rows_at_once>(group, shared, source, row, row,
                                                        target.rows);
      }
    }
    if constexpr (lead == 0) {
      if (skewed) {
        fill_rows<Shape, Interior, Shape::skew_rows>(group, shared, source, -Shape::skew_rows,
                                                     -Shape::skew_rows, target.rows);
      }
    }
  }
  group.sync();
  if constexpr (!Interior && Shape::shifts_loads) {
    if (has_row_ends<Shape>(source)) {
      const int lead = skewed ? Shape::skew_rows : 0;
      fill_row_ends<Shape>(group, shared, source, -lead, Shape::tile_rows + lead);
      group.sync();
    }
  }
  drain_pieces<Shape, Interior>(group, shared, target);
}

/// The shape of tiles with fewer columns, which whole tiles need not ask for.
template <class Shape>
struct narrower_shape : Shape {
  static constexpr bool varies_width = true;
};

/// The kernel's body: one block moves the tile that `block` names.
/// Shared memory: Shape::shared_bytes, aligned to 16. Barriers: inside.
template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void move_tile(Group group, unsigned char* shared,
                                      const tile_arguments& arguments, unsigned block) {
  const tile_order::place at = arguments.order(block, tile_order::jump_rows_of(Shape::tile_rows));
  tile_source source = make_source<Shape>(arguments, at);
  tile_target target = make_target<Shape>(arguments, at);
  if constexpr (Shape::joins_pieces) {
    if (arguments.cols_touch) { join_pieces<Shape>(source, target, arguments, at); }
  }
  const int row_bytes = static_cast<int>(arguments.tile_cols) * Shape::element_bytes;
  const bool skewed = arguments.sector_mask != 0;
  // The first tile of joined pieces has the bytes before them, too.
  const bool first = Shape::joins_pieces && arguments.cols_touch && at.row_tile + at.col_tile == 0;
  const bool whole = !first && (Shape::varies_width || arguments.tile_cols == Shape::tile_cols);
  if (whole && is_interior<Shape>(source, row_bytes, skewed, arguments.rows_touch)) {
    move_tile_between<Shape, true>(group, shared, source, target);
    return;
  }
  if constexpr (Shape::shifts_loads) {
    using narrower = narrower_shape<Shape>;
    if (!first && is_interior<narrower>(source, row_bytes, skewed, arguments.rows_touch)) {
      move_tile_between<narrower, true>(group, shared, source, target);
      return;
    }
  }
  move_tile_between<Shape, false>(group, shared, source, target);
}

/// The body of the kernel for whole tiles of a matrix so small that the time to the first load counts: the
/// block's tile is its place in a two-dimensional grid, and no tile needs a question.
/// Shared memory: Shape::shared_bytes, aligned to 16. Barriers: inside.
template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void move_vector_tile(Group group, unsigned char* shared,
                                             const unsigned char* in, unsigned char* out,
                                             size_type in_stride_bytes, size_type out_stride_bytes,
                                             unsigned tile_row, unsigned tile_col) {
  constexpr int row_bytes = Shape::tile_cols * Shape::element_bytes;
  const tile_source source{
      in + tile_row * Shape::tile_rows * in_stride_bytes + tile_col * row_bytes,
      in_stride_bytes,
      0,
      Shape::tile_rows,
      0,
      row_bytes};
  const tile_target target{
      out + tile_col * Shape::tile_cols * out_stride_bytes + tile_row * Shape::piece_bytes,
      out_stride_bytes,
      Shape::tile_cols,
      0,
      Shape::piece_bytes,
      0};
  move_tile_between<Shape, true>(group, shared, source, target);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
