// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The reversal of a group of elements in registers, by a pattern that the compiler knows.

#pragma once

#include <tiletranspose/detail/core/memory.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Where the bytes of word `Word` of a reversed group come from: up to four words of the group.
template <class Whole, int Word>
struct group_word {
  TILETRANSPOSE_HOST_DEVICE static constexpr int source_word(int i) {
    return Whole::source(4 * Word + i) / 4;
  }
  /// True where byte i is the first that comes from its word.
  TILETRANSPOSE_HOST_DEVICE static constexpr bool is_new(int i) {
    for (int k = 0; k < i; ++k) {
      if (source_word(k) == source_word(i)) { return false; }
    }
    return true;
  }
  /// Picks the bytes that come from the word of byte `i` into what was picked before.
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned selector(int i) {
    unsigned result = 0;
    for (int k = 0; k < 4; ++k) {
      const int byte = Whole::source(4 * Word + k) % 4;
      result |= static_cast<unsigned>(source_word(k) == source_word(i) ? 4 + byte : k) << 4 * k;
    }
    return result;
  }
};

template <class Whole, int Word, int Byte>
TILETRANSPOSE_FUNCTION void pick_group_byte(unsigned& word, const unsigned (&group)[Whole::words]) {
  using source = group_word<Whole, Word>;
  constexpr bool is_new = source::is_new(Byte);
  constexpr int from = source::source_word(Byte);
  constexpr unsigned selector = source::selector(Byte);
  if constexpr (is_new) { word = pick_bytes(word, group[from], selector); }
}

/// Calls put(i, word i of the reversed group) for words Word and up.
template <class Whole, int Word = 0, class Put>
TILETRANSPOSE_FUNCTION void reverse_words(const unsigned (&group)[Whole::words], Put put) {
  if constexpr (Word < Whole::words) {
    unsigned word = 0;
    pick_group_byte<Whole, Word, 0>(word, group);
    pick_group_byte<Whole, Word, 1>(word, group);
    pick_group_byte<Whole, Word, 2>(word, group);
    pick_group_byte<Whole, Word, 3>(word, group);
    put(Word, word);
    reverse_words<Whole, Word + 1>(group, put);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
