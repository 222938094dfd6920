// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How a square is transposed in its own memory: a block takes a tile and the one it trades places with on the other
/// side of the diagonal, reads both and, after one barrier, writes both; no other block touches them. A tile on the
/// diagonal trades places with itself.

#pragma once

#include <type_traits>

#include <tiletranspose/detail/choose/choose_inplace.cuh>
#include <tiletranspose/detail/core/element_tile.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/core/packed_elements.cuh>
#include <tiletranspose/detail/tile/tile_kernel.cuh>
#include <tiletranspose/group.cuh>

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

/// The order in which blocks take the pairs of tiles (row, col), row <= col: in patches of 4 x 4 tiles where there are many,
/// so that on both sides of the diagonal neighbouring blocks move neighbouring memory. Patches are paired as tiles are, by
/// fold_triangle. Places below the diagonal or outside of the square are no pair; their blocks have nothing to do.
struct pair_order {
  unsigned bits;     ///< a patch is 2^bits x 2^bits tiles
  unsigned patches;  ///< of a side
  divider line;      ///< pairs of patches in a line

  explicit pair_order(size_type side_tiles)
      : bits(side_tiles < least_patched_tiles ? 0 : 2),
        patches(static_cast<unsigned>(divide_up(side_tiles, size_type{1} << bits))),
        line(patches + size_type{1}) {}

  size_type blocks() const { return divide_up(patches, 2) * line.divisor << 2 * bits; }

  TILETRANSPOSE_FUNCTION tile_pair operator()(unsigned block) const {
    const unsigned pair = block >> 2 * bits;
    const unsigned at_line = line.quotient(pair);
    const tile_pair patch = fold_triangle(patches, at_line, line.remainder(pair, at_line));
    const unsigned last = (1u << bits) - 1;
    return {(patch.row << bits) + (block >> bits & last), (patch.col << bits) + (block & last)};
  }
};

/// One square, or those of a grid, each of which takes as many blocks as there are pairs of its tiles.
struct swap_arguments {
  square_problem first;
  pair_order order;
  memory_range memory;                      ///< asked only where rows start anywhere
  size_type square_bytes = 0;               ///< of a row of a square
  divider pairs = divider(order.blocks());  ///< blocks of a square
  divider wide = divider();                 ///< squares of a row of the grid
};

/// Half the threads of a block; each half moves one tile of a pair. Its barrier is the block's.
template <int Threads>
struct half_block : private static_block<2 * Threads> {
  using block = static_block<2 * Threads>;
  using block::sync;
  TILETRANSPOSE_FUNCTION static unsigned thread_rank() { return block::thread_rank() % Threads; }
  /// 0 or 1: which half the calling thread belongs to.
  TILETRANSPOSE_FUNCTION static unsigned number() { return block::thread_rank() / Threads; }
};

/// The tile that half a block moves: where it lies, and where it goes. At the square's edge it has fewer rows or columns.
struct half_tile {
  bool exists;  ///< false of the second half where a tile trades places with itself
  unsigned char* shared;
  const unsigned char* from;
  unsigned char* to;
  size_type stride_bytes;
  int rows;
  int cols;
};

/// The kernel's body. `Shape` fills half of the shared memory with a tile and, when both halves have, writes it.
/// Threads: 2 * Shape::threads. Shared memory: 2 * Shape::shared_bytes, aligned to 16. Barriers: one, inside.
template <class Shape>
TILETRANSPOSE_FUNCTION void swap_tiles(unsigned char* shared, const swap_arguments& arguments,
                                       unsigned block) {
  constexpr size_type side = Shape::side;
  using half = half_block<Shape::threads>;
  const size_type stride = arguments.first.stride_bytes;
  const size_type end = arguments.first.side;
  const unsigned number = arguments.pairs.quotient(block);
  const tile_pair at = arguments.order(arguments.pairs.remainder(block, number));
  if (at.row > at.col || at.col * side >= end) { return; }
  const unsigned above = arguments.wide.quotient(number);
  const unsigned left = arguments.wide.remainder(number, above);
  unsigned char* const square =
      arguments.first.data + above * end * stride + left * arguments.square_bytes;
  const bool second = half::number() == 1;
  const size_type row = (second ? at.col : at.row) * side;
  const size_type col = (second ? at.row : at.col) * side;
  Shape::move(
      half{},
      {!second || at.row != at.col, shared + half::number() * Shape::shared_bytes,
       square + row * stride + col * Shape::element_bytes,
       square + col * stride + row * Shape::element_bytes, stride,
       static_cast<int>(smaller(end - row, side)), static_cast<int>(smaller(end - col, side))},
      arguments.memory);
}

/// Tiles of squares whose addresses and side are multiples of 16 bytes: rows of 128 bytes and more, and a micro-block a
/// thread. Only elements of 1 and 2 bytes have larger tiles.
template <int ElementBytes, bool IsLarge = false>
struct swap_shape : tile_shape<ElementBytes, ElementBytes, swap_side(ElementBytes, IsLarge),
                               swap_side(ElementBytes, IsLarge), swap_threads,
                               swap_load_bytes(ElementBytes, IsLarge), 16, 16, true> {
  static constexpr bool in_place = true;
  static constexpr int side = swap_side(ElementBytes, IsLarge);
  /// Of a multiprocessor; one leaves registers.
  static constexpr int least_blocks = IsLarge ? 1 : 0;

  template <class Group>
  TILETRANSPOSE_FUNCTION static void move(Group group, const half_tile& tile, const memory_range&) {
    const auto move_as = [&](auto interior) {
      if (tile.exists) {
        const tile_source source{tile.from, tile.stride_bytes,       0, tile.rows,
                                 0,         tile.cols * ElementBytes};
        fill_rows<swap_shape, interior.value, side>(group, tile.shared, source, 0, 0);
      }
      group.sync();
      if (tile.exists) {
        const tile_target target{tile.to, tile.stride_bytes,        tile.cols,
                                 0,       tile.rows * ElementBytes, 0};
        target.drain_segments<swap_shape, interior.value>(group, tile.shared);
      }
    };
    if (smaller(tile.rows, tile.cols) == side) {
      move_as(std::true_type{});
    } else {
      move_as(std::false_type{});
    }
  }
};

/// Tiles of squares whose rows start anywhere, or whose elements are no accesses. In shared memory row c of such a tile is
/// its column c as plain bytes: a row of the output. Rows of the input are loaded by *wide* accesses of 16 bytes, from the
/// multiple of 16 at or below their start on, and dealt out by *narrow* ones of `Access` bytes, which divide the elements'
/// bytes and their addresses:
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
  static constexpr bool whole = false;  ///< unlike swap_shape
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
  static constexpr int loads = smaller(byte_tile_loads(Tiles, ElementBytes), fill_steps);
  static_assert(fill_steps % loads == 0, "");
  static constexpr int edge_loads = fill_steps % 2 == 0 ? 2 : 1;

  /// Of a multiprocessor.
  static constexpr int least_blocks =
      resident_blocks(2 * threads, (tuned.resident_threads + threads) / (2 * threads));

  /// Of wide accesses at the ends of a row some bytes are another tile's: they go to spare rows, so that nobody has to ask.
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
      const unsigned char* const last =
          tile.from + static_cast<size_type>(tile.rows - 1) * tile.stride_bytes;
      if (smaller(tile.rows, tile.cols) == side &&
          (starts_aligned || memory.reaches_around(tile.from, last + tile.cols * element_bytes))) {
        fill<true>(rank, tile, memory);
      } else {
        fill<false>(rank, tile, memory);
      }
    }
    group.sync();
    if (tile.exists) { drain(rank, tile); }
  }

 private:
  /// Of a `Whole` tile all wide accesses lie in memory; at an edge those that do not are made of narrow ones.
  template <bool Whole>
  TILETRANSPOSE_FUNCTION static void fill(unsigned rank, const half_tile& tile,
                                          const memory_range& memory) {
    constexpr int batch = Whole ? loads : edge_loads;
    const int rows = Whole ? side : tile.rows;
    const int end_byte = (Whole ? side : tile.cols) * element_bytes;
    const size_type stride = tile.stride_bytes;
    const int lane = static_cast<int>(rank % lanes);
    TILETRANSPOSE_UNROLL_BY(1)
    for (int begin = 0; begin < fill_phases * fill_steps; begin += batch) {
      const int top = static_cast<int>(rank / lanes) + begin / fill_steps * round_rows +
                      (batch == fill_steps ? 0 : begin % fill_steps * fill_period);
      const unsigned char* const row = tile.from + top * stride;
      // Where the thread's wide accesses start in their rows.
      const int start = lane * 16 - (starts_aligned ? 0 : static_cast<int>(address_bits(row) % 16));
      if (start >= end_byte) { continue; }
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
#if TILETRANSPOSE_ON_DEVICE
      word16 got[batch];
#else
      word16 got[batch] = {};  // GCC does not see that only what is loaded is stored
#endif
      const unsigned char* wide = row + start;
      TILETRANSPOSE_UNROLL
      for (int step = 0; step < batch; ++step, wide += down) {
        const loop_step here(begin + step);
        if (exists(step) && inside(wide)) {
          got[step] = load_global_part<word16, fetched_bytes>(wide, larger(-start, 0),
                                                              smaller(end_byte - start, 16));
        }
      }
      word rotated[batch][words];
      TILETRANSPOSE_UNROLL
      for (int step = 0; step < batch; ++step) {
        word read[words];
        __builtin_memcpy(read, &got[step], 16);
        rotate_back(read, words - first_word(rank), rotated[step]);
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
        for (int byte = larger(start, 0); byte < smaller(start + 16, end_byte);
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
        const int byte = end < front ? end : length - ends + end;
        store_global(out + byte, load_shared<narrow>(row + byte));
      }
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

template <class Shape>
inline constexpr swap_tile tile_of = {Shape::side, 2 * Shape::shared_bytes};

/// Calls visit(shape) with the tiles for squares of `side` a side, of a problem of so many elements, where a block may ask for
/// `most` bytes of shared memory. `bits` has the lowest ones of the addresses where rows start.
template <int ElementBytes, int Access, class Visit>
auto with_swap_shape(size_type elements, size_type side, size_type bits, size_type most,
                     Visit visit) {
  using bytes = byte_tile_shape<ElementBytes, Access>;
  if constexpr (Access == ElementBytes) {
    if (takes_whole_accesses(ElementBytes, side, bits, tile_of<bytes>, most)) {
      using large = swap_shape<ElementBytes, (ElementBytes <= 2)>;
      return has_many_tiles(tile_of<large>, side, most) ? visit(large{})
                                                        : visit(swap_shape<ElementBytes>{});
    }
  }
  if constexpr (has_aligned_byte_tiles<ElementBytes, Access>) {
    using aligned = byte_tile_shape<ElementBytes, Access, byte_tiles::aligned>;
    if (bits % max_access_bytes == 0 && takes_large_tiles(tile_of<aligned>, elements, side, most)) {
      return visit(aligned{});
    }
  }
  return takes_large_tiles(tile_of<bytes>, elements, side, most)
             ? visit(bytes{})
             : visit(byte_tile_shape<ElementBytes, Access, byte_tiles::little>{});
}

/// How a tile of Side x Side elements of a small square is moved, an element a lane. Elements that take several accesses
/// are moved as these, an access a lane: so lanes next to each other access memory next to each other.
template <int ElementBytes, int Access, int Side>
struct little_square_shape {
  using whole = copy_operation<ElementBytes, Access>;
  static constexpr int side = Side;
  static constexpr int element_bytes = ElementBytes;
  static constexpr bool packs = packs_words(ElementBytes, Access);
  static constexpr int parts = packs ? 1 : whole::accesses;  ///< of an element, one a lane
  using operation = std::conditional_t<parts == 1, whole, copy_operation<Access, Access>>;
  using stored = typename operation::stored;
  static constexpr int lanes = Side * parts;  ///< of a row
  static constexpr int block_rows = packs ? 8 : little_square_rows(lanes, ElementBytes);
  static constexpr int threads = lanes * block_rows;  ///< of a half; a block has 1024 at most
  /// Rows of parts start `parts` of them after each other in the banks, so that those of a column lie side by side.
  static constexpr int padding =
      parts == 1 ? element_padding<stored, Side>() : round_up(lanes, 128 / Access) - lanes + parts;
  using tile = shared_tile<stored, padded_layout<stored, Side, lanes, padding>>;
};

/// The kernel's body: block (i, k) transposes a tile and the one across the diagonal.
/// Shared memory: the storage of two tiles. Barriers: one, inside.
template <class Shape>
TILETRANSPOSE_FUNCTION void swap_elements(typename Shape::tile::storage (&storage)[2],
                                          const square_problem& square, unsigned k, unsigned i) {
  using half = half_block<Shape::threads>;
  constexpr unsigned side = Shape::side;
  const auto end = static_cast<int>(square.side);
  const tile_pair pair = fold_triangle((static_cast<unsigned>(end) + side - 1) / side, k, i);
  if (pair.row > pair.col) { return; }
  const auto stride = static_cast<int>(square.stride_bytes);
  const bool second = half::number() == 1;
  const auto row = static_cast<int>((second ? pair.col : pair.row) * side);
  const auto col = static_cast<int>((second ? pair.row : pair.col) * side);
  const bool exists = !second || pair.row != pair.col;
  const auto clipped = [&](int first) {
    return exists ? static_cast<unsigned>(smaller(end - first, static_cast<int>(side))) : 0;
  };
  using operation = typename Shape::operation;
  const element_steps<int> steps{operation::in_bytes, stride};
  transpose_elements<Shape::block_rows>(
      half{}, typename Shape::tile(storage[half::number()]), clipped(row), clipped(col), 0, 0,
      operation{},
      optimisation_barrier_global(square.data + (row * stride + col * Shape::element_bytes)), steps,
      optimisation_barrier_global(square.data + (col * stride + row * Shape::element_bytes)), 0,
      steps);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
