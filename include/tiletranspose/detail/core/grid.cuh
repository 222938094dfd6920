// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What one launch is: the arguments of its kernel, its blocks, and the registers that these may take; and the grid by which
/// blocks take the tiles of a square in pairs. Plain C++17.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Blocks of one launch along a grid's first axis; more work is split. Then those along each of the others.
inline constexpr size_type max_blocks = (size_type{1} << 31) - 1;
inline constexpr size_type max_grid_side = 65535;

/// A launch as a mover plans it. Where `blocks` is more than max_blocks the work has to be split.
template <class Arguments>
struct launch_plan {
  Arguments arguments;
  size_type blocks;
  int threads;                ///< of a block
  size_type shared_bytes;     ///< dynamic ones
  size_type blocks_down = 1;  ///< the second dimension of the grid
  size_type blocks_deep = 1;  ///< and the third
};

/// The tile above the diagonal, or on it, that a block moves together with the one across.
struct tile_pair {
  unsigned row;
  unsigned col;
};

/// Folds the triangle of tile pairs into a rectangle of blocks: line k of blocks takes row k, which has `tiles` - k pairs,
/// and behind it the row as far from the last, which has k + 1. The line in the middle of an odd number has a row alone;
/// its blocks behind that get a pair with row > col, which is none.
/// \param k  less than half of `tiles`, rounded up
/// \param i  at most `tiles`
TILETRANSPOSE_HOST_DEVICE constexpr tile_pair fold_triangle(unsigned tiles, unsigned k,
                                                            unsigned i) {
  if (i < tiles - k) { return {k, k + i}; }
  const unsigned row = tiles - 1 - k;
  return row == k ? tile_pair{1, 0} : tile_pair{row, i - 1};
}

/// The blocks per multiprocessor that registers are kept low for, as far as the architecture holds them. Others than the
/// one that was measured, 9.0, take a few registers more for the same code: with those of as many blocks, small and
/// narrow tiles, panels and fused calls spilled (nvcc 13.0).
constexpr int resident_blocks(int threads, int wanted) {
#if defined(__CUDA_ARCH__)
  constexpr int architecture = __CUDA_ARCH__;
#else
  constexpr int architecture = 900;
#endif
  constexpr bool is_large = architecture == 800 || (architecture >= 900 && architecture < 1100);
  const int held = (architecture < 800 ? 1024 : is_large ? 2048 : 1536) / threads;
  const int most = smaller(architecture >= 1000 ? wanted / 2 : wanted, smaller(held, 16));
  return larger(1, architecture < 900 && most > 2 ? most - 1 : most);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
