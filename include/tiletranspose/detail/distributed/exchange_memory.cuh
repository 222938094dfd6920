// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What a rank asks of a distributed call, examined before anything is queued. Plain C++17.

#pragma once

#include <tiletranspose/detail/request/request.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Memory that a call uses; of no bytes it needs no address.
struct used_memory {
  const void* first;
  size_type bytes;
  bool written;
};

/// False where some memory is null, misaligned or longer than the address space, or is written and shares a byte with other
/// memory of the call.
inline bool examine_memory(const used_memory* memory, size_type count, size_type alignment) {
  const auto region_of = [&](size_type i, memory_region& region) {
    return points(memory[i].first, alignment) &&
           make_region(memory[i].first, 1, memory[i].bytes, 0, 1, region);
  };
  for (size_type i = 0; i < count; ++i) {
    memory_region own{};
    if (memory[i].bytes == 0) { continue; }
    if (!region_of(i, own)) { return false; }
    for (size_type j = 0; j < i; ++j) {
      memory_region other{};
      const bool matters = memory[j].bytes > 0 && (memory[i].written || memory[j].written);
      if (matters && region_of(j, other) && overlap(own, other)) { return false; }
    }
  }
  return true;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
