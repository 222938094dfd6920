// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Where the segments of a rectangle in place lie, slab_kernel.cuh, and the few elements that are in none.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

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
