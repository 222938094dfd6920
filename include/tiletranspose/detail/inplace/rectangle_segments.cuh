// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Rectangles in place by segments, which make columns of a tall matrix short: with S rows transposed at a time, what
/// moves is a segment of S elements and no more a single one.
///
/// A matrix has m rows and n columns, of each of which k segments of S elements each move, from its phase on (segment_layout):
/// segment P of a column is elements P * S + phase and on. Slab P is the S rows from P * S on; the P-th n of the slots where
/// segments lie are its, too. Where k and n have no common divisor, two steps take segments to where they belong:
///
///     1. slabs    segment P of column y  ->  slot (P, Q),  Q = (y * k + P) % n
///     2. columns   slot (P, Q)  ->  slot ((P - Q) / n % k, Q), step 3 of rectangle_columns.cuh for a grid of slots
///
/// and the elements in no segment are kept in scratch memory meanwhile. The same, undone from the last to the first,
/// makes the transpose of an n x m matrix.
///
/// Segments begin where sectors do, so that they are moved by whole ones; for that a slab reads up to a group of rows
/// that the next one reads, too, or undone the last group of segments of the slab before it.

#pragma once

#include <numeric>

#include <tiletranspose/detail/inplace/rectangle_columns.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Step 1. A tile is some columns of a slab, or all of them; a block takes one tile after the other.
struct slab_arguments {
  const unsigned char* source;  ///< the data; where blocks cannot wait for each other, a copy of it
  unsigned char* data;
  unsigned* arrived;      ///< for each slab the tiles that have been read
  unsigned cols;          ///< n
  unsigned rows;          ///< S
  unsigned slant;         ///< rows that a slab and the next one have in common: the largest phase
  unsigned column_teams;  ///< of threads that share the segments of a column
  unsigned tile_pitch;    ///< bytes between rows of a tile in shared memory
  unsigned blocks;        ///< of the launch
  unsigned slabs;   ///< whose tiles are taken; undone, one more where segments end behind the last
  unsigned tiles;   ///< of all of them
  unsigned before;  ///< slabs that read what a slab is written over
  unsigned after;   ///< the same behind it
  divider slab_tiles;  ///< tiles of a slab
  divider columns;     ///< of a tile; a slab's last one may have fewer
  divider row_words;   ///< that cover a row of a tile, wherever it starts
  long_divider by_cols;
  segment_layout segments;

  /// Blocks that must run at once, so that they do not wait for ever: the one with the first of all tiles under way
  /// waits for none beyond the slabs behind its own, and all of those must have been read.
  unsigned together() const { return smaller((after + 1) * slab_tiles.divisor, tiles); }
  size_type slab_bytes() const { return size_type{rows} * cols * segments.element_bytes; }
  /// Of all that is read.
  size_type source_bytes() const {
    return segments.tall.divisor * slab_bytes() +
           size_type{segments.remainder} * cols * segments.element_bytes;
  }
};

/// What segments are multiples of: a *pair* of halves, each of which is the fewest elements that are whole words of 16 bytes.
constexpr unsigned segment_step(unsigned element) {
  return 2 * 16 / common_divisor(element, 16) * element;
}

/// A tile of a slab, as one of its threads sees it.
///
/// Segments are moved in pairs, a half a lane, so that two neighbouring lanes move whole sectors; the next two lanes take
/// the next column. Item i of a tile is half i % 2 of each pair that is its team's of column i / 2 % columns.
template <bool Undo, int ElementBytes>
struct slab_tile {
  static constexpr int access_bytes = access_width(ElementBytes);
  using narrow = access_word_t<access_bytes>;
  static constexpr int accesses = 16 / access_bytes;  ///< of a word
  static constexpr unsigned pair_bytes = segment_step(ElementBytes);
  static constexpr int words = pair_bytes / 32;  ///< of a half
  /// Words that a thread has under way: more than these would take more registers than it has.
  static constexpr int together = words <= 3 ? words : 1;

  const slab_arguments& arguments;
  unsigned char* shared;
  unsigned tile;
  unsigned rank = static_block<slab_threads>::thread_rank();
  unsigned row_bytes = arguments.cols * ElementBytes;  ///< of the data
  unsigned slab = arguments.slab_tiles.quotient(tile);
  unsigned first_col = arguments.slab_tiles.remainder(tile, slab) * arguments.columns.divisor;
  unsigned cols = smaller(arguments.cols - first_col, arguments.columns.divisor);
  size_type first_row = size_type{slab} * arguments.rows;
  const unsigned char* source = arguments.source + first_row * row_bytes;
  unsigned char* target = arguments.data + first_row * row_bytes;
  bool dense = arguments.slab_tiles.divisor == 1 && arguments.tile_pitch == row_bytes;
  /// Rows. Undone, the last segments end in rows behind the last slab.
  unsigned height = !Undo                                     ? arguments.rows + arguments.slant
                    : slab == arguments.segments.tall.divisor ? arguments.slant
                                                              : arguments.rows;
  unsigned first_byte = first_col * ElementBytes;
  /// In shared memory, as far after a multiple of 16 as in global memory.
  unsigned char* rows = shared + first_byte % 16;
  unsigned half = rank % 2 * (pair_bytes / 2);  ///< byte of a pair

  /// Visits the words of 16 bytes that the rows of a tile are in: whole(shared, byte of the slab) or, where some bytes
  /// are not the tile's, edge(shared, byte of the slab, first, end).
  template <class Whole, class Edge>
  TILETRANSPOSE_FUNCTION void each_word(Whole whole, Edge edge) const {
    if (dense) {
      const unsigned end = height * row_bytes;
      TILETRANSPOSE_UNROLL_BY(4)
      for (unsigned at = rank * 16; at < end; at += slab_threads * 16) { whole(shared + at, at); }
      return;
    }
    const unsigned count = height * arguments.row_words.divisor;
    TILETRANSPOSE_UNROLL_BY(2)
    for (unsigned at = rank; at < count; at += slab_threads) {
      const loop_step here(at / slab_threads);
      const unsigned row = arguments.row_words.quotient(at);
      const unsigned begin = row * row_bytes + first_byte;
      const unsigned end = begin + cols * ElementBytes;
      const unsigned byte = begin / 16 * 16 + arguments.row_words.remainder(at, row) * 16;
      unsigned char* const place = rows + row * arguments.tile_pitch + byte - begin;
      if (byte >= begin && byte + 16 <= end) {
        whole(place, byte);
      } else if (byte < end) {
        edge(place, byte, byte < begin ? static_cast<int>(begin - byte) : 0,
             static_cast<int>(smaller(end - byte, 16u)));
      }
    }
  }

  /// Byte of the data where a column's segment of a slab lies.
  TILETRANSPOSE_FUNCTION size_type slot(unsigned col, unsigned of_slab) const {
    const unsigned to = arguments.by_cols.short_remainder(
        static_cast<unsigned long long>(first_col + col) * arguments.segments.tall.divisor +
        of_slab);
    return arguments.segments.slot_bytes(of_slab * arguments.cols + to);
  }

  TILETRANSPOSE_FUNCTION void read_rows() const {
    const auto copy = [&](unsigned char* to, unsigned at, int first = 0, int end = 16) {
      copy_async<16>(to, source + at, first, end);
    };
    each_word(copy, copy);
    commit_copies();
    wait_for_copies(0);
  }

  /// Moves the words that are the thread's, several at a time, out of the columns of the tile to their slots, or back. Undone,
  /// a column of the tile is the end of one segment, and of the next one all but what the next slab begins with. What is in no
  /// segment, before the first and behind the last, comes out of scratch memory later.
  TILETRANSPOSE_FUNCTION void move_segments() const {
    const unsigned teams = arguments.column_teams;
    const unsigned segment_bytes = arguments.segments.segment_bytes;
    const unsigned ends = Undo && arguments.slant != 0 ? 1 : 0;  // pairs of the segment before
    const unsigned pairs = segment_bytes / pair_bytes + ends;
    const unsigned own_slab = Undo ? smaller(slab, arguments.segments.tall.divisor - 1) : slab;
    constexpr unsigned batch = words > 1 ? 1 : Undo ? 3 : 2;
    const unsigned items = 2 * arguments.columns.divisor * teams;
    for (unsigned item = rank; item < items; item += slab_threads) {
      const unsigned team = arguments.columns.quotient(item / 2);
      const unsigned col = arguments.columns.remainder(item / 2, team);
      if (col >= cols) { continue; }
      const unsigned segment_row = arguments.segments.phase(first_col + col) + half / ElementBytes;
      const size_type own = slot(col, own_slab) + half;
      const size_type before =
          Undo ? slot(col, larger(slab, 1u) - 1) + (segment_bytes - ends * pair_bytes) + half : 0;
      TILETRANSPOSE_UNROLL_BY(1)
      for (unsigned start = team; start < pairs; start += batch * teams) {
        TILETRANSPOSE_UNROLL
        for (int first = 0; first < words; first += together) {
          word16 got[batch][together];
          const auto each = [&](auto visit) {
            TILETRANSPOSE_UNROLL
            for (unsigned i = 0; i < batch; ++i) {
              const unsigned at = start + i * teams;
              const loop_step here(at);
              if (at >= pairs) { break; }
              const size_type byte = Undo && at < ends ? before : own + (at - ends) * pair_bytes;
              const unsigned row = segment_row + (at - ends) * (pair_bytes / ElementBytes);
              const bool inside = ends == 0 || (at != 0 && at + 1 != pairs);
              TILETRANSPOSE_UNROLL
              for (int w = first; w < first + together; ++w) {
                visit(got[i][w - first], byte + w * 16, in_tile{col, row, w, inside});
              }
            }
          };
          each([&](word16& word, size_type byte, const in_tile& at) {
            word = Undo ? load_global<word16>(arguments.source + byte) : gather_word(at);
          });
          each([&](const word16& word, size_type byte, const in_tile& at) {
            Undo ? deal_word(at, word) : store_global(arguments.data + byte, word);
          });
        }
      }
    }
  }

  /// A word of a half: the column and row of the half's first element, modulo 2^32, its number, and whether the tile has the
  /// rows of all elements of the half.
  struct in_tile {
    unsigned col;
    unsigned row;
    int number;
    bool inside;
  };
  /// Visits the accesses that such a word is made of: (row, place in shared memory, access).
  template <class Visit>
  TILETRANSPOSE_FUNCTION void each_access(const in_tile& at, narrow (&of_word)[accesses],
                                          Visit visit) const {
    unsigned char* const column = rows + at.col * ElementBytes +
                                  static_cast<int>(at.row) * static_cast<int>(arguments.tile_pitch);
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < accesses; ++i) {
      const int byte = at.number * 16 + i * access_bytes;
      const int element = byte / ElementBytes;
      visit(at.row + static_cast<unsigned>(element),
            column + element * arguments.tile_pitch + byte % ElementBytes, of_word[i]);
    }
  }
  TILETRANSPOSE_FUNCTION word16 gather_word(const in_tile& at) const {
    narrow of_word[accesses];
    each_access(at, of_word, [](unsigned, const unsigned char* from, narrow& value) {
      value = load_shared<narrow>(from);
    });
    return as_word<16>(of_word);
  }
  /// Stores the accesses of rows that the tile has.
  TILETRANSPOSE_FUNCTION void deal_word(const in_tile& at, const word16& word) const {
    narrow of_word[accesses];
    copy_bytes(of_word, &word, 16);
    const auto store = [&](auto all) {
      each_access(at, of_word, [&](unsigned row, unsigned char* to, narrow value) {
        if (all.value || row < arguments.rows) { store_shared(to, value); }
      });
    };
    if (at.inside) {
      store(std::true_type{});
    } else {
      store(std::false_type{});
    }
  }

  TILETRANSPOSE_FUNCTION void write_rows() const {
    each_word([&](unsigned char* from,
                  unsigned at) { store_global(target + at, load_shared<word16>(from)); },
              [](unsigned char*, unsigned, int, int) {});
    // What is left of rows at both ends, an access a thread.
    const unsigned ends = dense ? 0 : height * 2 * accesses;
    for (unsigned at = rank; at < ends; at += slab_threads) {
      const loop_step here(at / slab_threads);
      const unsigned row = at / (2 * accesses);
      const unsigned number = at % (2 * accesses);
      const unsigned begin = row * row_bytes + first_byte;
      const unsigned end = begin + cols * ElementBytes;
      const auto whole =
          static_cast<unsigned>(divide_up(begin, 16) * 16);  // a row may end before it
      const unsigned byte = number < accesses
                                ? begin + number * access_bytes
                                : larger(whole, end / 16 * 16) + (number - accesses) * access_bytes;
      if (byte < (number < accesses ? smaller(whole, end) : end)) {
        store_global(target + byte,
                     load_shared<narrow>(rows + row * arguments.tile_pitch + (byte - begin)));
      }
    }
  }
};

/// Step 1 for the tiles of a block, or undone.
/// Shared memory: 16 bytes and, for each row that is read or written, tile_pitch; aligned to 16. Barriers: three a
/// tile, inside.
/// Precondition: all blocks run at once, and are no fewer than tiles of the slabs that wait for each other.
template <bool Undo, int ElementBytes>
TILETRANSPOSE_FUNCTION void transpose_slabs(unsigned char* shared, const slab_arguments& arguments,
                                            unsigned block) {
  const static_block<slab_threads> group;
  for (unsigned number = block; number < arguments.tiles; number += arguments.blocks) {
    const slab_tile<Undo, ElementBytes> tile{arguments, shared, number};
    if (number != block) { group.sync(); }  // the tile before has been written
    Undo ? tile.move_segments() : tile.read_rows();
    const unsigned slab = tile.slab;
    grid_barrier(group, arguments.arrived, slab, slab - smaller(slab, arguments.before),
                 smaller(slab + arguments.after, arguments.slabs - 1),
                 arguments.slab_tiles.divisor);
    Undo ? tile.write_rows() : tile.move_segments();
  }
}

template <bool Undo, int ElementBytes>
__global__ void __launch_bounds__(slab_threads,
                                  resident_blocks(slab_threads, slab_blocks(ElementBytes)))
    slab_kernel(const __grid_constant__ slab_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  transpose_slabs<Undo, ElementBytes>(tiletranspose_dynamic_shared, arguments, blockIdx.x);
}

inline constexpr int remainder_threads = 256;

/// The remainder in scratch memory is a matrix of r rows: column y has what comes before its first segment and then
/// what comes behind its last.
struct remainder_arguments {
  unsigned char* data;
  unsigned char* remainder;
  size_type row_step;  ///< bytes of the data between elements of a column, which is m of them
  size_type col_step;  ///< and of a row
  segment_layout segments;
  unsigned cols;     ///< n
  unsigned skipped;  ///< elements of a column that are in segments
  unsigned count;    ///< n * r
  divider line;      ///< n, or r: neighbouring lanes take elements that lie together
  bool down;         ///< the latter: those of a column do
  bool back;         ///< out of scratch memory
};

/// Copies the remainder to scratch memory, or back.
template <int ElementBytes>
__global__ void __launch_bounds__(remainder_threads)
    remainder_kernel(const __grid_constant__ remainder_arguments arguments) {
  constexpr int access_bytes = access_width(ElementBytes);
  using narrow = access_word_t<access_bytes>;
  const unsigned number = blockIdx.x * remainder_threads + threadIdx.x;
  if (number >= arguments.count) { return; }
  const unsigned above = arguments.line.quotient(number);
  const unsigned in_line = arguments.line.remainder(number, above);
  const unsigned col = arguments.down ? above : in_line;
  const unsigned row = arguments.down ? in_line : above;
  const unsigned in_data = row < arguments.segments.phase(col) ? row : arguments.skipped + row;
  unsigned char* const data =
      arguments.data + in_data * arguments.row_step + col * arguments.col_step;
  unsigned char* const remainder =
      arguments.remainder + (size_type{row} * arguments.cols + col) * ElementBytes;
  const unsigned char* const from = arguments.back ? remainder : data;
  unsigned char* const to = arguments.back ? data : remainder;
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < ElementBytes; i += access_bytes) {
    store_global(to + i, load_global<narrow>(from + i));
  }
}

/// Slabs of a matrix, the bands of their columns, and what is left of it.
struct segment_plan {
  /// Of shared memory beside the rows of a tile.
  static constexpr size_type spare_bytes = 32;

  rectangle_problem problem{};
  size_type group = 0;  ///< elements, see segment_layout
  size_type slant = 0;  ///< the largest phase
  size_type rows = 0;   ///< of a slab
  size_type slabs = 0;  ///< 0: it cannot be cut so
  size_type segment_bytes = 0;
  size_type remainder = 0;  ///< elements of a column that are in no segment
  size_type tile_cols = 0;
  size_type tile_pitch = 0;  ///< bytes
  size_type held = 0;        ///< rows of a tile in shared memory
  blocks_at_once allowed;
  column_plan columns{};

  size_type tiles() const { return divide_up(problem.cols, tile_cols); }
  size_type shared_bytes() const { return held * tile_pitch + spare_bytes; }
  /// Slabs further down whose rows the segments of a slab may come to lie in: the remainder moves them.
  size_type reach() const { return divide_up(remainder, rows); }
  size_type remainder_bytes() const { return divide_up(remainder * problem.row_bytes(), 16) * 16; }
  /// Of scratch memory, wherever it starts: the remainder, and what blocks count together.
  size_type scratch_bytes() const {
    const size_type bands = problem.cols * segment_bytes / sector_bytes;
    return 32 + remainder_bytes() + larger(bands, slabs + 1) * sizeof(unsigned);
  }

  /// Where a block holds a slab, the longest segments that fit; else such that rows of tiles are long. Segments begin on
  /// sectors or, where that leaves more than the scratch memory holds, on 16 bytes.
  void choose() {
    const size_type element = problem.element_bytes;
    const size_type step = segment_step(static_cast<unsigned>(element));
    segment_plan found = *this;
    for (const size_type aligned : {size_type{sector_bytes}, size_type{max_access_bytes}}) {
      found.group = aligned / std::gcd(element, aligned);
      found.slant = found.group - std::gcd(problem.rows, found.group);
      for (size_type bytes = divide_up(shortest_segment_bytes, step) * step;
           bytes <= longest_segment_bytes; bytes += step) {
        if (!found.set_tiles(bytes)) { break; }
        const bool longer =
            found.tile_cols == problem.cols ||
            (found.tile_cols * element >= wide_tile_bytes && bytes <= longest_shared_segment_bytes);
        if ((slabs == 0 || longer) && found.cut()) { *this = found; }
      }
      if (slabs != 0) { return; }
    }
  }

  /// False where a tile would be too narrow.
  bool set_tiles(size_type bytes) {
    const size_type most = allowed.shared_bytes - spare_bytes;
    const size_type element = problem.element_bytes;
    const size_type row_bytes = problem.row_bytes();
    segment_bytes = bytes;
    rows = bytes / element;
    held = problem.undo ? rows : rows + slant;
    // Columns are read from their phases on, in rows that must not lie in the same banks.
    const auto spreads = [](size_type pitch) { return (pitch + 4) % 32 >= 8; };
    if (held * row_bytes <= most && (spreads(row_bytes) || slant == 0)) {
      tile_cols = problem.cols;
      tile_pitch = row_bytes;
      return true;
    }
    // Rows of a tile start anywhere: the words of 16 bytes that they touch may not be those of another row, and lie in
    // shared memory as in the data.
    constexpr size_type touched = 30;  // bytes of these words beside a row's own, at most
    constexpr size_type most_gap = touched + 15 + 16;  // the latter two by the next steps
    constexpr size_type least_cols = 4;
    const size_type fitting = most / held;
    if (fitting < most_gap + least_cols * element) { return false; }
    tile_cols = divide_up(problem.cols, divide_up(problem.cols, (fitting - most_gap) / element));
    tile_pitch = tile_cols * element + touched;
    tile_pitch += (row_bytes - tile_pitch) % 16;
    if (!spreads(tile_pitch)) { tile_pitch += 16; }
    return true;
  }

  /// Cuts a matrix into as many slabs as there can be without a divisor that their number and the columns have in common; false
  /// where the remainder then does not fit the scratch memory, or where more tiles wait for each other than run at once.
  bool cut() {
    constexpr size_type most_slots = size_type{1} << 31;
    for (slabs = problem.rows / rows; slabs > 1; --slabs) {
      remainder = problem.rows - slabs * rows;
      if (scratch_bytes() > problem.scratch_bytes || (reach() + 2) * tiles() > allowed.count ||
          remainder_bytes() >= most_slots) {
        break;
      }
      if ((remainder == 0 || remainder > slant) && slabs * problem.cols < most_slots &&
          std::gcd(slabs, problem.cols) == 1) {
        return true;
      }
    }
    return false;
  }
};

/// Leaves the plan without slabs where there are not both, slabs and bands of their columns.
template <bool Undo, int ElementBytes>
cudaError_t plan_segments(const rectangle_problem& problem, segment_plan& plan) {
  constexpr int sharing = slab_blocks(ElementBytes);
  cudaError_t status = allow_at_once(&slab_kernel<Undo, ElementBytes>, slab_threads, sharing,
                                     most_tiles_bytes / sharing, plan.allowed);
  if (status != cudaSuccess || plan.allowed.count == 0) { return status; }
  plan.problem = problem;
  plan.choose();
  if (plan.slabs == 0) { return cudaSuccess; }
  plan.columns = {rectangle(plan.slabs, problem.cols), plan.segment_bytes, 16,
                  &column_kernel<Undo, 16, true>};
  status = plan.columns.set_together(widest_segment_band_bytes);
  if (plan.columns.blocks == 0) { plan.slabs = 0; }
  return status;
}

/// The steps of rectangle_segments.cuh. Precondition: plan_segments made the plan, and found slabs.
template <bool Undo, int ElementBytes>
cudaError_t launch_segments(const segment_plan& plan, cudaStream_t stream) {
  const auto count = [](size_type value) { return static_cast<unsigned>(value); };
  const rectangle_problem& problem = plan.problem;
  const size_type row_bytes = problem.row_bytes();
  unsigned char* const remainder =
      problem.scratch + (0 - reinterpret_cast<size_type>(problem.scratch)) % 16;
  unsigned char* const free = remainder + plan.remainder_bytes();
  const segment_layout segments{divider(plan.slabs), count(plan.remainder), count(plan.group),
                                ElementBytes, count(plan.segment_bytes)};

  const auto slabs = [&] {
    const size_type tiles = plan.tiles();
    const bool slants = plan.remainder != 0 && plan.slant != 0;
    const size_type common_rows = slants ? 1 : 0;
    slab_arguments arguments{};
    arguments.source = problem.data;
    arguments.data = problem.data;
    arguments.arrived = reinterpret_cast<unsigned*>(free);
    arguments.cols = count(problem.cols);
    arguments.rows = count(plan.rows);
    arguments.slant = slants ? count(plan.slant) : 0;
    // As many as keep most threads busy, and have segments.
    arguments.column_teams = count(larger<size_type>(
        smaller(slab_threads / 2 / plan.tile_cols, plan.segment_bytes / sector_bytes), 1));
    arguments.tile_pitch = count(plan.tile_pitch);
    arguments.segments = segments;
    arguments.slabs = count(plan.slabs + (Undo ? common_rows : 0));
    arguments.tiles = count(arguments.slabs * tiles);
    arguments.blocks = count(smaller<size_type>(arguments.tiles, plan.allowed.count));
    arguments.before = count(Undo ? plan.reach() : common_rows);
    arguments.after = count(Undo ? common_rows : plan.reach());
    arguments.slab_tiles = divider(tiles);
    arguments.columns = divider(plan.tile_cols);
    arguments.row_words = divider(divide_up(plan.tile_cols * ElementBytes + 30, 16));
    arguments.by_cols = long_divider(problem.cols);
    return start_together(&slab_kernel<Undo, ElementBytes>, arguments, arguments.slabs,
                          slab_threads, plan.shared_bytes(), stream);
  };
  const auto columns = [&] {
    rectangle_problem of_slots = problem;
    of_slots.scratch = free;
    return launch_columns(of_slots, plan.columns, segments, stream);
  };
  // To scratch memory before anything moves, and back at last: one of it out of m rows, the other into n columns.
  const auto copy_remainder = [&](bool back) {
    if (plan.remainder == 0) { return cudaSuccess; }
    const bool down = back != Undo;
    remainder_arguments arguments{};
    arguments.data = problem.data;
    arguments.remainder = remainder;
    arguments.row_step = down ? ElementBytes : row_bytes;
    arguments.col_step = down ? problem.rows * ElementBytes : ElementBytes;
    arguments.segments = segments;
    arguments.cols = count(problem.cols);
    arguments.skipped = count(plan.slabs * plan.rows);
    arguments.count = count(plan.remainder * problem.cols);
    arguments.line = divider(down ? plan.remainder : problem.cols);
    arguments.down = down;
    arguments.back = back;
    return start(&remainder_kernel<ElementBytes>, divide_up(arguments.count, remainder_threads),
                 remainder_threads, 0, stream, arguments);
  };
  const auto save = [&] { return copy_remainder(false); };
  const auto restore = [&] { return copy_remainder(true); };
  return Undo ? take_steps(save, columns, slabs, restore)
              : take_steps(save, slabs, columns, restore);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
