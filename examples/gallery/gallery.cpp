// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The famous shared-memory kernels, rebuilt from tiletranspose's parts, measured and explained.
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "device.hpp"
#include "failure.hpp"
#include "families.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "output.hpp"
#include "plot.hpp"

namespace gallery {
namespace {

problem asked_by(const options& chosen) {
  return {chosen.nx, chosen.ny, chosen.type.value_or(element::float_), !chosen.type.has_value(),
          tt::banks_of_width(chosen.bank_width)};
}

/// What the emulator runs: no multiple of a tile, but with a whole tile of every kind but the largest; the
/// size that was asked for where it is like that.
problem small_problem(const problem& asked) {
  constexpr std::size_t shortest = 32;
  constexpr std::size_t longest = 128;
  const auto fits = [](std::size_t side) { return side >= shortest && side <= longest; };
  problem small = asked;
  if (!fits(asked.nx) || !fits(asked.ny)) {
    small.nx = 70;
    small.ny = 45;
  }
  return small;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::ostringstream text;
  text << std::put_time(std::gmtime(&now), "%Y-%m-%d");
  return text.str();
}

heading heading_of(const options& chosen, const device_facts& device) {
  return {device.name,
          today(),
          chosen.nx,
          chosen.ny,
          name_of(chosen.type.value_or(element::float_)),
          chosen.reps,
          chosen.bank_width,
          chosen.carveout};
}

void list(std::ostream& to, const std::vector<routine>& routines) {
  const routine* previous = nullptr;
  for (const routine& r : routines) {
    if (previous == nullptr || previous->family != r.family) { to << name_of(r.family) << "\n"; }
    to << "  " << std::left << std::setw(30) << r.name << r.summary << "\n";
    previous = &r;
  }
}

routine reference_of(const problem& asked) {
  return select(ceilings(asked), {reference_routine}).front();
}

void check_memory(const std::vector<routine>& routines, const options& chosen,
                  const device_facts& device) {
  // The driver keeps some of what it calls free.
  constexpr std::size_t kept = std::size_t{64} << 20;
  const std::size_t needed = needed_bytes(routines);
  if (needed > device.free_bytes || device.free_bytes - needed < kept) {
    throw bad_input("--size " + std::to_string(chosen.nx) + "x" + std::to_string(chosen.ny) +
                    " needs " + std::to_string(needed) + " bytes of device memory; " + device.name +
                    " has " + std::to_string(device.free_bytes) + " free");
  }
}

/// Opened before anything runs, so that a wrong name costs no time.
std::ofstream open_plot(const std::string& name) {
  std::ofstream file;
  if (!name.empty()) {
    file.open(name);
    if (!file) { throw bad_input("--plot " + name + " cannot be written"); }
  }
  return file;
}

void finish_plot(std::ofstream& file, const options& chosen, const heading& about,
                 const results& found) {
  const bool all_cases = !chosen.only.empty();
  if (count_bars(found, all_cases) == 0) {
    std::cerr << "gallery: nothing to plot was timed; " << chosen.plot << " is left empty\n";
    return;
  }
  write_plot(file, about, found, all_cases);
  file.close();
  if (!file) { throw failure(chosen.plot + " could not be written"); }
}

bool any_wrong(const results& found) {
  for (const row& r : found.rows) {
    const bool wrong_on_cpu = r.emulated.has_value() && r.emulated->outcome == verdict::wrong;
    if (r.outcome == verdict::wrong || wrong_on_cpu) { return true; }
  }
  return false;
}

int run(const options& chosen) {
  const problem asked = asked_by(chosen);
  if (chosen.list) {
    list(std::cout, all_routines(asked));
    return 0;
  }
  const std::vector<routine> routines = select(all_routines(asked), chosen.only);
  const device_facts device = choose_device(chosen.device);
  const heading about = heading_of(chosen, device);
  if (!device.present) {
    const problem small = small_problem(asked);
    results found = predict(routines, device);
    emulate(select(all_routines(small), chosen.only), small, found);
    write(std::cout, chosen.format, about, found);
    std::cerr << "gallery: no GPU was found; nothing was timed"
              << (chosen.plot.empty() ? "" : " and " + chosen.plot + " was not written") << "\n";
    if (any_wrong(found)) { throw failure("some results are wrong"); }
    return 0;
  }

  const routine reference = reference_of(asked);
  std::vector<routine> with_reference = routines;
  with_reference.push_back(reference);
  check_memory(with_reference, chosen, device);
  std::ofstream plot = open_plot(chosen.plot);
  const results found = measure(routines, reference, device, {chosen.reps, chosen.carveout},
                                [](const std::string& line) { std::cerr << line << "\n"; });
  write(std::cout, chosen.format, about, found);
  if (!chosen.plot.empty()) { finish_plot(plot, chosen, about, found); }
  if (any_wrong(found)) { throw failure("some results are wrong"); }
  return 0;
}

}  // namespace
}  // namespace gallery

int main(int argc, char** argv) {
  try {
    const gallery::options chosen = gallery::parse({argv + 1, argv + argc});
    if (chosen.help) {
      std::cout << gallery::usage;
      return 0;
    }
    return gallery::run(chosen);
  } catch (const gallery::bad_input& error) {
    std::cerr << "gallery: " << error.what() << "\n";
    return gallery::exit_bad_input;
  } catch (const std::exception& error) {
    std::cerr << "gallery: " << error.what() << "\n";
    return gallery::exit_failed;
  }
}
