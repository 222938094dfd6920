// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Transposes out of place: what is chosen is planned and launched. In this folder run_X does what a call of X is to do, and
/// explain_X says what that would be.

#pragma once

#include <tiletranspose/detail/axes/axes_launch.cuh>
#include <tiletranspose/detail/calls/movers.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/panel/panel_launch.cuh>
#include <tiletranspose/detail/request/make_request.cuh>
#include <tiletranspose/detail/small/small_launch.cuh>
#include <tiletranspose/detail/tile/tile_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What a caller is told where nothing is launched.
inline cudaError_t status_of(verdict answer) {
  return answer == verdict::nothing_to_do ? cudaSuccess : cudaErrorInvalidValue;
}

/// What calls do whose matrices do not fit each other: they do not compile.
template <class Out, class In>
cudaError_t refuse_pair() {
  static_assert(check_matrices<Out, In>(), "");
  return cudaErrorInvalidValue;
}

/// The kernel that a mover starts for a choice.
template <mover By, int ElementBytes, int AccessBytes>
auto kernel_of(typed_mover<By, ElementBytes, AccessBytes>, const choice& chosen) {
  if constexpr (By == mover::vector_tile) {
    return &vector_kernel<vector_shape<ElementBytes>>;
  } else if constexpr (By == mover::tile) {
    return with_tile_shape<ElementBytes, AccessBytes>(chosen, [](auto tuned) {
      using shape = decltype(tuned);
      return &tile_kernel<typename shape::type, shape::policy.blocks_per_sm>;
    });
  } else if constexpr (By == mover::vectorised_panel) {
    if constexpr (ElementBytes == 1) {
      if (chosen.shape.pixels()) { return &vectorised_kernel<1, 3, 4>; }
    }
    constexpr int side = vectorised_side(ElementBytes);
    return &vectorised_kernel<ElementBytes, side, side>;
  } else if constexpr (By == mover::word_shifted_panel) {
    const word_shifted_shape shape = word_shifted_shape_of(ElementBytes, chosen.panels);
    return shape.joins_matrices() ? &word_shifted_kernel<ElementBytes, true, true>
           : shape.joins_rows     ? &word_shifted_kernel<ElementBytes, true, false>
                                  : &word_shifted_kernel<ElementBytes, false, true>;
  } else {
    return &axes_panel_kernel<AccessBytes>;
  }
}

/// Plans and launches a choice.
template <matrices Matrices, mover By, int ElementBytes, int AccessBytes>
cudaError_t run_choice(typed_mover<By, ElementBytes, AccessBytes> taken,
                       const transpose_facts& facts, const choice& chosen, cudaStream_t stream) {
  if constexpr (By == mover::little) {
    return launch_small<true>(chosen.little, little_problem(facts), batch_of<Matrices>(facts),
                              copy_operation<ElementBytes, AccessBytes>{}, stream);
  } else if constexpr (By == mover::micro_tile) {  // one launch takes them
    constexpr int large = micro_matrix_side(ElementBytes, ~size_type{0});
    return start_micro_tiles<large>(chosen.micro_side, plan_of(taken, facts, chosen),
                                    copy_operation<ElementBytes, AccessBytes>{}, stream);
  } else {
    return plan_launches(taken, facts, ElementBytes, chosen, [&](const auto& plan) {
      return start(kernel_of(taken, chosen), plan, stream);
    });
  }
}

/// The tuned transpose of elements of a size and alignment.
template <int ElementBytes, int Alignment, matrices Matrices>
cudaError_t transpose_problem(const batch_problem& problem, cudaStream_t stream) {
  return with_choice<ElementBytes, Alignment>(
      problem, [] { return most_shared_bytes(); },
      [&](auto taken, const transpose_facts& facts, const choice& chosen) {
        return run_choice<Matrices>(taken, facts, chosen, stream);
      });
}

/// A call of transpose, or of a batch. `Matrices`: the call's name says how many there are.
template <int ElementBytes, int Alignment, matrices Matrices>
cudaError_t run_transpose(const transpose_request& request, cudaStream_t stream) {
  const verdict answer = examine(request);
  if (answer != verdict::go) { return status_of(answer); }
  if (is_vector(request) && share_words(request.out, request.in)) {
    return cudaMemcpyAsync(request.out, request.in,
                           request.nx * request.ny * request.batch * ElementBytes,
                           cudaMemcpyDeviceToDevice, stream);
  }
  return transpose_problem<ElementBytes, Alignment, Matrices>(make_problem(request), stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
