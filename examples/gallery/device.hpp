// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The GPU at hand: which one, and how many blocks of a kernel fit a multiprocessor and why no more.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace gallery {

/// What a multiprocessor has to share out among its blocks.
struct device_facts {
  bool present = false;  // false: assumed, for predictions
  int ordinal = 0;
  std::string name;
  int threads;
  int blocks;
  int registers;
  std::size_t shared_bytes;
  std::size_t reserved_bytes;    // of shared memory, by the system for each block
  std::size_t block_bytes_most;  // of shared memory for one block that asks for it
  std::size_t free_bytes = 0;    // of device memory
};

/// The device of that number; the first where none is asked for and one exists; else the assumed facts of
/// compute capability 9.0. Makes the device current. Throws `bad_input` for one that does not exist.
device_facts choose_device(std::optional<int> ordinal);

/// What one kernel takes of a multiprocessor.
struct kernel_needs {
  int threads;
  std::size_t shared_bytes;      // static and dynamic
  std::optional<int> registers;  // of a thread; unknown before a GPU has loaded the kernel
};

struct occupancy {
  int blocks;              // on one multiprocessor
  std::string limited_by;  // "threads", "blocks", "registers" or "shared memory"
  /// The most shared memory a block may take before fewer blocks fit than if it took none.
  std::size_t shared_room;
};

occupancy occupancy_of(const kernel_needs& kernel, const device_facts& device);

}  // namespace gallery
