// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Gathered panels of matrices: panels along the two axes of a matrix and that of a batch. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/tuning_panel.cuh>
#include <tiletranspose/detail/panel/axes_panel_plan.cuh>
#include <tiletranspose/detail/request/problem.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A transpose as a relocation of three axes; of pointer arrays that of one matrix, from where the array is.
inline relocation relocation_of(const tile_problem& problem, size_type batch,
                                size_type element_bytes, size_type access_bytes) {
  const auto elements = [&](size_type bytes) {
    return static_cast<long long>(bytes) / static_cast<long long>(element_bytes);
  };
  relocation move{
      {problem.in, problem.out, element_bytes, element_bytes, access_bytes, access_bytes}, 3, {}};
  move.axes[0] = problem.pointer_arrays ? relocation_axis{1, 0, 0}
                                        : relocation_axis{batch, elements(problem.in_batch_bytes),
                                                          elements(problem.out_batch_bytes)};
  move.axes[1] = {problem.ny, elements(problem.in_stride_bytes), 1};
  move.axes[2] = {problem.nx, 1, elements(problem.out_stride_bytes)};
  normalize(move);
  return as_accesses(move, access_bytes);
}

/// More than max_blocks where the problem is to be split.
/// \param shared_bytes  what a block may ask for
inline launch_plan<axes_panel_arguments> plan_gathered(const tile_problem& problem, size_type batch,
                                                       size_type element_bytes,
                                                       size_type access_bytes,
                                                       size_type shared_bytes) {
  tile_problem first = problem;
  if (problem.pointer_arrays) {  // the addresses of matrices are taken for aligned ones
    first.in = static_cast<const unsigned char*>(problem.in) - address_bits(problem.in) % 128;
    first.out = static_cast<unsigned char*>(problem.out) - address_bits(problem.out) % 128;
  }
  const relocation move = relocation_of(first, batch, element_bytes, access_bytes);
  const size_type matrix_bytes = problem.nx * problem.ny * element_bytes;
  const size_type large = batch > 1 && matrix_bytes < shared_bytes
                              ? larger<size_type>(large_panel_axes_bytes, matrix_bytes)
                              : large_panel_axes_bytes;
  const bool fits_panel = batch > 1 && access_bytes < 4 && matrix_bytes <= large_matrix_bytes;
  const size_type whole =
      problem.pointer_arrays || fits_panel ? matrix_bytes / access_bytes : size_type{0};
  launch_plan<axes_panel_arguments> plan =
      plan_axes_panel(move, large, shared_bytes, larger<size_type>(whole, panel_axes_threads));
  if (!problem.pointer_arrays || plan.blocks > max_blocks) { return plan; }
  axes_panel_arguments& arguments = plan.arguments;
  const auto distance_from = [](const void* start, const void* at) {
    return static_cast<const unsigned char*>(at) - static_cast<const unsigned char*>(start);
  };
  arguments.pointer_arrays = true;
  arguments.in = problem.in;
  arguments.out = problem.out;
  arguments.in_start +=
      distance_from(first.in, move.in) + static_cast<long long>(problem.in_batch_bytes);
  arguments.out_start +=
      distance_from(first.out, move.out) + static_cast<long long>(problem.out_batch_bytes);
  arguments.dense_begin = arguments.dense_end = nullptr;
  plan.blocks = batch > max_blocks / plan.blocks ? max_blocks + 1 : plan.blocks * batch;
  return plan;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
