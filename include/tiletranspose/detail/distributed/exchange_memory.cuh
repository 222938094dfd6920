// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What a rank asks of a distributed call, examined before anything is queued. Plain C++17.

#pragma once

#include <tiletranspose/detail/request/request.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// One rank's memory, in bytes; parts of no bytes need no address.
struct exchange_memory {
  const void* out;
  size_type out_bytes;
  const void* in;
  size_type in_bytes;
  const void* temp;
  size_type temp_bytes;
  size_type alignment;  ///< of the elements
};

/// False where a part in use is null, misaligned, longer than the address space, or shares a byte with another.
inline bool examine_memory(const exchange_memory& memory) {
  const void* const first[] = {memory.out, memory.in, memory.temp};
  const size_type bytes[] = {memory.out_bytes, memory.in_bytes, memory.temp_bytes};
  memory_region regions[3] = {};
  for (int i = 0; i < 3; ++i) {
    if (bytes[i] == 0) { continue; }
    if (!points(first[i], memory.alignment) ||
        !make_region(first[i], 1, bytes[i], 0, 1, regions[i])) {
      return false;
    }
    for (int j = 0; j < i; ++j) {
      if (bytes[j] > 0 && overlap(regions[i], regions[j])) { return false; }
    }
  }
  return true;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
