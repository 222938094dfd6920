// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From the arguments of a permute to a relocation, whose types are gone. Plain C++17, host only.

#pragma once

#include <cstddef>

#include <tiletranspose/detail/request/make_request.cuh>
#include <tiletranspose/detail/request/relocation.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <std::size_t Rank>
constexpr bool check_rank() {
  static_assert(Rank <= most_given_axes, "tt: an array to be permuted has at most 16 axes");
  return true;
}

/// Between dense arrays. False where `axes` is no permutation; the strides are then not set.
template <class Out, class In, std::size_t Rank>
bool make_relocation(relocation& move, Out* out, const In* in, const size_type (&extents)[Rank],
                     const int (&axes)[Rank]) {
  move = typed_relocation(typed_request(out, in), static_cast<int>(Rank));
  for (std::size_t k = 0; k < Rank; ++k) { move.axes[k].extent = extents[k]; }
  return permute_axes(move, extents, axes);
}

/// Between arrays whose strides the caller gives.
template <class Out, class In, std::size_t Rank>
relocation make_relocation(Out* out, const std::ptrdiff_t (&out_strides)[Rank], const In* in,
                           const std::ptrdiff_t (&in_strides)[Rank],
                           const size_type (&extents)[Rank]) {
  relocation move = typed_relocation(typed_request(out, in), static_cast<int>(Rank));
  for (std::size_t k = 0; k < Rank; ++k) {
    move.axes[k] = {extents[k], in_strides[k], out_strides[k]};
  }
  return move;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
