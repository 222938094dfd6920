// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The fused kernel as CUDA sees it, and its launches.

#pragma once

#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/tile/fused_blocks.cuh>
#include <tiletranspose/detail/tile/fused_function.cuh>
#include <tiletranspose/detail/tile/fused_plan.cuh>
#include <tiletranspose/detail/tile/transform_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The blocks of a multiprocessor that a kernel's registers are kept low for. Places of elements take some: with those of
/// a function that does without, two outputs of 4 and 8 bytes spilled in rows that start anywhere.
template <class Fused, class In, class Out, class Op>
constexpr int blocks_with_function() {
  const int blocks = fused_blocks<Fused>();
  return Fused::deals && takes_place<In, Out, Op> && blocks > 1 ? blocks - 1 : blocks;
}

template <class Fused, fusion Kind, class In, class Out, class Op>
__global__ void __launch_bounds__(Fused::threads,
                                  resident_blocks(Fused::threads,
                                                  blocks_with_function<Fused, In, Out, Op>()))
    fused_kernel(const __grid_constant__ fused_arguments arguments, const __grid_constant__ Op op) {
  constexpr static_block<Fused::threads> block{};
  // For the compiler to see; never run.
  if (false) { call_on_device<Kind, In, Out>(op, nullptr, nullptr); }
  // What every block may have is not asked for at launch: floats to halves, odd rows, 93.4 %, 91.9 so.
  if constexpr (Fused::shared_bytes <= default_shared_bytes) {
    __shared__ __align__(16) unsigned char shared[Fused::shared_bytes];
    convert_tile<Fused, Kind, In, Out>(block, shared, arguments, op, blockIdx.x, blockIdx.y);
  } else {
    extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
    convert_tile<Fused, Kind, In, Out>(block, tiletranspose_dynamic_shared, arguments, op,
                                       blockIdx.x, blockIdx.y);
  }
}

/// Launches one kind of tile. `first` is where the problem begins in the caller's input.
template <class Fused, fusion Kind, class In, class Out, class Op>
cudaError_t launch_fused_tiles(const tile_problem& problem, size_type batch,
                               const row_major_copy& copy, const Op& op, cudaStream_t stream,
                               matrix_place first = {0, 0}) {
  return plan_fused<Fused, Kind, In, Out>(
      problem, batch, copy, first,
      [&](fused_arguments arguments, size_type blocks, size_type matrices) {
        Op own_op = op;
        void* pointers[] = {&arguments, &own_op};
        const auto kernel = &fused_kernel<Fused, Kind, In, Out, Op>;
        const cudaError_t status = allow_shared_bytes(kernel, dynamic_bytes_of<Fused>);
        if (status != cudaSuccess) { return status; }
        return start(kernel, dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(matrices)),
                     Fused::threads, dynamic_bytes_of<Fused>, pointers, stream);
      });
}

template <fusion Kind, class In, class Out, class Op>
cudaError_t launch_fused(const tile_problem& problem, size_type batch, const row_major_copy& copy,
                         const Op& op, cudaStream_t stream) {
  return with_fused_shape<Kind, In, Out>(
      problem, batch, copy, [] { return most_shared_bytes(); },
      [&](auto shape) {
        return launch_fused_tiles<decltype(shape), Kind, In, Out>(problem, batch, copy, op, stream);
      });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
