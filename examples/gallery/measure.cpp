// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "measure.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <memory>
#include <sstream>
#include <type_traits>

#include "failure.hpp"
#include "launch_facts.hpp"

namespace gallery {
namespace {

constexpr double giga = 1e9;
constexpr int driver_chooses = -1;  // the carve-out that nobody asked for

struct event_deleter {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, event_deleter>;

event make_event() {
  cudaEvent_t made = nullptr;
  check(cudaEventCreate(&made), "cudaEventCreate");
  return event(made);
}

/// The median of `reps` runs, each between two events, after two that do not count.
double median_seconds(const launch_case& work, const workspace& memory, int reps) {
  constexpr int warm_ups = 2;
  const event start = make_event();
  const event stop = make_event();
  std::vector<double> seconds;
  for (int run = -warm_ups; run < reps; ++run) {
    check(cudaEventRecord(start.get(), memory.stream), "cudaEventRecord");
    check(work.enqueue(memory), work.label);
    check(cudaEventRecord(stop.get(), memory.stream), "cudaEventRecord");
    check(cudaEventSynchronize(stop.get()), work.label);
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.get(), stop.get()), "cudaEventElapsedTime");
    if (run >= 0) { seconds.push_back(milliseconds * 1e-3); }
  }
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

double rate(const launch_case& work, double seconds) {
  return static_cast<double>(work.bytes) / seconds / giga;
}

row predicted_row(const routine& of, const launch_case& work) {
  row made;
  made.routine = of.name;
  made.family = of.family;
  made.label = work.label;
  made.type = work.type;
  made.predicted = work.predicted;
  made.threads = work.predicted.threads;
  made.shared_bytes = work.predicted.shared_bytes;
  made.plotted = work.plotted;
  made.note = work.note;
  if (!work.unavailable.empty()) {
    made.outcome = verdict::unavailable;
    made.note = work.unavailable;
  }
  return made;
}

/// Notes in `all` whether the model's number, if it has one, was seen.
template <class Number>
void compare(std::optional<Number> model, std::optional<Number> seen, std::optional<bool>& all) {
  constexpr double rounding = 1e-9;
  if (!model.has_value()) { return; }
  const bool same = seen.has_value() &&
                    std::abs(static_cast<double>(*model) - static_cast<double>(*seen)) < rounding;
  all = all.value_or(true) && same;
}

std::optional<bool> agree(const prediction& model, const observation& seen) {
  std::optional<bool> all;
  compare(model.write_ways, seen.write_ways, all);
  compare(model.read_ways, seen.read_ways, all);
  compare(model.load_sectors, seen.load_sectors, all);
  compare(model.store_sectors, seen.store_sectors, all);
  return all;
}

constexpr int rubbish = 0xA5;  // what outputs hold before they are written

emulated_run emulated(const launch_case& work, int bank_width) {
  emulated_run made{verdict::unavailable, work.predicted, {}};
  if (work.needs_gpu) { return made; }
  emulation cpu(work.in_bytes, work.out_bytes, bank_width);
  const workspace memory = cpu.get();
  std::memset(memory.out, rubbish, memory.out_bytes);
  work.prepare(memory);
  check(work.enqueue(memory), work.label);
  made.seen = cpu.seen();
  made.agrees = agree(made.model, made.seen);
  made.wrong_elements = work.count_wrong(memory);
  const bool right = made.wrong_elements == 0 && made.seen.fault.empty();
  made.outcome = right ? verdict::verified : verdict::wrong;
  return made;
}

/// Runs the case once on an output full of rubbish. False where the library behind it cannot do it.
bool verify(const launch_case& work, const workspace& memory, row& made) {
  check(cudaMemsetAsync(memory.out, rubbish, memory.out_bytes, memory.stream), "cudaMemsetAsync");
  work.prepare(memory);
  const cudaError_t status = work.enqueue(memory);
  if (status == cudaErrorNotSupported) {
    made.outcome = verdict::unavailable;
    made.note = "not supported for this type and shape";
    return false;
  }
  check(status, work.label);
  check(cudaStreamSynchronize(memory.stream), work.label);
  const std::size_t wrong = work.count_wrong(memory);
  made.outcome = wrong == 0 ? verdict::verified : verdict::wrong;
  if (wrong != 0) { made.note = std::to_string(wrong) + " elements are wrong"; }
  return wrong == 0;
}

/// What the kernel takes of a multiprocessor, as the driver says, and the time under another carve-out.
void examine_kernel(const launch_case& work, const workspace& memory, const device_facts& device,
                    const measurement& how, row& made) {
  const auto enqueue = [&] { return work.enqueue(memory); };
  const std::optional<launched_kernel> kernel = find_kernel(enqueue, memory.stream);
  if (!kernel.has_value()) { return; }
  made.threads = kernel->needs.threads;
  made.shared_bytes = kernel->needs.shared_bytes;
  made.fits = occupancy_of(kernel->needs, device);
  made.fits->blocks = kernel->blocks_per_multiprocessor;
  if (how.carveout.has_value()) {
    prefer_carveout(*kernel, *how.carveout);
    const double seconds = median_seconds(work, memory, how.reps);
    const std::optional<launched_kernel> again = find_kernel(enqueue, memory.stream);
    made.with_carveout = carved{rate(work, seconds), again->blocks_per_multiprocessor};
    prefer_carveout(*kernel, driver_chooses);
  }
}

row measured_row(const routine& of, const launch_case& work, const workspace& memory,
                 const device_facts& device, const measurement& how,
                 std::optional<double> memcpy_gigabytes) {
  row made = predicted_row(of, work);
  if (made.outcome == verdict::unavailable || !verify(work, memory, made)) { return made; }
  made.seconds = median_seconds(work, memory, how.reps);
  made.gigabytes = rate(work, *made.seconds);
  if (work.operations > 0) { made.gigaflops = work.operations / *made.seconds / giga; }
  if (work.counts == traffic::global && memcpy_gigabytes.has_value()) {
    made.percent = 100 * *made.gigabytes / *memcpy_gigabytes;
  }
  if (!work.foreign) { examine_kernel(work, memory, device, how, made); }
  return made;
}

/// Marks the fastest row of those from `first` on.
void mark_best(std::vector<row>& rows, std::size_t first) {
  const auto from = rows.begin() + static_cast<std::ptrdiff_t>(first);
  const auto best = std::max_element(from, rows.end(), [](const row& a, const row& b) {
    return a.gigabytes.value_or(0) < b.gigabytes.value_or(0);
  });
  if (best == rows.end() || !best->gigabytes.has_value()) { return; }
  best->best = true;
  best->plotted = true;
}

std::string line_about(const row& made) {
  std::ostringstream text;
  text << made.label << " (" << made.type << "): ";
  switch (made.outcome) {
    case verdict::wrong:
      text << "WRONG, ";
      break;
    case verdict::unavailable:
      text << "left out, ";
      break;
    default:
      text << "verified";
      break;
  }
  if (made.gigabytes.has_value()) {
    text << ", " << std::fixed << std::setprecision(1) << *made.gigabytes << " GB/s";
  } else {
    text << made.note;
  }
  return text.str();
}

void collect_remark(const routine& of, results& found) {
  if (!of.remark.empty()) { found.remarks.push_back(of.remark); }
}

struct memory_needs {
  std::size_t in = 1;
  std::size_t out = 1;
};

memory_needs needs_of(const std::vector<routine>& routines) {
  memory_needs needs;
  for (const routine& r : routines) {
    for (const launch_case& work : r.cases) {
      needs.in = std::max(needs.in, work.in_bytes);
      needs.out = std::max(needs.out, work.out_bytes);
    }
  }
  return needs;
}

}  // namespace

std::size_t needed_bytes(const std::vector<routine>& routines) {
  const memory_needs needs = needs_of(routines);
  return needs.in + needs.out;
}

results predict(const std::vector<routine>& routines, const device_facts& assumed) {
  results found;
  for (const routine& r : routines) {
    for (const launch_case& work : r.cases) {
      row made = predicted_row(r, work);
      if (made.threads.has_value() && made.shared_bytes.has_value()) {
        made.fits = occupancy_of({*made.threads, *made.shared_bytes, std::nullopt}, assumed);
      }
      found.rows.push_back(std::move(made));
    }
    collect_remark(r, found);
  }
  return found;
}

void emulate(const std::vector<routine>& routines, const problem& small, results& found) {
  found.emulated_nx = small.nx;
  found.emulated_ny = small.ny;
  auto at = found.rows.begin();
  for (const routine& r : routines) {
    for (const launch_case& work : r.cases) {
      if (at == found.rows.end() || at->label != work.label || at->type != work.type) {
        throw failure(work.label + " is not the case that was predicted");
      }
      at->emulated = emulated(work, small.banks.bank_width);
      ++at;
    }
  }
}

results measure(const std::vector<routine>& routines, const routine& reference,
                const device_facts& device, const measurement& how, const progress& tell) {
  std::vector<routine> all = routines;
  all.push_back(reference);
  const memory_needs needs = needs_of(all);
  const device_workspace owner(needs.in, needs.out);
  const workspace memory = owner.get();

  results found;
  found.timed = true;
  row base = measured_row(reference, reference.cases.front(), memory, device, how, std::nullopt);
  found.memcpy_gigabytes = base.gigabytes;
  base.percent = 100;

  std::size_t total = 0;
  for (const routine& r : routines) { total += r.cases.size(); }
  for (const routine& r : routines) {
    const std::size_t first = found.rows.size();
    for (const launch_case& work : r.cases) {
      found.rows.push_back(r.name == reference.name ? base
                                                    : measured_row(r, work, memory, device, how,
                                                                   found.memcpy_gigabytes));
      tell("[" + std::to_string(found.rows.size()) + "/" + std::to_string(total) + "] " +
           line_about(found.rows.back()));
    }
    if (r.best_is_a_result) { mark_best(found.rows, first); }
    collect_remark(r, found);
  }
  return found;
}

}  // namespace gallery
