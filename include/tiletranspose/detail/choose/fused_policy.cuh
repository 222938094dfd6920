// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What is decided of a fused call by the sizes of its elements alone, all of it constexpr: how rows of the input are
/// loaded, where old elements that are added to wait, and the tiles, each with what it won.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What a fused kernel does beside out(x, y) = op(in(y, x)).
enum class fusion {
  transform,   ///< nothing
  accumulate,  ///< out(x, y) = op(in(y, x), out(x, y))
  dual         ///< copy(y, x) = out(x, y)
};

/// True where little work calls the function as elements are stored, not as they are loaded: where it takes old elements
/// of the output, too, and where it makes elements wider, so that the narrower ones wait in between. A second output
/// gets its results as elements are loaded.
constexpr bool calls_as_stored(fusion kind, int in_bytes, int out_bytes) {
  return kind == fusion::accumulate || (kind == fusion::transform && in_bytes < out_bytes);
}

/// How rows of the input are loaded.
enum class fused_loads {
  elements,  ///< one element a lane
  vectors,   ///< several, where rows start at multiples of 16 bytes
  shifted,   ///< several, from their own boundary on, shifted together with those of the next lane
  dealt,     ///< vectors that start at the boundaries of a copy's, dealt out element by element
  unaligned  ///< the words that elements lie in which start at any byte, shifted together
};

/// How a row is loaded, and thereby what a launch has to know about alignment.
constexpr fused_loads choose_loads(fusion kind, int in_bytes, int in_access, int out_bytes,
                                   bool parts, bool aligned) {
  const bool copies = kind == fusion::dual;
  if (in_access < 4 && in_access < in_bytes) { return fused_loads::unaligned; }
  if (parts) { return fused_loads::elements; }
  if (aligned && in_bytes < (copies ? 16 : 4)) { return fused_loads::vectors; }
  if (!aligned && copies && in_bytes <= 8 && out_bytes <= 8) { return fused_loads::dealt; }
  if (!aligned && !copies && in_bytes < 4) { return fused_loads::shifted; }
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
constexpr int unaligned_count(int in_bytes) {
  return in_bytes > 8 ? 1 : in_bytes % 4 == 2 || in_bytes == 8 ? 2 : 4;
}

/// True where old elements that are added to wait in the shared rows, false where they wait in registers. Elements that
/// are several accesses each would be combined one at a time as these are drained, and in tiles that start at sectors,
/// whose rows some of the old elements would have to be of a neighbour's. Small ones lose by segments that share sectors.
constexpr bool holds_operand_in_shared(int in_bytes, int in_access, int out_bytes, int out_access) {
  if (in_access < in_bytes || out_access < out_bytes) { return true; }
  return in_bytes >= 4 ? out_bytes != 2 : in_bytes > out_bytes;
}

/// True where packed elements become such large ones that a conversion takes one of them a lane.
constexpr bool widens_packed(int in_bytes, int out_bytes) {
  return in_bytes <= 16 && out_bytes > 8 && out_bytes <= 16;
}

/// Figures: share of cudaMemcpyAsync of the bytes moved, NVIDIA H200, CUDA 13.0, 2026-11-22, near 16384 x 16384. Rows
/// of odd shapes that neighbours read too pass the L2 cache twice, which is what most of them wait for: the larger a
/// tile, the fewer. `whole`: elements of both sides are single accesses.
constexpr fused_policy tuned_fused_policy(fusion kind, int in_bytes, int out_bytes,
                                          fused_loads loads, bool whole, bool large) {
  if (large) { return {256, 32, 8, 4, 512}; }
  const bool combines = kind == fusion::accumulate;
  const int stored = combines ? in_bytes : out_bytes;
  const int widest = larger(in_bytes, stored);
  const bool to_bytes = kind == fusion::transform && in_bytes == 1 && out_bytes == 1;
  const int rows = out_bytes <= 2 ? 128 : out_bytes <= 8 ? 64 : 32;
  switch (loads) {
    case fused_loads::dealt:
      if (in_bytes > out_bytes && in_bytes <= 4) {
        return {in_bytes == 4 * out_bytes ? 256 : 128, 32, 16 / in_bytes, 1, 512};
      }
      return {out_bytes == 1 ? 128 : 64, widest == 8 ? 64 : 32, 16 / larger(widest, 2), 1};
    case fused_loads::shifted:
      // Bytes added to bytes 80 %, halves to halves 92; 77 and 87 by half as many columns and threads.
      if (combines && in_bytes == out_bytes) {
        return {128, 32, in_bytes == 1 ? 8 : 4, in_bytes == 1 ? 4 : 2, 512};
      }
      // Bytes: 85 %; 76 by 8 x 8 elements.
      if (to_bytes) { return {128, 32, 8, 4}; }
      if (in_bytes == 2 && out_bytes == 1) { return {256, 32, 4, 4, 512}; }
      return {rows, combines && (out_bytes <= 2 || out_bytes > 4) ? 16 : 32, 4,
              combines && out_bytes == 2 ? 2 : 4};
    case fused_loads::vectors:
      if (to_bytes) { return {128, 16, 16, 8}; }  // 95 %; 92 by 8 x 8 elements
      if (kind == fusion::dual) {
        return {out_bytes <= 2 ? 128 : 64, in_bytes == 4 && out_bytes == 2 ? 32 : 16,
                16 / larger(widest, 2), 4};
      }
      if (kind == fusion::transform && in_bytes == 2 && out_bytes == 4) { return {64, 16, 8, 1}; }
      return {rows, (widest == 1 || kind == fusion::transform ? 128 : 64) / (4 / in_bytes),
              4 / in_bytes, larger(4 / stored, 1)};
    case fused_loads::unaligned: {
      // One element a lane of two outputs, if these are large: 3 bytes to 3 57, 73 %; 54, 26 by several.
      if (kind == fusion::dual && (in_bytes > 8 || out_bytes > 2)) { break; }
      // 3 bytes to 12 90 and 90 %, 88 and 88 by several elements a lane of 32 rows.
      if (widens_packed(in_bytes, out_bytes)) { return {64, 32, 1, 1}; }
      // 3 bytes to 1 93 and 85 %, 70 and 60 by one element a lane, 86 and 78 by 256 rows; to 3 93 and 88, 67 and 66 by one.
      const int count = unaligned_count(in_bytes);
      const int lanes = in_bytes > 16 ? 16 : (count == 1 ? 64 : 32) / (out_bytes <= 4 ? 1 : 2);
      return {rows, lanes, count, larger(4 / stored, 1)};
    }
    default:
      break;
  }
  // Floats 96.7 and 94.5 %, 96.6 and 93.6 by 64 rows; 8 bytes 94.5, 93.7, 95.2, 92.1 by 64 columns.
  if (kind == fusion::transform && whole && in_bytes == out_bytes) {
    if (in_bytes == 4) { return {128, 64, 1, 1, 512}; }
    if (in_bytes == 8) { return {64, 32, 1, 1}; }
    if (in_bytes == 16) { return {32, 16, 1, 1}; }
  }
  if (kind == fusion::transform && in_bytes == 4 && out_bytes == 1) { return {256, 64, 1, 4, 512}; }
  const int cols = larger(in_bytes, out_bytes) > 16  ? 16
                   : larger(in_bytes, out_bytes) > 8 ? 32
                                                     : 64;
  return {rows, cols, 1, larger(4 / stored, 1)};
}

/// The same where the accumulator operand is read to the shared rows, by accesses of `out_access` bytes: the tiles of a
/// conversion, or others with fewer old elements a thread.
constexpr fused_policy tuned_operand_policy(int in_bytes, int out_bytes, int out_access,
                                            fused_loads loads, bool whole) {
  const fused_policy conversion =
      tuned_fused_policy(fusion::transform, in_bytes, out_bytes, loads, whole, false);
  // Floats 101 and 95 %; 100 and 95 by the tiles of a conversion, which need more registers.
  if (whole && in_bytes == 4 && out_bytes == 4) { return {64, 64, 1, 1}; }
  if (loads != fused_loads::unaligned) { return conversion; }
  if (in_bytes <= 4 && out_bytes == 3) { return {128, 8, 4, conversion.micro_rows, 192}; }
  if (in_bytes <= 8 && out_bytes <= 8) {
    return {64, 16, in_bytes <= 4 && out_bytes <= 4 ? 4 : 2, conversion.micro_rows};
  }
  if (widens_packed(in_bytes, out_bytes)) {
    if (out_access < 4) { return {64, 16, 1, 1}; }
    return {32, in_bytes > 8 ? 32 : 16, unaligned_count(in_bytes), 1};
  }
  return conversion;
}

/// True where tiles pay that need more than the 48 KB every block may have, in large matrices: two outputs of halves as
/// bytes 96 %, 92 without; of bytes 92, 86.
constexpr bool has_large_fused_policy(fusion kind, int in_bytes, int out_bytes) {
  return kind == fusion::dual && in_bytes <= 2 && out_bytes == 1;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
