// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What the gallery shows: a *routine* has a name and one or more *cases*; a case is one row of the table.
/// A case carries everything that is asked of it, so that whoever verifies, predicts or times it needs to
/// know nothing else.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tiletranspose/banks.cuh>

#include "element.hpp"
#include "workspace.hpp"

namespace gallery {

enum class family {
  ceilings,
  transposes,
  shared_access,
  reverse,
  dynamic_shared,
  global_access,
  composition,
  launch_shape
};
inline constexpr int families = 8;
const char* name_of(family member);

/// What is asked of every routine.
struct problem {
  std::size_t nx, ny;  // the matrix: columns, rows
  element type;
  bool also_double;  // the user left the type open
  tt::bank_model banks;
};

/// What can be said before anything runs. Nothing is said where there is nothing to count: no tile in
/// shared memory, or a kernel that is not ours.
struct prediction {
  std::optional<int> threads;               // of a block
  std::optional<std::size_t> shared_bytes;  // of a block
  std::optional<int> write_ways;            // of the tile, the worst request
  std::optional<int> read_ways;
  std::optional<double> write_wavefronts;  // of the tile, per request, in the mean
  std::optional<double> read_wavefronts;
  std::optional<double> load_sectors;  // per warp request, in the mean
  std::optional<double> store_sectors;
  std::optional<double> least_sectors;
};

/// What GB/s counts.
enum class traffic {
  global,  // every element once read and once written, in global memory
  shared   // in shared memory
};

struct launch_case {
  std::string label;
  std::string type;
  std::size_t bytes = 0;  // moved by one launch, as `counts` counts
  traffic counts = traffic::global;
  double operations = 0;      // of arithmetic, where that is the work
  std::size_t in_bytes = 0;   // device memory that it reads
  std::size_t out_bytes = 0;  // and writes
  prediction predicted;
  std::string note;
  std::string unavailable;  // why it cannot run; empty: it can
  bool foreign = false;  // launches a kernel of another library, of which the runtime knows nothing
  bool needs_gpu = false;  // not a body of ours, so the emulator cannot run it
  bool plotted = true;     // among all routines; one asked for by name is plotted anyway

  /// Fills the inputs, on the workspace's stream.
  std::function<void(const workspace&)> prepare;
  /// Queues one run on the workspace's stream.
  std::function<cudaError_t(const workspace&)> enqueue;
  /// How many elements are wrong after `prepare` and one run.
  std::function<std::size_t(const workspace&)> count_wrong;
};

struct routine {
  std::string name;
  gallery::family family;
  std::string summary;  // for --list
  std::vector<launch_case> cases;
  std::string remark{};           // printed below the table
  bool best_is_a_result = false;  // the fastest case is what the routine is for
};

}  // namespace gallery
