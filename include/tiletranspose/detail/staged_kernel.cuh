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

#include <cuda_pipeline_primitives.h>

#include <tiletranspose/detail/tile_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline constexpr int staged_threads = 256;
inline constexpr unsigned unlimited = 1u << 30;

struct staged_arguments {
  tile_problem problem;
  size_type batch;         ///< matrices in all
  unsigned box_matrices;   ///< the box, in elements of the input
  unsigned box_rows;
  unsigned box_cols;
  divider boxes;           ///< boxes of one matrix
  divider col_boxes;       ///< boxes side by side

  // Staging: segments that are contiguous in the input.
  bool rows_joined;        ///< the rows of a matrix are one segment
  bool matrices_joined;    ///< and the matrices of the box too
  divider segment_words;   ///< words a segment can touch
  divider matrix_segments; ///< segments of one matrix: its rows in a full box, 1 where they are joined
  unsigned segment_pitch;  ///< shared bytes from segment to segment
  unsigned pad_shift;      ///< one word is skipped every 2^pad_shift bytes; 31: none

  // Gathering: segments that are contiguous in the output.
  bool cols_joined;          ///< the rows of an output matrix are one span
  bool out_matrices_joined;  ///< and the matrices of the box too
  divider piece_words;       ///< words of a piece of an output row
  divider matrix_pieces;     ///< pieces of one matrix: its output rows in the box
  divider rows_wrap;         ///< rows after which a span continues with the next column
  divider cols_wrap;         ///< columns after which it continues with the next matrix
  unsigned row_step;         ///< what a span advances in one round of the block
  unsigned col_step;
  unsigned matrix_step;
  unsigned matrix_bytes;     ///< shared bytes from matrix to matrix
  unsigned row_bytes;        ///< shared bytes from row to row
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
  size_type matrix, row, col;         ///< first of each
  unsigned matrices, rows, cols;      ///< how many
  unsigned lead_rows;                 ///< rows staged before `row`, for output rows that start off a sector
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
  box.lead_rows = arguments.cols_joined ? 0 : part(box.row, 0, staged_shape<ElementBytes>::skew_rows);
  return box;
}

/// Steps through (segment, word) pairs in rounds of the block, without dividing in the loop.
struct segment_walk {
  unsigned segment, word;
  unsigned segment_step, word_step, words;

  TILETRANSPOSE_FUNCTION segment_walk(divider per_segment, unsigned rank, unsigned round)
      : segment(per_segment.quotient(rank)),
        word(per_segment.remainder(rank, segment)),
        segment_step(per_segment.quotient(round)),
        word_step(per_segment.remainder(round, segment_step)),
        words(per_segment.divisor) {}

  TILETRANSPOSE_FUNCTION void next() {
    segment += segment_step;
    word += word_step;
    if (word >= words) {
      word -= words;
      ++segment;
    }
  }
};

TILETRANSPOSE_FUNCTION unsigned padded(unsigned byte, unsigned pad_shift) {
  return byte + (byte >> pad_shift) * 4;
}

template <int ElementBytes, int Unit, class Group>
TILETRANSPOSE_FUNCTION void stage_box(Group group, unsigned char* shared,
                                      const staged_arguments& arguments, const staged_box& box) {
  const tile_problem& problem = arguments.problem;
  const unsigned rows = box.rows + box.lead_rows;
  const unsigned row_elements = arguments.rows_joined ? rows * box.cols : box.cols;
  const unsigned length =
      (arguments.matrices_joined ? box.matrices * row_elements : row_elements) * ElementBytes;
  const unsigned segments =
      (arguments.matrices_joined ? 1 : box.matrices) * arguments.matrix_segments.divisor;
  const size_type first_byte = (box.row - box.lead_rows) * problem.in_stride_bytes +
                               box.col * ElementBytes;
  segment_walk walk(arguments.segment_words, group.thread_rank(), staged_threads);
TILETRANSPOSE_UNROLL_BY(4)
  for (; walk.segment < segments; walk.next()) {
    unsigned matrix = walk.segment;
    unsigned row = 0;
    if (!arguments.rows_joined) {
      matrix = arguments.matrix_segments.quotient(walk.segment);
      row = arguments.matrix_segments.remainder(walk.segment, matrix);
      if (row >= rows) { continue; }
    }
    const unsigned char* first =
        problem.in_matrix(box.matrix + matrix) + first_byte + row * problem.in_stride_bytes;
    const unsigned off = Unit < 4 ? address_bits(first) % 4 : 0;
    const int byte = static_cast<int>(walk.word * 4 - off);
    unsigned char* to =
        shared + padded(walk.segment * arguments.segment_pitch + walk.word * 4, arguments.pad_shift);
    if (byte >= 0 && byte + 4 <= static_cast<int>(length)) {
      copy_word_async(to, first + byte);
    } else if constexpr (Unit < 4) {
      using part = access_word_t<Unit>;
TILETRANSPOSE_UNROLL
      for (int i = 0; i < 4; i += Unit) {
        if (byte + i >= 0 && byte + i < static_cast<int>(length)) {
          store_shared(to + i, load_global<part>(first + byte + i));
        }
      }
    }
  }
}

/// Where an element of the box was staged. In a span the three counters run like an odometer: rows
/// first, then columns, then matrices.
struct staged_place {
  unsigned matrix, col, row;

  TILETRANSPOSE_FUNCTION void advance(unsigned rows, unsigned cols, unsigned matrices,
                                      const staged_arguments& arguments) {
    row += rows;
    col += cols;
    matrix += matrices;
    if (row >= arguments.rows_wrap.divisor) {
      row -= arguments.rows_wrap.divisor;
      ++col;
    }
    if (col >= arguments.cols_wrap.divisor) {
      col -= arguments.cols_wrap.divisor;
      ++matrix;
    }
  }
};

/// Reads parts of elements from where `stage_box` put them.
template <int ElementBytes, int Unit>
class staged_reader {
 public:
  TILETRANSPOSE_FUNCTION staged_reader(const unsigned char* shared, const staged_arguments& arguments,
                                       const staged_box& box)
      : shared_(shared), arguments_(arguments) {
    if constexpr (Unit < 4) {
      const tile_problem& problem = arguments.problem;
      first_bits_ = address_bits(problem.in_matrix(box.matrix) +
                                 (box.row - box.lead_rows) * problem.in_stride_bytes +
                                 box.col * ElementBytes);
      matrix_bits_ =
          arguments.matrices_joined ? 0 : static_cast<unsigned>(problem.in_batch_bytes);
      row_bits_ = arguments.rows_joined ? 0 : static_cast<unsigned>(problem.in_stride_bytes);
    }
  }

  /// The unit that starts at `byte` of the element at `at`.
  TILETRANSPOSE_FUNCTION unsigned operator()(const staged_place& at, unsigned byte) const {
    unsigned offset = at.matrix * arguments_.matrix_bytes + at.row * arguments_.row_bytes +
                      at.col * ElementBytes + byte;
    // Words were staged as they lie, so an element keeps its segment's distance from a word.
    if constexpr (Unit < 4) {
      offset += (first_bits_ + at.row * row_bits_ + at.matrix * matrix_bits_) % 4;
    }
    return load_shared<access_word_t<Unit>>(shared_ + padded(offset, arguments_.pad_shift));
  }

 private:
  const unsigned char* shared_;
  const staged_arguments& arguments_;
  unsigned first_bits_ = 0;
  unsigned matrix_bits_ = 0;
  unsigned row_bits_ = 0;
};

/// Writes the pieces of output rows that a box holds, each from sector to sector.
template <int ElementBytes, int Unit, class Group>
TILETRANSPOSE_FUNCTION void gather_pieces(Group group, const unsigned char* shared,
                                          const staged_arguments& arguments, const staged_box& box) {
  constexpr int lead_bytes = staged_shape<ElementBytes>::skew_rows * ElementBytes;
  const tile_problem& problem = arguments.problem;
  const staged_reader<ElementBytes, Unit> read(shared, arguments, box);
  const size_type first_byte = box.row * ElementBytes;
  const int length = static_cast<int>(box.rows * ElementBytes);
  const bool first_piece = box.row == 0;
  const bool last_piece = box.row + box.rows == problem.ny;
  const unsigned row_base = box.lead_rows - staged_shape<ElementBytes>::skew_rows;
  const unsigned pieces = arguments.matrix_pieces.divisor * box.matrices;
  segment_walk walk(arguments.piece_words, group.thread_rank(), staged_threads);
TILETRANSPOSE_UNROLL_BY(4)
  for (; walk.segment < pieces; walk.next()) {
    staged_place at;
    at.matrix = arguments.matrix_pieces.quotient(walk.segment);
    at.col = arguments.matrix_pieces.remainder(walk.segment, at.matrix);
    if (at.col >= box.cols) { continue; }
    unsigned char* first = problem.out_matrix(box.matrix + at.matrix) +
                           (box.col + at.col) * problem.out_stride_bytes + first_byte;
    const int skew = static_cast<int>(address_bits(first) % sector_bytes);
    const int byte = static_cast<int>(walk.word * 4) - skew;
    const int begin = first_piece ? 0 : -skew;
    const int end = last_piece ? length : length - skew;
    const unsigned from = static_cast<unsigned>(byte + lead_bytes);
    at.row = from / ElementBytes + row_base;
    unsigned part = from % ElementBytes;
    if constexpr (Unit == 4) {
      if (byte >= begin && byte < end) { store_global(first + byte, read(at, part)); }
    } else {
      unsigned word = 0;
TILETRANSPOSE_UNROLL
      for (int i = 0; i < 4; i += Unit) {
        if (byte + i >= begin && byte + i < end) { word |= read(at, part) << (8 * i); }
        part += Unit;
        if (part == ElementBytes) {
          part = 0;
          ++at.row;
        }
      }
      if (byte >= begin && byte + 4 <= end) {
        store_global(first + byte, word);
      } else {
TILETRANSPOSE_UNROLL
        for (int i = 0; i < 4; i += Unit) {
          if (byte + i >= begin && byte + i < end) {
            store_global(first + byte + i, static_cast<access_word_t<Unit>>(word >> (8 * i)));
          }
        }
      }
    }
  }
}

/// Writes the spans of the output that a box holds.
template <int ElementBytes, int Unit, class Group>
TILETRANSPOSE_FUNCTION void gather_spans(Group group, const unsigned char* shared,
                                         const staged_arguments& arguments, const staged_box& box) {
  constexpr unsigned round_words = staged_shape<ElementBytes>::round_words;
  const tile_problem& problem = arguments.problem;
  const staged_reader<ElementBytes, Unit> read(shared, arguments, box);
  const unsigned rank = group.thread_rank();
  const unsigned spans = arguments.out_matrices_joined ? 1 : box.matrices;
  const unsigned length = (arguments.out_matrices_joined ? box.matrices : 1) * box.cols * box.rows *
                          static_cast<unsigned>(ElementBytes);
  const auto place_of = [&](unsigned byte, unsigned span) {
    staged_place at;
    const unsigned element = byte / ElementBytes;
    at.col = arguments.rows_wrap.quotient(element);
    at.row = arguments.rows_wrap.remainder(element, at.col);
    at.matrix = arguments.cols_wrap.quotient(at.col);
    at.col = arguments.cols_wrap.remainder(at.col, at.matrix);
    at.matrix += span;
    return at;
  };
  for (unsigned span = 0; span < spans; ++span) {
    unsigned char* first =
        problem.out_matrix(box.matrix + span) + box.col * problem.out_stride_bytes;
    const unsigned head = Unit < 4 ? smaller((0 - address_bits(first)) % 4, length) : 0;
    if (rank < round_words) {
      staged_place at = place_of(head + 4 * rank, span);
      const unsigned first_part = (head + 4 * rank) % ElementBytes;
TILETRANSPOSE_UNROLL_BY(4)
      for (unsigned byte = head + 4 * rank; byte + 4 <= length; byte += 4 * round_words) {
        unsigned word = 0;
        if constexpr (Unit == 4) {
          word = read(at, first_part);
        } else {
          staged_place next = at;
          unsigned part = first_part;
TILETRANSPOSE_UNROLL
          for (int i = 0; i < 4; i += Unit) {
            word |= read(next, part) << (8 * i);
            part += Unit;
            if (part == ElementBytes) {
              part = 0;
              next.advance(1, 0, 0, arguments);
            }
          }
        }
        store_global(first + byte, word);
        at.advance(arguments.row_step, arguments.col_step, arguments.matrix_step, arguments);
      }
    }
    if constexpr (Unit < 4) {
      // What is left before the first and behind the last whole word.
      const unsigned tail = (length - head) % 4;
      for (unsigned i = rank * Unit; i < head + tail; i += staged_threads * Unit) {
        const unsigned byte = i < head ? i : length - tail + (i - head);
        const unsigned value = read(place_of(byte, span), byte % ElementBytes);
        store_global(first + byte, static_cast<access_word_t<Unit>>(value));
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
