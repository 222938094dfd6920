// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The eight symmetries of a rectangle and how they combine. Plain C++17, no CUDA needed.

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// The ways in which a matrix can be laid down again. For an input of R rows and C columns:
///
///     identity        out(i, j) == in(i,         j)            R x C
///     flip_lr         out(i, j) == in(i,         C - 1 - j)    R x C, numpy.fliplr
///     flip_ud         out(i, j) == in(R - 1 - i, j)            R x C, numpy.flipud
///     rotate_180      out(i, j) == in(R - 1 - i, C - 1 - j)    R x C, numpy.rot90(k=2)
///     transpose       out(i, j) == in(j,         i)            C x R
///     rotate_90       out(i, j) == in(j,         C - 1 - i)    C x R, numpy.rot90(k=1), counter-clockwise
///     rotate_270      out(i, j) == in(R - 1 - j, i)            C x R, numpy.rot90(k=3)
///     anti_transpose  out(i, j) == in(R - 1 - j, C - 1 - i)    C x R, about the other diagonal
///
/// The numbers are three answers in binary: does it transpose (4), does it take the input's rows from the
/// last to the first (2), does it take the input's columns from the last to the first (1).
enum class symmetry {
  identity = 0,
  flip_lr = 1,
  flip_ud = 2,
  rotate_180 = 3,
  transpose = 4,
  rotate_90 = 5,
  rotate_270 = 6,
  anti_transpose = 7
};

/// True where rows become columns: the output has as many rows as the input has columns.
TILETRANSPOSE_HOST_DEVICE constexpr bool transposes(symmetry s) {
  return (static_cast<int>(s) & 4) != 0;
}
/// True where the input's rows are taken from the last to the first.
TILETRANSPOSE_HOST_DEVICE constexpr bool reverses_rows(symmetry s) {
  return (static_cast<int>(s) & 2) != 0;
}
/// True where the input's columns are taken from the last to the first.
TILETRANSPOSE_HOST_DEVICE constexpr bool reverses_cols(symmetry s) {
  return (static_cast<int>(s) & 1) != 0;
}

/// The symmetry with these three answers.
TILETRANSPOSE_HOST_DEVICE constexpr symmetry make_symmetry(bool transposes, bool reverses_rows,
                                                           bool reverses_cols) {
  return static_cast<symmetry>((transposes ? 4 : 0) | (reverses_rows ? 2 : 0) |
                               (reverses_cols ? 1 : 0));
}

/// The symmetry that does `second` to the result of `first`, as functions compose: second(first(m)).
/// \code static_assert(tt::compose(tt::symmetry::flip_ud, tt::symmetry::transpose) == tt::symmetry::rotate_90); \endcode
TILETRANSPOSE_HOST_DEVICE constexpr symmetry compose(symmetry second, symmetry first) {
  // What `second` calls rows are the columns of the input where `first` transposes.
  const bool swaps = transposes(first);
  const bool rows = swaps ? reverses_cols(second) : reverses_rows(second);
  const bool cols = swaps ? reverses_rows(second) : reverses_cols(second);
  return make_symmetry(transposes(second) != swaps, reverses_rows(first) != rows,
                       reverses_cols(first) != cols);
}

/// The symmetry that undoes `s`.
/// \code static_assert(tt::inverse(tt::symmetry::rotate_90) == tt::symmetry::rotate_270); \endcode
TILETRANSPOSE_HOST_DEVICE constexpr symmetry inverse(symmetry s) {
  return transposes(s) ? make_symmetry(true, reverses_cols(s), reverses_rows(s)) : s;
}

/// `quarter_turns` counter-clockwise quarter turns; negative ones are clockwise.
/// \code static_assert(tt::quarter_turns(-1) == tt::symmetry::rotate_270); \endcode
TILETRANSPOSE_HOST_DEVICE constexpr symmetry quarter_turns(long long turns) {
  const int left = static_cast<int>((turns % 4 + 4) % 4);
  return left == 0   ? symmetry::identity
         : left == 1 ? symmetry::rotate_90
         : left == 2 ? symmetry::rotate_180
                     : symmetry::rotate_270;
}

TILETRANSPOSE_NAMESPACE_END
