// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A barrier of some of the blocks of a cooperative launch, which have read what others of them write.

#pragma once

#include <tiletranspose/detail/core/machine.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Says that this block has come to counter `mine`, and waits until `expected` blocks have come to each of those from
/// `first` to `last`, this one among them; a barrier where `arrived` is null. On the CPU nobody reads data that others
/// write. Precondition: all of them run at once.
template <class Group>
TILETRANSPOSE_FUNCTION void grid_barrier(Group group, unsigned* arrived, unsigned mine,
                                         unsigned first, unsigned last, unsigned expected) {
  group.sync();
#if TILETRANSPOSE_ON_DEVICE
  if (arrived != nullptr) {
    const unsigned rank = group.thread_rank();
    if (rank == 0) {
      __threadfence();
      atomicAdd(arrived + mine, 1u);
    }
    if (rank <= last - first) {
      for (unsigned at = first + rank; at <= last; at += group.size()) {
        while (*static_cast<volatile unsigned*>(arrived + at) < expected) { __nanosleep(64); }
      }
      __threadfence();
    }
    group.sync();
  }
#endif
  (void)arrived, (void)mine, (void)first, (void)last, (void)expected;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
