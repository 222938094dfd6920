// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Where there is no GPU: a body runs on the CPU by `tt::emulate`, in memory of this machine.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "workspace.hpp"

namespace gallery {

/// What a launch asked of memory, in the terms of `prediction`. Nothing is there where nothing was asked.
struct observation {
  std::optional<int> write_ways;  // of shared memory, the worst request
  std::optional<int> read_ways;
  std::optional<double> load_sectors;  // per warp request, in the mean
  std::optional<double> store_sectors;
  std::string fault;  // the first thing that device code must not do; empty: there was none
};

struct emulated_launch {
  std::size_t blocks;
  int threads;               // of a block
  std::size_t shared_bytes;  // of a block
};

/// Owns the memory of one case and runs its bodies.
class emulation {
 public:
  emulation(std::size_t in_bytes, std::size_t out_bytes, int bank_width);
  ~emulation();

  /// A workspace whose launches come here.
  workspace get();

  /// Calls body(shared memory of the block, number of the block) for each thread. The body is one
  /// `std::function` for all routines, so that the emulator is compiled once and not for each of them.
  void run(const emulated_launch& shape, const std::function<void(unsigned char*, unsigned)>& body);

  /// Of the last run.
  const observation& seen() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace gallery
