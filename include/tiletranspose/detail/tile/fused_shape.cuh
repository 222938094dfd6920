// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The layout of a fused kernel's tile: what follows from its policy, the proofs that it does not conflict, and what
/// tile_segments.cuh asks of it.

#pragma once

#include <type_traits>

#include <tiletranspose/banks.cuh>
#include <tiletranspose/detail/choose/fused_policy.cuh>
#include <tiletranspose/detail/core/packed_elements.cuh>
#include <tiletranspose/detail/tile/tile_fill.cuh>
#include <tiletranspose/policy.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The tiles of a fused kernel. `Aligned`: rows of the input start at multiples of 16 bytes, and those of a copy at
/// sectors; where packed elements are loaded as unaligned words, these rows at multiples of 4.
///
/// Shared memory has a row for each column of the input, with the tile's elements from `skew_rows` rows before it on.
template <class In, class Out, fusion Kind, bool Aligned, bool Large = false>
struct fused_shape {
  static_assert(!Large || (Aligned && has_large_fused_policy(Kind, sizeof(In), sizeof(Out))), "");
  using in = In;
  using out = Out;
  static constexpr fusion kind = Kind;
  static constexpr bool copies = Kind == fusion::dual;
  static constexpr int in_bytes = static_cast<int>(sizeof(In));
  static constexpr int in_access = access_width(in_bytes, alignof(In));
  static constexpr int out_bytes = static_cast<int>(sizeof(Out));
  static constexpr int out_access = access_width(out_bytes, alignof(Out));
  static constexpr bool whole_in = in_access == in_bytes;
  static constexpr bool splits_out = out_access < out_bytes;
  /// Whether the accumulator operand, the old elements of the output, waits in the shared rows, where elements of the
  /// input are added to it. Else (`combines`) it waits in registers until the rows are drained. Tiles that hold it own
  /// whole elements: one that starts at a sector would share an element with its neighbour where elements do not divide a
  /// sector, and whoever is later would find the new element instead of the old one.
  static constexpr bool holds_operand =
      Kind == fusion::accumulate &&
      holds_operand_in_shared(in_bytes, in_access, out_bytes, out_access);
  static constexpr bool combines = Kind == fusion::accumulate && !holds_operand;
  /// What shared memory holds: old elements are combined with those of the input.
  using stored = std::conditional_t<combines, In, Out>;
  static constexpr int bytes = static_cast<int>(sizeof(stored));
  static constexpr int access_bytes = access_width(bytes, alignof(stored));

  static constexpr fused_loads loads = choose_loads(Kind, in_bytes, in_access, out_bytes,
                                                    !whole_in || (splits_out && copies), Aligned);
  static constexpr bool shifts = loads == fused_loads::shifted;
  static constexpr bool deals = loads == fused_loads::dealt;
  static constexpr bool loads_unaligned = loads == fused_loads::unaligned;
  static constexpr fused_policy wanted =
      holds_operand
          ? tuned_operand_policy(in_bytes, out_bytes, out_access, loads, whole_in && !splits_out)
          : tuned_fused_policy(Kind, in_bytes, out_bytes, loads, whole_in && !splits_out, Large);
  static constexpr int threads = wanted.threads;
  static constexpr int count = wanted.count;
  /// Rows of packed elements are stored together, as whole words, as far as registers go.
  static constexpr bool packs = access_bytes < bytes && bytes % 4 != 0 &&
                                (holds_operand ? bytes < 16 : loads_unaligned && bytes < 8);
  static constexpr int micro_rows = access_bytes == bytes ? wanted.micro_rows
                                    : packs               ? word_elements(bytes)
                                                          : 1;
  static constexpr int load_bytes = count * in_bytes;
  /// Packed elements whose words hold nothing else. Those of more than 16 bytes spilled (5 bytes to 5, 7 to 7).
  static constexpr bool fills_words =
      loads_unaligned && Aligned && load_bytes % 4 == 0 && load_bytes <= max_access_bytes;
  using unaligned = unaligned_words<load_bytes, (fills_words ? 4 : in_access)>;
  static constexpr int load_words = loads_unaligned ? unaligned::count : larger(load_bytes / 4, 1);
  /// The accesses that store them, and where nothing is skewed those of the words that elements lie in.
  static constexpr int fill_access = holds_operand
                                         ? larger(access_bytes,
                                                  smaller(access_width(micro_rows* bytes), 4))
                                     : micro_rows > 1 ? access_width(micro_rows* bytes)
                                                      : access_bytes;
  static constexpr int skew_rows =
      holds_operand ? 0 : round_up((sector_bytes + out_bytes - 1) / out_bytes, micro_rows);
  static constexpr int lead_bytes = skew_rows * bytes;  // before the tile's first row
  /// Where loads are dealt, those of a row begin up to a sector of the copy before the tile.
  static constexpr int lead_cols = deals ? sector_bytes / out_bytes : 0;
  /// Lanes whose loads are shifted take what they lack from the next one; the last of a row has none.
  static constexpr int spare_cols = shifts ? count : lead_cols;
  /// Rows after which they are aligned as before.
  static constexpr int period = larger(lead_cols, 1);

  /// Registers that old elements of as many bytes take on their way; where words are shifted together, two each.
  TILETRANSPOSE_HOST_DEVICE static constexpr int old_registers(int old_bytes) {
    return Kind == fusion::accumulate ? old_bytes / (holds_operand && out_access < 4 ? 2 : 4) : 0;
  }

  /// What follows from a policy.
  struct plan {
    int rows;
    int lanes;

    TILETRANSPOSE_HOST_DEVICE constexpr int cols() const { return lanes * count - spare_cols; }
    TILETRANSPOSE_HOST_DEVICE constexpr int pitch() const {
      const int used = lead_bytes + rows * bytes;
      // Lanes that each store a part of their element lie an odd number of accesses, or of words, apart.
      const int step = larger(access_bytes, 4);
      const int banks = ((bytes + step - 1) / step | 1) * step;
      return deals                            ? round_up(used, 4)
             : access_bytes < bytes && !packs ? round_up(used - banks, 128) + banks
             : count > 1                      ? round_up(used, 2 * spread())
                                              : round_up(used - spread(), 2 * spread()) + spread();
    }
    /// The words that a request writes into one shared row.
    TILETRANSPOSE_HOST_DEVICE constexpr int spread() const {
      const int word = larger(fill_access, 4);
      return word * larger(128 / word / lanes, 1);
    }
    /// Lanes that fill several rows side by side leave the room of an access between their groups.
    TILETRANSPOSE_HOST_DEVICE constexpr int padding() const {
      return deals ? larger(bytes, 4) : count > 1 ? spread() : 0;
    }
    TILETRANSPOSE_HOST_DEVICE constexpr int tile_bytes() const {
      const int shared_rows = cols() + (deals ? 2 * count : 0);
      return round_up(shared_rows * pitch() + shared_rows / count * padding(), 16);
    }
  };
  /// Narrower where shared memory or, for old elements, registers are short.
  static constexpr plan tile = [] {
    plan result{wanted.rows, wanted.lanes};
    while ((result.tile_bytes() > default_shared_bytes && !Large) ||
           old_registers(result.rows * result.cols() / threads * out_bytes) > 32) {
      result.lanes /= 2;
    }
    return result;
  }();
  static constexpr int tile_rows = tile.rows;
  static constexpr int tile_cols = tile.cols();
  static constexpr int lanes = tile.lanes;
  static constexpr int pitch = tile.pitch();
  static constexpr int padding = tile.padding();
  static constexpr int shared_bytes = tile.tile_bytes();
  static_assert(tile_cols > 0 && threads % lanes == 0 && tile_rows % micro_rows == 0, "");
  static_assert(!shifts || lanes <= 32, "a row's lanes are neighbours in a warp");
  static_assert(!shifts || !copies, "lanes that are there for their neighbours write no copy");
  static_assert(!deals || copies, "lanes start where the sectors of a copy do");
  static_assert(tile_rows * out_bytes % sector_bytes == 0, "segments are whole sectors");

  /// Shared rows before the first and behind the last take what dealt loads hold beside the tile.
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned row_offset(unsigned col) {
    const unsigned at = col + (deals ? count : 0);
    return at * pitch + at / count * padding;
  }
  /// The padding before the first element of a lane, which puts it into column `lane * count - shift`.
  TILETRANSPOSE_HOST_DEVICE static constexpr int lane_padding(int lane, int shift) {
    return (lane - shift / count) * padding;
  }
  /// What element `i` has less of it: those that wrap into the group of columns before.
  TILETRANSPOSE_HOST_DEVICE static constexpr int wrap_padding(int i, int shift) {
    return i < shift % count ? padding : 0;
  }
  static constexpr long long fill_offset(int lane) {
    return lane % lanes * count * pitch + lane_padding(lane % lanes, 0) +
           lane / lanes * bytes * micro_rows;
  }
  // The lanes of a warp that loads one row have one shift, which moves what each of them writes by as much. Those that
  // load several rows have none.
  static_assert(!deals || lanes >= 32, "");
  /// Large elements that are stored part by part may conflict: fused_banks_test.cpp knows how often.
  static constexpr int fill_ways = request_ways(fill_offset, fill_access);
  static_assert(access_bytes < bytes || fill_ways == 1, "a shipped tile must not conflict");

  using vector = packed_elements<In, count, (count > 1 ? load_bytes : in_access)>;
  /// Whether what a thread stores is put together row by row and transposed in registers: rows that a copy takes as they
  /// are, and elements that nothing is computed of yet.
  static constexpr bool transposes = micro_rows > 1 && (copies || combines) && bytes <= 2 &&
                                     micro_rows* bytes % 4 == 0 && count* bytes % 4 == 0;
  /// Whether the place of an element, or of each column's, passes an optimisation barrier before it is used: halves to
  /// copy and transpose as bytes gain by it, floats lose.
  static constexpr bool barrier_on_offset =
      holds_operand || (loads == fused_loads::elements && !combines && !Aligned && in_bytes >= 8);
  static constexpr bool barrier_on_columns = deals && in_bytes <= 2 && out_bytes == 1;
  static constexpr int copy_access = access_width(count * out_bytes);
  static constexpr int copy_store_bytes = fills_words ? larger(out_access, smaller(copy_access, 4))
                                          : splits_out || loads_unaligned ? out_access
                                                                          : copy_access;
  using copied =
      packed_elements<Out, count, copy_store_bytes>;  ///< what a thread writes of a row of the copy

  /// Registers for shifted loads under way; a conversion takes some itself. Wider old elements leave room for one round.
  static constexpr bool loads_one_round = shifts && combines && out_bytes > in_bytes;
  static constexpr int load_registers = in_bytes != out_bytes && !combines ? 24 : 40;

  /// Neighbours need what lies around a load of rows that start anywhere, and load it soon: load_near. So do
  /// those that read old elements, but for parts of words, which gain nothing by it. Short rows, as tiles of wider
  /// outputs have, take 256 bytes, and so do large packed elements and words that keep their size.
  static constexpr bool fetches_far =
      Kind == fusion::transform &&
      ((out_bytes > in_bytes && out_bytes > 2) || (loads_unaligned && in_bytes > 8) ||
       (out_bytes == in_bytes && whole_in && in_bytes >= 4));
  static constexpr bool loads_whole = Aligned && !loads_unaligned;
  static constexpr bool short_rows = tile_cols * in_bytes < 256 && !(holds_operand && in_bytes > 1);
  static constexpr int fetched = loads_whole ? (short_rows ? 256 : 0) : fetches_far ? 256 : 128;
  static constexpr int fetched_old = fetched > 0 && (!splits_out || out_access >= 4) ? 128 : 0;

  /// What tile_segments.cuh asks of a shape.
  static constexpr int micro_cols = count;
  static constexpr bool varies_width = false;
  static constexpr bool groups_rows = false;
  static constexpr bool loops_at_edges = holds_operand;  // few tiles, and registers are short
  /// What a row's segment of the tile begins at multiples of, where rows start anywhere.
  static constexpr int skew_bytes = !holds_operand ? sector_bytes : out_access < 4 ? 4 : 1;
  static constexpr bool joins_segments = false;
  static constexpr int element_bytes = out_bytes;
  static constexpr int segment_bytes = tile_rows * out_bytes;
  /// A tile that owns whole elements has segments that begin and end inside of words where elements do.
  static constexpr bool owns_elements = holds_operand && out_access < 4;
  /// The accumulator operand is read and written as words, or by wider accesses that it is made of.
  static constexpr int store_bytes = holds_operand ? larger(out_access, 4) : 16;
  static constexpr bool joins_stores = out_access < store_bytes;
  static constexpr int read_access = out_access;
  static constexpr bool reads_words = out_access >= 4;
  /// Elements that are combined at a time: up to 16 bytes of both.
  static constexpr int combined = larger(16 / larger(out_bytes, in_bytes), 1);

  /// What a thread reads for a store, and how many of these a row has.
  static constexpr int read_bytes = combines ? combined * in_bytes : store_bytes;
  static constexpr int row_reads = segment_bytes / (combines ? combined * out_bytes : read_bytes);
  /// Segments that are no whole lines let a group of threads straddle two rows, and so do those of floats to which bytes
  /// are added.
  static constexpr int drain_ways = rotation_ways<larger(read_bytes, 4)>(row_reads);
  static constexpr bool odd_segments = row_reads * larger(read_bytes, 4) % 128 != 0;
  static_assert(drain_ways == (odd_segments ? 2 : 1), "a shipped tile must not conflict");
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
