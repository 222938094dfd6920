// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A kernel that is allowed more shared memory for one launch while another thread allows less for another: the second call
// asks what is allowed, then the first call runs, and then the second goes on. The runtime's functions are replaced, so
// that this needs no GPU.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>

namespace on_cpu {

constexpr int most = 232448;
constexpr int declared = 1024;  // by the kernel itself
int allowed = 49152;
cudaError_t (*meanwhile)() = nullptr;

cudaError_t get_attributes(cudaFuncAttributes* attributes, const void*) {
  attributes->maxDynamicSharedSizeBytes = allowed;
  attributes->sharedSizeBytes = declared;
  if (meanwhile == nullptr) { return cudaSuccess; }
  const auto other_thread = meanwhile;
  meanwhile = nullptr;
  return other_thread();
}

cudaError_t get_device(int* device) { return *device = 0, cudaSuccess; }

cudaError_t get_device_attribute(int* value, cudaDeviceAttr attribute, int) {
  *value = most;
  return attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t get_function(cudaFunction_t*, const void*) { return cudaSuccess; }

int set_attribute(cudaFunction_t, int, int bytes) {
  if (bytes + declared > most) { return cudaErrorInvalidValue; }
  allowed = bytes;
  return cudaSuccess;
}

template <class... Version>
cudaError_t get_entry_point(const char*, void** function, Version...) {
  *function = reinterpret_cast<void*>(&set_attribute);
  return cudaSuccess;
}

}  // namespace on_cpu

#define cudaFuncGetAttributes on_cpu::get_attributes
#define cudaGetDevice on_cpu::get_device
#define cudaDeviceGetAttribute on_cpu::get_device_attribute
#define cudaGetFuncBySymbol on_cpu::get_function
#define cudaGetDriverEntryPointByVersion on_cpu::get_entry_point
#define cudaGetDriverEntryPoint on_cpu::get_entry_point
#include <tiletranspose/smem.cuh>

__global__ void kernel(int) {}

constexpr std::size_t less = 100000;
constexpr std::size_t more = on_cpu::most - on_cpu::declared;

int main() {
  on_cpu::meanwhile = [] { return tt::allow_dynamic_smem(&kernel, more); };
  const cudaError_t status = tt::allow_dynamic_smem(&kernel, less);
  std::printf("%d: %d bytes are allowed\n", status, on_cpu::allowed);
  const bool refused = tt::allow_dynamic_smem(&kernel, more + 1) == cudaErrorNotSupported;
  return status == cudaSuccess && on_cpu::allowed == static_cast<int>(more) && refused ? 0 : 1;
}
