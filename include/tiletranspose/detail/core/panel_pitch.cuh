// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How far apart groups of micro-blocks lie in the shared memory of vectorised panels, and in which order threads take
/// them. tests/constexpr/panel_ways.hpp counts their bank conflicts. Plain C++17.

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Accesses of 16 bytes from one group of transposed rows to the next, where a group takes `group`: an odd number, so
/// that micro-blocks below each other lie in different banks.
constexpr unsigned vectorised_pitch(unsigned group) { return group | 1; }

/// The same while the panel is filled by asynchronous copies: a line of 128 bytes that is torn by pads takes more
/// cycles than conflicts cost later.
constexpr unsigned filled_pitch(unsigned group) {
  return group < 8 ? group : vectorised_pitch(group);
}

/// Which micro-block a thread takes: down a *strip* of 2^strip_shift rows of them, then the next column of it, then the
/// next strip.
struct micro_place {
  unsigned row;
  unsigned col;

  template <class Divider>
  TILETRANSPOSE_HOST_DEVICE constexpr micro_place(unsigned at, const Divider& cols,
                                                  unsigned strip_shift)
      : row(0), col(0) {
    const unsigned line = at >> strip_shift;
    const unsigned strip = cols.quotient(line);
    col = cols.remainder(line, strip);
    row = (strip << strip_shift) + (at & ((1u << strip_shift) - 1));
  }
};

/// log2 of a strip's rows: as many as 16 bytes of an output row hold, 4 / words, or fewer, so that a panel has whole
/// strips. Groups of output rows lie odd multiples of 16 bytes apart, so that 8 columns of such a strip fill all banks
/// once. Narrow panels, which need more strips than one for that, go row by row.
constexpr unsigned strip_shift(unsigned words, size_type rows, size_type cols) {
  unsigned shift = words == 1 ? 2 : words == 2 ? 1 : 0;
  while (shift > 0 && (rows % (size_type{1} << shift) != 0 || cols << shift < 32 / words)) {
    --shift;
  }
  return shift;
}

/// Accesses from group to group of the input. A strip's lanes read all of its rows together: each takes an equal part
/// of the banks. Without strips, accesses of 16 bytes go on in the banks where a warp goes on to the next row.
constexpr unsigned strip_pitch(unsigned group, unsigned words, size_type cols, unsigned shift) {
  if (shift == 0 && (words < 4 || group < 8)) { return filled_pitch(group); }
  const unsigned lines = 8u >> shift;
  const unsigned modulus = words == 4 ? 8 : 2 * lines;
  const unsigned remainder = words == 4 ? static_cast<unsigned>(cols % 8) : lines;
  return group + (remainder + modulus - group % modulus) % modulus;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
