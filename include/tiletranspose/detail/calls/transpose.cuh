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
template <int ElementBytes, int AccessBytes>
auto kernel_of(tile_mover<ElementBytes, AccessBytes> mover, const choice& chosen) {
  return mover.with_shape(chosen.access, [](auto tuned) {
    using shape = decltype(tuned);
    return &tile_kernel<typename shape::type, shape::policy.blocks_per_sm>;
  });
}
template <int ElementBytes, int AccessBytes>
auto kernel_of(gathered_mover<ElementBytes, AccessBytes>, const choice&) {
  return &axes_panel_kernel<AccessBytes>;
}
template <int ElementBytes>
auto kernel_of(vector_mover<ElementBytes>, const choice&) {
  return &vector_kernel<typename vector_mover<ElementBytes>::shape>;
}
template <int ElementBytes>
auto kernel_of(micro_mover<ElementBytes>, const choice& chosen) {
  constexpr int most = micro_matrix_side(ElementBytes, ~size_type{0});
  return chosen.micro_side == most ? &axes_micro_kernel<ElementBytes, most / micro_elements, int>
                                   : &axes_micro_kernel<ElementBytes, 64 / micro_elements, int>;
}
template <int ElementBytes>
auto kernel_of(vectorised_mover<ElementBytes>, const choice& chosen) {
  if constexpr (ElementBytes == 1) {
    if (chosen.shape.pixels()) { return &vectorised_kernel<1, 3, 4>; }
  }
  constexpr int side = vectorised_side(ElementBytes);
  return &vectorised_kernel<ElementBytes, side, side>;
}
template <int ElementBytes>
auto kernel_of(word_shifted_mover<ElementBytes>, const choice& chosen) {
  const word_shifted_shape shape = word_shifted_shape_of(ElementBytes, chosen.panels);
  return shape.joins_matrices() ? &word_shifted_kernel<ElementBytes, true, true>
         : shape.joins_rows     ? &word_shifted_kernel<ElementBytes, true, false>
                                : &word_shifted_kernel<ElementBytes, false, true>;
}

/// Plans and launches a choice.
template <matrices Matrices, class Mover>
cudaError_t run_choice(Mover mover, const transpose_facts& facts, const choice& chosen,
                       cudaStream_t stream) {
  return plan_launches(mover, facts, facts.element_bytes, chosen, [&](const auto& plan) {
    return start(kernel_of(mover, chosen), plan, stream);
  });
}
template <matrices Matrices, int ElementBytes, int AccessBytes>
cudaError_t run_choice(little_mover<ElementBytes, AccessBytes>, const transpose_facts& facts,
                       const choice& chosen, cudaStream_t stream) {
  return launch_small<true>(chosen.little, little_problem(facts), batch_of<Matrices>(facts),
                            copy_operation<ElementBytes, AccessBytes>{}, stream);
}

/// Chooses the mover for elements whose addresses are multiples of `AccessBytes`, and launches it. `bits` has every bit
/// that some address or stride has.
template <int ElementBytes, int AccessBytes, matrices Matrices>
cudaError_t launch_tuned(const batch_problem& problem, size_type bits, cudaStream_t stream) {
  transpose_facts facts{problem, ElementBytes, AccessBytes, bits, default_shared_bytes};
  choice chosen = choose(facts);
  // A rule before those that compare with it has no need of the device's shared memory.
  if (asks_shared_bytes(chosen, facts)) {
    facts.most_shared_bytes = most_shared_bytes();
    chosen = choose(facts);
  }
  return with_mover<ElementBytes, AccessBytes>(
      chosen, [&](auto mover) { return run_choice<Matrices>(mover, facts, chosen, stream); });
}

/// The tuned transpose of elements of a size and alignment.
template <int ElementBytes, int Alignment, matrices Matrices>
cudaError_t transpose_problem(const batch_problem& problem, cudaStream_t stream) {
  const size_type bits = address_bits_of(problem, Alignment);
  return with_access<ElementBytes, Alignment>(bits, [&](auto width) {
    return launch_tuned<ElementBytes, decltype(width)::value, Matrices>(problem, bits, stream);
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
