// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The row kernel as CUDA sees it. Most of it knows no element size: all calls of a program share a dozen
/// kernels, and elements whose size is no power of two have one of their own.

#pragma once

#include <tiletranspose/detail/core/launch_bounds.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/rows/row_plan.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Direct moves live of blocks, though not of more than 6: rows of 1001 bytes reversed 96 % of cudaMemcpyAsync, with 8
/// 90 (H200, 2026-11-21). Words in any order and groups of many accesses need the registers.
constexpr int row_blocks(row_order order, int element) {
  const int accesses = order == row_order::gathered ? element / access_width(element) : 0;
  return is_direct(order)                                                 ? 6
         : order == row_order::any                                        ? 3
         : accesses > 0                                                   ? (accesses > 3 ? 4 : 6)
         : order == row_order::grouped                                    ? 5
         : order == row_order::pieces || order == row_order::known_pieces ? 6
                                                                          : 4;
}

/// The threads of a block, up to row_block_threads of them.
struct row_block {
  TILETRANSPOSE_FUNCTION static unsigned thread_rank() {
    return static_block<row_block_threads>::thread_rank();
  }
  TILETRANSPOSE_FUNCTION static void sync(access_site site = access_site::at()) {
    static_block<row_block_threads>::sync(site);
  }
};

template <row_order Order, int Element = 0>
__global__ void __launch_bounds__(row_block_threads,
                                  resident_blocks(row_block_threads, row_blocks(Order, Element)))
    row_kernel(const __grid_constant__ row_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  move_rows<Order, Element>(row_block{}, tiletranspose_dynamic_shared, arguments, blockIdx.x);
}

/// True where elements whose addresses are multiples of `alignment` can always be moved directly.
constexpr bool is_always_direct(int element, int alignment) {
  return (16 % element == 0 || element % 16 == 0) && alignment % access_width(element) == 0;
}

/// Offers the kernels that reverse elements of this size and larger ones. `Known` is the size, or 0 where no kernel of
/// their own is needed.
template <int ElementBytes, int Known, class Offer>
void offer_reversing(const Offer& offer) {
  offer(row_order::vectors, &row_kernel<row_order::vectors>);
  offer(row_order::pieces, &row_kernel<row_order::pieces>);
  if constexpr (ElementBytes < 8) {
    offer(row_order::words, &row_kernel<row_order::words>);
    offer(row_order::elements, &row_kernel<row_order::elements>);
  }
  if constexpr (16 % ElementBytes == 0) {
    offer(row_order::turn_16, &row_kernel<row_order::turn_16>);
  }
  if constexpr (8 % ElementBytes == 0) { offer(row_order::turn_8, &row_kernel<row_order::turn_8>); }
  if constexpr (4 % ElementBytes == 0) { offer(row_order::turn_4, &row_kernel<row_order::turn_4>); }
  if constexpr (2 % ElementBytes == 0) {
    offer(row_order::turn_2, &row_kernel<row_order::turn_2>);
    offer(row_order::halves, &row_kernel<row_order::halves>);
    offer(row_order::any, &row_kernel<row_order::any>);
  }
  if constexpr (Known > 0) {
    constexpr row_order known = known_order(Known);
    offer(known, &row_kernel<known, Known>);
  }
  if constexpr (ElementBytes == 1) {
    offer(row_order::turn_1, &row_kernel<row_order::turn_1>);
    offer(row_order::bytes, &row_kernel<row_order::bytes>);
  }
}

/// The kernel for an order that elements of this size can need. Rows that count as elements may have any size
/// from that of their own elements on. An element size of 0 stands for rows that are only copied.
template <int ElementBytes, int Known>
auto find_row_kernel(row_order order) -> void (*)(row_arguments) {
  void (*found)(row_arguments) = nullptr;
  const auto offer = [&](row_order offered, void (*kernel)(row_arguments)) {
    if (order == offered) { found = kernel; }
  };
  offer(row_order::forward, &row_kernel<row_order::forward>);
  if constexpr (ElementBytes > 0) { offer_reversing<ElementBytes, Known>(offer); }
  return found;
}

template <int ElementBytes, int Known>
cudaError_t launch_joined_rows(const row_problem& problem, size_type alignment,
                               cudaStream_t stream) {
  row_plan plan = plan_rows(problem, alignment, Known);
  row_arguments& arguments = plan.arguments;
  if (plan.matrix_blocks == 0) { return cudaSuccess; }  // a row that trades places with itself
  // Rows that do not touch, a terabyte of them and more. Batches of fewer are split below.
  if (plan.matrix_blocks > max_blocks) { return cudaErrorInvalidValue; }
  arguments.matrix_blocks = divider(plan.matrix_blocks);
  const auto kernel = find_row_kernel<ElementBytes, Known>(plan.order);
  const size_type most = max_blocks / plan.matrix_blocks;
  for (size_type done = 0; done < plan.batch; done += most) {
    row_arguments part = arguments;
    const size_type in_step = problem.pointer_arrays ? sizeof(void*) : problem.in_batch_bytes;
    const size_type out_step = problem.pointer_arrays ? sizeof(void*) : problem.out_batch_bytes;
    part.in = static_cast<const unsigned char*>(arguments.in) + done * in_step;
    part.out = static_cast<unsigned char*>(arguments.out) + done * out_step;
    void* pointers[] = {&part};
    const cudaError_t status =
        start(kernel, smaller(most, plan.batch - done) * plan.matrix_blocks,
              static_cast<int>(arguments.threads), plan.shared_bytes, pointers, stream);
    if (status != cudaSuccess) { return status; }
  }
  return cudaSuccess;
}

/// The bits that the address of some row has. Behind pointer arrays only what the type promises is known.
inline size_type row_bits(const row_problem& rows, size_type promised) {
  size_type bits = rows.pointer_arrays ? promised
                                       : reinterpret_cast<size_type>(rows.in) |
                                             reinterpret_cast<size_type>(rows.out);
  if (rows.rows > 1) { bits |= rows.in_pitch | rows.out_pitch; }
  if (rows.batch > 1) { bits |= rows.in_batch_bytes | rows.out_batch_bytes; }
  return bits;
}

/// Moves rows, out of place or in place. In place, the middle one of an odd number of rows that are taken from
/// the last to the first stays, and is reversed by a launch of its own.
template <int ElementBytes, int Alignment>
cudaError_t launch_rows(const row_problem& wanted, cudaStream_t stream) {
  constexpr int known =
      ElementBytes == 0 || is_always_direct(ElementBytes, Alignment) ? 0 : ElementBytes;
  const row_problem problem = join_rows(wanted);
  const size_type alignment = row_bits(wanted, Alignment) | problem.element_bytes;
  const cudaError_t status = launch_joined_rows<ElementBytes, known>(problem, alignment, stream);
  const bool has_middle =
      problem.in_place() && problem.from_last_row && problem.reverses && problem.rows % 2 == 1;
  if (status != cudaSuccess || !has_middle) { return status; }
  row_problem middle = problem;
  const size_type offset = problem.rows / 2 * problem.in_pitch;
  middle.in = static_cast<const unsigned char*>(problem.in) + offset;
  middle.out = static_cast<unsigned char*>(problem.out) + offset;
  middle.rows = 1;
  middle.from_last_row = false;
  return launch_joined_rows<ElementBytes, known>(middle, alignment, stream);
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
