// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Rows that are copied to shared memory as they lie in the input, and read there in the order of the output.

#pragma once

#include <tiletranspose/detail/choose/choose_rows.cuh>
#include <tiletranspose/detail/rows/row_segments.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The 16 bytes that start `start` bytes into the source of a segment, at a multiple of 16, where all of them may
/// be read. The GPU reads them at once; the CPU, which would see that other blocks write those outside
/// of the segment, reads only what belongs to it.
TILETRANSPOSE_FUNCTION word16 load_around(const row_segment& segment, int start) {
  if (!TILETRANSPOSE_ON_DEVICE && !lies_inside(start, segment.bytes)) {
    const int first = larger(0, -start);
    const int end = larger(first, smaller(16, segment.bytes - start));
    return load_global_part<word16>(segment.from + start, first, end);
  }
  return load_global<word16>(segment.from + start);
}

/// The same to shared memory where not all of them may be read: those of the segment. All loads come first.
TILETRANSPOSE_FUNCTION void stage_inside(unsigned char* shared, const row_segment& segment,
                                         int start) {
  unsigned char bytes[16];
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < 16; ++i) {
    const loop_step here(i);
    const bool wanted = start + i >= 0 && start + i < segment.bytes;
    bytes[i] = wanted ? load_global<unsigned char>(segment.from + start + i) : 0;
  }
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < 16; ++i) {
    const loop_step here(i);
    store_shared(shared + i, bytes[i]);
  }
}

/// Stages the segments of a block, `Rounds` accesses a thread. The caller owes group.sync() before they are read.
template <int Rounds>
TILETRANSPOSE_FUNCTION void stage_segments(unsigned char* shared, const row_work& work) {
  const thread_segment own = work.own();
  const row_segment& segment = own.segment;
  if (segment.bytes == 0) { return; }
  unsigned char* const to = work.shared_segment(shared, own.index, segment);
  // Not all of its bytes may be read, but some are the segment's.
  const auto is_partial = [&](int start) {
    return !segment.can_read(start) && start > -16 && start < segment.bytes;
  };
  word16 loaded[Rounds];
  bool missing = false;
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < Rounds; ++round) {
    const loop_step here(round);
    const int start = own.start(segment.from, round);
    loaded[round] = {0, 0, 0, 0};
    if (segment.can_read(start)) { loaded[round] = load_around(segment, start); }
    missing = missing || is_partial(start);
  }
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < Rounds; ++round) {
    const loop_step here(round);
    store_shared(to + own.start(segment.from, round), loaded[round]);
  }
  // Accesses are read that start up to 15 bytes before a segment or end up to 15 bytes behind it.
  if (own.at == 0) {
    const int first = own.start(segment.from, 0);
    if (own.index == 0) { store_shared(to + first - 16, word16{0, 0, 0, 0}); }
    store_shared(to + first + static_cast<int>(Rounds * own.step) * 16, word16{0, 0, 0, 0});
  }
  if (missing) {
    TILETRANSPOSE_UNROLL_BY(1)
    for (int round = 0; round < Rounds; ++round) {
      const loop_step here(round);
      const int start = own.start(segment.from, round);
      if (is_partial(start)) { stage_inside(to + start, segment, start); }
    }
  }
}

/// Reads a shared segment in the order that the output wants. `Element` is the size of an element where the kernel
/// knows it, else 0; it knows none of joined rows. 16 bytes on either side of the segment are readable.
template <row_order Order, int Element>
class row_reader {
 public:
  TILETRANSPOSE_FUNCTION row_reader(unsigned char* shared, const row_work& work,
                                    const row_segment& segment, unsigned index)
      : arguments_(work.arguments),
        shared_(work.shared_segment(shared, index, segment)),
        rotation_(work.rank / 8),
        row_bytes_(joins() ? arguments_.joined_bytes.divisor
                           : static_cast<unsigned>(segment.bytes)) {}

  /// Byte `at` of the output's segment.
  TILETRANSPOSE_FUNCTION unsigned char byte(unsigned at) const {
    if constexpr (Order != row_order::forward) {
      const place from = find(at);
      at = from.element + from.past;
    }
    return load_shared<unsigned char>(shared_ + at);
  }

  /// The access that starts `start` bytes into the output's segment, all of which exists.
  TILETRANSPOSE_FUNCTION word16 access(int start) const {
    if constexpr (lie_together(Order)) {
      // Where elements start inside of accesses, it is put together of those before and behind the start.
      constexpr int together = Order == row_order::vectors ? 16 : larger(Element, 1);
      const int past = start % together;
      if (past == 0) { return elements(start); }
      return shift_together<16>(elements(start - past), elements(start - past + 16),
                                static_cast<unsigned>(past));
    } else if constexpr (Order == row_order::accesses) {
      return large_elements(static_cast<unsigned>(start));
    } else {
      // Consecutive quarters of a warp read different words of their accesses at a time, so that the 32
      // words of a request lie in 32 banks.
      unsigned rotated[4];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        rotated[i] = word(static_cast<unsigned>(start) + (i + rotation_) % 4 * 4);
      }
      unsigned words[4];
      rotate_back(rotated, rotation_, words);
      return {words[0], words[1], words[2], words[3]};
    }
  }

 private:
  const row_arguments& arguments_;
  const unsigned char* shared_;  // byte 0 of the segment
  unsigned rotation_;
  unsigned row_bytes_;  // of a row, or the segment of one that is in shared memory

  /// Where a byte of the output comes from.
  struct place {
    unsigned row;      // where its row starts
    unsigned element;  // where its element starts in the input
    unsigned past;     // bytes of the element before it
  };

  TILETRANSPOSE_FUNCTION bool joins() const {
    return Element == 0 && !lie_together(Order) && arguments_.joined_rows > 1;
  }
  TILETRANSPOSE_FUNCTION unsigned element_bytes() const {
    return Element > 0 ? Element : arguments_.element_bytes;
  }
  /// Where the row of a byte starts in the segment.
  TILETRANSPOSE_FUNCTION unsigned row_start(unsigned at) const {
    return joins() ? arguments_.joined_bytes.quotient(at) * row_bytes_ : 0;
  }
  TILETRANSPOSE_FUNCTION place find(unsigned at) const {
    const unsigned row = row_start(at);
    const unsigned index =
        Element > 0 ? (at - row) / larger(Element, 1) : arguments_.element.quotient(at - row);
    return {row, row + row_bytes_ - (index + 1) * element_bytes(),
            at - row - index * element_bytes()};
  }

  /// 16 bytes that lie together in the input, from an element's start on.
  TILETRANSPOSE_FUNCTION word16 elements(int start) const {
    int first = start;
    if constexpr (Order == row_order::reversed) {
      first = static_cast<int>(row_bytes_) - 16 - start;
    } else if constexpr (Order == row_order::vectors) {
      const place from = find(static_cast<unsigned>(start));
      first = static_cast<int>(from.element + from.past);
    }
    const unsigned char* const from = shared_ + first;
    const unsigned shift = address_bits(from) % 16;
    const auto low = load_shared<word16>(from - shift);
    const auto high = load_shared<word16>(from - shift + 16);
    return reverse_elements<Element>(shift_together<16>(low, high, shift));
  }

  /// Bytes at .. at + 15 of the output's segment, of elements of 8 bytes and more.
  TILETRANSPOSE_FUNCTION word16 large_elements(unsigned at) const {
    constexpr int least = Element > 0 ? Element : 8;
    constexpr int most = (14 + least) / least;  // elements that may begin inside an access
    const place from = find(at);
    const auto element = static_cast<int>(element_bytes());
    const auto row = static_cast<int>(from.row);
    const auto past = static_cast<int>(from.past);
    auto first = static_cast<int>(from.element);
    word16 value = access_at(first + past);
    // Where an element ends after `left` bytes, the next one in the output lies before it, or at the end of the next row.
    int left = element - past;
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < most; ++i, left += element) {
      const loop_step here(i);
      if (left >= 16) { break; }
      first = Element == 0 && first == row ? row + 2 * static_cast<int>(row_bytes_) - element
                                           : first - element;
      const word16 next = access_at(first - left);
      value = {merge_words(value.x, next.x, 8 * left), merge_words(value.y, next.y, 8 * left - 32),
               merge_words(value.z, next.z, 8 * left - 64),
               merge_words(value.w, next.w, 8 * left - 96)};
    }
    return value;
  }

  /// Bytes at .. at + 3 of the output's segment, which all exist.
  TILETRANSPOSE_FUNCTION unsigned word(unsigned at) const {
    if constexpr (Order == row_order::any) {
      return byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 |
             static_cast<unsigned>(byte(at + 3)) << 24;
    } else if constexpr (Order == row_order::words) {
      const place from = find(at);
      return load_shared<unsigned>(shared_ + from.element + from.past);
    } else if constexpr (Order == row_order::elements) {
      const place from = find(at);
      const unsigned next = from.element == from.row ? from.row + 2 * row_bytes_ : from.element;
      return joined(static_cast<int>(from.element + from.past), element_bytes() - from.past,
                    static_cast<int>(next - element_bytes()));
    } else {
      // From the last byte of a row down; a word that reaches over the row's end goes on at the end of the next.
      const unsigned row = row_start(at);
      const unsigned left = row + row_bytes_ - at;
      return joined(static_cast<int>(row + left) - 4, left,
                    static_cast<int>(row + 2 * row_bytes_) - 4);
    }
  }

  /// The word at `first` and, from its byte `left` on, the one at `next`.
  TILETRANSPOSE_FUNCTION unsigned joined(int first, unsigned left, int next) const {
    unsigned value = word_at(first);
    if (left < 4) { value = (value & ((1u << 8 * left) - 1)) | word_at(next) << 8 * left; }
    return value;
  }

  /// Four shared bytes that start anywhere, up to 4 before the segment; elements of 1 and 2 bytes are reversed.
  TILETRANSPOSE_FUNCTION unsigned word_at(int at) const {
    const unsigned char* const address = shared_ + at;
    const unsigned past = address_bits(address) % 4;
    unsigned word = load_shared<unsigned>(address - past);
    if (past != 0) {
      word = funnel_shift(word, load_shared<unsigned>(address - past + 4), 8 * past);
    }
    constexpr int reversed = Order == row_order::bytes ? 1 : Order == row_order::halves ? 2 : 4;
    return reverse_word<reversed>(word);
  }

  /// 16 shared bytes that start anywhere, up to 15 before the segment.
  TILETRANSPOSE_FUNCTION word16 access_at(int at) const {
    const unsigned char* const address = shared_ + at;
    const unsigned past = address_bits(address) % 16;
    return shift_together<16>(load_shared<word16>(address - past),
                              load_shared<word16>(address - past + (past == 0 ? 0 : 16)), past);
  }
};

/// Writes the segments out of shared memory.
template <row_order Order, int Element>
TILETRANSPOSE_FUNCTION void write_segments(unsigned char* shared, const row_work& work) {
  const auto reader = [&](const row_segment& segment, unsigned index) {
    return row_reader<Order, Element>(shared, work, segment, index);
  };
  const thread_segment own = work.own();
  const auto of_thread = reader(own.segment, own.index);
  write_accesses<shared_rounds(Order)>(
      work, own, [&](int start) { return of_thread.access(start); },
      [&](const row_segment& segment, unsigned index, int at) {
        return reader(segment, index).byte(static_cast<unsigned>(at));
      });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
