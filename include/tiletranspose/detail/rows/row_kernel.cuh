// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What the kernel does that moves rows which stay rows: they are copied, reversed, or trade places in place. How blocks take
/// *segments* of rows is in detail/README.md. There are three ways to the 16 bytes that an access writes:
///
/// *together* (row_segments.cuh): they lie together in the input. Two accesses to the segment in shared memory are shifted
/// together, and their elements are reversed in registers.
///
///     segment of the input    ..[0 1 2 3 4 5 6 7 8 9]......     elements of 1 byte, words of 4
///     word 1 of the output           reversed(2 3 4 5) = 5 4 3 2
///     segment of the output   .....[9 8 7 6 5 4 3 2 1 0]...
///
/// *grouped*: a thread reads the fewest elements that are whole words, reverses them by a pattern that the compiler knows, and
/// leaves them where accesses of the output are accesses of shared memory.
///
///     3 words of the input      a b c d|e f g h|i j k l     elements of 3 bytes, a letter for each byte
///     reversed by their thread  j k l g|h i d e|f a b c
///
/// *row-staged* (row_segments.cuh): rows are short, elements are large, or the kernel does not know their size. Words or
/// accesses are put together from the segment in shared memory.

#pragma once

#include <tiletranspose/banks.cuh>
#include <tiletranspose/detail/rows/row_segments.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Bytes of shared memory before the first segment of groups, and more of a reversed segment than of a copied
/// one: a thread whose group begins in a segment, or in the word that its last bytes share, reads and writes all of the
/// group, which lies before the copied segment then, or behind the reversed one.
inline constexpr unsigned group_margin = 128;

/// The fewest elements that are whole words. Where these are odd in number, threads that each take a group's next word
/// do not conflict; elements of 24, 40 and 56 bytes take two ways.
template <int Element>
struct word_group {
  static constexpr int bytes = Element * 4 / smaller(access_width(Element), 4);
  static constexpr int words = bytes / 4;
  static_assert(Element >= 3, "");
  static_assert(bytes < static_cast<int>(group_margin), "a group must not reach the next segment");
  /// The byte of the group that becomes byte `at` of the reversed group.
  TILETRANSPOSE_HOST_DEVICE static constexpr int source(int at) {
    return (bytes / Element - 1 - at / Element) * Element + at % Element;
  }
  struct group_lanes {
    TILETRANSPOSE_HOST_DEVICE constexpr long long operator()(int lane) const {
      return lane * bytes;
    }
  };
  static_assert(request_ways(group_lanes{}, 4) == (Element % 8 == 0 ? 2 : 1),
                "a shipped group must not conflict");
};

/// Bytes of shared memory for the segments of groups.
TILETRANSPOSE_HOST_DEVICE constexpr unsigned grouped_bytes(unsigned segments,
                                                           unsigned segment_pitch) {
  return group_margin + 16 + segments * (2 * segment_pitch + group_margin) + 16;
}

/// Byte 0 of a reversed segment; accesses of the output are accesses of it.
TILETRANSPOSE_FUNCTION unsigned char* reversed_segment(unsigned char* shared,
                                                       const row_arguments& arguments,
                                                       unsigned index, const row_segment& segment) {
  return shared + group_margin + 16 + arguments.read_segments() * arguments.segment_pitch +
         index * (arguments.segment_pitch + group_margin) + address_bits(segment.to) % 16;
}

/// The word that starts `at` bytes into a shared segment. The GPU reads what lies around the segment, too, though it is
/// not used; the CPU, which would see that nobody wrote it, does not.
TILETRANSPOSE_FUNCTION unsigned word_around(const unsigned char* source, int at, int bytes) {
  if (!TILETRANSPOSE_ON_DEVICE && (at <= -4 || at >= bytes)) { return 0; }
  return load_shared<unsigned>(source + at);
}

/// Reads shared segments group by group and leaves them reversed, each at `reversed_segment`. Words of the output that
/// begin in one group and end in the next are written by the latter's thread.
/// Barriers: group.sync() before this call and after it.
template <int Element>
TILETRANSPOSE_FUNCTION void reverse_groups(unsigned char* shared, const row_work& work) {
  using whole = word_group<Element>;
  constexpr int rounds = (row_rounds * 16 + whole::bytes - 1) / whole::bytes;
  const thread_segment own = work.own();
  const row_segment& segment = own.segment;
  if (segment.bytes == 0) { return; }
  const unsigned char* const source =
      work.shared_segment(shared + group_margin, own.index, segment);
  unsigned char* const reversed = reversed_segment(shared, work.arguments, own.index, segment);
  const unsigned past = address_bits(reversed) % 4;
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const loop_step here(round);
    const auto at = static_cast<int>(own.at + round * own.step) * whole::bytes;
    if (at >= segment.bytes + static_cast<int>(past)) { break; }
    const int from = segment.bytes - at - whole::bytes;
    const unsigned shift = address_bits(source + from);
    const int first = from - static_cast<int>(shift % 4);
    unsigned words[whole::words + 1];
    TILETRANSPOSE_UNROLL
    for (int w = 0; w <= whole::words; ++w) {
      const loop_step inner(w);
      words[w] = word_around(source, first + 4 * w, segment.bytes);
    }
    unsigned before = 0;  // the last word of the reversed group before this one
    if (at > 0) {
      const int last = from + whole::bytes + Element - 4;
      const unsigned last_shift = address_bits(source + last);
      const int below = last - static_cast<int>(last_shift % 4);
      before = funnel_shift(word_around(source, below, segment.bytes),
                            word_around(source, below + 4, segment.bytes), 8 * last_shift);
    }
    TILETRANSPOSE_UNROLL
    for (int w = 0; w < whole::words; ++w) {
      words[w] = funnel_shift(words[w], words[w + 1], 8 * shift);
    }
    unsigned char* const to = reversed - past + at;
    TILETRANSPOSE_UNROLL
    for (int w = 0; w < whole::words; ++w) {
      const unsigned word = pick_word(words, [w](int i) { return whole::source(4 * w + i); });
      store_shared(to + 4 * w, past == 0 ? word : funnel_shift(before, word, 32 - 8 * past));
      before = word;
    }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
