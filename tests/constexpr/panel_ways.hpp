// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The bank conflicts of a warp in a panel. Its size is known at run time only, so that these go over all sizes.

#pragma once

#include <tiletranspose/detail/choose/vectorised_panel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A divider that the compiler evaluates.
struct plain_divider {
  unsigned divisor;
  TILETRANSPOSE_HOST_DEVICE constexpr unsigned quotient(unsigned n) const { return n / divisor; }
  TILETRANSPOSE_HOST_DEVICE constexpr unsigned remainder(unsigned n, unsigned) const {
    return n % divisor;
  }
};

/// Conflict ways of the lanes that access micro-blocks first, first + 1, ... together, `words` words each: as
/// many as all banks serve. Matrices have rows x cols micro-blocks.
/// \param pitch  words from group to group
/// \param out    true where micro-blocks lie as the output wants them: those of a column form a group
constexpr unsigned vectorised_ways(unsigned words, unsigned rows, unsigned cols, unsigned pitch,
                                   bool out, unsigned first, unsigned shift) {
  unsigned used[32] = {};
  unsigned worst = 0;
  for (unsigned block = first; block < first + 32 / words; ++block) {
    const micro_place at(block, plain_divider{cols}, shift);
    const unsigned group = out ? at.row / rows * cols + at.col : at.row;
    const unsigned place = group * pitch + (out ? at.row % rows : at.col) * words;
    const unsigned ways = ++used[place / words % (32 / words)];
    if (ways > worst) { worst = ways; }
  }
  return worst;
}

/// The worst of all panels of `matrices` matrices of up to `most` x `most` micro-blocks of `words` words a row and
/// `side` rows.
constexpr unsigned worst_vectorised_ways(unsigned words, unsigned side, unsigned most,
                                         unsigned matrices) {
  unsigned worst = 0;
  for (unsigned rows = 1; rows <= most; ++rows) {
    for (unsigned cols = 1; cols <= most; ++cols) {
      const unsigned shift = strip_shift(words, matrices * rows, cols);
      const unsigned in = 4 * strip_pitch(side * cols * words / 4, words, cols, shift);
      const unsigned out = 4 * vectorised_pitch(side * rows * words / 4);
      for (unsigned first = 0; first < rows * cols * matrices && first < 256; first += 32 / words) {
        const unsigned filled = vectorised_ways(words, rows, cols, in, false, first, shift);
        const unsigned drained = vectorised_ways(words, rows, cols, out, true, first, shift);
        if (filled > worst) { worst = filled; }
        if (drained > worst) { worst = drained; }
      }
    }
  }
  return worst;
}

/// The worst of what lanes of one strip read and write, wherever in a line of 128 bytes groups begin.
constexpr unsigned worst_strip_ways(unsigned words, unsigned shift) {
  unsigned worst = 0;
  for (unsigned group = 32; group < 40; ++group) {
    const unsigned in = 4 * strip_pitch(group, words, 32, shift);
    const unsigned out = 4 * vectorised_pitch(group);
    const unsigned filled = vectorised_ways(words, 1u << shift, 32, in, false, 0, shift);
    const unsigned drained = vectorised_ways(words, 1u << shift, 32, out, true, 0, shift);
    if (filled > worst) { worst = filled; }
    if (drained > worst) { worst = drained; }
  }
  return worst;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
