// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Element reversals: of a row, of an access, and of a group of elements in registers.

#pragma once

#include <tiletranspose/detail/choose/choose_rows.cuh>
#include <tiletranspose/detail/rows/row_segments.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// 16 bytes with their elements of `Element` bytes reversed; as they are where that is 0 or 16.
template <int Element>
TILETRANSPOSE_FUNCTION word16 reverse_elements(const word16& value) {
  if constexpr (Element == 1 || Element == 2) {
    constexpr unsigned selector = Element == 1 ? 0x0123 : 0x1032;
    return {pick_bytes(value.w, 0, selector), pick_bytes(value.z, 0, selector),
            pick_bytes(value.y, 0, selector), pick_bytes(value.x, 0, selector)};
  } else if constexpr (Element == 4) {
    return {value.w, value.z, value.y, value.x};
  } else if constexpr (Element == 8) {
    return {value.z, value.w, value.x, value.y};
  } else {
    return value;
  }
}

/// The byte of a segment's source that becomes byte `at` of the segment.
template <row_order Order>
TILETRANSPOSE_FUNCTION int source_byte(const row_arguments& arguments, const row_segment& segment,
                                       int at) {
  if constexpr (Order == row_order::forward) {
    return at;
  } else {
    const auto byte = static_cast<unsigned>(at);
    const unsigned element = arguments.element.quotient(byte);
    return segment.bytes - static_cast<int>((element + 1) * arguments.element_bytes) +
           static_cast<int>(arguments.element.remainder(byte, element));
  }
}

/// Where the source of the access that starts `start` bytes into a segment starts, counted from the segment's source.
template <row_order Order>
TILETRANSPOSE_FUNCTION int source_start(const row_arguments& arguments, const row_segment& segment,
                                        int start) {
  if constexpr (Order == row_order::forward || Order == row_order::vectors) {
    return source_byte<Order>(arguments, segment, start);
  } else {
    return segment.bytes - 16 - start;
  }
}

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
