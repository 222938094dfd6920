// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A gathered panel, and how it is copied to shared memory as it lies: whole segments, or rows one by one, by
/// asynchronous copies of words or of 16 bytes; and their ends, by accesses of their elements.

#pragma once

#include <tiletranspose/detail/choose/tuning_panel.cuh>
#include <tiletranspose/detail/core/async_copy.cuh>
#include <tiletranspose/detail/core/packed_elements.cuh>
#include <tiletranspose/detail/request/problem.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

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
TILETRANSPOSE_HOST_DEVICE constexpr int gathered_skew_rows(int element_bytes) {
  return (sector_bytes + element_bytes - 1) / element_bytes;
}
/// Threads that gather: the words of one round hold whole elements, so that each thread has the same
/// part of an element in every round.
TILETRANSPOSE_HOST_DEVICE constexpr int gathered_round_words(int element_bytes) {
  const int odd_part = element_bytes / access_width(static_cast<size_type>(element_bytes), 4);
  return panel_threads / odd_part * odd_part;
}
TILETRANSPOSE_HOST_DEVICE constexpr int gathered_round_elements(int element_bytes) {
  return gathered_round_words(element_bytes) * 4 / element_bytes;
}

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
  panel.lead_rows =
      arguments.cols_joined ? 0 : part(panel.row, 0, gathered_skew_rows(ElementBytes));
  return panel;
}

TILETRANSPOSE_FUNCTION unsigned padded(unsigned byte, unsigned pad_shift) {
  return byte + (byte >> pad_shift) * 4;
}

/// Words from the start of a 128-byte line to an address: threads that count their first word so much
/// later, and round the end, make warps access whole lines.
TILETRANSPOSE_FUNCTION unsigned line_lag(const void* address) {
  return address_bits(address) % 128 / 4;
}

/// Shared offset of a row with a place of its own, before its lead.
TILETRANSPOSE_FUNCTION unsigned row_place(unsigned row, const gathered_arguments& arguments) {
  return row * arguments.segment_pitch + (row >> arguments.skip_shift) * 4;
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

/// Copies rows, `stride_bytes` apart, each to its own place.
template <int AccessBytes, class Group>
TILETRANSPOSE_FUNCTION void stage_rows(Group group, unsigned char* shared, unsigned offset,
                                       const unsigned char* first, unsigned rows, unsigned length,
                                       const gathered_arguments& arguments) {
  const size_type stride_bytes = arguments.problem.in_stride_bytes;
  const unsigned lane_shift = arguments.segment_lanes;
  const unsigned lanes = 1u << lane_shift;
  const unsigned together = panel_threads >> lane_shift;
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
  unsigned first_left = first_row;
  unsigned left_step = together;
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
    first_left = first_row == 0 ? 0 : first_row == together - 1 && rows > 1 ? rows - 1 : rows;
    left_step = rows;
  }
  for (unsigned row = first_left; row < rows; row += left_step) {
    const loop_step here(row / together);
    stage_row(row);
  }
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
       matrix += panel_threads >> arguments.segment_lanes) {
    const unsigned offset = matrix * arguments.matrix_bytes;
    const unsigned char* const origin = panel_origin<ElementBytes>(arguments, panel, matrix);
    if (AccessBytes < 4 && arguments.shifts) {
      stage_shifted<AccessBytes>(shared, offset, origin, length, lane, lanes, arguments.pad_shift);
    } else {
      stage_segment<AccessBytes>(shared, offset, origin, length, lane, lanes, arguments);
    }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
