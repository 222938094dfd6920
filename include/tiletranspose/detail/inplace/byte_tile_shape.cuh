// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The tiles of squares in place whose rows start anywhere, or whose elements are no accesses: how large they are, and
/// how they lie in shared memory as plain bytes.

#pragma once

#include <tiletranspose/banks.cuh>
#include <tiletranspose/detail/choose/choose_inplace.cuh>
#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/core/packed_elements.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Loads of a thread that are under way at once, 0: all.
constexpr int most_byte_tile_loads(int element_bytes) {
#if TILETRANSPOSE_ON_DEVICE && __CUDA_ARCH__ >= 1000
  return element_bytes == 4 ? byte_tile_loads_of_floats : 0;
#else
  return (void)element_bytes, 0;
#endif
}

/// Tiles of squares whose rows start anywhere.
template <int ElementBytes>
struct byte_tile_policy {
  static constexpr byte_tile_row row = byte_tile_row_of(byte_tile_tuning, ElementBytes);
  static constexpr int fetched_bytes = byte_tile_fetched_bytes;
  static constexpr int most_loads = most_byte_tile_loads(ElementBytes);
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

/// True where these pay, of elements that are no access.
template <int ElementBytes, int Access>
inline constexpr bool has_aligned_byte_tiles =
    ElementBytes != access_width(ElementBytes) && Access == access_width(ElementBytes) &&
    gains_by_aligned_tiles(ElementBytes);

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
  struct fill_lanes {
    unsigned round;
    constexpr long long operator()(int lane) const {
      const unsigned number = (round + first_word(static_cast<unsigned>(lane))) % words;
      return place(lane * 16 + static_cast<int>(number * sizeof(word)));
    }
  };
  static constexpr bool rows_do_not_conflict() {
    for (unsigned round = 0; round < words; ++round) {
      if (request_ways(fill_lanes{round}, Access, banks_32x4, smaller(lanes, 32)) != 1) {
        return false;
      }
    }
    return true;
  }
  static_assert(rows_do_not_conflict(), "a shipped tile must not conflict");
  /// Rows of lanes that are no multiple of eight conflict where two of them are read by eight.
  static_assert(rotation_ways<16>(lanes) <= 2, "a shipped tile must not conflict");
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
