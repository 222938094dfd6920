// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The layout of a tile: what follows from its policy, and the proofs that it does not conflict. At the end, from a
/// policy, a value, to its shape, a type.

#pragma once

#include <tiletranspose/banks.cuh>
#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/core/packed_elements.cuh>
#include <tiletranspose/detail/tile/tile_segments.cuh>
#include <tiletranspose/policy.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The compile-time side of the kernel. `AccessBytes` is the access that element addresses allow; accesses wider
/// than it need either `Whole` (every address, row length and stride is a multiple of them) or the byte
/// shifts and the careful ends of rows that the kernel otherwise generates.
template <int ElementBytes, int AccessBytes, int TileRows, int TileCols, int Threads, int LoadBytes,
          int FillBytes, int StoreBytes, bool Whole, int Fetched = 0>
struct tile_shape {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int in_bytes = ElementBytes;  // unlike that of fused calls
  static constexpr int access_bytes = AccessBytes;
  static constexpr int tile_rows = TileRows;
  static constexpr int tile_cols = TileCols;
  static constexpr int threads = Threads;
  static constexpr int load_bytes = LoadBytes;
  static constexpr int fill_bytes = FillBytes;
  static constexpr int store_bytes = StoreBytes;
  static constexpr bool whole = Whole;
  static constexpr int fetched = Fetched;    // load_near
  static constexpr bool in_place = false;    // input and output are one
  static constexpr bool groups_rows = true;  // threads_of_row
  static constexpr int skew_bytes = sector_bytes;

  static constexpr bool splits_element = AccessBytes < ElementBytes && LoadBytes == AccessBytes;
  static constexpr int parts = ElementBytes / AccessBytes;
  // Loads of whole words are shifted together from one word more; loads of 16 bytes start where their row is
  // aligned and are dealt out to the columns they hold. Stores of 16 bytes are assembled from words.
  static constexpr bool deals_loads =
      !Whole && LoadBytes == 16 && AccessBytes < 16 && AccessBytes == ElementBytes;
  static constexpr bool shifts_loads =
      !Whole && LoadBytes % 4 == 0 && AccessBytes < 4 && !deals_loads;
  /// Segments end with their rows or with sectors, not with elements in the middle of a row.
  static constexpr bool owns_elements = false;
  static constexpr bool joins_stores = !Whole && StoreBytes == 16 && AccessBytes < 16;
  /// Segments of a launch may go on from one output row to the next; join_segments.
  static constexpr bool joins_segments = deals_loads || shifts_loads;
  static_assert(!joins_segments || joins_stores, "the ends of joined segments are no whole stores");
  /// Tiles of a launch may have fewer columns than tile_cols. In wide ones of single bytes the questions would cost 6 %;
  /// they have a kernel's third part for it, narrower_shape.
  static constexpr bool varies_width =
      deals_loads || (shifts_loads && (ElementBytes > 1 || TileRows > TileCols));
  /// At the edges of a matrix, tall tiles of bytes go from round to round in a loop: calls of bytes have the most
  /// kernels to compile. Tiles of more columns would be slower, most in matrices whose tiles all move at a time.
  static constexpr bool loops_at_edges = shifts_loads && ElementBytes == 1 && TileRows > TileCols;
  static_assert(!splits_element || (FillBytes == AccessBytes && AccessBytes >= 4), "");
  static_assert(Whole || LoadBytes == AccessBytes || shifts_loads || deals_loads, "");
  /// Elements that words do not hold one by one are loaded, transposed and stored in groups of whole words.
  static constexpr bool moves_groups = shifts_loads && AccessBytes < ElementBytes;
  static constexpr int fill_access = moves_groups ? 4 : FillBytes;
  static_assert(Whole || StoreBytes == AccessBytes || joins_stores, "");

  // a micro-block: what one thread loads at a time
  static constexpr int micro_rows = splits_element ? 1 : larger(FillBytes / ElementBytes, 1);
  static constexpr int micro_cols = splits_element ? 1 : larger(LoadBytes / ElementBytes, 1);
  static constexpr int row_loads =  // micro-blocks per tile row; one more where rows start anywhere
      TileCols * ElementBytes / LoadBytes + (deals_loads ? 1 : 0);
  /// Threads that share a row of loads. Those of parts are as many more as make whole groups of lanes, so that no group
  /// goes on to the next row, where it would conflict with what it wrote at the end of the last.
  static constexpr int load_threads =
      splits_element ? round_up(row_loads, static_cast<int>(bank_group<AccessBytes>)) : row_loads;
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
  static constexpr int skew_rows =
      round_up((sector_bytes + ElementBytes - 1) / ElementBytes, micro_rows);
  static constexpr int lead_bytes =
      skew_rows * ElementBytes;  // shared bytes before the tile's first row
  static constexpr int round_rows = Threads / load_threads * micro_rows;
  TILETRANSPOSE_HOST_DEVICE static constexpr int rounds_of(int rows) {
    return divide_up(rows, round_rows);
  }
  /// Whether the rows before the tile are loaded with its first ones: where that takes no round more or, where some
  /// threads of a row are idle, none more than by themselves, so that all loads are under way together.
  static constexpr bool leads_with_tile =
      rounds_of(skew_rows + TileRows) <=
      rounds_of(TileRows) + (load_threads != row_loads ? rounds_of(skew_rows) : 0);
  static constexpr int segment_bytes = TileRows * ElementBytes;
  static_assert(segment_bytes % sector_bytes == 0 && TileRows % micro_rows == 0, "");
  static_assert(TileCols % micro_cols == 0 && segment_bytes % StoreBytes == 0, "");

  // A shared row takes a pitch that spreads neighbouring columns over the banks: parts of elements continue where the
  // neighbour's end (pitch = element, modulo all banks), other stores keep an odd pitch, and where a thread fills several
  // rows, every micro_cols rows are followed by padding of one store. Where words of groups are stored, neighbouring
  // micro-blocks of a row lie an odd multiple of as many words apart as a warp fills rows of micro-blocks.
  static constexpr int used_bytes = lead_bytes + segment_bytes;
  static constexpr int pitch = splits_element
                                   ? round_up(used_bytes - ElementBytes, 128) + ElementBytes
                               : moves_groups ? used_bytes
                               : deals_loads
                                   ? round_up(used_bytes, larger(AccessBytes, 4) * warp_rows)
                               : micro_cols > 1
                                   ? round_up(used_bytes, larger(2 * FillBytes, 4))
                                   : round_up(used_bytes - FillBytes, 2 * FillBytes) + FillBytes;
  static constexpr int group_step = 4 * larger(32 / row_loads, 1);
  static constexpr int group_padding = moves_groups ? (3 * group_step -
                                                       micro_cols * pitch % (2 * group_step)) %
                                                          (2 * group_step)
                                       : deals_loads    ? larger(AccessBytes, 4) * warp_rows
                                       : micro_cols > 1 ? larger(FillBytes, 4)
                                                        : 0;
  static constexpr int shared_cols = TileCols + 2 * spare_cols;
  static constexpr int shared_bytes =
      round_up(shared_cols * pitch + shared_cols / micro_cols * group_padding, 16);
  // Pairs of tiles that trade places may have a multiprocessor's memory.
  static_assert(shared_bytes <= 2 * default_shared_bytes, "");

  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned row_offset(unsigned col) {
    return (col + spare_cols) * pitch + (col + spare_cols) / micro_cols * group_padding;
  }
  /// Shared offset of the first store of micro-block `load` of a row, before adding the row.
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned fill_offset(unsigned load) {
    return splits_element ? row_offset(load / parts) + load % parts * AccessBytes
                          : row_offset(load * micro_cols);
  }

  /// Shared offset of the first element of a dealt load, before adding the row: `shift` elements of the load of
  /// lane 0 lie before the first column.
  TILETRANSPOSE_HOST_DEVICE static constexpr int dealt_offset(int lane, int shift) {
    return static_cast<int>(row_offset(0)) + (lane * micro_cols - shift) * pitch +
           (shift == 0 ? lane : lane - 1) * group_padding;
  }
  /// The padding before element `i` of such a load: elements that wrap into the next group of columns lie one padding further.
  TILETRANSPOSE_HOST_DEVICE static constexpr int dealt_padding(int i, int shift) {
    return shift != 0 && i >= shift ? group_padding : 0;
  }

  struct fill_lanes {
    // Of dealt loads: the element that is stored, and the shifts of the rows of a warp.
    int element;
    int shift;
    int shift_step;
    int first;  ///< of a warp, in a round
    constexpr long long operator()(int lane) const {
      const int step = first + lane;
      if (deals_loads) {
        const int row_shift = (shift + step % 32 / row_lanes * shift_step) % micro_cols;
        return dealt_offset(step % row_lanes, row_shift) + dealt_padding(element, row_shift) +
               element * pitch + dealt_row(step) * ElementBytes;
      }
      if (step % load_threads >= row_loads) { return -1; }
      return static_cast<long long>(fill_offset(static_cast<unsigned>(step % load_threads))) +
             step / load_threads * micro_rows * ElementBytes;
    }
  };
  static constexpr bool fills_without_conflict() {
    const int shifts = deals_loads ? micro_cols : 1;
    const int steps = warp_rows > 1 ? shifts : 1;
    for (int shift = 0; shift < shifts; ++shift) {
      for (int step = 0; step < steps; ++step) {
        const fill_lanes lanes{(shift + 3 * step) % shifts, shift, step, 0};
        if (request_ways(lanes, fill_access) != 1) { return false; }
      }
    }
    // The warps that follow the first one of a round: as many as take whole rows together.
    for (int first = 32; !deals_loads && first % load_threads != 0; first += 32) {
      if (request_ways(fill_lanes{0, 0, 0, first}, fill_access) != 1) { return false; }
    }
    return true;
  }
  static_assert(fills_without_conflict(), "a shipped tile must not conflict");

  /// The accesses that what threads read for their stores is made of.
  static constexpr int read_access = joins_stores ? AccessBytes : StoreBytes;
  /// Whether threads read words by a bank rotation for their stores, or accesses that hold what they store. Where rows
  /// are a group's of lanes each, the word behind what begins inside of a word seldom conflicts, but may four ways.
  static constexpr bool reads_words = AccessBytes >= 4 || segment_bytes == 128;
  static constexpr int word_bytes =
      joins_stores && reads_words ? larger(AccessBytes, 4) : StoreBytes;
  static constexpr int next_word_ways =
      joins_stores && reads_words && AccessBytes < 4
          ? detail::next_word_ways<StoreBytes>(segment_bytes / StoreBytes)
          : 0;
  static_assert(next_word_ways == (joins_stores && reads_words && ElementBytes == 1 ? 4 : 0), "");
  /// Segments of elements of 3 and 5 bytes are no whole lines, and threads enough for whole groups would be slower.
  /// Groups of theirs read two rows, which may conflict.
  static constexpr int drain_ways =
      rotation_ways<StoreBytes>(threads_of_row<StoreBytes>(segment_bytes, Threads));
  static_assert(drain_ways == (moves_groups && (ElementBytes == 3 || ElementBytes == 5) ? 2 : 1),
                "a shipped tile must not conflict");
};

/// The shape that `tuned_policy` names, with what the launch needs of the policy.
template <int Architecture, int ElementBytes, int AccessBytes, tile_access Access>
struct tuned_shape {
  static constexpr tile_policy policy =
      tuned_policy(Architecture, ElementBytes, AccessBytes, Access);
  using type = tile_shape<ElementBytes, AccessBytes, policy.tile_rows, policy.tile_cols,
                          policy.threads, policy.load_bytes, policy.fill_bytes, policy.store_bytes,
                          Access == tile_access::whole, policy.fetched_bytes>;
};

/// The tiles of `vector_kernel`: eight 16-byte accesses wide and as tall, one micro-block a thread.
template <int ElementBytes, int Side = vector_tile_row_bytes / ElementBytes>
using vector_shape = tile_shape<ElementBytes, ElementBytes, Side, Side, 64, 16, 16, 16, true>;

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
