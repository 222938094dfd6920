// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How a rectangle is transposed in its own memory: by permutations of its rows, transposes of squares, and
/// permutations of its columns. rectangle.cuh, square.cuh and rectangle_columns.cuh have the kernels.
/// Source: after Catanzaro, Keller and Garland, "A decomposition for in-place matrix transposition", PPoPP 2014,
/// which rotates columns where squares are transposed here, so that all columns of a square move alike.
///
/// The memory is seen as a grid of m rows and n columns, m >= n. With g = gcd(m, n) it is p x q squares of
/// g x g elements, m = p * g and n = q * g. Element l of its transpose is element (l % m, l / m); that it gets
/// there takes
///
///     1. rows      (P * g + i, s * q + t)  ->  (P * g + i, Q * g + s),  Q = (t * p + P) % q      where q > 1
///     2. squares   (P * g + i, Q * g + s)  ->  (P * g + s, Q * g + i)                             where g > 1
///     3. columns   (P * g + s, Q * g + i)  ->  (s * p + (P - Q) / q % p, Q * g + i)
///
/// where a division modulo p is a multiplication by an inverse. The same steps, undone from the last to the
/// first, make the transpose of an n x m matrix.
///
/// Step 1 stays in a row, which shared or scratch memory holds. Step 3 stays in a column: the shared memory of all blocks
/// together holds *bands* of adjacent columns, or scratch memory does.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The grid and its numbers.
struct rectangle {
  unsigned rows = 1;  ///< m < 2^31
  unsigned cols = 1;  ///< n < 2^31; n <= m but for segments, see slab_kernel.cuh
  unsigned common = common_divisor(rows, cols);  ///< g
  unsigned tall = rows / common;                 ///< p
  unsigned wide = cols / common;                 ///< q
  divider by_common = divider(common);
  divider by_wide = divider(wide);
  long_divider modulo_tall = long_divider(tall);
  long_divider modulo_wide = long_divider(wide);
  unsigned wide_inverse = inverse_modulo(wide, tall);  ///< of q, modulo p

  rectangle() = default;
  rectangle(size_type m, size_type n)
      : rows(static_cast<unsigned>(m)), cols(static_cast<unsigned>(n)) {}

  /// Step 1: the column that element `col` of a row of squares `row_of_squares` goes to.
  TILETRANSPOSE_FUNCTION unsigned target_col(unsigned row_of_squares, unsigned col) const {
    const unsigned s = by_wide.quotient(col);
    const unsigned t = by_wide.remainder(col, s);
    return modulo_wide.remainder(static_cast<unsigned long long>(t) * tall + row_of_squares) *
               common +
           s;
  }
};

/// a + b modulo `modulus`. Precondition: both are less than it, and it is less than 2^31.
TILETRANSPOSE_FUNCTION unsigned add_modulo(unsigned a, unsigned b, unsigned modulus) {
  const unsigned sum = a + b;
  return smaller(sum, sum - modulus);
}

/// The transpose's column y has m elements from y * m on. Its *phase* is how many of them come before the first one
/// that is whole *groups* into memory, the fewest elements that are whole sectors (or, where that leaves more than the
/// scratch memory holds, words of 16 bytes); there its k segments begin, one after the other. Of a column r elements
/// are in no segment: those before the first one, and those behind the last.
///
///     memory    |g r o u p|g r o u p|g r o u p|g r o u p|g r o u p|g r o u p|
///     columns   ... y - 1 >< y                                       >< y + 1 ...
///     segments   ...      |   |<-- segment 0 ->|<-- segment 1 ->|         |<---
///                          phase                                 the remainder
///
/// *Slot* y * k + i is where segment i of column y lies. Precondition: r is 0 or more than any phase.
struct segment_layout {
  divider tall;        ///< k
  unsigned remainder;  ///< r; columns * r * element_bytes < 2^31
  unsigned group;      ///< elements, a power of two
  unsigned element_bytes;
  unsigned segment_bytes;

  /// Elements of column y before its first segment.
  TILETRANSPOSE_FUNCTION unsigned phase(unsigned y) const {
    return (0 - y * remainder) & (group - 1);
  }
  /// Bytes before a slot that are no segments'.
  TILETRANSPOSE_FUNCTION unsigned gaps(unsigned slot) const {
    return ((tall.quotient(slot) * remainder + group - 1) & ~(group - 1)) * element_bytes;
  }
  TILETRANSPOSE_FUNCTION size_type slot_bytes(unsigned slot) const {
    return size_type{slot} * segment_bytes + gaps(slot);
  }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
