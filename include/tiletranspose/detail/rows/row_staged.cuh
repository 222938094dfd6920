// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Rows that are copied to shared memory as they lie in the input, and read there in the order of the output.

#pragma once

#include <tiletranspose/detail/rows/element_reversal.cuh>
#include <tiletranspose/detail/rows/row_accesses.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Where the source of a segment is in shared memory; byte 0 of it.
TILETRANSPOSE_FUNCTION unsigned char* shared_segment(unsigned char* shared,
                                                     const row_arguments& arguments, unsigned index,
                                                     const row_segment& segment) {
  return shared + index * arguments.segment_pitch + 16 +
         (address_bits(segment.from) & arguments.line_mask);
}

/// Stages the segments of a block, `Rounds` accesses a thread. The caller owes group.sync() before they are read.
template <int Rounds>
TILETRANSPOSE_FUNCTION void stage_segments(unsigned char* shared, const row_arguments& arguments,
                                           const row_work& work, unsigned rank) {
  const thread_segment own = find_thread_segment(arguments, work, rank);
  const row_segment& segment = own.segment;
  if (segment.bytes == 0) { return; }
  const access_range whole = readable(segment);
  unsigned char* const to = shared_segment(shared, arguments, own.index, segment);
  word16 loaded[Rounds];
  bool missing = false;
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < Rounds; ++round) {
    const loop_step here(round);
    const int start = access_start(arguments, segment.from, own.at + round * own.step);
    loaded[round] = {0, 0, 0, 0};
    if (whole.holds(start)) { loaded[round] = load_around(segment, start); }
    missing = missing || (!whole.holds(start) && touches(start, segment.bytes));
  }
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < Rounds; ++round) {
    const loop_step here(round);
    const int start = access_start(arguments, segment.from, own.at + round * own.step);
    store_shared(to + start, loaded[round]);
  }
  // Accesses are read that start up to 15 bytes before a segment or end up to 15 bytes behind it.
  if (own.at == 0) {
    const int first = access_start(arguments, segment.from, 0);
    if (own.index == 0) { store_shared(to + first - 16, word16{0, 0, 0, 0}); }
    store_shared(to + first + static_cast<int>(Rounds * own.step) * 16, word16{0, 0, 0, 0});
  }
  if (missing) {
    TILETRANSPOSE_UNROLL_BY(1)
    for (int round = 0; round < Rounds; ++round) {
      const loop_step here(round);
      const int start = access_start(arguments, segment.from, own.at + round * own.step);
      if (!whole.holds(start) && touches(start, segment.bytes)) {
        stage_inside(to + start, segment, start);
      }
    }
  }
}

/// Writes the segments by accesses that find their bytes together, in two accesses of the input. Where elements start
/// inside of accesses, those before and behind the start are put together of two times as many.
template <row_order Order, int Element>
TILETRANSPOSE_FUNCTION void write_shifted(unsigned char* shared, const row_arguments& arguments,
                                          const row_work& work, unsigned rank) {
  const thread_segment own = find_thread_segment(arguments, work, rank);
  const unsigned char* const source = shared_segment(shared, arguments, own.index, own.segment);
  const auto read = [&](int start) {
    const unsigned char* const from = source + source_start<Order>(arguments, own.segment, start);
    const unsigned shift = address_bits(from) % 16;
    const auto low = load_shared<word16>(from - shift);
    const auto high = load_shared<word16>(from - shift + 16);
    return reverse_elements<Element>(shift_together<16>(low, high, shift));
  };
  constexpr int together = Order == row_order::vectors ? 16 : larger(Element, 1);
  store_accesses<row_rounds>(arguments, own, [&](int start) {
    const int past = start % together;
    if (past == 0) { return read(start); }
    return shift_together<16>(read(start - past), read(start - past + 16),
                              static_cast<unsigned>(past));
  });
  for_each_end(arguments, work, rank, [&](unsigned index, const row_segment& segment, int at) {
    store_global(segment.to + at,
                 load_shared<unsigned char>(shared_segment(shared, arguments, index, segment) +
                                            source_byte<Order>(arguments, segment, at)));
  });
}

/// Reads a shared segment in the order that the output wants. `Element` is the size of an element where the kernel
/// knows it, else 0; it knows none of joined rows.
template <row_order Order, int Element>
class row_reader {
 public:
  /// \param shared  byte 0 of the segment; 16 bytes on either side of the segment are readable
  TILETRANSPOSE_FUNCTION row_reader(const row_arguments& arguments, const unsigned char* shared,
                                    unsigned bytes)
      : arguments_(arguments),
        shared_(shared),
        row_bytes_(arguments.joined_rows > 1 ? arguments.joined_bytes.divisor : bytes) {}

  /// Byte `at` of the output's segment.
  TILETRANSPOSE_FUNCTION unsigned char byte(unsigned at) const {
    const unsigned row = row_start(at);
    const unsigned element = element_of(at - row);
    const unsigned in_element = at - row - element * element_bytes();
    return load_shared<unsigned char>(
        shared_ + (row + row_bytes_ - (element + 1) * element_bytes() + in_element));
  }

  /// Bytes at .. at + 3 of the output's segment, which all exist.
  TILETRANSPOSE_FUNCTION unsigned word(unsigned at) const {
    if constexpr (Order == row_order::any) {
      return byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 |
             static_cast<unsigned>(byte(at + 3)) << 24;
    } else if constexpr (Order == row_order::bytes || Order == row_order::halves) {
      // From the last byte of a row down; a word that reaches over the row's end goes on at the end of the
      // next.
      const unsigned row = row_start(at);
      const unsigned left = row + row_bytes_ - at;
      unsigned value = reversed(bytes_at(static_cast<int>(row + left) - 4));
      if (left < 4) {
        const unsigned next = reversed(bytes_at(static_cast<int>(row + 2 * row_bytes_) - 4));
        value = (value & ((1u << 8 * left) - 1)) | next << 8 * left;
      }
      return value;
    } else {
      const unsigned row = row_start(at);
      const unsigned element = element_of(at - row);
      const unsigned in_element = at - row - element * element_bytes();
      const unsigned from = row + row_bytes_ - (element + 1) * element_bytes();
      if constexpr (Order == row_order::words) {
        return load_shared<unsigned>(shared_ + from + in_element);
      } else {
        unsigned value = bytes_at(static_cast<int>(from + in_element));
        const unsigned left = element_bytes() - in_element;
        if (left < 4) {
          const unsigned next = from == row ? row + 2 * row_bytes_ : from;
          value = (value & ((1u << 8 * left) - 1)) |
                  bytes_at(static_cast<int>(next - element_bytes())) << 8 * left;
        }
        return value;
      }
    }
  }

  /// Bytes at .. at + 15 of the output's segment, which all exist.
  TILETRANSPOSE_FUNCTION word16 access(unsigned at) const {
    constexpr int least = Element > 0 ? Element : 8;
    constexpr int most = (14 + least) / least;  // elements that may begin inside an access
    const int row = static_cast<int>(row_start(at));
    const auto element = static_cast<int>(element_bytes());
    const auto in_row = static_cast<int>(at) - row;
    const auto index = static_cast<int>(element_of(static_cast<unsigned>(in_row)));
    const int in_element = in_row - index * element;
    int first = row + static_cast<int>(row_bytes_) - (index + 1) * element;  // of the element
    word16 value = access_at(first + in_element);
    // Where an element ends after `left` bytes, the next one in the output lies before it, or at the end of
    // the next row.
    int left = element - in_element;
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < most; ++i, left += element) {
      const loop_step here(i);
      if (left >= 16) { break; }
      first = Element == 0 && first == row ? row + 2 * static_cast<int>(row_bytes_) - element
                                           : first - element;
      value = merged(value, access_at(first - left), left);
    }
    return value;
  }

 private:
  const row_arguments& arguments_;
  const unsigned char* shared_;
  unsigned row_bytes_;  // of a row, or the segment of one that is in shared memory

  TILETRANSPOSE_FUNCTION unsigned element_bytes() const {
    return Element > 0 ? Element : arguments_.element_bytes;
  }
  /// The element of a row that a byte belongs to.
  TILETRANSPOSE_FUNCTION unsigned element_of(unsigned at) const {
    if constexpr (Element > 0) {
      return at / Element;
    } else {
      return arguments_.element.quotient(at);
    }
  }
  /// Where the row of a byte starts in the segment.
  TILETRANSPOSE_FUNCTION unsigned row_start(unsigned at) const {
    return Element == 0 && arguments_.joined_rows > 1
               ? arguments_.joined_bytes.quotient(at) * row_bytes_
               : 0;
  }

  /// Four shared bytes that start anywhere, up to 4 before the segment.
  TILETRANSPOSE_FUNCTION unsigned bytes_at(int at) const {
    const unsigned char* const address = shared_ + at;
    const unsigned past = address_bits(address) % 4;
    const unsigned low = load_shared<unsigned>(address - past);
    return past == 0 ? low : funnel_shift(low, load_shared<unsigned>(address - past + 4), 8 * past);
  }

  /// 16 shared bytes that start anywhere, up to 15 before the segment.
  TILETRANSPOSE_FUNCTION word16 access_at(int at) const {
    const unsigned char* const address = shared_ + at;
    const unsigned past = address_bits(address) % 16;
    return shift_together<16>(load_shared<word16>(address - past),
                              load_shared<word16>(address - past + (past == 0 ? 0 : 16)), past);
  }
  /// The first `left` bytes of `before`, 1 to 15, and the others of `after`.
  TILETRANSPOSE_FUNCTION static word16 merged(const word16& before, const word16& after, int left) {
    return {merge_words(before.x, after.x, 8 * left), merge_words(before.y, after.y, 8 * left - 32),
            merge_words(before.z, after.z, 8 * left - 64),
            merge_words(before.w, after.w, 8 * left - 96)};
  }

  TILETRANSPOSE_FUNCTION static unsigned reversed(unsigned word) {
    return pick_bytes(word, 0, Order == row_order::bytes ? 0x0123 : 0x1032);
  }
};

/// Writes the segments out of shared memory.
template <row_order Order, int Element>
TILETRANSPOSE_FUNCTION void write_segments(unsigned char* shared, const row_arguments& arguments,
                                           const row_work& work, unsigned rank) {
  const thread_segment own = find_thread_segment(arguments, work, rank);
  const auto read = [&](unsigned index, const row_segment& segment) {
    return row_reader<Order, Element>(arguments, shared_segment(shared, arguments, index, segment),
                                      static_cast<unsigned>(segment.bytes));
  };
  const auto reader = read(own.index, own.segment);
  store_accesses<shared_rounds(Order)>(arguments, own, [&](int start) {
    if constexpr (Order == row_order::accesses) {
      return reader.access(static_cast<unsigned>(start));
    } else {
      // Consecutive quarters of a warp read different words of their accesses at a time, so that the 32
      // words of a request lie in 32 banks.
      const unsigned rotation = rank / 8;
      unsigned rotated[4];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        rotated[i] = reader.word(static_cast<unsigned>(start) + (i + rotation) % 4 * 4);
      }
      unsigned words[4];
      rotate_back(rotated, rotation, words);
      return word16{words[0], words[1], words[2], words[3]};
    }
  });
  for_each_end(arguments, work, rank, [&](unsigned index, const row_segment& segment, int at) {
    store_global(segment.to + at, read(index, segment).byte(static_cast<unsigned>(at)));
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
