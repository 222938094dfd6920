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

#include <tiletranspose/detail/panel/gathered_stage.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

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
  constexpr int skew_rows = gathered_skew_rows(ElementBytes);
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
  const unsigned together = panel_threads >> arguments.out_lanes;
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

/// The common case of whole words, without what it does not need: no pads, and no column behind the last one.
template <unsigned RoundWords>
TILETRANSPOSE_FUNCTION void gather_unpadded(const unsigned char* shared, unsigned char* first,
                                            unsigned byte, unsigned length, segment_place at,
                                            const gathered_arguments& arguments) {
  TILETRANSPOSE_UNROLL_BY(4)
  for (; byte < length; byte += 4 * RoundWords) {
    store_global(first + byte, load_shared<unsigned>(shared + at.offset));
    at.row += arguments.row_step;
    at.offset += arguments.round_bytes;
    if (at.row >= arguments.rows_wrap.divisor) {
      at.row -= arguments.rows_wrap.divisor;
      at.offset += arguments.row_wrap_bytes;
    }
  }
}

/// Writes the segments of the output that a panel holds.
template <int ElementBytes, int AccessBytes, class Group>
TILETRANSPOSE_FUNCTION void gather_joined_segments(Group group, const unsigned char* shared,
                                                   const gathered_arguments& arguments,
                                                   const gathered_panel& panel) {
  using part_word = access_word_t<AccessBytes>;
  constexpr unsigned round_words = gathered_round_words(ElementBytes);
  static_assert(round_words * 4 % ElementBytes == 0, "");
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
          at.offset += first_part;
          gather_unpadded<round_words>(shared, first, byte, length, at, arguments);
          continue;
        }
      }
      TILETRANSPOSE_UNROLL_BY(AccessBytes)
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
          shared, first, length, head, rank, panel_threads, [&](unsigned byte) {
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
  const unsigned together = panel_threads >> arguments.repeat_lanes;
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
