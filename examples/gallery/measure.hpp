// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Verifies and times cases, or predicts where there is no GPU.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device.hpp"
#include "emulation.hpp"
#include "routine.hpp"

namespace gallery {

/// What one case came to.
enum class verdict {
  predicted,  // nothing ran
  verified,
  wrong,
  unavailable
};

/// A case timed under a preferred carve-out.
struct carved {
  double gigabytes;  // per second
  int blocks;        // on one multiprocessor
};

/// A case run by the emulator, beside what the model says of the same size.
struct emulated_run {
  verdict outcome;  // unavailable: it needs a GPU
  prediction model;
  observation seen;
  std::size_t wrong_elements = 0;
  std::optional<bool> agrees{};  // in all that the model says; nothing where it says nothing
};

/// One row of the table. What is not known is not there.
struct row {
  std::string routine;
  gallery::family family;
  std::string label;
  std::string type;
  verdict outcome = verdict::predicted;
  std::optional<double> seconds;  // median
  std::optional<double> gigabytes;
  std::optional<double> percent;  // of cudaMemcpyAsync's
  std::optional<double> gigaflops;
  std::optional<int> threads;
  std::optional<std::size_t> shared_bytes;
  std::optional<occupancy> fits;
  prediction predicted;
  std::optional<emulated_run> emulated;  // where there is no GPU
  std::optional<carved> with_carveout;
  bool plotted = true;
  bool best = false;  // of its routine
  std::string note;
};

struct results {
  std::vector<row> rows;
  std::vector<std::string> remarks;
  bool timed = false;
  std::optional<double> memcpy_gigabytes;  // per second
  std::size_t emulated_nx = 0;             // what the emulator ran on
  std::size_t emulated_ny = 0;
};

struct measurement {
  int reps;
  std::optional<int> carveout;  // percent
};

/// Device memory that the routines need together, in bytes.
std::size_t needed_bytes(const std::vector<routine>& routines);

/// Called with a line about each case.
using progress = std::function<void(const std::string&)>;

/// What can be said of the routines without running them.
results predict(const std::vector<routine>& routines, const device_facts& assumed);

/// Adds what the emulator makes of the same routines for another, small problem.
void emulate(const std::vector<routine>& routines, const problem& small, results& found);

/// Verifies each case, then times it. `reference` is timed first, and shown only if it is among the routines.
results measure(const std::vector<routine>& routines, const routine& reference,
                const device_facts& device, const measurement& how, const progress& tell);

}  // namespace gallery
