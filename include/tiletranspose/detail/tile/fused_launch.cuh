// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The fused kernel as CUDA sees it, how many blocks of it a multiprocessor holds, measured, and as many as spill no
/// registers, and its launches.

#pragma once

#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/tile/fused_function.cuh>
#include <tiletranspose/detail/tile/fused_plan.cuh>
#include <tiletranspose/detail/tile/transform_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Those of a kernel that holds the accumulator operand in its shared rows. Figures: squares and odd shapes.
template <class Fused>
constexpr int operand_blocks() {
  constexpr int in = Fused::in_bytes;
  constexpr int out = Fused::out_bytes;
  if (Fused::out_access >= 4) {
    // Whole words. Floats 101 and 94.8 %, 100 and 94.2 with 4 blocks. Of packed elements 16 bytes to 4 and 8 to 8
    // spilled with 4, 3 to 4 with 5.
    if (Fused::out_access == out && Fused::whole_in) { return 3; }
    if (Fused::out_access == out && Fused::loads_unaligned && out <= 8) {
      return Fused::fills_words && (in > 8 || in + out == 16) ? 3 : 4;
    }
    // Elements of several words. 3 bytes to 12 93 and 90; 87 and 84 with 4. 9 to 12 98 and 96; 96 and 93 with 4. 12 to
    // 12 99 and 94; 99 and 92 with 5. 48 to 48 100 and 96; 83 and 81 with 2; but 60 bytes spilled with 3.
    if (Fused::loads_unaligned && (in + out <= 16 || (in == 9 && out == 12))) { return 5; }
    constexpr int old =
        Fused::old_registers(Fused::tile_rows * Fused::tile_cols * out / Fused::threads);
    if (out > 56 && Fused::out_access == 4) { return 2; }
    return (old > 24 || out > 40 ? 3 : 4) - (Fused::count > 1 ? 1 : 0);
  }
  // Rows that are stored together as many words, which take as many registers, and their old ones twice as many.
  if (out > 16 && Fused::packs) { return 2; }
  // Single bytes that an element is put together of take a register each. With 3 blocks of 256 threads 3 to 9 spilled,
  // with 2 bytes to 15; with 4 of 128 15 to 15 did, if the function takes a register for each byte.
  if (out > 8) {
    return Fused::threads == 128 ? (out == 15 ? 3 : 4) : Fused::packs && out < 15 ? 2 : 1;
  }
  // Three bytes out: 3 to 3 93.5 and 83; 92 and 82 with 5 blocks; but 4 to 3 spilled with 6. Words that hold nothing
  // else are not shifted one by one, and with one block more 4 bytes to 3, and with two more 8 to 3, spilled.
  if (Fused::threads == 192) { return in < 4 ? 6 : Fused::fills_words ? 4 : 5; }
  if (Fused::fills_words && in == 8 && out == 3) { return 3; }
  // Large elements of several rows that are stored together.
  constexpr int loaded = Fused::micro_rows * (Fused::load_words + (Fused::fills_words ? 1 : 0));
  if (in > 8 && loaded > 28) { return 2; }
  if (in > 8 && loaded > (Fused::loads_unaligned ? 12 : 16)) { return 3; }
  if (out == 7 && !Fused::loads_unaligned) { return 2; }
  // Halves to bytes spilled with 3 blocks of 512 threads.
  if (Fused::shifts && in == 2) { return Fused::threads == 512 ? 2 : 3; }
  return out == 3 && !Fused::shifts ? 5 : 4;
}

/// The blocks of a multiprocessor that registers are kept low for: the first rule that fits says. Small elements leave
/// room for more; what a function of the caller's needs, nobody knows.
template <class Fused>
constexpr int fused_blocks() {
  if constexpr (Fused::holds_operand) { return operand_blocks<Fused>(); }
  constexpr int in = Fused::in_bytes;
  constexpr int out = Fused::out_bytes;
  // One packed element a lane. 3 bytes to 9 84 % and, odd shapes, 85; 79 and 77 with 4 blocks; but 7 bytes to 9, 9 to 9
  // and 8 to 16 spilled with 6, with CUDA 13.5 4 bytes to 15, too, and before 9.0 3 to 9 with 5.
  if (Fused::loads_unaligned && !Fused::copies && widens_packed(in, out)) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    constexpr int most = 5;  // of which resident_blocks takes one
#else
    constexpr int most = 6;
#endif
    const bool few = in > 6 || out == 15;
    return (few && Fused::out_access < 4) || in + out > 20 ? 4 : most;
  }
  // The words that packed elements lie in. 3 bytes to 1: 70 % with 4 blocks, 63 with 3, 54 with 2.
  if (Fused::loads_unaligned && in + out <= 16) {
    const bool few = Fused::copies || Fused::micro_rows * Fused::load_words > 20;
    // Four bytes and two outputs of one: nvcc spills with 3 blocks.
    const int blocks = Fused::copies && in == 4 && out == 1 ? 2 : few ? 3 : 4;
    return blocks * 256 / Fused::threads;
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

/// The blocks of a multiprocessor that a kernel's registers are kept low for. Places of elements take some: with those of
/// a function that does without, two outputs of 4 and 8 bytes spilled in rows that start anywhere.
template <class Fused, class Op>
constexpr int blocks_with_function() {
  const int blocks = fused_blocks<Fused>();
  return Fused::deals && takes_place<typename Fused::in, typename Fused::out, Op> && blocks > 1
             ? blocks - 1
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
cudaError_t launch_fused_tiles(const tile_problem& problem, size_type batch,
                               const row_major_copy& copy, const Op& op, cudaStream_t stream,
                               matrix_place first = {0, 0}) {
  return plan_fused<Fused>(
      problem, batch, copy, first, [&](fused_arguments arguments, size_type blocks) {
        Op own_op = op;
        void* pointers[] = {&arguments, &own_op};
        const auto kernel =
            &fused_kernel<Fused, Fused::kind, typename Fused::in, typename Fused::out, Op>;
        const cudaError_t status = allow_shared_bytes(kernel, dynamic_bytes_of<Fused>);
        if (status != cudaSuccess) { return status; }
        return start(kernel, blocks, Fused::threads, dynamic_bytes_of<Fused>, pointers, stream);
      });
}

template <fusion Kind, class In, class Out, class Op>
cudaError_t launch_fused(const tile_problem& problem, size_type batch, const row_major_copy& copy,
                         const Op& op, cudaStream_t stream) {
  return with_fused_shape<Kind, In, Out>(
      problem, batch, copy, [] { return most_shared_bytes(); },
      [&](auto shape) {
        return launch_fused_tiles<decltype(shape)>(problem, batch, copy, op, stream);
      });
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
