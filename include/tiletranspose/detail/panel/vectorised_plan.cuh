// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The arguments of vectorised panels, from how matrices are cut into them. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/vectorised_panel.cuh>
#include <tiletranspose/detail/panel/vectorised_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Precondition: choose_vectorised named the kind; the cut fits.
inline launch_plan<vectorised_arguments> plan_vectorised(const tile_problem& problem,
                                                         size_type batch,
                                                         const vectorised_shape& shape,
                                                         panel_kind kind) {
  const auto element = static_cast<size_type>(shape.element_bytes);
  const auto rows = static_cast<size_type>(shape.rows);
  const auto cols = static_cast<size_type>(shape.cols);
  const vectorised_cut cut = cut_vectorised(problem, batch, shape, kind);
  const size_type row_bytes = problem.nx * element;
  const size_type col_bytes = problem.ny * element;
  const size_type matrix_bytes = problem.nx * col_bytes;
  launch_plan<vectorised_arguments> plan{{}, cut.blocks, shape.threads, cut.shared_bytes};
  vectorised_arguments& arguments = plan.arguments;
  panel_side& in = arguments.in_side;
  panel_side& out = arguments.out_side;
  size_type in_segments = 1;
  size_type out_segments = 1;
  if (kind == panel_kind::small_matrices) {
    arguments.part_rows = static_cast<unsigned>(cut.rows / rows);
    arguments.all_cols = static_cast<unsigned>(cut.cols / cols);
    in.part = out.part = static_cast<unsigned>(matrix_bytes);
    in.panel_bytes = out.panel_bytes = cut.matrices * matrix_bytes;
  } else if (kind == panel_kind::few_columns) {
    arguments.part_rows = 1;
    arguments.all_cols = static_cast<unsigned>(cut.cols / cols);
    in.part = static_cast<unsigned>(rows * row_bytes);
    out.part = static_cast<unsigned>(rows * element);
    in.panel_bytes = cut.rows * row_bytes;
    out.panel_bytes = cut.rows * element;
    out_segments = cut.cols;
  } else {
    arguments.all_rows = static_cast<unsigned>(cut.rows / rows);
    arguments.part_cols = 1;
    in.part = static_cast<unsigned>(shape.access());
    out.part = static_cast<unsigned>(cols * col_bytes);
    in.panel_bytes = cut.cols * element;
    out.panel_bytes = cut.cols * col_bytes;
    in_segments = cut.rows;
  }
  const auto describe = [&](panel_side& one, size_type segments, size_type groups, size_type length,
                            size_type stride_bytes, size_type batch_bytes) {
    one.batch_bytes = batch_bytes;
    one.segment_bytes = stride_bytes;
    one.segment = divider(cut.accesses / segments);
    one.row_bytes = static_cast<unsigned>(length * element);
    one.group = divider(cut.accesses / groups);
  };
  describe(in, in_segments, cut.in_groups, cut.cols, problem.in_stride_bytes,
           problem.in_batch_bytes);
  describe(out, out_segments, cut.out_groups, cut.rows, problem.out_stride_bytes,
           problem.out_batch_bytes);
  arguments.strip_shift = cut.strip_shift;
  arguments.threads = static_cast<unsigned>(shape.threads);
  in.pitch = cut.in_pitch;
  out.pitch = cut.out_pitch;
  in.step = in.pitch * max_access_bytes;
  out.step =
      shape.pixels() ? static_cast<unsigned>(shape.micro_bytes()) : out.pitch * max_access_bytes;
  arguments.in = static_cast<const unsigned char*>(problem.in);
  arguments.out = static_cast<unsigned char*>(problem.out);
  arguments.panels = divider(cut.panels);
  arguments.parts = static_cast<unsigned>(cut.parts);
  arguments.panel_parts = static_cast<unsigned>(cut.panel_parts);
  arguments.accesses = static_cast<unsigned>(cut.accesses);
  arguments.rows = divider(cut.rows / rows);
  arguments.cols = divider(cut.cols / cols);
  return plan;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
