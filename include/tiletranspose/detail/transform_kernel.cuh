// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The tile kernel with a function applied on the way: elements are loaded as the input's type, turned into
/// the output's, and stored into shared rows whose pieces are drained as the plain kernel's are.
///
/// How rows are loaded is chosen at launch: `fused_loads`. Rows are shared out as pieces of the output are
/// (tile_pieces.cuh): a thread takes those that lie alike, so that it works out once where they do (`tile_loads`).
///
/// What else can ride along, for the bytes it moves and no more:
/// - *accumulate*: the pieces of the output as they were are read before anything else. They wait in the shared rows,
///   where the function finds them when the input is stored (recalled_words.cuh); or, small ones, in registers, while
///   the shared rows take the elements of the input as they are, and the function meets both when it is their turn to be
///   drained: `recalls_to_shared`;
/// - *dual*: the threads that load a row write it to the copy, whole sectors of it to each tile.

#pragma once

#include <tiletranspose/detail/packed_elements.cuh>
#include <tiletranspose/detail/recalled_words.cuh>
#include <tiletranspose/detail/shuffle.cuh>
#include <tiletranspose/detail/spanned_words.cuh>
#include <tiletranspose/detail/tile_kernel.cuh>
#include <tiletranspose/detail/tile_pieces.cuh>
#include <tiletranspose/policy.cuh>
#include <tiletranspose/tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What a fused kernel does beside out(x, y) = op(in(y, x)).
enum class fusion {
  transform,   ///< nothing
  accumulate,  ///< out(x, y) = op(in(y, x), out(x, y))
  dual         ///< copy(y, x) = out(x, y)
};

/// The matrix beside input and output: ny x nx elements of the output's type. Null but for fusion::dual.
struct row_major_copy {
  void* data;
  size_type stride_bytes;
  unsigned sector_mask;  ///< as the one of tile_arguments
  bool in_step;  ///< its rows start as far from a vector's boundary as those of the input do
};

/// A where `First`, else B.
template <bool First, class A, class B>
struct either {
  using type = A;
};
template <class A, class B>
struct either<false, A, B> {
  using type = B;
};

/// The largest power of two that is not above `value`.
TILETRANSPOSE_HOST_DEVICE constexpr int power_below(int value) {
  int power = 1;
  while (2 * power <= value) { power *= 2; }
  return power;
}

/// A value that the compiler takes as it is: what is worked out from it is not worked out from its terms instead, each
/// time anew and in between of loads that should be under way together (nvcc 13.0; accumulation of floats 93 and 51 %
/// of cudaMemcpyAsync with and without, H200, 2026-11-22).
TILETRANSPOSE_FUNCTION int settled(int value) {
#if TILETRANSPOSE_ON_DEVICE
  asm("" : "+r"(value));
#endif
  return value;
}

TILETRANSPOSE_FUNCTION size_type settled(size_type value) {
#if TILETRANSPOSE_ON_DEVICE
  asm("" : "+l"(value));
#endif
  return value;
}

/// The same of a place in shared memory.
TILETRANSPOSE_FUNCTION unsigned char* settled_shared(unsigned char* shared) {
#if TILETRANSPOSE_ON_DEVICE
  return static_cast<unsigned char*>(
      __cvta_shared_to_generic(settled(static_cast<int>(__cvta_generic_to_shared(shared)))));
#else
  return shared;
#endif
}

/// How rows of the input are loaded.
enum class fused_loads {
  elements,  ///< one element a lane
  vectors,   ///< several, where rows start at multiples of 16 bytes
  shifted,   ///< several, from their own boundary on, shifted together with those of the next lane
  dealt,  ///< vectors that start at their own boundaries or those of a copy, dealt out element by element
  spanned  ///< the words that elements lie in which start at any byte, shifted together
};

/// How a row is loaded, and thereby what a launch has to know about alignment.
TILETRANSPOSE_HOST_DEVICE constexpr fused_loads choose_loads(fusion kind, int in_bytes, int in_unit,
                                                             int out_bytes, bool parts,
                                                             bool aligned) {
  const bool copies = kind == fusion::dual;
  if (in_unit < 4 && in_unit < in_bytes) { return fused_loads::spanned; }
  if (parts) { return fused_loads::elements; }
  if (aligned && in_bytes < (copies ? 16 : 4)) { return fused_loads::vectors; }
  if (!aligned && copies && in_bytes <= 8 && out_bytes <= 8) { return fused_loads::dealt; }
  if (!aligned && !copies && in_bytes < 4) { return fused_loads::shifted; }
  if (!aligned && kind == fusion::transform && in_bytes == 4 && out_bytes == 4) {
    return fused_loads::dealt;
  }
  return fused_loads::elements;
}

/// The tile of a fused kernel.
struct fused_policy {
  int rows;           ///< of the input
  int lanes;          ///< threads that share one of them
  int count;          ///< elements that a thread takes of one
  int micro_rows;     ///< rows that it takes at a time
  int threads = 256;  ///< of a block
};

/// Packed elements whose words a thread shifts together.
TILETRANSPOSE_HOST_DEVICE constexpr int spanned_count(int in_bytes) {
  return in_bytes > 8 ? 1 : in_bytes % 4 == 2 || in_bytes == 8 ? 2 : 4;
}

/// True where a lane takes several packed elements of a conversion, if they are small: of one output always, of two
/// where the copy's elements are small, too. H200, 2026-11-23, % of cudaMemcpyAsync, squares and odd shapes, two
/// outputs by one element a lane and by several: 2 bytes to 1 43, 78 and 42, 66, to 2 46, 83 and 47, 66; 3 to 1 53, 79
/// and 50, 77, to 2 53, 83 and 54, 77; 4 to 1 86, 98 and 77, 82; 5 to 1 67, 95 and 63, 83; 6 to 2 78, 91 and 71, 80;
/// but 3 to 3 57, 73 and 54, 26, 5 to 5 70, 13, 3 to whole 4 90, 74.
TILETRANSPOSE_HOST_DEVICE constexpr bool spans_several(fusion kind, int in_bytes, int out_bytes) {
  return kind == fusion::transform || (kind == fusion::dual && in_bytes <= 8 && out_bytes <= 2);
}

/// True where old elements that are added to wait in the shared rows, false where they wait in registers. Elements that
/// are several accesses each would be combined one at a time as these are drained, and in tiles that start at sectors,
/// whose rows some of the old elements would have to be of a neighbour's. Small ones lose by pieces that share sectors.
/// H200, 2026-11-23, % of cudaMemcpyAsync in registers and in the shared rows, squares and odd shapes: 3 packed bytes
/// added to one 44, 96 and 38, 73; 64 bytes in words to one 38, 99 and 29, 98; 12 in words to two 95, 100 and 84, 95; 3
/// packed bytes to floats 79, 97 and 76, 90; floats to bytes 94, 100 and 80, 89; halves to bytes 91, 102 and 75, 75; but
/// bytes 98, 86 and 82, 73, halves 99, 97 and 93, 84, halves to floats 99, 99 and 93, 89, floats to halves 102, 102 and
/// 95, 90.
TILETRANSPOSE_HOST_DEVICE constexpr bool recalls_to_shared(int in_bytes, int in_unit, int out_bytes,
                                                           int out_unit) {
  if (in_unit < in_bytes || out_unit < out_bytes) { return true; }
  return in_bytes >= 4 ? out_bytes != 2 : in_bytes > out_bytes;
}

/// True where packed elements become such large ones that a conversion takes one of them a lane.
TILETRANSPOSE_HOST_DEVICE constexpr bool widens_packed(int in_bytes, int out_bytes) {
  return in_bytes <= 16 && out_bytes > 8 && out_bytes <= 16;
}

/// Figures: share of cudaMemcpyAsync of the bytes moved, NVIDIA H200, CUDA 13.0, 2026-11-22, near 16384 x 16384. Rows
/// of odd shapes that neighbours read too pass the L2 cache twice, which is what most of them wait for: the larger a
/// tile, the fewer.
TILETRANSPOSE_HOST_DEVICE constexpr fused_policy tuned_fused_policy(fusion kind, int in_bytes,
                                                                    int out_bytes,
                                                                    fused_loads loads, bool large) {
  if (large) { return {256, 32, 8, 4, 512}; }
  const bool combines = kind == fusion::accumulate;
  const int stored = combines ? in_bytes : out_bytes;
  const int widest = larger(in_bytes, stored);
  const bool to_bytes = kind == fusion::transform && in_bytes == 1 && out_bytes == 1;
  const int rows = out_bytes <= 2 ? 128 : out_bytes <= 8 ? 64 : 32;
  switch (loads) {
    case fused_loads::dealt:
      // Halves to bytes 84 %, floats to halves 90, to bytes 92.
      if (kind == fusion::dual && in_bytes > out_bytes && in_bytes <= 4) {
        return {in_bytes == 4 * out_bytes ? 256 : 128, 32, 16 / in_bytes, 1, 512};
      }
      return {out_bytes == 1 ? 128 : 64, widest == 8 ? 64 : 32,
              16 / larger(larger(in_bytes, out_bytes), 2), 1};
    case fused_loads::shifted:
      // Bytes added to bytes 80 %, halves to halves 92; 77 and 87 by half as many columns and threads. Bytes added to
      // halves lose 6 points by such tiles.
      if (combines && in_bytes == out_bytes) {
        return {128, 32, in_bytes == 1 ? 8 : 4, in_bytes == 1 ? 4 : 2, 512};
      }
      // Bytes: 85 %; 76 by 8 x 8 elements.
      if (to_bytes) { return {128, 32, 8, 4}; }
      // 89 %; 87.5 by 128 rows and 256 threads.
      if (!combines && in_bytes == 2 && out_bytes == 1) { return {256, 32, 4, 4, 512}; }
      return {rows, combines && (out_bytes <= 2 || out_bytes > 4) ? 16 : 32, 4,
              combines && out_bytes == 2 ? 2 : 4};
    case fused_loads::vectors:
      if (to_bytes) { return {128, 16, 16, 8}; }  // 95 %; 92 by 8 x 8 elements
      if (kind == fusion::dual) {
        return {out_bytes <= 2 ? 128 : 64, in_bytes == 4 && out_bytes == 2 ? 32 : 16,
                power_below(16 / larger(widest, 2)), 4};
      }
      // 94 %; 93 by two elements a lane.
      if (kind == fusion::transform && in_bytes == 2 && out_bytes == 4) { return {64, 16, 8, 1}; }
      return {rows, (widest == 1 || kind == fusion::transform ? 128 : 64) / (4 / in_bytes),
              4 / in_bytes, larger(4 / stored, 1)};
    case fused_loads::spanned: {
      if (!spans_several(kind, in_bytes, out_bytes)) { break; }
      // Squares and odd shapes: 3 bytes to 9 84 and 85 %, 75 and 71 by several elements a lane of 32 rows; 6 to 10 92
      // and 91, 77 and 75; 5 to 11 90 and 90, 84 and 83; 3 to 12 90 and 90, 88 and 88; 9 to 9 92 and 92, 88 and 86 by
      // 32 rows.
      if (widens_packed(in_bytes, out_bytes)) { return {64, 32, 1, 1}; }
      // 2026-11-23: 7 bytes to 7 94 and 90 %, 80 and 78 by four elements a lane; 6 to 6 94 and 93, 93 and 92.
      if (in_bytes <= 8 && (out_bytes == 6 || out_bytes == 7)) { return {64, 32, 2, 1}; }
      const bool divides = 16 % out_bytes == 0;  // an access of the output
      // Squares and odd shapes: 3 bytes to 1 93 and 85 %, 70 and 60 by one element a lane, 86 and 78 by 256 rows; to 3
      // 93 and 88, 67 and 66 by one. 5 bytes to 1: 95 and 83; 89 and 76.
      const int count = spanned_count(in_bytes);
      const int lanes = in_bytes > 16 ? 16 : (count == 1 ? 64 : 32) / (out_bytes <= 4 ? 1 : 2);
      return {rows, lanes, count, larger(4 / stored, 1),
              divides || out_bytes == 3 || out_bytes > 8 ? 256 : 128};
    }
    default:
      break;
  }
  // 91 %; 88 by 128 rows and 256 threads.
  if (kind == fusion::transform && in_bytes == 4 && out_bytes == 1) { return {256, 64, 1, 4, 512}; }
  const int cols = larger(in_bytes, out_bytes) > 16  ? 16
                   : larger(in_bytes, out_bytes) > 8 ? 32
                                                     : 64;
  return {rows, cols, 1, larger(4 / stored, 1)};
}

/// The same where old elements are recalled to the shared rows, by accesses of `out_unit` bytes: the tiles of a
/// conversion, or others with fewer old elements a thread. Sums of as many bytes as their elements have, squares and odd
/// shapes: 5 bytes 82 and 76 %, 78 and 73 by four elements a lane; 6 93 and 90, 91 and 88; 7 82 and 78, 66 and 64.
TILETRANSPOSE_HOST_DEVICE constexpr fused_policy tuned_recall_policy(int in_bytes, int out_bytes,
                                                                     int out_unit,
                                                                     fused_loads loads) {
  fused_policy result = tuned_fused_policy(fusion::transform, in_bytes, out_bytes, loads, false);
  if (loads != fused_loads::spanned) { return result; }
  // 3 bytes 93.5 and 83 %; 92 and 82 by 64 rows and 256 threads, 92 and 84 by 128 rows and 256 threads, 91 and 82 by 96
  // rows; 76 and 71 by two elements a lane.
  if (in_bytes <= 4 && out_bytes == 3) { return {128, 8, 4, result.micro_rows, 192}; }
  if (in_bytes <= 8 && out_bytes < 8) {
    result.rows = 64;
    result.lanes = 16;
    result.count = in_bytes <= 4 && out_bytes <= 4 ? 4 : 2;
  }
  // Whole words. 9 packed bytes to 4 99 and 95 %, 95 and 88 by 16 lanes, 82 and 78 by 64; 6 bytes to 8 99 and 96, 95 and
  // 94 by one element a lane.
  if (out_unit == out_bytes && out_bytes >= 4 && in_bytes > 8 && in_bytes <= 16) {
    result.lanes = 32;
  }
  if (out_unit == 8 && in_bytes <= 8) { result.count = 2; }
  if (widens_packed(in_bytes, out_bytes)) {
    // Rows that are stored together as whole words. 2026-11-23: 3 bytes added to 9 67 and 63 %, 45 and 43 by single
    // bytes, 55 and 51 by 256 threads, 66 and 63 by 64 rows of those; 15 to 15 70 and 66, 46 and 43; 6 to 10 89 and 84,
    // 82 and 79; 14 to 14 92 and 88, 79 and 73.
    if (out_unit < 4 && out_bytes % 4 == 2) { return {32, 8, 2, 1, 128}; }
    if (out_unit < 4 && out_bytes % 2 == 1) { return {32, 16, 1, 1, 128}; }
    if (out_unit < 4 && in_bytes <= 8) { return {64, 16, 1, 1}; }
    // The conversion's: 98 and 96, 97 and 94 by 32 rows. But 3 to 12 93 and 90, 89 and 87 by these, 9 to 9 65 and 61, 56
    // and 52 by 64 rows; and 12 bytes to 12 spilled.
    if (in_bytes == 9 && out_bytes == 12 && out_unit >= 4) { return result; }
    return {32, in_bytes > 8 ? 32 : 16, spanned_count(in_bytes), 1};
  }
  result.threads = 256;
  return result;
}

/// True where tiles pay that need more than the 48 KB every block may have, in matrices as those of has_large_policy:
/// two outputs of halves as bytes 96 %, 92 without; of bytes 92, 86.
TILETRANSPOSE_HOST_DEVICE constexpr bool has_large_fused_policy(fusion kind, int in_bytes,
                                                                int out_bytes) {
  return kind == fusion::dual && in_bytes <= 2 && out_bytes == 1;
}

/// The tiles of a fused kernel. `Aligned`: rows of the input start at multiples of 16 bytes, and those of a
/// copy at sectors; where words of packed elements are spanned, these rows at multiples of 4; or, where old elements of
/// other rows would wait in shared memory, those of the output at sectors.
///
/// Shared memory has a row for each column of the input, with the tile's elements from `skew_rows` rows
/// before it on.
template <class In, class Out, fusion Kind, bool Aligned, bool Large = false>
struct fused_shape {
  static_assert(!Large || (Aligned && has_large_fused_policy(Kind, sizeof(In), sizeof(Out))), "");
  static constexpr bool copies = Kind == fusion::dual;
  static constexpr int in_bytes = static_cast<int>(sizeof(In));
  static constexpr int in_unit = access_width(in_bytes, alignof(In));
  static constexpr int out_bytes = static_cast<int>(sizeof(Out));
  static constexpr int out_unit = access_width(out_bytes, alignof(Out));
  static constexpr bool whole_in = in_unit == in_bytes;
  static constexpr bool splits_out = out_unit < out_bytes;
  /// Whether old elements wait in the shared rows, and meet those of the input when these are stored there. Else
  /// (`combines`) they wait in registers, and meet them when the rows are drained. Tiles that recall own whole elements:
  /// one that starts at a sector would share an element with its neighbour where elements do not divide a sector, and
  /// whoever is later would find the new element instead of the old one.
  static constexpr bool recalls =
      Kind == fusion::accumulate && recalls_to_shared(in_bytes, in_unit, out_bytes, out_unit);
  static constexpr bool combines = Kind == fusion::accumulate && !recalls;
  /// What shared memory holds: old elements are combined with those of the input.
  using stored = typename either<combines, In, Out>::type;
  static constexpr int bytes = static_cast<int>(sizeof(stored));
  static constexpr int unit = access_width(bytes, alignof(stored));

  static constexpr fused_loads loads = choose_loads(Kind, in_bytes, in_unit, out_bytes,
                                                    !whole_in || (splits_out && copies), Aligned);
  static constexpr bool shifts = loads == fused_loads::shifted;
  static constexpr bool deals = loads == fused_loads::dealt;
  static constexpr bool spans = loads == fused_loads::spanned;
  static constexpr fused_policy wanted =
      recalls ? tuned_recall_policy(in_bytes, out_bytes, out_unit, loads)
              : tuned_fused_policy(Kind, in_bytes, out_bytes, loads, Large);
  static constexpr int threads = wanted.threads;
  static constexpr int count = wanted.count;
  /// Rows of small packed elements are stored together, as whole words.
  static constexpr bool packs = (recalls || spans) && unit < bytes && bytes % 4 != 0 &&
                                (bytes < 8 || (recalls && widens_packed(in_bytes, out_bytes)));
  static constexpr int micro_rows = unit == bytes ? wanted.micro_rows
                                    : packs       ? word_elements(bytes)
                                                  : 1;
  static constexpr int load_bytes = count * in_bytes;
  /// Packed elements whose words hold nothing else. Those of more than 16 bytes spilled (5 bytes to 5, 7 to 7). H200,
  /// 2026-11-23, % of cudaMemcpyAsync as words that they start anywhere in and so: 2 bytes to 1 82, 94, to 2 85, 94; 3
  /// to 1 95, 99, to 3 93.5, 94.2; 4 to 1 92, 99.5, to 4 92, 98; 6 to 6 93.8, 94.3; 8 to 8 90, 96; 16 to 16 92, 94.5;
  /// sums of 3 bytes 93.5, 97.3, of 4 96, 101, of 8 91, 97; two outputs, 4 bytes to 1 60, 86.
  static constexpr bool spans_whole =
      spans && Aligned && load_bytes % 4 == 0 && load_bytes <= max_access_bytes;
  using spanned = spanned_words<load_bytes, (spans_whole ? 4 : in_unit)>;
  static constexpr int load_words = spans ? spanned::count : larger(load_bytes / 4, 1);
  /// The accesses that store them, and where nothing is skewed those of the words that elements lie in.
  static constexpr int chunk_unit = recalls
                                        ? larger(unit, smaller(access_width(micro_rows* bytes), 4))
                                    : micro_rows > 1 ? access_width(micro_rows* bytes)
                                                     : unit;
  static constexpr int skew_rows =
      recalls ? 0 : round_up((sector_bytes + out_bytes - 1) / out_bytes, micro_rows);
  static constexpr int lead_bytes = skew_rows * bytes;  // before the tile's first row
  /// Where loads are dealt, those of a row begin up to a sector of the copy before the tile, or up to a vector.
  static constexpr int lead_cols = !deals ? 0 : copies ? sector_bytes / out_bytes : count;
  /// Lanes whose loads are shifted take what they lack from the next one; the last of a row has none.
  static constexpr int spare_cols = shifts ? count : lead_cols;
  /// Rows after which they are aligned as before.
  static constexpr int period = larger(lead_cols, 1);

  /// Registers that old elements of as many bytes take on their way; where words are shifted together, two each.
  TILETRANSPOSE_HOST_DEVICE static constexpr int old_registers(int old_bytes) {
    return combines || recalls ? old_bytes / (recalls && out_unit < 4 ? 2 : 4) : 0;
  }

  /// What follows from a policy.
  struct plan {
    int rows;
    int lanes;

    TILETRANSPOSE_HOST_DEVICE constexpr int cols() const { return lanes * count - spare_cols; }
    TILETRANSPOSE_HOST_DEVICE constexpr int pitch() const {
      const int used = lead_bytes + rows * bytes;
      // Lanes that each store a part of their element lie an odd number of accesses, or of words, apart.
      const int step = larger(unit, 4);
      const int banks = ((bytes + step - 1) / step | 1) * step;
      return deals                    ? round_up(used, 4)
             : unit < bytes && !packs ? round_up(used - banks, 128) + banks
             : count > 1              ? round_up(used, 2 * spread())
                                      : round_up(used - spread(), 2 * spread()) + spread();
    }
    /// The words that a request writes into one shared row.
    TILETRANSPOSE_HOST_DEVICE constexpr int spread() const {
      const int word = larger(chunk_unit, 4);
      return word * larger(128 / word / lanes, 1);
    }
    /// Lanes that fill several rows side by side leave a chunk between their groups.
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
  static constexpr int rows = tile.rows;
  static constexpr int lanes = tile.lanes;
  static constexpr int cols = tile.cols();
  static constexpr int pitch = tile.pitch();
  static constexpr int padding = tile.padding();
  static constexpr int shared_bytes = tile.tile_bytes();
  static_assert(cols > 0 && threads % lanes == 0 && rows % micro_rows == 0, "");
  static_assert(!shifts || lanes <= 32, "a row's lanes are neighbours in a warp");
  static_assert(!shifts || !copies, "lanes that are there for their neighbours write no copy");
  static_assert(rows * out_bytes % sector_bytes == 0, "pieces are whole sectors");

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
  struct fill_lanes {
    constexpr long long operator()(int lane) const {
      return lane % lanes * count * pitch + lane_padding(lane % lanes, 0) +
             lane / lanes * bytes * micro_rows;
    }
  };
  // The lanes of a warp that loads one row have one shift, which moves what each of them writes by as much. Those that
  // load several rows have none.
  static_assert(!deals || lanes >= 32, "");
  /// Large elements that are stored part by part may meet: fused_banks_test.cpp knows how often.
  static constexpr int fill_ways = request_ways(fill_lanes{}, chunk_unit);
  static_assert(unit < bytes || fill_ways == 1, "a shipped tile must not conflict");

  using vector = packed_elements<In, count, (count > 1 ? load_bytes : in_unit)>;
  /// Whether what a thread stores is put together row by row and turned in registers: rows that a copy takes as they
  /// are, and elements that nothing is computed of yet.
  static constexpr bool turns = micro_rows > 1 && (copies || combines) && bytes <= 2 &&
                                micro_rows* bytes % 4 == 0 && count* bytes % 4 == 0;
  /// Whether the place of an element, or of each column's, is `settled` before it is used: halves to copy and transpose
  /// as bytes 84, 86 %, bytes 66, 69; floats lose half a point.
  static constexpr bool settles =
      recalls || (loads == fused_loads::elements && !combines && !Aligned && in_bytes >= 8);
  static constexpr bool settles_columns = deals && in_bytes <= 2 && out_bytes == 1;
  static constexpr int copy_access = access_width(count * out_bytes);
  static constexpr int copy_unit = spans_whole           ? larger(out_unit, smaller(copy_access, 4))
                                   : splits_out || spans ? out_unit
                                                         : copy_access;

  /// Registers for shifted loads that are under way; a conversion takes some itself. Wider old elements leave room
  /// for one round. H200, 2026-11-22, odd rows, % of cudaMemcpyAsync: halves added to floats 88, 80 with two.
  static constexpr bool loads_one_round = shifts && combines && out_bytes > in_bytes;
  static constexpr int load_registers = in_bytes != out_bytes && !combines ? 24 : 40;

  /// Neighbours need what lies around a load of rows that start anywhere, and load it soon: load_constant_near. So do
  /// those that read old elements, but for parts of words, which gain nothing by it. Short rows, as tiles of wider
  /// outputs have, take 256 bytes, and so do large packed elements.
  ///
  /// H200, 2026-11-23. Odd shapes with 128 and with 256: 3 bytes to 12 90.5, 93.0 %, to 6 80, 84, 4 to 16 88, 93.5, 9
  /// to 9 93.0, 93.9, 2 to 8 81, 85, halves to floats 90.1, 90.9; but bytes to halves 86, 84, floats to halves 93, 90,
  /// 3 bytes to 3 90, 87, sums of floats 93.7, 92.7. Rows on 16 bytes with none and with 256: bytes to floats 93.1,
  /// 94.5, to 3 85, 90, to 12 86, 92, 2 bytes to 8 94, 96; sums of bytes 96.4, 98.3, of halves 97.6, 99.7, bytes added
  /// to 3 84, 92; but 2 bytes added to 3 98, 89. Packed elements in whole words with none and with 128: 6 bytes to 6
  /// 91.5, 94.3, sums of 3 bytes 92.5, 97.3.
  static constexpr bool widens =
      Kind == fusion::transform &&
      ((out_bytes > in_bytes && out_bytes > 2) || (spans && in_bytes > 8));
  static constexpr bool loads_whole = Aligned && !spans;
  static constexpr bool short_rows = cols * in_bytes < 256 && !(recalls && in_bytes > 1);
  static constexpr int fetched = loads_whole ? (short_rows ? 256 : 0) : widens ? 256 : 128;
  static constexpr int fetched_old = fetched > 0 && (!splits_out || out_unit >= 4) ? 128 : 0;

  /// What the tile's place needs to know, and what draining it does.
  static constexpr int tile_rows = rows;
  static constexpr int tile_cols = cols;
  static constexpr int micro_cols = count;
  static constexpr bool varies_width = false;
  static constexpr bool groups_rows = false;
  static constexpr int skew_bytes = recalls ? 4 : sector_bytes;
  static constexpr bool joins_pieces = false;
  static constexpr int element_bytes = out_bytes;
  static constexpr int piece_bytes = rows * out_bytes;
  static constexpr int store_bytes = 16;
  /// Elements that are combined at a time: up to 16 bytes of both.
  static constexpr int combined = larger(16 / larger(out_bytes, in_bytes), 1);
  /// Old elements are recalled and written as words, or by wider accesses that they are made of.
  static constexpr int word_bytes = larger(out_unit, 4);

  /// What a thread reads for a store, and how many of these a row has.
  static constexpr int read_bytes = combines  ? combined * in_bytes
                                    : recalls ? word_bytes
                                              : store_bytes;
  static constexpr int row_reads = piece_bytes / (combines ? combined * out_bytes : read_bytes);
  /// Pieces that are no whole lines let a group of threads straddle two rows, and so do those of floats to which bytes
  /// are added.
  static constexpr int drain_ways = turn_ways<larger(read_bytes, 4)>(row_reads);
  static constexpr bool odd_pieces = row_reads * larger(read_bytes, 4) % 128 != 0;
  static_assert(drain_ways == (odd_pieces ? 2 : 1), "a shipped tile must not conflict");
};

/// Where a block puts what it has computed: its shared rows, and its place in the copy.
struct fused_memory {
  unsigned char* shared;
  unsigned char* copied;
  size_type copy_stride_bytes;
  bool in_step;  ///< as the one of row_major_copy

  TILETRANSPOSE_FUNCTION unsigned char* copy_row(int row) const {
    return copied + static_cast<long long>(row) * static_cast<long long>(copy_stride_bytes);
  }
};

/// Which rows of a tile a thread loads, and which of their elements. The rows before the tile, of which skewed
/// pieces begin, are loaded with the others. Rounds of a phase take rows that are aligned alike.
template <class Fused, bool Interior>
struct tile_loads {
  static constexpr int count = Fused::count;
  static constexpr int in_bytes = Fused::in_bytes;
  static constexpr int skew_rows = Fused::skew_rows;
  static constexpr int micro_rows = Fused::micro_rows;
  static constexpr int together = Fused::threads / Fused::lanes * micro_rows;
  static constexpr int phases = larger(Fused::period / together, 1);
  static constexpr int apart = phases * together;  ///< rows from round to round
  static constexpr int rounds = (skew_rows + Fused::rows + apart - 1) / apart;
  /// Registers for what is loaded, of which old elements take some. At the ends of a matrix what exists is asked
  /// for each element, which takes registers, too.
  static constexpr int registers = Fused::deals                ? 40
                                   : Fused::spans              ? (Fused::copies ? 8 : 32)
                                   : Fused::shifts             ? Fused::load_registers
                                   : micro_rows * in_bytes > 8 ? 16
                                                               : 32;
  static constexpr int taken =
      Fused::old_registers(Fused::rows * Fused::cols * Fused::out_bytes / Fused::threads);
  static constexpr int words = micro_rows * Fused::load_words;
  /// Rounds whose loads are under way at a time.
  static constexpr int most =
      Fused::loads_one_round
          ? 1
          : larger((Interior ? larger(registers - taken, 8) : registers / 2) / words, 1);
  static constexpr int batches = (rounds + most - 1) / most;
  static constexpr int batch = (rounds + batches - 1) / batches;
  /// Batches in a row without a loop: all of them, but rows of packed elements that are stored together spilled so (two
  /// outputs, 3 bytes to 2, 5 to 1, 6 to 2), and by two in whole words (4 bytes to 1; but 3 bytes to 1, H200,
  /// 2026-11-23: 69 % one by one, 79 by two).
  static constexpr int unrolled = !(Fused::spans && Fused::copies && micro_rows > 1) ? batches
                                  : Fused::spans_whole && access_width(in_bytes) == in_bytes ? 1
                                                                                             : 2;

  const tile_source& source;
  bool in_step;  ///< whether vectors of the input start where those of a copy do
  int lane;
  int first_row;  ///< of the phase
  int shift;      ///< elements that the first load of each row takes before the tile's first column
  int col;
  int from_row;
  int end_row;

  template <class Group>
  TILETRANSPOSE_FUNCTION tile_loads(Group group, const fused_memory& memory,
                                    const tile_source& from, bool skewed, int phase)
      : source(from), in_step(!Fused::copies || memory.in_step) {
    const unsigned rank = group.thread_rank();
    lane = static_cast<int>(rank % Fused::lanes);
    first_row = static_cast<int>(rank / Fused::lanes) * micro_rows - skew_rows + phase * together;
    shift = 0;
    if constexpr (Fused::deals && Fused::copies) {
      shift = static_cast<int>(address_bits(memory.copy_row(first_row)) % sector_bytes) /
              Fused::out_bytes;
    } else if constexpr (Fused::deals) {
      shift = static_cast<int>(address_bits(source.row(first_row)) % Fused::load_bytes) / in_bytes;
    }
    col = lane * count - shift;
    from_row = skewed ? -skew_rows : 0;
    end_row = Fused::rows;
    if (!Interior) {
      from_row = larger(from_row, source.first_row);
      end_row = smaller(end_row, source.end_row);
    }
  }

  TILETRANSPOSE_FUNCTION int row(int round) const { return first_row + round * apart; }
  /// Whether each row of a round is one of the tile's, whatever the thread and the phase.
  TILETRANSPOSE_HOST_DEVICE static constexpr bool is_inside(int round) {
    return round * apart >= skew_rows && (round + 1) * apart <= skew_rows + Fused::rows;
  }
  TILETRANSPOSE_FUNCTION bool row_exists(int round, int micro_row) const {
    const int at = row(round) + micro_row;
    return (Interior && is_inside(round)) || (at >= from_row && at < end_row);
  }
  TILETRANSPOSE_FUNCTION bool any_exists(int round) const {
    return row_exists(round, 0) || (!Interior && micro_rows > 1 && row(round) < end_row &&
                                    row(round) + micro_rows > from_row);
  }
  TILETRANSPOSE_FUNCTION bool byte_exists(int byte) const {
    return Interior || (byte >= source.first_byte && byte < source.end_byte);
  }
};

/// What a thread has loaded of as many rounds as are under way at a time.
template <class Fused, bool Interior>
struct loaded_batch {
  typename Fused::vector rows[tile_loads<Fused, Interior>::batch][Fused::micro_rows];
};

/// Loads what exists of a vector, element by element.
template <class Fused, class Places>
TILETRANSPOSE_FUNCTION void load_parts(const Places& at, const unsigned char* row, int byte,
                                       typename Fused::vector& loaded) {
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < Fused::count; ++i) {
    const loop_step part(i);
    const int from = byte + i * Fused::in_bytes;
    if (at.byte_exists(from)) {
      const auto word = load_constant<access_word_t<Fused::in_unit>>(row + from);
      __builtin_memcpy(loaded.memory + i * Fused::in_bytes, &word, Fused::in_unit);
    }
  }
}

/// The word at `address`, `byte` bytes after the tile's first column: what of it is inside of its row.
template <int Unit, int Fetched = 0, class Places>
TILETRANSPOSE_FUNCTION unsigned load_word(const Places& at, const unsigned char* address,
                                          int byte) {
  if (at.byte_exists(byte) && at.byte_exists(byte + 3)) {
    return load_constant_near<unsigned, Fetched>(address);
  }
  unsigned result = 0;
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < 4; i += Unit) {
    const loop_step part(i);
    if (at.byte_exists(byte + i)) {
      result |= static_cast<unsigned>(load_constant<access_word_t<Unit>>(address + i)) << (8 * i);
    }
  }
  return result;
}

/// Loads what exists of the vector at `address`, `byte` bytes after the tile's first column.
template <class Fused, bool Interior, class Places>
TILETRANSPOSE_FUNCTION void load_vector(const Places& at, const unsigned char* address, int byte,
                                        typename Fused::vector& to) {
  if (Interior ||
      (byte >= at.source.first_byte && byte + Fused::load_bytes <= at.source.end_byte)) {
    to.template load<Fused::fetched>(address);
  } else if constexpr (Fused::loads == fused_loads::vectors && Fused::in_unit < 4) {
    TILETRANSPOSE_UNROLL
    for (int w = 0; w < Fused::load_bytes; w += 4) {
      const loop_step part(w);
      const unsigned word = load_word<Fused::in_unit>(at, address + w, byte + w);
      __builtin_memcpy(to.memory + w, &word, 4);
    }
  } else if constexpr (Fused::count > 1) {
    load_parts<Fused>(at, address - byte, byte, to);
  }
}

/// Loads a batch of rows as the words that its elements lie in, the first of them at `start`.
template <class Fused, bool Interior>
TILETRANSPOSE_FUNCTION void load_spanned_rows(const tile_loads<Fused, Interior>& at, int first,
                                              const unsigned char* start,
                                              loaded_batch<Fused, Interior>& loaded) {
  using places = tile_loads<Fused, Interior>;
  const int byte = at.col * Fused::in_bytes;
  typename Fused::spanned words[places::batch][places::micro_rows] = {};
  const auto each = [&](auto visit) {
    TILETRANSPOSE_UNROLL
    for (int b = 0; b < places::batch; ++b) {
      TILETRANSPOSE_UNROLL
      for (int r = 0; r < places::micro_rows; ++r) {
        const loop_step here((first + b) * places::micro_rows + r);
        if (first + b >= places::rounds) { continue; }
        visit(b, r, start + (b * places::apart + r) * at.source.stride_bytes);
      }
    }
  };
  each([&](int b, int r, const unsigned char* from) {
    if (!at.row_exists(first + b, r)) { return; }
    words[b][r].load(from, [&](const unsigned char* word) {
      return load_word<Fused::in_unit, Fused::fetched>(at, word,
                                                       byte + static_cast<int>(word - from));
    });
  });
  // Rows that there are not, too: nobody looks at them, and to ask again costs more.
  each([&](int b, int r, const unsigned char* from) {
    words[b][r].copy(from, loaded.rows[b][r].memory);
  });
}

/// Starts the loads of a batch.
template <class Fused, bool Interior>
TILETRANSPOSE_FUNCTION void load_rows(const tile_loads<Fused, Interior>& at, int first,
                                      loaded_batch<Fused, Interior>& loaded) {
  using places = tile_loads<Fused, Interior>;
  const tile_source& source = at.source;
  const int byte = at.col * Fused::in_bytes;
  const unsigned char* row = source.row(at.row(first));
  if constexpr (Fused::spans) {
    load_spanned_rows<Fused, Interior>(at, first, row + byte, loaded);
  } else if constexpr (!Fused::shifts) {
    const auto each = [&](auto load) {
      TILETRANSPOSE_UNROLL
      for (int b = 0; b < places::batch; ++b) {
        TILETRANSPOSE_UNROLL
        for (int r = 0; r < places::micro_rows; ++r, row += source.stride_bytes) {
          const loop_step here((first + b) * places::micro_rows + r);
          if (first + b < places::rounds && at.row_exists(first + b, r)) {
            load(loaded.rows[b][r]);
          }
        }
        row += (places::apart - places::micro_rows) * source.stride_bytes;
      }
    };
    using vector = typename Fused::vector;
    if (Fused::deals && !at.in_step) {
      each([&](vector& to) { load_parts<Fused>(at, row, byte, to); });
      return;
    }
    each([&](vector& to) { load_vector<Fused, Interior>(at, row + byte, byte, to); });
  } else {
    // From the boundary at or below the first element on; the next lane has what lacks.
    constexpr int bytes = Fused::load_bytes;
    constexpr int words = bytes / 4;
    static_assert(words <= 2 && places::apart * Fused::in_bytes % bytes == 0,
                  "rounds are aligned alike");
    unsigned raw[places::batch][places::micro_rows][words] = {};
    const unsigned char* starts[places::micro_rows];
    int past[places::micro_rows];  // bytes of a row's first load that lie before its first element
    TILETRANSPOSE_UNROLL
    for (int r = 0; r < places::micro_rows; ++r, row += source.stride_bytes) {
      past[r] = static_cast<int>(address_bits(row) % bytes);
      starts[r] = row + byte - past[r];
    }
    TILETRANSPOSE_UNROLL
    for (int b = 0; b < places::batch; ++b) {
      TILETRANSPOSE_UNROLL
      for (int r = 0; r < places::micro_rows; ++r) {
        const loop_step here((first + b) * places::micro_rows + r);
        if (first + b >= places::rounds || !at.row_exists(first + b, r)) { continue; }
        const unsigned char* const start = starts[r] + b * places::apart * source.stride_bytes;
        const int from = byte - past[r];
        if (at.byte_exists(from) && at.byte_exists(from + bytes - 1)) {
          const auto all = load_constant_near<access_word_t<bytes>, Fused::fetched>(start);
          __builtin_memcpy(raw[b][r], &all, bytes);
        } else {
          TILETRANSPOSE_UNROLL
          for (int w = 0; w < words; ++w) {
            const loop_step part(w);
            raw[b][r][w] = load_word<Fused::in_unit>(at, start + 4 * w, from + 4 * w);
          }
        }
      }
    }
    const unsigned next = lane_index() + 1;
    TILETRANSPOSE_UNROLL
    for (int b = 0; b < places::batch; ++b) {
      TILETRANSPOSE_UNROLL
      for (int r = 0; r < places::micro_rows; ++r) {
        const loop_step here((first + b) * places::micro_rows + r);
        const auto shift = static_cast<unsigned>(8 * past[r]);
        const unsigned(&own)[words] = raw[b][r];
        unsigned shifted[words];
        if constexpr (words == 1) {
          shifted[0] = funnel_shift(own[0], shuffle(own[0], next), shift);
        } else {
          const bool second = past[r] >= 4;  // the first element begins in the second word
          const unsigned low = second ? own[1] : own[0];
          const unsigned after = shuffle(own[0], next);
          const unsigned middle = second ? after : own[1];
          shifted[0] = funnel_shift(low, middle, shift);
          shifted[1] = funnel_shift(middle, shuffle(low, next), shift);
        }
        __builtin_memcpy(loaded.rows[b][r].memory, shifted, bytes);
      }
    }
  }
}

/// Stores a batch of loads into the shared rows, and into the copy.
template <class Fused, bool Interior, class In, class Out, class Convert>
TILETRANSPOSE_FUNCTION void store_rows(const tile_loads<Fused, Interior>& at,
                                       const fused_memory& memory, int first,
                                       const loaded_batch<Fused, Interior>& loaded,
                                       const Convert& convert) {
  using places = tile_loads<Fused, Interior>;
  using stored = typename Fused::stored;
  constexpr int count = Fused::count;
  constexpr int in_bytes = Fused::in_bytes;
  // What is kept of a row for the copy: packed at once where rows are turned, else when it is stored. With both at a
  // time, floats and doubles spilled.
  using gathered = gathered_elements<Out, count, Fused::copy_unit>;
  using packed = packed_elements<Out, count, Fused::copy_unit>;
  using kept = typename either<Fused::turns, packed, gathered>::type;
  const int offset = static_cast<int>(Fused::row_offset(0)) + Fused::lead_bytes +
                     at.row(0) * Fused::bytes + at.col * Fused::pitch +
                     Fused::lane_padding(at.lane, at.shift);
  unsigned char* const to = memory.shared + (Fused::settles ? settled(offset) : offset);
  int columns[count];
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < count; ++i) {
    columns[i] = i * Fused::pitch - Fused::wrap_padding(i, at.shift);
    if constexpr (Fused::settles_columns) { columns[i] = settled(offset + columns[i]); }
  }
  // Some lanes are there for the copy alone, or for their neighbours.
  const bool fills = Fused::deals ? at.col > -count && at.col < Fused::cols
                                  : !Fused::shifts || at.col < Fused::cols;
  // The tile's part of the copy's row ends where the one of its right neighbour begins.
  const bool in_copy =
      !Fused::deals || !Fused::copies ||
      at.lane * count * Fused::out_bytes <
          (Fused::cols + at.shift) * Fused::out_bytes / sector_bytes * sector_bytes;
  unsigned char* copy_to = memory.copied;
  if constexpr (Fused::copies) {
    copy_to = memory.copy_row(at.row(first)) + at.col * Fused::out_bytes;
  }
  TILETRANSPOSE_UNROLL
  for (int b = 0; b < places::batch; ++b) {
    const int round = first + b;
    const loop_step here(round);
    // A lane that is there for its neighbour holds elements of several rows.
    const bool is_spare = Fused::shifts && !fills;
    if (round >= places::rounds || is_spare || !at.any_exists(round)) { continue; }
    const int row = at.row(round);
    const auto place = [&](int i) {
      return (Fused::settles_columns ? memory.shared : to) + columns[i] +
             round * places::apart * Fused::bytes;
    };
    kept copied[places::micro_rows] = {};
    if constexpr (Fused::turns) {
      // What is stored is put together row by row, and turned.
      unsigned rows[places::micro_rows][Fused::count * Fused::bytes / 4] = {};
      TILETRANSPOSE_UNROLL
      for (int r = 0; r < places::micro_rows; ++r) {
        if (!Interior && !at.row_exists(round, r)) { continue; }
        if constexpr (Fused::combines) {
          __builtin_memcpy(rows[r], loaded.rows[b][r].memory, sizeof(rows[r]));
        } else {
          gathered elements = {};
          TILETRANSPOSE_UNROLL
          for (int i = 0; i < count; ++i) {
            if (!at.byte_exists((at.col + i) * in_bytes)) { continue; }
            elements.put(i, convert(loaded.rows[b][r].get(i)));
          }
          copied[r] = elements.packed();
          __builtin_memcpy(rows[r], copied[r].memory, sizeof(rows[r]));
        }
      }
      unsigned chunks[count][places::micro_rows * Fused::bytes / 4];
      thread_transpose<Fused::bytes>(rows, chunks);
      TILETRANSPOSE_UNROLL
      for (int i = 0; i < count; ++i) {
        const loop_step part(i);
        if (!at.byte_exists((at.col + i) * in_bytes) || !fills) { continue; }
        store_shared(place(i), join_words<Fused::micro_rows * Fused::bytes>(chunks[i]));
      }
    } else {
      TILETRANSPOSE_UNROLL
      for (int i = 0; i < count; ++i) {
        const loop_step part(i);
        if (!at.byte_exists((at.col + i) * in_bytes)) { continue; }
        unsigned char* const chunk_to = place(i);
        if constexpr (Fused::recalls && !Interior && places::micro_rows > 1) {
          // Behind the last row no old elements wait.
          if (!at.row_exists(round, places::micro_rows - 1)) {
            TILETRANSPOSE_UNROLL
            for (int r = 0; r < places::micro_rows; ++r) {
              if (!at.row_exists(round, r)) { continue; }
              packed_elements<stored, 1, Fused::unit> one;
              one.load_from_shared(chunk_to + r * Fused::bytes);
              one.put(0, convert(loaded.rows[b][r].get(i), one.get(0)));
              one.store_to_shared(chunk_to + r * Fused::bytes);
            }
            continue;
          }
        }
        gathered_elements<stored, places::micro_rows, Fused::chunk_unit> chunk = {};
        if constexpr (Fused::recalls) { chunk.load_from_shared(chunk_to); }
        TILETRANSPOSE_UNROLL
        for (int r = 0; r < places::micro_rows; ++r) {
          if (!Interior && places::micro_rows > 1 && !at.row_exists(round, r)) { continue; }
          if constexpr (Fused::recalls) {
            chunk.put(r, convert(loaded.rows[b][r].get(i), chunk.get(r)));
          } else {
            const stored& element = convert(loaded.rows[b][r].get(i));
            chunk.put(r, element);
            if constexpr (Fused::copies) { copied[r].put(i, element); }
          }
        }
        if (fills) { chunk.packed().store_to_shared(chunk_to); }
      }
    }
    if constexpr (Fused::copies) {
      // Rows before the tile are another one's in the copy.
      if ((round + 1) * places::apart <= Fused::skew_rows ||
          (round * places::apart < Fused::skew_rows && row < 0) || !in_copy) {
        continue;
      }
      TILETRANSPOSE_UNROLL
      for (int r = 0; r < places::micro_rows; ++r) {
        if (!at.row_exists(round, r)) { continue; }
        unsigned char* const address = copy_to + (b * places::apart + r) * memory.copy_stride_bytes;
        if (Interior || (at.byte_exists(at.col * in_bytes) &&
                         at.byte_exists((at.col + count - 1) * in_bytes))) {
          copied[r].packed().store(address);
        } else if constexpr (count > 1) {
          TILETRANSPOSE_UNROLL
          for (int i = 0; i < count; ++i) {
            const loop_step part(i);
            if (at.byte_exists((at.col + i) * in_bytes)) {
              packed_elements<Out, 1, Fused::out_unit> one;
              one.put(0, copied[r].packed().get(i));
              one.store(address + i * Fused::out_bytes);
            }
          }
        }
      }
    }
  }
}

/// Fills the shared rows with rows [-skew_rows, rows) of the input, or from row 0 on where nothing is skewed.
/// Calls meanwhile() once the first loads are under way.
template <class Fused, bool Interior, class In, class Out, class Convert, class Meanwhile,
          class Group>
TILETRANSPOSE_FUNCTION void fill_converted(Group group, const fused_memory& memory,
                                           const tile_source& source, const tile_target& target,
                                           const Convert& convert, Meanwhile meanwhile) {
  using places = tile_loads<Fused, Interior>;
  TILETRANSPOSE_UNROLL
  for (int phase = 0; phase < places::phases; ++phase) {
    const loop_step here(phase);
    const places at(group, memory, source, target.sector_mask != 0, phase);
    TILETRANSPOSE_UNROLL_BY(places::unrolled)
    for (int first = 0; first < places::rounds; first += places::batch) {
      loaded_batch<Fused, Interior> loaded;
      load_rows<Fused, Interior>(at, first, loaded);
      if (phase == 0 && first == 0) { meanwhile(); }
      store_rows<Fused, Interior, In, Out>(at, memory, first, loaded, convert);
    }
  }
}

/// The old elements of the pieces that a thread will write.
template <class Fused, class Out>
struct recalled {
  static constexpr int count = Fused::combined;
  static constexpr int vector_bytes = count * Fused::out_bytes;
  static constexpr int rounds = piece_rounds<Fused, vector_bytes>::rounds;
  /// Whether they are read early at the ends of a matrix too, where narrow elements leave no registers for them.
  static constexpr bool always_early = Fused::out_bytes > 8;
  using vector = packed_elements<Out, count, vector_bytes>;
  using gathered = gathered_elements<Out, count, vector_bytes>;
  vector vectors[rounds];
};

/// Reads what the tile will overwrite and nothing else, because other tiles may have written already.
template <class Fused, bool Interior, class Out, class Group>
TILETRANSPOSE_FUNCTION void recall_pieces(Group group, recalled<Fused, Out>& old,
                                          const tile_target& target) {
  constexpr int bytes = recalled<Fused, Out>::vector_bytes;
  visit_vectors<Fused, bytes, Interior>(
      group, target, [&](unsigned round, unsigned char* address, int byte, unsigned, unsigned) {
        if (Interior || is_whole_vector<Fused, bytes>(target, address, byte)) {
          old.vectors[round].template load_changing<Fused::fetched_old>(address);
        }
      });
}

/// Writes op(element, old element). Old elements that were not read early are read when it is their turn.
/// Barriers: group.sync() between filling the tile and this call.
template <class Fused, bool Interior, class In, class Out, class Op, class Group>
TILETRANSPOSE_FUNCTION void combine_pieces(Group group, const unsigned char* shared,
                                           recalled<Fused, Out>& old, const tile_target& target,
                                           const Op& op) {
  using recall = recalled<Fused, Out>;
  constexpr int count = recall::count;
  constexpr int bytes = recall::vector_bytes;
  const unsigned rank = group.thread_rank();
  visit_vectors<Fused, bytes, Interior>(
      group, target,
      [&](unsigned round, unsigned char* address, int byte, unsigned row, unsigned further) {
        // Of the row's elements, those of the rows before the tile among them.
        const int first = (byte + Fused::skew_rows * Fused::out_bytes) / Fused::out_bytes;
        const unsigned from = Fused::row_offset(row) + first * Fused::in_bytes;
        if (Interior || is_whole_vector<Fused, bytes>(target, address, byte)) {
          const auto elements =
              read_elements<In, count, Fused::in_unit>(shared, from, further, rank);
          if (!Interior && !recall::always_early) { old.vectors[round].load_changing(address); }
          typename recall::gathered result;
          TILETRANSPOSE_UNROLL
          for (int i = 0; i < count; ++i) {
            result.put(i, op(elements.get(i), old.vectors[round].get(i)));
          }
          result.packed().store(address);
        } else if constexpr (count > 1) {
          TILETRANSPOSE_UNROLL
          for (int i = 0; i < count; ++i) {
            const loop_step part(i);
            const int at = byte + i * Fused::out_bytes;
            if (at < target.first_byte || at >= target.end_byte) { continue; }
            const auto element = read_elements<In, 1, Fused::in_unit>(
                shared, from + i * Fused::in_bytes, further, rank);
            packed_elements<Out, 1, Fused::out_bytes> one;
            one.load_changing(address + i * Fused::out_bytes);
            one.put(0, op(element.get(0), one.get(0)));
            one.store(address + i * Fused::out_bytes);
          }
        }
      });
}

/// Writes the pieces. Barriers: group.sync() between filling the tile and this call.
template <class Fused, bool Interior, class Group>
TILETRANSPOSE_FUNCTION void drain_converted(Group group, const unsigned char* shared,
                                            const tile_target& target) {
  constexpr int unit = Fused::out_unit;
  constexpr int bytes = Fused::store_bytes;
  const unsigned rank = group.thread_rank();
  visit_vectors<Fused, bytes, Interior>(
      group, target,
      [&](unsigned, unsigned char* address, int byte, unsigned row, unsigned further) {
        const unsigned from = Fused::row_offset(row) + Fused::lead_bytes + byte;
        if (Interior || is_whole_vector<Fused, bytes>(target, address, byte)) {
          read_elements<access_word_t<unit>, bytes / unit, unit>(shared, from, further, rank)
              .store(address);
        }
      });
  if constexpr (!Interior && unit < bytes) { drain_ends<Fused>(group, shared, target); }
}

/// The tiles of a launch of which each load and store is inside of the matrices: `rows` rows of tiles from `first_row`
/// on, likewise columns. A launch works them out once; blocks that did so took a fifth of their instructions for it.
struct interior_tiles {
  unsigned first_row;
  unsigned rows;
  unsigned first_col;
  unsigned cols;

  TILETRANSPOSE_FUNCTION bool contain(const tile_order::place& at) const {
    return static_cast<unsigned>(at.row_tile) - first_row < rows &&
           static_cast<unsigned>(at.col_tile) - first_col < cols;
  }
};

struct fused_arguments {
  tile_arguments tiles;
  interior_tiles interior;
  row_major_copy copy;
};

/// The interior tiles of a problem. `skewed`: pieces of the output reach over a tile's first row or its last one.
template <class Fused>
interior_tiles find_interior(const tile_problem& problem, bool skewed) {
  // How far loads reach over the tile.
  constexpr size_type reach = Fused::shifts  ? Fused::load_bytes
                              : Fused::spans ? Fused::spanned::reach
                                             : Fused::lead_cols * Fused::in_bytes;
  constexpr size_type row_bytes = Fused::cols * Fused::in_bytes;
  const auto between = [](size_type first, size_type end) {
    return static_cast<unsigned>(end > first ? end - first : 0);
  };
  // Words that hold the first and the last bytes of pieces which start anywhere.
  const size_type past_rows =
      skewed && Fused::recalls && Fused::out_unit < 4 ? divide_up(3, Fused::out_bytes) : 0;
  const size_type first_row =
      skewed ? divide_up(larger<size_type>(Fused::skew_rows, past_rows), Fused::rows) : 0;
  const size_type first_col = divide_up(reach, row_bytes);
  const size_type bytes = problem.nx * Fused::in_bytes;
  return {static_cast<unsigned>(first_row),
          between(first_row, (problem.ny - smaller(past_rows, problem.ny)) / Fused::rows),
          static_cast<unsigned>(first_col),
          between(first_col, bytes > reach ? (bytes - reach) / row_bytes : 0)};
}

/// A block's tile: its source, its target and its place in the copy, where there is one.
struct fused_tile {
  tile_source source;
  tile_target target;
  unsigned char* copied;
};

/// What exists of the tile is left open where all of it does.
template <class Fused, fusion Kind>
TILETRANSPOSE_FUNCTION fused_tile place_tile(const fused_arguments& arguments,
                                             const tile_order::place& at) {
  const tile_problem& problem = arguments.tiles.problem;
  const size_type first_row = at.row_tile * Fused::rows;
  const size_type first_col = at.col_tile * Fused::cols;
  fused_tile result{};
  result.source.first = static_cast<const unsigned char*>(problem.in) +
                        first_row * problem.in_stride_bytes + first_col * Fused::in_bytes;
  result.source.stride_bytes = problem.in_stride_bytes;
  result.target.first = static_cast<unsigned char*>(problem.out) +
                        first_col * problem.out_stride_bytes + first_row * Fused::out_bytes;
  result.target.stride_bytes = problem.out_stride_bytes;
  result.target.sector_mask = !Fused::recalls       ? arguments.tiles.sector_mask
                              : Fused::out_unit < 4 ? 3
                                                    : 0;
  if constexpr (Kind == fusion::dual) {
    result.copied = static_cast<unsigned char*>(arguments.copy.data) +
                    first_row * arguments.copy.stride_bytes + first_col * Fused::out_bytes;
  }
  return result;
}

/// Finds out what exists of a tile.
template <class Fused>
TILETRANSPOSE_FUNCTION void bound_tile(const tile_problem& problem, const tile_order::place& at,
                                       fused_tile& tile) {
  const size_type first_row = at.row_tile * Fused::rows;
  const size_type first_col = at.col_tile * Fused::cols;
  tile.source.first_row = clipped_distance(first_row, 0);
  tile.source.end_row = clipped_distance(first_row, problem.ny);
  tile.source.first_byte = clipped_distance(first_col * Fused::in_bytes, 0);
  tile.source.end_byte =
      clipped_distance(first_col * Fused::in_bytes, problem.nx * Fused::in_bytes);
  // Columns of tiles may be there for the end of the copy alone.
  tile.target.rows = larger(smaller(clipped_distance(first_col, problem.nx), Fused::cols), 0);
  tile.target.first_byte = clipped_distance(first_row * Fused::out_bytes, 0);
  tile.target.end_byte =
      clipped_distance(first_row * Fused::out_bytes, problem.ny * Fused::out_bytes);
}

template <class Fused, bool Interior, fusion Kind, class In, class Out, class Op, class Group>
TILETRANSPOSE_FUNCTION void convert_tile_between(Group group, const fused_memory& memory,
                                                 const fused_tile& tile, const Op& op) {
  if constexpr (Fused::recalls) {
    // Both are under way before either is waited for.
    recalled_words<Fused> old;
    recall_words<Fused, Interior>(group, old, memory.shared, tile.target);
    fill_converted<Fused, Interior, In, Out>(
        group, memory, tile.source, tile.target,
        [&](const In& element, const Out& before) -> Out { return op(element, before); },
        [&] {
          if (Interior) { keep_words(group, old, memory.shared, tile.target); }
          group.sync();
        });
    group.sync();
    // Addresses are worked out once more: they would be kept from the first time on, two registers each.
    tile_target target = tile.target;
    target.stride_bytes = settled(target.stride_bytes);
    drain_words<Fused, Interior>(group, memory.shared, target);
  } else if constexpr (Kind == fusion::accumulate) {
    recalled<Fused, Out> old;
    const auto recall = [&] {
      if (Interior || recalled<Fused, Out>::always_early) {
        recall_pieces<Fused, Interior>(group, old, tile.target);
      }
    };
    // Loads that are shifted go first: what has to be done with them takes longer.
    if constexpr (!Fused::shifts) { recall(); }
    fill_converted<Fused, Interior, In, Out>(
        group, memory, tile.source, tile.target,
        [](const In& element) -> const In& { return element; },
        [&] {
          if constexpr (Fused::shifts) { recall(); }
        });
    group.sync();
    combine_pieces<Fused, Interior, In>(group, memory.shared, old, tile.target, op);
  } else {
    fill_converted<Fused, Interior, In, Out>(
        group, memory, tile.source, tile.target,
        [&](const In& element) -> Out { return op(element); }, [] {});
    group.sync();
    drain_converted<Fused, Interior>(group, memory.shared, tile.target);
  }
}

/// The kernel's body: one block converts and moves the tile that `block` names.
/// Shared memory: Fused::shared_bytes, aligned to 16. Barriers: inside.
template <class Fused, fusion Kind, class In, class Out, class Op, class Group>
TILETRANSPOSE_FUNCTION void convert_tile(Group group, unsigned char* shared,
                                         const fused_arguments& arguments, const Op& op,
                                         unsigned block) {
  const tile_order::place at = arguments.tiles.order.in_matrix(block);
  fused_tile tile = place_tile<Fused, Kind>(arguments, at);
  const fused_memory memory{Fused::settles_columns ? settled_shared(shared) : shared, tile.copied,
                            arguments.copy.stride_bytes, arguments.copy.in_step};
  if (arguments.interior.contain(at)) {
    convert_tile_between<Fused, true, Kind, In, Out>(group, memory, tile, op);
  } else {
    bound_tile<Fused>(arguments.tiles.problem, at, tile);
    convert_tile_between<Fused, false, Kind, In, Out>(group, memory, tile, op);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
