// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which kernels an array can need that is reversed out of place: what choose_small leaves, as choose_rows has it. The
/// others are not compiled for such a call. Plain C++17.

#pragma once

#include <tiletranspose/detail/choose/choose_rows.cuh>
#include <tiletranspose/detail/choose/choose_small.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// True where every array of so many elements that are reversed is little work.
constexpr bool is_little_reverse(size_type length, int element, int alignment) {
  const auto bytes = static_cast<long long>(element);
  const small_problem problem{{length, -bytes, bytes}, {1, 0, 0}, 1, element, element, false};
  return has_little_work(element, access_width(static_cast<size_type>(element), alignment),
                         false) &&
         choose_small_rows(problem) != small_mover::none;
}

/// True where some array of elements of a type with this size and alignment is reversed by a kernel. Choices change at
/// most once between a power of two and the next.
/// \param known  as for choose_rows
constexpr bool reverses_array_by(row_choice kernel, int element, int alignment, int known) {
  const auto bytes = static_cast<size_type>(element);
  for (size_type first = 1; first <= size_type{1} << 40; first *= 2) {
    const size_type last = 2 * first - 1;
    if (is_little_reverse(last, element, alignment)) { continue; }
    const row_shape shortest{first > 1, bytes, first, bytes};
    const row_shape longest{last > 1, bytes, last, bytes};
    if (choose_rows(shortest, known, false) == kernel ||
        choose_rows(longest, known, false) == kernel) {
      return true;
    }
  }
  return false;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
