// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The segments of output rows that a tile covers: which of their stores a thread makes, and where.
///
/// Most of a block's instructions would be spent on finding that out, because rows that start anywhere each have a distance
/// of their own from their sectors, or words, whose bytes `Shape::skew_bytes` says. Rows a few apart have the same one,
/// though: a thread takes rows that are whole periods apart, works out once where they lie, and only adds to it.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/core/packed_elements.cuh>
#include <tiletranspose/layout.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// end - begin, cut to a range that any tile's arithmetic fits.
TILETRANSPOSE_FUNCTION int clipped_distance(size_type begin, size_type end) {
  constexpr size_type most = 1 << 20;
  return end >= begin ? static_cast<int>(smaller(end - begin, most))
                      : -static_cast<int>(smaller(begin - end, most));
}

/// Threads that share a row of `segment_bytes` bytes, an access each: as many more as make whole groups of lanes, so that no
/// group goes on to the next row, if a round has a power of two of such rows, which comes to where sectors begin alike.
template <int VectorBytes>
TILETRANSPOSE_HOST_DEVICE constexpr int threads_of_row(int segment_bytes, int threads) {
  const int vectors = segment_bytes / VectorBytes;
  constexpr int group = static_cast<int>(bank_group<VectorBytes>);
  const int grouped = round_up(vectors, group);
  return vectors > group && threads % grouped == 0 && is_power_of_two(threads / grouped) ? grouped
                                                                                         : vectors;
}

/// Which vectors of a tile's segments a thread moves: number rank + round * threads in every round, if the row has it.
template <class Shape, int VectorBytes>
struct segment_rounds {
  static constexpr unsigned row_vectors = Shape::segment_bytes / VectorBytes;
  static constexpr unsigned row_threads =
      Shape::groups_rows ? threads_of_row<VectorBytes>(Shape::segment_bytes, Shape::threads)
                         : row_vectors;
  static constexpr unsigned steps = Shape::tile_cols * row_threads;
  static constexpr unsigned rounds = (steps + Shape::threads - 1) / Shape::threads;
  /// The row that a vector belongs to, and where its bytes start in the segment of a row that lies `skew` bytes off its sector.
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned row(unsigned step) {
    return step / row_threads;
  }
  TILETRANSPOSE_HOST_DEVICE static constexpr int byte(unsigned step, int skew) {
    return static_cast<int>(step % row_threads) * VectorBytes - skew;
  }
  TILETRANSPOSE_HOST_DEVICE static constexpr bool exists(unsigned step) {
    return row_threads == row_vectors || step % row_threads < row_vectors;
  }
  /// Rounds after which a thread is at the same place of a row that lies in its sectors, and in the banks of
  /// shared memory, as the row before does; all of them where there are no such rows.
  static constexpr unsigned period = [] {
    unsigned found = 1;
    for (; found < rounds; ++found) {
      const unsigned down = found * Shape::threads / row_threads;
      if (found * Shape::threads % row_threads == 0 &&
          down * Shape::element_bytes % Shape::skew_bytes == 0 && down % Shape::micro_cols == 0 &&
          (Shape::row_offset(down) - Shape::row_offset(0)) % 16 == 0) {
        break;
      }
    }
    return found;
  }();
  static constexpr unsigned period_rows = period * Shape::threads / row_threads;
};

/// Where a tile's output goes and how much of it exists.
struct tile_target {
  unsigned char* first;  ///< byte 0 of the tile's segment of its first output row, before skewing
  size_type stride_bytes;
  int rows;        ///< output rows that exist
  int first_byte;  ///< the output row's first byte and its end, counted from the segment's start
  int end_byte;
  unsigned sector_mask;
  /// Where segments go on from row to row, else 0: the bytes from a row's start to that of its first segment, where it
  /// starts in a sector's first byte. `end_byte` then is the end of such a row's last segment.
  int joined_bytes = 0;
  const unsigned char* matrix = nullptr;
  const unsigned char* matrix_end = nullptr;

  /// Calls visit(round, address, byte, row, further) for each vector of the segments of a tile that is the thread's: it is
  /// written at `address`, `byte` bytes after the unskewed segment's start. In shared memory it lies `byte` and `further`
  /// bytes from where the segment of row `row` starts, `further` being a multiple of 16 that the compiler knows. Some of its
  /// bytes exist. At the edges of a matrix `Shape::loops_at_edges` asks for one loop whose rounds find their rows anew, each
  /// of them number 0: shorter code, and slower.
  template <class Shape, int VectorBytes, bool Interior, class Group, class Visit>
  TILETRANSPOSE_FUNCTION void visit_vectors(Group group, Visit visit) const {
    using plan = segment_rounds<Shape, VectorBytes>;
    const unsigned rank = group.thread_rank();
    const unsigned end = static_cast<unsigned>(rows);
    if (!plan::exists(rank)) { return; }
    const auto out_of = [&](unsigned row) { return first + row * stride_bytes; };
    const auto byte_of = [&](unsigned step, const unsigned char* out) {
      return plan::byte(step, static_cast<int>(address_bits(out) & sector_mask));
    };
    if constexpr (!Interior && Shape::loops_at_edges) {
      TILETRANSPOSE_UNROLL_BY(1)
      for (unsigned round = 0; round < plan::rounds; ++round) {
        const loop_step here(round);
        const unsigned step = rank + round * Shape::threads;
        const unsigned row = plan::row(step);
        if (row >= end) { break; }
        unsigned char* const out = out_of(row);
        const int byte = byte_of(step, out);
        // Segments that are skewed by less than a vector begin inside of their rows.
        const bool begins = Shape::skew_bytes <= VectorBytes || byte > first_byte - VectorBytes;
        if (begins && byte < end_byte) { visit(0u, out + byte, byte, row, 0u); }
      }
    } else {
      TILETRANSPOSE_UNROLL
      for (unsigned start = 0; start < plan::period; ++start) {
        // What all rows of a period share.
        const unsigned step = rank + start * Shape::threads;
        const unsigned row = plan::row(step);
        unsigned char* const out = out_of(row);
        const int byte = byte_of(step, out);
        if (!Interior && (byte <= first_byte - VectorBytes || byte >= end_byte)) { continue; }
        TILETRANSPOSE_UNROLL
        for (unsigned round = start; round < plan::rounds; round += plan::period) {
          const loop_step here(round);
          const unsigned down = round / plan::period * plan::period_rows;
          // Tiles inside of a matrix have all rows, which end inside of the last round.
          const bool may_end =
              !Interior || Shape::varies_width || (round + 1) * Shape::threads > plan::steps;
          if (may_end &&
              row + down >= (Shape::varies_width || !Interior ? end : Shape::tile_cols)) {
            break;
          }
          visit(round, out + byte + down * stride_bytes, byte, row,
                Shape::row_offset(down) - Shape::row_offset(0));
        }
      }
    }
  }

  /// True where a vector that `visit_vectors` finds is the segment's from its first byte to its last.
  template <class Shape, int VectorBytes>
  TILETRANSPOSE_FUNCTION bool is_whole_vector(const unsigned char* address, int byte) const {
    if constexpr (Shape::joins_segments) {
      if (joined_bytes > 0) {
        // Segments end with sectors, but for the matrix' last one.
        const unsigned row_end = address_bits(address) + static_cast<unsigned>(end_byte - byte);
        return byte < end_byte - static_cast<int>(row_end & sector_mask) &&
               address + VectorBytes <= matrix_end;
      }
    }
    return byte >= first_byte && byte + VectorBytes <= end_byte;
  }

  /// Writes all of a tile's segments: whole vectors of them, and what these leave out where elements are smaller accesses.
  /// Barriers: group.sync() between filling the tile and this call.
  template <class Shape, bool Interior, class Group>
  TILETRANSPOSE_FUNCTION void drain_segments(Group group, const unsigned char* shared) const {
    constexpr int bytes = Shape::store_bytes;
    const unsigned rank = group.thread_rank();
    visit_vectors<Shape, bytes, Interior>(
        group, [&](unsigned, unsigned char* address, int byte, unsigned row, unsigned further) {
          if ((Interior && !Shape::owns_elements) || is_whole_vector<Shape, bytes>(address, byte)) {
            store_global(address, read_shared<bytes, Shape::read_access, Shape::reads_words>(
                                      shared, Shape::row_offset(row) + Shape::lead_bytes + byte,
                                      further, rank));
          }
        });
    // What these leave out.
    if constexpr (Shape::owns_elements || (!Interior && Shape::joins_stores)) {
      if constexpr (Shape::joins_segments) {
        if (joined_bytes > 0) {
          drain_matrix_ends<Shape>(group, shared);
          return;
        }
      }
      if constexpr (Shape::owns_elements) {
        const unsigned bits = address_bits(first) | static_cast<unsigned>(stride_bytes);
        if ((bits | static_cast<unsigned>(end_byte)) % bytes == 0) { return; }
      }
      // Unless segments touch neither the first nor the last bytes of their rows.
      if (first_byte <= -sector_bytes && end_byte >= Shape::segment_bytes) { return; }
      drain_row_ends<Shape>(group, shared);
    }
  }

 private:
  /// Copies an access of the elements' own to `byte` bytes into the segment of row `row`, which starts at `out`.
  template <class Shape>
  TILETRANSPOSE_FUNCTION static void drain_access(const unsigned char* shared, unsigned char* out,
                                                  int row, int byte) {
    store_global(out + byte, load_shared<access_word_t<Shape::access_bytes>>(
                                 shared + Shape::row_offset(row) + Shape::lead_bytes + byte));
  }

  /// Writes the stores of an output row that lie partly outside of it by accesses of the elements' own.
  template <class Shape, class Group>
  TILETRANSPOSE_FUNCTION void drain_row_ends(Group group, const unsigned char* shared) const {
    constexpr int bytes = Shape::store_bytes;
    constexpr int most = bytes / Shape::access_bytes;  // accesses on each side
    for (int step = static_cast<int>(group.thread_rank()); step < Shape::tile_cols * 2 * most;
         step += Shape::threads) {
      const loop_step here(step / Shape::threads);
      const int row = step / (2 * most);
      const int offset = step % most * Shape::access_bytes;
      if (row >= rows) { break; }
      unsigned char* out = first + row * stride_bytes;
      const int skew = static_cast<int>(address_bits(out) & sector_mask);
      // Bytes up to the first store boundary inside the row, and from the last one on. A row that lies
      // between two boundaries has only a head.
      const int length = end_byte - first_byte;
      const int head =
          smaller((2 * bytes - ((first_byte + skew) % bytes + bytes) % bytes) % bytes, length);
      const int tail = smaller(((end_byte + skew) % bytes + bytes) % bytes, length - head);
      const bool left = step % (2 * most) < most;
      const int byte = left ? first_byte + offset : end_byte - tail + offset;
      if ((left ? offset < head : offset < tail) &&
          (Shape::owns_elements || (byte >= -skew && byte < Shape::segment_bytes - skew))) {
        drain_access<Shape>(shared, out, row, byte);
      }
    }
  }

  /// Writes what joined segments leave out: of a matrix' first row the bytes before its first segment, and of its last row
  /// those of a vector that the matrix ends in.
  template <class Shape, class Group>
  TILETRANSPOSE_FUNCTION void drain_matrix_ends(Group group, const unsigned char* shared) const {
    constexpr int bytes = Shape::store_bytes;
    constexpr int access_bytes = Shape::access_bytes;
    const int from = static_cast<int>(group.thread_rank()) * access_bytes;
    if (first - joined_bytes == matrix) {
      const int skew = static_cast<int>(address_bits(first) & sector_mask);
      for (int byte = from - joined_bytes; byte < -skew; byte += Shape::threads * access_bytes) {
        drain_access<Shape>(shared, first, 0, byte);
      }
    }
    const int row = rows - 1;
    unsigned char* const out = first + static_cast<size_type>(row) * stride_bytes;
    const int end = end_byte - joined_bytes;
    if (out + end == matrix_end) {
      const int skew = static_cast<int>(address_bits(out) & sector_mask);
      const int length = static_cast<int>(address_bits(matrix_end) % bytes);
      const int byte = end - length + from;
      if (from < length && byte >= -skew && byte < Shape::segment_bytes - skew) {
        drain_access<Shape>(shared, out, row, byte);
      }
    }
  }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
