// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The tile kernel's body for elements that are no multiple of a word's bytes, or lie at no multiple of them.
///
/// *Fill*: rows of the input are copied to shared memory as they lie, each from a word's first byte on that the row has
/// a byte of.
///
/// *Drain*: a thread makes an access to an output row, 16 bytes, which belong to two elements or more. Each of these
/// lies in a row of shared memory of its own. The words that hold 16 bytes from the wanted byte on are read,
/// shifted together, and merged with those of the next element where that begins:
///
///     row 4      ....[a a a a a a a a a a a]......     elements of 11 bytes
///     row 5      ......[b b b b b b b b b b b]....
///     access                      a a a a a b b b b b b b b b b b
///
/// Where elements are whole words, no word belongs to two of them: each is read where it lies, and nothing is merged.
///
/// Segments of output rows start on sectors, as those of every tile do; tile_kernel.cuh.

#pragma once

#include <tiletranspose/detail/tile/tile_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What the pitch of row-staged elements has beyond a multiple of 64 bytes.
TILETRANSPOSE_HOST_DEVICE constexpr int row_staged_remainder(int element_bytes) {
  if (element_bytes % 2 != 0) { return element_bytes > 14 ? 32 : element_bytes > 9 ? 12 : 4; }
  constexpr unsigned char words[] = {3,  15, 2,  3, 6, 11, 1, 10, 5, 14, 14, 6, 10,  // of 14, 16 ..
                                     11, 9,  10, 5, 3, 7,  6, 3,  3, 13, 12, 7, 11};
  return 4 * words[(element_bytes - 14) / 2];
}

/// The compile-time side of the kernel. `AccessBytes` is 1, or that of elements of whole words, 4 or 8.
template <int ElementBytes, int AccessBytes, int TileRows, int TileCols, int Threads,
          int Fetched = 0>
struct row_staged_shape {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int access_bytes = AccessBytes;
  static constexpr bool whole_words = AccessBytes >= 4;
  static constexpr int word_bytes = larger(AccessBytes, 4);
  static_assert(AccessBytes == 1 ||
                    (ElementBytes % AccessBytes == 0 && (AccessBytes == 4 || AccessBytes == 8)),
                "");
  static constexpr int tile_rows = TileRows;
  static constexpr int tile_cols = TileCols;
  static constexpr int threads = Threads;
  static constexpr int store_bytes = 16;
  static constexpr int fetched = Fetched;  // load_constant_near
  static constexpr bool whole = false;
  static constexpr int micro_cols = 1;
  static constexpr bool varies_width = true;
  static constexpr bool deals_loads = false;
  static constexpr bool shifts_loads = false;
  static constexpr bool row_staged = true;
  static constexpr bool groups_rows = false;
  static constexpr int skew_bytes = sector_bytes;
  static constexpr bool joins_segments = true;

  static constexpr int skew_rows = (sector_bytes + ElementBytes - 2) / ElementBytes;
  static constexpr int shared_rows = skew_rows + TileRows;
  static constexpr int segment_bytes = TileRows * ElementBytes;
  static_assert(segment_bytes % sector_bytes == 0, "");

  static constexpr int row_bytes = TileCols * ElementBytes;
  static constexpr int load_bytes = 8;
  static constexpr int row_loads =  // that a row may touch
      (row_bytes + 2 * (load_bytes - 1)) / load_bytes;
  /// Threads that share a row.
  static constexpr int row_lanes = 64;
  static_assert(row_loads <= row_lanes && Threads % row_lanes == 0, "");
  /// The pitch of shared rows modulo `pitch_modulus`. Elements of whole words that follow each other in an output row
  /// follow each other in the banks, too. Others start at some byte of a word in every row, which no pitch knows: with
  /// these lanes take about the fewest cycles of all, 1.5 to 2.4 a request (tile_banks_test.cpp goes over them).
  static constexpr int pitch_modulus = whole_words ? 128 : 64;
  static constexpr int pitch_remainder =
      whole_words ? ElementBytes : row_staged_remainder(ElementBytes);
  /// A row's first word takes the place of one that its first load may hold before it, and leaves one behind.
  static constexpr int pitch =
      round_up(load_bytes * row_loads + 4 - pitch_remainder, pitch_modulus) + pitch_remainder;
  /// The word before the first row, the rows, and what an access reads behind the last of them.
  static constexpr int lead_bytes = word_bytes;
  static constexpr int shared_bytes = round_up(lead_bytes + shared_rows * pitch + 20, 16);
  static_assert(shared_bytes <= default_shared_bytes, "");
  /// The word of its 8 bytes that a thread stores first: each half of a warp another one, so that a request uses every
  /// bank once.
  TILETRANSPOSE_HOST_DEVICE static constexpr int first_word(int rank) { return rank / 16 % 2; }
  struct stage_lanes {
    constexpr long long operator()(int lane) const {
      return load_bytes * lane + 4 * first_word(lane);
    }
  };
  static_assert(request_ways(stage_lanes{}, 4) == 1, "a shipped tile must not conflict");
  /// Where column `col` begins in a shared row.
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned row_offset(unsigned col) {
    return col * ElementBytes;
  }
  /// Where element `col` of a shared row lies that starts `past` bytes behind a word's first.
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned element_offset(unsigned row, unsigned past,
                                                                     unsigned col) {
    return lead_bytes + row * pitch + past + row_offset(col);
  }
  /// Where byte `at` of an output row lies, counted from the first shared row, if elements are whole words.
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned word_offset(unsigned at, unsigned col) {
    return lead_bytes + at + at / ElementBytes * (pitch - ElementBytes) + row_offset(col);
  }
  static_assert(!whole_words || ((pitch - ElementBytes) % 128 == 0 &&
                                 rotation_ways<store_bytes>(segment_bytes / store_bytes) == 1),
                "a shipped tile must not conflict");
  /// Elements that an access may hold bytes of, and the words of it that element `i` of them may have bytes in.
  static constexpr int access_elements = (store_bytes - 1 + ElementBytes - 1) / ElementBytes + 1;
  TILETRANSPOSE_HOST_DEVICE static constexpr int first_word_of(int i) {
    return i == 0 ? 0 : ((i - 1) * ElementBytes + 1) / 4;
  }
  TILETRANSPOSE_HOST_DEVICE static constexpr int end_word_of(int i) {
    return smaller(((i + 1) * ElementBytes + 3) / 4, store_bytes / 4);
  }
};

/// The lowest bits of the addresses where every `Step`-th row of a tile begins: where rows lie in their words.
template <int Step, bool Interior>
class row_starts {
 public:
  TILETRANSPOSE_FUNCTION row_starts(const tile_source& source, int first_row)
      : first_(address_bits(source.row(first_row))),
        stride_(static_cast<unsigned>(Step * source.stride_bytes)),
        end_(source.end_row - first_row),
        next_(static_cast<unsigned>(source.next_bytes)) {}
  /// Of row first_row + Step * count.
  TILETRANSPOSE_FUNCTION unsigned operator()(unsigned count) const {
    const bool is_next = !Interior && static_cast<int>(Step * count) >= end_;
    return first_ + count * stride_ + (is_next ? next_ : 0);
  }

 private:
  unsigned first_;
  unsigned stride_;
  int end_;  // where the rows begin that lie elsewhere
  unsigned next_;
};

/// The 8 bytes of an input row that start at a multiple of 8, `byte` bytes into the row; zeros for those outside of it.
TILETRANSPOSE_FUNCTION unsigned long long load_of_row(const unsigned char* address, int byte,
                                                      const tile_source& source) {
  if (byte >= source.first_byte && byte + 8 <= source.end_byte) {
    return load_constant<unsigned long long>(address);
  }
  unsigned long long bytes = 0;
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < 8; ++i) {
    const loop_step here(i);
    if (byte + i >= source.first_byte && byte + i < source.end_byte) {
      bytes |= static_cast<unsigned long long>(load_constant<unsigned char>(address + i)) << 8 * i;
    }
  }
  return bytes;
}

/// Copies the rows of a tile to shared memory. All loads are under way before the first store. `Interior` promises
/// that all rows exist, and so do the bytes around each that share its loads.
template <class Shape, bool Interior, class Group>
TILETRANSPOSE_FUNCTION void stage_rows(Group group, unsigned char* shared,
                                       const tile_source& source, int cols) {
  constexpr int lanes = Shape::row_lanes;
  constexpr int together = Shape::threads / lanes;
  constexpr int rounds = (Shape::shared_rows + together - 1) / together;
  const auto rank = static_cast<int>(group.thread_rank());
  const int lane = rank % lanes;
  const int first = rank / lanes;
  // Only the last round may want rows that there are not.
  const auto is_wanted = [&](int round) {
    return Shape::shared_rows % together == 0 || round + 1 < rounds ||
           first + round * together < Shape::shared_rows;
  };
  if (lane >= Shape::row_loads) { return; }

  unsigned long long loaded[rounds];
  const unsigned char* next_row = source.row(first - Shape::skew_rows);
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round, next_row += together * source.stride_bytes) {
    const loop_step here(round);
    const int at = first + round * together - Shape::skew_rows;
    const bool is_next = !Interior && at >= source.end_row;
    const unsigned char* const row = is_next ? next_row + source.next_bytes : next_row;
    const int byte = 8 * lane - static_cast<int>(address_bits(row) % 8);
    loaded[round] = 0;
    if constexpr (Interior) {
      if (is_wanted(round) && (!Shape::varies_width || byte < cols * Shape::element_bytes)) {
        loaded[round] = load_constant_near<unsigned long long, Shape::fetched>(row + byte);
      }
    } else {
      if (is_wanted(round) && at >= source.first_row && at < source.end_row + source.next_rows) {
        loaded[round] =
            load_of_row(row + byte, is_next ? byte + Shape::element_bytes : byte, source);
      }
    }
  }
  // Whole words of a row's first load may lie before the row. Kept from above for all rows, they took the registers of
  // the loads that should be under way together (nvcc 13.0, elements of 11, 13, 14 and 15 bytes).
  const row_starts<together, Interior> starts(source, first - Shape::skew_rows);
  const int first_word = Shape::first_word(rank);
  unsigned char* const to = shared + Shape::lead_bytes + first * Shape::pitch + 8 * lane;
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const loop_step here(round);
    if (is_wanted(round)) {
      const unsigned past = starts(static_cast<unsigned>(round)) & 4;
      unsigned char* const place = to + round * together * Shape::pitch - past;
      const auto low = static_cast<unsigned>(loaded[round]);
      const auto high = static_cast<unsigned>(loaded[round] >> 32);
      store_shared(place + 4 * first_word, first_word == 0 ? low : high);
      store_shared(place + 4 - 4 * first_word, first_word == 0 ? high : low);
    }
  }
}

/// Reads segments of output rows out of the shared rows of a tile.
template <class Shape, bool Interior>
class segment_reader {
 public:
  TILETRANSPOSE_FUNCTION segment_reader(const unsigned char* shared, const tile_source& source)
      : shared_(shared), starts_(source, -Shape::skew_rows) {}

  /// Bytes byte .. byte + 15 of the segment of the output row whose first element lies `further` bytes behind the one of
  /// row `col`.
  TILETRANSPOSE_FUNCTION word16 access(unsigned col, int byte, unsigned further,
                                       unsigned thread) const {
    if constexpr (Shape::whole_words) {
      return access_words(col, byte, further, thread);
    } else {
      return access_parts(col, byte, further);
    }
  }

  /// The access of `Shape::access_bytes` from `byte` on of the segment of output row `col`.
  TILETRANSPOSE_FUNCTION access_word_t<Shape::access_bytes> narrow_access(int col, int byte) const {
    const unsigned at = shared_byte(byte);
    return load_shared<access_word_t<Shape::access_bytes>>(
        shared_ + offset(at / Shape::element_bytes, static_cast<unsigned>(col)) +
        at % Shape::element_bytes);
  }

 private:
  const unsigned char* shared_;
  row_starts<1, Interior> starts_;

  TILETRANSPOSE_FUNCTION word16 access_words(unsigned col, int byte, unsigned further,
                                             unsigned thread) const {
    constexpr int bytes = Shape::word_bytes;
    constexpr unsigned count = Shape::store_bytes / bytes;
    using word = access_word_t<bytes>;
    const unsigned at = shared_byte(byte);
    const unsigned rotation =
        bank_rotation<Shape::store_bytes, bytes>(thread, Shape::word_offset(at, col));
    word read[count], words[count];
    TILETRANSPOSE_UNROLL
    for (unsigned round = 0; round < count; ++round) {
      const unsigned from = at + rotation_offset<Shape::store_bytes, bytes>(rotation, round);
      read[round] = load_shared<word>(shared_ + Shape::word_offset(from, col) + further);
    }
    rotate_back(read, rotation, words);
    word16 result;
    __builtin_memcpy(&result, words, sizeof(result));
    return result;
  }

  TILETRANSPOSE_FUNCTION word16 access_parts(unsigned col, int byte, unsigned further) const {
    const unsigned at = shared_byte(byte);
    const unsigned row = at / Shape::element_bytes;
    const auto part = static_cast<int>(at % Shape::element_bytes);
    unsigned words[4];
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < Shape::access_elements; ++i) {
      const loop_step here(i);
      const int start = i * Shape::element_bytes - part;  // of the element, in the access
      if (i > 0 && start >= Shape::store_bytes) { break; }
      const unsigned from = offset(row + i, col) - static_cast<unsigned>(start);
      const int first = Shape::first_word_of(i);
      const int end = Shape::end_word_of(i);
      unsigned read[5];
      TILETRANSPOSE_UNROLL
      for (int w = first; w <= end; ++w) {
        const loop_step part_here(w);
        read[w] = shared_word(from / 4 * 4 + 4 * w + further);
      }
      TILETRANSPOSE_UNROLL
      for (int w = first; w < end; ++w) {
        const unsigned shifted = funnel_shift(read[w], read[w + 1], 8 * from);
        const bool begins = i == 0 || w >= Shape::end_word_of(i - 1);
        words[w] = begins ? shifted : merge_words(words[w], shifted, 8 * start - 32 * w);
      }
    }
    return {words[0], words[1], words[2], words[3]};
  }

  /// A word of shared memory. The GPU reads what lies between two rows, too, though it is not used; the CPU, which
  /// would see that nobody wrote it, does not.
  TILETRANSPOSE_FUNCTION unsigned shared_word(unsigned at) const {
#if !TILETRANSPOSE_ON_DEVICE
    const unsigned in_row = (at - Shape::lead_bytes) % Shape::pitch;
    if (at < Shape::lead_bytes || in_row >= Shape::row_bytes + 3 ||
        at >= Shape::lead_bytes + Shape::shared_rows * Shape::pitch) {
      return 0;
    }
#endif
    return load_shared<unsigned>(shared_ + at);
  }
  /// A byte of a segment, counted from the first shared row.
  TILETRANSPOSE_FUNCTION static unsigned shared_byte(int byte) {
    return static_cast<unsigned>(byte + Shape::skew_rows * Shape::element_bytes);
  }
  /// Where element `col` of a shared row lies.
  TILETRANSPOSE_FUNCTION unsigned offset(unsigned row, unsigned col) const {
    return Shape::element_offset(row, starts_(row) % 4, col);
  }
};

template <class Shape, bool Interior, class Group>
TILETRANSPOSE_FUNCTION void move_row_staged_between(Group group, unsigned char* shared,
                                                    const tile_source& source,
                                                    const tile_target& target) {
  stage_rows<Shape, Interior>(group, shared, source, target.rows);
  group.sync();
  const segment_reader<Shape, Interior> rows(shared, source);
  visit_vectors<Shape, Shape::store_bytes, Interior>(
      group, target,
      [&](unsigned, unsigned char* address, int byte, unsigned col, unsigned further) {
        if (Interior || is_whole_vector<Shape, Shape::store_bytes>(target, address, byte)) {
          store_global(address, rows.access(col, byte, further, group.thread_rank()));
        }
      });
  if constexpr (!Interior) {
    store_segment_ends<Shape>(group, target,
                              [&](int col, int byte) { return rows.narrow_access(col, byte); });
  }
}

/// The kernel's body: one block moves the tile that `block` names.
/// Shared memory: Shape::shared_bytes, aligned to 16. Barriers: inside.
template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void move_row_staged_tile(Group group, unsigned char* shared,
                                                 const tile_arguments& arguments, unsigned block) {
  const tile_order::place at = arguments.order(block);
  const tile_problem& problem = arguments.problem;
  // Asked first, because working out how much of a tile exists costs a block as much as a sixth of its work.
  constexpr size_type reach =  // columns that a row's loads may reach into
      (2 * Shape::load_bytes + Shape::element_bytes - 1) / Shape::element_bytes;
  const int joined_rows = arguments.cols_touch ? Shape::skew_rows : 0;
  const size_type segment_row = at.row_tile * Shape::tile_rows;
  const size_type end_row = segment_row + joined_rows + Shape::tile_rows;
  const size_type first_col = at.col_tile * arguments.tile_cols;
  // Where rows touch, loads that reach over an end of a row read the one before or the next.
  const bool inside =
      at.row_tile > 0 && end_row <= problem.ny &&
      (arguments.rows_touch
           ? end_row < problem.ny
           : at.col_tile > 0 && first_col + arguments.tile_cols + reach <= problem.nx);
  if (inside) {
    const tile_source source{problem.in_matrix(at.batch) +
                                 (segment_row + joined_rows) * problem.in_stride_bytes +
                                 first_col * Shape::element_bytes,
                             problem.in_stride_bytes,
                             0,
                             0,
                             0,
                             0};
    const size_type left = problem.nx - first_col;
    const tile_target target{problem.out_matrix(at.batch) + first_col * problem.out_stride_bytes +
                                 (segment_row + joined_rows) * Shape::element_bytes,
                             problem.out_stride_bytes,
                             static_cast<int>(smaller<size_type>(left, arguments.tile_cols)),
                             0,
                             0,
                             arguments.sector_mask};
    move_row_staged_between<Shape, true>(group, shared, source, target);
  } else {
    tile_source source = make_source<Shape>(arguments, at);
    tile_target target = make_target<Shape>(arguments, at);
    if (arguments.cols_touch) { join_segments<Shape>(source, target, arguments, at); }
    move_row_staged_between<Shape, false>(group, shared, source, target);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
