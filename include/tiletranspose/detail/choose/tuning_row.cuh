// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What the tuning tables of this folder are made of. Plain C++17.

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A number that was found by measuring, with the GPU and the day of the measurement and what the number is worth.
/// Figures are shares of cudaMemcpyAsync's throughput in per cent: first what the other side of the threshold would
/// do, then what this side does, unless the row says otherwise.
struct tuning_row {
  size_type value;
  const char* gpu;
  const char* date;
  const char* worth;

  constexpr operator size_type() const { return value; }
};

/// The GPU that all rows were measured on so far.
inline constexpr const char* h200 = "NVIDIA H200";

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
