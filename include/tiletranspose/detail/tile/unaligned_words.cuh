// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Elements that start at any byte, such as pixels of three bytes, loaded as the words that they lie in.

#pragma once

#include <tiletranspose/detail/core/memory.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The words that `Bytes` bytes of memory lie in, whose first one is at a multiple of `AccessBytes` bytes, 1 or 2, or
/// of a word's:
///
///     words     |. . . a|b b b c|c c d d|      four elements of 3 bytes, of which the first begins in byte 3
///
/// Words are loaded whatever the first byte of them is, so that the last may hold nothing that is asked for. Bytes that
/// start at a multiple of 4 are what their words hold.
template <int Bytes, int AccessBytes>
struct unaligned_words {
  static constexpr bool shifts = AccessBytes < 4;
  static constexpr int count = (Bytes + 7 - (shifts ? AccessBytes : 4)) / 4;
  /// Bytes that loads may reach over behind the last one; before the first they are at most 3.
  static constexpr int reach = shifts ? 8 : 0;
  static_assert(!shifts || 4 * count - Bytes <= reach, "");

  unsigned words[count];

  /// load(address) is the word at `address`.
  template <class Load>
  TILETRANSPOSE_FUNCTION void load(const unsigned char* first, Load load) {
    const unsigned char* const from = shifts ? word_below(first) : first;
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < count; ++i) {
      const loop_step part(i);
      words[i] = load(from + 4 * i);
    }
  }
  /// Copies the bytes that lie from `first` on, as loaded.
  TILETRANSPOSE_FUNCTION void copy(const unsigned char* first, unsigned char* to) const {
    if constexpr (!shifts) {
      __builtin_memcpy(to, words, Bytes);
    } else {
      constexpr int whole = (Bytes + 3) / 4;
      unsigned shifted[whole];
      TILETRANSPOSE_UNROLL
      for (int i = 0; i < whole; ++i) {
        shifted[i] =
            funnel_shift(words[i], words[i + 1 < count ? i + 1 : i], 8 * address_bits(first));
      }
      __builtin_memcpy(to, shifted, Bytes);
    }
  }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
