// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernel for elements of 1 and 2 bytes in small matrices and narrow ones whose rows start anywhere. A block moves a
/// *panel*, as the kernel of vectorised panels does (vectorised_kernel.cuh), or one of a batch's larger matrices: one segment
/// in, some segments out, one after the other.
///
/// *Stage* copies the panel to shared memory, 16 bytes at a time. *Transpose* reads words of it, shifts them to where
/// a group of columns starts, transposes them in registers, and shifts what it got down to where words of the output
/// start, which is another row in every column. *Drain* writes the output, 16 bytes at a time.
///
/// Both sides lie in shared memory as they do in global memory modulo 32 bytes, so that accesses are copied as they
/// are: the distance from row to row, and from output row to output row, is congruent to that in global memory.

#pragma once

#include <tiletranspose/detail/choose/word_shifted_panel.cuh>
#include <tiletranspose/detail/core/async_copy.cuh>
#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/group.cuh>
#include <tiletranspose/warp_transpose.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The walk of a thread: down a group of columns, as many as a word holds elements, by groups of as many rows.
template <int ElementBytes>
struct word_walk {
  static constexpr unsigned count = 4 / ElementBytes;

  const unsigned char* from[count];  ///< the words in which the rows of a group start
  unsigned shifts[count];            ///< and the bits before them, which are those of every group
  unsigned char* to[count];          ///< the words of the output that start in each column
  unsigned out_shifts[count];        ///< and the bits of the group's rows before them
  unsigned foreign;                  ///< columns that the group before has
  int group_bytes;                   ///< from group to group of rows

  /// Transposes the group of rows at `at`; with `in_words` they start with words, and the next ones are not read.
  static TILETRANSPOSE_FUNCTION void load(const unsigned char* const (&at)[count],
                                          const unsigned (&shifts)[count], bool in_words,
                                          unsigned (&words)[count]) {
    unsigned low[count];
    unsigned high[count] = {};
    TILETRANSPOSE_UNROLL
    for (unsigned i = 0; i < count; ++i) { low[i] = load_shared<unsigned>(at[i]); }
    if (!in_words) {
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < count; ++i) { high[i] = load_shared<unsigned>(at[i] + 4); }
    }
    unsigned held[count][1];
    TILETRANSPOSE_UNROLL
    for (unsigned i = 0; i < count; ++i) { held[i][0] = funnel_shift(low[i], high[i], shifts[i]); }
    thread_transpose<ElementBytes>(reinterpret_cast<unsigned(&)[count][1]>(words), held);
  }

  /// Moves all of it where rows of the output are whole words: from step `step` on, and round to it.
  TILETRANSPOSE_FUNCTION void move_words(unsigned step, unsigned steps, bool in_words) {
    TILETRANSPOSE_UNROLL
    for (unsigned i = 0; i < count; ++i) { from[i] += static_cast<int>(step) * group_bytes; }
    TILETRANSPOSE_UNROLL
    for (unsigned q = 0; q < count; ++q) { to[q] += 4 * step; }
    TILETRANSPOSE_UNROLL_BY(1)
    for (unsigned left = steps; left > 0; --left) {
      unsigned words[count];
      load(from, shifts, in_words, words);
      ++step;
      const int further = step == steps ? 1 - static_cast<int>(steps) : 1;
      if (step == steps) { step = 0; }
      TILETRANSPOSE_UNROLL
      for (unsigned q = 0; q < count; ++q) {
        const loop_step at(q);
        if (q >= foreign) { store_shared(to[q], words[q]); }
        to[q] += 4 * further;
        from[q] += further * group_bytes;
      }
    }
  }

  /// Moves `groups` groups of rows whose words are shifted. `words`: behind it, those of the group after them.
  TILETRANSPOSE_FUNCTION void move_shifted(unsigned (&words)[count], unsigned groups,
                                           bool in_words) {
    load(from, shifts, in_words, words);
    TILETRANSPOSE_UNROLL_BY(2)
    for (unsigned at = 0; at < groups; ++at) {
      unsigned next[count];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < count; ++i) { from[i] += group_bytes; }
      load(from, shifts, in_words, next);
      TILETRANSPOSE_UNROLL
      for (unsigned q = 0; q < count; ++q) {
        const loop_step word(at * count + q);
        if (q >= foreign) { store_shared(to[q], funnel_shift(words[q], next[q], out_shifts[q])); }
        to[q] += 4;
        words[q] = next[q];
      }
    }
  }

  /// Ends the walk with its columns, of which `left` rows are left, those of `last`: `words` are those of the group before,
  /// and `next` those of the first rows of the next columns. `shared_next`: the one whose next column is another matrix's,
  /// or no column.
  TILETRANSPOSE_FUNCTION void end(const unsigned (&words)[count], const unsigned (&last)[count],
                                  const unsigned (&next)[count], unsigned left,
                                  unsigned shared_next) const {
    // What is left of the columns, and behind it the first rows of the next ones.
    const unsigned bits = left * ElementBytes * 8;
    TILETRANSPOSE_UNROLL
    for (unsigned q = 0; q < count; ++q) {
      const loop_step at(q);
      const unsigned joined = (last[q] & ((1u << bits) - 1)) | (next[q] << bits);
      const unsigned behind = funnel_shift(next[q], 0, 32 - bits);
      // Words belong to the column that they start in; those that two matrices share come later.
      const unsigned start = out_shifts[q] % 32 / (8 * ElementBytes);
      if (q >= foreign && (q != shared_next || start <= left)) {
        store_shared(to[q], funnel_shift(words[q], joined, out_shifts[q]));
      }
      if (q >= foreign && q != shared_next && start < left) {
        store_shared(to[q] + 4, funnel_shift(joined, behind, out_shifts[q]));
      }
    }
  }
};

/// The panel of one block, cut to what exists, where its sides are, and how a thread moves it.
/// \tparam JoinsRows  as word_shifted_shape has it, like JoinsCols
template <int ElementBytes, bool JoinsRows, bool JoinsCols>
struct word_shifted_panel {
  static constexpr word_shifted_shape shape{ElementBytes, JoinsRows, JoinsCols};
  static constexpr unsigned element = ElementBytes;
  static constexpr unsigned threads = shape.threads;
  static constexpr unsigned word_elements = shape.word_elements();
  static constexpr unsigned skew_rows = shape.skew_rows();
  static constexpr bool many = shape.joins_matrices();
  static constexpr unsigned access_bytes = max_access_bytes;
  using element_word = access_word_t<ElementBytes>;

  const word_shifted_arguments& arguments;
  unsigned char* shared;
  unsigned char* image;  ///< of the output, in shared memory
  unsigned rank;
  size_type matrix, row, col;
  unsigned matrices, rows, cols;
  unsigned matrix_bytes;    ///< matrices lie side by side
  const unsigned char* in;  ///< row -skew_rows, which need not exist
  unsigned in_first;        ///< its place in shared memory
  unsigned char* out;  ///< what is written first of the output, and its place from out_place on
  unsigned out_lead;
  unsigned out_first;  ///< the place of column 0

  TILETRANSPOSE_FUNCTION word_shifted_panel(const word_shifted_arguments& all,
                                            unsigned char* memory, unsigned block, unsigned thread)
      : arguments(all), shared(memory), image(memory + all.out_place), rank(thread) {
    const unsigned group = all.panels.quotient(block);
    const unsigned at = all.panels.remainder(block, group);
    matrix = size_type{group} * (many ? all.panel_matrices : 1);
    row = JoinsCols ? 0 : size_type{at} * all.panel_rows;
    col = JoinsRows ? 0 : size_type{at} * all.panel_cols;
    const auto part = [](size_type left, unsigned most) {
      return left < most ? static_cast<unsigned>(left) : most;
    };
    matrices = many ? part(all.batch - matrix, all.panel_matrices) : 1;
    rows = part(all.ny - row, all.panel_rows);
    cols = part(all.nx - col, all.panel_cols);
    matrix_bytes = rows * cols * element;
    in = static_cast<const unsigned char*>(all.in) + matrix * all.in_batch_bytes +
         (row - skew_rows) * all.in_stride_bytes + col * element;
    const unsigned first = many && all.rows_backwards ? rows - 1 : 0;  // in memory
    constexpr unsigned line = shape.line_bytes;
    in_first = line + address_bits(in + first * all.in_stride_bytes) % line - first * all.in_pitch;
    find_output();
  }

  /// Finds where the output lies.
  TILETRANSPOSE_FUNCTION void find_output() {
    const unsigned first = JoinsCols && arguments.cols_backwards ? cols - 1 : 0;  // in memory
    out = static_cast<unsigned char*>(arguments.out) + matrix * arguments.out_batch_bytes +
          (col + first) * arguments.out_stride_bytes + row * element;
    out_lead = address_bits(out) % sector_bytes;
    out_first = out_lead - first * arguments.out_pitch;
  }

  /// Copies the accesses of 16 bytes that hold `length` bytes from `first` on, to where `place` is in shared memory; `lanes`
  /// threads share them. Bytes outside of [lowest, highest) are not read: zeros stand for them.
  TILETRANSPOSE_FUNCTION void stage_accesses(unsigned place, const unsigned char* first,
                                             unsigned length, const unsigned char* lowest,
                                             const unsigned char* highest, unsigned lane,
                                             unsigned lanes) const {
    unsigned char* const to = shared + place / access_bytes * access_bytes;
    const unsigned lead = address_bits(first) % access_bytes;
    const unsigned char* const base = first - lead;
    const unsigned end = (lead + length + access_bytes - 1) / access_bytes * access_bytes;
    const unsigned whole = base < lowest ? access_bytes : 0;
    const unsigned whole_end =
        base + end > highest
            ? larger(static_cast<unsigned>(highest - base) / access_bytes * access_bytes, whole)
            : end;
    TILETRANSPOSE_UNROLL_BY(4)
    for (unsigned byte = whole + lane * access_bytes; byte < whole_end;
         byte += lanes * access_bytes) {
      copy_async<access_bytes>(to + byte, base + byte);
    }
    if (whole == 0 && whole_end == end) { return; }
    TILETRANSPOSE_UNROLL_BY(1)
    for (unsigned i = lane * element; i < 3 * access_bytes; i += lanes * element) {
      const unsigned at = i < access_bytes ? i : whole_end + (i - access_bytes);
      if (i < access_bytes ? whole > 0 : at < end) {
        element_word value = 0;
        if (base + at >= lowest && base + at < highest) {
          value = load_constant<element_word>(base + at);
        }
        store_shared(to + at, value);
      }
    }
  }

  /// Stages the panel. Barriers: none; the caller owes one, and waits for copies.
  TILETRANSPOSE_FUNCTION void stage() const {
    const size_type row_bytes = arguments.nx * element;
    const unsigned char* const first = static_cast<const unsigned char*>(arguments.in) +
                                       (many ? 0 : matrix * arguments.in_batch_bytes);
    const unsigned char* const lowest =
        arguments.rows_backwards ? first + (arguments.ny - 1) * arguments.in_stride_bytes : first;
    const unsigned char* const highest =
        lowest + (many ? arguments.batch : 1) * arguments.ny * row_bytes;
    // A thread that reads a word reads the next one too.
    if constexpr (JoinsRows) {
      const unsigned missing = !JoinsCols && row == 0 ? skew_rows : 0;
      // The row that is copied first.
      const unsigned start = many && arguments.rows_backwards ? rows - 1 : missing;
      const unsigned place = in_first + start * arguments.in_pitch;
      const unsigned length =
          matrices * (rows + skew_rows - missing) * static_cast<unsigned>(row_bytes) + 4;
      stage_accesses(place, in + start * arguments.in_stride_bytes, length, lowest, highest, rank,
                     threads);
      // Words at borders read an element to the left of a matrix, too.
      if (JoinsCols && rank == 0) {
        store_shared(shared + (place / access_bytes * access_bytes - 4), 0u);
      }
      if constexpr (!JoinsCols) {
        // Rows that do not exist are zeros, as is the group behind the last row.
        const auto clear = [&](unsigned from, unsigned to) {
          TILETRANSPOSE_UNROLL_BY(1)
          for (unsigned byte = from + rank * access_bytes; byte < to;
               byte += threads * access_bytes) {
            store_shared(shared + byte, word16{});
          }
        };
        const unsigned walked =
            (rows + skew_rows + word_elements - 1) / word_elements * word_elements + word_elements;
        clear((place + length + access_bytes - 1) / access_bytes * access_bytes,
              in_first + walked * arguments.in_pitch + 4);
        if (missing > 0) { clear(0, place / access_bytes * access_bytes); }
      }
    } else {
      const unsigned lanes = 1u << arguments.row_lanes;
      const unsigned together = threads >> arguments.row_lanes;
      const unsigned lane = rank & (lanes - 1);
      const unsigned length = cols * element + 4;
      const auto stage_row = [&](unsigned y) {
        const unsigned place = in_first + y * arguments.in_pitch;
        stage_accesses(place, in + y * arguments.in_stride_bytes, length, lowest, highest, lane,
                       lanes);
      };
      unsigned y = rank >> arguments.row_lanes;
      TILETRANSPOSE_UNROLL_BY(1)
      for (unsigned end = 0; end <= rows - 1; end += larger(rows - 1, 1u)) {
        if (end % together == y) { stage_row(end); }
      }
      // Between the first row and the last one, accesses that reach beyond a row read its neighbours.
      y += y == 0 ? together : 0;
      const unsigned char* from = in + y * arguments.in_stride_bytes;
      unsigned place = in_first + y * arguments.in_pitch;
      TILETRANSPOSE_UNROLL_BY(2)
      for (; y + 1 < rows; y += together) {
        const unsigned lead = place % access_bytes;
        for (unsigned byte = lane * access_bytes; byte < lead + length;
             byte += lanes * access_bytes) {
          copy_async<access_bytes>(shared + (place - lead + byte), from - lead + byte);
        }
        from += together * arguments.in_stride_bytes;
        place += together * arguments.in_pitch;
      }
    }
  }

  /// Transposes it, from `shared` to `image`.
  TILETRANSPOSE_FUNCTION void transpose() const {
    const unsigned in_pitch = arguments.in_pitch;
    const unsigned out_pitch = arguments.out_pitch;
    const unsigned walked = rows + skew_rows;
    const unsigned items = arguments.groups.divisor * arguments.walks.divisor * matrices;
    TILETRANSPOSE_UNROLL_BY(1)
    for (unsigned item = rank; item < items; item += threads) {
      const loop_step here(item / threads);
      const unsigned line = arguments.groups.quotient(item);
      const unsigned column = arguments.groups.remainder(item, line);
      const unsigned above = JoinsCols ? arguments.walks.quotient(line) : 0;
      const unsigned first_step =
          (line - above * arguments.walks.divisor) * arguments.steps.divisor;
      if (column * word_elements >= cols || first_step * word_elements >= walked) { continue; }
      const unsigned left = smaller(column * word_elements, cols - word_elements);
      const unsigned steps =
          smaller(arguments.steps.divisor,
                  (walked - first_step * word_elements + word_elements - 1) / word_elements);
      const unsigned top = in_first + above * matrix_bytes + left * element;
      const auto find_row = [&](unsigned place, const unsigned char*& from, unsigned& shift) {
        from = shared + place / 4 * 4;
        shift = 8 * place;
      };
      word_walk<ElementBytes> walk;
      walk.foreign = column * word_elements - left;
      walk.group_bytes = static_cast<int>(word_elements * in_pitch);
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < word_elements; ++i) {
        find_row(top + (first_step * word_elements + i) * in_pitch, walk.from[i], walk.shifts[i]);
      }
      const unsigned out_top = out_first + above * matrix_bytes + left * out_pitch;
      TILETRANSPOSE_UNROLL
      for (unsigned q = 0; q < word_elements; ++q) {
        const unsigned place = out_top + q * out_pitch;
        walk.to[q] =
            image + static_cast<int>((place + 3) / 4 * 4 + 4 * first_step - skew_rows * element);
        walk.out_shifts[q] = 0 - 8 * place;
      }
      if (!arguments.shifts_output) {
        // A bank rotation: columns whose words of the output lie in the same banks begin with different ones.
        const unsigned rotation =
            ((many ? item : column) ^ arguments.rotation_mask) >> arguments.rotation_shift;
        const unsigned step =
            arguments.steps.remainder(rotation, arguments.steps.quotient(rotation));
        walk.move_words(step < steps ? step : 0, steps, arguments.in_words);
        continue;
      }
      // Groups of rows below `whole` are those of these columns. A walk begins with one of them.
      const unsigned whole = JoinsCols ? walked / word_elements : ~0u;
      const unsigned inside = smaller(steps, whole - first_step - 1);
      unsigned words[word_elements];
      walk.move_shifted(words, inside, arguments.in_words);
      if (!JoinsCols || inside == steps) { continue; }
      // A group of rows; one element to the right or left, that of the next columns.
      const auto load_at = [&](unsigned below, unsigned right, unsigned(&loaded)[word_elements]) {
        const unsigned char* from[word_elements];
        unsigned shifts[word_elements];
        TILETRANSPOSE_UNROLL
        for (unsigned i = 0; i < word_elements; ++i) {
          find_row(top + right + smaller(below + i, walked - 1) * in_pitch, from[i], shifts[i]);
        }
        word_walk<ElementBytes>::load(from, shifts, false, loaded);
      };
      unsigned next[word_elements];
      unsigned last[word_elements];
      load_at(0, arguments.cols_backwards ? 0 - element : element, next);
      load_at(whole * word_elements, 0, last);
      const bool is_last = arguments.cols_backwards ? left == 0 : left + word_elements == cols;
      walk.end(words, last, next, walked % word_elements,
               !is_last                   ? word_elements
               : arguments.cols_backwards ? 0
                                          : word_elements - 1);
    }
  }

  /// Joins the words that two matrices share, and those at the ends of the segment.
  TILETRANSPOSE_FUNCTION void join_matrices() const {
    TILETRANSPOSE_UNROLL_BY(1)
    for (unsigned below = rank; below <= matrices; below += threads) {
      const unsigned place = out_lead + below * matrix_bytes;
      if (place % 4 == 0) { continue; }
      unsigned word = 0;
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < 4; i += element) {
        const bool before = i < place % 4;
        const unsigned of = before ? below - 1 : below;
        const unsigned at = before ? rows - (place % 4 - i) / element : (i - place % 4) / element;
        if (of < matrices) {
          const unsigned from = in_first + of * matrix_bytes + at * arguments.in_pitch +
                                (before != arguments.cols_backwards ? (cols - 1) * element : 0);
          word |= static_cast<unsigned>(load_shared<element_word>(shared + from)) << (8 * i);
        }
      }
      store_shared(image + place / 4 * 4, word);
    }
  }

  TILETRANSPOSE_FUNCTION void drain() const {
    if constexpr (JoinsCols) {
      unsigned char* const base = out - out_lead;
      const unsigned end = out_lead + matrices * matrix_bytes;
      const unsigned head =
          smaller((out_lead + access_bytes - 1) / access_bytes * access_bytes, end);
      const unsigned tail = larger(end / access_bytes * access_bytes, head);

      TILETRANSPOSE_UNROLL_BY(4)
      for (unsigned byte = head + rank * access_bytes; byte < tail;
           byte += threads * access_bytes) {
        store_global(base + byte, load_shared<word16>(image + byte));
      }
      if (rank < 2 * access_bytes) {
        const unsigned byte = rank < access_bytes ? out_lead + rank * element
                                                  : tail + (rank - access_bytes) * element;
        if (byte < (rank < access_bytes ? head : end)) {
          store_global(base + byte, load_shared<element_word>(image + byte));
        }
      }
    } else {
      const bool first = row == 0;
      const bool last = row + rows == arguments.ny;
      const divider accesses = last ? arguments.last_accesses : arguments.accesses;
      TILETRANSPOSE_UNROLL_BY(2)
      for (unsigned item = rank; item < cols * accesses.divisor; item += threads) {
        const loop_step here(item / threads);
        const unsigned at = accesses.quotient(item);
        const unsigned place = out_first + at * arguments.out_pitch;
        const unsigned skew = place % sector_bytes;
        const unsigned byte = accesses.remainder(item, at) * access_bytes;
        unsigned char* const to = out + at * arguments.out_stride_bytes - skew + byte;
        const unsigned char* const from = image + (place - skew) + byte;
        const unsigned begin = first ? skew : 0;
        const unsigned end = rows * element + (last ? skew : 0);
        if (byte >= begin && byte + access_bytes <= end) {
          store_global(to, load_shared<word16>(from));
        } else {
          TILETRANSPOSE_UNROLL_BY(1)
          for (unsigned i = 0; i < access_bytes; i += element) {
            if (byte + i >= begin && byte + i < end) {
              store_global(to + i, load_shared<element_word>(from + i));
            }
          }
        }
      }
    }
  }
};

/// A block moves the panel of its number. Shared memory: what `plan_word_shifted` says.
template <int ElementBytes, bool JoinsRows, bool JoinsCols>
__global__ void __launch_bounds__(word_shifted_shape::threads,
                                  resident_blocks(word_shifted_shape::threads,
                                                  static_cast<int>(shifted_blocks)))
    word_shifted_kernel(const __grid_constant__ word_shifted_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  const static_block<word_shifted_shape::threads> group{};
  word_shifted_panel<ElementBytes, JoinsRows, JoinsCols> panel(
      arguments, tiletranspose_dynamic_shared, blockIdx.x, group.thread_rank());
  panel.stage();
  commit_copies();
  wait_for_copies(0);
  group.sync();
  while (true) {
    panel.transpose();
    if constexpr (JoinsCols) {
      if (arguments.shifts_output) { panel.join_matrices(); }
    }
    group.sync();
    panel.drain();
    if (!panel.many || panel.col + panel.cols == arguments.nx) { break; }
    // The columns that follow are in shared memory already.
    panel.in_first += panel.cols * panel.element;
    panel.col += panel.cols;
    panel.cols =
        static_cast<unsigned>(smaller<size_type>(arguments.nx - panel.col, arguments.panel_cols));
    panel.matrix_bytes = panel.rows * panel.cols * panel.element;
    panel.find_output();
    group.sync();
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
