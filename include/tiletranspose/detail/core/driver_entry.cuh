// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Functions of the driver, asked of the runtime, so that nobody has to link the driver's library. Host only.

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The driver's function of this name as CUDA 12.0 has it; null where the driver has none.
template <class Function>
Function* find_driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
#else
  const cudaError_t status = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  const bool usable = status == cudaSuccess && found == cudaDriverEntryPointSuccess;
  return usable ? reinterpret_cast<Function*>(function) : nullptr;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
