// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernel that moves rows which stay rows: copied, reversed, or traded with others in place.
///
/// A block takes *spans*, pieces of rows, and writes them by accesses of 16 bytes that start where the output's
/// lines do, wherever the input's lie. There are three ways to what such an access writes:
///
/// *direct*: the 16 bytes lie together in the input, as where rows are copied or their elements are 1, 2, 4, 8
/// or 16 bytes. Where they are an access of the input, too, a turn in registers is all; else the span is
/// staged in shared memory as it lies in the input, and two accesses to that are shifted together.
///
///     span of the input    ..[0 1 2 3 4 5 6 7 8 9]......     elements of 1 byte, words of 4
///     word 1 of the output           turned(2 3 4 5) = 5 4 3 2
///     span of the output   .....[9 8 7 6 5 4 3 2 1 0]...
///
/// *gathered*: a thread reads the fewest elements that are whole accesses, reverses them in registers by a pattern
/// that the compiler knows, and leaves them in shared memory where the reversed span has them. From there
/// accesses are shifted together.
///
///     3 accesses of the input   a b c d|e f g h|i j k l     elements of 12 bytes, a letter for each word
///     reversed by their thread  j k l g|h i d e|f a b c
///
/// *grouped*: the same where the group is too large to be read so. The span is staged; a thread reads the fewest
/// elements that are whole words, reverses them, and leaves them where accesses of the output are accesses of shared
/// memory.
///
/// *staged*: rows are short, elements large, or the kernel does not know their size. Words are assembled from the
/// staged span.
///
/// What lies at the ends of a span outside of whole accesses is moved by bytes: no byte outside of a row is
/// written. In place, a block takes a span and the one it trades places with; both are read before either
/// is written, and no other block writes them.

#pragma once

#include <tiletranspose/banks.cuh>
#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/memory.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// How the output is found in the input.
enum class row_order {
  forward,   ///< direct: where it is
  turn_1,    ///< direct: elements of 1 byte reversed
  turn_2,    ///< direct: of 2 bytes
  turn_4,    ///< direct: of 4
  turn_8,    ///< direct: of 8
  turn_16,   ///< direct: of 16
  vectors,   ///< direct: of a multiple of 16 bytes, at multiples of 16
  words,     ///< staged: elements of 4 bytes at multiples of 4
  elements,  ///< staged: elements of 3 to 7 bytes; a word holds bytes of one or two of them
  halves,    ///< staged: elements of 2 bytes at even addresses
  bytes,     ///< staged: elements of 1 byte, rows of at least 3
  any,       ///< staged: byte by byte
  pieces,    ///< staged: elements of 8 bytes or more; an access holds bytes of up to three of them
  known_pieces,  ///< staged: the same, of a size that the kernel knows
  grouped,       ///< grouped: elements of a size that the kernel knows
  gathered       ///< gathered: likewise
};

TILETRANSPOSE_HOST_DEVICE constexpr bool is_direct(row_order order) {
  return order <= row_order::vectors;
}

/// True where the words of an access are found one by one in a staged span: joined rows, and elements that no kernel
/// knows.
TILETRANSPOSE_HOST_DEVICE constexpr bool takes_words(row_order order) {
  return order >= row_order::words && order <= row_order::any;
}

/// The most threads of a block; it has no more than its spans need. H200, 2026-11-22, % of cudaMemcpyAsync with 128,
/// 256 and 512: floats reversed in place 98, 100, 96; rows of 1000 floats flipped 83, 98, 98, of 8191 bytes 88, 98, 85.
inline constexpr int row_block_threads = 256;
/// Accesses of 16 bytes that a thread has under way together where rows are staged. H200, 2026-11-22, % of
/// cudaMemcpyAsync with 2, 4 and 8: bytes flipped in rows of 8191 85, 98, 87, of 1000 90, 95, 79.
inline constexpr int row_rounds = 4;
/// The same where words of joined rows are assembled one by one. H200, 2026-11-22, with 4, 6 and 8: rows of 24, 100 and
/// 250 bytes flipped, 1 byte 85, 95, 97, 85, 94, 99, 79, 88, 96; 3 bytes 64, 69, 72, 61, 68, 69, 61, 65, 69; floats 87,
/// 96, 97, 88, 97, 99, 89, 98, 98. Pieces of large elements do with 4: 12 bytes 93, with 8 85.
inline constexpr int word_rounds = 8;
/// The same where they are moved directly: floats reversed in place 100 with 2, 96 with 4; rows of 100 flipped 97, 95.
inline constexpr int direct_rounds = 2;
TILETRANSPOSE_HOST_DEVICE constexpr int staged_rounds(row_order order) {
  return takes_words(order) ? word_rounds : row_rounds;
}
inline constexpr unsigned row_slots = row_block_threads * row_rounds;

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
  size_type rows;  ///< of a matrix that are the output of spans
  size_type row_bytes;
  size_type covered_bytes;  ///< of a row that spans start in; the others trade places with them
  size_type extent;   ///< bytes that may be read around a row: its own, or those of a dense matrix
  size_type in_rise;  ///< bytes of a dense matrix before the row that the first span comes from
  unsigned threads;   ///< of a block
  unsigned element_bytes;
  unsigned span_bytes;   ///< of a row that a span takes
  unsigned lead_bytes;   ///< by which a row's first span is shorter; the next starts on a line
  unsigned joined_rows;  ///< of a span; 1 where a block has several spans
  unsigned block_spans;  ///< spans of a block, of consecutive rows
  unsigned line_mask;    ///< accesses start at multiples of this + 1 bytes
  unsigned span_pitch;   ///< bytes of shared memory for a span
  unsigned group_pitch;  ///< or for the groups that hold it
  bool leads;            ///< each row has a lead of its own; elements are a power of two of bytes
  bool pointer_arrays;
  bool reverses;  ///< each row is taken from its last element to its first
  bool swaps;     ///< input and output are one; a span trades places with its source
  bool shifted;   ///< accesses of the output are no accesses of the input
  bool dense;     ///< the rows of the input follow each other without a gap, in either direction
  divider matrix_blocks;  ///< blocks of a matrix
  divider row_blocks;     ///< blocks of a row, or 1
  divider span_threads;   ///< threads that share a span
  divider joined_bytes;   ///< bytes of a joined row
  divider element;        ///< element_bytes
};

/// Bytes on either side of a span that may be read, too.
struct row_margin {
  int before;
  int after;
};

/// A piece of a row, or several whole rows; `around` is what lies around the source.
struct row_span {
  unsigned char* to;
  const unsigned char* from;
  int bytes;
  row_margin around;
};

/// What one block moves: `spans` spans, one row apart; in place, each followed by its reverse.
struct row_work {
  row_span first;
  row_margin around_to;  ///< what lies around the output of the first span, where that is read, too
  size_type to_step;     ///< bytes from span to span, modulo 2^64
  size_type from_step;
  unsigned spans;
  bool swaps;

  TILETRANSPOSE_FUNCTION row_span operator[](unsigned index) const {
    row_span span = first;
    const unsigned step = swaps ? index / 2 : index;
    if (step >= spans) { span.bytes = 0; }
    span.to += step * to_step;
    span.from += step * from_step;
    if (swaps && index % 2 == 1) {
      unsigned char* const to = span.to;
      span.to += span.from - to;
      span.from = to;
      span.around = around_to;
    }
    return span;
  }
};

TILETRANSPOSE_FUNCTION row_work find_work(const row_arguments& arguments, unsigned block) {
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
  const bool joins = arguments.joined_rows > 1;
  const unsigned block_rows = arguments.joined_rows * arguments.block_spans;
  const size_type row = size_type{row_block} * block_rows;
  const auto rows = static_cast<unsigned>(smaller<size_type>(arguments.rows - row, block_rows));
  const size_type to_row = row * arguments.out_pitch;
  const size_type from_row = row * arguments.in_pitch;
  out += to_row;
  in += from_row;

  // Bytes [begin, end) of each row.
  size_type begin = 0;
  size_type end = arguments.covered_bytes;
  if (arguments.row_blocks.divisor > 1) {
    unsigned lead = arguments.lead_bytes;
    if (arguments.leads) {
      lead = address_bits(out) % 128;
      if ((lead & (arguments.element_bytes - 1)) != 0) { lead = 0; }
    }
    const size_type here = size_type{in_row} * arguments.span_bytes - lead;
    if (in_row > 0) { begin = smaller(end, here); }
    if (in_row + 1 < arguments.row_blocks.divisor) {
      end = smaller(end, here + arguments.span_bytes);
    }
  }
  const size_type source = arguments.reverses ? arguments.row_bytes - end : begin;
  const unsigned bytes = static_cast<unsigned>(end - begin) * (joins ? rows : 1);
  const unsigned spans = joins ? 1 : rows;

  // What lies around the sources may be read. In place other blocks may be writing it; what is read of it is
  // not used.
  size_type before = source;
  size_type before_to = begin;
  size_type behind = bytes;
  if (arguments.dense) {
    before += from_row + arguments.in_rise;
    before_to += to_row;
    const size_type others = (spans - 1) * arguments.row_bytes;
    behind += others;
    if (static_cast<long long>(arguments.in_pitch) < 0) { before -= others; }
  }
  const auto margin = [&](size_type bytes_before) -> row_margin {
    constexpr size_type most = 256;
    return {static_cast<int>(smaller(bytes_before, most)),
            static_cast<int>(smaller(arguments.extent - bytes_before - behind, most))};
  };
  return {{out + begin, in + source, static_cast<int>(bytes), margin(before)},
          margin(before_to),
          arguments.out_pitch,
          arguments.in_pitch,
          spans,
          arguments.swaps};
}

/// What a thread moves of a block's work: of one span, access `at` and those that follow it in steps of
/// `step` accesses.
struct row_share {
  row_span span;
  unsigned index;
  unsigned at;
  unsigned step;
};

TILETRANSPOSE_FUNCTION row_share find_share(const row_arguments& arguments, const row_work& work,
                                            unsigned rank) {
  const unsigned index = arguments.span_threads.quotient(rank);
  return {work[index], index, arguments.span_threads.remainder(rank, index),
          arguments.span_threads.divisor};
}

/// Where an access of a span starts, counted from the span's first byte.
TILETRANSPOSE_FUNCTION int slot_start(const row_arguments& arguments, const void* first,
                                      unsigned slot) {
  return static_cast<int>(slot * 16) - static_cast<int>(address_bits(first) & arguments.line_mask);
}

/// Where an access of 16 bytes may start: `count` places, from `first` on.
struct slot_range {
  int first;
  unsigned count;

  TILETRANSPOSE_FUNCTION bool holds(int start) const {
    return static_cast<unsigned>(start - first) < count;
  }
};

/// Accesses that lie in the first `bytes` bytes.
TILETRANSPOSE_FUNCTION slot_range inside(int bytes) {
  return {0, static_cast<unsigned>(larger(bytes - 15, 0))};
}

/// Accesses to a span's source all of which may be read.
TILETRANSPOSE_FUNCTION slot_range readable(const row_span& span) {
  const int bytes = span.bytes + span.around.before + span.around.after;
  return {-span.around.before, span.bytes == 0 ? 0 : inside(bytes).count};
}

/// True where an access and a span of `bytes` have a byte in common.
TILETRANSPOSE_FUNCTION bool touches(int start, int bytes) { return start > -16 && start < bytes; }

/// The 16 bytes that start `start` bytes into the source of a span, at a multiple of 16, where all of them may
/// be read. The GPU reads them at once; the CPU, which would see that other blocks write those outside
/// of the span, reads only what belongs to it, unless it is asked for what must not be read.
TILETRANSPOSE_FUNCTION word16 load_around(const row_span& span, int start) {
#if !TILETRANSPOSE_ON_DEVICE
  if (!inside(span.bytes).holds(start) && readable(span).holds(start)) {
    unsigned char bytes[16] = {};
    for (int i = larger(0, -start); i < smaller(16, span.bytes - start); ++i) {
      bytes[i] = load_global<unsigned char>(span.from + start + i);
    }
    return load<word16>(bytes);
  }
#endif
  return load_global<word16>(span.from + start);
}

/// The same to shared memory where not all of them may be read: those of the span. All loads come first.
TILETRANSPOSE_FUNCTION void stage_part(unsigned char* shared, const row_span& span, int start) {
  unsigned char bytes[16];
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < 16; ++i) {
    const loop_step here(i);
    const bool wanted = start + i >= 0 && start + i < span.bytes;
    bytes[i] = wanted ? load_global<unsigned char>(span.from + start + i) : 0;
  }
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < 16; ++i) {
    const loop_step here(i);
    store_shared(shared + i, bytes[i]);
  }
}

/// Calls visit(index, span, at) for every byte `at` of the spans that lies in no whole access of 16 bytes, where
/// accesses are counted from multiples of 16 in the output, one thread for each: they are few, so that a
/// block waits less for them than for one thread that moves several.
/// \param step  1, or 2 for the first spans of pairs alone
template <class Visit>
TILETRANSPOSE_FUNCTION void for_each_end(const row_arguments& arguments, const row_work& work,
                                         unsigned rank, unsigned step, Visit visit) {
  const unsigned spans = arguments.block_spans * (arguments.swaps ? 2 : 1);
  for (unsigned end = rank; end < spans / step * 32; end += arguments.threads) {
    const loop_step here(end / arguments.threads);
    const unsigned index = end / 32 * step;
    const row_span span = work[index];
    const int head = smaller<int>(-address_bits(span.to) % 16, span.bytes);
    const int tail = smaller<int>((address_bits(span.to) + static_cast<unsigned>(span.bytes)) % 16,
                                  span.bytes - head);
    const auto lane = static_cast<int>(end % 32);
    const int at = lane < 16 ? lane : span.bytes - tail + lane - 16;
    if (lane < 16 ? lane < head : lane - 16 < tail) { visit(index, span, at); }
  }
}

/// Writes the whole accesses of a thread; value(start) is what the one that starts `start` bytes into its span
/// writes.
template <int Rounds, class Value>
TILETRANSPOSE_FUNCTION void store_slots(const row_arguments& arguments, const row_share& share,
                                        Value value) {
  const slot_range whole = inside(share.span.bytes);
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < Rounds; ++round) {
    const loop_step here(round);
    const int start = slot_start(arguments, share.span.to, share.at + round * share.step);
    if (whole.holds(start)) { store_global(share.span.to + start, value(start)); }
  }
}

/// 16 bytes with the order of their elements reversed.
template <row_order Order>
TILETRANSPOSE_FUNCTION word16 turn_slot(const word16& value) {
  if constexpr (Order == row_order::turn_1 || Order == row_order::turn_2) {
    constexpr unsigned selector = Order == row_order::turn_1 ? 0x0123 : 0x1032;
    return {pick_bytes(value.w, 0, selector), pick_bytes(value.z, 0, selector),
            pick_bytes(value.y, 0, selector), pick_bytes(value.x, 0, selector)};
  } else if constexpr (Order == row_order::turn_4) {
    return {value.w, value.z, value.y, value.x};
  } else if constexpr (Order == row_order::turn_8) {
    return {value.z, value.w, value.x, value.y};
  } else {
    return value;
  }
}

/// The byte of a span's source that becomes byte `at` of the span.
template <row_order Order>
TILETRANSPOSE_FUNCTION int source_byte(const row_arguments& arguments, const row_span& span,
                                       int at) {
  if constexpr (Order == row_order::forward) {
    return at;
  } else {
    const auto byte = static_cast<unsigned>(at);
    const unsigned element = arguments.element.quotient(byte);
    return span.bytes - static_cast<int>((element + 1) * arguments.element_bytes) +
           static_cast<int>(arguments.element.remainder(byte, element));
  }
}

/// Where the source of the access that starts `start` bytes into a span starts, counted from the span's source.
template <row_order Order>
TILETRANSPOSE_FUNCTION int source_start(const row_arguments& arguments, const row_span& span,
                                        int start) {
  if constexpr (Order == row_order::forward || Order == row_order::vectors) {
    return source_byte<Order>(arguments, span, start);
  } else {
    return span.bytes - 16 - start;
  }
}

/// Moves spans whose accesses are accesses of the input.
template <row_order Order>
TILETRANSPOSE_FUNCTION void move_direct(const row_arguments& arguments, const row_work& work,
                                        unsigned rank) {
  const row_share share = find_share(arguments, work, rank);
  const row_span& span = share.span;
  const slot_range whole = inside(span.bytes);
  word16 loaded[direct_rounds];
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < direct_rounds; ++round) {
    const loop_step here(round);
    const int start = slot_start(arguments, span.to, share.at + round * share.step);
    loaded[round] = {0, 0, 0, 0};
    if (whole.holds(start)) {
      loaded[round] = load_global<word16>(span.from + source_start<Order>(arguments, span, start));
    }
  }
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < direct_rounds; ++round) {
    const loop_step here(round);
    const int start = slot_start(arguments, span.to, share.at + round * share.step);
    if (whole.holds(start)) { store_global(span.to + start, turn_slot<Order>(loaded[round])); }
  }
  for_each_end(arguments, work, rank, 1, [&](unsigned, const row_span& at_end, int at) {
    store_global(at_end.to + at, load_global<unsigned char>(
                                     at_end.from + source_byte<Order>(arguments, at_end, at)));
  });
}

/// The same in place: a thread takes an access and the one that it trades places with, so that nobody waits.
template <row_order Order>
TILETRANSPOSE_FUNCTION void trade_direct(const row_arguments& arguments, const row_work& work,
                                         unsigned rank) {
  constexpr int rounds = direct_rounds / 2;
  const unsigned step = 2 * arguments.span_threads.divisor;
  const unsigned pair = arguments.span_threads.quotient(rank) / 2;
  const unsigned first = rank - pair * step;
  const row_span span = work[2 * pair];
  unsigned char* const other = span.to + (span.from - span.to);
  const slot_range whole = inside(span.bytes);
  word16 ours[rounds];
  word16 theirs[rounds];
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const loop_step here(round);
    const int start = slot_start(arguments, span.to, first + round * step);
    ours[round] = theirs[round] = {0, 0, 0, 0};
    if (whole.holds(start)) {
      theirs[round] = load_global<word16>(other + source_start<Order>(arguments, span, start));
      ours[round] = load_global<word16>(span.to + start);
    }
  }
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const loop_step here(round);
    const int start = slot_start(arguments, span.to, first + round * step);
    if (whole.holds(start)) {
      store_global(span.to + start, turn_slot<Order>(theirs[round]));
      store_global(other + source_start<Order>(arguments, span, start),
                   turn_slot<Order>(ours[round]));
    }
  }
  for_each_end(arguments, work, rank, 2, [&](unsigned, const row_span& at_end, int at) {
    unsigned char* const our_byte = at_end.to + at;
    unsigned char* const their_byte =
        at_end.to + (at_end.from - at_end.to) + source_byte<Order>(arguments, at_end, at);
    const auto ours_then = load_global<unsigned char>(our_byte);
    store_global(our_byte, load_global<unsigned char>(their_byte));
    store_global(their_byte, ours_then);
  });
}

/// Reads a staged span in the order that the output wants. `Element` is the size of an element where the kernel
/// knows it, else 0; it knows none of joined rows.
template <row_order Order, int Element>
class row_reader {
 public:
  /// \param shared  byte 0 of the span; 16 bytes on either side of the span are readable
  TILETRANSPOSE_FUNCTION row_reader(const row_arguments& arguments, const unsigned char* shared,
                                    unsigned bytes)
      : arguments_(arguments),
        shared_(shared),
        row_bytes_(arguments.joined_rows > 1 ? arguments.joined_bytes.divisor : bytes) {}

  /// Byte `at` of the output's span.
  TILETRANSPOSE_FUNCTION unsigned char byte(unsigned at) const {
    const unsigned row = row_start(at);
    const unsigned element = element_of(at - row);
    const unsigned part = at - row - element * element_bytes();
    return load_shared<unsigned char>(shared_ +
                                      (row + row_bytes_ - (element + 1) * element_bytes() + part));
  }

  /// Bytes at .. at + 3 of the output's span, which all exist.
  TILETRANSPOSE_FUNCTION unsigned word(unsigned at) const {
    if constexpr (Order == row_order::any) {
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
      const unsigned element = element_of(at - row);
      const unsigned part = at - row - element * element_bytes();
      const unsigned from = row + row_bytes_ - (element + 1) * element_bytes();
      if constexpr (Order == row_order::words) {
        return load_shared<unsigned>(shared_ + from + part);
      } else {
        unsigned value = bytes_at(static_cast<int>(from + part));
        const unsigned left = element_bytes() - part;
        if (left < 4) {
          const unsigned next = from == row ? row + 2 * row_bytes_ : from;
          value = (value & ((1u << 8 * left) - 1)) |
                  bytes_at(static_cast<int>(next - element_bytes())) << 8 * left;
        }
        return value;
      }
    }
  }

  /// Bytes at .. at + 15 of the output's span, which all exist.
  TILETRANSPOSE_FUNCTION word16 pieces(unsigned at) const {
    constexpr int least = Element > 0 ? Element : 8;
    constexpr int most = (14 + least) / least;  // elements that may begin inside an access
    const int row = static_cast<int>(row_start(at));
    const auto element = static_cast<int>(element_bytes());
    const auto in_row = static_cast<int>(at) - row;
    const auto index = static_cast<int>(element_of(static_cast<unsigned>(in_row)));
    const int part = in_row - index * element;
    int first = row + static_cast<int>(row_bytes_) - (index + 1) * element;  // of the element
    word16 value = slot_at(first + part);
    // Where an element ends after `left` bytes, the next one in the output lies before it, or at the end of
    // the next row.
    int left = element - part;
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < most; ++i, left += element) {
      const loop_step here(i);
      if (left >= 16) { break; }
      first = Element == 0 && first == row ? row + 2 * static_cast<int>(row_bytes_) - element
                                           : first - element;
      value = spliced(value, slot_at(first - left), left);
    }
    return value;
  }

 private:
  const row_arguments& arguments_;
  const unsigned char* shared_;
  unsigned row_bytes_;  // of a row, or the part of one that is staged

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
  /// Where the row of a byte starts in the span.
  TILETRANSPOSE_FUNCTION unsigned row_start(unsigned at) const {
    return Element == 0 && arguments_.joined_rows > 1
               ? arguments_.joined_bytes.quotient(at) * row_bytes_
               : 0;
  }

  /// Four staged bytes that start anywhere, up to 4 before the span.
  TILETRANSPOSE_FUNCTION unsigned bytes_at(int at) const {
    const unsigned char* const address = shared_ + at;
    const unsigned past = address_bits(address) % 4;
    const unsigned low = load_shared<unsigned>(address - past);
    return past == 0 ? low : funnel_shift(low, load_shared<unsigned>(address - past + 4), 8 * past);
  }

  /// 16 staged bytes that start anywhere, up to 15 before the span.
  TILETRANSPOSE_FUNCTION word16 slot_at(int at) const {
    const unsigned char* const address = shared_ + at;
    const unsigned past = address_bits(address) % 16;
    return shift_together<16>(load_shared<word16>(address - past),
                              load_shared<word16>(address - past + (past == 0 ? 0 : 16)), past);
  }
  /// The first `left` bytes of `before`, 1 to 15, and the others of `after`.
  TILETRANSPOSE_FUNCTION static word16 spliced(const word16& before, const word16& after,
                                               int left) {
    return {splice_word(before.x, after.x, 8 * left), splice_word(before.y, after.y, 8 * left - 32),
            splice_word(before.z, after.z, 8 * left - 64),
            splice_word(before.w, after.w, 8 * left - 96)};
  }

  TILETRANSPOSE_FUNCTION static unsigned turned(unsigned word) {
    return pick_bytes(word, 0, Order == row_order::bytes ? 0x0123 : 0x1032);
  }
};

/// Where the source of a span is staged; byte 0 of it.
TILETRANSPOSE_FUNCTION unsigned char* staged_span(unsigned char* shared,
                                                  const row_arguments& arguments, unsigned index,
                                                  const row_span& span) {
  return shared + index * arguments.span_pitch + 16 +
         (address_bits(span.from) & arguments.line_mask);
}

/// Stages the spans of a block, `Rounds` accesses a thread. The caller owes group.sync() before they are read.
template <int Rounds>
TILETRANSPOSE_FUNCTION void stage_spans(unsigned char* shared, const row_arguments& arguments,
                                        const row_work& work, unsigned rank) {
  const row_share share = find_share(arguments, work, rank);
  const row_span& span = share.span;
  if (span.bytes == 0) { return; }
  const slot_range whole = readable(span);
  unsigned char* const to = staged_span(shared, arguments, share.index, span);
  word16 staged[Rounds];
  bool missing = false;
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < Rounds; ++round) {
    const loop_step here(round);
    const int start = slot_start(arguments, span.from, share.at + round * share.step);
    staged[round] = {0, 0, 0, 0};
    if (whole.holds(start)) { staged[round] = load_around(span, start); }
    missing = missing || (!whole.holds(start) && touches(start, span.bytes));
  }
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < Rounds; ++round) {
    const loop_step here(round);
    const int start = slot_start(arguments, span.from, share.at + round * share.step);
    store_shared(to + start, staged[round]);
  }
  // Accesses are read that start up to 15 bytes before a span or end up to 15 bytes behind it.
  if (share.at == 0) {
    const int first = slot_start(arguments, span.from, 0);
    if (share.index == 0) { store_shared(to + first - 16, word16{0, 0, 0, 0}); }
    store_shared(to + first + static_cast<int>(Rounds * share.step) * 16, word16{0, 0, 0, 0});
  }
  if (missing) {
    TILETRANSPOSE_UNROLL_BY(1)
    for (int round = 0; round < Rounds; ++round) {
      const loop_step here(round);
      const int start = slot_start(arguments, span.from, share.at + round * share.step);
      if (!whole.holds(start) && touches(start, span.bytes)) {
        stage_part(to + start, span, start);
      }
    }
  }
}

/// Writes the staged spans by accesses that find their bytes together, in two accesses of the input.
template <row_order Order>
TILETRANSPOSE_FUNCTION void write_shifted(unsigned char* shared, const row_arguments& arguments,
                                          const row_work& work, unsigned rank) {
  const row_share share = find_share(arguments, work, rank);
  const unsigned char* const staged = staged_span(shared, arguments, share.index, share.span);
  store_slots<row_rounds>(arguments, share, [&](int start) {
    const unsigned char* const from = staged + source_start<Order>(arguments, share.span, start);
    const unsigned shift = address_bits(from) % 16;
    const auto low = load_shared<word16>(from - shift);
    const auto high = load_shared<word16>(from - shift + 16);
    return turn_slot<Order>(shift_together<16>(low, high, shift));
  });
  for_each_end(arguments, work, rank, 1, [&](unsigned index, const row_span& span, int at) {
    store_global(span.to + at,
                 load_shared<unsigned char>(staged_span(shared, arguments, index, span) +
                                            source_byte<Order>(arguments, span, at)));
  });
}

/// Writes the staged spans.
template <row_order Order, int Element>
TILETRANSPOSE_FUNCTION void write_spans(unsigned char* shared, const row_arguments& arguments,
                                        const row_work& work, unsigned rank) {
  const row_share share = find_share(arguments, work, rank);
  const auto read = [&](unsigned index, const row_span& span) {
    return row_reader<Order, Element>(arguments, staged_span(shared, arguments, index, span),
                                      static_cast<unsigned>(span.bytes));
  };
  const auto reader = read(share.index, share.span);
  store_slots<staged_rounds(Order)>(arguments, share, [&](int start) {
    if constexpr (Order == row_order::pieces || Order == row_order::known_pieces) {
      return reader.pieces(static_cast<unsigned>(start));
    } else {
      // Consecutive quarters of a warp read different words of their accesses at a time, so that the 32
      // words of a request lie in 32 banks.
      const unsigned turn = rank / 8;
      unsigned turned[4];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        turned[i] = reader.word(static_cast<unsigned>(start) + (i + turn) % 4 * 4);
      }
      unsigned words[4];
      turn_back(turned, turn, words);
      return word16{words[0], words[1], words[2], words[3]};
    }
  });
  for_each_end(arguments, work, rank, 1, [&](unsigned index, const row_span& span, int at) {
    store_global(span.to + at, read(index, span).byte(static_cast<unsigned>(at)));
  });
}

/// Where threads keep bytes that each of them writes by accesses `stride` accesses away from its neighbours':
/// strides of 2 or 4 would have every second or fourth of them meet in a bank.
///
///     byte of shared memory   .. b9 b8 b7 | b6 b5 b4 | b3 b2 b1 b0      the middle is xored with the left
template <bool IsSwizzled>
TILETRANSPOSE_HOST_DEVICE constexpr unsigned place_in_groups(unsigned byte) {
  return IsSwizzled ? byte ^ (byte >> 3 & 0x70) : byte;
}

/// The fewest elements that are whole accesses; three or four accesses where fewer would do. They are an odd
/// number where the element allows it, so that threads which write a group each meet in no bank.
template <int Element>
struct access_group {
  static constexpr int aligned =
      access_width(Element);  // addresses of elements that these bytes divide
  static constexpr int least = Element / aligned;
  static constexpr int accesses = least == 1 ? 3 : least == 2 ? 4 : least;
  static constexpr int bytes = accesses * max_access_bytes;
  static constexpr int words = bytes / 4;
  static constexpr bool is_swizzled = accesses % 2 == 0;

  /// Elements by which a group must start before an element at `address` to start at a multiple of 16, or
  /// as few bytes behind one as the address is behind a multiple of `aligned`.
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned lead(unsigned address) {
    return address / aligned * inverse() % (max_access_bytes / aligned);
  }
  /// The byte of the group that becomes byte `at` of the reversed group.
  TILETRANSPOSE_HOST_DEVICE static constexpr int source(int at) {
    return (bytes / Element - 1 - at / Element) * Element + at % Element;
  }
  struct group_lanes {
    unsigned first;   ///< byte of the first lane's access
    unsigned stride;  ///< bytes from lane to lane
    TILETRANSPOSE_HOST_DEVICE constexpr long long operator()(unsigned lane) const {
      return place_in_groups<is_swizzled>(first + lane * stride);
    }
  };
  /// Conflict ways of the threads that write access after access of their groups, and of those that read accesses
  /// which follow each other, wherever the first of them lies.
  TILETRANSPOSE_HOST_DEVICE static constexpr int write_ways() {
    int worst = 0;
    for (unsigned access = 0; access < accesses; ++access) {
      worst = larger(worst, request_ways(group_lanes{16 * access, bytes}, 16));
    }
    return worst;
  }
  TILETRANSPOSE_HOST_DEVICE static constexpr int read_ways() {
    int worst = 0;
    for (unsigned first = 0; first < (is_swizzled ? 8 : 1); ++first) {
      worst = larger(worst, request_ways(group_lanes{16 * first, 16}, 16));
    }
    return worst;
  }

 private:
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned inverse() {
    unsigned result = 1;
    while (result * least % (max_access_bytes / aligned) != 1 % (max_access_bytes / aligned)) {
      ++result;
    }
    return result;
  }
};

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

/// Writes spans that lie in shared memory as the output has them, the first byte of each at
/// first_of(index, span), in accesses that start at multiples of 16.
template <int Rounds, bool IsSwizzled, class First>
TILETRANSPOSE_FUNCTION void write_reversed(const unsigned char* shared,
                                           const row_arguments& arguments, const row_work& work,
                                           unsigned rank, First first_of) {
  const row_share share = find_share(arguments, work, rank);
  const unsigned first = first_of(share.index, share.span);
  const unsigned shift = (first - (address_bits(share.span.to) & arguments.line_mask)) % 16;
  store_slots<Rounds>(arguments, share, [&](int start) {
    const unsigned low = first + static_cast<unsigned>(start) - shift;
    return shift_together<16>(
        load_shared<word16>(shared + place_in_groups<IsSwizzled>(low)),
        load_shared<word16>(shared + place_in_groups<IsSwizzled>(low + (shift == 0 ? 0 : 16))),
        shift);
  });
  for_each_end(arguments, work, rank, 1, [&](unsigned index, const row_span& span, int at) {
    const unsigned byte = first_of(index, span) + static_cast<unsigned>(at);
    store_global(span.to + at,
                 load_shared<unsigned char>(shared + place_in_groups<IsSwizzled>(byte)));
  });
}

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

/// How a span lies in the groups that are gathered for it.
template <int Element>
struct gathered_span {
  int lead;    ///< bytes of the first group that lie before the span
  int groups;  ///< that hold the span

  TILETRANSPOSE_FUNCTION explicit gathered_span(const row_span& span) {
    using whole = access_group<Element>;
    lead = static_cast<int>(whole::lead(address_bits(span.from))) * Element;
    groups = (span.bytes + lead + whole::bytes - 1) / whole::bytes;
  }
};

/// Reads the groups of the spans, one a thread, and leaves them in shared memory reversed. The caller owes
/// group.sync() before they are read.
template <int Element>
TILETRANSPOSE_FUNCTION void gather_groups(unsigned char* shared, const row_arguments& arguments,
                                          const row_work& work, unsigned rank) {
  using whole = access_group<Element>;
  static_assert(whole::write_ways() == 1, "a shipped group must not conflict");
  // Lanes that read what follows meet in no bank where accesses eight apart lie in the same ones, and lanes that each
  // write a group of four meet there: such groups, of elements of 32 and 64 bytes, take two ways to read instead of
  // four to write.
  static_assert(whole::read_ways() == (whole::is_swizzled ? 2 : 1), "");
  const row_share share = find_share(arguments, work, rank);
  const row_span& span = share.span;
  const gathered_span<Element> lies(span);
  const auto at = static_cast<int>(share.at);
  if (span.bytes == 0 || at >= lies.groups) { return; }
  const unsigned first = share.index * arguments.group_pitch +
                         static_cast<unsigned>((lies.groups - 1 - at) * whole::bytes);
  const auto to = [&](int access) {
    return shared + place_in_groups<whole::is_swizzled>(first + static_cast<unsigned>(16 * access));
  };
  const unsigned past = address_bits(span.from) % whole::aligned;
  const int start = at * whole::bytes - lies.lead - static_cast<int>(past);
  constexpr int most = whole::accesses + 1;
  const slot_range may_read = readable(span);
  word16 loaded[most];
  loaded[whole::accesses] = {0, 0, 0, 0};
  const int last = start + 16 * (past == 0 ? whole::accesses - 1 : whole::accesses);
  if (may_read.holds(start) && may_read.holds(last)) {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < whole::accesses; ++i) {
      const loop_step here(i);
      loaded[i] = load_around(span, start + 16 * i);
    }
    if (past != 0) { loaded[whole::accesses] = load_around(span, last); }
  } else {
    // By way of the place of the result: registers hold no array that is filled in a loop.
    stage_part(to(0), span, last);
    if (past != 0) { loaded[whole::accesses] = load_shared<word16>(to(0)); }
    TILETRANSPOSE_UNROLL_BY(1)
    for (int i = 0; i < whole::accesses; ++i) {
      const loop_step here(i);
      stage_part(to(i), span, start + 16 * i);
    }
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < whole::accesses; ++i) {
      const loop_step here(i);
      loaded[i] = load_shared<word16>(to(i));
    }
  }
  if (past != 0) {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < whole::accesses; ++i) {
      loaded[i] = shift_together<16>(loaded[i], loaded[i + 1], past);
    }
  }
  unsigned words[whole::words];
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < whole::accesses; ++i) {
    words[4 * i] = loaded[i].x;
    words[4 * i + 1] = loaded[i].y;
    words[4 * i + 2] = loaded[i].z;
    words[4 * i + 3] = loaded[i].w;
  }
  unsigned reversed[whole::words];
  reverse_words<whole>(words, [&](int w, unsigned word) { reversed[w] = word; });
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < whole::accesses; ++i) {
    const loop_step here(i);
    store_shared(to(i), word16{reversed[4 * i], reversed[4 * i + 1], reversed[4 * i + 2],
                               reversed[4 * i + 3]});
  }
}

/// The kernel's body. `Element` is the size of an element where the kernel knows it, else 0.
/// Shared memory, aligned to 16: none where nothing is shifted; for what is gathered, `group_pitch` bytes per
/// span, rounded up to 128; for groups, grouped_bytes; else 16 bytes, and `span_pitch` bytes per span. Barriers: at
/// most two, inside.
/// Precondition: the group has `threads` threads.
template <row_order Order, int Element, class Group>
TILETRANSPOSE_FUNCTION void move_rows(Group group, unsigned char* shared,
                                      const row_arguments& arguments, unsigned block) {
  const row_work work = find_work(arguments, block);
  const unsigned rank = group.thread_rank();
  if constexpr (is_direct(Order)) {
    if (arguments.shifted) {
      stage_spans<row_rounds>(shared, arguments, work, rank);
      group.sync();
      write_shifted<Order>(shared, arguments, work, rank);
    } else if (arguments.swaps) {
      trade_direct<Order>(arguments, work, rank);
    } else {
      move_direct<Order>(arguments, work, rank);
    }
  } else if constexpr (Order == row_order::gathered) {
    gather_groups<Element>(shared, arguments, work, rank);
    group.sync();
    using whole = access_group<Element>;
    write_reversed<whole::accesses, whole::is_swizzled>(
        shared, arguments, work, rank, [&](unsigned index, const row_span& span) {
          const gathered_span<Element> lies(span);
          return index * arguments.group_pitch +
                 static_cast<unsigned>(lies.groups * whole::bytes - lies.lead - span.bytes);
        });
  } else if constexpr (Order == row_order::grouped) {
    stage_spans<row_rounds>(shared + group_margin, arguments, work, rank);
    group.sync();
    turn_groups<Element>(shared, arguments, work, rank);
    group.sync();
    write_groups(shared, arguments, work, rank);
  } else {
    stage_spans<staged_rounds(Order)>(shared, arguments, work, rank);
    group.sync();
    write_spans<Order, Element>(shared, arguments, work, rank);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
