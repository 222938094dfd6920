// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From a relocation of any rank to launches.

#pragma once

#include <tiletranspose/detail/axes/axes_launch.cuh>
#include <tiletranspose/detail/calls/fused.cuh>
#include <tiletranspose/detail/calls/reorient.cuh>
#include <tiletranspose/detail/choose/choose_axes_copy.cuh>
#include <tiletranspose/detail/panel/panel_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Tiles and elements of a copy, by accesses of `Access` bytes.
template <int ElementBytes, int Access>
cudaError_t move_axes(const axes_choice& chosen, const relocation& move, cudaStream_t stream) {
  const axes_copy copy = choose_axes_copy(chosen, move, Access);
  switch (copy.mover) {
    case axes_mover::tiles:
      if (copy.move.in_element > ElementBytes) {
        return with_size<2, 3, 4, 6, 8, 16>(copy.move.in_element, [&](auto bytes) {
          constexpr int wide = decltype(bytes)::value;
          if constexpr (wide <= ElementBytes || (wide % 3 == 0 && wide != 3 * ElementBytes)) {
            return cudaErrorInvalidValue;
          } else if constexpr (!is_power_of_two(wide)) {
            return launch_micro_tiles(copy, copy.move, copy_operation<wide, access_width(wide)>{},
                                      stream);
          } else {
            return launch_copied_tiles<wide, wide>(copy, copy.move, stream);
          }
        });
      }
      if constexpr (ElementBytes / Access <= most_tile_accesses) {
        return launch_copied_tiles<ElementBytes, Access>(copy, move, stream);
      }
      break;
    case axes_mover::word_shifted_tiles:
      return with_size<1, 2, 3>(copy.move.in_element, [&](auto bytes) {
        constexpr int wide = decltype(bytes)::value;
        if constexpr (ElementBytes == 1 || ElementBytes == wide) {
          return launch_word_shifted_tiles<wide>(copy, copy.move, stream);
        } else {
          return cudaErrorInvalidValue;
        }
      });
    case axes_mover::panels:
      return launch_panels<Access>(move, stream);
    case axes_mover::gathered:
      if constexpr (constexpr auto together = static_cast<int>(elements_together(ElementBytes));
                    Access == ElementBytes && together > 1) {
        gather_operation<ElementBytes, together> operation;
        for (int i = 0; i < together; ++i) { operation.places[i] = copy.places[i]; }
        return launch_axes_elements(copy.move, operation, stream);
      }
      break;
    case axes_mover::wide_elements:
      return with_size<16, 8, 4, 2, 1>(copy.move.in_element, [&](auto bytes) {
        constexpr int wide = decltype(bytes)::value;
        return launch_axes_elements(copy.move, copy_operation<wide, wide>{}, stream);
      });
    default:
      break;
  }
  return launch_axes_elements(move, copy_operation<ElementBytes, Access>{}, stream);
}

/// A relocation of elements as they are.
template <int ElementBytes, int Alignment>
cudaError_t run_permute(relocation move, cudaStream_t stream) {
  const verdict answer = examine(move);
  if (answer != verdict::go) { return status_of(answer); }
  const axes_choice chosen = choose_copy(move);
  switch (chosen.mover) {
    case axes_mover::copy:
      return cudaMemcpyAsync(move.out, move.in, count_elements(move) * ElementBytes,
                             cudaMemcpyDeviceToDevice, stream);
    case axes_mover::rows:
      return move_rows_of<ElementBytes, Alignment, matrices::batch>(make_rows(move), stream);
    case axes_mover::transpose:
      return transpose_problem<ElementBytes, Alignment, matrices::batch>(
          make_problem(move, chosen.x), stream);
    default:
      break;
  }
  return with_access<ElementBytes, Alignment>(address_bits_of(move), [&](auto width) {
    return move_axes<ElementBytes, decltype(width)::value>(chosen, move, stream);
  });
}

/// A relocation with a function on the way.
template <class In, class Out, class Op>
cudaError_t run_transform_permute(relocation move, const Op& op, cudaStream_t stream) {
  const verdict answer = examine(move);
  if (answer != verdict::go) { return status_of(answer); }
  if constexpr (is_fusible<fusion::transform, In, Out, Op>()) {
    axes_choice chosen = choose_axes(move);
    if (chosen.mover == axes_mover::transpose) {
      return transform_problem<fusion::transform, In, Out, matrices::batch>(
          make_problem(move, chosen.x), op, stream);
    }
    const fused_operation<fusion::transform, In, Out, Op> fused{op, {}};
    if constexpr (has_fused_micro_blocks(sizeof(In), sizeof(Out))) {
      take_micro_blocks(chosen, move);
      if (chosen.together > 1) { return detail::launch_micro_tiles(chosen, move, fused, stream); }
    }
    if constexpr (decltype(fused)::accesses <= most_tile_accesses) {  // registers hold the elements
      if (chosen.mover == axes_mover::tiles) {
        return detail::launch_axes_tiles(chosen, move, fused, stream);
      }
    }
    return detail::launch_axes_elements(move, fused, stream);
  } else {
    return cudaErrorInvalidValue;
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
