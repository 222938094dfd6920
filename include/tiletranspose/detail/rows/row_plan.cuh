// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Rows that stay rows, of a request or of a relocation, and the launches of the row kernel: which rows are one longer row,
/// how they are cut into segments, and which kernel moves them. Host only.

#pragma once

#include <tiletranspose/detail/choose/panel_cut.cuh>
#include <tiletranspose/detail/request/relocation.cuh>
#include <tiletranspose/detail/rows/row_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// ny rows of nx elements that stay rows on both sides, or matrices of them. `from_last_row` takes the rows from the last to
/// the first, `reverses` each row likewise.
struct row_problem : batch_problem {
  size_type element_bytes;
  bool from_last_row;
  bool reverses;
  bool of_rows = false;  ///< as row_shape has it

  size_type row_bytes() const { return nx * element_bytes; }
  bool in_place() const { return in == out; }
  /// True where every element comes from its own place, counted in rows and elements.
  bool stay() const { return !from_last_row && !reverses; }
  /// True where the rows of a matrix lie one behind the other on both sides.
  bool dense() const {
    return ny == 1 || (in_stride_bytes == row_bytes() && out_stride_bytes == row_bytes());
  }
};

/// The rows of a symmetry that keeps them, or of one that transposes a vector without gaps: that is an array, whatever its
/// direction, whose order a symmetry may reverse. One row, or one element, has no order.
inline row_problem make_rows(transpose_request request, symmetry s) {
  if (transposes(s)) {
    const bool reversed = request.nx == 1 ? reverses_rows(s) : reverses_cols(s);
    request.nx *= request.ny;
    request.ny = 1;
    request.in_stride = request.out_stride = request.nx;
    s = reversed ? symmetry::flip_lr : symmetry::identity;
  }
  return {make_problem(request), request.in_element, reverses_rows(s) && request.ny > 1,
          reverses_cols(s) && request.nx > 1};
}

/// A relocation of rows. Rows that run backwards in the input are reversed, and so is their order.
inline row_problem make_rows(const relocation& move) {
  const int y = move.rank - 1;
  const relocation_axis row = move.axes[y];
  const relocation_axis rows = y >= 1 ? move.axes[y - 1] : relocation_axis{1, 0, 0};
  const relocation_axis matrices = y >= 2 ? move.axes[0] : relocation_axis{1, 0, 0};
  return {{{begin_of_input(move), move.out, distance(rows.in_stride) * move.in_element,
            static_cast<size_type>(rows.out_stride) * move.out_element,
            static_cast<size_type>(matrices.in_stride) * move.in_element,
            static_cast<size_type>(matrices.out_stride) * move.out_element, row.extent, rows.extent,
            false},
           matrices.extent},
          move.in_element,
          rows.in_stride < 0,
          row.in_stride < 0};
}

/// The same work with fewer, longer rows: rows that lie one behind the other become one, matrices of
/// one row become the rows of one matrix.
inline row_problem join_rows(row_problem problem) {
  if (problem.dense() && problem.from_last_row == problem.reverses) {
    problem.nx *= problem.ny;  // one array, copied or reversed
    problem.ny = 1;
    problem.from_last_row = false;
  } else if (problem.dense() && problem.from_last_row &&
             problem.row_bytes() <= (problem.row_bytes() % 128 == 0 ? most_element_line_bytes
                                                                    : most_element_row_bytes)) {
    problem.element_bytes *= problem.nx;  // an array of rows, reversed
    problem.nx = problem.ny;
    problem.ny = 1;
    problem.from_last_row = false;
    problem.reverses = true;
    problem.of_rows = true;
  }
  if (problem.ny == 1) {
    problem.in_stride_bytes = problem.out_stride_bytes = problem.row_bytes();
    if (!problem.pointer_arrays) {
      problem.ny = problem.batch;
      problem.in_stride_bytes = problem.in_batch_bytes;
      problem.out_stride_bytes = problem.out_batch_bytes;
      problem.batch = 1;
    }
  } else if (!problem.from_last_row && !problem.pointer_arrays &&
             problem.in_batch_bytes == problem.ny * problem.in_stride_bytes &&
             problem.out_batch_bytes == problem.ny * problem.out_stride_bytes) {
    problem.ny *= problem.batch;
    problem.batch = 1;
  }
  if (!problem.reverses) {
    problem.nx *= problem.element_bytes;  // bytes are bytes
    problem.element_bytes = 1;
    if (!problem.from_last_row && problem.batch == 1 && problem.dense()) {
      problem.nx *= problem.ny;
      problem.ny = 1;
    }
  }
  return problem;
}

/// True where joined rows of elements that reverses_in_panels are so short that a block has the threads for the period of
/// their segments: then a panel's segments run along many rows.
inline bool goes_in_panels(const row_problem& rows, size_type access_bytes) {
  return rows.reverses && rows.ny > 1 && rows.batch == 1 && !rows.pointer_arrays && rows.dense() &&
         lanes_of_period(rows.row_bytes() / access_bytes, access_bytes) <=
             size_type{panel_axes_threads};
}

/// What moves such rows. Precondition: goes_in_panels.
inline relocation relocation_of(const row_problem& rows) {
  const size_type element = rows.element_bytes;
  const auto length = static_cast<long long>(rows.nx);
  return {{static_cast<const unsigned char*>(rows.in) + (rows.nx - 1) * element, rows.out, element,
           element, 1, 1},
          2,
          {{rows.ny, length, length}, {rows.nx, -1, 1}}};
}

/// The bits that the address of some row has. Behind pointer arrays only what the type promises is known.
inline size_type row_bits(row_problem rows, size_type promised) {
  if (rows.ny == 1) { rows.in_stride_bytes = rows.out_stride_bytes = 0; }
  if (rows.batch == 1) { rows.in_batch_bytes = rows.out_batch_bytes = 0; }
  return address_bits_of(rows, promised);
}

/// Rows as the mover for little work takes them. Their matrices start at the elements that come first.
struct little_rows {
  small_problem problem;
  matrix_problem sides;
  small_mover mover = small_mover::none;
  int access = 0;  ///< bytes of an element of the problem, a whole access; 0: it is a row's element
};

/// Rows that run backwards start at their last element, and have a negative stride. Rows without gaps are one.
inline little_rows make_little_rows(const row_problem& rows) {
  const auto element = static_cast<int>(rows.element_bytes);
  matrix_problem sides = run_backwards(rows, rows.from_last_row, false);
  small_problem work{{rows.nx, element, element},
                     axis_of(rows.ny, sides.in_stride_bytes, sides.out_stride_bytes),
                     rows.batch,
                     element,
                     element,
                     false};
  if (rows.reverses) {
    sides = start_later(sides, (rows.nx - 1) * rows.element_bytes, 0);
    work.fast.in_stride = -element;
  }
  const auto length = static_cast<long long>(rows.nx);
  if (work.slow.in_stride == work.fast.in_stride * length &&
      work.slow.out_stride == work.fast.out_stride * length) {  // one row
    work.fast.extent *= work.slow.extent;
    work.slow.extent = 1;
  }
  return {work, sides};
}

/// Elements of up to so many bytes go several to an access of 4 or 8 bytes, too. Others would gain little by more kernels.
inline constexpr int widest_joined_element = 2;

/// The widest access, of 16 bytes or several elements, of which rows are whole ones, several or without gaps; 0: there is none.
inline int whole_access(const row_problem& rows) {
  const size_type bits = row_bits(rows, 0) | rows.row_bytes() | max_access_bytes;
  const size_type width = bits & (0 - bits);
  const bool is_wide = width == max_access_bytes ||
                       (width >= 4 && rows.element_bytes <= size_type{widest_joined_element});
  const bool reverses = !rows.reverses || width % rows.element_bytes == 0;
  const bool several = rows.row_bytes() > width || rows.dense();
  return is_wide && reverses && several && !rows.pointer_arrays ? static_cast<int>(width) : 0;
}

/// True of short segments with gaps between them, of rows or of matrices: a block of the row kernel would have little of each.
inline bool are_short_apart(const row_problem& rows) {
  const bool dense = rows.dense();
  const size_type segment = rows.row_bytes() * (dense ? rows.ny : 1);
  const bool goes_on =
      dense &&
      (rows.batch == 1 || (rows.in_batch_bytes == segment && rows.out_batch_bytes == segment));
  return !goes_on && !rows.pointer_arrays &&
         segment <= most_apart_segment_bytes(rows.element_bytes);
}

/// Which rows the mover for little work takes: few, out of place; of whole accesses of 16 bytes, and of short segments with
/// gaps, as many as it counts. In place, half of the rows trade places with the others, or half of each; few, off sectors.
inline little_rows choose_little_rows(const row_problem& rows) {
  const int access = whole_access(rows);
  const bool are_short = are_short_apart(rows);
  if (access > 0) {
    row_problem wide = rows;
    wide.element_bytes = static_cast<size_type>(access);
    wide.nx = rows.row_bytes() / wide.element_bytes;
    little_rows work = make_little_rows(wide);
    work.access = access;
    const size_type few = small_limits_of(access).rows;
    size_type most = access == max_access_bytes || are_short ? most_counted : few;
    bool moves = true;
    if (rows.in_place()) {  // unless nothing moves, or a row in the middle is reversed in itself
      most = most / max_access_bytes * wide.element_bytes;  // narrow ones pay less there
      if ((row_bits(rows, 0) | rows.row_bytes()) % sector_bytes != 0) { most = smaller(most, few); }
      size_type& count = work.problem.slow.extent;
      if (count == 1 || !rows.from_last_row) {
        moves = rows.reverses;
        work.problem.fast.extent = divide_up(work.problem.fast.extent, 2);
      } else {
        moves = count % 2 == 0 || !rows.reverses;
        count /= 2;
      }
    }
    if (moves) { work.mover = choose_small(work.problem, most, false); }
    if (work.mover != small_mover::none) { return work; }
  }
  little_rows work = make_little_rows(rows);
  if (!rows.in_place()) {
    work.mover = are_short ? choose_small(work.problem, most_counted, false)
                           : choose_small_rows(work.problem);
  }
  return work;
}

/// The fewest elements, up to `most`, before the output's first that would start on a line of 128 bytes, or
/// else at a multiple of 16.
inline unsigned find_lead(const void* out, size_type element, size_type most) {
  const auto address = reinterpret_cast<size_type>(out);
  for (const size_type step : {size_type{128}, size_type{16}}) {
    for (unsigned lead = 0; lead < 128 && lead <= most; ++lead) {
      if ((address - lead * element) % step == 0) { return lead; }
    }
  }
  return 0;
}

/// The fewest elements or rows of `bytes` bytes that are whole lines of 128 bytes.
inline size_type count_of_lines(size_type bytes) {
  const size_type bits = bytes | 128;
  return 128 / (bits & (0 - bits));
}

/// Bytes of a block's accesses that the alignment of a segment may waste: a line.
inline constexpr size_type spare_bytes = 128;
/// Bytes of a row that is no longer than half of what a block copies to shared memory.
inline constexpr size_type half_shared_bytes =
    (size_type{row_block_threads} * row_rounds * 16 - spare_bytes) / 2;

/// What a launch of the row kernel does. Precondition in place: not all stay, and ny > 1 where from_last_row is set.
struct row_plan : launch_plan<row_arguments> {
  row_choice kernel;
  size_type matrix_blocks;  ///< blocks of one matrix
  size_type rounds;         ///< accesses of a thread
  size_type most_segment;   ///< bytes of a segment

  /// Cuts joined rows into segments. `alignment` is what every address of an element is a multiple of; `known` is the
  /// size of an element that kernels are made for. In place, rows that are taken from the last to the first trade places
  /// with each other, and rows that do not fit a block with their own other half.
  row_plan(const row_problem& problem, size_type alignment, int known) : launch_plan{} {
    static_cast<matrix_problem&>(arguments) = run_backwards(problem, problem.from_last_row, false);
    arguments.row_bytes = arguments.covered_bytes = problem.row_bytes();
    arguments.element_bytes = static_cast<unsigned>(problem.element_bytes);
    arguments.reverses = problem.reverses;
    arguments.dense = problem.in_stride_bytes == problem.row_bytes() && problem.ny > 1;
    arguments.extent = arguments.row_bytes * (arguments.dense ? problem.ny : 1);
    arguments.element = divider(problem.element_bytes);
    if (problem.from_last_row) { arguments.in_rise = (problem.ny - 1) * problem.in_stride_bytes; }
    arguments.swaps =
        problem.in_place() && (problem.from_last_row || problem.row_bytes() > half_shared_bytes);
    if (arguments.swaps && problem.from_last_row) {
      arguments.ny = problem.ny / 2;
    } else if (arguments.swaps) {
      arguments.covered_bytes = problem.nx / 2 * problem.element_bytes;
    }

    const row_shape shape{problem.reverses, problem.element_bytes, problem.nx, alignment,
                          problem.of_rows};
    const row_choice unjoined = choose_rows(shape, known, false);
    const size_type row_bytes = arguments.covered_bytes;
    // Rows are not joined where their bytes lie together or a kernel knows their elements, but for short ones.
    const bool is_any = !lie_together(unjoined.order) && unjoined.element == 0;
    const bool joins =
        !arguments.swaps && !problem.from_last_row && problem.dense() && problem.ny > 1 &&
        row_bytes <= (is_any ? half_shared_bytes
                             : most_joined_bytes(unjoined, problem.element_bytes, row_bytes));
    kernel = choose_rows(shape, known, joins);
    rounds = static_cast<size_type>(shared_rounds(kernel.order));
    const size_type held = rounds * row_block_threads * 16 / (arguments.swaps ? 2 : 1);
    most_segment = held - spare_bytes;
    size_type row_blocks = 1;
    if (row_bytes <= most_segment / 2) {
      join_short_rows(problem, joins);
    } else {
      row_blocks = cut_long_rows(problem);
    }
    set_threads();
    arguments.row_blocks = divider(row_blocks);
    const size_type block_rows = size_type{arguments.block_segments} * arguments.joined_rows;
    matrix_blocks = divide_up(arguments.ny, block_rows) * row_blocks;
  }

 private:
  /// Cuts rows that are longer than half a block into about equal segments, of whole lines where elements allow it, that
  /// start on lines of the output. Rows that are no whole lines apart have a lead each.
  /// \returns the blocks of a row
  size_type cut_long_rows(const row_problem& problem) {
    const size_type element = problem.element_bytes;
    const size_type row_bytes = arguments.covered_bytes;
    const size_type line_elements = count_of_lines(element);
    const size_type fit = most_segment / element;
    arguments.leads = (element & (element - 1)) == 0 && element <= 128;
    const bool alike = !problem.pointer_arrays &&
                       (problem.ny == 1 || problem.out_stride_bytes % 128 == 0) &&
                       (problem.batch == 1 || problem.out_batch_bytes % 128 == 0);
    const unsigned lead = !arguments.leads && alike ? find_lead(problem.out, element, fit / 4) : 0;
    const size_type total = row_bytes / element + (row_bytes <= most_segment ? 0
                                                   : arguments.leads         ? 127 / element
                                                                             : lead);
    const size_type even = divide_up(total, divide_up(total, fit));
    size_type rounded = divide_up(even, line_elements) * line_elements;
    if (!arguments.leads && rounded * element % uneven_segment_bytes == 0) {
      rounded += line_elements;
    }
    const size_type segment_elements = rounded <= fit ? rounded : even;
    arguments.segment_bytes = static_cast<unsigned>(segment_elements * element);
    arguments.lead_bytes = lead * static_cast<unsigned>(element);
    return divide_up(total, segment_elements);
  }

  /// Joins rows, or gives a block several of them, where it can take two or more.
  void join_short_rows(const row_problem& problem, bool joins) {
    const size_type row_bytes = arguments.covered_bytes;
    arguments.segment_bytes = static_cast<unsigned>(row_bytes);
    if (joins) {
      const size_type line_rows = count_of_lines(row_bytes);
      const size_type fit = most_segment / row_bytes;
      arguments.joined_rows = static_cast<unsigned>(
          smaller(fit >= line_rows ? fit / line_rows * line_rows : fit, problem.ny));
      arguments.joined_bytes = divider(row_bytes);
    } else if (arguments.ny > 1) {
      arguments.line_mask = 15;
      // A thread moves accesses of one segment alone.
      const size_type lanes = divide_up(divide_up(row_bytes, 16) + 1, rounds);
      const size_type fit = row_block_threads / lanes / (arguments.swaps ? 2 : 1);
      arguments.block_segments = static_cast<unsigned>(smaller(fit, arguments.ny));
    }
  }

  /// Shares the threads of a block among its segments, and its shared memory.
  void set_threads() {
    const unsigned segments = arguments.read_segments();
    auto share = row_block_threads / segments;
    if (arguments.block_segments == 1) {
      // No thread without an access: blocks of fewer threads leave room for more of them.
      const size_type bytes = size_type{arguments.segment_bytes} * arguments.joined_rows;
      const size_type accesses = divide_up(bytes + spare_bytes, 16);
      const size_type used = divide_up(accesses, rounds);
      share = static_cast<unsigned>(divide_up(used * segments, 32) * 32 / segments);
    }
    arguments.threads = static_cast<unsigned>(divide_up(share * segments, 32) * 32);
    threads = static_cast<int>(arguments.threads);
    arguments.segment_threads = divider(share);
    arguments.segment_pitch = (share * static_cast<unsigned>(rounds) + 1) * 16;
    shared_bytes = segments * arguments.segment_pitch + 16;
    if (kernel.order == row_order::grouped) {
      shared_bytes = grouped_bytes(segments, arguments.segment_pitch);
      if (arguments.threads == row_block_threads) {
        shared_bytes = larger<size_type>(shared_bytes, least_grouped_memory);
      }
    }
  }
};

/// Calls launch(plan) for each launch of joined rows, until one returns something else than 0. In place, the middle
/// one of an odd number of rows that are taken from the last to the first stays, and is reversed by a launch of its own.
/// \param bits   that the address of some row has
/// \param known  the size of an element that kernels are made for
template <class Launch>
auto plan_rows(const row_problem& joined, size_type bits, int known, Launch launch) {
  row_plan plan(joined, bits | joined.element_bytes, known);
  decltype(launch(plan)) status{};
  const auto goes_on = [&] { return status == decltype(status){}; };
  plan.arguments.matrix_blocks = divider(plan.matrix_blocks);
  const row_arguments first = plan.arguments;
  const size_type most = larger<size_type>(max_blocks / plan.matrix_blocks, 1);
  for (size_type done = 0; done < joined.batch && goes_on(); done += most) {
    plan.arguments = skip_matrices(first, done);
    plan.blocks = smaller(most, joined.batch - done) * plan.matrix_blocks;
    status = launch(plan);
  }
  if (!goes_on() || !joined.in_place() || !joined.from_last_row || !joined.reverses ||
      joined.ny % 2 == 0) {
    return status;
  }
  const size_type offset = joined.ny / 2 * joined.in_stride_bytes;
  row_problem middle = start_later(joined, offset, offset);
  middle.ny = 1;
  middle.from_last_row = false;
  return plan_rows(middle, bits, known, launch);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
