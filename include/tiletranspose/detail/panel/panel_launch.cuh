// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernels of panels as CUDA sees them.

#pragma once

#include <tiletranspose/detail/choose/vectorised_panel.cuh>
#include <tiletranspose/detail/core/launch_bounds.cuh>
#include <tiletranspose/detail/panel/gathered_kernel.cuh>
#include <tiletranspose/detail/panel/vectorised_kernel.cuh>
#include <tiletranspose/detail/panel/word_shifted_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <int ElementBytes, int AccessBytes>
inline constexpr int gathered_resident_blocks =
    static_cast<int>(AccessBytes == ElementBytes && ElementBytes <= 2
                         ? gathered_blocks_of_bytes.value
                         : gathered_blocks.value) -
    (AccessBytes == 1 && ElementBytes > 2 && is_nvcc_12 ? 1 : 0);

template <int ElementBytes, int AccessBytes>
__global__ void __launch_bounds__(
    panel_threads,
    resident_blocks(panel_threads, gathered_resident_blocks<ElementBytes, AccessBytes>))
    gathered_kernel(const __grid_constant__ gathered_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  move_gathered<ElementBytes, AccessBytes>(static_block<panel_threads>{},
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
                                  resident_blocks(Shape::threads,
                                                  static_cast<int>(shifted_blocks.value)))
    word_shifted_kernel(const __grid_constant__ word_shifted_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  move_word_shifted<Shape>(static_block<Shape::threads>{}, tiletranspose_dynamic_shared, arguments,
                           blockIdx.x);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
