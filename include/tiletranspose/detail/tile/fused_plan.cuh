// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which fused kernel a call takes, and what its launches are. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/choose/choose.cuh>
#include <tiletranspose/detail/choose/tuning_tile.cuh>
#include <tiletranspose/detail/tile/tile_plan.cuh>
#include <tiletranspose/detail/tile/transform_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// How many rows down and columns across a half of a problem starts: the second one of a matrix, behind those of the first.
inline matrix_place place_of(const matrix_problem& half, const matrix_problem& problem) {
  return half.in == problem.in ? matrix_place{0, 0}
                               : matrix_place{problem.ny - half.ny, problem.nx - half.nx};
}

/// True where loads of the input that start where vectors of the copy do are whole accesses.
template <class Fused>
bool starts_in_step(const matrix_problem& problem, const row_major_copy& copy) {
  const auto phase = [](const void* data, size_type stride_bytes, size_type bytes) {
    return reinterpret_cast<size_type>(data) / bytes % Fused::count * Fused::count +
           stride_bytes / bytes % Fused::count;
  };
  return phase(problem.in, problem.in_stride_bytes, Fused::in_bytes) ==
         phase(copy.data, copy.stride_bytes, Fused::out_bytes);
}

/// Calls go(plan) for the launch of a problem, or for the launches that it has to be split into. Only conversions have batches.
template <class Fused, class Go>
auto plan_fused(const batch_problem& problem, row_major_copy copy, matrix_place first, Go go)
    -> decltype(go(launch_plan<fused_arguments>{})) {
  const unsigned mask = Fused::holds_operand ? 0 : sector_mask(problem);
  const bool skewed = Fused::holds_operand ? row_bits_of(problem, false) % 4 != 0 : mask != 0;
  tile_arguments arguments{problem, {}, mask, Fused::tile_cols};
  if (Fused::deals) {
    copy.in_step = starts_in_step<Fused>(problem, copy);
    // Skewed segments of the copy leave the last columns to one more tile.
    arguments.problem.nx += divide_up(sector_bytes - 1, Fused::out_bytes);
  }
  // Two outputs, one along each side of the input: blocks go along the rows, whose tiles share lines of the input and
  // of the copy where rows start anywhere.
  const size_type strip_width = Fused::copies ? dual_strip_width : 1;
  const size_type blocks =
      order_tiles(arguments, problem.batch, Fused::out_bytes, Fused::segment_bytes, strip_width);
  if (blocks > max_blocks) {
    const auto launch = [&](const batch_problem& part) {
      const matrix_place place = place_of(part, problem);
      row_major_copy beside = copy;
      if (Fused::copies) { beside.data = copy.place(place.row, place.col * Fused::out_bytes); }
      return plan_fused<Fused>(part, beside, {first.row + place.row, first.col + place.col}, go);
    };
    return split(problem, Fused::in_bytes, Fused::out_bytes, launch);
  }
  arguments.problem.nx = problem.nx;
  // What every block may have is not asked for.
  constexpr size_type dynamic_bytes =
      Fused::shared_bytes <= default_shared_bytes ? 0 : Fused::shared_bytes;
  return go(
      launch_plan<fused_arguments>{{arguments, find_interior<Fused>(problem, skewed), copy, first},
                                   blocks,
                                   Fused::threads,
                                   dynamic_bytes});
}

/// Chooses the kernel, and calls visit(fused_shape): for rows of the input that are aligned to loads, and those of a copy
/// to sectors, or for any. fused_shape says which alignment. most_shared() is what a block may ask for.
template <fusion Kind, class In, class Out, class MostShared, class Visit>
auto with_fused_shape(const batch_problem& problem, const row_major_copy& copy,
                      MostShared most_shared, Visit visit) {
  static_cast<void>(copy), static_cast<void>(most_shared);
  using any = fused_shape<In, Out, Kind, false>;
  using aligned = fused_shape<In, Out, Kind, true>;
  if constexpr (aligned::loads != any::loads || aligned::fills_words) {
    const size_type in_bits = row_bits_of(problem, true);
    const size_type copy_bits = reinterpret_cast<size_type>(copy.data) | copy.stride_bytes;
    const bool is_aligned = aligned::fills_words
                                ? (in_bits | copy_bits) % 4 == 0
                                : in_bits % max_access_bytes == 0 && copy_bits % sector_bytes == 0;
    if (is_aligned) {
      if constexpr (has_large_fused_policy(Kind, sizeof(In), sizeof(Out)) &&
                    !aligned::loads_unaligned) {
        using large = fused_shape<In, Out, Kind, true, true>;
        // They keep all multiprocessors busy and lose little at the edges of a matrix.
        constexpr size_type least = least_large_tiles * larger(large::tile_rows, large::tile_cols);
        if (smaller(problem.nx, problem.ny) >= least &&
            problem.nx * problem.ny >= least_large_squares * least * least &&
            large::shared_bytes <= most_shared()) {
          return visit(large{});
        }
      }
      return visit(aligned{});
    }
  }
  return visit(any{});
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
