// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What the tuning tables of this folder are made of. Two of them name a macro that a user's own header may define: the rows
/// that stand in place of the table's. -DTILETRANSPOSE_TUNING_HEADER='"my_tuning.h"' names that header; all source files of a
/// program must be compiled with the same rows. Plain C++17.

#pragma once

#include <tiletranspose/config.cuh>

#if defined(TILETRANSPOSE_TUNING_HEADER)
#include TILETRANSPOSE_TUNING_HEADER
#endif

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A number that was found by measuring, with the GPU and the day of the measurement and what the number is worth.
/// Figures are shares of cudaMemcpyAsync's throughput in per cent: first what the other side of the threshold would
/// do, then what this side does, unless the row says otherwise.
struct tuning_row {
  size_type value;
  const char* date;
  const char* worth;
  const char* gpu = "NVIDIA H200";  ///< that all rows were measured on that name no other

  constexpr operator size_type() const { return value; }
};

/// The row of a table for elements of a size: theirs, or that of the next smaller size.
template <class Row, int Count>
constexpr const Row& row_for(const Row (&rows)[Count], int element_bytes) {
  const Row* found = rows;
  for (const Row& row : rows) {
    const bool is_nearer =
        row.element_bytes > found->element_bytes || found->element_bytes > element_bytes;
    if (row.element_bytes <= element_bytes && is_nearer) { found = &row; }
  }
  return *found;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
