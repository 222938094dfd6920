// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From a relocation of any rank to launches.

#pragma once

#include <tiletranspose/detail/calls/fused.cuh>
#include <tiletranspose/detail/calls/reorient.cuh>
#include <tiletranspose/detail/choose/choose_axes.cuh>
#include <tiletranspose/detail/small/axes_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A relocation of rows. Rows that run backwards in the input are reversed, and so is their order.
inline row_problem make_rows(const relocation& move) {
  const int y = move.rank - 1;
  const auto element = static_cast<long long>(move.in_element);
  const relocation_axis row = move.axes[y];
  const relocation_axis rows = y >= 1 ? move.axes[y - 1] : relocation_axis{1, 0, 0};
  const relocation_axis matrices = y >= 2 ? move.axes[0] : relocation_axis{1, 0, 0};
  const unsigned char* in = static_cast<const unsigned char*>(move.in);
  if (row.in_stride < 0) { in -= static_cast<long long>(row.extent - 1) * element; }
  if (rows.in_stride < 0) {
    in += static_cast<long long>(rows.extent - 1) * rows.in_stride * element;
  }
  return {in,
          move.out,
          distance(rows.in_stride) * move.in_element,
          static_cast<size_type>(rows.out_stride) * move.out_element,
          static_cast<size_type>(matrices.in_stride) * move.in_element,
          static_cast<size_type>(matrices.out_stride) * move.out_element,
          matrices.extent,
          rows.extent,
          row.extent,
          move.in_element,
          false,
          rows.in_stride < 0,
          row.in_stride < 0};
}

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

/// A normalized relocation of elements as they are.
template <int ElementBytes, int Alignment>
cudaError_t relocate_bytes(const relocation& move, cudaStream_t stream) {
  const axes_choice chosen = choose_axes(move);
  const int y = move.rank - 1;
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
    case axes_mover::elements:
      if (move.axes[y].in_stride == 1 && move.axes[y].out_stride == 1) {
        return move_widened(widen(move), stream);
      }
      break;
    case axes_mover::tiles:
      break;
  }
  return with_access<ElementBytes, Alignment>(address_bits_of(move), [&](auto width) {
    const copy_operation<ElementBytes, decltype(width)::value> operation;
    return launch_axes(chosen, move, operation, stream);
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
