// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The row kernel as CUDA sees it, and its launches. Most of its instances know no element size: all calls of a program
/// share a dozen of them, and elements whose size is no power of two have one of their own.

#pragma once

#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/rows/row_plan.cuh>
#include <tiletranspose/group.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <row_order Order, int Element = 0>
__global__ void __launch_bounds__(row_block_threads,
                                  resident_blocks(row_block_threads, row_blocks(Order)))
    row_kernel(const __grid_constant__ row_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  move_rows<Order, Element>(any_block{}, tiletranspose_dynamic_shared, arguments, blockIdx.x);
}

using row_kernel_pointer = void (*)(row_arguments);

/// The kernels that rows of a type's elements can need.
/// \tparam IsArray  the rows are one, an array that is reversed out of place, which needs fewer
template <int ElementBytes, int Alignment, bool IsArray>
struct row_kernels {
  static constexpr int known = known_element(ElementBytes);

  /// The kernel for a choice.
  static row_kernel_pointer find(row_choice wanted) {
    row_kernel_pointer found = nullptr;
    offer<row_order::forward, row_order::vectors, row_order::words, row_order::elements,
          row_order::halves, row_order::bytes, row_order::any, row_order::accesses>(wanted, found);
    offer_made_for<row_order::reversed, 1, 2, 4, 8, 16>(wanted, found);
    offer_made_for<known_order(known), known>(wanted, found);
    return found;
  }

 private:
  template <row_order... Orders>
  static void offer(row_choice wanted, row_kernel_pointer& found) {
    (offer_made_for<Orders, 0>(wanted, found), ...);
  }
  template <row_order Order, int... Elements>
  static void offer_made_for(row_choice wanted, row_kernel_pointer& found) {
    (offer_kernel<Order, Elements>(wanted, found), ...);
  }
  template <row_order Order, int Element>
  static void offer_kernel(row_choice wanted, row_kernel_pointer& found) {
    constexpr row_choice kernel{Order, Element};
    if constexpr (moves_rows_by(kernel, ElementBytes)) {
      if constexpr (!IsArray || reverses_array_by(kernel, ElementBytes, Alignment, known)) {
        if (wanted == kernel) { found = &row_kernel<Order, Element>; }
      }
    }
  }
};

/// Moves rows, out of place or in place. Of rows that do not touch, a terabyte of them and more, no grid has the blocks.
template <int ElementBytes, int Alignment, bool IsArray = false>
cudaError_t launch_rows(const row_problem& rows, cudaStream_t stream) {
  using kernels = row_kernels<ElementBytes, Alignment, IsArray>;
  return plan_rows(join_rows(rows), row_bits(rows, Alignment), kernels::known,
                   [&](row_choice kernel, const launch_plan<row_arguments>& plan) {
                     return start(kernels::find(kernel), plan.blocks, plan.threads,
                                  plan.shared_bytes, stream, plan.arguments);
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
