// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The row kernel as CUDA sees it. It knows no element type: sizes are arguments, so that all calls of a program
/// share at most six kernels.

#pragma once

#include <tiletranspose/detail/launch.cuh>
#include <tiletranspose/detail/row_plan.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline constexpr int row_blocks_per_sm = 5;

template <row_order Order>
__global__ void __launch_bounds__(row_threads, resident_blocks(row_threads, row_blocks_per_sm))
    row_kernel(const __grid_constant__ row_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  move_rows<Order>(static_block<row_threads>{}, tiletranspose_dynamic_shared, arguments,
                   blockIdx.x);
}

/// The kernel for an order that elements of this size can need.
template <int ElementBytes>
const void* find_row_kernel(row_order order) {
  const auto address = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
  if constexpr (ElementBytes == 1) {
    if (order == row_order::bytes) { return address(&row_kernel<row_order::bytes>); }
  }
  // Rows that count as elements may have any size from that of their own elements on.
  if constexpr (ElementBytes <= 2) {
    if (order == row_order::halves) { return address(&row_kernel<row_order::halves>); }
    if (order == row_order::any) { return address(&row_kernel<row_order::any>); }
  }
  if (order == row_order::words) { return address(&row_kernel<row_order::words>); }
  if (order == row_order::elements) { return address(&row_kernel<row_order::elements>); }
  return address(&row_kernel<row_order::forward>);
}

template <int ElementBytes>
cudaError_t launch_joined_rows(const row_problem& problem, size_type alignment,
                               cudaStream_t stream) {
  row_plan plan = plan_rows(problem, alignment);
  row_arguments& arguments = plan.arguments;
  if (plan.matrix_blocks == 0) { return cudaSuccess; }  // a row that trades places with itself
  arguments.matrix_blocks = divider(plan.matrix_blocks);
  const void* const kernel = find_row_kernel<ElementBytes>(plan.order);
  const size_type most = max_blocks / plan.matrix_blocks;
  for (size_type done = 0; done < plan.batch; done += most) {
    row_arguments part = arguments;
    const size_type in_step = problem.pointer_arrays ? sizeof(void*) : problem.in_batch_bytes;
    const size_type out_step = problem.pointer_arrays ? sizeof(void*) : problem.out_batch_bytes;
    part.in = static_cast<const unsigned char*>(arguments.in) + done * in_step;
    part.out = static_cast<unsigned char*>(arguments.out) + done * out_step;
    void* pointers[] = {&part};
    const cudaError_t status = start(kernel, smaller(most, plan.batch - done) * plan.matrix_blocks,
                                     row_threads, plan.shared_bytes, pointers, stream);
    if (status != cudaSuccess) { return status; }
  }
  return cudaSuccess;
}

/// Moves rows, out of place or in place. In place, the middle one of an odd number of rows that are taken from
/// the last to the first stays, and is reversed by a launch of its own.
template <int ElementBytes, int Alignment>
cudaError_t launch_rows(const row_problem& wanted, cudaStream_t stream) {
  const row_problem problem = join_rows(wanted);
  const size_type pointers = wanted.pointer_arrays ? static_cast<size_type>(Alignment)
                                                   : reinterpret_cast<size_type>(wanted.in) |
                                                         reinterpret_cast<size_type>(wanted.out);
  size_type alignment = pointers | problem.element_bytes;
  if (wanted.rows > 1) { alignment |= wanted.in_pitch | wanted.out_pitch; }
  if (wanted.batch > 1) { alignment |= wanted.in_batch_bytes | wanted.out_batch_bytes; }
  if (problem.in_place() && problem.from_last_row && problem.reverses && problem.rows % 2 == 1) {
    row_problem middle = problem;
    const size_type offset = problem.rows / 2 * problem.in_pitch;
    middle.in = static_cast<const unsigned char*>(problem.in) + offset;
    middle.out = static_cast<unsigned char*>(problem.out) + offset;
    middle.rows = 1;
    middle.from_last_row = false;
    const cudaError_t status = launch_joined_rows<ElementBytes>(middle, alignment, stream);
    if (status != cudaSuccess) { return status; }
  }
  return launch_joined_rows<ElementBytes>(problem, alignment, stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
