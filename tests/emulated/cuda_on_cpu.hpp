// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// As much of CUDA as the launch wrappers need, on the CPU: kernels are functions, `__shared__` memory
/// belongs to the thread that runs the block's fibers, and a launch is an emulation. Include it before the
/// library, in plain C++.

#pragma once

#include "thread_storage.hpp"

#include <tiletranspose/emulator.cuh>

#include <algorithm>
#include <any>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ thread_local

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct uint3 {
  unsigned x, y, z;
};
inline thread_local uint3 blockIdx{};
/// Of one-dimensional blocks.
inline uint3 this_thread_index() { return {tt::detail::running->thread_rank(), 0, 0}; }
#define threadIdx this_thread_index()

using cudaStream_t = struct stream_of_nobody*;
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidDevice = 101,
  cudaErrorPeerAccessUnsupported = 217,
  cudaErrorOperatingSystem = 304,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorUnknown = 999
};
enum cudaMemcpyKind {
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What the kernels declare as `extern __shared__`. Defined before them, so that the compiler knows that
/// nothing has to be run to make it.
inline thread_local __align__(16) unsigned char tiletranspose_dynamic_shared[228 * 1024];

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END

namespace cpu {

/// A cooperative launch.
struct cooperative_launch {
  std::any arguments;
  unsigned blocks;
};

/// A launch, or a copy or memset (whose kernel is null, and whose bytes are shared_bytes).
struct launch_shape {
  const void* kernel;
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
};

/// What the next launches run with, and what they have done.
struct device {
  tt::emulator_options options;
  bool starts_together = false;  ///< offers cooperative launches
  int multiprocessors = 4;
  int shared_bytes = 228 * 1024;   ///< of a multiprocessor
  bool runs = true;                ///< else launches are only looked at, and memory is not touched
  std::vector<launch_shape> seen;  ///< launches that were only looked at
  std::vector<cooperative_launch> cooperative;
  const void* kernel = nullptr;       ///< of the last launch
  cudaError_t pending = cudaSuccess;  ///< what cudaGetLastError would return
  cudaError_t refusal = cudaSuccess;  ///< what comes of asking for more shared memory
  cudaError_t failure = cudaSuccess;  ///< what launches and copies return, without moving anything
  int fails_after = 0;                ///< launches that go well before
  int launches = 0;
  std::size_t faults = 0;     ///< kinds and places of them, in all launches
  std::size_t stored = 0;     ///< bytes that all launches stored to global memory
  tt::emulation_report last;  ///< of the last launch, or of the first with a fault
  /// What all launches did to shared memory, added up by place, kind and width.
  std::map<std::string, tt::access_report> shared;

  bool fails() const { return failure != cudaSuccess && launches >= fails_after; }
};
inline device& this_device() {
  static thread_local device one;
  return one;
}

/// True where shared memory of a kernel is: in one of its arrays, or in what the launch asked for.
inline bool in_shared(const void* address, unsigned bytes, std::size_t dynamic_bytes) {
  static thread_local const thread_storage storage(&blockIdx, "blockIdx");
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto dynamic = reinterpret_cast<std::uintptr_t>(tt::detail::tiletranspose_dynamic_shared);
  return at >= dynamic && at < dynamic + sizeof(tt::detail::tiletranspose_dynamic_shared)
             ? at + bytes <= dynamic + dynamic_bytes
             : storage.in_one_object(address, bytes);
}

/// Dynamic shared memory that a kernel may be launched with: 48 KB, or what it was allowed.
inline std::size_t& allowed_shared_bytes(const void* kernel) {
  static thread_local std::map<const void*, std::size_t> allowed;
  return allowed.emplace(kernel, 48 * 1024).first->second;
}

template <class Tuple, std::size_t... I>
Tuple gather(void** arguments, std::index_sequence<I...>) {
  return Tuple(*static_cast<std::tuple_element_t<I, Tuple>*>(arguments[I])...);
}

}  // namespace cpu

namespace cpu {

template <class... Parameters>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                   std::size_t shared_bytes) {
  if (shared_bytes > cpu::allowed_shared_bytes(reinterpret_cast<const void*>(kernel))) {
    return cudaErrorInvalidValue;
  }
  using values = std::tuple<std::remove_cv_t<Parameters>...>;
  const auto all = cpu::gather<values>(arguments, std::index_sequence_for<Parameters...>());
  cpu::device& device = cpu::this_device();
  if (device.fails()) { return device.failure; }
  device.kernel = reinterpret_cast<const void*>(kernel);
  ++device.launches;
  if (!device.runs) {
    device.seen.push_back({device.kernel, grid, block, shared_bytes});
    return cudaSuccess;
  }
  tt::emulator_options options = device.options;
  options.foreign_shared = [shared_bytes](const void* address, unsigned bytes) {
    return cpu::in_shared(address, bytes, shared_bytes);
  };
  const tt::emulation_report report =
      tt::emulate(options, grid, block, 0, [&](tt::emulated_block thread) {
        const tt::emulated_dim at = thread.index();
        blockIdx = {at.x, at.y, at.z};
        std::apply(kernel, all);
      });
  if (device.faults == 0) { device.last = report; }
  for (const tt::access_report& access : report.accesses) {
    if (access.is_shared()) {
      const auto key = tt::detail::places_of(access) + (access.is_store() ? " store " : " load ") +
                       std::to_string(access.bytes);
      device.shared
          .emplace(key, tt::access_report{access.site, access.inside, access.kind, access.bytes})
          .first->second += access;
    }
  }
  device.faults += report.faults.size();
  device.stored += report.global_stores().total_bytes;
  return cudaSuccess;
}

/// Launches blocks that wait for each other before they write what others read. Here they run one after the other and
/// cannot wait: what they read is a copy of the `bytes` bytes.
template <class Arguments>
cudaError_t launch_on_copy(void (*kernel)(Arguments), dim3 grid, dim3 block, Arguments all,
                           std::size_t bytes, std::size_t shared_bytes) {
  std::vector<unsigned char> memory(bytes + 15);
  const auto at = [](const void* address) { return reinterpret_cast<std::uintptr_t>(address); };
  unsigned char* const copy = memory.data() + (at(all.data) - at(memory.data())) % 16;
  std::memcpy(copy, all.data, bytes);
  tt::emulator_options& options = this_device().options;
  const tt::emulator_options before = options;
  options.knows(static_cast<const unsigned char*>(copy), bytes);
  all.source = copy;
  void* pointers[] = {&all};
  const cudaError_t status = launch(kernel, grid, block, pointers, shared_bytes);
  options = before;
  return status;
}

}  // namespace cpu

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes = 0, cudaStream_t = nullptr) {
  return cpu::launch(kernel, grid, block, arguments, shared_bytes);
}
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value =
      attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? cpu::this_device().shared_bytes - 1024
      : attribute == cudaDevAttrMaxSharedMemoryPerMultiprocessor ? cpu::this_device().shared_bytes
      : attribute == cudaDevAttrMultiProcessorCount ? cpu::this_device().multiprocessors
      : attribute == cudaDevAttrCooperativeLaunch   ? (cpu::this_device().starts_together ? 1 : 0)
                                                    : 0;
  return cudaSuccess;
}
/// Two, if shared memory suffices: of every block's, 1 KB is the system's.
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel*, int,
                                                          std::size_t shared_bytes) {
  *blocks = std::min(2, cpu::this_device().shared_bytes / (static_cast<int>(shared_bytes) + 1024));
  return cudaSuccess;
}
/// Blocks that cannot run at once are refused, as they are by CUDA, and fewer than wait for each other.
template <class Arguments>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Arguments), dim3 grid, dim3 block,
                                        void** arguments, std::size_t shared_bytes, cudaStream_t) {
  Arguments all = *static_cast<Arguments*>(arguments[0]);
  cpu::device& device = cpu::this_device();
  int resident = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, static_cast<int>(block.x),
                                                shared_bytes);
  if (grid.x > static_cast<unsigned>(resident * device.multiprocessors)) {
    return cudaErrorCooperativeLaunchTooLarge;
  }
  if (all.arrived == nullptr || all.source != all.data || all.blocks != grid.x ||
      grid.x < all.together()) {
    return cudaErrorInvalidValue;
  }
  device.cooperative.push_back({all, grid.x});
  if (!device.runs) {
    device.seen.push_back({reinterpret_cast<const void*>(kernel), grid, block, shared_bytes});
    return cudaSuccess;
  }
  all.arrived = nullptr;
  return cpu::launch_on_copy(kernel, grid, block, all, all.source_bytes(), shared_bytes);
}

namespace cpu {

inline cudaError_t allow_shared_bytes(const void* kernel, int attribute, int bytes) {
  const device& device = this_device();
  if (device.refusal != cudaSuccess) { return device.refusal; }
  if (attribute != 8 || bytes > device.shared_bytes - 1024) { return cudaErrorInvalidValue; }
  allowed_shared_bytes(kernel) = static_cast<std::size_t>(bytes);
  return cudaSuccess;
}

}  // namespace cpu

/// Clears a pending error where it succeeds, as CUDA 13.0 does.
inline cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute,
                                        int bytes) {
  const cudaError_t status = cpu::allow_shared_bytes(kernel, attribute, bytes);
  cpu::this_device().pending = status;
  return status;
}

/// The driver's function that does the same without a word to the runtime.
#define CUDART_VERSION 13000
using cudaFunction_t = struct function_of_nobody*;
enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess = 0,
  cudaDriverEntryPointSymbolNotFound = 1
};
inline constexpr unsigned long long cudaEnableDefault = 0;

inline int set_function_attribute(cudaFunction_t function, int attribute, int bytes) {
  return cpu::allow_shared_bytes(function, attribute, bytes);
}
inline cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* kernel) {
  *function = static_cast<cudaFunction_t>(const_cast<void*>(kernel));
  return cudaSuccess;
}
inline cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                                    unsigned long long,
                                                    cudaDriverEntryPointQueryResult* result) {
  const bool found = std::string(name) == "cuFuncSetAttribute";
  *function = found ? reinterpret_cast<void*>(&set_function_attribute) : nullptr;
  *result = found ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

inline cudaError_t cudaMemsetAsync(void* out, int value, std::size_t bytes, cudaStream_t) {
  if (cpu::this_device().fails()) { return cpu::this_device().failure; }
  if (cpu::this_device().runs) {
    std::memset(out, value, bytes);
  } else {
    cpu::this_device().seen.push_back({nullptr, {}, {}, bytes});
  }
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* out, const void* in, std::size_t bytes, cudaMemcpyKind,
                                   cudaStream_t) {
  if (cpu::this_device().fails()) { return cpu::this_device().failure; }
  if (cpu::this_device().runs) {
    std::memcpy(out, in, bytes);
  } else {
    cpu::this_device().seen.push_back({nullptr, {}, {}, bytes});
  }
  return cudaSuccess;
}
