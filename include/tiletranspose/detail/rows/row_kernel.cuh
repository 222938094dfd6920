// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernel that moves rows which stay rows: they are copied, reversed, or trade places in place.
///
/// A block takes *segments* of rows and writes them by accesses of 16 bytes that start on the output's lines, wherever
/// the input's lines are. There are three ways to what such an access writes:
///
/// *together*: the 16 bytes lie together in the input, because rows are copied or their elements have 1, 2, 4, 8 or 16
/// bytes. The segment is copied to shared memory as it lies in the input, two accesses to it are shifted together, and their
/// elements are reversed in registers.
///
///     segment of the input    ..[0 1 2 3 4 5 6 7 8 9]......     elements of 1 byte, words of 4
///     word 1 of the output           reversed(2 3 4 5) = 5 4 3 2
///     segment of the output   .....[9 8 7 6 5 4 3 2 1 0]...
///
/// *grouped*: the segment is copied to shared memory; a thread reads the fewest elements that are whole words, reverses them
/// by a pattern that the compiler knows, and writes them to a second segment, whose bytes lie together.
///
///     3 words of the input      a b c d|e f g h|i j k l     elements of 3 bytes, a letter for each byte
///     reversed by their thread  j k l g|h i d e|f a b c
///
/// *by words or by accesses*: rows are short, elements are large, or the kernel does not know their size. Words or accesses
/// are put together from the segment in shared memory.
///
/// What lies at the ends of a segment outside of whole accesses is moved by bytes, so that no byte outside of a row is
/// written. In place, a block takes a segment and the one it trades places with; it reads both before it writes either,
/// and no other block writes them.

#pragma once

#include <tiletranspose/banks.cuh>
#include <tiletranspose/detail/choose/choose_rows.cuh>
#include <tiletranspose/detail/rows/row_segments.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A word with its elements of 1 or 2 bytes reversed, as it is where they have more.
template <int Element>
TILETRANSPOSE_FUNCTION unsigned reverse_word(unsigned word) {
  return Element == 1 || Element == 2 ? pick_bytes(word, 0, Element == 1 ? 0x0123 : 0x1032) : word;
}

/// 16 bytes with their elements of `Element` bytes reversed; as they are where that is 0 or 16.
template <int Element>
TILETRANSPOSE_FUNCTION word16 reverse_elements(const word16& value) {
  if constexpr (Element == 0 || Element == 16) {
    return value;
  } else if constexpr (Element == 8) {
    return {value.z, value.w, value.x, value.y};
  } else {
    return {reverse_word<Element>(value.w), reverse_word<Element>(value.z),
            reverse_word<Element>(value.y), reverse_word<Element>(value.x)};
  }
}

/// Reads a shared segment in the order that the output wants. 16 bytes on either side of it are readable. Accesses that
/// lie together belong to rows that are not joined, of elements of `Element` bytes where they are reversed.
template <row_order Order, int Element>
class row_reader {
 public:
  TILETRANSPOSE_FUNCTION row_reader(const unsigned char* shared, const row_work& work,
                                    const row_segment& segment)
      : arguments_(work.arguments),
        shared_(shared),
        rotation_(work.rank / 8),
        row_bytes_(joins() ? static_cast<int>(arguments_.joined_bytes.divisor) : segment.bytes) {}

  /// Byte `at` of the output's segment.
  TILETRANSPOSE_FUNCTION unsigned char byte(int at) const {
    if constexpr (Order != row_order::forward) {
      const place from = find(at);
      at = from.element + from.past;
    }
    return load_shared<unsigned char>(shared_ + at);
  }

  /// The access that starts `start` bytes into the output's segment, all of which exists.
  TILETRANSPOSE_FUNCTION word16 access(int start) const {
    if constexpr (lie_together(Order)) {
      const int first = Order == row_order::reversed ? row_bytes_ - 16 - start : start;
      return reverse_elements<Element>(read<16>(first));
    } else if constexpr (Order == row_order::accesses) {
      return assemble<16>(start);
    } else {
      // Consecutive quarters of a warp read different words of their accesses at a time, so that the 32
      // words of a request lie in 32 banks.
      unsigned rotated[4];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        rotated[i] = word(start + static_cast<int>((i + rotation_) % 4 * 4));
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
  int row_bytes_;  // of a row, or the segment of one that is in shared memory

  /// Where a byte of the output comes from.
  struct place {
    int row;      // where its row starts
    int element;  // where its element starts in the input
    int past;     // bytes of the element before it
  };

  TILETRANSPOSE_FUNCTION bool joins() const {
    return !lie_together(Order) && arguments_.joined_rows > 1;
  }
  TILETRANSPOSE_FUNCTION int element_bytes() const {
    return static_cast<int>(arguments_.element_bytes);
  }
  /// Where the row of a byte starts in the segment.
  TILETRANSPOSE_FUNCTION int row_start(int at) const {
    return joins() ? static_cast<int>(arguments_.joined_bytes.quotient(static_cast<unsigned>(at))) *
                         row_bytes_
                   : 0;
  }
  TILETRANSPOSE_FUNCTION place find(int at) const {
    const int row = row_start(at);
    const auto index =
        static_cast<int>(arguments_.element.quotient(static_cast<unsigned>(at - row)));
    return {row, row + row_bytes_ - (index + 1) * element_bytes(),
            at - row - index * element_bytes()};
  }

  /// 4 or 16 shared bytes that start anywhere, up to as many before the segment.
  template <int Bytes>
  TILETRANSPOSE_FUNCTION access_word_t<Bytes> read(int at) const {
    const unsigned char* const address = shared_ + at;
    const unsigned past = address_bits(address) % Bytes;
    return shift_together<Bytes>(load_shared<access_word_t<Bytes>>(address - past),
                                 load_shared<access_word_t<Bytes>>(address - past + Bytes), past);
  }

  /// 4 or 16 bytes of the output's segment from byte `at` on, which all exist, put together from the elements that they
  /// belong to. 16 only of elements of 8 bytes and more.
  template <int Bytes>
  TILETRANSPOSE_FUNCTION access_word_t<Bytes> assemble(int at) const {
    constexpr int most = Bytes == 16 ? 2 : 3;  // elements that may begin behind the first byte
    const place from = find(at);
    int row = from.row;
    int first = from.element;
    auto value = read<Bytes>(first + from.past);
    int left = element_bytes() - from.past;  // bytes before the next element
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < most; ++i, left += element_bytes()) {
      const loop_step here(i);
      if (left >= Bytes) { break; }
      // The next element of the output lies before this one, or at the end of the next row.
      if (first == row) {
        row += row_bytes_;
        first = row + row_bytes_;
      }
      first -= element_bytes();
      value = merge_bytes<Bytes>(value, read<Bytes>(first - left), left);
    }
    return value;
  }

  /// Bytes at .. at + 3 of the output's segment, which all exist.
  TILETRANSPOSE_FUNCTION unsigned word(int at) const {
    if constexpr (Order == row_order::words) {
      return load_shared<unsigned>(shared_ + find(at).element);
    } else if constexpr (Order == row_order::elements) {
      return assemble<4>(at);
    } else {
      // From the last byte of a row down; a word that reaches over the row's end goes on at the end of the
      // next.
      const int end = row_start(at) + row_bytes_;
      const int left = end - at;
      const unsigned value = reversed_word(end - row_bytes_ + left - 4);
      return left >= 4 ? value
                       : merge_bytes<4>(value, reversed_word(end + row_bytes_ - 4 + left), left);
    }
  }

  /// Four shared bytes, their elements of 1 or 2 bytes reversed.
  TILETRANSPOSE_FUNCTION unsigned reversed_word(int at) const {
    return pick_bytes(read<4>(at), 0, element_bytes() == 1 ? 0x0123 : 0x1032);
  }
};

/// Writes the segments out of shared memory, where byte 0 of one is at place(segment, index).
template <row_order Order, int Element, class Place>
TILETRANSPOSE_FUNCTION void write_segments(const row_work& work, Place place) {
  const thread_segment own = work.own();
  const row_segment& segment = own.segment;
  const row_reader<Order, Element> reader(place(segment, own.index), work, segment);
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < shared_rounds(Order); ++round) {
    const loop_step here(round);
    const int start = own.start(segment.to, round);
    if (lies_inside(start, segment.bytes)) {
      store_global(segment.to + start, reader.access(start));
    }
  }
  move_ends(work, &row_segment::to, [&](const row_segment& of, unsigned index, int start, int at) {
    if (!lies_inside(start, of.bytes) && at >= 0 && at < of.bytes) {
      const row_reader<Order, Element> bytes(place(of, index), work, of);
      store_global(of.to + at, bytes.byte(at));
    }
  });
}

/// Bytes of shared memory before the first segment of groups, and more of a reversed segment than of a copied one: a
/// thread whose group begins in a segment, or in the 16 bytes behind it, which are read with its last ones, reads and writes
/// all of the group, which lies before the copied segment then, or behind the reversed one.
inline constexpr unsigned group_margin = 128;

/// The fewest elements that are whole words. Where these are odd in number, threads that each take a group's next word
/// do not conflict; elements of 24, 40 and 56 bytes take two ways: tests/constexpr.
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
};

/// Bytes of shared memory for the segments of groups.
TILETRANSPOSE_HOST_DEVICE constexpr unsigned grouped_bytes(unsigned segments,
                                                           unsigned segment_pitch) {
  return group_margin + 16 + segments * (2 * segment_pitch + group_margin);
}

/// Byte 0 of a reversed segment.
TILETRANSPOSE_FUNCTION unsigned char* reversed_segment(unsigned char* shared,
                                                       const row_arguments& arguments,
                                                       unsigned index) {
  return shared + group_margin + 16 + arguments.read_segments() * arguments.segment_pitch +
         index * (arguments.segment_pitch + group_margin);
}

/// The word that starts `at` bytes into a shared segment. The GPU reads what lies around the segment, too, though it is
/// not used; the CPU, which would see that nobody wrote it, does not.
TILETRANSPOSE_FUNCTION unsigned word_around(const unsigned char* source, int at, int bytes) {
#if !TILETRANSPOSE_ON_DEVICE
  if (at <= -4 || at >= bytes) { return 0; }
#endif
  (void)bytes;
  return load_shared<unsigned>(source + at);
}

/// Reads shared segments group by group and leaves them reversed, each at `reversed_segment`.
/// Barriers: group.sync() before this call and after it.
template <int Element>
TILETRANSPOSE_FUNCTION void reverse_groups(unsigned char* shared, const row_work& work) {
  using whole = word_group<Element>;
  constexpr int rounds = (row_rounds * 16 + whole::bytes - 1) / whole::bytes;
  const thread_segment own = work.own();
  const int bytes = own.segment.bytes;
  if (bytes == 0) { return; }
  const unsigned char* const source =
      shared_segment(shared + group_margin, work.arguments, own.index, own.segment);
  unsigned char* const reversed = reversed_segment(shared, work.arguments, own.index);
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const loop_step here(round);
    const auto at = static_cast<int>(own.at + round * own.step) * whole::bytes;
    if (at >= bytes + 16) { break; }
    const int from = bytes - at - whole::bytes;
    const unsigned shift = address_bits(source + from);
    const int first = from - static_cast<int>(shift % 4);
    unsigned words[whole::words + 1];
    TILETRANSPOSE_UNROLL
    for (int w = 0; w <= whole::words; ++w) {
      const loop_step inner(w);
      words[w] = word_around(source, first + 4 * w, bytes);
    }
    TILETRANSPOSE_UNROLL
    for (int w = 0; w < whole::words; ++w) {
      words[w] = funnel_shift(words[w], words[w + 1], 8 * shift);
    }
    TILETRANSPOSE_UNROLL
    for (int w = 0; w < whole::words; ++w) {
      const loop_step inner(w);
      const unsigned word = gather_word([&](int k) { return words[k]; },
                                        [&](int i) { return whole::source(4 * w + i); });
      store_shared(reversed + at + 4 * w, word);
    }
  }
}

/// The kernel's body. `Element` is the size of an element where the kernel is made for it, else 0.
/// Shared memory, aligned to 16: grouped_bytes for groups; else 16 bytes, and `segment_pitch` bytes per segment.
/// Barriers: at most two, inside.
/// Precondition: the group has `threads` threads.
template <row_order Order, int Element, class Group>
TILETRANSPOSE_FUNCTION void move_rows(Group group, unsigned char* shared,
                                      const row_arguments& arguments, unsigned block) {
  const row_work work = find_work(arguments, block, group.thread_rank());
  constexpr bool groups = Order == row_order::grouped;
  stage_segments<shared_rounds(Order)>(shared + (groups ? group_margin : 0), work);
  group.sync();
  if constexpr (groups) {
    reverse_groups<Element>(shared, work);
    group.sync();
    write_segments<row_order::forward, 0>(work, [&](const row_segment&, unsigned index) {
      return reversed_segment(shared, arguments, index);
    });
  } else {
    write_segments<Order, Element>(work, [&](const row_segment& segment, unsigned index) {
      return shared_segment(shared, arguments, index, segment);
    });
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
