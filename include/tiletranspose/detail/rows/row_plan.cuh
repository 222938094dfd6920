// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What a launch of the row kernel does for a symmetry that keeps rows rows: which rows are one longer row,
/// how they are cut into spans, and in what order their words are read. Host only.

#pragma once

#include <tiletranspose/detail/rows/row_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Rows to be moved; sizes and pitches in bytes where the name says so. `from_last_row` takes the rows from
/// the last to the first, `reverses` each row likewise.
struct row_problem {
  const void* in;
  void* out;
  size_type in_pitch;
  size_type out_pitch;
  size_type in_batch_bytes;
  size_type out_batch_bytes;
  size_type batch;
  size_type rows;
  size_type length;  // elements
  size_type element_bytes;
  bool pointer_arrays;
  bool from_last_row;
  bool reverses;

  size_type row_bytes() const { return length * element_bytes; }
  bool in_place() const { return in == out; }
  /// True where the rows of a matrix lie one behind the other on both sides.
  bool dense() const { return rows == 1 || (in_pitch == row_bytes() && out_pitch == row_bytes()); }
  /// True where the matrices of a batch do, too.
  bool dense_batch() const {
    return batch == 1 || (!pointer_arrays && in_batch_bytes == rows * in_pitch &&
                          out_batch_bytes == rows * out_pitch);
  }
};

struct row_plan {
  row_arguments arguments;
  row_order order;
  size_type matrix_blocks;  ///< blocks of one matrix
  size_type batch;
  unsigned shared_bytes;
};

/// Bytes of a block's accesses that the alignment of a span may waste: a line. That of gathered groups may waste
/// a group.
inline constexpr size_type spare_bytes = 128;
/// Rows up to this size that are taken from the last to the first are treated as the elements of one array; longer ones
/// of whole lines do as well by themselves. H200, 2026-11-22, % of cudaMemcpyAsync row by row and as elements, floats:
/// rows of 124 bytes 48, 95, 252 73, 95, 256 95, 98, 380 83, 96, 508 87, 98, 512 98, 97, 1020 95, 98, 1024 100, 97,
/// 2044 97, 99; in place 124 bytes 48, 93, 380 83, 95, 1020 93, 95, 2044 95, 96.
constexpr size_type most_element_bytes(size_type row_bytes) {
  return row_bytes % 128 == 0 ? 256 : 2047;
}
/// Rows up to this size are joined where they could be moved directly or gathered: longer ones of elements whose joined
/// rows are reversed by words of 1, 2 or 4 bytes, or in pieces. H200, 2026-11-22, % of cudaMemcpyAsync one by one and
/// joined: bytes, rows of 252 68, 99, 384 95, 97, 508 86, 99, 512 98, 97, 900 94, 98, 1000 96, 99, 1200 99, 98, 1280
/// 101, 99, 2000 99, 99, halves and floats alike; 8-byte elements, 264 72, 90, 384 95, 93, 504 86, 94; 12-byte, 252 62,
/// 94, 384 83, 94, 552 87, 88; 16-byte, 256 91, 97, 400 98, 98, 480 100, 98; 20-byte, 320 85, 93; 24-byte, 384 83, 94;
/// 40-byte, 480 96, 92; 3, 5 and 6 bytes, 396 76, 61, 83, 62, 76, 60. In place bytes, 256 77, 95, 512 89, 94, 1000 95,
/// 97, 1280 95, 97; 16-byte, 256 79, 96, 448 93, 98; 12-byte, 396 78, 89.
constexpr size_type most_joined_bytes(row_order order, size_type element, size_type row_bytes) {
  if (order == row_order::turn_1 || order == row_order::turn_2 || order == row_order::turn_4) {
    return 1023;
  }
  const bool in_pieces = order == row_order::gathered ? element % 4 == 0 && element >= 12
                         : order == row_order::turn_8 ? row_bytes % 16 != 0
                                                      : order == row_order::turn_16;
  return in_pieces ? 448 : 256;
}

/// The same work with fewer, longer rows: rows that lie one behind the other become one, matrices of
/// one row become the rows of one matrix.
inline row_problem join_rows(row_problem problem) {
  if (problem.length == 1) { problem.reverses = false; }
  if (problem.rows == 1) { problem.from_last_row = false; }
  if (problem.dense() && problem.from_last_row == problem.reverses) {
    problem.length *= problem.rows;  // one array, copied or reversed
    problem.rows = 1;
    problem.from_last_row = false;
  } else if (problem.dense() && problem.from_last_row &&
             problem.row_bytes() <= most_element_bytes(problem.row_bytes())) {
    problem.element_bytes *= problem.length;  // an array of rows, reversed
    problem.length = problem.rows;
    problem.rows = 1;
    problem.from_last_row = false;
    problem.reverses = true;
  }
  if (problem.rows == 1) {
    problem.in_pitch = problem.out_pitch = problem.row_bytes();
    if (!problem.pointer_arrays) {
      problem.rows = problem.batch;
      problem.in_pitch = problem.in_batch_bytes;
      problem.out_pitch = problem.out_batch_bytes;
      problem.batch = 1;
    }
  } else if (!problem.from_last_row && problem.dense_batch()) {
    problem.rows *= problem.batch;
    problem.batch = 1;
  }
  if (!problem.reverses) {
    problem.length *= problem.element_bytes;  // bytes are bytes
    problem.element_bytes = 1;
    if (!problem.from_last_row && problem.batch == 1 && problem.dense()) {
      problem.length *= problem.rows;
      problem.rows = 1;
    }
  }
  return problem;
}

/// Bytes of the groups of a block, as far as its threads can take that many. H200, 2026-11-21: elements of 64
/// bytes at odd addresses 99 % of cudaMemcpyAsync with 12 KB, 96 with 16; of 7 bytes 96, with 28 KB 93.
inline constexpr size_type most_gathered_bytes = 12 * 1024;

/// Accesses of the group that a thread gathers, three or four where fewer would do; access_group, at run time.
constexpr size_type group_accesses(size_type element) {
  const size_type least = element / static_cast<size_type>(access_width(element));
  return least == 1 ? 3 : least == 2 ? 4 : least;
}

/// How a kernel that knows the size of elements reverses them. H200, 2026-11-21, packed types, % of cudaMemcpyAsync out
/// of place and in place: 12 bytes gathered 98, 98, grouped 98, 97; 7 bytes 97, 94 and 98, 97; 9 bytes 89, 88 and
/// 98, 97; 31 bytes grouped 98, 97, in pieces 95, 93.
constexpr row_order known_order(size_type element) {
  if (element % 8 == 0 || group_accesses(element) < 6) { return row_order::gathered; }
  return element % 2 == 0 || element < 32 ? row_order::grouped : row_order::known_pieces;
}

/// Rows from this size on are reversed by a kernel that knows their elements and stages them; shorter ones are joined.
/// H200, 2026-11-21: rows of 315 bytes, elements of 63, 83 % of cudaMemcpyAsync joined, 58 one by one; of 2331 bytes 80
/// and 80. Smaller elements gain less from being joined: rows of 481 bytes, elements of 13, 73 and 79.
constexpr size_type least_known_bytes(row_order order, size_type element) {
  return order == row_order::grouped        ? (element < 15 ? 256 : 1024)
         : order == row_order::known_pieces ? 2048
                                            : 0;
}
/// The least shared memory of a block of row_block_threads threads that reverses groups: as much as keeps
/// multiprocessors to five of them, and a quarter of the memory of an H200's for the loads under way. There, elements of
/// 9 bytes reach 98 % of cudaMemcpyAsync with five blocks, 92 with six and 97 with four (2026-11-21).
inline constexpr unsigned least_grouped_memory = 38 * 1024;

/// `alignment` is what every address of an element is a multiple of; `joined` where spans hold several rows;
/// `known` is the size of an element that kernels are made for.
inline row_order choose_order(const row_problem& problem, size_type alignment, size_type known,
                              bool joined) {
  if (!problem.reverses) { return row_order::forward; }
  const size_type element = problem.element_bytes;
  if (!joined && alignment % element == 0) {
    switch (element) {
      case 1:
        return row_order::turn_1;
      case 2:
        return row_order::turn_2;
      case 4:
        return row_order::turn_4;
      case 8:
        return row_order::turn_8;
      case 16:
        return row_order::turn_16;
      default:
        break;
    }
  }
  if (!joined && element % 16 == 0 && alignment % 16 == 0) { return row_order::vectors; }
  if (!joined && element == known) {
    const row_order order = known_order(element);
    if (problem.row_bytes() >= least_known_bytes(order, element)) { return order; }
  }
  if (element >= 8) { return row_order::pieces; }
  if (element % 4 == 0 && alignment % 4 == 0) { return row_order::words; }
  if (element >= 3) { return row_order::elements; }
  if (element == 2) { return alignment % 2 == 0 ? row_order::halves : row_order::any; }
  return problem.length >= 3 ? row_order::bytes : row_order::any;
}

/// The fewest elements, up to `most`, before the output's first that would start on a line of 128 bytes, or
/// else at a multiple of 16.
inline unsigned find_lead(const void* out, size_type element, size_type most) {
  const auto address = reinterpret_cast<size_type>(out);
  constexpr size_type steps[] = {128, 16};
  for (const size_type step : steps) {
    for (unsigned lead = 0; lead < 128 && lead <= most; ++lead) {
      if ((address - lead * element) % step == 0) { return lead; }
    }
  }
  return 0;
}

/// The fewest pieces of `bytes` bytes that are whole lines of 128 bytes.
inline size_type pieces_of_a_line(size_type bytes) {
  size_type pieces = 128;
  while (pieces > 1 && pieces / 2 * bytes % 128 == 0) { pieces /= 2; }
  return pieces;
}

/// Cuts joined rows into spans. In place, rows that do not fit a block trade places span by span: with
/// their own other half, or, where rows are taken from the last to the first, with the row that they trade places with.
/// Precondition: problem.rows > 1 where problem.from_last_row is set in place.
inline row_plan plan_rows(const row_problem& problem, size_type alignment, size_type known) {
  row_plan plan{};
  row_arguments& arguments = plan.arguments;
  plan.batch = problem.batch;
  arguments.in = problem.in;
  arguments.out = problem.out;
  arguments.in_batch_bytes = problem.in_batch_bytes;
  arguments.out_batch_bytes = problem.out_batch_bytes;
  arguments.in_pitch = problem.in_pitch;
  arguments.out_pitch = problem.out_pitch;
  arguments.rows = problem.rows;
  arguments.row_bytes = problem.row_bytes();
  size_type covered = problem.length;
  arguments.element_bytes = static_cast<unsigned>(problem.element_bytes);
  arguments.pointer_arrays = problem.pointer_arrays;
  arguments.reverses = problem.reverses;
  arguments.dense = problem.in_pitch == problem.row_bytes() && problem.rows > 1;

  // An access of the output is one of the input where a row's first and last bytes, taken backwards, or its
  // first bytes lie alike on both sides.
  const auto in_bits = reinterpret_cast<size_type>(problem.in);
  const auto out_bits = reinterpret_cast<size_type>(problem.out);
  size_type between =
      problem.reverses ? in_bits + out_bits + problem.row_bytes() : in_bits - out_bits;
  if (problem.rows > 1) { between |= problem.in_pitch | problem.out_pitch; }
  if (problem.batch > 1) { between |= problem.in_batch_bytes | problem.out_batch_bytes; }
  arguments.shifted = problem.pointer_arrays || between % max_access_bytes != 0;
  const row_order unjoined = choose_order(problem, alignment, known, false);
  const bool is_gathered = unjoined == row_order::gathered;
  const size_type group_slots = is_gathered ? group_accesses(problem.element_bytes) : 1;
  const size_type most_groups =
      smaller<size_type>(row_block_threads, most_gathered_bytes / (group_slots * 16) / 32 * 32);
  const size_type staged_slots =
      is_gathered ? smaller<size_type>(most_groups * group_slots, row_slots) : row_slots;
  const size_type spare = larger(spare_bytes, group_slots * 16);
  const bool whole_rows = problem.row_bytes() <= (staged_slots * 16 - spare) / 2;
  if (problem.from_last_row) {
    const size_type to_last_row = (problem.rows - 1) * problem.in_pitch;
    if (problem.pointer_arrays) {
      arguments.in_batch_bytes += to_last_row;
    } else {
      arguments.in = static_cast<const unsigned char*>(problem.in) + to_last_row;
    }
    arguments.in_pitch = size_type{0} - problem.in_pitch;
    arguments.in_rise = to_last_row;
    if (problem.in_place()) {
      arguments.swaps = true;
      arguments.rows = problem.rows / 2;
    }
  } else if (problem.in_place() && !whole_rows) {
    arguments.swaps = true;
    covered = problem.length / 2;
  }

  // Rows that a block reverses in place are staged; a thread that moves accesses directly waits for nobody.
  arguments.shifted = arguments.shifted || (problem.in_place() && !arguments.swaps);

  const size_type element = problem.element_bytes;
  const size_type line_elements = pieces_of_a_line(element);
  // Where every span lies on whole lines of both sides, none needs accesses for what an alignment wastes.
  size_type line_bits = reinterpret_cast<size_type>(problem.in) |
                        reinterpret_cast<size_type>(problem.out) | problem.row_bytes();
  if (problem.rows > 1) { line_bits |= problem.in_pitch | problem.out_pitch; }
  if (problem.batch > 1) { line_bits |= problem.in_batch_bytes | problem.out_batch_bytes; }
  const size_type row_bytes = covered * element;
  arguments.covered_bytes = row_bytes;
  arguments.extent = arguments.row_bytes * (arguments.dense ? problem.rows : 1);
  // Rows that are not joined are moved directly or by a kernel that knows their elements where they can be.
  const bool is_staged =
      !is_direct(unjoined) && (unjoined != known_order(known) || problem.element_bytes != known);
  const bool joins = !arguments.swaps && !problem.from_last_row && problem.dense() &&
                     problem.rows > 1 &&
                     row_bytes <= (is_staged ? (row_slots * 16 - spare) / 2
                                             : most_joined_bytes(unjoined, element, row_bytes));
  plan.order = choose_order(problem, alignment, known, joins);
  const bool gathers = plan.order == row_order::gathered;
  const auto rounds_staged = static_cast<unsigned>(staged_rounds(plan.order));
  const size_type rounds = gathers                                       ? group_slots
                           : is_direct(plan.order) && !arguments.shifted ? direct_rounds
                                                                         : rounds_staged;
  const size_type most_threads = gathers ? most_groups : row_block_threads;
  const size_type block_slots = rounds * most_threads;
  const size_type held = block_slots * 16 / (arguments.swaps ? 2 : 1);
  const bool on_lines =
      !problem.pointer_arrays && line_bits % 128 == 0 && line_elements * element <= held;
  const size_type most = on_lines ? held : held - spare;
  arguments.joined_rows = 1;
  arguments.block_spans = 1;
  arguments.line_mask = 127;
  size_type row_blocks = 1;
  unsigned spans = arguments.swaps ? 2 : 1;
  if (row_bytes <= most / 2) {
    arguments.span_bytes = static_cast<unsigned>(row_bytes);
    if (joins) {
      const size_type line_rows = pieces_of_a_line(row_bytes);
      const size_type fit = most / row_bytes;
      arguments.joined_rows = static_cast<unsigned>(
          smaller(fit >= line_rows ? fit / line_rows * line_rows : fit, problem.rows));
    } else if (arguments.rows > 1) {
      arguments.line_mask = 15;
      // A thread moves accesses of one span alone, and one group of it.
      size_type threads = divide_up(divide_up(row_bytes, 16) + 1, rounds);
      if (gathers) {
        // A group may start up to its own length before the span.
        threads = larger(threads, row_bytes / (group_slots * 16) + 2);
      }
      const size_type fit = most_threads / threads;
      arguments.block_spans = static_cast<unsigned>(smaller(fit / spans, arguments.rows));
      spans *= arguments.block_spans;
    }
  } else {
    // About equal spans, of whole lines where elements allow it, that start on lines of the output. Rows that
    // are no whole lines apart have a lead each.
    const size_type fit = most / element;
    arguments.leads = (element & (element - 1)) == 0 && element <= 128;
    const bool alike = !problem.pointer_arrays &&
                       (problem.rows == 1 || problem.out_pitch % 128 == 0) &&
                       (problem.batch == 1 || problem.out_batch_bytes % 128 == 0);
    const unsigned lead = !arguments.leads && alike ? find_lead(problem.out, element, fit / 4) : 0;
    const size_type total = covered + (on_lines || row_bytes <= most ? 0
                                       : arguments.leads             ? 127 / element
                                                                     : lead);
    const size_type even = divide_up(total, divide_up(total, fit));
    const size_type rounded = divide_up(even, line_elements) * line_elements;
    const size_type span_elements = rounded <= fit ? rounded
                                    : on_lines     ? fit / line_elements * line_elements
                                                   : even;
    arguments.span_bytes = static_cast<unsigned>(span_elements * element);
    arguments.lead_bytes = lead * static_cast<unsigned>(element);
    row_blocks = divide_up(total, span_elements);
  }
  auto span_threads = static_cast<unsigned>(most_threads / spans);
  if (arguments.block_spans == 1) {
    // No thread without an access: blocks of fewer threads leave room for more of them.
    const size_type span_bytes = size_type{arguments.span_bytes} * arguments.joined_rows;
    const size_type accesses = divide_up(span_bytes + (on_lines ? 0 : spare), 16);
    const size_type threads = divide_up(accesses, rounds);
    span_threads = static_cast<unsigned>(divide_up(threads * spans, 32) * 32 / spans);
  }
  arguments.threads = static_cast<unsigned>(divide_up(span_threads * spans, 32) * 32);
  arguments.span_threads = divider(span_threads);
  arguments.span_pitch = (span_threads * rounds_staged + 1) * 16;
  arguments.row_blocks = divider(row_blocks);
  arguments.joined_bytes = divider(arguments.joined_rows > 1 ? row_bytes : 1);
  arguments.element = divider(element);
  plan.shared_bytes =
      arguments.shifted || !is_direct(plan.order) ? spans * arguments.span_pitch + 16 : 0;
  if (plan.order == row_order::grouped) {
    plan.shared_bytes = grouped_bytes(spans, arguments.span_pitch);
    if (arguments.threads == row_block_threads) {
      plan.shared_bytes = larger(plan.shared_bytes, least_grouped_memory);
    }
  }
  if (gathers) {
    arguments.group_pitch = static_cast<unsigned>(span_threads * group_slots * 16);
    // A swizzle moves accesses within 128 bytes.
    plan.shared_bytes = static_cast<unsigned>(divide_up(spans * arguments.group_pitch, 128) * 128);
  }
  const size_type block_rows = size_type{arguments.block_spans} * arguments.joined_rows;
  plan.matrix_blocks = divide_up(arguments.rows, block_rows) * row_blocks;
  return plan;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
