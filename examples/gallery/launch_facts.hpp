// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which kernel a call launches, ours or the library's: the call is captured into a graph, which is asked.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <optional>

#include "device.hpp"

namespace gallery {

struct launched_kernel {
  const void* function;  // for cudaFuncSetAttribute
  kernel_needs needs;
  /// From the occupancy calculator of the driver, carve-out included.
  int blocks_per_multiprocessor;
};

/// The kernel that `enqueue` puts on `stream`, the largest one where it puts several; nothing where it
/// puts none.
std::optional<launched_kernel> find_kernel(const std::function<cudaError_t()>& enqueue,
                                           cudaStream_t stream);

/// Asks for `percent` of the L1 cache as shared memory; -1 gives the choice back to the driver.
void prefer_carveout(const launched_kernel& kernel, int percent);

}  // namespace gallery
