// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Kernels as arguments of the runtime's calls.

#pragma once

#include <tiletranspose/config.cuh>

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

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
