// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "launch.hpp"

namespace tiletranspose_python {
namespace {

/// Calls `function` with the kernels for parts of so many bytes.
template <class Function>
cudaError_t with_parts(std::int64_t bytes, Function function) {
  switch (bytes) {
    case 1:
      return function(parts<1>{});
    case 2:
      return function(parts<2>{});
    case 4:
      return function(parts<4>{});
    case 8:
      return function(parts<8>{});
    case 16:
      return function(parts<16>{});
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

cudaError_t relocate(const relocation& move, cudaStream_t stream) {
  if (move.rank <= most_axes) {
    return with_parts(move.part_bytes, [&](auto sized) { return sized.relocate(move, stream); });
  }
  relocation_axis outer;
  relocation inner = without_shortest_axis(move, outer);
  for (std::int64_t i = 0; i < outer.extent; ++i) {
    const cudaError_t status = relocate(inner, stream);
    if (status != cudaSuccess) { return status; }
    inner.in += static_cast<std::uintptr_t>(outer.in_stride);
    inner.out += static_cast<std::uintptr_t>(outer.out_stride);
  }
  return cudaSuccess;
}

cudaError_t transpose_square(std::uintptr_t data, std::int64_t item_bytes, std::int64_t side,
                             std::int64_t stride, cudaStream_t stream) {
  return with_parts(item_bytes,
                    [&](auto sized) { return sized.transpose_square(data, side, stride, stream); });
}

}  // namespace tiletranspose_python
