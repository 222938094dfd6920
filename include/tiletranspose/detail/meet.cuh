// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A barrier of some of the blocks of a cooperative launch, which have read what all of them write.

#pragma once

#include <tiletranspose/detail/machine.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Waits until `expected` blocks have come here, this one among them; a barrier where `arrived` is null. On the CPU
/// nobody reads data that others write. Precondition: all of them run at once.
template <class Group>
TILETRANSPOSE_FUNCTION void meet(Group group, unsigned* arrived, unsigned expected) {
  group.sync();
#if TILETRANSPOSE_ON_DEVICE
  if (arrived != nullptr) {
    if (group.thread_rank() == 0) {
      __threadfence();
      atomicAdd(arrived, 1u);
      while (*static_cast<volatile unsigned*>(arrived) < expected) { __nanosleep(64); }
      __threadfence();
    }
    group.sync();
  }
#endif
  (void)arrived;
  (void)expected;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
