// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The mover for little work as CUDA sees it, and its launches: nothing is asked of the device and no attribute set.

#pragma once

#include <type_traits>

#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/small/small_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Block (j, i, b) moves the tile in row j and column i of tiles of matrix b. Barriers: one.
template <class Operation, int Side, int BlockRows, int Padding, class Batch>
__global__ void __launch_bounds__(Side* BlockRows)
    small_tile_kernel(const __grid_constant__ small_tile_arguments<Batch> arguments,
                      const __grid_constant__ Operation operation) {
  using stored = typename Operation::stored;
  using tile = shared_tile<stored, padded_layout<stored, Side, Side, Padding>>;
  __shared__ typename tile::storage storage;
  operation.show_compiler();
  constexpr unsigned side = Side;
  const unsigned x0 = blockIdx.y * side;
  const unsigned y0 = blockIdx.x * side;
  const element_steps<int> in_steps{Operation::in_bytes, arguments.in_pitch};
  const element_steps<int> out_steps{Operation::out_bytes, arguments.out_pitch};
  const auto from =
      static_cast<int>(y0) * in_steps.along_col + static_cast<int>(x0) * in_steps.along_row;
  const auto to =
      static_cast<int>(y0) * out_steps.along_row + static_cast<int>(x0) * out_steps.along_col;
  detail::transpose_elements<BlockRows>(
      static_block<Side * BlockRows>{}, tile(storage), smaller(arguments.ny - y0, side),
      smaller(arguments.nx - x0, side), y0, x0, operation,
      optimisation_barrier_global(arguments.batch.in_matrix(blockIdx.z) + from), in_steps,
      optimisation_barrier_global(arguments.batch.out_matrix(blockIdx.z)), to, out_steps);
}

template <bool Divides, class Batch, class Operation>
__global__ void __launch_bounds__(few_row_threads)
    small_row_kernel(const __grid_constant__ small_row_arguments<Batch> arguments,
                     const __grid_constant__ Operation operation) {
  constexpr int threads = small_row_threads(Divides);
  constexpr int rounds = small_row_rounds(Divides, Operation::kept_bytes, Operation::accesses);
  static_assert(Divides || larger(few_row_threads, threads * rounds) <= longest_row_segment,
                "is_little knows of no more");
  operation.show_compiler();
  if (Operation::kept_bytes > widest_row_element || arguments.few) {
    move_small_rows<Divides, few_row_threads, 1>(static_block<few_row_threads>{}, arguments,
                                                 operation, blockIdx.x, blockIdx.y, blockIdx.z);
  } else {
    move_small_rows<Divides, threads, rounds>(static_block<threads>{}, arguments, operation,
                                              blockIdx.x, blockIdx.y, blockIdx.z);
  }
}

/// Launches the tile kernel for a problem that choose_small says it takes.
template <class Operation, int Side, int BlockRows, int Padding, class Batch>
cudaError_t launch_small_tiles(const small_problem& problem, const Batch& batch,
                               Operation operation, cudaStream_t stream) {
  static_assert(Side <= longest_tile_side, "is_little knows of no more");
  return detail::start(&small_tile_kernel<Operation, Side, BlockRows, Padding, Batch>,
                       plan_small_tiles(problem, batch, Side, BlockRows), stream, operation);
}

/// Launches what choose_small chose, but small_mover::none. Only what the problem's kind can take, or one row, is instantiated.
template <bool Transposes, bool IsArray = false, class Batch, class Operation>
cudaError_t launch_small(small_mover mover, const small_problem& problem, const Batch& batch,
                         const Operation& operation, cudaStream_t stream) {
  const auto launch_rows = [&](auto kernel, bool divides) {
    const auto plan = plan_small_rows(problem, batch, divides, Operation::accesses);
    return detail::start(kernel, plan, stream, operation);
  };
  if constexpr (Transposes) {
    if (mover == small_mover::tiles) {
      constexpr int kept = Operation::kept_bytes;
      constexpr int accesses = Operation::accesses;
      const auto launch = [&](auto tile_side, auto are_many) {
        constexpr int side = decltype(tile_side)::value;
        return launch_small_tiles<Operation, side,
                                  small_block_rows(side, kept, accesses, decltype(are_many)::value),
                                  element_padding<typename Operation::stored, side>()>(
            problem, batch, operation, stream);
      };
      constexpr bool is_large = has_large_tile(kept, accesses);
      if constexpr (is_large && has_small_tile(kept)) {
        if (small_tile_side(problem, accesses) == 16) {
          return launch(std::integral_constant<int, 16>{}, std::false_type{});
        }
      }
      constexpr int widest = larger<int>(Operation::in_bytes, Operation::out_bytes);
      if constexpr (is_large && !Batch::is_one && has_many_tiles(widest, kept, accesses)) {
        if (are_many_tiles(problem)) {
          return launch(std::integral_constant<int, 32>{}, std::true_type{});
        }
      }
      return launch(std::integral_constant < int, is_large ? 32 : 16 > {}, std::false_type{});
    }
  } else if (IsArray || mover == small_mover::rows) {
    return launch_rows(&small_row_kernel<false, Batch, Operation>, false);
  }
  if constexpr (!IsArray) { return launch_rows(&small_row_kernel<true, Batch, Operation>, true); }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
