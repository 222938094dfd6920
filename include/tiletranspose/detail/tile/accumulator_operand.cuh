// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Segments of output rows that are added to: their old bytes are brought into the shared rows word by word, and written
/// back likewise. A tile owns whole elements, so that those of packed ones start and end inside of words, and all of
/// them inside of sectors: which costs nothing where these have been read.

#pragma once

#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/tile/tile_segments.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The old bytes of a tile's segments on their way into the shared rows. Segments may start inside of a word, shared rows
/// do not: words are loaded whole, though neighbours may have written what else is in them, and shifted together.
template <class Fused>
struct operand_words {
  static constexpr int bytes = Fused::store_bytes;
  static constexpr bool shifts = Fused::owns_elements;
  static constexpr unsigned rounds = segment_rounds<Fused, bytes>::rounds;
  using word = access_word_t<bytes>;
  word low[rounds];
  word high[shifts ? rounds : 1];

  /// How far into a word the segment starts of whose words one lies `byte` bytes after its start.
  TILETRANSPOSE_FUNCTION static int past(int byte) {
    return shifts ? static_cast<int>((0u - static_cast<unsigned>(byte)) % 4) : 0;
  }
  /// The word at `address` and, where a part of it is the segment's alone, the one behind it.
  TILETRANSPOSE_FUNCTION void load(unsigned round, const unsigned char* address, int byte) {
    const int first = past(byte);
    if constexpr (!shifts) {
      low[round] = load_global_near<word, Fused::fetched_old>(address);
    } else {
      low[round] = load_global_part<word, Fused::fetched_old>(address, first, bytes);
      high[round] = 0;
      if (first > 0) {
        high[round] = load_global_part<word, Fused::fetched_old>(address + 4, 0, first);
      }
    }
  }
  TILETRANSPOSE_FUNCTION word joined(unsigned round, int byte) const {
    if constexpr (shifts) {
      return funnel_shift(low[round], high[round], static_cast<unsigned>(8 * past(byte)));
    } else {
      return low[round];
    }
  }
};

/// Loads the old bytes of a tile's segments. At the ends of a matrix, where words may reach over them, it keeps them,
/// too.
template <class Fused, bool Interior, class Group>
TILETRANSPOSE_FUNCTION void load_operand_words(Group group, operand_words<Fused>& old,
                                               unsigned char* shared, const tile_target& target) {
  using words = operand_words<Fused>;
  constexpr int bytes = words::bytes;
  constexpr int access_bytes = Fused::out_access;
  visit_vectors<Fused, words::bytes, Interior>(
      group, target,
      [&](unsigned round, unsigned char* address, int byte, unsigned row, unsigned further) {
        const int past = words::past(byte);
        const bool whole = Interior || !words::shifts ||
                           (byte >= target.first_byte && byte + past + 4 <= target.end_byte - 3);
        if (whole) { old.load(round, address, byte); }
        if constexpr (!Interior) {
          unsigned char* const to = shared + Fused::row_offset(row) + (byte + past) + further;
          if (whole) {
            store_shared(to, old.joined(round, byte));
          } else if constexpr (words::shifts) {
            TILETRANSPOSE_UNROLL
            for (int i = 0; i < bytes; i += access_bytes) {
              const loop_step part(i);
              if (byte + past + i < target.end_byte) {
                store_shared(to + i, load_global<access_word_t<access_bytes>>(address + past + i));
              }
            }
          }
        }
      });
}

/// Keeps what has been loaded in the places of the shared rows that it will be drained from.
template <class Fused, class Group>
TILETRANSPOSE_FUNCTION void keep_words(Group group, const operand_words<Fused>& old,
                                       unsigned char* shared, const tile_target& target) {
  visit_vectors<Fused, operand_words<Fused>::bytes, true>(
      group, target, [&](unsigned round, unsigned char*, int byte, unsigned row, unsigned further) {
        store_shared(
            shared + Fused::row_offset(row) + (byte + operand_words<Fused>::past(byte)) + further,
            old.joined(round, byte));
      });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
