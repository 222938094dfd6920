// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Relocations in device memory.

#pragma once

#include <cuda_runtime.h>

#include "array.hpp"

namespace tiletranspose_python {

/// Moves the elements, by one call of tt::permute. Of more than 8 axes that are left, the shortest are looped over, a call
/// for each of their elements.
cudaError_t relocate(const relocation& move, cudaStream_t stream);

/// Transposes a square in its own memory. Elements have 1, 2, 4, 8 or 16 bytes, which divide the address; the stride is in
/// bytes, at least a row, and a multiple of them.
cudaError_t transpose_square(std::uintptr_t data, std::int64_t item_bytes, std::int64_t side,
                             std::int64_t stride, cudaStream_t stream);

/// Parts of one size each: specialised in launch_parts.cu, which is compiled once for each.
template <int PartBytes>
struct parts {
  static cudaError_t relocate(const relocation& move, cudaStream_t stream);
  static cudaError_t transpose_square(std::uintptr_t data, std::int64_t side, std::int64_t stride,
                                      cudaStream_t stream);
};

}  // namespace tiletranspose_python
