// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The row kernel as CUDA sees it, and its launches. Most of its instances know no element size: all calls of a program
/// share a dozen of them, and elements whose size is no power of two have one of their own.

#pragma once

#include <tiletranspose/detail/choose/choose_reverse.cuh>
#include <tiletranspose/detail/choose/choose_rows.cuh>
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

template <row_order Order, int Element = 0>
void offer_row_kernel(row_choice wanted, row_kernel_pointer& found) {
  if (wanted == row_choice{Order, Element}) { found = &row_kernel<Order, Element>; }
}

/// The kernels of elements of `Element` bytes whose accesses lie together, and of half as many and so on, as far as such elements can occur.
template <int ElementBytes, int Element = 16>
void offer_reversing_kernels(row_choice wanted, row_kernel_pointer& found) {
  if constexpr (Element % ElementBytes == 0) {
    offer_row_kernel<row_order::reversed, Element>(wanted, found);
    if constexpr (Element > 1) {
      offer_reversing_kernels<ElementBytes, Element / 2>(wanted, found);
    }
  }
}

/// The kernel for a choice that elements of this size can need. Rows that count as elements may have any size from that
/// of their own elements on. An element size of 0 stands for rows that are only copied. `Known` is the size, or 0 where
/// the elements need no kernel of their own.
template <int ElementBytes, int Known>
row_kernel_pointer find_row_kernel(row_choice wanted) {
  row_kernel_pointer found = nullptr;
  offer_row_kernel<row_order::forward>(wanted, found);
  if constexpr (ElementBytes > 0) {
    offer_row_kernel<row_order::vectors>(wanted, found);
    offer_row_kernel<row_order::accesses>(wanted, found);
    offer_reversing_kernels<ElementBytes>(wanted, found);
    if constexpr (ElementBytes < 8) {
      offer_row_kernel<row_order::words>(wanted, found);
      offer_row_kernel<row_order::elements>(wanted, found);
    }
    if constexpr (ElementBytes <= 2) {
      offer_row_kernel<row_order::halves>(wanted, found);
      offer_row_kernel<row_order::any>(wanted, found);
    }
    if constexpr (ElementBytes == 1) { offer_row_kernel<row_order::bytes>(wanted, found); }
    if constexpr (Known > 0) { offer_row_kernel<known_order(Known), Known>(wanted, found); }
  }
  return found;
}

/// The same for an array that is reversed out of place: what it never takes is not compiled.
template <int ElementBytes, int Alignment>
struct array_kernels {
  static constexpr int known = known_element(ElementBytes);

  row_kernel_pointer operator()(row_choice wanted) const {
    row_kernel_pointer found = nullptr;
    offer<row_order::forward>(wanted, found);
    offer<row_order::reversed, ElementBytes>(wanted, found);
    offer<row_order::vectors>(wanted, found);
    offer<row_order::elements>(wanted, found);
    offer<row_order::any>(wanted, found);
    offer<row_order::accesses>(wanted, found);
    if constexpr (known > 0) { offer<known_order(known), known>(wanted, found); }
    return found;
  }

  template <row_order Order, int Element = 0>
  static void offer(row_choice wanted, row_kernel_pointer& found) {
    if constexpr (reverses_array_by({Order, Element}, ElementBytes, Alignment, known)) {
      offer_row_kernel<Order, Element>(wanted, found);
    }
  }
};

/// Launches what is planned for joined rows. `known` is as for choose_rows; find_kernel(choice) is the kernel.
template <class FindKernel>
cudaError_t launch_joined_rows(const row_problem& problem, size_type alignment, int known,
                               FindKernel find_kernel, cudaStream_t stream) {
  row_plan plan = plan_rows(problem, alignment, known);
  row_arguments& arguments = plan.arguments;
  if (plan.matrix_blocks == 0) { return cudaSuccess; }  // all rows stay where they are
  // Rows that do not touch, a terabyte of them and more. Batches of fewer are split below.
  if (plan.matrix_blocks > max_blocks) { return cudaErrorInvalidValue; }
  arguments.matrix_blocks = divider(plan.matrix_blocks);
  const row_kernel_pointer kernel = find_kernel(plan.kernel);
  const size_type most = max_blocks / plan.matrix_blocks;
  for (size_type done = 0; done < plan.batch; done += most) {
    row_arguments some = arguments;
    const size_type in_step = problem.pointer_arrays ? sizeof(void*) : problem.in_batch_bytes;
    const size_type out_step = problem.pointer_arrays ? sizeof(void*) : problem.out_batch_bytes;
    some.in = static_cast<const unsigned char*>(arguments.in) + done * in_step;
    some.out = static_cast<unsigned char*>(arguments.out) + done * out_step;
    void* pointers[] = {&some};
    const cudaError_t status =
        start(kernel, smaller(most, plan.batch - done) * plan.matrix_blocks,
              static_cast<int>(arguments.threads), plan.shared_bytes, pointers, stream);
    if (status != cudaSuccess) { return status; }
  }
  return cudaSuccess;
}

/// Moves rows, out of place or in place. In place, the middle one of an odd number of rows that are taken from
/// the last to the first stays, and is reversed by a launch of its own.
template <int ElementBytes, int Alignment>
cudaError_t launch_rows(const row_problem& wanted, cudaStream_t stream) {
  constexpr int known = known_element(ElementBytes);
  const row_problem problem = join_rows(wanted);
  const size_type alignment = row_bits(wanted, Alignment) | problem.element_bytes;
  const auto find_kernel = &find_row_kernel<ElementBytes, known>;
  const cudaError_t status = launch_joined_rows(problem, alignment, known, find_kernel, stream);
  const bool has_middle =
      problem.in_place() && problem.from_last_row && problem.reverses && problem.rows % 2 == 1;
  if (status != cudaSuccess || !has_middle) { return status; }
  row_problem middle = problem;
  const size_type offset = problem.rows / 2 * problem.in_pitch;
  middle.in = static_cast<const unsigned char*>(problem.in) + offset;
  middle.out = static_cast<unsigned char*>(problem.out) + offset;
  middle.rows = 1;
  middle.from_last_row = false;
  return launch_joined_rows(middle, alignment, known, find_kernel, stream);
}

/// Moves an array that is reversed out of place.
template <int ElementBytes, int Alignment>
cudaError_t launch_array(const row_problem& wanted, cudaStream_t stream) {
  using kernels = array_kernels<ElementBytes, Alignment>;
  const row_problem problem = join_rows(wanted);
  return launch_joined_rows(problem, row_bits(wanted, Alignment) | problem.element_bytes,
                            kernels::known, kernels{}, stream);
}

/// Copies rows of `row_bytes` bytes. A template, so that its kernel is compiled only where it is called.
template <int NoElement = 0>
cudaError_t copy_rows(void* out, size_type out_pitch, const void* in, size_type in_pitch,
                      size_type row_bytes, size_type rows, cudaStream_t stream) {
  const row_problem problem{in,   out,       in_pitch, out_pitch, 0,     0,    1,
                            rows, row_bytes, 1,        false,     false, false};
  return launch_rows<NoElement, 1>(problem, stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
