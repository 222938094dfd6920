// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The row kernel as CUDA sees it, and its launches. Most of its instances know no element size: all calls of a program
/// share a dozen of them, and elements of most other sizes than powers of two have one of their own.

#pragma once

#include <iterator>

#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/rows/row_plan.cuh>
#include <tiletranspose/group.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// `Element` is the size of an element where the kernel is made for it, else 0.
/// Shared memory: grouped_bytes for groups; else 16 bytes, and `segment_pitch` bytes per segment. Barriers: at most two.
template <row_order Order, int Element = 0>
__global__ void __launch_bounds__(row_block_threads,
                                  resident_blocks(row_block_threads, row_blocks(Order)))
    row_kernel(const __grid_constant__ row_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  unsigned char* const shared = tiletranspose_dynamic_shared;
  const any_block group{};
  const row_work work = find_work(arguments, blockIdx.x, group.thread_rank());
  constexpr bool grouped = Order == row_order::grouped;
  stage_segments<shared_rounds(Order)>(shared + (grouped ? group_margin : 0), work);
  group.sync();
  if constexpr (grouped) {
    reverse_groups<Element>(shared, work);
    group.sync();
  }
  write_accesses<shared_rounds(Order)>(work, [&](const row_segment& segment, unsigned index) {
    return row_reader<Order, Element>{arguments,
                                      grouped ? reversed_segment(shared, arguments, index, segment)
                                              : work.shared_segment(shared, index, segment),
                                      work.rank / 8, static_cast<unsigned>(segment.bytes)};
  });
}

/// The kernels of any type; those that are made for elements of `Known` bytes come last.
template <int Known>
inline constexpr row_choice row_choices[] = {
    {row_order::forward, 0},   {row_order::vectors, 0},    {row_order::words, 0},
    {row_order::elements, 0},  {row_order::halves, 0},     {row_order::bytes, 0},
    {row_order::any, 0},       {row_order::accesses, 0},   {row_order::reversed, 1},
    {row_order::reversed, 2},  {row_order::reversed, 4},   {row_order::reversed, 8},
    {row_order::reversed, 16}, {row_order::grouped, Known}};

/// The kernel for a choice, of those that rows of a type's elements can need, from `Number` on.
/// \tparam IsArray  the rows are one, an array that is reversed out of place, which needs fewer
template <int ElementBytes, int Alignment, bool IsArray, std::size_t Number = 0>
auto find_row_kernel(row_choice wanted) -> void (*)(row_arguments) {
  constexpr int known = known_element(ElementBytes);
  if constexpr (Number < std::size(row_choices<known>)) {
    constexpr row_choice kernel = row_choices<known>[Number];
    if constexpr (moves_rows_by(kernel, ElementBytes) &&
                  (!IsArray || reverses_array_by(kernel, ElementBytes, Alignment, known))) {
      if (wanted == kernel) { return &row_kernel<kernel.order, kernel.element>; }
    }
    return find_row_kernel<ElementBytes, Alignment, IsArray, Number + 1>(wanted);
  } else {
    return nullptr;
  }
}

/// Moves rows, out of place or in place. Of rows that do not touch, a terabyte of them and more, no grid has the blocks.
template <int ElementBytes, int Alignment, bool IsArray = false>
cudaError_t launch_rows(const row_problem& rows, cudaStream_t stream) {
  return plan_rows(join_rows(rows), row_bits(rows, Alignment), known_element(ElementBytes),
                   [&](const row_plan& plan) {
                     return start(find_row_kernel<ElementBytes, Alignment, IsArray>(plan.kernel),
                                  plan.blocks, plan.threads, plan.shared_bytes, stream,
                                  plan.arguments);
                   });
}

/// Copies rows of `row_bytes` bytes. A template, so that its kernel is compiled only where it is called.
template <int NoElement = 0>
cudaError_t copy_rows(void* out, size_type out_pitch, const void* in, size_type in_pitch,
                      size_type row_bytes, size_type rows, cudaStream_t stream) {
  const row_problem problem{
      {{in, out, in_pitch, out_pitch, 0, 0, row_bytes, rows, false}, 1}, 1, false, false};
  return launch_rows<NoElement, 1>(problem, stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
