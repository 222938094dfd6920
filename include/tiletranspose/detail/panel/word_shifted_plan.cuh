// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The arguments of word-shifted panels, from how matrices are cut into them. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/word_shifted_panel.cuh>
#include <tiletranspose/detail/panel/word_shifted_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// How threads share a panel: `lanes` of them take groups of columns side by side, and walk down `steps` groups of rows.
struct panel_walks {
  size_type lanes;
  size_type steps;
};

/// The walks with which the warps of a block take the least time in all: to begin a walk takes as long as three steps,
/// and a step as long as its loads are in conflict, and once more. A walk begins with a whole group. Where a block
/// waits for rounds of `together` warps, as that of one matrix does, lanes may be left without columns, so that no warp
/// takes groups of two rows of them.
inline panel_walks choose_walks(size_type columns, size_type matrices, size_type groups,
                                size_type whole, size_type group_bytes, size_type matrix_bytes,
                                size_type together) {
  constexpr size_type most = 16;
  if (groups <= most) { return {columns, groups}; }
  const size_type choices[] = {columns, together > 1 ? divide_up(columns, 32) * 32 : columns};
  panel_walks best{columns, groups};
  size_type best_cost = ~size_type{0};
  for (size_type steps = 1; steps <= most; ++steps) {
    if (whole < groups && whole % steps == 0) { continue; }
    const size_type walks = divide_up(groups, steps);
    for (const size_type lanes : choices) {
      const size_type warps =
          divide_up(divide_up(lanes * matrices * walks, 32), together) * together;
      if (warps * (steps + 3) * 2 > best_cost) { continue; }
      const unsigned ways = walking_ways(static_cast<unsigned>(lanes), static_cast<unsigned>(walks),
                                         static_cast<unsigned>(steps * group_bytes),
                                         static_cast<unsigned>(matrix_bytes));
      const size_type cost = warps * (steps + 3) * (1 + ways);
      if (cost <= best_cost) {
        best = {lanes, steps};
        best_cost = cost;
      }
    }
  }
  return best;
}

/// Precondition: takes_word_shifted says so of the shape's kind; the cut fits.
/// \param shared_bytes  what a block may ask for
inline launch_plan<word_shifted_arguments> plan_word_shifted(const tile_problem& problem,
                                                             size_type batch,
                                                             const word_shifted_shape& shape,
                                                             size_type shared_bytes) {
  constexpr size_type access = max_access_bytes;
  const auto element = static_cast<size_type>(shape.element_bytes);
  const size_type word_elements = shape.word_elements();
  const size_type nx = problem.nx;
  const size_type ny = problem.ny;
  const word_shifted_cut cut = cut_word_shifted(problem, batch, shape, shared_bytes);
  launch_plan<word_shifted_arguments> plan{{}, cut.blocks, shape.threads, cut.shared_bytes};
  word_shifted_arguments& arguments = plan.arguments;
  arguments.in = static_cast<const unsigned char*>(problem.in);
  arguments.out = static_cast<unsigned char*>(problem.out);
  arguments.in_stride_bytes = problem.in_stride_bytes;
  arguments.out_stride_bytes = problem.out_stride_bytes;
  arguments.in_batch_bytes = batch > 1 ? problem.in_batch_bytes : 0;
  arguments.out_batch_bytes = batch > 1 ? problem.out_batch_bytes : 0;
  arguments.nx = nx;
  arguments.ny = ny;
  arguments.batch = batch;
  arguments.rows_backwards = problem.in_stride_bytes != nx * element;
  arguments.cols_backwards = problem.out_stride_bytes != ny * element;
  arguments.in_words = (reinterpret_cast<size_type>(arguments.in) | arguments.in_stride_bytes |
                        arguments.in_batch_bytes) %
                           4 ==
                       0;
  arguments.shifts_output = (reinterpret_cast<size_type>(arguments.out) |
                             arguments.out_stride_bytes | arguments.out_batch_bytes) %
                                4 !=
                            0;
  arguments.panel_matrices = static_cast<unsigned>(cut.matrices);
  arguments.panel_rows = static_cast<unsigned>(cut.rows);
  arguments.panel_cols = static_cast<unsigned>(cut.cols);
  arguments.panels = divider(cut.panels);
  arguments.in_pitch = static_cast<unsigned>(cut.in_pitch);
  arguments.out_pitch = static_cast<unsigned>(cut.out_pitch);
  arguments.out_place = static_cast<unsigned>(cut.out_place);
  if (!shape.joins_rows) {
    while (arguments.row_lanes < 5 && access << arguments.row_lanes < cut.cols * element + access) {
      ++arguments.row_lanes;
    }
  }
  if (!shape.joins_cols) {
    arguments.accesses = divider(cut.rows * element / access);
    arguments.last_accesses = divider(cut.rows * element / access + sector_bytes / access);
  }

  const panel_walks walks = choose_walks(
      cut.columns, cut.matrices, cut.groups,
      shape.joins_cols ? cut.rows / word_elements : cut.groups, word_elements * cut.in_pitch,
      cut.rows * nx * element, cut.cols < nx && shape.joins_matrices() ? shape.threads / 32 : 1);
  arguments.groups = divider(walks.lanes);
  arguments.walks = divider(divide_up(cut.groups, walks.steps));
  arguments.steps = divider(walks.steps);
  // Words of the output lie ny words from group to group. Pairs at least: then rows of the input spread, too.
  arguments.rotation_shift = 1;
  while ((ny << arguments.rotation_shift) % 32 != 0) { ++arguments.rotation_shift; }
  arguments.rotates_banks = arguments.shifts_output &&
                            arguments.rotation_shift <= (shape.joins_cols ? most_rounds_of_matrices
                                                                          : most_rounds_of_columns);
  // Groups of columns that begin a step later lie words of so many rows further down, which must not lead back to the
  // banks of those before: bytes, batches of 30 x 64, would be three times as slow.
  const size_type across = size_type{1} << arguments.rotation_shift;
  const size_type down = word_elements * cut.in_pitch / 4;
  arguments.rotation_mask = common_divisor(static_cast<unsigned>((across + down) % 32), 32) >
                                    common_divisor(static_cast<unsigned>((across - down) % 32), 32)
                                ? 0xffff
                                : 0;
  return plan;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
