// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The arguments of the row kernel: which segments of rows each block moves, which of them each thread, and the accesses of
/// 16 bytes that it makes to them; and how segments are copied to shared memory as they lie in the input, and read there in
/// the order of the output.

#pragma once

#include <tiletranspose/detail/choose/choose_rows.cuh>
#include <tiletranspose/detail/request/problem.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What a launch does: the two sides of a problem, of which `ny` rows of a matrix are the output of segments. Where rows are
/// joined, a segment holds `joined_rows` whole rows that lie one behind the other.
struct row_arguments : matrix_problem {
  size_type row_bytes;
  size_type covered_bytes;  ///< of a row that segments start in; the others trade places with them
  size_type extent;   ///< bytes that may be read around a row: its own, or those of a dense matrix
  size_type in_rise;  ///< bytes of a dense matrix before the row that the first segment comes from
  divider matrix_blocks;    ///< blocks of a matrix
  divider row_blocks;       ///< blocks of a row, or 1
  divider segment_threads;  ///< threads that take a segment
  divider joined_bytes;     ///< bytes of a joined row
  divider element;          ///< element_bytes
  unsigned threads;         ///< of a block
  unsigned element_bytes;
  unsigned segment_bytes;  ///< of a row that a segment takes
  unsigned lead_bytes;     ///< by which a row's first segment is shorter; the next starts on a line
  unsigned joined_rows = 1;     ///< of a segment; 1 where a block has several segments
  unsigned block_segments = 1;  ///< segments of a block, of consecutive rows
  unsigned line_mask = 127;     ///< accesses start at multiples of this + 1 bytes
  unsigned segment_pitch;       ///< bytes of shared memory for a segment
  bool leads;     ///< each row has a lead of its own; elements are a power of two of bytes
  bool reverses;  ///< each row is taken from its last element to its first
  bool swaps;     ///< input and output are one; a segment trades places with its source
  bool dense;     ///< the rows of the input follow each other without a gap, in either direction

  /// Segments that a block reads; in place, those that trade places with its own, too.
  TILETRANSPOSE_FUNCTION unsigned read_segments() const { return block_segments * (swaps ? 2 : 1); }
};

/// True where an access of 16 bytes that starts at byte `start` lies in `bytes` bytes.
TILETRANSPOSE_FUNCTION bool lies_inside(int start, int bytes) {
  return static_cast<unsigned>(start) < static_cast<unsigned>(larger(bytes - 15, 0));
}

/// Bytes on either side of a segment that may be read, too.
struct row_margin {
  int before;
  int after;
};

/// A segment of a row, or several whole rows; `around` is what lies around the source.
struct row_segment {
  unsigned char* to;
  const unsigned char* from;
  int bytes;
  row_margin around;

  /// True where all of an access to the source may be read that starts `start` bytes into it.
  TILETRANSPOSE_FUNCTION bool can_read(int start) const {
    return lies_inside(start + around.before, bytes + around.before + around.after);
  }
};

/// What a thread moves of a block's work: of one segment, access `at` and those that follow it in steps of `step` accesses.
struct thread_segment {
  row_segment segment;
  unsigned index;
  unsigned at;
  unsigned step;
  const row_arguments& arguments;

  /// Where an access of the thread starts, counted from the segment's first byte.
  TILETRANSPOSE_FUNCTION int start(const void* first, int round) const {
    return static_cast<int>((at + static_cast<unsigned>(round) * step) * 16) -
           static_cast<int>(address_bits(first) & arguments.line_mask);
  }
};

/// What one block moves: `segments` segments, one row apart; in place, each followed by its reverse.
struct row_work {
  const row_arguments& arguments;
  unsigned rank;  ///< of the thread
  row_segment first;
  row_margin around_to;  ///< around the output of the first segment, where that is read, too
  unsigned segments;

  TILETRANSPOSE_FUNCTION row_segment operator[](unsigned index) const {
    row_segment segment = first;
    const unsigned step = arguments.swaps ? index / 2 : index;
    if (step >= segments) { segment.bytes = 0; }
    segment.to += step * arguments.out_stride_bytes;
    segment.from += step * arguments.in_stride_bytes;
    if (arguments.swaps && index % 2 == 1) {
      unsigned char* const to = segment.to;
      segment.to += segment.from - to;
      segment.from = to;
      segment.around = around_to;
    }
    return segment;
  }

  /// Where the source of a segment is in shared memory; byte 0 of it.
  TILETRANSPOSE_FUNCTION unsigned char* shared_segment(unsigned char* shared, unsigned index,
                                                       const row_segment& segment) const {
    return shared + index * arguments.segment_pitch + 16 +
           (address_bits(segment.from) & arguments.line_mask);
  }

  TILETRANSPOSE_FUNCTION thread_segment own() const {
    const divider& threads = arguments.segment_threads;
    const unsigned index = threads.quotient(rank);
    return {(*this)[index], index, threads.remainder(rank, index), threads.divisor, arguments};
  }
};

TILETRANSPOSE_FUNCTION row_work find_work(const row_arguments& arguments, unsigned block,
                                          unsigned rank) {
  const unsigned matrix = arguments.matrix_blocks.quotient(block);
  const unsigned in_matrix = arguments.matrix_blocks.remainder(block, matrix);
  const unsigned row_block = arguments.row_blocks.quotient(in_matrix);
  const unsigned in_row = arguments.row_blocks.remainder(in_matrix, row_block);
  const bool joins = arguments.joined_rows > 1;
  const unsigned block_rows = arguments.joined_rows * arguments.block_segments;
  const size_type row = size_type{row_block} * block_rows;
  const auto rows = static_cast<unsigned>(smaller<size_type>(arguments.ny - row, block_rows));
  const size_type to_row = row * arguments.out_stride_bytes;
  const size_type from_row = row * arguments.in_stride_bytes;
  unsigned char* const out = arguments.out_matrix(matrix) + to_row;
  const unsigned char* const in = arguments.in_matrix(matrix) + from_row;

  // Bytes [begin, end) of each row.
  size_type begin = 0;
  size_type end = arguments.covered_bytes;
  if (arguments.row_blocks.divisor > 1) {
    unsigned lead = arguments.lead_bytes;
    if (arguments.leads) {
      lead = address_bits(out) % 128;
      if ((lead & (arguments.element_bytes - 1)) != 0) { lead = 0; }
    }
    const size_type here = size_type{in_row} * arguments.segment_bytes - lead;
    if (in_row > 0) { begin = smaller(end, here); }
    if (in_row + 1 < arguments.row_blocks.divisor) {
      end = smaller(end, here + arguments.segment_bytes);
    }
  }
  const size_type source = arguments.reverses ? arguments.row_bytes - end : begin;
  const unsigned bytes = static_cast<unsigned>(end - begin) * (joins ? rows : 1);
  const unsigned segments = joins ? 1 : rows;

  // What lies around the sources may be read. In place other blocks may be writing it; what is read of it is not used.
  size_type before = source;
  size_type before_to = begin;
  size_type behind = bytes;
  if (arguments.dense) {
    before += from_row + arguments.in_rise;
    before_to += to_row;
    const size_type others = (segments - 1) * arguments.row_bytes;
    behind += others;
    if (static_cast<long long>(arguments.in_stride_bytes) < 0) { before -= others; }
  }
  const auto margin = [&](size_type bytes_before) -> row_margin {
    constexpr size_type most = 256;
    return {static_cast<int>(smaller(bytes_before, most)),
            static_cast<int>(smaller(arguments.extent - bytes_before - behind, most))};
  };
  return {arguments,
          rank,
          {out + begin, in + source, static_cast<int>(bytes), margin(before)},
          margin(before_to),
          segments};
}

/// Writes the segments of a block. reader(segment, index) has what becomes of one: access(start) is what the thread's access
/// writes that starts `start` bytes into it, where it is whole; byte(at) is byte `at` where that lies in no whole access, as
/// those are counted from multiples of 16 in the output; one thread moves each of these: they are few, so that a block
/// waits less for them than for one thread that moves several.
template <int Rounds, class Reader>
TILETRANSPOSE_FUNCTION void write_accesses(const row_work& work, Reader reader) {
  const thread_segment own = work.own();
  const auto of_thread = reader(own.segment, own.index);
  TILETRANSPOSE_UNROLL
  for (int round = 0; round < Rounds; ++round) {
    const loop_step here(round);
    const int start = own.start(own.segment.to, round);
    if (lies_inside(start, own.segment.bytes)) {
      store_global(own.segment.to + start, of_thread.access(start));
    }
  }
  const row_arguments& arguments = work.arguments;
  const unsigned segments = arguments.read_segments();
  for (unsigned end = work.rank; end < segments * 32; end += arguments.threads) {
    const loop_step here(end / arguments.threads);
    const unsigned index = end / 32;
    const row_segment segment = work[index];
    const int head = smaller<int>(-address_bits(segment.to) % 16, segment.bytes);
    const int tail =
        smaller<int>((address_bits(segment.to) + static_cast<unsigned>(segment.bytes)) % 16,
                     segment.bytes - head);
    const auto lane = static_cast<int>(end % 32);
    const int at = lane < 16 ? lane : segment.bytes - tail + lane - 16;
    if (lane < 16 ? lane < head : lane - 16 < tail) {
      store_global(segment.to + at, reader(segment, index).byte(static_cast<unsigned>(at)));
    }
  }
}

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
  for (int i = 0; i < 16; ++i) { store_shared(shared + i, bytes[i]); }
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
struct row_reader {
  const row_arguments& arguments;
  const unsigned char* shared;  ///< byte 0 of the segment
  unsigned rotation;
  unsigned segment_bytes;
  /// Of a row, or the segment of one that is in shared memory.
  unsigned row_bytes = joins() ? arguments.joined_bytes.divisor : segment_bytes;

  /// Byte `at` of the output's segment.
  TILETRANSPOSE_FUNCTION unsigned char byte(unsigned at) const {
    if constexpr (Order != row_order::forward && Order != row_order::grouped) {
      const place from = find(at);
      at = from.element + from.past;
    }
    return load_shared<unsigned char>(shared + at);
  }

  /// The access that starts `start` bytes into the output's segment, all of which exists.
  TILETRANSPOSE_FUNCTION word16 access(int start) const {
    if constexpr (Order == row_order::grouped) {
      return load_shared<word16>(shared + start);
    } else if constexpr (lie_together(Order)) {
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
        rotated[i] = word(static_cast<unsigned>(start) + (i + rotation) % 4 * 4);
      }
      unsigned words[4];
      rotate_back(rotated, rotation, words);
      return {words[0], words[1], words[2], words[3]};
    }
  }

 private:
  /// Where a byte of the output comes from.
  struct place {
    unsigned row;      // where its row starts
    unsigned element;  // where its element starts in the input
    unsigned past;     // bytes of the element before it
  };

  TILETRANSPOSE_FUNCTION bool joins() const {
    return !lie_together(Order) && arguments.joined_rows > 1;
  }
  TILETRANSPOSE_FUNCTION unsigned element_bytes() const {
    return Element > 0 ? Element : arguments.element_bytes;
  }
  /// Where the row of a byte starts in the segment.
  TILETRANSPOSE_FUNCTION unsigned row_start(unsigned at) const {
    return joins() ? arguments.joined_bytes.quotient(at) * row_bytes : 0;
  }
  TILETRANSPOSE_FUNCTION place find(unsigned at) const {
    const unsigned row = row_start(at);
    const unsigned index =
        Element > 0 ? (at - row) / larger(Element, 1) : arguments.element.quotient(at - row);
    return {row, row + row_bytes - (index + 1) * element_bytes(),
            at - row - index * element_bytes()};
  }

  /// 16 bytes that lie together in the input, from an element's start on.
  TILETRANSPOSE_FUNCTION word16 elements(int start) const {
    int first = start;
    if constexpr (Order == row_order::reversed) {
      first = static_cast<int>(row_bytes) - 16 - start;
    } else if constexpr (Order == row_order::vectors) {
      const place from = find(static_cast<unsigned>(start));
      first = static_cast<int>(from.element + from.past);
    }
    return reverse_elements<Element>(access_at(first));
  }

  /// Bytes at .. at + 15 of the output's segment, of elements of 8 bytes and more.
  TILETRANSPOSE_FUNCTION word16 large_elements(unsigned at) const {
    const place from = find(at);
    const auto element = static_cast<int>(element_bytes());
    const auto row = static_cast<int>(from.row);
    const auto past = static_cast<int>(from.past);
    auto first = static_cast<int>(from.element);
    word16 value = access_at(first + past);
    // Where an element ends after `left` bytes, the next one in the output lies before it, or at the end of the next row.
    int left = element - past;
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < 2; ++i, left += element) {  // as many as may begin inside an access
      if (left >= 16) { break; }
      first = first == row ? row + 2 * static_cast<int>(row_bytes) - element : first - element;
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
      return load_shared<unsigned>(shared + from.element + from.past);
    } else if constexpr (Order == row_order::elements) {
      const place from = find(at);
      const unsigned next = from.element == from.row ? from.row + 2 * row_bytes : from.element;
      return joined(static_cast<int>(from.element + from.past), element_bytes() - from.past,
                    static_cast<int>(next - element_bytes()));
    } else {
      // From the last byte of a row down; a word that reaches over the row's end goes on at the end of the next.
      const unsigned row = row_start(at);
      const unsigned left = row + row_bytes - at;
      return joined(static_cast<int>(row + left) - 4, left,
                    static_cast<int>(row + 2 * row_bytes) - 4);
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
    const unsigned char* const address = shared + at;
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
    const unsigned char* const address = shared + at;
    const unsigned past = address_bits(address) % 16;
    const auto low = load_shared<word16>(address - past);
    return shift_together<16>(low, load_shared<word16>(address - past + 16), past);
  }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
