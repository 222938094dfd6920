// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Rows that are staged, and then reversed in shared memory group by group.

#pragma once

#include <tiletranspose/banks.cuh>
#include <tiletranspose/detail/rows/group_reversal.cuh>
#include <tiletranspose/detail/rows/row_staged.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Bytes of shared memory before the first staged span of groups, and more of a reversed span than of a staged one: a
/// thread whose group begins in a span, or in the word that its last bytes share, reads and writes all of the group,
/// which lies before the staged span then, or behind the reversed one.
inline constexpr unsigned group_margin = 128;

/// The fewest elements that are whole words, an odd number of them: threads that each take a group's next word meet in
/// no bank. Elements of a multiple of 8 bytes have no such group.
template <int Element>
struct word_group {
  static constexpr int bytes = Element * 4 / smaller(access_width(Element), 4);
  static constexpr int words = bytes / 4;
  static_assert(words % 2 != 0 && Element >= 3, "");
  static_assert(bytes < static_cast<int>(group_margin), "a group must not reach the next span");
  /// The byte of the group that becomes byte `at` of the reversed group.
  TILETRANSPOSE_HOST_DEVICE static constexpr int source(int at) {
    return (bytes / Element - 1 - at / Element) * Element + at % Element;
  }
  struct group_lanes {
    TILETRANSPOSE_HOST_DEVICE constexpr long long operator()(int lane) const {
      return lane * bytes;
    }
  };
  static_assert(request_ways(group_lanes{}, 4) == 1, "a shipped group must not conflict");
};

/// Bytes of shared memory for the spans of groups.
TILETRANSPOSE_HOST_DEVICE constexpr unsigned grouped_bytes(unsigned spans, unsigned span_pitch) {
  return group_margin + 16 + spans * (2 * span_pitch + group_margin) + 16;
}

/// Byte 0 of a reversed span; accesses of the output are accesses of it.
TILETRANSPOSE_FUNCTION unsigned char* reversed_span(unsigned char* shared,
                                                    const row_arguments& arguments, unsigned index,
                                                    const row_span& span) {
  const unsigned spans = arguments.block_spans * (arguments.swaps ? 2 : 1);
  return shared + group_margin + 16 + spans * arguments.span_pitch +
         index * (arguments.span_pitch + group_margin) + address_bits(span.to) % 16;
}

/// The word that starts `at` bytes into a staged span. The GPU reads what lies around the span, too, though it is not
/// used; the CPU, which would see that nobody wrote it, does not.
TILETRANSPOSE_FUNCTION unsigned word_around(const unsigned char* staged, int at, int bytes) {
#if !TILETRANSPOSE_ON_DEVICE
  if (at <= -4 || at >= bytes) { return 0; }
#endif
  (void)bytes;
  return load_shared<unsigned>(staged + at);
}

/// Reads staged spans group by group and leaves them reversed, each at `reversed_span`. Words of the output that begin
/// in one group and end in the next are written by the latter's thread.
/// Barriers: group.sync() before this call and after it.
template <int Element>
TILETRANSPOSE_FUNCTION void turn_groups(unsigned char* shared, const row_arguments& arguments,
                                        const row_work& work, unsigned rank) {
  using whole = word_group<Element>;
  constexpr int rounds = (row_rounds * 16 + whole::bytes - 1) / whole::bytes;
  const row_share share = find_share(arguments, work, rank);
  const row_span& span = share.span;
  if (span.bytes == 0) { return; }
  const unsigned char* const staged =
      staged_span(shared + group_margin, arguments, share.index, span);
  unsigned char* const reversed = reversed_span(shared, arguments, share.index, span);
  const unsigned past = address_bits(reversed) % 4;
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const loop_step here(round);
    const auto at = static_cast<int>(share.at + round * share.step) * whole::bytes;
    if (at >= span.bytes + static_cast<int>(past)) { break; }
    const int from = span.bytes - at - whole::bytes;
    const unsigned shift = address_bits(staged + from);
    const int first = from - static_cast<int>(shift % 4);
    unsigned words[whole::words + 1];
    TILETRANSPOSE_UNROLL
    for (int w = 0; w <= whole::words; ++w) {
      const loop_step part(w);
      words[w] = word_around(staged, first + 4 * w, span.bytes);
    }
    unsigned before = 0;  // the last word of the reversed group before this one
    if (at > 0) {
      const int last = from + whole::bytes + Element - 4;
      const unsigned last_shift = address_bits(staged + last);
      const int below = last - static_cast<int>(last_shift % 4);
      before = funnel_shift(word_around(staged, below, span.bytes),
                            word_around(staged, below + 4, span.bytes), 8 * last_shift);
    }
    TILETRANSPOSE_UNROLL
    for (int w = 0; w < whole::words; ++w) {
      words[w] = funnel_shift(words[w], words[w + 1], 8 * shift);
    }
    unsigned group[whole::words];
    TILETRANSPOSE_UNROLL
    for (int w = 0; w < whole::words; ++w) { group[w] = words[w]; }
    unsigned char* const to = reversed - past + at;
    reverse_words<whole>(group, [&](int w, unsigned word) {
      const loop_step part(w);
      store_shared(to + 4 * w, past == 0 ? word : funnel_shift(before, word, 32 - 8 * past));
      before = word;
    });
  }
}

/// Writes the reversed spans.
TILETRANSPOSE_FUNCTION void write_groups(unsigned char* shared, const row_arguments& arguments,
                                         const row_work& work, unsigned rank) {
  const row_share share = find_share(arguments, work, rank);
  const unsigned char* const reversed = reversed_span(shared, arguments, share.index, share.span);
  store_slots<row_rounds>(arguments, share,
                          [&](int start) { return load_shared<word16>(reversed + start); });
  for_each_end(arguments, work, rank, 1, [&](unsigned index, const row_span& span, int at) {
    store_global(span.to + at,
                 load_shared<unsigned char>(reversed_span(shared, arguments, index, span) + at));
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
