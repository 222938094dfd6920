// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernel for matrices with few columns, few rows, or few of both in a large batch, where a square
/// tile would be mostly empty. A block moves a *box*: some matrices, some rows, some columns, chosen so
/// that what it reads or what it writes, or both, is one contiguous span.
///
///     columns are few     input rows follow each other: one span in, one piece of every output row out
///     rows are few        one piece of every input row in, one span out
///     small matrices      one span of whole matrices in, one span out
///
/// *Stage* copies the box to shared memory as it lies, word by word or 16 bytes at a time. *Gather* takes each
/// word of the output in turn and collects its elements from where they were staged.
///
/// Words of small elements are gathered in *repeating* rounds where they can be: a round advances whole
/// columns, or whole matrices, so that the units of a thread's word come from the same rows every time and
/// only their column moves on. Rows may then lie anywhere, at whatever byte of a word they lie in memory.

#pragma once

#include <tiletranspose/detail/choose/tuning_panel.cuh>
#include <tiletranspose/detail/core/async_copy.cuh>
#include <tiletranspose/detail/core/packed_elements.cuh>
#include <tiletranspose/detail/request/problem.cuh>
#include <tiletranspose/warp_transpose.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline constexpr int staged_threads = panel_threads;
inline constexpr unsigned unlimited = 1u << 30;

struct staged_arguments {
  tile_problem problem;
  size_type batch;        ///< matrices in all
  unsigned box_matrices;  ///< the box, in elements of the input
  unsigned box_rows;
  unsigned box_cols;
  divider boxes;      ///< boxes of one matrix
  divider col_boxes;  ///< boxes side by side

  // Staging: segments that are contiguous in the input.
  bool rows_joined;        ///< the rows of a matrix are one segment
  bool rows_backwards;     ///< one that starts with the last row, as the stride is negative
  bool matrices_joined;    ///< and the matrices of the box too
  bool shifts;             ///< segments are shifted to start at a word of shared memory
  unsigned lead_mask;      ///< else those bits of an address are kept in shared memory: 0, 3 or 15
  unsigned segment_lanes;  ///< log2 of the threads that share a segment
  unsigned segment_pitch;  ///< shared bytes from segment to segment
  unsigned pad_shift;      ///< one word is skipped every 2^pad_shift bytes; 31: none
  unsigned skip_shift;     ///< one word is skipped every 2^skip_shift separate rows; 31: none
  bool pads_rows;          ///< pad_bytes are skipped every row_words
  unsigned pad_bytes;
  divider row_words;  ///< words that one or more whole rows take
  bool rows_touch;    ///< rows follow each other, so that their ends may be read with the next

  // Gathering: segments that are contiguous in the output.
  bool cols_joined;          ///< the rows of an output matrix are one span
  bool cols_backwards;       ///< one that starts with the last of them, as the stride is negative
  bool out_matrices_joined;  ///< and the matrices of the box too
  unsigned piece_lanes;      ///< log2 of the threads that share a piece of an output row
  unsigned piece_step;       ///< shared bytes that those threads advance in a round, pads included
  divider rows_wrap;         ///< rows after which a span continues with the next column
  divider cols_wrap;         ///< columns after which it continues with the next matrix
  unsigned row_step;         ///< what a span advances in one round of the block
  unsigned col_step;
  unsigned matrix_bytes;    ///< shared bytes from matrix to matrix
  unsigned row_bytes;       ///< shared bytes from row to row, modulo 2^32
  unsigned col_bytes;       ///< and from one column of a span to the next
  unsigned round_bytes;     ///< shared bytes that a round advances, before it wraps
  unsigned row_wrap_bytes;  ///< and what wrapping the rows or the columns adds, modulo 2^32
  unsigned col_wrap_bytes;

  // Gathering words of small elements where `repeats`: rounds advance whole columns.
  bool repeats;
  bool same_places;          ///< the matrices of a box lie alike
  unsigned span_lanes;       ///< log2 of the threads that share a span
  unsigned repeat_words;     ///< words of a round
  unsigned repeat_matrices;  ///< matrices of a round, where it takes whole ones
  unsigned repeat_bytes;     ///< shared bytes from round to round
};

/// The box of one block, cut to what exists.
struct staged_box {
  size_type matrix, row, col;     ///< first of each
  unsigned matrices, rows, cols;  ///< how many
  unsigned lead_rows;  ///< rows staged before `row`, for output rows that start off a sector

  /// Shared offset of the first staged row: 0, or the last place where rows lie backwards.
  TILETRANSPOSE_FUNCTION unsigned first_row_offset(const staged_arguments& arguments) const {
    return arguments.rows_backwards ? (1 - lead_rows - rows) * arguments.row_bytes : 0;
  }
};

/// Rows that a skewed piece can reach back.
constexpr int staged_skew_rows(int element_bytes) {
  return (sector_bytes + element_bytes - 1) / element_bytes;
}
/// Threads that gather: the words of one round hold whole elements, so that each thread meets the same
/// part of an element in every round.
constexpr int staged_round_words(int element_bytes) {
  const int odd_part = element_bytes / access_width(static_cast<size_type>(element_bytes), 4);
  return staged_threads / odd_part * odd_part;
}
constexpr int staged_round_elements(int element_bytes) {
  return staged_round_words(element_bytes) * 4 / element_bytes;
}

template <int ElementBytes>
struct staged_shape {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int skew_rows = staged_skew_rows(ElementBytes);
  static constexpr int round_words = staged_round_words(ElementBytes);
  static constexpr int round_elements = staged_round_elements(ElementBytes);
  static_assert(round_words * 4 % ElementBytes == 0, "");
};

template <int ElementBytes>
TILETRANSPOSE_FUNCTION staged_box find_box(const staged_arguments& arguments, unsigned block) {
  const tile_problem& problem = arguments.problem;
  const unsigned group = arguments.boxes.quotient(block);
  const unsigned at = arguments.boxes.remainder(block, group);
  const unsigned row_box = arguments.col_boxes.quotient(at);
  const unsigned col_box = arguments.col_boxes.remainder(at, row_box);
  staged_box box;
  box.matrix = size_type{group} * arguments.box_matrices;
  box.row = size_type{row_box} * arguments.box_rows;
  box.col = size_type{col_box} * arguments.box_cols;
  const auto part = [](size_type extent, size_type first, unsigned most) {
    const size_type left = first < extent ? extent - first : 0;
    return left < most ? static_cast<unsigned>(left) : most;
  };
  box.matrices = part(arguments.batch, box.matrix, arguments.box_matrices);
  box.rows = part(problem.ny, box.row, arguments.box_rows);
  box.cols = part(problem.nx, box.col, arguments.box_cols);
  box.lead_rows =
      arguments.cols_joined ? 0 : part(box.row, 0, staged_shape<ElementBytes>::skew_rows);
  return box;
}

TILETRANSPOSE_FUNCTION unsigned padded(unsigned byte, unsigned pad_shift) {
  return byte + (byte >> pad_shift) * 4;
}

/// Copies bytes [from, end) of a segment unit by unit: its ends.
template <int Unit>
TILETRANSPOSE_FUNCTION void stage_bytes(unsigned char* shared, unsigned offset,
                                        const unsigned char* first, unsigned from, unsigned end,
                                        unsigned lane, unsigned lanes, unsigned pad_shift) {
  for (unsigned byte = from + lane * Unit; byte < end; byte += lanes * Unit) {
    store_shared(shared + padded(offset + byte, pad_shift),
                 load_constant<access_word_t<Unit>>(first + byte));
  }
}

/// Copies one segment of sub-word elements to shared words; `lanes` threads share it. Segments may start
/// inside of a word: they are shifted, so that all of them start at one in shared memory.
template <int Unit>
TILETRANSPOSE_FUNCTION void stage_shifted(unsigned char* shared, unsigned offset,
                                          const unsigned char* first, unsigned length,
                                          unsigned lane, unsigned lanes, unsigned pad_shift) {
  const unsigned off = address_bits(first) % 4;
  if (off == 0) {
    const unsigned whole = length / 4 * 4;
    TILETRANSPOSE_UNROLL_BY(4)
    for (unsigned byte = lane * 4; byte < whole; byte += lanes * 4) {
      copy_async<4>(shared + padded(offset + byte, pad_shift), first + byte);
    }
    stage_bytes<Unit>(shared, offset, first, whole, length, lane, lanes, pad_shift);
  } else {
    // Words 1 .. last lie between two words that are both inside of the segment.
    const unsigned last = length >= 8 - off ? (length - (8 - off)) / 4 : 0;
    TILETRANSPOSE_UNROLL_BY(4)
    for (unsigned word = 1 + lane; word <= last; word += lanes) {
      const unsigned char* from = word_below(first) + word * 4;
      store_shared(
          shared + padded(offset + word * 4, pad_shift),
          funnel_shift(load_constant<unsigned>(from), load_constant<unsigned>(from + 4), 8 * off));
    }
    stage_bytes<Unit>(shared, offset, first, 0, smaller(4u, length), lane, lanes, pad_shift);
    stage_bytes<Unit>(shared, offset, first, larger(4u, last * 4 + 4), length, lane, lanes,
                      pad_shift);
  }
}

/// Words from the start of a 128-byte line to an address: threads that count their first word so much
/// later, and round the end, make warps access whole lines.
TILETRANSPOSE_FUNCTION unsigned line_lag(const void* address) {
  return address_bits(address) % 128 / 4;
}

/// Copies one segment as it lies: the word, or the 16 bytes, that hold its first byte go to `offset`; `lanes`
/// threads share it. Where rows are padded, the word at a border belongs to two rows if the segment starts
/// inside of a word: it is copied to the padding too, so that either row finds it behind its other words.
template <int Unit>
TILETRANSPOSE_FUNCTION void stage_span(unsigned char* shared, unsigned offset,
                                       const unsigned char* first, unsigned length, unsigned lane,
                                       unsigned lanes, const staged_arguments& arguments) {
  const unsigned lead = Unit < 4 ? address_bits(first) & arguments.lead_mask : 0;
  const unsigned char* const base = first - lead;
  const unsigned pad_shift = arguments.pad_shift;
  const bool wide = Unit < 4 && arguments.lead_mask == 15;
  const unsigned width = wide ? 16 : 4;
  const unsigned end = (lead + length) / width * width;  // of what is whole
  if (wide) {
    for (unsigned byte = (lane + (lead > 0 ? 1 : 0)) * 16; byte < end; byte += lanes * 16) {
      copy_async<16>(shared + offset + byte, base + byte);
    }
  } else {
    const unsigned round = lanes * 4;
    unsigned byte = (lane - line_lag(base)) % lanes * 4;
    if (lead > 0 && byte == 0) { byte += round; }  // the first word is not whole
    const unsigned char* from = base + byte;
    if (!arguments.pads_rows) {
      const unsigned step = round + (round >> pad_shift) * 4;
      unsigned char* to = shared + padded(offset + byte, pad_shift);
      TILETRANSPOSE_UNROLL_BY(4)
      for (; byte < end; byte += round, from += round, to += step) { copy_async<4>(to, from); }
    } else if (lead == 0) {
      const unsigned pad_bytes = arguments.pad_bytes;
      TILETRANSPOSE_UNROLL_BY(4)
      for (; byte < end; byte += round, from += round) {
        copy_async<4>(shared + (offset + byte + arguments.row_words.quotient(byte / 4) * pad_bytes),
                      from);
      }
    } else {
      TILETRANSPOSE_UNROLL_BY(4)
      for (; byte < end; byte += round, from += round) {
        const unsigned row = arguments.row_words.quotient(byte / 4);
        unsigned char* const to = shared + (offset + byte + row * 4);
        copy_async<4>(to, from);
        if (row * arguments.row_words.divisor * 4 == byte && byte > 0) {
          copy_async<4>(to - 4, from);
        }
      }
    }
  }
  if constexpr (Unit < 4) {
    // The ends: bytes [lead, head) and [tail, lead + length) from `base` on.
    const unsigned head = lead > 0 ? smaller(width, lead + length) : 0;
    const unsigned tail = larger(head, end);
    const unsigned ends = head - smaller(head, lead) + (lead + length - tail);
    for (unsigned i = lane * Unit; i < ends; i += lanes * Unit) {
      const unsigned at = lead > 0 && i < head - lead ? lead + i : lead + length - (ends - i);
      const auto value = load_constant<access_word_t<Unit>>(base + at);
      if (arguments.pads_rows) {
        const unsigned row = arguments.row_words.quotient(at / 4);
        store_shared(shared + offset + at + row * 4, value);
        if (row * arguments.row_words.divisor == at / 4 && at >= 4) {
          store_shared(shared + offset + at + row * 4 - 4, value);
        }
      } else {
        store_shared(shared + padded(offset + at, pad_shift), value);
      }
    }
  }
}

/// Shared offset of a separately staged row, before its lead.
TILETRANSPOSE_FUNCTION unsigned row_place(unsigned row, const staged_arguments& arguments) {
  return row * arguments.segment_pitch + (row >> arguments.skip_shift) * 4;
}

/// Copies rows, `stride_bytes` apart, each to its own place.
template <int Unit, class Group>
TILETRANSPOSE_FUNCTION void stage_rows(Group group, unsigned char* shared, unsigned offset,
                                       const unsigned char* first, unsigned rows, unsigned length,
                                       const staged_arguments& arguments) {
  const size_type stride_bytes = arguments.problem.in_stride_bytes;
  const unsigned lane_shift = arguments.segment_lanes;
  const unsigned lanes = 1u << lane_shift;
  const unsigned together = staged_threads >> lane_shift;
  const unsigned lane = group.thread_rank() & (lanes - 1);
  const unsigned first_row = group.thread_rank() >> lane_shift;
  const auto stage_row = [&](unsigned row) {
    const unsigned char* const row_start = first + row * stride_bytes;
    const unsigned to = offset + row_place(row, arguments);
    if (Unit < 4 && arguments.shifts) {
      stage_shifted<Unit>(shared, to, row_start, length, lane, lanes, 31);
      return;
    }
    const unsigned lead = Unit < 4 ? address_bits(row_start) % 4 : 0;
    const unsigned char* const base = row_start - lead;
    const unsigned end = (lead + length) / 4 * 4;
    unsigned byte = (lane - line_lag(base)) % lanes * 4;
    if (lead > 0 && byte == 0) { byte += lanes * 4; }
    TILETRANSPOSE_UNROLL_BY(4)
    for (; byte < end; byte += lanes * 4) { copy_async<4>(shared + to + byte, base + byte); }
    if constexpr (Unit < 4) {
      // The ends: fewer than four bytes before the first whole word, and behind the last one.
      const unsigned head = lead > 0 ? smaller(4u, lead + length) : 0;
      const unsigned tail = larger(head, end);
      for (unsigned i = lane; i < 8; i += lanes) {
        const unsigned at = i < 4 ? lead + i * Unit : tail + (i - 4) * Unit;
        if (at < (i < 4 ? head : lead + length)) {
          store_shared(shared + to + at, load_constant<access_word_t<Unit>>(base + at));
        }
      }
    }
  };
  const size_type step = together * stride_bytes;
  const unsigned char* from = first + first_row * stride_bytes + lane * 4;
  if (Unit == 4 && length <= 2 * 4 * lanes) {
    // Two words a thread: what surrounds them counts, not where lines begin.
    const bool one = lane * 4 < length;
    const bool two = (lane + lanes) * 4 < length;
    TILETRANSPOSE_UNROLL_BY(4)
    for (unsigned row = first_row; row < rows; row += together, from += step) {
      const loop_step here(row / together);
      unsigned char* const to = shared + offset + row_place(row, arguments) + lane * 4;
      if (one) { copy_async<4>(to, from); }
      if (two) { copy_async<4>(to + lanes * 4, from + lanes * 4); }
    }
    return;
  }
  if (Unit < 4 && lanes == 32 && length + (4 - Unit) <= 4 * 32 && !arguments.shifts &&
      arguments.rows_touch) {
    // One word a thread. The words at both ends of a row may hold bytes of its neighbours; the first and the
    // last row have none on one side.
    const unsigned pitch = arguments.segment_pitch;
    unsigned to = offset + first_row * pitch + lane * 4;
    for (unsigned row = first_row; row < rows; row += 32) {
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < 4; ++i, from += step) {
        const loop_step here(row / 8 + i);
        const unsigned lead = address_bits(from) % 4;
        if (lane * 4 < lead + length && row + i * 8 > 0 && row + i * 8 + 1 < rows) {
          copy_async<4>(shared + (to + i * 8 * pitch), from - lead);
        }
      }
      to += row_place(32, arguments);
    }
    if (first_row == 0) { stage_row(0); }
    if (first_row == together - 1 && rows > 1) { stage_row(rows - 1); }
    return;
  }
  for (unsigned row = first_row; row < rows; row += together) {
    const loop_step here(row / together);
    stage_row(row);
  }
}

/// The lowest address that a box reads in its matrix `matrix`.
template <int ElementBytes>
TILETRANSPOSE_FUNCTION const unsigned char* box_origin(const staged_arguments& arguments,
                                                       const staged_box& box, unsigned matrix) {
  const tile_problem& problem = arguments.problem;
  const size_type lowest_row =
      arguments.rows_backwards ? box.row + box.rows - 1 : box.row - box.lead_rows;
  return problem.in_matrix(box.matrix + matrix) + lowest_row * problem.in_stride_bytes +
         box.col * ElementBytes;
}

template <int ElementBytes, int Unit, class Group>
TILETRANSPOSE_FUNCTION void stage_box(Group group, unsigned char* shared,
                                      const staged_arguments& arguments, const staged_box& box) {
  const unsigned rows = box.rows + box.lead_rows;
  if (!arguments.rows_joined) {
    for (unsigned matrix = 0; matrix < box.matrices; ++matrix) {
      stage_rows<Unit>(group, shared, matrix * arguments.matrix_bytes,
                       box_origin<ElementBytes>(arguments, box, matrix), rows,
                       box.cols * ElementBytes, arguments);
    }
    return;
  }
  const unsigned matrices = arguments.matrices_joined ? 1 : box.matrices;
  const unsigned length =
      (arguments.matrices_joined ? box.matrices : 1) * rows * box.cols * ElementBytes;
  const unsigned lanes = 1u << arguments.segment_lanes;
  const unsigned lane = group.thread_rank() & (lanes - 1);
  for (unsigned matrix = group.thread_rank() >> arguments.segment_lanes; matrix < matrices;
       matrix += staged_threads >> arguments.segment_lanes) {
    const unsigned offset = matrix * arguments.matrix_bytes;
    const unsigned char* const origin = box_origin<ElementBytes>(arguments, box, matrix);
    if (Unit < 4 && arguments.shifts) {
      stage_shifted<Unit>(shared, offset, origin, length, lane, lanes, arguments.pad_shift);
    } else {
      stage_span<Unit>(shared, offset, origin, length, lane, lanes, arguments);
    }
  }
}

/// Writes words byte, byte + step, ... before `end` of a run that starts at `first`; the units of a word come
/// from `places`, which advance by `shared_step` from word to word. Four words' units are under way at a time.
/// \returns the first byte that is left
template <int Unit>
TILETRANSPOSE_FUNCTION int gather_words(const unsigned char* shared, unsigned char* first, int byte,
                                        int end, int step, unsigned (&places)[4 / Unit],
                                        unsigned shared_step) {
  constexpr int parts = 4 / Unit;
  const auto read = [&](int part) {
    const auto unit = load_shared<access_word_t<Unit>>(shared + places[part]);
    places[part] += shared_step;
    return static_cast<unsigned>(unit) << (8 * Unit * part % 32);
  };
  unsigned char* to = first + byte;
  // On the CPU, words of one loop are no words of the other.
  unsigned round = 0;
  for (; byte + 3 * step + 4 <= end; byte += 4 * step) {
    const loop_step here(round++);
    unsigned words[4] = {};
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < 4; ++i) {
      TILETRANSPOSE_UNROLL
      for (int part = 0; part < parts; ++part) { words[i] |= read(part); }
    }
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < 4; ++i, to += step) { store_global(to, words[i]); }
  }
  round = 1u << 31;
  for (; byte + 4 <= end; byte += step, to += step) {
    const loop_step here(round++);
    unsigned word = 0;
    TILETRANSPOSE_UNROLL
    for (int part = 0; part < parts; ++part) { word |= read(part); }
    store_global(to, word);
  }
  return byte;
}

/// Writes the pieces of output rows that a box holds, each from sector to sector.
template <int ElementBytes, int Unit, class Group>
TILETRANSPOSE_FUNCTION void gather_pieces(Group group, const unsigned char* shared,
                                          const staged_arguments& arguments,
                                          const staged_box& box) {
  using part_word = access_word_t<Unit>;
  constexpr int skew_rows = staged_shape<ElementBytes>::skew_rows;
  constexpr unsigned parts = 4 / Unit;
  // A round of whole warps advances whole rows: each thread stays in its column.
  constexpr bool straight = 128 % ElementBytes == 0;
  const tile_problem& problem = arguments.problem;
  const unsigned row_bytes = arguments.row_bytes;
  const unsigned pad_shift = arguments.pad_shift;
  const int length = static_cast<int>(box.rows * ElementBytes);
  const bool first_piece = box.row == 0;
  const bool last_piece = box.row + box.rows == problem.ny;
  const unsigned lanes = 1u << arguments.piece_lanes;
  const unsigned together = staged_threads >> arguments.piece_lanes;
  const unsigned first_col = group.thread_rank() >> arguments.piece_lanes;
  // Where the row that is skew_rows above the box would be staged; it need not be.
  const unsigned base =
      box.first_row_offset(arguments) + (box.lead_rows - skew_rows) * row_bytes +
      (address_bits(box_origin<ElementBytes>(arguments, box, 0)) & arguments.lead_mask);
  unsigned char* const first = problem.out_matrix(box.matrix) + box.row * ElementBytes +
                               (box.col + first_col) * problem.out_stride_bytes;
  const size_type col_step = together * problem.out_stride_bytes;

  unsigned char* piece = first;
  for (unsigned col = first_col; col < box.cols; col += together, piece += col_step) {
    const int skew = static_cast<int>(address_bits(piece) % sector_bytes);
    const int begin = first_piece ? 0 : -skew;
    const int end = last_piece ? length : length - skew;
    const unsigned offset = base + col * ElementBytes;
    const auto place = [&](int byte) {
      const auto from = static_cast<unsigned>(byte + skew_rows * ElementBytes);
      return padded(offset + from / ElementBytes * row_bytes + from % ElementBytes, pad_shift);
    };
    const unsigned lane = (group.thread_rank() - line_lag(piece - skew)) % lanes;
    const int step = static_cast<int>(lanes * 4);
    int byte = static_cast<int>(lane * 4) - skew;
    // What a word that is not whole has of the row: the first and the last one.
    const auto store_part = [&](int word) {
      TILETRANSPOSE_UNROLL
      for (int i = 0; i < 4; i += Unit) {
        if (word + i >= begin && word + i < end) {
          store_global(piece + word + i, load_shared<part_word>(shared + place(word + i)));
        }
      }
    };
    if (byte < begin) {
      if (Unit < 4) { store_part(byte); }
      // Words before the row are skipped; a skew is shorter than a round.
      while (byte < begin) { byte += step; }
    }
    if constexpr (straight) {
      unsigned from[parts];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < parts; ++i) { from[i] = place(byte + static_cast<int>(i) * Unit); }
      byte = gather_words<Unit>(shared, piece, byte, end, step, from, arguments.piece_step);
    } else {
      TILETRANSPOSE_UNROLL_BY(4)
      for (; byte + 4 <= end; byte += step) {
        unsigned joined = 0;
        TILETRANSPOSE_UNROLL
        for (int i = 0; i < 4; i += Unit) {
          joined |= static_cast<unsigned>(load_shared<part_word>(shared + place(byte + i)))
                    << (8 * i);
        }
        store_global(piece + byte, joined);
      }
    }
    if (Unit < 4 && byte < end) { store_part(byte); }
  }
}

/// Where an element of a span was staged. The counters run like an odometer: rows first, then columns,
/// then matrices; the offset goes along.
struct span_place {
  unsigned row, col, offset;

  TILETRANSPOSE_FUNCTION span_place(unsigned element, const staged_arguments& arguments) {
    const unsigned column = arguments.rows_wrap.quotient(element);
    const unsigned matrix = arguments.cols_wrap.quotient(column);
    row = arguments.rows_wrap.remainder(element, column);
    col = arguments.cols_wrap.remainder(column, matrix);
    offset =
        matrix * arguments.matrix_bytes + row * arguments.row_bytes + col * arguments.col_bytes;
  }

  TILETRANSPOSE_FUNCTION void advance(unsigned rows, unsigned cols, unsigned bytes,
                                      const staged_arguments& arguments) {
    row += rows;
    col += cols;
    offset += bytes;
    if (row >= arguments.rows_wrap.divisor) {
      row -= arguments.rows_wrap.divisor;
      ++col;
      offset += arguments.row_wrap_bytes;
    }
    if (col >= arguments.cols_wrap.divisor) {
      col -= arguments.cols_wrap.divisor;
      offset += arguments.col_wrap_bytes;
    }
  }
};

/// Writes what a span has before its first and behind its last whole word. `place(byte)` is where a byte of
/// it was staged.
template <int Unit, class Place>
TILETRANSPOSE_FUNCTION void gather_ends(const unsigned char* shared, unsigned char* first,
                                        unsigned length, unsigned head, unsigned lane,
                                        unsigned lanes, Place place) {
  const unsigned tail = (length - head) % 4;
  for (unsigned i = lane * Unit; i < head + tail; i += lanes * Unit) {
    const unsigned byte = i < head ? i : length - tail + (i - head);
    store_global(first + byte, load_shared<access_word_t<Unit>>(shared + place(byte)));
  }
}

/// Writes the spans of the output that a box holds.
template <int ElementBytes, int Unit, class Group>
TILETRANSPOSE_FUNCTION void gather_spans(Group group, const unsigned char* shared,
                                         const staged_arguments& arguments, const staged_box& box) {
  using part_word = access_word_t<Unit>;
  constexpr unsigned round_words = staged_shape<ElementBytes>::round_words;
  const tile_problem& problem = arguments.problem;
  const unsigned pad_shift = arguments.pad_shift;
  const unsigned rank = group.thread_rank();
  const unsigned spans = arguments.out_matrices_joined ? 1 : box.matrices;
  const unsigned length = (arguments.out_matrices_joined ? box.matrices : 1) * box.cols * box.rows *
                          static_cast<unsigned>(ElementBytes);
  const auto read = [&](unsigned offset) {
    return load_shared<part_word>(shared + padded(offset, pad_shift));
  };
  [[maybe_unused]] const bool is_near = arguments.rows_wrap.divisor >= 4;
  // Columns of a span count from its start, which is the last one where they lie backwards.
  const size_type lowest_col = arguments.cols_backwards ? box.col + box.cols - 1 : box.col;
  const unsigned first_offset =
      box.first_row_offset(arguments) +
      (arguments.cols_backwards ? (box.cols - 1) * ElementBytes : 0) +
      (address_bits(box_origin<ElementBytes>(arguments, box, 0)) & arguments.lead_mask);
  for (unsigned span = 0; span < spans; ++span) {
    const unsigned span_offset = first_offset + span * arguments.matrix_bytes;
    unsigned char* const first =
        problem.out_matrix(box.matrix + span) + lowest_col * problem.out_stride_bytes;
    const unsigned head = Unit < 4 ? smaller((0 - address_bits(first)) % 4, length) : 0;
    if (rank < round_words) {
      unsigned byte = head + 4 * ((rank + round_words - line_lag(first + head)) % round_words);
      span_place at(byte / ElementBytes, arguments);
      at.offset += span_offset;
      const unsigned first_part = byte % ElementBytes;
      if constexpr (Unit == 4) {
        if (arguments.pad_shift == 31 && !arguments.out_matrices_joined) {
          // The common case, without what it does not need.
          at.offset += first_part;
          TILETRANSPOSE_UNROLL_BY(4)
          for (; byte < length; byte += 4 * round_words) {
            store_global(first + byte, load_shared<part_word>(shared + at.offset));
            at.row += arguments.row_step;
            at.offset += arguments.round_bytes;
            if (at.row >= arguments.rows_wrap.divisor) {
              at.row -= arguments.rows_wrap.divisor;
              at.offset += arguments.row_wrap_bytes;
            }
          }
          continue;
        }
      }
      TILETRANSPOSE_UNROLL_BY(4)
      for (; byte + 4 <= length; byte += 4 * round_words) {
        unsigned word = 0;
        if constexpr (Unit == 4) {
          word = read(at.offset + first_part);
        } else if (is_near) {
          // At most one column ends among the units of a word.
          const unsigned wrap =
              arguments.row_wrap_bytes +
              (at.col + 1 >= arguments.cols_wrap.divisor ? arguments.col_wrap_bytes : 0);
          unsigned offset = at.offset + first_part;
          unsigned part = first_part;
          unsigned row = at.row;
          TILETRANSPOSE_UNROLL
          for (int i = 0; i < 4; i += Unit) {
            word |= static_cast<unsigned>(read(offset)) << (8 * i);
            part += Unit;
            offset += Unit;
            if (part == ElementBytes) {
              part = 0;
              offset += arguments.row_bytes - ElementBytes;
              if (++row == arguments.rows_wrap.divisor) { offset += wrap; }
            }
          }
        } else {
          span_place next = at;
          unsigned part = first_part;
          TILETRANSPOSE_UNROLL
          for (int i = 0; i < 4; i += Unit) {
            word |= static_cast<unsigned>(read(next.offset + part)) << (8 * i);
            part += Unit;
            if (part == ElementBytes) {
              part = 0;
              next.advance(1, 0, arguments.row_bytes, arguments);
            }
          }
        }
        store_global(first + byte, word);
        at.advance(arguments.row_step, arguments.col_step, arguments.round_bytes, arguments);
      }
    }
    if constexpr (Unit < 4) {
      gather_ends<Unit>(shared, first, length, head, rank, staged_threads, [&](unsigned byte) {
        const span_place at(byte / ElementBytes, arguments);
        return padded(span_offset + at.offset + byte % ElementBytes, pad_shift);
      });
    }
  }
}

/// Writes the spans of the output that a box holds in rounds that advance whole columns, or whole matrices:
/// the units of a thread's word come from the same rows in every round, so their places are found once.
template <int ElementBytes, int Unit, class Group>
TILETRANSPOSE_FUNCTION void gather_repeating(Group group, const unsigned char* shared,
                                             const staged_arguments& arguments,
                                             const staged_box& box) {
  constexpr unsigned parts = 4 / Unit;
  const tile_problem& problem = arguments.problem;
  const unsigned lanes = 1u << arguments.span_lanes;
  const unsigned lane = group.thread_rank() & (lanes - 1);
  const unsigned first_span = group.thread_rank() >> arguments.span_lanes;
  const unsigned together = staged_threads >> arguments.span_lanes;
  const unsigned spans = arguments.out_matrices_joined ? 1 : box.matrices;
  const unsigned length = (arguments.out_matrices_joined ? box.matrices : 1) * box.cols * box.rows *
                          static_cast<unsigned>(ElementBytes);
  const size_type lowest_col = arguments.cols_backwards ? box.col + box.cols - 1 : box.col;
  const unsigned first_col = arguments.cols_backwards ? (box.cols - 1) * ElementBytes : 0;
  const unsigned joined_bytes = box.cols * ElementBytes;
  const auto stride = static_cast<unsigned>(problem.in_stride_bytes);

  unsigned head = 0;
  unsigned first_byte = 0;
  unsigned places[parts] = {};
  unsigned char* first = nullptr;
  for (unsigned span = first_span; span < spans; span += together) {
    // Matrices of one segment count their rows on; those of several start at their own offsets.
    const auto place = [&](unsigned byte) {
      const unsigned origin = address_bits(
          box_origin<ElementBytes>(arguments, box, arguments.matrices_joined ? 0 : span));
      const unsigned element = byte / ElementBytes;
      const unsigned column = arguments.rows_wrap.quotient(element);
      const unsigned matrix = arguments.cols_wrap.quotient(column);
      unsigned row = arguments.rows_wrap.remainder(element, column);
      const unsigned col = arguments.cols_wrap.remainder(column, matrix);
      if (arguments.rows_backwards) { row = box.rows - 1 - row; }
      row += ((arguments.matrices_joined ? span : 0) + matrix) * box.rows;
      const unsigned start = !arguments.rows_joined
                                 ? row_place(row, arguments) + (origin + row * stride) % 4
                                 : row * joined_bytes + (origin & arguments.lead_mask) +
                                       (arguments.pads_rows ? row * ElementBytes / 4 * 4 : 0);
      return (arguments.matrices_joined ? 0 : span * arguments.matrix_bytes) + start + first_col +
             col * arguments.col_bytes + byte % ElementBytes;
    };
    if (span == first_span || !arguments.same_places) {
      first = problem.out_matrix(box.matrix + span) + lowest_col * problem.out_stride_bytes;
      head = smaller((0 - address_bits(first)) % 4, length);
      const unsigned lag = line_lag(first + head);  // shorter than a round
      first_byte = head + 4 * (lane >= lag ? lane - lag : lane + arguments.repeat_words - lag);
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < parts; ++i) { places[i] = place(first_byte + i * Unit); }
    } else {
      first += together * problem.out_batch_bytes;
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < parts; ++i) { places[i] += together * arguments.matrix_bytes; }
    }
    if (lane < arguments.repeat_words) {
      unsigned from[parts];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < parts; ++i) { from[i] = places[i]; }
      gather_words<Unit>(shared, first, static_cast<int>(first_byte), static_cast<int>(length),
                         static_cast<int>(4 * arguments.repeat_words), from,
                         arguments.repeat_bytes);
    }
    if (head > 0 || length % 4 != 0) {
      gather_ends<Unit>(shared, first, length, head, lane, lanes, place);
    }
  }
}

/// The kernel's body: one block moves the box that `block` names.
/// Shared memory: what `plan_staged` says, aligned to 16. Barriers: one, inside.
template <int ElementBytes, int Unit, class Group>
TILETRANSPOSE_FUNCTION void move_box(Group group, unsigned char* shared,
                                     const staged_arguments& arguments, unsigned block) {
  const staged_box box = find_box<ElementBytes>(arguments, block);
  stage_box<ElementBytes, Unit>(group, shared, arguments, box);
  commit_copies();
  wait_for_copies(0);
  group.sync();
  if (!arguments.cols_joined) {
    gather_pieces<ElementBytes, Unit>(group, shared, arguments, box);
  } else if (Unit < 4 && arguments.repeats) {
    if constexpr (Unit < 4) { gather_repeating<ElementBytes, Unit>(group, shared, arguments, box); }
  } else {
    gather_spans<ElementBytes, Unit>(group, shared, arguments, box);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
