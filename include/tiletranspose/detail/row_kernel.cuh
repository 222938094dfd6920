// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernel that moves rows which stay rows: copied, reversed, or traded with others in place.
///
/// A block takes *spans*, pieces of rows. It stages the bytes of each in shared memory as they lie in the
/// input, by accesses of 16 bytes that start where the input's lines do, and after one barrier writes them
/// by accesses of 16 bytes that start where the output's lines do. The words of those are assembled from shared
/// memory in the order that the output wants, wherever they start there: that is where a row is reversed and
/// where two alignments meet. What does not fill an access of 16 bytes is moved by bytes, and no byte
/// outside of a span is touched.
///
///     span of the input    ..[0 1 2 3 4 5 6 7 8 9]......     elements of 1 byte
///     shared memory          [0 1 2 3 4 5 6 7 8 9]
///     word 1 of the output           reversed(bytes 2 3 4 5) = 5 4 3 2
///     span of the output   .....[9 8 7 6 5 4 3 2 1 0]...
///
/// In place, a block takes a span and the one it trades places with; both are staged before either is
/// written, and no other block touches them.

#pragma once

#include <tiletranspose/detail/divide.cuh>
#include <tiletranspose/detail/memory.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// How the words of the output are found in a staged span.
enum class row_order {
  forward,   ///< where they are
  words,     ///< elements reversed; elements and addresses are multiples of 4 bytes
  elements,  ///< elements reversed, of 3 bytes or more: a word holds bytes of one or two of them
  halves,    ///< elements of 2 bytes reversed, at even addresses
  bytes,     ///< elements of 1 byte reversed, rows of at least 3
  any        ///< byte by byte
};

inline constexpr int row_threads = 256;
/// Accesses of 16 bytes that a thread stages, all under way together, and then writes.
inline constexpr int row_rounds = 4;
inline constexpr unsigned row_slots = row_threads * row_rounds;

/// What a launch does; pitches may be negative. Where rows are joined, a span holds `joined_rows` whole rows
/// that lie one behind the other.
struct row_arguments {
  const void* in;
  void* out;
  size_type
      in_batch_bytes;  ///< from one matrix to the next; with pointer arrays, from where a pointer
  size_type out_batch_bytes;  ///< points to the first row
  size_type in_pitch;         ///< bytes from row to row
  size_type out_pitch;
  size_type rows;     ///< of a matrix that are the output of spans
  size_type length;   ///< elements of a row
  size_type covered;  ///< elements of a row that spans start in; the others trade places with them
  size_type span_elements;  ///< elements of a row that a span takes
  unsigned element_bytes;
  unsigned joined_rows;
  unsigned block_spans;  ///< spans of a block, of consecutive rows
  unsigned line_mask;    ///< accesses start at multiples of this + 1 bytes
  unsigned span_pitch;   ///< bytes of shared memory for a span
  bool pointer_arrays;
  bool reverses;          ///< each row is taken from its last element to its first
  bool swaps;             ///< input and output are one; a span trades places with its source
  divider matrix_blocks;  ///< blocks of a matrix
  divider row_blocks;     ///< blocks of a row, or 1
  divider span_slots;     ///< accesses of 16 bytes that a span may need
  divider row_bytes;      ///< bytes of a joined row
  divider element;        ///< element_bytes
};

/// A piece of a row, or several whole rows.
struct row_span {
  unsigned char* to;
  const unsigned char* from;
  unsigned bytes;
};

/// The bases of the matrix that a block works on, and its place there.
struct row_place {
  const unsigned char* in;
  unsigned char* out;
  size_type row;
  size_type element;
};

TILETRANSPOSE_FUNCTION row_place place_rows(const row_arguments& arguments, unsigned block) {
  const unsigned matrix = arguments.matrix_blocks.quotient(block);
  const unsigned in_matrix = arguments.matrix_blocks.remainder(block, matrix);
  const unsigned row_block = arguments.row_blocks.quotient(in_matrix);
  const unsigned in_row = arguments.row_blocks.remainder(in_matrix, row_block);
  const auto* in = static_cast<const unsigned char*>(arguments.in);
  auto* out = static_cast<unsigned char*>(arguments.out);
  if (arguments.pointer_arrays) {
    in = static_cast<const unsigned char* const*>(arguments.in)[matrix] + arguments.in_batch_bytes;
    out = static_cast<unsigned char* const*>(arguments.out)[matrix] + arguments.out_batch_bytes;
  } else {
    in += matrix * arguments.in_batch_bytes;
    out += matrix * arguments.out_batch_bytes;
  }
  return {in, out, size_type{row_block} * arguments.block_spans * arguments.joined_rows,
          in_row * arguments.span_elements};
}

/// Span `index` of a block; its bytes are 0 where the matrix has no such rows. In place, every second span
/// is its predecessor the other way round.
TILETRANSPOSE_FUNCTION row_span find_span(const row_arguments& arguments, const row_place& place,
                                          unsigned index) {
  const unsigned step = arguments.swaps ? index / 2 : index;
  const size_type row = place.row + size_type{step} * arguments.joined_rows;
  if (step >= arguments.block_spans || row >= arguments.rows) { return {place.out, place.in, 0}; }
  const size_type left = arguments.covered - place.element;
  const size_type count = smaller(left, arguments.span_elements);
  const size_type rows = smaller<size_type>(arguments.rows - row, arguments.joined_rows);
  const size_type first =
      arguments.reverses ? arguments.length - place.element - count : place.element;
  const size_type element = arguments.element_bytes;
  unsigned char* const to = place.out + (row * arguments.out_pitch + place.element * element);
  const unsigned char* const from = place.in + (row * arguments.in_pitch + first * element);
  const auto bytes = static_cast<unsigned>(rows * count * element);
  if (arguments.swaps && index % 2 == 1) {
    return {place.out + (from - place.out), place.in + (to - place.in), bytes};
  }
  return {to, from, bytes};
}

/// Reads a staged span in the order that the output wants.
template <row_order Order>
class row_reader {
 public:
  /// \param shared  byte 0 of the span; 16 bytes on either side of the span are readable
  TILETRANSPOSE_FUNCTION row_reader(const row_arguments& arguments, const unsigned char* shared,
                                    unsigned bytes)
      : arguments_(arguments),
        shared_(shared),
        row_bytes_(arguments.joined_rows > 1 ? arguments.row_bytes.divisor : bytes) {}

  /// Byte `at` of the output's span.
  TILETRANSPOSE_FUNCTION unsigned char byte(unsigned at) const {
    if constexpr (Order == row_order::forward) {
      return load_shared<unsigned char>(shared_ + at);
    } else {
      const unsigned row = row_start(at);
      const unsigned element = arguments_.element.quotient(at - row);
      const unsigned part = arguments_.element.remainder(at - row, element);
      return load_shared<unsigned char>(
          shared_ + (row + row_bytes_ - (element + 1) * arguments_.element_bytes + part));
    }
  }

  /// Bytes at .. at + 3 of the output's span, which all exist.
  TILETRANSPOSE_FUNCTION unsigned word(unsigned at) const {
    if constexpr (Order == row_order::forward) {
      return bytes_at(static_cast<int>(at));
    } else if constexpr (Order == row_order::any) {
      return byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 |
             static_cast<unsigned>(byte(at + 3)) << 24;
    } else if constexpr (Order == row_order::bytes || Order == row_order::halves) {
      // From the last byte of a row down; a word that reaches over the row's end goes on at the end of the
      // next.
      const unsigned row = row_start(at);
      const unsigned left = row + row_bytes_ - at;
      unsigned value = turned(bytes_at(static_cast<int>(row + left) - 4));
      if (left < 4) {
        const unsigned next = turned(bytes_at(static_cast<int>(row + 2 * row_bytes_) - 4));
        value = (value & ((1u << 8 * left) - 1)) | next << 8 * left;
      }
      return value;
    } else {
      const unsigned row = row_start(at);
      const unsigned element_bytes = arguments_.element_bytes;
      const unsigned element = arguments_.element.quotient(at - row);
      const unsigned part = arguments_.element.remainder(at - row, element);
      const unsigned from = row + row_bytes_ - (element + 1) * element_bytes;
      if constexpr (Order == row_order::words) {
        return load_shared<unsigned>(shared_ + from + part);
      } else {
        unsigned value = bytes_at(static_cast<int>(from + part));
        const unsigned left = element_bytes - part;
        if (left < 4) {
          const unsigned next = from == row ? row + 2 * row_bytes_ : from;
          value = (value & ((1u << 8 * left) - 1)) |
                  bytes_at(static_cast<int>(next - element_bytes)) << 8 * left;
        }
        return value;
      }
    }
  }

 private:
  const row_arguments& arguments_;
  const unsigned char* shared_;
  unsigned row_bytes_;  // of a row, or the part of one that is staged

  /// Where the row of a byte starts in the span.
  TILETRANSPOSE_FUNCTION unsigned row_start(unsigned at) const {
    return arguments_.joined_rows > 1 ? arguments_.row_bytes.quotient(at) * row_bytes_ : 0;
  }

  /// Four staged bytes that start anywhere, up to 4 before the span.
  TILETRANSPOSE_FUNCTION unsigned bytes_at(int at) const {
    const unsigned char* const address = shared_ + at;
    const unsigned past = address_bits(address) % 4;
    const unsigned low = load_shared<unsigned>(address - past);
    return past == 0 ? low : funnel_shift(low, load_shared<unsigned>(address - past + 4), 8 * past);
  }

  TILETRANSPOSE_FUNCTION static unsigned turned(unsigned word) {
    return pick_bytes(word, 0, Order == row_order::bytes ? 0x0123 : 0x1032);
  }
};

/// Where an access of a span starts, counted from the span's first byte.
TILETRANSPOSE_FUNCTION int slot_start(const row_arguments& arguments, const void* first,
                                      unsigned slot) {
  return static_cast<int>(slot * 16) - static_cast<int>(address_bits(first) & arguments.line_mask);
}

/// What of an access of 16 bytes lies in a span of `bytes`: all, some or nothing.
enum class slot_part { nothing, some, all };
TILETRANSPOSE_FUNCTION slot_part part_of_slot(int start, unsigned bytes) {
  if (start >= 0 && start + 16 <= static_cast<int>(bytes)) { return slot_part::all; }
  return start > -16 && start < static_cast<int>(bytes) ? slot_part::some : slot_part::nothing;
}

/// The bytes of a span that an access of 16 touches; the others are 0.
TILETRANSPOSE_FUNCTION word16 load_part(const unsigned char* from, int start, unsigned bytes) {
  unsigned words[4] = {};
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < 16; ++i) {
    const int at = start + i;
    if (at >= 0 && at < static_cast<int>(bytes)) {
      words[i / 4] |= static_cast<unsigned>(load_global<unsigned char>(from + at)) << i % 4 * 8;
    }
  }
  return {words[0], words[1], words[2], words[3]};
}

/// Four words of which words[i] is number (i + turn) % 4, in order.
TILETRANSPOSE_FUNCTION word16 turn_back(const unsigned (&words)[4], unsigned turn) {
  unsigned half[4];
  unsigned result[4];
  TILETRANSPOSE_UNROLL
  for (unsigned i = 0; i < 4; ++i) { half[i] = turn % 2 == 0 ? words[i] : words[(i + 3) % 4]; }
  TILETRANSPOSE_UNROLL
  for (unsigned i = 0; i < 4; ++i) { result[i] = turn / 2 % 2 == 0 ? half[i] : half[(i + 2) % 4]; }
  return {result[0], result[1], result[2], result[3]};
}

/// One access of a thread: which span it belongs to and where it starts there. A block of one span finds
/// it once.
struct row_slot {
  row_span span;
  unsigned index;
  unsigned at;
};
TILETRANSPOSE_FUNCTION row_slot find_slot(const row_arguments& arguments, const row_place& place,
                                          const row_span& only, unsigned slot) {
  if (arguments.span_slots.divisor == row_slots) { return {only, 0, slot}; }
  const unsigned index = arguments.span_slots.quotient(slot);
  return {find_span(arguments, place, index), index, arguments.span_slots.remainder(slot, index)};
}

/// Stages the spans of a block. The caller owes group.sync() before they are read.
template <class Group>
TILETRANSPOSE_FUNCTION void stage_spans(Group group, unsigned char* shared,
                                        const row_arguments& arguments, const row_place& place) {
  const unsigned rank = group.thread_rank();
  const row_span only = find_span(arguments, place, 0);
  word16 staged[row_rounds];
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < row_rounds; ++round) {
    const row_slot slot = find_slot(arguments, place, only, rank + round * row_threads);
    const int start = slot_start(arguments, slot.span.from, slot.at);
    const slot_part part = part_of_slot(start, slot.span.bytes);
    staged[round] = {0, 0, 0, 0};
    if (part == slot_part::all) {
      staged[round] = load_global<word16>(slot.span.from + start);
    } else if (part == slot_part::some) {
      staged[round] = load_part(slot.span.from, start, slot.span.bytes);
    }
  }
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < row_rounds; ++round) {
    const row_slot slot = find_slot(arguments, place, only, rank + round * row_threads);
    if (slot.span.bytes != 0) {
      unsigned char* const to = shared + slot.index * arguments.span_pitch + 16 + slot.at * 16;
      store_shared(to, staged[round]);
      // Words are read that start up to 4 bytes before a span or end up to 3 bytes behind it.
      if (slot.index == 0 && slot.at == 0) { store_shared(to - 16, word16{0, 0, 0, 0}); }
      if (slot.at == arguments.span_slots.divisor - 1) {
        store_shared(to + 16, word16{0, 0, 0, 0});
      }
    }
  }
}

/// Writes the staged spans.
template <row_order Order, class Group>
TILETRANSPOSE_FUNCTION void write_spans(Group group, const unsigned char* shared,
                                        const row_arguments& arguments, const row_place& place) {
  const unsigned rank = group.thread_rank();
  const row_span only = find_span(arguments, place, 0);
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < row_rounds; ++round) {
    const row_slot slot = find_slot(arguments, place, only, rank + round * row_threads);
    const row_span& span = slot.span;
    const int start = slot_start(arguments, span.to, slot.at);
    const row_reader<Order> reader(arguments,
                                   shared + slot.index * arguments.span_pitch + 16 +
                                       (address_bits(span.from) & arguments.line_mask),
                                   span.bytes);
    const slot_part part = part_of_slot(start, span.bytes);
    if (part == slot_part::all) {
      // Consecutive quarters of a warp read different words of their accesses at a time, so that the 32
      // words of a request lie in 32 banks.
      const unsigned turn = rank / 8;
      unsigned words[4];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        words[i] = reader.word(static_cast<unsigned>(start) + (i + turn) % 4 * 4);
      }
      store_global(span.to + start, turn_back(words, turn));
    } else if (part == slot_part::some) {
      TILETRANSPOSE_UNROLL
      for (int i = 0; i < 16; ++i) {
        const int at = start + i;
        if (at >= 0 && at < static_cast<int>(span.bytes)) {
          store_global(span.to + at, reader.byte(static_cast<unsigned>(at)));
        }
      }
    }
  }
}

/// The kernel's body.
/// Shared memory: 16 bytes and `span_pitch` bytes per span, aligned to 16. Barriers: one, inside.
/// Precondition: the group has row_threads threads.
template <row_order Order, class Group>
TILETRANSPOSE_FUNCTION void move_rows(Group group, unsigned char* shared,
                                      const row_arguments& arguments, unsigned block) {
  const row_place place = place_rows(arguments, block);
  stage_spans(group, shared, arguments, place);
  group.sync();
  write_spans<Order>(group, shared, arguments, place);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
