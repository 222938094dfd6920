// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From a symmetry to launches. One that transposes is a transpose whose input rows, output rows or both run backwards:
/// columns taken from the last to the first are output rows written from the last to the first. One that does not moves rows.

#pragma once

#include <tiletranspose/detail/calls/transpose.cuh>
#include <tiletranspose/detail/inplace/square.cuh>
#include <tiletranspose/detail/panel/panel_launch.cuh>
#include <tiletranspose/detail/rows/row_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Calls launch(bytes) with that of some sizes that elements have, a std::integral_constant; with the last for all others.
template <int Size, int... Others, class Launch>
cudaError_t with_size(size_type bytes, Launch launch) {
  if constexpr (sizeof...(Others) > 0) {
    if (bytes != Size) { return with_size<Others...>(bytes, launch); }
  }
  return launch(std::integral_constant<int, Size>{});
}

/// Rows of whole accesses, out of place or in place. `IsArray`: they are one row.
template <int ElementBytes, matrices Matrices, bool InPlace, bool IsArray = false>
cudaError_t launch_accesses(const row_problem& rows, const little_rows& work, cudaStream_t stream) {
  const auto launch = [&](auto bytes) {
    constexpr int width = decltype(bytes)::value;
    constexpr int reversed = width % ElementBytes == 0 ? ElementBytes : width;
    using operation = typename std::conditional<InPlace, swap_operation<reversed, width>,
                                                access_operation<reversed, width>>::type;
    operation moves{};
    moves.reverses = rows.reverses;
    return launch_small<false, IsArray>(work.mover, work.problem, batch_of<Matrices>(work.sides),
                                        moves, stream);
  };
  if constexpr (ElementBytes <= widest_joined_element) {
    return with_size<16, 8, 4>(static_cast<size_type>(work.access), launch);
  } else {
    return launch(std::integral_constant<int, max_access_bytes>{});
  }
}

/// Rows that stay rows, out of place. `IsArray`: they are one row, reversed.
template <int ElementBytes, int Alignment, matrices Matrices, bool IsArray = false>
cudaError_t move_rows_of(const row_problem& rows, cudaStream_t stream) {
  const little_rows work = choose_little_rows(rows);
  if constexpr (Matrices != matrices::pointers) {
    if (work.access > 0) {
      return launch_accesses<ElementBytes, Matrices, false, IsArray>(rows, work, stream);
    }
  }
  return with_access<ElementBytes, Alignment>(row_bits(rows, Alignment), [&](auto width) {
    constexpr int access = decltype(width)::value;
    if constexpr (has_little_work(ElementBytes, access, false)) {
      if (work.mover != small_mover::none) {
        return launch_small<false, IsArray>(work.mover, work.problem,
                                            batch_of<Matrices>(work.sides),
                                            copy_operation<ElementBytes, access>{}, stream);
      }
    }
    if constexpr (reverses_in_panels(ElementBytes) && !IsArray) {
      const row_problem joined = join_rows(rows);
      if (goes_in_panels(joined, access)) {
        return launch_panels<access>(relocation_of(joined), stream);
      }
    }
    return launch_rows<ElementBytes, Alignment, IsArray>(rows, stream);
  });
}

/// Any symmetry, out of place.
/// \tparam Transposes  the symmetry may; what only those need that do is not compiled else
template <int ElementBytes, int Alignment, matrices Matrices, bool Transposes = true,
          bool IsArray = false>
cudaError_t run_reorient(const transpose_request& request, symmetry s, cudaStream_t stream) {
  const verdict answer = examine(request, s);
  if (answer != verdict::go) { return status_of(answer); }
  if constexpr (Transposes) {
    if (transposes(s) && !is_vector(request)) {
      return transpose_problem<ElementBytes, Alignment, Matrices>(
          run_backwards(make_problem(request), reverses_rows(s), reverses_cols(s)), stream);
    }
  }
  return move_rows_of<ElementBytes, Alignment, Matrices, IsArray>(make_rows(request, s), stream);
}

/// In place. Quarter rotations and the anti-transpose of a square take two passes: it is transposed, and then flipped.
template <int ElementBytes, int Alignment, bool Transposes = true>
cudaError_t run_reorient_inplace(const transpose_request& request, symmetry s,
                                 cudaStream_t stream) {
  const verdict answer = examine_inplace(request, s);
  if (answer != verdict::go) { return status_of(answer); }
  if constexpr (Transposes) {
    if (transposes(s)) {
      const cudaError_t status =
          transpose_square<ElementBytes, Alignment>(make_problem(request), stream);
      if (status != cudaSuccess) { return status; }
      s = compose(s, symmetry::transpose);
    }
  }
  const row_problem rows = make_rows(request, s);
  if (rows.stay()) { return cudaSuccess; }
  const little_rows work = choose_little_rows(rows);
  return work.access > 0 ? launch_accesses<ElementBytes, matrices::one, true>(rows, work, stream)
                         : launch_rows<ElementBytes, Alignment>(rows, stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
