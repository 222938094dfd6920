// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernel for elements of 1 and 2 bytes in small matrices and narrow ones whose rows start anywhere. A block
/// moves a *box*, as the turned kernel does:
///
///     small matrices      several of a batch          one span in, one span out
///     larger ones         one of a batch              one span in, some spans out, one after the other
///     columns are few     some rows of a matrix       one span in, one piece of every output row out
///     rows are few        some columns of a matrix    one piece of every row in, one span out
///
/// *Stage* copies the box to shared memory, 16 bytes at a time. *Turn* reads words of it, shifts them to where a
/// group of columns starts, turns them in registers, and shifts what it got down to where words of the output
/// start, which is another row in every column. *Drain* writes the output, 16 bytes at a time.
///
/// Both sides lie in shared memory as they do in global memory modulo 32 bytes, so that chunks are copied as they
/// are: the distance from row to row, and from output row to output row, is congruent to that in global memory.

#pragma once

#include <tiletranspose/detail/choose/word_shifted_panel.cuh>
#include <tiletranspose/detail/core/async_copy.cuh>
#include <tiletranspose/detail/core/packed_elements.cuh>
#include <tiletranspose/detail/request/problem.cuh>
#include <tiletranspose/warp_transpose.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

struct sheared_arguments {
  const unsigned char* in;
  unsigned char* out;
  size_type in_stride_bytes;
  size_type out_stride_bytes;
  size_type in_batch_bytes;
  size_type out_batch_bytes;
  size_type nx;
  size_type ny;
  size_type batch;
  unsigned box_matrices;  ///< the box, in elements of the input
  unsigned box_rows;
  unsigned box_cols;    ///< of matrices: that are turned and drained at a time
  divider boxes;        ///< boxes of a matrix
  bool rows_backwards;  ///< rows of the input follow each other from the last to the first
  bool cols_backwards;  ///< and those of the output

  unsigned in_pitch;   ///< shared bytes from row to row of the input
  unsigned out_pitch;  ///< and of the output
  unsigned out_place;  ///< where the output is, a multiple of 32
  unsigned row_lanes;  ///< log2 of the threads that stage a row of their own

  divider groups;  ///< of columns that are turned together
  divider walks;   ///< of a group: a thread walks down some steps, a group of rows each
  divider steps;
  unsigned turn_shift;   ///< log2 of the groups of columns after which banks repeat
  unsigned turn_mask;    ///< 0, or ones: the last of them begins with the first step
  bool in_words;         ///< rows of the input are whole words
  bool shears;           ///< rows of the output are not
  bool shears_in_turns;  ///< and their words lie in the same banks after a few groups of columns

  divider chunks;       ///< of a piece of an output row
  divider last_chunks;  ///< and of one that ends with the row
};

/// The compile-time side of a word_shifted_shape.
template <int ElementBytes, bool JoinsRows, bool JoinsCols>
struct sheared_shape {
  static constexpr word_shifted_shape values{ElementBytes, JoinsRows, JoinsCols};
  static constexpr int element_bytes = ElementBytes;
  static constexpr bool joins_rows = JoinsRows;
  static constexpr bool joins_cols = JoinsCols;
  static constexpr bool joins_matrices = values.joins_matrices();
  static constexpr unsigned threads = values.threads;
  static constexpr unsigned units = values.units();
  static constexpr unsigned in_line = values.in_line;
  static constexpr unsigned skew_rows = values.skew_rows();
};

/// The box of one block, cut to what exists, and where its sides are.
struct sheared_box {
  size_type matrix, row, col;
  unsigned matrices, rows, cols;
  unsigned matrix_bytes;    ///< matrices lie side by side
  const unsigned char* in;  ///< row -skew_rows, which need not exist
  unsigned in_first;        ///< its place in shared memory
  unsigned char* out;  ///< what is written first of the output, and its place from out_place on
  unsigned out_lead;
  unsigned out_first;  ///< the place of column 0
};

/// Where the output of a box lies.
template <class Shape>
TILETRANSPOSE_FUNCTION void find_output(sheared_box& box, const sheared_arguments& arguments) {
  box.out = arguments.out + box.matrix * arguments.out_batch_bytes +
            box.col * arguments.out_stride_bytes + box.row * Shape::element_bytes;
  box.out_lead = address_bits(box.out) % sector_bytes;
  box.out_first = box.out_lead;
  if (Shape::joins_cols && arguments.cols_backwards) {
    const unsigned last = box.cols - 1;
    box.out += last * arguments.out_stride_bytes;
    box.out_lead = address_bits(box.out) % sector_bytes;
    box.out_first = box.out_lead - last * arguments.out_pitch;
  }
}

template <class Shape>
TILETRANSPOSE_FUNCTION sheared_box find_sheared_box(const sheared_arguments& arguments,
                                                    unsigned block) {
  constexpr bool many = Shape::joins_matrices;
  const unsigned group = arguments.boxes.quotient(block);
  const unsigned at = arguments.boxes.remainder(block, group);
  sheared_box box;
  box.matrix = size_type{group} * (many ? arguments.box_matrices : 1);
  box.row = Shape::joins_cols ? 0 : size_type{at} * arguments.box_rows;
  box.col = Shape::joins_rows ? 0 : size_type{at} * arguments.box_cols;
  const auto part = [](size_type left, unsigned most) {
    return left < most ? static_cast<unsigned>(left) : most;
  };
  box.matrices = many ? part(arguments.batch - box.matrix, arguments.box_matrices) : 1;
  box.rows = part(arguments.ny - box.row, arguments.box_rows);
  box.cols = part(arguments.nx - box.col, arguments.box_cols);
  box.matrix_bytes = box.rows * box.cols * Shape::element_bytes;
  box.in = arguments.in + box.matrix * arguments.in_batch_bytes +
           (box.row - Shape::skew_rows) * arguments.in_stride_bytes +
           box.col * Shape::element_bytes;
  box.in_first = Shape::in_line + address_bits(box.in) % Shape::in_line;
  if (many && arguments.rows_backwards) {
    const unsigned last = box.rows - 1;
    box.in_first = Shape::in_line +
                   address_bits(box.in + last * arguments.in_stride_bytes) % Shape::in_line -
                   last * arguments.in_pitch;
  }
  find_output<Shape>(box, arguments);
  return box;
}

/// Copies the chunks of 16 bytes that hold `length` bytes from `first` on, whose chunk goes to `shared`; `lanes`
/// threads share them. Bytes outside of [lowest, highest) are not read: zeros stand for them.
template <int Unit>
TILETRANSPOSE_FUNCTION void stage_chunks(unsigned char* shared, const unsigned char* first,
                                         unsigned length, const unsigned char* lowest,
                                         const unsigned char* highest, unsigned lane,
                                         unsigned lanes) {
  constexpr unsigned chunk_bytes = max_access_bytes;
  const unsigned lead = address_bits(first) % chunk_bytes;
  const unsigned char* const base = first - lead;
  const unsigned end = (lead + length + chunk_bytes - 1) / chunk_bytes * chunk_bytes;
  const unsigned whole = base < lowest ? chunk_bytes : 0;
  const unsigned whole_end =
      base + end > highest
          ? larger(static_cast<unsigned>(highest - base) / chunk_bytes * chunk_bytes, whole)
          : end;
  TILETRANSPOSE_UNROLL_BY(4)
  for (unsigned byte = whole + lane * chunk_bytes; byte < whole_end; byte += lanes * chunk_bytes) {
    copy_async<chunk_bytes>(shared + byte, base + byte);
  }
  if (whole == 0 && whole_end == end) { return; }
  TILETRANSPOSE_UNROLL_BY(1)
  for (unsigned i = lane * Unit; i < 3 * chunk_bytes; i += lanes * Unit) {
    const unsigned at = i < chunk_bytes ? i : whole_end + (i - chunk_bytes);
    if (i < chunk_bytes ? whole > 0 : at < end) {
      access_word_t<Unit> value = 0;
      if (base + at >= lowest && base + at < highest) {
        value = load_constant<access_word_t<Unit>>(base + at);
      }
      store_shared(shared + at, value);
    }
  }
}

template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void stage_sheared(Group group, unsigned char* shared,
                                          const sheared_arguments& arguments,
                                          const sheared_box& box) {
  constexpr int element = Shape::element_bytes;
  constexpr unsigned skew = Shape::skew_rows;
  const unsigned rank = group.thread_rank();
  constexpr bool many = Shape::joins_matrices;
  const size_type row_bytes = arguments.nx * element;
  const unsigned char* const first =
      arguments.in + (many ? 0 : box.matrix * arguments.in_batch_bytes);
  const unsigned char* const lowest =
      arguments.rows_backwards ? first + (arguments.ny - 1) * arguments.in_stride_bytes : first;
  const unsigned char* const highest =
      lowest + (many ? arguments.batch : 1) * arguments.ny * row_bytes;
  // A thread that reads a word reads the next one too.
  if constexpr (Shape::joins_rows) {
    const unsigned missing = !Shape::joins_cols && box.row == 0 ? skew : 0;
    // The row that is staged first.
    const unsigned start = many && arguments.rows_backwards ? box.rows - 1 : missing;
    const unsigned place = box.in_first + start * arguments.in_pitch;
    const unsigned length =
        box.matrices * (box.rows + skew - missing) * static_cast<unsigned>(row_bytes) + 4;
    stage_chunks<element>(shared + place / max_access_bytes * max_access_bytes,
                          box.in + start * arguments.in_stride_bytes, length, lowest, highest, rank,
                          Shape::threads);
    // Words at borders read an element to the left of a matrix, too.
    if (Shape::joins_cols && rank == 0) {
      store_shared(shared + (place / max_access_bytes * max_access_bytes - 4), 0u);
    }
    if constexpr (!Shape::joins_cols) {
      // Rows that do not exist are zeros, as is the group behind the last row.
      const auto clear = [&](unsigned from, unsigned to) {
        TILETRANSPOSE_UNROLL_BY(1)
        for (unsigned byte = from + rank * max_access_bytes; byte < to;
             byte += Shape::threads * max_access_bytes) {
          store_shared(shared + byte, word16{});
        }
      };
      constexpr unsigned units = Shape::units;
      const unsigned walked = (box.rows + skew + units - 1) / units * units + units;
      clear((place + length + max_access_bytes - 1) / max_access_bytes * max_access_bytes,
            box.in_first + walked * arguments.in_pitch + 4);
      if (missing > 0) { clear(0, place / max_access_bytes * max_access_bytes); }
    }
  } else {
    const unsigned lanes = 1u << arguments.row_lanes;
    const unsigned together = Shape::threads >> arguments.row_lanes;
    const unsigned lane = rank & (lanes - 1);
    const unsigned length = box.cols * element + 4;
    const auto stage_row = [&](unsigned y) {
      const unsigned place = box.in_first + y * arguments.in_pitch;
      stage_chunks<element>(shared + place / max_access_bytes * max_access_bytes,
                            box.in + y * arguments.in_stride_bytes, length, lowest, highest, lane,
                            lanes);
    };
    // Between the first row and the last one, accesses that reach beyond a row read its neighbours.
    unsigned y = rank >> arguments.row_lanes;
    if (y == 0) { stage_row(0); }
    y += y == 0 ? together : 0;
    const unsigned char* from = box.in + y * arguments.in_stride_bytes;
    unsigned place = box.in_first + y * arguments.in_pitch;
    TILETRANSPOSE_UNROLL_BY(2)
    for (; y + 1 < box.rows; y += together) {
      const unsigned lead = place % max_access_bytes;
      for (unsigned byte = lane * max_access_bytes; byte < lead + length;
           byte += lanes * max_access_bytes) {
        copy_async<max_access_bytes>(shared + (place - lead + byte), from - lead + byte);
      }
      from += together * arguments.in_stride_bytes;
      place += together * arguments.in_pitch;
    }
    if (y + 1 == box.rows) { stage_row(y); }
  }
}

/// Turns the box, from `shared` to `image`.
template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void turn_sheared(Group group, const unsigned char* shared,
                                         unsigned char* image, const sheared_arguments& arguments,
                                         const sheared_box& box) {
  constexpr unsigned element = Shape::element_bytes;
  constexpr unsigned units = Shape::units;
  constexpr unsigned skew = Shape::skew_rows;
  const unsigned in_pitch = arguments.in_pitch;
  const unsigned out_pitch = arguments.out_pitch;
  const int group_bytes = static_cast<int>(units * in_pitch);
  const unsigned rows = box.rows + skew;
  const unsigned items = arguments.groups.divisor * arguments.walks.divisor * box.matrices;
  TILETRANSPOSE_UNROLL_BY(1)
  for (unsigned item = group.thread_rank(); item < items; item += Shape::threads) {
    const loop_step here(item / Shape::threads);
    const unsigned line = arguments.groups.quotient(item);
    const unsigned column = arguments.groups.remainder(item, line);
    const unsigned above = Shape::joins_cols ? arguments.walks.quotient(line) : 0;
    const unsigned first_step = (line - above * arguments.walks.divisor) * arguments.steps.divisor;
    if (column * units >= box.cols || first_step * units >= rows) { continue; }
    const unsigned col = smaller(column * units, box.cols - units);
    const unsigned foreign = column * units - col;  // columns that the group before has
    const unsigned steps =
        smaller(arguments.steps.divisor, (rows - first_step * units + units - 1) / units);

    // Where rows are: `units` rows further they start at the same byte of a word.
    const unsigned top = box.in_first + above * box.matrix_bytes + col * element;
    const auto word_of = [&](unsigned place) { return shared + place / 4 * 4; };
    const unsigned char* from[units];
    unsigned shifts[units];
    TILETRANSPOSE_UNROLL
    for (unsigned i = 0; i < units; ++i) {
      const unsigned place = top + (first_step * units + i) * in_pitch;
      from[i] = word_of(place);
      shifts[i] = 8 * place;
    }
    // Where words of the output start, and so many rows below the group's first one.
    const unsigned out_top = box.out_first + above * box.matrix_bytes + col * out_pitch;
    unsigned char* to[units];
    unsigned turns[units];
    TILETRANSPOSE_UNROLL
    for (unsigned q = 0; q < units; ++q) {
      const unsigned place = out_top + q * out_pitch;
      to[q] = image + static_cast<int>((place + 3) / 4 * 4 + 4 * first_step - skew * element);
      turns[q] = 0 - 8 * place;
    }

    const auto load = [&](unsigned(&words)[units]) {
      unsigned read[2][units] = {};  // a word, and the next one where the row starts inside of it
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < units; ++i) { read[0][i] = load_shared<unsigned>(from[i]); }
      if (!arguments.in_words) {
        TILETRANSPOSE_UNROLL
        for (unsigned i = 0; i < units; ++i) { read[1][i] = load_shared<unsigned>(from[i] + 4); }
      }
      unsigned held[units][1];
      unsigned turned[units][1];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < units; ++i) {
        held[i][0] = funnel_shift(read[0][i], read[1][i], shifts[i]);
      }
      thread_transpose<Shape::element_bytes>(turned, held);
      TILETRANSPOSE_UNROLL
      for (unsigned q = 0; q < units; ++q) { words[q] = turned[q][0]; }
    };
    unsigned words[units];
    // In turns: columns whose words of the output lie in the same banks begin with different ones.
    const unsigned turn =
        ((Shape::joins_matrices ? item : column) ^ arguments.turn_mask) >> arguments.turn_shift;
    unsigned step = arguments.steps.remainder(turn, arguments.steps.quotient(turn));
    if (step >= steps) { step = 0; }
    if (!arguments.shears) {
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < units; ++i) { from[i] += static_cast<int>(step) * group_bytes; }
      TILETRANSPOSE_UNROLL
      for (unsigned q = 0; q < units; ++q) { to[q] += 4 * step; }
      TILETRANSPOSE_UNROLL_BY(1)
      for (unsigned left = steps; left > 0; --left) {
        const loop_step part(steps - left);
        load(words);
        ++step;
        const int further = step == steps ? 1 - static_cast<int>(steps) : 1;
        if (step == steps) { step = 0; }
        TILETRANSPOSE_UNROLL
        for (unsigned q = 0; q < units; ++q) {
          const loop_step at(q);
          if (q >= foreign) { store_shared(to[q], words[q]); }
          to[q] += 4 * further;
          from[q] += further * group_bytes;
        }
      }
      continue;
    }

    // Groups of rows below `whole` are those of these columns. A walk begins with one of them.
    const unsigned whole = Shape::joins_cols ? rows / units : ~0u;
    const unsigned inside = smaller(steps, whole - first_step - 1);
    // A group of rows; one element to the right or left, that of the next columns.
    const auto load_at = [&](unsigned row, unsigned right, unsigned(&turned)[units][1]) {
      unsigned held[units][1];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < units; ++i) {
        const unsigned place = top + right + smaller(row + i, rows - 1) * in_pitch;
        held[i][0] = funnel_shift(load_shared<unsigned>(word_of(place)),
                                  load_shared<unsigned>(word_of(place) + 4), 8 * place);
      }
      thread_transpose<Shape::element_bytes>(turned, held);
    };
    const unsigned right = arguments.cols_backwards ? 0 - element : element;
    if (arguments.shears_in_turns) {
      const auto go_on = [&](int by) {
        TILETRANSPOSE_UNROLL
        for (unsigned i = 0; i < units; ++i) { from[i] += by * group_bytes; }
      };
      // Where walks end with columns, which have whole groups of rows, the next columns' first ones come behind them.
      const bool ends = Shape::joins_cols && inside < steps;
      const int last_step = static_cast<int>(steps) - 1;
      unsigned behind[units][1];
      if (ends) {
        load_at(0, right, behind);
      } else {
        unsigned loaded[units];
        go_on(last_step + 1);
        load(loaded);
        go_on(-last_step - 1);
        TILETRANSPOSE_UNROLL
        for (unsigned q = 0; q < units; ++q) { behind[q][0] = loaded[q]; }
      }
      go_on(static_cast<int>(step));
      load(words);
      TILETRANSPOSE_UNROLL_BY(1)
      for (unsigned left = steps; left > 0; --left) {
        const loop_step part(steps - left);
        const bool last = step + 1 == steps;
        go_on(last ? -last_step : 1);
        unsigned next[units];
        load(next);
        TILETRANSPOSE_UNROLL
        for (unsigned q = 0; q < units; ++q) {
          const loop_step word(q);
          // Words that two matrices share come later.
          const bool foreign_next =
              last && ends && turns[q] % 32 != 0 &&
              (arguments.cols_backwards ? q == 0 && col == 0
                                        : q + 1 == units && col + units == box.cols);
          if (q >= foreign && !foreign_next) {
            store_shared(to[q] + 4 * step,
                         funnel_shift(words[q], last ? behind[q][0] : next[q], turns[q]));
          }
          words[q] = next[q];
        }
        step = last ? 0 : step + 1;
      }
      continue;
    }
    load(words);
    TILETRANSPOSE_UNROLL_BY(2)
    for (unsigned at = 0; at < inside; ++at) {
      unsigned next[units];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < units; ++i) { from[i] += group_bytes; }
      load(next);
      TILETRANSPOSE_UNROLL
      for (unsigned q = 0; q < units; ++q) {
        const loop_step word(at * units + q);
        if (q >= foreign) { store_shared(to[q], funnel_shift(words[q], next[q], turns[q])); }
        to[q] += 4;
        words[q] = next[q];
      }
    }
    if (Shape::joins_cols && inside < steps) {
      // What is left of the columns, and behind it the first rows of the next ones.
      const unsigned left = rows % units;
      const unsigned bits = left * element * 8;
      unsigned last[units][1];
      unsigned next[units][1];
      load_at(0, right, next);
      load_at(whole * units, 0, last);
      TILETRANSPOSE_UNROLL
      for (unsigned q = 0; q < units; ++q) {
        const loop_step at(q);
        const unsigned joined = (last[q][0] & ((1u << bits) - 1)) | (next[q][0] << bits);
        const unsigned behind = funnel_shift(next[q][0], 0, 32 - bits);
        // Words belong to the column that they start in; those that two matrices share come later.
        const unsigned start = turns[q] % 32 / (8 * element);
        const bool shared_next = arguments.cols_backwards
                                     ? q == 0 && col == 0
                                     : q + 1 == units && col + units == box.cols;
        if (q >= foreign && (!shared_next || start <= left)) {
          store_shared(to[q], funnel_shift(words[q], joined, turns[q]));
        }
        if (q >= foreign && !shared_next && start < left) {
          store_shared(to[q] + 4, funnel_shift(joined, behind, turns[q]));
        }
      }
    }
  }
}

/// Joins the words that two matrices share, and those at the ends of the span.
template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void join_matrices(Group group, const unsigned char* shared,
                                          unsigned char* image, const sheared_arguments& arguments,
                                          const sheared_box& box) {
  constexpr unsigned element = Shape::element_bytes;
  TILETRANSPOSE_UNROLL_BY(1)
  for (unsigned below = group.thread_rank(); below <= box.matrices; below += Shape::threads) {
    const unsigned place = box.out_lead + below * box.matrix_bytes;
    if (place % 4 == 0) { continue; }
    unsigned word = 0;
    TILETRANSPOSE_UNROLL
    for (unsigned i = 0; i < 4; i += element) {
      const bool before = i < place % 4;
      const unsigned matrix = before ? below - 1 : below;
      const unsigned row =
          before ? box.rows - (place % 4 - i) / element : (i - place % 4) / element;
      if (matrix < box.matrices) {
        const unsigned from = box.in_first + matrix * box.matrix_bytes + row * arguments.in_pitch +
                              (before != arguments.cols_backwards ? (box.cols - 1) * element : 0);
        word |=
            static_cast<unsigned>(load_shared<access_word_t<Shape::element_bytes>>(shared + from))
            << (8 * i);
      }
    }
    store_shared(image + place / 4 * 4, word);
  }
}

template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void drain_sheared(Group group, const unsigned char* image,
                                          const sheared_arguments& arguments,
                                          const sheared_box& box) {
  constexpr unsigned element = Shape::element_bytes;
  constexpr unsigned chunk_bytes = max_access_bytes;
  using unit = access_word_t<Shape::element_bytes>;
  const unsigned rank = group.thread_rank();
  if constexpr (Shape::joins_cols) {
    unsigned char* const base = box.out - box.out_lead;
    const unsigned end = box.out_lead + box.matrices * box.matrix_bytes;
    const unsigned head =
        smaller((box.out_lead + chunk_bytes - 1) / chunk_bytes * chunk_bytes, end);
    const unsigned tail = larger(end / chunk_bytes * chunk_bytes, head);

    TILETRANSPOSE_UNROLL_BY(4)
    for (unsigned byte = head + rank * chunk_bytes; byte < tail;
         byte += Shape::threads * chunk_bytes) {
      store_global(base + byte, load_shared<word16>(image + byte));
    }
    if (rank < 2 * chunk_bytes) {
      const unsigned byte = rank < chunk_bytes ? box.out_lead + rank * element
                                               : tail + (rank - chunk_bytes) * element;
      if (byte < (rank < chunk_bytes ? head : end)) {
        store_global(base + byte, load_shared<unit>(image + byte));
      }
    }
  } else {
    const bool first = box.row == 0;
    const bool last = box.row + box.rows == arguments.ny;
    const divider chunks = last ? arguments.last_chunks : arguments.chunks;
    TILETRANSPOSE_UNROLL_BY(2)
    for (unsigned item = rank; item < box.cols * chunks.divisor; item += Shape::threads) {
      const loop_step here(item / Shape::threads);
      const unsigned col = chunks.quotient(item);
      const unsigned place = box.out_first + col * arguments.out_pitch;
      const unsigned skew = place % sector_bytes;
      const unsigned byte = chunks.remainder(item, col) * chunk_bytes;
      unsigned char* const to = box.out + col * arguments.out_stride_bytes - skew + byte;
      const unsigned char* const from = image + (place - skew) + byte;
      const unsigned begin = first ? skew : 0;
      const unsigned end = box.rows * element + (last ? skew : 0);
      if (byte >= begin && byte + chunk_bytes <= end) {
        store_global(to, load_shared<word16>(from));
      } else {
        TILETRANSPOSE_UNROLL_BY(1)
        for (unsigned i = 0; i < chunk_bytes; i += element) {
          if (byte + i >= begin && byte + i < end) {
            store_global(to + i, load_shared<unit>(from + i));
          }
        }
      }
    }
  }
}

/// Makes a box of the columns that follow it, of a matrix that is staged already.
template <class Shape>
TILETRANSPOSE_FUNCTION void go_to_next_columns(sheared_box& box,
                                               const sheared_arguments& arguments) {
  box.in_first += box.cols * Shape::element_bytes;
  box.col += box.cols;
  box.cols = static_cast<unsigned>(smaller<size_type>(arguments.nx - box.col, arguments.box_cols));
  box.matrix_bytes = box.rows * box.cols * Shape::element_bytes;
  find_output<Shape>(box, arguments);
}

/// The kernel's body: one block moves the box that `block` names.
/// Shared memory: what `plan_sheared` says, aligned to 16. Barriers: inside.
template <class Shape, class Group>
TILETRANSPOSE_FUNCTION void move_sheared(Group group, unsigned char* shared,
                                         const sheared_arguments& arguments, unsigned block) {
  sheared_box box = find_sheared_box<Shape>(arguments, block);
  unsigned char* const image = shared + arguments.out_place;
  stage_sheared<Shape>(group, shared, arguments, box);
  commit_copies();
  wait_for_copies(0);
  group.sync();
  while (true) {
    turn_sheared<Shape>(group, shared, image, arguments, box);
    if constexpr (Shape::joins_cols) {
      if (arguments.shears) { join_matrices<Shape>(group, shared, image, arguments, box); }
    }
    group.sync();
    drain_sheared<Shape>(group, image, arguments, box);
    if (!Shape::joins_matrices || box.col + box.cols == arguments.nx) { break; }
    go_to_next_columns<Shape>(box, arguments);
    group.sync();
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
