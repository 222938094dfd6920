// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernels of panels as CUDA sees them, and the launches of panels of arrays of any rank.

#pragma once

#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/panel/axes_panel_plan.cuh>
#include <tiletranspose/detail/panel/vectorised_kernel.cuh>
#include <tiletranspose/detail/panel/word_shifted_kernel.cuh>
#include <tiletranspose/group.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// With six blocks for each multiprocessor elements of 1, 2 and 16 bytes spill.
template <int Bytes>
__global__ void __launch_bounds__(panel_axes_threads,
                                  resident_blocks(panel_axes_threads,
                                                  Bytes == 4 || Bytes == 8 ? 6 : 5))
    axes_panel_kernel(const __grid_constant__ axes_panel_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  move_axes_panel<Bytes, panel_axes_threads>(static_block<panel_axes_threads>{},
                                             tiletranspose_dynamic_shared, arguments, blockIdx.x);
}

template <class Shape>
__global__ void __launch_bounds__(most_vectorised_threads,
                                  resident_blocks(most_vectorised_threads,
                                                  1536 / most_vectorised_threads))
    vectorised_kernel(const __grid_constant__ vectorised_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  move_vectorised<Shape>(any_block{}, tiletranspose_dynamic_shared, arguments, blockIdx.x);
}

template <class Shape>
__global__ void __launch_bounds__(Shape::threads,
                                  resident_blocks(Shape::threads, static_cast<int>(shifted_blocks)))
    word_shifted_kernel(const __grid_constant__ word_shifted_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  move_word_shifted<Shape>(static_block<Shape::threads>{}, tiletranspose_dynamic_shared, arguments,
                           blockIdx.x);
}

/// Launches panels of elements whose addresses are multiples of `AccessBytes`.
template <int AccessBytes>
cudaError_t launch_panels(const relocation& move, cudaStream_t stream) {
  return plan_axes_panels(as_accesses(move, AccessBytes),
                          [&](const launch_plan<axes_panel_arguments>& plan) {
                            return start(&axes_panel_kernel<AccessBytes>, plan.blocks, plan.threads,
                                         plan.shared_bytes, stream, plan.arguments);
                          });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
