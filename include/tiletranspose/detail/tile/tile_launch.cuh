// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernels of tiles as CUDA sees them; of fused ones, how many blocks a multiprocessor holds, measured, and as many as
/// spill no registers, and the launches.

#pragma once

#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/tile/fused_plan.cuh>
#include <tiletranspose/detail/tile/tile_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <class Shape, int BlocksPerSm>
__global__ void __launch_bounds__(Shape::threads, resident_blocks(Shape::threads, BlocksPerSm))
    tile_kernel(const __grid_constant__ tile_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  move_tile<Shape>(static_block<Shape::threads>{}, tiletranspose_dynamic_shared, arguments,
                   blockIdx.x);
}

template <class Shape>
__global__ void __launch_bounds__(Shape::threads)
    vector_kernel(const __grid_constant__ matrix_problem problem) {
  __shared__ __align__(16) unsigned char shared[Shape::shared_bytes];
  move_vector_tile<Shape>(static_block<Shape::threads>{}, shared, problem, blockIdx.y, blockIdx.x);
}

/// Those of a kernel that holds the accumulator operand in its shared rows.
template <class Fused>
constexpr int operand_blocks() {
  constexpr int in = Fused::in_bytes;
  constexpr int out = Fused::out_bytes;
  if (Fused::out_access >= 4) {
    // Whole words. Floats 101 and 94.8 %, 100 and 94.2 with 4 blocks.
    if (Fused::out_access == out && Fused::whole_in) { return 3; }
    // Of packed elements 16 bytes to 4 and 8 to 8 spilled with 4, 3 to 4 with 5. 3 to 12 93 and 90; 87 and 84 with 4.
    if (Fused::loads_unaligned && in > 8) { return 3; }
    if (Fused::loads_unaligned && in + out <= 16) {
      return out > 8 ? 5 : Fused::fills_words && in + out == 16 ? 3 : 4;
    }
    // Elements of several words. 12 to 12 99 and 94; 99 and 92 with 5. 48 to 48 100 and 96; 83 and 81 with 2; but 60
    // bytes spilled with 3.
    constexpr int old =
        Fused::old_registers(Fused::tile_rows * Fused::tile_cols * out / Fused::threads);
    if (out > 56 && Fused::out_access == 4) { return 2; }
    return (old > 24 || out > 40 ? 3 : 4) - (Fused::count > 1 ? 1 : 0);
  }
  // Single bytes that an element is put together of take a register each.
  if (out > 8) { return 1; }
  // Three bytes: 93.5 and 83; 92 and 82 with 5 blocks; but 4 to 3 spilled with 6.
  if (Fused::threads == 192) { return in < 4 ? 6 : 4; }
  if (out > 3 || in > 16 || (Fused::loads_unaligned && in > 8)) { return 2; }
  if (Fused::loads_unaligned && in == 8) { return 3; }
  // Halves to bytes spilled with 3 blocks of 512 threads.
  if (Fused::shifts && in == 2) { return Fused::threads == 512 ? 2 : 3; }
  return out == 3 && !Fused::shifts ? 5 : 4;
}

/// The blocks of a multiprocessor that registers are kept low for, but for a function that takes places: the first rule that
/// fits says. Small elements leave room for more; what a function of the caller's needs, nobody knows.
template <class Fused>
constexpr int fused_blocks() {
  if constexpr (Fused::holds_operand) { return operand_blocks<Fused>(); }
  constexpr int in = Fused::in_bytes;
  constexpr int out = Fused::out_bytes;
  // One packed element a lane. 3 bytes to 12 90 %, 88 with 4 blocks.
  if (Fused::loads_unaligned && !Fused::copies && widens_packed(in, out)) {
    return Fused::out_access < 4 ? 3 : in + out > 16 ? 4 : 6;
  }
  // The words that packed elements lie in. 3 bytes to 1: 70 % with 4 blocks, 63 with 3, 54 with 2.
  if (Fused::loads_unaligned && in + out <= 16) {
    // Four bytes and more and two outputs of one spill with 3 blocks.
    if (Fused::copies) { return in >= 4 && out == 1 ? 2 : 3; }
    const bool few = Fused::fills_words ? in > 8 : Fused::micro_rows * Fused::load_words > 20;
    return few ? 3 : 4;
  }
  // Large elements.
  if (in + out > 16) { return 1; }
  // Blocks of twice as many threads.
  if (Fused::threads == 512) {
    if ((Fused::shifts && out < in) || (Fused::count == 1 && Fused::whole_in)) { return 3; }
    return 2;
  }
  // Elements in parts.
  if (Fused::splits_out || !Fused::whole_in) { return 2; }
  // Two outputs: bytes as halves, and what stays as wide as it is.
  if (Fused::copies && in == 1 && out == 2) { return 2; }
  if (Fused::copies && in == out) { return 3; }
  // Wide elements.
  if (in + out > 8) { return 3; }
  if (Fused::combines) {
    // Added to wider elements; words to small ones.
    const bool widens = in <= 2 && out > in;
    const bool narrows = in > 2 && out <= 2;
    return widens || narrows ? 3 : 4;
  }
  // Converted four rows at a time.
  if (Fused::micro_rows == 4 && !Fused::shifts && in != 2) { return 3; }
  // Odd rows of bytes: 82 % with 4 blocks, 80 with 3.
  return Fused::shifts && in != out ? 5 : 4;
}

/// The same with the function. Places of elements take registers: with as many blocks as without, two outputs of 4 and 8
/// bytes, and bytes, spilled in rows that start anywhere.
template <class Fused, class Op>
constexpr int blocks_with_function() {
  constexpr int blocks = fused_blocks<Fused>();
  constexpr bool is_full = Fused::deals || (Fused::in_bytes == 1 && Fused::out_bytes == 1);
  return is_full && takes_place<typename Fused::in, typename Fused::out, Op> ? larger(blocks - 1, 1)
                                                                             : blocks;
}

template <class Fused, fusion Kind, class In, class Out, class Op>
__global__ void __launch_bounds__(Fused::threads,
                                  resident_blocks(Fused::threads,
                                                  blocks_with_function<Fused, Op>()))
    fused_kernel(const __grid_constant__ fused_arguments arguments, const __grid_constant__ Op op) {
  constexpr static_block<Fused::threads> block{};
  // For the compiler to see; never run.
  if (false) { call_on_device<Kind, In, Out>(op, nullptr, nullptr); }
  // What every block may have is not asked for at launch: floats to halves, odd rows, 93.4 %, 91.9 so.
  if constexpr (Fused::shared_bytes <= default_shared_bytes) {
    __shared__ __align__(16) unsigned char shared[Fused::shared_bytes];
    convert_tile<Fused>(block, shared, arguments, op, blockIdx.x);
  } else {
    extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
    convert_tile<Fused>(block, tiletranspose_dynamic_shared, arguments, op, blockIdx.x);
  }
}

/// Launches one kind of tile. `first` is where the problem begins in the caller's input.
template <class Fused, class Op>
cudaError_t launch_fused_tiles(const batch_problem& problem, const row_major_copy& copy,
                               const Op& op, cudaStream_t stream, matrix_place first = {0, 0}) {
  return plan_fused<Fused>(problem, copy, first, [&](const auto& plan) {
    return start(&fused_kernel<Fused, Fused::kind, typename Fused::in, typename Fused::out, Op>,
                 plan, stream, op);
  });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
