// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What one launch is: the arguments of its kernel and its blocks. Plain C++17.

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Blocks of one launch along a grid's first axis; more work is split.
inline constexpr size_type max_blocks = (size_type{1} << 31) - 1;

/// A launch as a mover plans it. Where `blocks` is more than max_blocks the work has to be split.
template <class Arguments>
struct launch_plan {
  Arguments arguments;
  size_type blocks;
  int threads;                ///< of a block
  size_type shared_bytes;     ///< dynamic ones
  size_type blocks_down = 1;  ///< the second dimension of the grid
};

/// And along the others.
inline constexpr size_type max_grid_side = 65535;

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
