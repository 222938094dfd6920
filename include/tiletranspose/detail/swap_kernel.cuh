// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernels that transpose a square in its own memory. A block takes a tile and the one it trades places
/// with on the other side of the diagonal, reads both and, after one barrier, writes both; no other block
/// touches them. A tile on the diagonal trades places with itself.

#pragma once

#include <tiletranspose/block_transpose.cuh>
#include <tiletranspose/detail/tile_kernel.cuh>

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

/// What half a block does: it reads the tile whose first element is (row, col) and writes it at (col, row).
struct swap_share {
  size_type row;
  size_type col;
  bool exists;  ///< false for the second half where a tile trades places with itself

  TILETRANSPOSE_FUNCTION swap_share(const pair_order::place& at, unsigned half, size_type side)
      : row((half == 0 ? at.row : at.col) * side),
        col((half == 0 ? at.col : at.row) * side),
        exists(half == 0 || at.row != at.col) {}
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

/// Tiles of large squares whose rows start anywhere. A row is one 16-byte access shorter than `lanes` threads make, so
/// that they cover it wherever it starts. Both ends of a row share a sector with another tile, so that long rows count
/// more than many blocks. H200, 2026-11-21, % of cudaMemcpyAsync at 32749, 23143, 16381 and 11587 rows of 1, 2, 4 and
/// 8 bytes: 60, 73, 79 and 82 (element by element in tiles of 64 or, for 8 bytes, 32 a side 48, 64, 72 and 72).
template <int ElementBytes>
struct chunk_policy {
  static constexpr int lanes = ElementBytes == 1 ? 8 : ElementBytes == 2 ? 16 : 32;
  static constexpr int threads = ElementBytes == 4 ? 512 : 256;  ///< of a tile
  /// Of a multiprocessor.
  static constexpr int blocks = ElementBytes == 1 ? 3 : ElementBytes == 4 ? 1 : 2;
  /// Of a thread, under way at once: all, or four, where the compiler runs short of registers (H200, 2026-11-22: floats
  /// 79 % with eight, 77.7 with four).
#if TILETRANSPOSE_ON_DEVICE && __CUDA_ARCH__ >= 1000
  static constexpr int loads = ElementBytes == 8 ? 8 : 4;
#else
  static constexpr int loads = ElementBytes == 2 ? 4 : 8;
#endif
};

/// In shared memory row c of such a tile is its column c as plain bytes: a row of the output.
template <int ElementBytes, class Policy = chunk_policy<ElementBytes>>
struct chunk_shape {
  using unit = access_word_t<ElementBytes>;
  static constexpr int element_bytes = ElementBytes;
  static constexpr int threads = Policy::threads;
  static constexpr int blocks = Policy::blocks;
  static constexpr int lanes = Policy::lanes;
  static constexpr int units = 16 / ElementBytes;  ///< elements of a chunk, 16 bytes
  static constexpr int side = (lanes - 1) * units;
  static constexpr int round_rows = threads / lanes;
  static constexpr int rounds = (side + round_rows - 1) / round_rows;
  static constexpr int loads = smaller(Policy::loads, rounds);
  /// Of chunks at the ends of a row some elements are another tile's: they go to spare rows, without a question.
  static constexpr int spare_rows = units - 1;
  static constexpr int pitch = (side | 1) * ElementBytes;
  static constexpr int first = spare_rows * pitch;
  static constexpr int shared_bytes = round_up((side + 2 * spare_rows) * pitch, 16);
  /// A chunk is moved in words, each lane beginning with the one of its turn, so that eight lanes whose chunks lie
  /// in the same banks as others' do not meet them.
  using word = access_word_t<larger(ElementBytes, 4)>;
  static constexpr unsigned words = 16 / sizeof(word);
  static constexpr int word_units = units / static_cast<int>(words);
  /// The lanes of a row do not meet where they fill shared memory; those of several rows, whose chunks start anywhere, may:
  /// 1- and 2-byte elements. An order without conflicts shifts each chunk by what its place is off a word. H200,
  /// 2026-11-22, % of cudaMemcpyAsync, 32749 rows of 1 byte, 23143 of 2: 60.2, 73.5 as it is, 53.2, 72.8 without conflicts,
  /// 60.9, 73.3 with the first word by the place of a chunk (2 ways).
  struct fill_lanes {
    unsigned turn;
    constexpr long long operator()(int lane) const {
      const unsigned word = (turn + static_cast<unsigned>(lane) / 8) % words;
      return (lane % lanes * units + static_cast<int>(word) * word_units) * pitch;
    }
  };
  static constexpr int fill_ways = 32 / lanes;
  static constexpr bool rows_do_not_conflict() {
    for (unsigned turn = 0; turn < words; ++turn) {
      if (request_ways(fill_lanes{turn}, element_bytes, banks_32x4, lanes) != 1) { return false; }
    }
    return true;
  }
  static_assert(rows_do_not_conflict(), "a shipped tile must not conflict");
  static_assert(lanes <= 32 && turn_ways<16>(lanes) == 1, "a shipped tile must not conflict");
};

/// The tile of a half-block: moved as it is from one place, turned to another.
template <class Shape>
struct chunk_tile {
  static constexpr int bytes = Shape::element_bytes;
  using unit = typename Shape::unit;
  using word = typename Shape::word;

  unsigned char* shared;
  unsigned rank;

  TILETRANSPOSE_FUNCTION unsigned turn() const { return rank / 8 % Shape::words; }

  /// Fills the tile from rows that lie in memory with 15 bytes before and after them: all of it, or `rows` rows of
  /// `cols` elements.
  template <bool Whole>
  TILETRANSPOSE_FUNCTION void fill(const unsigned char* from, size_type stride,
                                   int rows = Shape::side, int cols = Shape::side) const {
    if (Whole) { rows = cols = Shape::side; }
    const int first = static_cast<int>(rank / Shape::lanes);
    const int lane = static_cast<int>(rank % Shape::lanes);
    const auto start = [&](const unsigned char* row) {
      return lane * Shape::units - static_cast<int>(address_bits(row) % 16) / bytes;
    };
    // Where limits take registers, a quarter of the rounds is under way at once.
    constexpr int batch = Whole ? Shape::loads : (Shape::rounds + 3) / 4;
    TILETRANSPOSE_UNROLL_BY(1)
    for (int begin = 0; begin < Shape::rounds; begin += batch) {
      const int top = first + begin * Shape::round_rows;
      word16 got[batch];
      const unsigned char* row = from + top * stride;
      TILETRANSPOSE_UNROLL
      for (int round = 0; round < batch; ++round, row += Shape::round_rows * stride) {
        const loop_step here(begin + round);
        const int col = start(row);
        if (top + round * Shape::round_rows < rows && col < cols) {
          got[round] = load_global_part<word16>(row + col * bytes, larger(-col, 0) * bytes,
                                                smaller(cols - col, Shape::units) * bytes);
        }
      }
      row = from + top * stride;
      TILETRANSPOSE_UNROLL
      for (int round = 0; round < batch; ++round, row += Shape::round_rows * stride) {
        const loop_step here(begin + round);
        const int col = start(row);
        const int at = top + round * Shape::round_rows;
        if (at < rows && col < cols) { scatter(got[round], at, col); }
      }
    }
  }

  /// Turns 16 bytes that start at (row, col): element by element down a column of shared memory.
  TILETRANSPOSE_FUNCTION void scatter(const word16& chunk, int row, int col) const {
    word read[Shape::words];
    word turned[Shape::words];
    __builtin_memcpy(read, &chunk, 16);
    turn_back(read, Shape::words - turn(), turned);
    TILETRANSPOSE_UNROLL
    for (unsigned w = 0; w < Shape::words; ++w) {
      const int c = col + static_cast<int>((w + turn()) % Shape::words) * Shape::word_units;
      unsigned char* const to = shared + Shape::first + c * Shape::pitch + row * bytes;
      TILETRANSPOSE_UNROLL
      for (int u = 0; u < Shape::word_units; ++u) {
        const loop_step part(static_cast<int>(w) * Shape::word_units + u);
        store_shared(to + u * Shape::pitch, static_cast<unit>(turned[w] >> (8 * bytes * u)));
      }
    }
  }

  /// The same element by element, as far as rows and columns exist.
  TILETRANSPOSE_FUNCTION void fill_part(const unsigned char* from, size_type stride, int rows,
                                        int cols) const {
    constexpr int cells = Shape::side * Shape::side;
    TILETRANSPOSE_UNROLL_BY(4)
    for (int cell = static_cast<int>(rank); cell < cells; cell += Shape::threads) {
      const loop_step here(cell / Shape::threads);
      const int row = cell / Shape::side;
      const int col = cell % Shape::side;
      if (row < rows && col < cols) {
        store_shared(shared + Shape::first + col * Shape::pitch + row * bytes,
                     load_global<unit>(from + row * stride + col * bytes));
      }
    }
  }

  /// Writes `rows` rows of `length` elements: chunks that start at multiples of 16 bytes, elements at both ends.
  TILETRANSPOSE_FUNCTION void drain(unsigned char* to, size_type stride, int rows,
                                    int length) const {
    const auto head = [&](const unsigned char* row) {
      return static_cast<int>((0u - address_bits(row)) % 16) / bytes;
    };
    const int first = static_cast<int>(rank / Shape::lanes);
    const int lane = static_cast<int>(rank % Shape::lanes);
    unsigned char* row = to + first * stride;
    TILETRANSPOSE_UNROLL
    for (int round = 0; round < Shape::rounds; ++round, row += Shape::round_rows * stride) {
      const loop_step here(round);
      const int at = first + round * Shape::round_rows;
      const int col = head(row) + lane * Shape::units;
      if (at < rows && col + Shape::units <= length) {
        const int place = Shape::first + at * Shape::pitch + col * bytes;
        store_global(row + col * bytes,
                     read_shared<16, bytes>(shared, static_cast<unsigned>(place), 0, rank));
      }
    }
    TILETRANSPOSE_UNROLL_BY(2)
    for (int step = static_cast<int>(rank); step < rows * Shape::units; step += Shape::threads) {
      const loop_step here(step / Shape::threads);
      const int at = step / Shape::units;
      unsigned char* const out = to + at * stride;
      const int front = smaller(head(out), length);
      const int ends = front + (length - front) % Shape::units;
      TILETRANSPOSE_UNROLL_BY(1)
      for (int end = step % Shape::units; end < ends; end += Shape::units) {
        const loop_step part(end / Shape::units);
        const int col = end < front ? end : length - ends + end;
        store_global(out + col * bytes,
                     load_shared<unit>(shared + Shape::first + at * Shape::pitch + col * bytes));
      }
    }
  }
};

/// The kernel's body where rows start anywhere.
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
    if (!arguments.memory.reaches_around(from, last + cols * Shape::element_bytes)) {
      tile.fill_part(from, square.stride_bytes, rows, cols);
    } else if (smaller(rows, cols) == Shape::side) {
      tile.template fill<true>(from, square.stride_bytes);
    } else {
      tile.template fill<false>(from, square.stride_bytes, rows, cols);
    }
  }
  group.sync();
  if (own.exists) { tile.drain(to, square.stride_bytes, cols, rows); }
}

/// The tile of the other squares, from the public parts.
template <int ElementBytes, int Alignment>
struct swap_tile {
  using element_type = element<ElementBytes, Alignment>;
  template <int Side>
  using square_tile =
      shared_tile<element_type,
                  padded_layout<element_type, Side, Side, default_padding<element_type, Side>()>>;

  static constexpr int wanted = ElementBytes <= 4 ? 64 : ElementBytes <= 16 ? 32 : 16;
  /// Elements of 38, 62 and 63 bytes take so much padding that two tiles would not fit 48 KB.
  static constexpr bool fits =
      2 * sizeof(typename square_tile<wanted>::storage) <= default_shared_bytes;
  static constexpr int threads = ElementBytes <= 4 ? 512 : 256;  ///< half of them a tile
  /// Bytes that a thread loads one at a time, all of a tile under way, take a register each.
  static constexpr int unit = access_width(ElementBytes, Alignment);
  static constexpr int loads = wanted * wanted * (ElementBytes / unit) / (threads / 2);
  static constexpr bool crowded = unit == 1 && loads > 16 && loads <= most_unrolled_rounds;
  static constexpr int side = fits && !crowded ? wanted : wanted / 2;
  using type = square_tile<side>;
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
