// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Starting a kernel on the current device.

#pragma once

#include <tiletranspose/detail/core/grid.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A kernel as cudaLaunchKernel and its like take it: the C functions of the runtime. Their C++ overloads differ from
/// version to version; those of CUDA 12.4 take `const T*`, which no function is. Where CUDA is emulated in plain C++
/// a kernel keeps its type, by which it is called.
#if defined(__CUDACC__)
template <class... Arguments>
const void* kernel_pointer(void (*kernel)(Arguments...)) {
  return reinterpret_cast<const void*>(kernel);
}
#else
template <class... Arguments>
auto kernel_pointer(void (*kernel)(Arguments...)) {
  return kernel;
}
#endif

/// The launch call's own status: an error that somebody else left behind is neither returned nor cleared.
template <class Kernel>
cudaError_t start(Kernel* kernel, dim3 grid, int threads, size_type shared_bytes, void** arguments,
                  cudaStream_t stream) {
  return cudaLaunchKernel(kernel_pointer(kernel), grid, dim3(static_cast<unsigned>(threads)),
                          arguments, shared_bytes, stream);
}

/// The same for a grid of one axis.
template <class Kernel>
cudaError_t start(Kernel* kernel, size_type blocks, int threads, size_type shared_bytes,
                  void** arguments, cudaStream_t stream) {
  if (blocks > max_blocks) { return cudaErrorInvalidValue; }  // squares in place, tens of terabytes
  return start(kernel, dim3(static_cast<unsigned>(blocks)), threads, shared_bytes, arguments,
               stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
