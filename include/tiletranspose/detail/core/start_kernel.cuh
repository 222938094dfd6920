// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Starting a kernel on the current device, and what is asked of the device and of its driver for that: functions by name,
/// so that nobody has to link the driver's library, and more shared memory than the 48 KB that every kernel may have. An
/// error that somebody else left pending changes nothing, and stays pending. Host only.

#pragma once

#include <tiletranspose/detail/core/grid.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A kernel as cudaLaunchKernel and its like take it: the C functions of the runtime. Their C++ overloads differ from
/// version to version; those of CUDA 12.4 take `const T*`, which no function is. Where CUDA is emulated in plain C++
/// a kernel keeps its type, by which it is called.
template <class... Arguments>
auto kernel_pointer(void (*kernel)(Arguments...)) {
#if defined(__CUDACC__)
  return reinterpret_cast<const void*>(kernel);
#else
  return kernel;
#endif
}

/// Launches a kernel with arguments of its parameters' types, no others. The launch call's own status: an error that
/// somebody else left behind is neither returned nor cleared.
template <class... Parameters>
cudaError_t start(void (*kernel)(Parameters...), dim3 grid, int threads, size_type shared_bytes,
                  cudaStream_t stream, const Parameters&... arguments) {
  void* pointers[] = {const_cast<Parameters*>(__builtin_addressof(arguments))...};
  return cudaLaunchKernel(kernel_pointer(kernel), grid, dim3(static_cast<unsigned>(threads)),
                          pointers, shared_bytes, stream);
}

/// The same for a grid of one axis.
template <class... Parameters>
cudaError_t start(void (*kernel)(Parameters...), size_type blocks, int threads,
                  size_type shared_bytes, cudaStream_t stream, const Parameters&... arguments) {
  if (blocks > max_blocks) { return cudaErrorInvalidValue; }  // squares in place, tens of terabytes
  return start(kernel, dim3(static_cast<unsigned>(blocks)), threads, shared_bytes, stream,
               arguments...);
}

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

/// What the current device says of itself; `unknown` where it cannot be asked, so that the launch says why.
inline size_type ask_device_for(cudaDeviceAttr attribute, size_type unknown) {
  int device = 0;
  int value = 0;
  const bool known = cudaGetDevice(&device) == cudaSuccess &&
                     cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess;
  return known ? static_cast<size_type>(value) : unknown;
}

/// The shared memory that a block may ask for on the current device.
inline size_type most_shared_bytes() {
  return ask_device_for(cudaDevAttrMaxSharedMemoryPerBlockOptin, default_shared_bytes);
}

/// cudaFuncSetAttribute, where it succeeds, clears a pending error (seen with CUDA 13.0). The driver knows nothing of
/// the runtime's errors, and takes less time.
inline cudaError_t allow_more_shared_bytes(const void* kernel, int bytes) {
  // Its arguments are the function, an attribute and a value; enumerations are ints.
  static const auto set_attribute =
      find_driver_function<int(cudaFunction_t, int, int)>("cuFuncSetAttribute");
  if (set_attribute == nullptr) {  // no driver
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  }
  cudaFunction_t function{};
  const cudaError_t status = cudaGetFuncBySymbol(&function, kernel);
  if (status != cudaSuccess) { return status; }
  constexpr int most_dynamic_bytes = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  // The driver numbers errors as the runtime does.
  return static_cast<cudaError_t>(set_attribute(function, most_dynamic_bytes, bytes));
}

/// Lets blocks of a kernel have so many bytes of dynamic shared memory, at most `most_shared_bytes()`. All that there are
/// are asked for, whatever a launch needs: another thread may be about to launch the kernel with more.
template <class Kernel>
cudaError_t allow_shared_bytes(Kernel* kernel, size_type bytes) {
  return bytes <= default_shared_bytes
             ? cudaSuccess
             : allow_more_shared_bytes(reinterpret_cast<const void*>(kernel),
                                       static_cast<int>(larger(bytes, most_shared_bytes())));
}

/// Starts what is planned. Precondition: one grid takes it.
/// \param operation  what the kernel takes besides the plan's arguments
template <class Kernel, class Arguments, class... Operation>
cudaError_t start(Kernel* kernel, const launch_plan<Arguments>& plan, cudaStream_t stream,
                  const Operation&... operation) {
  const cudaError_t status = allow_shared_bytes(kernel, plan.shared_bytes);
  if (status != cudaSuccess) { return status; }
  const dim3 grid(static_cast<unsigned>(plan.blocks), static_cast<unsigned>(plan.blocks_down),
                  static_cast<unsigned>(plan.blocks_deep));
  return start(kernel, grid, plan.threads, plan.shared_bytes, stream, plan.arguments, operation...);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
