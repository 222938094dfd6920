// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Transposes out of place: what is chosen is planned and launched.

#pragma once

#include <tiletranspose/detail/calls/movers.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/panel/panel_launch.cuh>
#include <tiletranspose/detail/small/small_launch.cuh>
#include <tiletranspose/detail/tile/tile_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What a caller is told where nothing is launched.
inline cudaError_t status_of(verdict answer) {
  return answer == verdict::nothing_to_do ? cudaSuccess : cudaErrorInvalidValue;
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
auto kernel_of(vectorised_mover<ElementBytes>, const choice& chosen) {
  if constexpr (ElementBytes == 1) {
    if (chosen.size == vectorised_size::pixels) {
      return &vectorised_kernel<static_vectorised_shape<1, 3, 4>>;
    }
  }
  return &vectorised_kernel<static_vectorised_shape<ElementBytes, vectorised_side(ElementBytes)>>;
}
template <int ElementBytes>
auto kernel_of(word_shifted_mover<ElementBytes>, const choice& chosen) {
  using movers = word_shifted_mover<ElementBytes>;
  switch (chosen.panels) {
    case panel_kind::small_matrices:
      return &word_shifted_kernel<typename movers::template shape<panel_kind::small_matrices>>;
    case panel_kind::few_columns:
      return &word_shifted_kernel<typename movers::template shape<panel_kind::few_columns>>;
    default:
      return &word_shifted_kernel<typename movers::template shape<panel_kind::few_rows>>;
  }
}

/// Plans and launches a choice.
template <matrices Matrices, class Mover>
cudaError_t run_choice(Mover mover, const transpose_facts& facts, const choice& chosen,
                       cudaStream_t stream) {
  const auto kernel = kernel_of(mover, chosen);
  return plan_launches(
      mover, facts.problem, facts.batch, facts.element_bytes, chosen, [&](auto plan) {
        const cudaError_t status = allow_shared_bytes(kernel, plan.shared_bytes);
        if (status != cudaSuccess) { return status; }
        const dim3 grid(static_cast<unsigned>(plan.blocks),
                        static_cast<unsigned>(plan.blocks_down));
        return start(kernel, grid, plan.threads, plan.shared_bytes, stream, plan.arguments);
      });
}
template <matrices Matrices, int ElementBytes, int AccessBytes>
cudaError_t run_choice(little_mover<ElementBytes, AccessBytes>, const transpose_facts& facts,
                       const choice& chosen, cudaStream_t stream) {
  return launch_small<true>(chosen.little, little_problem(facts), batch_of<Matrices>(facts.problem),
                            copy_operation<ElementBytes, AccessBytes>{}, stream);
}

/// Chooses the mover for elements whose addresses are multiples of `AccessBytes`, and launches it. `bits` has every bit
/// that some address or stride has.
template <int ElementBytes, int AccessBytes, matrices Matrices>
cudaError_t launch_tuned(const tile_problem& problem, size_type batch, size_type bits,
                         cudaStream_t stream) {
  transpose_facts facts{problem, batch, ElementBytes, AccessBytes, bits, default_shared_bytes};
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
cudaError_t transpose_problem(const tile_problem& problem, size_type batch, cudaStream_t stream) {
  const size_type bits = address_bits_of(problem, Alignment);
  return with_access<ElementBytes, Alignment>(bits, [&](auto width) {
    return launch_tuned<ElementBytes, decltype(width)::value, Matrices>(problem, batch, bits,
                                                                        stream);
  });
}

template <int ElementBytes, int Alignment, matrices Matrices>
cudaError_t transpose_bytes(const transpose_request& request, cudaStream_t stream) {
  const verdict answer = examine(request);
  if (answer != verdict::go) { return status_of(answer); }
  if (is_vector(request)) {
    return cudaMemcpyAsync(request.out, request.in,
                           request.nx * request.ny * request.batch * ElementBytes,
                           cudaMemcpyDeviceToDevice, stream);
  }
  return transpose_problem<ElementBytes, Alignment, Matrices>(make_problem(request), request.batch,
                                                              stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
