// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From a relocation of any rank to launches.

#pragma once

#include <tiletranspose/detail/calls/fused.cuh>
#include <tiletranspose/detail/calls/permute_problem.cuh>
#include <tiletranspose/detail/calls/reorient.cuh>
#include <tiletranspose/detail/choose/choose_axes_copy.cuh>
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

/// Tiles of elements of `Wide` bytes, where those are wider than the call's.
template <int ElementBytes, int Wide>
cudaError_t launch_wide_tiles(const axes_choice& choice, const relocation& move,
                              cudaStream_t stream) {
  if constexpr (Wide <= ElementBytes || (Wide % 3 == 0 && Wide != 3 * ElementBytes)) {
    return cudaErrorInvalidValue;
  } else if constexpr (!is_wide_element(Wide)) {
    return launch_micro_tiles<Wide>(choice, move, stream);
  } else {
    return launch_copied_tiles<Wide, Wide>(choice, move, stream);
  }
}

/// Tiles of the elements that choose_wide_tiles chose.
template <int ElementBytes>
cudaError_t move_wide_tiles(const axes_choice& choice, const relocation& move,
                            cudaStream_t stream) {
  switch (move.in_element) {
    case 2:
      return launch_wide_tiles<ElementBytes, 2>(choice, move, stream);
    case 3:
      return launch_wide_tiles<ElementBytes, 3>(choice, move, stream);
    case 4:
      return launch_wide_tiles<ElementBytes, 4>(choice, move, stream);
    case 6:
      return launch_wide_tiles<ElementBytes, 6>(choice, move, stream);
    case 8:
      return launch_wide_tiles<ElementBytes, 8>(choice, move, stream);
    default:
      return launch_wide_tiles<ElementBytes, 16>(choice, move, stream);
  }
}

/// Word-shifted tiles of elements, or of bytes that stay together.
template <int ElementBytes>
cudaError_t move_word_shifted_tiles(const axes_choice& choice, const relocation& move,
                                    cudaStream_t stream) {
  if constexpr (ElementBytes == 1) {
    if (move.in_element == 2) { return launch_word_shifted_tiles<2>(choice, move, stream); }
    if (move.in_element == 3) { return launch_word_shifted_tiles<3>(choice, move, stream); }
  }
  if constexpr (ElementBytes <= 3) {
    return launch_word_shifted_tiles<ElementBytes>(choice, move, stream);
  } else {
    return cudaErrorInvalidValue;
  }
}

/// Elements that are stored together.
template <int ElementBytes>
cudaError_t move_gathered(const axes_copy& copy, cudaStream_t stream) {
  constexpr int together = elements_together(ElementBytes);
  if constexpr (together > 1) {
    gather_operation<ElementBytes, together> operation;
    for (int i = 0; i < together; ++i) { operation.places[i] = copy.places[i]; }
    return launch_axes_elements(copy.move, operation, stream);
  } else {
    return cudaErrorInvalidValue;
  }
}

/// Tiles and elements of a copy, by accesses of `Access` bytes.
template <int ElementBytes, int Access>
cudaError_t move_axes(const axes_choice& chosen, const relocation& move, cudaStream_t stream) {
  const axes_copy copy = choose_axes_copy(chosen, move, Access);
  switch (copy.way) {
    case axes_way::tiles:
      if constexpr (ElementBytes / Access <= most_tile_accesses) {
        return launch_copied_tiles<ElementBytes, Access>(copy.choice, move, stream);
      }
      break;
    case axes_way::word_shifted_tiles:
      return move_word_shifted_tiles<ElementBytes>(copy.choice, copy.move, stream);
    case axes_way::wide_tiles:
      return move_wide_tiles<ElementBytes>(copy.choice, copy.move, stream);
    case axes_way::panels:
      return launch_panels<Access>(move, stream);
    case axes_way::gathered:
      return move_gathered<ElementBytes>(copy, stream);
    case axes_way::wide_elements:
      return move_widened(copy.move, stream);
    case axes_way::elements:
      break;
  }
  return launch_axes_elements(move, copy_operation<ElementBytes, Access>{}, stream);
}

/// A normalized relocation of elements as they are.
template <int ElementBytes, int Alignment>
cudaError_t relocate_bytes(const relocation& move, cudaStream_t stream) {
  const axes_choice chosen = choose_copy(move);
  switch (chosen.mover) {
    case axes_mover::copy:
      return cudaMemcpyAsync(move.out, move.in,
                             (move.rank == 0 ? 1 : move.axes[0].extent) * ElementBytes,
                             cudaMemcpyDeviceToDevice, stream);
    case axes_mover::rows:
      return move_rows_of<ElementBytes, Alignment, matrices::batch>(make_rows(move), stream);
    case axes_mover::transpose: {
      size_type batch = 1;
      const tile_problem problem = make_problem(move, chosen.x, batch);
      return transpose_problem<ElementBytes, Alignment, matrices::batch>(problem, batch, stream);
    }
    default:
      break;
  }
  return with_access<ElementBytes, Alignment>(address_bits_of(move), [&](auto width) {
    return move_axes<ElementBytes, decltype(width)::value>(chosen, move, stream);
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
      return transform_problem<fusion::transform, In, Out, matrices::batch>(problem, batch, op,
                                                                            stream);
    }
    const fused_operation<fusion::transform, In, Out, Op> operation{op, {}};
    return launch_axes(chosen, move, operation, stream);
  } else {
    return cudaErrorInvalidValue;
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
