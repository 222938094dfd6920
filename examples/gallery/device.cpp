// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "device.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "failure.hpp"
#include "workspace.hpp"

namespace gallery {
namespace {

constexpr std::size_t shared_unit = 128;  // shared memory is handed out in pieces of this size
constexpr int warp = 32;
constexpr int register_unit = 256;  // registers are handed out to warps in pieces of this size
constexpr int schedulers = 4;       // each has its own quarter of the registers

std::size_t round_up(std::size_t value, std::size_t step) {
  return (value + step - 1) / step * step;
}

/// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", 9.0.
device_facts assumed_facts() {
  device_facts facts;
  facts.name = "none; compute capability 9.0 is assumed";
  facts.threads = 2048;
  facts.blocks = 32;
  facts.registers = 65536;
  facts.shared_bytes = 228 * 1024;
  facts.reserved_bytes = 1024;
  facts.block_bytes_most = 227 * 1024;
  return facts;
}

int blocks_by_registers(const kernel_needs& kernel, int warps, const device_facts& device) {
  if (!kernel.registers.has_value() || *kernel.registers == 0) {
    return std::numeric_limits<int>::max();
  }
  const int per_warp =
      static_cast<int>(round_up(static_cast<std::size_t>(*kernel.registers * warp), register_unit));
  return device.registers / schedulers / per_warp * schedulers / warps;
}

}  // namespace

device_facts choose_device(std::optional<int> ordinal) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) {
    count = 0;
  } else {
    check(status, "cudaGetDeviceCount");
  }
  if (ordinal.has_value() && *ordinal >= count) {
    throw bad_input("there is no device " + std::to_string(*ordinal) + "; this machine has " +
                    (count == 0 ? std::string("no GPU") : std::to_string(count)));
  }
  if (count == 0) { return assumed_facts(); }

  device_facts facts;
  facts.present = true;
  facts.ordinal = ordinal.value_or(0);
  check(cudaSetDevice(facts.ordinal), "cudaSetDevice");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, facts.ordinal), "cudaGetDeviceProperties");
  facts.name = properties.name;
  facts.threads = properties.maxThreadsPerMultiProcessor;
  facts.blocks = properties.maxBlocksPerMultiProcessor;
  facts.registers = properties.regsPerMultiprocessor;
  facts.shared_bytes = properties.sharedMemPerMultiprocessor;
  facts.reserved_bytes = properties.reservedSharedMemPerBlock;
  facts.block_bytes_most = properties.sharedMemPerBlockOptin;
  std::size_t total = 0;
  check(cudaMemGetInfo(&facts.free_bytes, &total), "cudaMemGetInfo");
  return facts;
}

occupancy occupancy_of(const kernel_needs& kernel, const device_facts& device) {
  const int warps = (kernel.threads + warp - 1) / warp;
  const std::size_t taken = round_up(kernel.shared_bytes, shared_unit) + device.reserved_bytes;

  struct limit {
    int blocks;
    const char* by;
  };
  const limit others[] = {{device.threads / (warps * warp), "threads"},
                          {device.blocks, "blocks"},
                          {blocks_by_registers(kernel, warps, device), "registers"}};
  const limit least =
      *std::min_element(std::begin(others), std::end(others),
                        [](const limit& a, const limit& b) { return a.blocks < b.blocks; });
  const int by_shared =
      kernel.shared_bytes == 0 ? least.blocks : static_cast<int>(device.shared_bytes / taken);

  occupancy result;
  result.blocks = std::min(least.blocks, by_shared);
  result.limited_by = by_shared < least.blocks ? "shared memory" : least.by;
  const std::size_t share =
      least.blocks == 0 ? 0 : device.shared_bytes / static_cast<std::size_t>(least.blocks);
  const std::size_t room = share > device.reserved_bytes
                               ? (share - device.reserved_bytes) / shared_unit * shared_unit
                               : 0;
  result.shared_room = std::min(room, device.block_bytes_most);
  return result;
}

}  // namespace gallery
