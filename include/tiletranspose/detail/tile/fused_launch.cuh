// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The fused kernel as CUDA sees it, and which one a call takes.

#pragma once

#include <tiletranspose/detail/choose/choose.cuh>
#include <tiletranspose/detail/core/driver.cuh>
#include <tiletranspose/detail/core/launch_bounds.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/tile/fused_blocks.cuh>
#include <tiletranspose/detail/tile/fused_function.cuh>
#include <tiletranspose/detail/tile/tile_plan.cuh>
#include <tiletranspose/detail/tile/transform_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <class Fused, fusion Kind, class In, class Out, class Op>
__global__ void __launch_bounds__(Fused::threads,
                                  resident_blocks(Fused::threads, fused_blocks<Fused>()))
    fused_kernel(const __grid_constant__ fused_arguments arguments, const __grid_constant__ Op op) {
  constexpr static_block<Fused::threads> block{};
  // For the compiler to see; never run.
  if (false) { call_on_device<Kind, In, Out>(op, nullptr, nullptr); }
  // What every block may have is not asked for at launch: floats to halves, odd rows, 93.4 %, 91.9 so.
  if constexpr (Fused::shared_bytes <= default_shared_bytes) {
    __shared__ __align__(16) unsigned char shared[Fused::shared_bytes];
    convert_tile<Fused, Kind, In, Out>(block, shared, arguments, op, blockIdx.x);
  } else {
    extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
    convert_tile<Fused, Kind, In, Out>(block, tiletranspose_dynamic_shared, arguments, op,
                                       blockIdx.x);
  }
}

/// The copy's part beside a part of the problem, which starts some rows down or some columns across.
inline row_major_copy copy_beside(const row_major_copy& copy, const tile_problem& problem,
                                  const tile_problem& part, size_type in_element,
                                  size_type out_element) {
  const auto distance = static_cast<size_type>(static_cast<const unsigned char*>(part.in) -
                                               static_cast<const unsigned char*>(problem.in));
  row_major_copy result = copy;
  result.data = static_cast<unsigned char*>(copy.data) +
                distance / problem.in_stride_bytes * copy.stride_bytes +
                distance % problem.in_stride_bytes / in_element * out_element;
  return result;
}

/// True where loads of the input that start where vectors of the copy do are whole accesses.
template <class Fused>
bool starts_in_step(const tile_problem& problem, const row_major_copy& copy) {
  const auto phase = [](const void* data, size_type stride_bytes, size_type bytes) {
    return reinterpret_cast<size_type>(data) / bytes % Fused::count * Fused::count +
           stride_bytes / bytes % Fused::count;
  };
  return phase(problem.in, problem.in_stride_bytes, Fused::in_bytes) ==
         phase(copy.data, copy.stride_bytes, Fused::out_bytes);
}

/// True where rows of the output start at multiples of 4 bytes.
inline bool starts_on_words(const tile_problem& problem) {
  return (reinterpret_cast<size_type>(problem.out) | problem.out_stride_bytes) % 4 == 0;
}

template <class Fused, fusion Kind, class In, class Out, class Op>
cudaError_t launch_fused_tiles(const tile_problem& problem, row_major_copy copy, const Op& op,
                               cudaStream_t stream) {
  const unsigned mask = Fused::holds_operand ? 0 : sector_mask(problem, 1);
  const bool skewed = Fused::holds_operand ? !starts_on_words(problem) : mask != 0;
  tile_arguments arguments{problem, {}, mask, Fused::cols};
  // Skewed segments of the copy leave the last columns to one more tile.
  if (Fused::deals) {
    copy.sector_mask = sector_bytes - 1;
    copy.in_step = starts_in_step<Fused>(problem, copy);
  }
  arguments.problem.nx += divide_up(copy.sector_mask, sizeof(Out));
  size_type blocks = 0;
  // Two outputs, one along each side of the input: blocks go along the rows, whose tiles share lines of the input and
  // of the copy where rows start anywhere.
  const int strip_width = Kind == fusion::dual ? static_cast<int>(dual_strip_width.value) : 1;
  if (!order_tiles(arguments, 1, sizeof(Out), Fused::segment_bytes, strip_width, blocks)) {
    return split(problem, 1, sizeof(In), sizeof(Out), [&](const tile_problem& part, size_type) {
      const bool copies = Kind == fusion::dual;
      return launch_fused_tiles<Fused, Kind, In, Out>(
          part, copies ? copy_beside(copy, problem, part, sizeof(In), sizeof(Out)) : copy, op,
          stream);
    });
  }
  arguments.problem.nx = problem.nx;
  fused_arguments all{arguments, find_interior<Fused>(problem, skewed), copy};
  Op own_op = op;
  void* pointers[] = {&all, &own_op};
  const auto kernel = &fused_kernel<Fused, Kind, In, Out, Op>;
  constexpr size_type shared_bytes =
      Fused::shared_bytes <= default_shared_bytes ? 0 : Fused::shared_bytes;
  const cudaError_t status = allow_shared_bytes(kernel, shared_bytes);
  if (status != cudaSuccess) { return status; }
  return start(kernel, blocks, Fused::threads, shared_bytes, pointers, stream);
}

/// Chooses the kernel: for rows of the input that are aligned to loads, and those of a copy to sectors, or for any.
/// fused_shape says which alignment.
template <fusion Kind, class In, class Out, class Op>
cudaError_t launch_fused(const tile_problem& problem, const row_major_copy& copy, const Op& op,
                         cudaStream_t stream) {
  using any = fused_shape<In, Out, Kind, false>;
  using aligned = fused_shape<In, Out, Kind, true>;
  if constexpr (aligned::loads != any::loads || aligned::fills_words) {
    const size_type in_bits = reinterpret_cast<size_type>(problem.in) | problem.in_stride_bytes;
    const size_type copy_bits = reinterpret_cast<size_type>(copy.data) | copy.stride_bytes;
    const bool is_aligned = aligned::fills_words
                                ? (in_bits | copy_bits) % 4 == 0
                                : in_bits % max_access_bytes == 0 && copy_bits % sector_bytes == 0;
    if (is_aligned) {
      if constexpr (has_large_fused_policy(Kind, sizeof(In), sizeof(Out)) &&
                    !aligned::loads_unaligned) {
        using large = fused_shape<In, Out, Kind, true, true>;
        if (fills_large_tiles(problem, large::tile_rows, large::tile_cols) &&
            large::shared_bytes <= most_shared_bytes()) {
          return launch_fused_tiles<large, Kind, In, Out>(problem, copy, op, stream);
        }
      }
      return launch_fused_tiles<aligned, Kind, In, Out>(problem, copy, op, stream);
    }
  }
  return launch_fused_tiles<any, Kind, In, Out>(problem, copy, op, stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
