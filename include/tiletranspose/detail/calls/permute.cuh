// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From a relocation of any rank to launches.

#pragma once

#include <tiletranspose/detail/calls/fused.cuh>
#include <tiletranspose/detail/calls/permute_problem.cuh>
#include <tiletranspose/detail/calls/reorient.cuh>
#include <tiletranspose/detail/choose/choose_axes.cuh>
#include <tiletranspose/detail/panel/axes_panel_launch.cuh>
#include <tiletranspose/detail/small/axes_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Bytes that are contiguous on both sides, by accesses as wide as the relocation's elements.
inline cudaError_t move_widened(const relocation& move, cudaStream_t stream) {
  switch (move.in_element) {
    case 16:
      return launch_axes_elements(move, copy_operation<16, 16>{}, stream);
    case 8:
      return launch_axes_elements(move, copy_operation<8, 8>{}, stream);
    case 4:
      return launch_axes_elements(move, copy_operation<4, 4>{}, stream);
    case 2:
      return launch_axes_elements(move, copy_operation<2, 2>{}, stream);
    default:
      return launch_axes_elements(move, copy_operation<1, 1>{}, stream);
  }
}

/// Stores neighbours in the output together, if that can be: true, with the launch's status. Precondition: elements are
/// aligned to their size.
template <int ElementBytes>
bool move_elements_together(const relocation& move, cudaStream_t stream, cudaError_t& status) {
  constexpr int together = elements_together(ElementBytes);
  if constexpr (together > 1) {
    relocation wide = move;
    gathered_places places{};
    if (!gather(wide, together, places)) { return false; }
    gather_operation<ElementBytes, together> operation;
    for (int i = 0; i < together; ++i) { operation.places[i] = places.from[i]; }
    status = launch_axes_elements(wide, operation, stream);
    return true;
  } else {
    return false;
  }
}

/// A normalized relocation of elements as they are.
template <int ElementBytes, int Alignment>
cudaError_t relocate_bytes(const relocation& move, cudaStream_t stream) {
  const axes_choice chosen = choose_axes(move);
  switch (chosen.mover) {
    case axes_mover::copy:
      return cudaMemcpyAsync(move.out, move.in,
                             (move.rank == 0 ? 1 : move.axes[0].extent) * ElementBytes,
                             cudaMemcpyDeviceToDevice, stream);
    case axes_mover::rows:
      return move_rows_of<ElementBytes, Alignment>(make_rows(move), stream);
    case axes_mover::transpose: {
      size_type batch = 1;
      const tile_problem problem = make_problem(move, chosen.x, batch);
      return transpose_problem<ElementBytes, Alignment>(problem, batch, stream);
    }
    default:
      break;
  }
  return with_access<ElementBytes, Alignment>(address_bits_of(move), [&](auto width) {
    constexpr int access = decltype(width)::value;
    const bool one_by_one = chosen.mover == axes_mover::elements;
    relocation wide = move;
    const bool widens = one_by_one && widen(wide);
    cudaError_t status = cudaSuccess;
    if (one_by_one && !widens && access == ElementBytes &&
        move_elements_together<ElementBytes>(move, stream, status)) {
      return status;
    }
    if (takes_panels(chosen, move, access)) { return launch_panels<access>(move, stream); }
    if (widens) { return move_widened(wide, stream); }
    return launch_axes(chosen, move, copy_operation<ElementBytes, access>{}, stream);
  });
}

/// A normalized relocation with a function on the way.
template <class In, class Out, class Op>
cudaError_t relocate_transformed(const relocation& move, const Op& op, cudaStream_t stream) {
  if constexpr (is_fusible<fusion::transform, In, Out, Op>()) {
    const axes_choice chosen = choose_axes(move);
    if (chosen.mover == axes_mover::transpose) {
      size_type batch = 1;
      const tile_problem problem = make_problem(move, chosen.x, batch);
      return transform_problem<fusion::transform, In, Out>(problem, batch, op, stream);
    }
    const fused_operation<fusion::transform, In, Out, Op> operation{op, {}};
    return launch_axes(chosen, move, operation, stream);
  } else {
    return cudaErrorInvalidValue;
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
