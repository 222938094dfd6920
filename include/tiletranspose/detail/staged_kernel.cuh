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
/// *Stage* copies the box to shared memory as it lies, word by word. *Gather* takes each word of the
/// output in turn and collects its elements from where they were staged.

#pragma once

#if defined(__CUDACC__)
#include <cuda_pipeline_primitives.h>
#endif

#include <tiletranspose/detail/tile_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline constexpr int staged_threads = 256;
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
  unsigned segment_lanes;  ///< log2 of the threads that share a segment
  unsigned segment_pitch;  ///< shared bytes from segment to segment
  unsigned pad_shift;      ///< one word is skipped every 2^pad_shift bytes; 31: none

  // Gathering: segments that are contiguous in the output.
  bool cols_joined;          ///< the rows of an output matrix are one span
  bool cols_backwards;       ///< one that starts with the last of them, as the stride is negative
  bool out_matrices_joined;  ///< and the matrices of the box too
  unsigned piece_lanes;      ///< log2 of the threads that share a piece of an output row
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
};

/// Copies one word to shared memory without waiting for it.
TILETRANSPOSE_FUNCTION void copy_word_async(unsigned char* shared, const unsigned char* global) {
#if TILETRANSPOSE_ON_DEVICE
  __pipeline_memcpy_async(shared, global, 4);
#else
  store_shared(shared, load_global<unsigned>(global));
#endif
}
TILETRANSPOSE_FUNCTION void wait_for_copies() {
#if TILETRANSPOSE_ON_DEVICE
  __pipeline_commit();
  __pipeline_wait_prior(0);
#endif
}

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

template <int ElementBytes>
struct staged_shape {
  static constexpr int element_bytes = ElementBytes;
  /// Rows that a skewed piece can reach back.
  static constexpr int skew_rows = (sector_bytes + ElementBytes - 1) / ElementBytes;
  /// Threads that gather: the words of one round hold whole elements, so that each thread meets the same
  /// part of an element in every round.
  static constexpr int odd_part = ElementBytes / (ElementBytes % 4 == 0   ? 4
                                                  : ElementBytes % 2 == 0 ? 2
                                                                          : 1);
  static constexpr int round_words = staged_threads / odd_part * odd_part;
  static constexpr int round_elements = round_words * 4 / ElementBytes;
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
      copy_word_async(shared + padded(offset + byte, pad_shift), first + byte);
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

/// Copies `segments` segments of words, `stride_bytes` apart.
TILETRANSPOSE_FUNCTION void stage_words(unsigned char* shared, unsigned offset, unsigned pitch,
                                        const unsigned char* first, size_type stride_bytes,
                                        unsigned segments, unsigned length, unsigned rank,
                                        unsigned lane_shift, unsigned pad_shift) {
  const unsigned lanes = 1u << lane_shift;
  const unsigned together = staged_threads >> lane_shift;
  const unsigned group = rank >> lane_shift;
  const unsigned char* from = first + group * stride_bytes;
  for (unsigned segment = group; segment < segments; segment += together) {
    const unsigned to = offset + segment * pitch;
    TILETRANSPOSE_UNROLL_BY(4)
    for (unsigned byte = (rank - line_lag(from)) % lanes * 4; byte < length; byte += lanes * 4) {
      copy_word_async(shared + padded(to + byte, pad_shift), from + byte);
    }
    from += together * stride_bytes;
  }
}

template <int ElementBytes, int Unit, class Group>
TILETRANSPOSE_FUNCTION void stage_box(Group group, unsigned char* shared,
                                      const staged_arguments& arguments, const staged_box& box) {
  const tile_problem& problem = arguments.problem;
  const unsigned rows = box.rows + box.lead_rows;
  const unsigned row_elements = arguments.rows_joined ? rows * box.cols : box.cols;
  const unsigned length =
      (arguments.matrices_joined ? box.matrices * row_elements : row_elements) * ElementBytes;
  const size_type lowest_row =
      arguments.rows_backwards ? box.row + box.rows - 1 : box.row - box.lead_rows;
  const unsigned char* const origin =
      problem.in_matrix(box.matrix) + lowest_row * problem.in_stride_bytes + box.col * ElementBytes;
  const unsigned rank = group.thread_rank();
  const unsigned pitch = arguments.segment_pitch;
  const unsigned row_segments = arguments.rows_joined ? 1 : rows;
  if constexpr (Unit == 4) {
    if (arguments.rows_joined && !arguments.matrices_joined && box.matrices > 1) {
      stage_words(shared, 0, pitch, origin, problem.in_batch_bytes, box.matrices, length, rank,
                  arguments.segment_lanes, arguments.pad_shift);
      return;
    }
    const unsigned matrices = arguments.matrices_joined ? 1 : box.matrices;
    for (unsigned matrix = 0; matrix < matrices; ++matrix) {
      stage_words(shared, matrix * arguments.matrix_bytes, pitch,
                  origin + matrix * problem.in_batch_bytes, problem.in_stride_bytes, row_segments,
                  length, rank, arguments.segment_lanes, arguments.pad_shift);
    }
  } else {
    const unsigned segments = (arguments.matrices_joined ? 1 : box.matrices) * row_segments;
    const unsigned lanes = 1u << arguments.segment_lanes;
    unsigned row = rank >> arguments.segment_lanes;
    unsigned matrix = 0;
    for (unsigned segment = row; segment < segments;
         segment += staged_threads >> arguments.segment_lanes) {
      while (row >= row_segments) {
        row -= row_segments;
        ++matrix;
      }
      stage_shifted<Unit>(shared, matrix * arguments.matrix_bytes + row * pitch,
                          origin + matrix * problem.in_batch_bytes + row * problem.in_stride_bytes,
                          length, rank & (lanes - 1), lanes, arguments.pad_shift);
      row += staged_threads >> arguments.segment_lanes;
    }
  }
}

/// Writes the pieces of output rows that a box holds, each from sector to sector.
template <int ElementBytes, int Unit, class Group>
TILETRANSPOSE_FUNCTION void gather_pieces(Group group, const unsigned char* shared,
                                          const staged_arguments& arguments,
                                          const staged_box& box) {
  using part_word = access_word_t<Unit>;
  constexpr int skew_rows = staged_shape<ElementBytes>::skew_rows;
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
  const unsigned base = box.first_row_offset(arguments) + (box.lead_rows - skew_rows) * row_bytes;
  unsigned char* const first = problem.out_matrix(box.matrix) + box.row * ElementBytes +
                               (box.col + first_col) * problem.out_stride_bytes;
  const size_type col_step = together * problem.out_stride_bytes;

  unsigned char* piece = first;
  for (unsigned col = first_col; col < box.cols; col += together, piece += col_step) {
    const int skew = static_cast<int>(address_bits(piece) % sector_bytes);
    const int begin = first_piece ? 0 : -skew;
    const int end = last_piece ? length : length - skew;
    const unsigned offset = base + col * ElementBytes;
    const auto shared_part = [&](unsigned at) {
      return load_shared<part_word>(
          shared + padded(offset + at / ElementBytes * row_bytes + at % ElementBytes, pad_shift));
    };
    const unsigned lane = (group.thread_rank() - line_lag(piece - skew)) % lanes;
    TILETRANSPOSE_UNROLL_BY(4)
    for (int byte = static_cast<int>(lane * 4) - skew; byte < end;
         byte += static_cast<int>(lanes * 4)) {
      const unsigned from = static_cast<unsigned>(byte + skew_rows * ElementBytes);
      if constexpr (Unit == 4) {
        if (byte >= begin) { store_global(piece + byte, shared_part(from)); }
      } else if (byte >= begin && byte + 4 <= end) {
        unsigned joined = 0;
        TILETRANSPOSE_UNROLL
        for (int i = 0; i < 4; i += Unit) {
          joined |= static_cast<unsigned>(shared_part(from + i)) << (8 * i);
        }
        store_global(piece + byte, joined);
      } else {
        TILETRANSPOSE_UNROLL
        for (int i = 0; i < 4; i += Unit) {
          if (byte + i >= begin && byte + i < end) {
            store_global(piece + byte + i, shared_part(from + i));
          }
        }
      }
    }
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
  [[maybe_unused]] const bool near = arguments.rows_wrap.divisor >= 4;
  // Columns of a span count from its start, which is the last one where they lie backwards.
  const size_type lowest_col = arguments.cols_backwards ? box.col + box.cols - 1 : box.col;
  const unsigned first_offset = box.first_row_offset(arguments) +
                                (arguments.cols_backwards ? (box.cols - 1) * ElementBytes : 0);
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
      TILETRANSPOSE_UNROLL_BY(4)
      for (; byte + 4 <= length; byte += 4 * round_words) {
        unsigned word = 0;
        if constexpr (Unit == 4) {
          word = read(at.offset + first_part);
        } else if (near) {
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
      // What is left before the first and behind the last whole word.
      const unsigned tail = (length - head) % 4;
      for (unsigned i = rank * Unit; i < head + tail; i += staged_threads * Unit) {
        const unsigned byte = i < head ? i : length - tail + (i - head);
        const span_place at(byte / ElementBytes, arguments);
        store_global(first + byte, read(span_offset + at.offset + byte % ElementBytes));
      }
    }
  }
}

/// The kernel's body: one block moves the box that `block` names.
/// Shared memory: what `plan_staged` says, aligned to 4. Barriers: one, inside.
template <int ElementBytes, int Unit, class Group>
TILETRANSPOSE_FUNCTION void move_box(Group group, unsigned char* shared,
                                     const staged_arguments& arguments, unsigned block) {
  const staged_box box = find_box<ElementBytes>(arguments, block);
  stage_box<ElementBytes, Unit>(group, shared, arguments, box);
  wait_for_copies();
  group.sync();
  if (arguments.cols_joined) {
    gather_spans<ElementBytes, Unit>(group, shared, arguments, box);
  } else {
    gather_pieces<ElementBytes, Unit>(group, shared, arguments, box);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
