// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernel for matrices with few columns, few rows, or few of both in a large batch, where a square
/// tile would be mostly empty. A block moves a *panel*: some matrices, some rows, some columns, chosen so
/// that what it reads or what it writes, or both, is one contiguous segment.
///
///     columns are few     input rows follow each other: one segment in, one segment of every output row out
///     rows are few        one segment of every input row in, one segment out
///     small matrices      one segment of whole matrices in, one segment out
///
/// *Stage* copies the panel to shared memory as it lies, word by word or 16 bytes at a time. *Gather* takes one
/// word of the output after the other and collects its elements from shared memory.
///
/// Words of small elements are gathered in *repeating* rounds where they can be: a round advances whole
/// columns, or whole matrices, so that the parts of a thread's word come from the same rows every time and
/// only their column moves on. Rows may then lie anywhere, at whatever byte of a word they lie in memory.

#pragma once

#include <tiletranspose/detail/choose/tuning_panel.cuh>
#include <tiletranspose/detail/core/async_copy.cuh>
#include <tiletranspose/detail/core/packed_elements.cuh>
#include <tiletranspose/detail/request/problem.cuh>
#include <tiletranspose/warp_transpose.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline constexpr int gathered_threads = panel_threads;
inline constexpr unsigned unlimited = 1u << 30;

struct gathered_arguments {
  tile_problem problem;
  size_type batch;          ///< matrices in all
  unsigned panel_matrices;  ///< the panel, in elements of the input
  unsigned panel_rows;
  unsigned panel_cols;
  divider panels;      ///< panels of one matrix
  divider col_panels;  ///< panels side by side

  // Staging: segments that are contiguous in the input.
  bool rows_joined;        ///< the rows of a matrix are one segment
  bool rows_backwards;     ///< one that starts with the last row, as the stride is negative
  bool matrices_joined;    ///< and the matrices of the panel too
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
  bool cols_joined;          ///< the rows of an output matrix are one segment
  bool cols_backwards;       ///< one that starts with the last of them, as the stride is negative
  bool out_matrices_joined;  ///< and the matrices of the panel too
  unsigned out_lanes;        ///< log2 of the threads that share a segment of an output row
  unsigned out_step_bytes;   ///< shared bytes that those threads advance in a round, pads included
  divider rows_wrap;         ///< rows after which a segment continues with the next column
  divider cols_wrap;         ///< columns after which it continues with the next matrix
  unsigned row_step;         ///< what a segment advances in one round of the block
  unsigned col_step;
  unsigned matrix_bytes;    ///< shared bytes from matrix to matrix
  unsigned row_bytes;       ///< shared bytes from row to row, modulo 2^32
  unsigned col_bytes;       ///< and from one column of a segment to the next
  unsigned round_bytes;     ///< shared bytes that a round advances, before it wraps
  unsigned row_wrap_bytes;  ///< and what wrapping the rows or the columns adds, modulo 2^32
  unsigned col_wrap_bytes;

  // Gathering words of small elements where `repeats`: rounds advance whole columns.
  bool repeats;
  bool same_places;          ///< the matrices of a panel lie alike
  unsigned repeat_lanes;     ///< log2 of the threads that share a segment
  unsigned repeat_words;     ///< words of a round
  unsigned repeat_matrices;  ///< matrices of a round, where it takes whole ones
  unsigned repeat_bytes;     ///< shared bytes from round to round
};

/// The panel of one block, cut to what exists.
struct gathered_panel {
  size_type matrix, row, col;     ///< first of each
  unsigned matrices, rows, cols;  ///< how many
  unsigned lead_rows;  ///< rows copied before `row`, for output rows that start off a sector

  /// Shared offset of the first row: 0, or the last place where rows lie backwards.
  TILETRANSPOSE_FUNCTION unsigned first_row_offset(const gathered_arguments& arguments) const {
    return arguments.rows_backwards ? (1 - lead_rows - rows) * arguments.row_bytes : 0;
  }
};

/// Rows that a skewed segment can reach back.
constexpr int gathered_skew_rows(int element_bytes) {
  return (sector_bytes + element_bytes - 1) / element_bytes;
}
/// Threads that gather: the words of one round hold whole elements, so that each thread has the same
/// part of an element in every round.
constexpr int gathered_round_words(int element_bytes) {
  const int odd_part = element_bytes / access_width(static_cast<size_type>(element_bytes), 4);
  return gathered_threads / odd_part * odd_part;
}
constexpr int gathered_round_elements(int element_bytes) {
  return gathered_round_words(element_bytes) * 4 / element_bytes;
}

template <int ElementBytes>
struct static_gathered_shape {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int skew_rows = gathered_skew_rows(ElementBytes);
  static constexpr int round_words = gathered_round_words(ElementBytes);
  static constexpr int round_elements = gathered_round_elements(ElementBytes);
  static_assert(round_words * 4 % ElementBytes == 0, "");
};

template <int ElementBytes>
TILETRANSPOSE_FUNCTION gathered_panel find_gathered_panel(const gathered_arguments& arguments,
                                                          unsigned block) {
  const tile_problem& problem = arguments.problem;
  const unsigned group = arguments.panels.quotient(block);
  const unsigned at = arguments.panels.remainder(block, group);
  const unsigned row_panel = arguments.col_panels.quotient(at);
  const unsigned col_panel = arguments.col_panels.remainder(at, row_panel);
  gathered_panel panel;
  panel.matrix = size_type{group} * arguments.panel_matrices;
  panel.row = size_type{row_panel} * arguments.panel_rows;
  panel.col = size_type{col_panel} * arguments.panel_cols;
  const auto part = [](size_type extent, size_type first, unsigned most) {
    const size_type left = first < extent ? extent - first : 0;
    return left < most ? static_cast<unsigned>(left) : most;
  };
  panel.matrices = part(arguments.batch, panel.matrix, arguments.panel_matrices);
  panel.rows = part(problem.ny, panel.row, arguments.panel_rows);
  panel.cols = part(problem.nx, panel.col, arguments.panel_cols);
  panel.lead_rows = arguments.cols_joined
                        ? 0
                        : part(panel.row, 0, static_gathered_shape<ElementBytes>::skew_rows);
  return panel;
}

TILETRANSPOSE_FUNCTION unsigned padded(unsigned byte, unsigned pad_shift) {
  return byte + (byte >> pad_shift) * 4;
}

/// Copies bytes [from, end) of a segment, `AccessBytes` at a time: its ends.
template <int AccessBytes>
TILETRANSPOSE_FUNCTION void stage_bytes(unsigned char* shared, unsigned offset,
                                        const unsigned char* first, unsigned from, unsigned end,
                                        unsigned lane, unsigned lanes, unsigned pad_shift) {
  for (unsigned byte = from + lane * AccessBytes; byte < end; byte += lanes * AccessBytes) {
    store_shared(shared + padded(offset + byte, pad_shift),
                 load_constant<access_word_t<AccessBytes>>(first + byte));
  }
}

/// Copies one segment of sub-word elements to shared words; `lanes` threads share it. Segments may start
/// inside of a word: they are shifted, so that all of them start at one in shared memory.
template <int AccessBytes>
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
    stage_bytes<AccessBytes>(shared, offset, first, whole, length, lane, lanes, pad_shift);
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
    stage_bytes<AccessBytes>(shared, offset, first, 0, smaller(4u, length), lane, lanes, pad_shift);
    stage_bytes<AccessBytes>(shared, offset, first, larger(4u, last * 4 + 4), length, lane, lanes,
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
template <int AccessBytes>
TILETRANSPOSE_FUNCTION void stage_segment(unsigned char* shared, unsigned offset,
                                          const unsigned char* first, unsigned length,
                                          unsigned lane, unsigned lanes,
                                          const gathered_arguments& arguments) {
  const unsigned lead = AccessBytes < 4 ? address_bits(first) & arguments.lead_mask : 0;
  const unsigned char* const base = first - lead;
  const unsigned pad_shift = arguments.pad_shift;
  const bool wide = AccessBytes < 4 && arguments.lead_mask == 15;
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
  if constexpr (AccessBytes < 4) {
    // The ends: bytes [lead, head) and [tail, lead + length) from `base` on.
    const unsigned head = lead > 0 ? smaller(width, lead + length) : 0;
    const unsigned tail = larger(head, end);
    const unsigned ends = head - smaller(head, lead) + (lead + length - tail);
    for (unsigned i = lane * AccessBytes; i < ends; i += lanes * AccessBytes) {
      const unsigned at = lead > 0 && i < head - lead ? lead + i : lead + length - (ends - i);
      const auto value = load_constant<access_word_t<AccessBytes>>(base + at);
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

/// Shared offset of a row with a place of its own, before its lead.
TILETRANSPOSE_FUNCTION unsigned row_place(unsigned row, const gathered_arguments& arguments) {
  return row * arguments.segment_pitch + (row >> arguments.skip_shift) * 4;
}

/// Copies rows, `stride_bytes` apart, each to its own place.
template <int AccessBytes, class Group>
TILETRANSPOSE_FUNCTION void stage_rows(Group group, unsigned char* shared, unsigned offset,
                                       const unsigned char* first, unsigned rows, unsigned length,
                                       const gathered_arguments& arguments) {
  const size_type stride_bytes = arguments.problem.in_stride_bytes;
  const unsigned lane_shift = arguments.segment_lanes;
  const unsigned lanes = 1u << lane_shift;
  const unsigned together = gathered_threads >> lane_shift;
  const unsigned lane = group.thread_rank() & (lanes - 1);
  const unsigned first_row = group.thread_rank() >> lane_shift;
  const auto stage_row = [&](unsigned row) {
    const unsigned char* const row_start = first + row * stride_bytes;
    const unsigned to = offset + row_place(row, arguments);
    if (AccessBytes < 4 && arguments.shifts) {
      stage_shifted<AccessBytes>(shared, to, row_start, length, lane, lanes, 31);
      return;
    }
    const unsigned lead = AccessBytes < 4 ? address_bits(row_start) % 4 : 0;
    const unsigned char* const base = row_start - lead;
    const unsigned end = (lead + length) / 4 * 4;
    unsigned byte = (lane - line_lag(base)) % lanes * 4;
    if (lead > 0 && byte == 0) { byte += lanes * 4; }
    TILETRANSPOSE_UNROLL_BY(4)
    for (; byte < end; byte += lanes * 4) { copy_async<4>(shared + to + byte, base + byte); }
    if constexpr (AccessBytes < 4) {
      // The ends: fewer than four bytes before the first whole word, and behind the last one.
      const unsigned head = lead > 0 ? smaller(4u, lead + length) : 0;
      const unsigned tail = larger(head, end);
      for (unsigned i = lane; i < 8; i += lanes) {
        const unsigned at = i < 4 ? lead + i * AccessBytes : tail + (i - 4) * AccessBytes;
        if (at < (i < 4 ? head : lead + length)) {
          store_shared(shared + to + at, load_constant<access_word_t<AccessBytes>>(base + at));
        }
      }
    }
  };
  const size_type step = together * stride_bytes;
  const unsigned char* from = first + first_row * stride_bytes + lane * 4;
  if (AccessBytes == 4 && length <= 2 * 4 * lanes) {
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
  if (AccessBytes < 4 && lanes == 32 && length + (4 - AccessBytes) <= 4 * 32 && !arguments.shifts &&
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

/// The lowest address that a panel reads in its matrix `matrix`.
template <int ElementBytes>
TILETRANSPOSE_FUNCTION const unsigned char* panel_origin(const gathered_arguments& arguments,
                                                         const gathered_panel& panel,
                                                         unsigned matrix) {
  const tile_problem& problem = arguments.problem;
  const size_type lowest_row =
      arguments.rows_backwards ? panel.row + panel.rows - 1 : panel.row - panel.lead_rows;
  return problem.in_matrix(panel.matrix + matrix) + lowest_row * problem.in_stride_bytes +
         panel.col * ElementBytes;
}

template <int ElementBytes, int AccessBytes, class Group>
TILETRANSPOSE_FUNCTION void stage_panel(Group group, unsigned char* shared,
                                        const gathered_arguments& arguments,
                                        const gathered_panel& panel) {
  const unsigned rows = panel.rows + panel.lead_rows;
  if (!arguments.rows_joined) {
    for (unsigned matrix = 0; matrix < panel.matrices; ++matrix) {
      stage_rows<AccessBytes>(group, shared, matrix * arguments.matrix_bytes,
                              panel_origin<ElementBytes>(arguments, panel, matrix), rows,
                              panel.cols * ElementBytes, arguments);
    }
    return;
  }
  const unsigned matrices = arguments.matrices_joined ? 1 : panel.matrices;
  const unsigned length =
      (arguments.matrices_joined ? panel.matrices : 1) * rows * panel.cols * ElementBytes;
  const unsigned lanes = 1u << arguments.segment_lanes;
  const unsigned lane = group.thread_rank() & (lanes - 1);
  for (unsigned matrix = group.thread_rank() >> arguments.segment_lanes; matrix < matrices;
       matrix += gathered_threads >> arguments.segment_lanes) {
    const unsigned offset = matrix * arguments.matrix_bytes;
    const unsigned char* const origin = panel_origin<ElementBytes>(arguments, panel, matrix);
    if (AccessBytes < 4 && arguments.shifts) {
      stage_shifted<AccessBytes>(shared, offset, origin, length, lane, lanes, arguments.pad_shift);
    } else {
      stage_segment<AccessBytes>(shared, offset, origin, length, lane, lanes, arguments);
    }
  }
}

/// Writes words byte, byte + step, ... before `end` of a segment that starts at `first`; the parts of a word come
/// from `places`, which advance by `shared_step` from word to word. Four words' parts are under way at a time.
/// \returns the first byte that is left
template <int AccessBytes>
TILETRANSPOSE_FUNCTION int gather_words(const unsigned char* shared, unsigned char* first, int byte,
                                        int end, int step, unsigned (&places)[4 / AccessBytes],
                                        unsigned shared_step) {
  constexpr int parts = 4 / AccessBytes;
  const auto read = [&](int part) {
    const auto value = load_shared<access_word_t<AccessBytes>>(shared + places[part]);
    places[part] += shared_step;
    return static_cast<unsigned>(value) << (8 * AccessBytes * part % 32);
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

/// Writes the segments of output rows that a panel holds, each from sector to sector.
template <int ElementBytes, int AccessBytes, class Group>
TILETRANSPOSE_FUNCTION void gather_separate_segments(Group group, const unsigned char* shared,
                                                     const gathered_arguments& arguments,
                                                     const gathered_panel& panel) {
  using part_word = access_word_t<AccessBytes>;
  constexpr int skew_rows = static_gathered_shape<ElementBytes>::skew_rows;
  constexpr unsigned parts = 4 / AccessBytes;
  // A round of whole warps advances whole rows: each thread stays in its column.
  constexpr bool straight = 128 % ElementBytes == 0;
  const tile_problem& problem = arguments.problem;
  const unsigned row_bytes = arguments.row_bytes;
  const unsigned pad_shift = arguments.pad_shift;
  const int length = static_cast<int>(panel.rows * ElementBytes);
  const bool first_segment = panel.row == 0;
  const bool last_segment = panel.row + panel.rows == problem.ny;
  const unsigned lanes = 1u << arguments.out_lanes;
  const unsigned together = gathered_threads >> arguments.out_lanes;
  const unsigned first_col = group.thread_rank() >> arguments.out_lanes;
  // The place of the row that is skew_rows above the panel, whether it is there or not.
  const unsigned base =
      panel.first_row_offset(arguments) + (panel.lead_rows - skew_rows) * row_bytes +
      (address_bits(panel_origin<ElementBytes>(arguments, panel, 0)) & arguments.lead_mask);
  unsigned char* const first = problem.out_matrix(panel.matrix) + panel.row * ElementBytes +
                               (panel.col + first_col) * problem.out_stride_bytes;
  const size_type col_step = together * problem.out_stride_bytes;

  unsigned char* segment = first;
  for (unsigned col = first_col; col < panel.cols; col += together, segment += col_step) {
    const int skew = static_cast<int>(address_bits(segment) % sector_bytes);
    const int begin = first_segment ? 0 : -skew;
    const int end = last_segment ? length : length - skew;
    const unsigned offset = base + col * ElementBytes;
    const auto place = [&](int byte) {
      const auto from = static_cast<unsigned>(byte + skew_rows * ElementBytes);
      return padded(offset + from / ElementBytes * row_bytes + from % ElementBytes, pad_shift);
    };
    const unsigned lane = (group.thread_rank() - line_lag(segment - skew)) % lanes;
    const int step = static_cast<int>(lanes * 4);
    int byte = static_cast<int>(lane * 4) - skew;
    // What a word that is not whole has of the row: the first and the last one.
    const auto store_part = [&](int word) {
      TILETRANSPOSE_UNROLL
      for (int i = 0; i < 4; i += AccessBytes) {
        if (word + i >= begin && word + i < end) {
          store_global(segment + word + i, load_shared<part_word>(shared + place(word + i)));
        }
      }
    };
    if (byte < begin) {
      if (AccessBytes < 4) { store_part(byte); }
      // Words before the row are skipped; a skew is shorter than a round.
      while (byte < begin) { byte += step; }
    }
    if constexpr (straight) {
      unsigned from[parts];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < parts; ++i) {
        from[i] = place(byte + static_cast<int>(i) * AccessBytes);
      }
      byte = gather_words<AccessBytes>(shared, segment, byte, end, step, from,
                                       arguments.out_step_bytes);
    } else {
      TILETRANSPOSE_UNROLL_BY(4)
      for (; byte + 4 <= end; byte += step) {
        unsigned joined = 0;
        TILETRANSPOSE_UNROLL
        for (int i = 0; i < 4; i += AccessBytes) {
          joined |= static_cast<unsigned>(load_shared<part_word>(shared + place(byte + i)))
                    << (8 * i);
        }
        store_global(segment + byte, joined);
      }
    }
    if (AccessBytes < 4 && byte < end) { store_part(byte); }
  }
}

/// Where an element of a segment is in shared memory. The counters advance like an odometer's: rows first, then
/// columns, then matrices; the offset goes along.
struct segment_place {
  unsigned row, col, offset;

  TILETRANSPOSE_FUNCTION segment_place(unsigned element, const gathered_arguments& arguments) {
    const unsigned column = arguments.rows_wrap.quotient(element);
    const unsigned matrix = arguments.cols_wrap.quotient(column);
    row = arguments.rows_wrap.remainder(element, column);
    col = arguments.cols_wrap.remainder(column, matrix);
    offset =
        matrix * arguments.matrix_bytes + row * arguments.row_bytes + col * arguments.col_bytes;
  }

  TILETRANSPOSE_FUNCTION void advance(unsigned rows, unsigned cols, unsigned bytes,
                                      const gathered_arguments& arguments) {
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

/// Writes what a segment has before its first and behind its last whole word. `place(byte)` is the shared offset
/// of a byte of it.
template <int AccessBytes, class Place>
TILETRANSPOSE_FUNCTION void gather_ends(const unsigned char* shared, unsigned char* first,
                                        unsigned length, unsigned head, unsigned lane,
                                        unsigned lanes, Place place) {
  const unsigned tail = (length - head) % 4;
  for (unsigned i = lane * AccessBytes; i < head + tail; i += lanes * AccessBytes) {
    const unsigned byte = i < head ? i : length - tail + (i - head);
    store_global(first + byte, load_shared<access_word_t<AccessBytes>>(shared + place(byte)));
  }
}

/// Writes the segments of the output that a panel holds.
template <int ElementBytes, int AccessBytes, class Group>
TILETRANSPOSE_FUNCTION void gather_joined_segments(Group group, const unsigned char* shared,
                                                   const gathered_arguments& arguments,
                                                   const gathered_panel& panel) {
  using part_word = access_word_t<AccessBytes>;
  constexpr unsigned round_words = static_gathered_shape<ElementBytes>::round_words;
  const tile_problem& problem = arguments.problem;
  const unsigned pad_shift = arguments.pad_shift;
  const unsigned rank = group.thread_rank();
  const unsigned segments = arguments.out_matrices_joined ? 1 : panel.matrices;
  const unsigned length = (arguments.out_matrices_joined ? panel.matrices : 1) * panel.cols *
                          panel.rows * static_cast<unsigned>(ElementBytes);
  const auto read = [&](unsigned offset) {
    return load_shared<part_word>(shared + padded(offset, pad_shift));
  };
  [[maybe_unused]] const bool is_near = arguments.rows_wrap.divisor >= 4;
  // Columns of a segment count from its start, which is the last one where they lie backwards.
  const size_type lowest_col = arguments.cols_backwards ? panel.col + panel.cols - 1 : panel.col;
  const unsigned first_offset =
      panel.first_row_offset(arguments) +
      (arguments.cols_backwards ? (panel.cols - 1) * ElementBytes : 0) +
      (address_bits(panel_origin<ElementBytes>(arguments, panel, 0)) & arguments.lead_mask);
  for (unsigned segment = 0; segment < segments; ++segment) {
    const unsigned segment_offset = first_offset + segment * arguments.matrix_bytes;
    unsigned char* const first =
        problem.out_matrix(panel.matrix + segment) + lowest_col * problem.out_stride_bytes;
    const unsigned head = AccessBytes < 4 ? smaller((0 - address_bits(first)) % 4, length) : 0;
    if (rank < round_words) {
      unsigned byte = head + 4 * ((rank + round_words - line_lag(first + head)) % round_words);
      segment_place at(byte / ElementBytes, arguments);
      at.offset += segment_offset;
      const unsigned first_part = byte % ElementBytes;
      if constexpr (AccessBytes == 4) {
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
        if constexpr (AccessBytes == 4) {
          word = read(at.offset + first_part);
        } else if (is_near) {
          // At most one column ends among the parts of a word.
          const unsigned wrap =
              arguments.row_wrap_bytes +
              (at.col + 1 >= arguments.cols_wrap.divisor ? arguments.col_wrap_bytes : 0);
          unsigned offset = at.offset + first_part;
          unsigned part = first_part;
          unsigned row = at.row;
          TILETRANSPOSE_UNROLL
          for (int i = 0; i < 4; i += AccessBytes) {
            word |= static_cast<unsigned>(read(offset)) << (8 * i);
            part += AccessBytes;
            offset += AccessBytes;
            if (part == ElementBytes) {
              part = 0;
              offset += arguments.row_bytes - ElementBytes;
              if (++row == arguments.rows_wrap.divisor) { offset += wrap; }
            }
          }
        } else {
          segment_place next = at;
          unsigned part = first_part;
          TILETRANSPOSE_UNROLL
          for (int i = 0; i < 4; i += AccessBytes) {
            word |= static_cast<unsigned>(read(next.offset + part)) << (8 * i);
            part += AccessBytes;
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
    if constexpr (AccessBytes < 4) {
      gather_ends<AccessBytes>(
          shared, first, length, head, rank, gathered_threads, [&](unsigned byte) {
            const segment_place at(byte / ElementBytes, arguments);
            return padded(segment_offset + at.offset + byte % ElementBytes, pad_shift);
          });
    }
  }
}

/// Writes the segments of the output that a panel holds in rounds that advance whole columns, or whole matrices:
/// the parts of a thread's word come from the same rows in every round, so their places are found once.
template <int ElementBytes, int AccessBytes, class Group>
TILETRANSPOSE_FUNCTION void gather_repeating(Group group, const unsigned char* shared,
                                             const gathered_arguments& arguments,
                                             const gathered_panel& panel) {
  constexpr unsigned parts = 4 / AccessBytes;
  const tile_problem& problem = arguments.problem;
  const unsigned lanes = 1u << arguments.repeat_lanes;
  const unsigned lane = group.thread_rank() & (lanes - 1);
  const unsigned first_segment = group.thread_rank() >> arguments.repeat_lanes;
  const unsigned together = gathered_threads >> arguments.repeat_lanes;
  const unsigned segments = arguments.out_matrices_joined ? 1 : panel.matrices;
  const unsigned length = (arguments.out_matrices_joined ? panel.matrices : 1) * panel.cols *
                          panel.rows * static_cast<unsigned>(ElementBytes);
  const size_type lowest_col = arguments.cols_backwards ? panel.col + panel.cols - 1 : panel.col;
  const unsigned first_col = arguments.cols_backwards ? (panel.cols - 1) * ElementBytes : 0;
  const unsigned joined_bytes = panel.cols * ElementBytes;
  const auto stride = static_cast<unsigned>(problem.in_stride_bytes);

  unsigned head = 0;
  unsigned first_byte = 0;
  unsigned places[parts] = {};
  unsigned char* first = nullptr;
  for (unsigned segment = first_segment; segment < segments; segment += together) {
    // Matrices of one segment count their rows on; those of several start at their own offsets.
    const auto place = [&](unsigned byte) {
      const unsigned origin = address_bits(
          panel_origin<ElementBytes>(arguments, panel, arguments.matrices_joined ? 0 : segment));
      const unsigned element = byte / ElementBytes;
      const unsigned column = arguments.rows_wrap.quotient(element);
      const unsigned matrix = arguments.cols_wrap.quotient(column);
      unsigned row = arguments.rows_wrap.remainder(element, column);
      const unsigned col = arguments.cols_wrap.remainder(column, matrix);
      if (arguments.rows_backwards) { row = panel.rows - 1 - row; }
      row += ((arguments.matrices_joined ? segment : 0) + matrix) * panel.rows;
      const unsigned start = !arguments.rows_joined
                                 ? row_place(row, arguments) + (origin + row * stride) % 4
                                 : row * joined_bytes + (origin & arguments.lead_mask) +
                                       (arguments.pads_rows ? row * ElementBytes / 4 * 4 : 0);
      return (arguments.matrices_joined ? 0 : segment * arguments.matrix_bytes) + start +
             first_col + col * arguments.col_bytes + byte % ElementBytes;
    };
    if (segment == first_segment || !arguments.same_places) {
      first = problem.out_matrix(panel.matrix + segment) + lowest_col * problem.out_stride_bytes;
      head = smaller((0 - address_bits(first)) % 4, length);
      const unsigned lag = line_lag(first + head);  // shorter than a round
      first_byte = head + 4 * (lane >= lag ? lane - lag : lane + arguments.repeat_words - lag);
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < parts; ++i) { places[i] = place(first_byte + i * AccessBytes); }
    } else {
      first += together * problem.out_batch_bytes;
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < parts; ++i) { places[i] += together * arguments.matrix_bytes; }
    }
    if (lane < arguments.repeat_words) {
      unsigned from[parts];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < parts; ++i) { from[i] = places[i]; }
      gather_words<AccessBytes>(
          shared, first, static_cast<int>(first_byte), static_cast<int>(length),
          static_cast<int>(4 * arguments.repeat_words), from, arguments.repeat_bytes);
    }
    if (head > 0 || length % 4 != 0) {
      gather_ends<AccessBytes>(shared, first, length, head, lane, lanes, place);
    }
  }
}

/// The kernel's body: one block moves the panel that `block` names.
/// Shared memory: what `plan_gathered` says, aligned to 16. Barriers: one, inside.
template <int ElementBytes, int AccessBytes, class Group>
TILETRANSPOSE_FUNCTION void move_gathered(Group group, unsigned char* shared,
                                          const gathered_arguments& arguments, unsigned block) {
  const gathered_panel panel = find_gathered_panel<ElementBytes>(arguments, block);
  stage_panel<ElementBytes, AccessBytes>(group, shared, arguments, panel);
  commit_copies();
  wait_for_copies(0);
  group.sync();
  if (!arguments.cols_joined) {
    gather_separate_segments<ElementBytes, AccessBytes>(group, shared, arguments, panel);
  } else if (AccessBytes < 4 && arguments.repeats) {
    if constexpr (AccessBytes < 4) {
      gather_repeating<ElementBytes, AccessBytes>(group, shared, arguments, panel);
    }
  } else {
    gather_joined_segments<ElementBytes, AccessBytes>(group, shared, arguments, panel);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
