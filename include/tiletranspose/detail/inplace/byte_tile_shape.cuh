// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The tiles of squares in place whose rows start anywhere, or whose elements are no accesses: how large they are, and
/// how they lie in shared memory as plain bytes.

#pragma once

#include <tiletranspose/banks.cuh>
#include <tiletranspose/detail/core/compiler.cuh>
#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/packed_elements.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Tiles of squares whose rows start anywhere. Both ends of a row share a sector with another tile, so that long rows
/// count, and so do blocks enough to read while others write: a multiprocessor holds about 1024 threads, each of which
/// has all of its loads under way at once. H200, 2026-11-22, % of cudaMemcpyAsync: 32749 rows of 1 byte 65.5 (tiles of
/// 112 rows 60, of 240 rows 64), 23143 of 2 bytes 74, 16381 of 3 bytes 74 (128 and 165 rows 71), of 4 bytes 80 (60 rows
/// 75), 9215 of 7 bytes 80 (56 rows 70), of 12 bytes 84 (32 rows 80), 6144 of 20 and 24 bytes 89 and 91, 5003 of 31
/// bytes 82; with half of a thread's loads at once, 9215 rows of 7 bytes 64. Tiles that trade places without being
/// turned, by the same accesses in the same order: floats 81, bytes 70.
template <int ElementBytes>
struct byte_tile_policy {
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
  /// That the L2 cache fetches round a load: neighbours load what is left of the lines at a tile's borders soon (H200,
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
struct small_byte_tile_policy {
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
struct aligned_byte_tile_policy {
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
  static constexpr int most_loads = is_nvcc_12 && ElementBytes == 3 ? 8 : 0;
};

/// True where these pay, of elements that are no access (H200, 2026-11-22, 33 bytes: 85, 83). Those of 32 and 64 bytes
/// have such tiles anyhow.
template <int ElementBytes, int Access>
inline constexpr bool has_aligned_byte_tiles =
    ElementBytes != access_width(ElementBytes) && Access == access_width(ElementBytes) &&
    (ElementBytes < 32 || ElementBytes >= 40) && ElementBytes != 64;

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
      smaller(Policy::most_side, (16 * Policy::most_lanes - 16 + Start) / ElementBytes);
  static constexpr int row_bytes = side * ElementBytes;
  static_assert(!starts_aligned || row_bytes % 16 == 0, "");
  static constexpr int round_rows = Policy::round_rows;
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
  static constexpr int blocks = (Policy::resident_threads + threads) / (2 * threads);

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
  /// Rows of lanes that are no multiple of eight meet where two of them are read by eight.
  static_assert(turn_ways<16>(lanes) <= 2, "a shipped tile must not conflict");
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
