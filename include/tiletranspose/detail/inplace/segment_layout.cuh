// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Where the runs of a rectangle in place lie, slab_kernel.cuh, and the few elements that are in none.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The transpose's column y has m elements from y * m on. Its *phase* is how many of them come before the first one
/// that is whole *groups* into memory, the fewest elements that are whole sectors (or, where that leaves more than the
/// scratch memory holds, words of 16 bytes); there its k runs begin, one after the other. Of a column r elements are in
/// no run: those before the first one, and those behind the last.
///
///     memory    |g r o u p|g r o u p|g r o u p|g r o u p|g r o u p|g r o u p|
///     columns   ... y - 1 >< y                                       >< y + 1 ...
///     runs       ...      |   |<---- run 0 --->|<---- run 1 --->|         |<---
///                          phase                                 the rest
///
/// *Slot* y * k + i is where run i of column y lies. Precondition: r is 0 or more than any phase.
struct run_layout {
  divider tall;    ///< k
  unsigned rest;   ///< r; columns * r * element_bytes < 2^31
  unsigned group;  ///< elements, a power of two
  unsigned element_bytes;
  unsigned run_bytes;

  /// Elements of column y before its first run.
  TILETRANSPOSE_FUNCTION unsigned phase(unsigned y) const { return (0 - y * rest) & (group - 1); }
  /// Bytes before a slot that are no runs'.
  TILETRANSPOSE_FUNCTION unsigned gaps(unsigned slot) const {
    return ((tall.quotient(slot) * rest + group - 1) & ~(group - 1)) * element_bytes;
  }
  TILETRANSPOSE_FUNCTION size_type slot_bytes(unsigned slot) const {
    return size_type{slot} * run_bytes + gaps(slot);
  }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
