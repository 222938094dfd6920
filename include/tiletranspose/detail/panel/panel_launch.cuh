// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernels of panels as CUDA sees them.

#pragma once

#include <tiletranspose/detail/choose/axes_panel.cuh>
#include <tiletranspose/detail/choose/vectorised_panel.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/panel/axes_panel.cuh>
#include <tiletranspose/detail/panel/vectorised_kernel.cuh>
#include <tiletranspose/detail/panel/word_shifted_kernel.cuh>
#include <tiletranspose/group.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Blocks that share a multiprocessor as far as registers go: with six, elements of 1, 2 and 16 bytes spill.
template <int Bytes>
inline constexpr int axes_panel_blocks = Bytes == 4 || Bytes == 8 ? 6 : 5;

template <int Bytes>
__global__ void __launch_bounds__(panel_axes_threads,
                                  resident_blocks(panel_axes_threads, axes_panel_blocks<Bytes>))
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

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
