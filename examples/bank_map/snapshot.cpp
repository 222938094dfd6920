// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "snapshot.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>
#include <tuple>

namespace bank_map {
namespace {

/// The byte at which a lane of a request starts to access, or -1.
class request_offsets {
 public:
  request_offsets(const subject& of, const tt::walk_steps& steps, int request, int first_lane,
                  int lanes)
      : of_(of),
        steps_(steps),
        first_step_(request * of.banks.request_lanes),
        first_(first_lane),
        end_(first_lane + lanes) {}

  long long operator()(int lane) const {
    const int step = first_step_ + lane;
    if (lane < first_ || lane >= end_ || step >= steps_.count) { return -1; }
    const tt::walk_steps::place at = steps_(step);
    return static_cast<long long>(of_.tile(at.row, at.col)) * of_.tile.element_bytes + at.byte;
  }

 private:
  const subject& of_;
  const tt::walk_steps& steps_;
  int first_step_, first_, end_;
};

struct phase {
  int ways, request, first_lane;
};

/// The first of those with the most ways.
phase worst_phase(const subject& of, const tt::walk_steps& steps) {
  const int lanes = tt::phase_lanes(steps.access_bytes, of.banks);
  const int request_lanes = of.banks.request_lanes;
  phase worst{0, 0, 0};
  for (int request = 0; request * request_lanes < steps.count; ++request) {
    for (int first = 0; first < request_lanes; first += lanes) {
      const request_offsets offsets(of, steps, request, first, lanes);
      const int ways = tt::request_ways(offsets, steps.access_bytes, of.banks, request_lanes);
      if (ways > worst.ways) { worst = {ways, request, first}; }
    }
  }
  return worst;
}

/// All words of the tile's memory, nobody wanting any.
std::vector<std::vector<word>> blank_lines(const subject& of) {
  const int bytes = of.tile.size() * of.tile.element_bytes;
  const int words = (bytes + of.banks.bank_width - 1) / of.banks.bank_width;
  const auto banks = static_cast<std::size_t>(of.banks.banks);
  std::vector<std::vector<word>> lines((static_cast<std::size_t>(words) + banks - 1) / banks,
                                       std::vector<word>(banks));
  const auto hold = [&](int number, content what) {
    const auto n = static_cast<std::size_t>(number);
    lines[n / banks][n % banks].holds = what;
  };
  for (int number = 0; number < words; ++number) { hold(number, content::padding); }
  for (int row = 0; row < of.tile.rows; ++row) {
    for (int col = 0; col < of.tile.cols; ++col) {
      const int at = of.tile(row, col) * of.tile.element_bytes;
      for (int byte = at; byte < at + of.tile.element_bytes; ++byte) {
        hold(byte / of.banks.bank_width, content::element);
      }
    }
  }
  return lines;
}

void mark_conflicts(std::vector<std::vector<word>>& lines) {
  for (std::size_t bank = 0; bank < lines.front().size(); ++bank) {
    const auto wanted = std::count_if(lines.begin(), lines.end(),
                                      [&](const auto& line) { return !line[bank].lanes.empty(); });
    for (auto& line : lines) { line[bank].conflicts = wanted > 1 && !line[bank].lanes.empty(); }
  }
}

/// "8 1/4", "0", "1/2"
std::string fraction(int numerator, int denominator) {
  const int whole = numerator / denominator;
  const int rest = numerator % denominator;
  const int divisor = std::gcd(rest, denominator);
  std::ostringstream text;
  if (whole > 0 || rest == 0) { text << whole; }
  if (rest > 0) {
    text << (whole > 0 ? " " : "") << rest / divisor << "/" << denominator / divisor;
  }
  return text.str();
}

}  // namespace

snapshot take(const subject& of) {
  const tt::walk_steps steps(of.walk, of.tile.element_bytes, of.tile.rows, of.tile.cols);
  const phase worst = worst_phase(of, steps);
  const int lanes = tt::phase_lanes(steps.access_bytes, of.banks);
  const int first_step = worst.request * of.banks.request_lanes + worst.first_lane;
  const int last_step = std::min(first_step + lanes, steps.count) - 1;
  snapshot seen{of,
                blank_lines(of),
                worst.ways,
                worst.request,
                worst.first_lane,
                last_step - first_step + 1,
                steps(first_step),
                steps(last_step)};
  const request_offsets offsets(of, steps, worst.request, worst.first_lane, lanes);
  for (int lane = worst.first_lane; lane < worst.first_lane + seen.lanes; ++lane) {
    const long long from = offsets(lane);
    const long long to = from + steps.access_bytes - 1;
    for (long long n = from / of.banks.bank_width; n <= to / of.banks.bank_width; ++n) {
      seen.lines[static_cast<std::size_t>(n / of.banks.banks)]
                [static_cast<std::size_t>(n % of.banks.banks)]
                    .lanes.push_back(lane);
    }
  }
  mark_conflicts(seen.lines);
  return seen;
}

std::string verdict_of(const snapshot& seen) {
  return seen.ways <= 1 ? "conflict-free" : std::to_string(seen.ways) + " ways";
}

std::string name_of(const subject& of) {
  std::ostringstream text;
  text << of.tile.element_bytes << "-byte elements, " << of.tile.rows << " x " << of.tile.cols;
  if (of.tile.vector_elements > 0) {
    text << ", swizzled by " << of.tile.vector_elements * of.tile.element_bytes << " bytes";
  } else {
    text << ", padding " << of.tile.padding;
  }
  if (of.banks.banks != 32 || of.banks.bank_width != 4) {
    text << ", " << of.banks.banks << " banks of " << of.banks.bank_width << " bytes";
  }
  return text.str();
}

std::string reason_of(const snapshot& seen) {
  const subject& of = seen.of;
  std::ostringstream text;
  if (!of.walk.by_columns) {
    text << "a row's words follow each other from bank to bank";
  } else if (of.tile.vector_elements > 0) {
    text << "each row permutes its vectors, so that a column wanders over the banks";
  } else {
    const int round = of.banks.banks * of.banks.bank_width;
    const int pitch = of.tile.pitch() * of.tile.element_bytes;
    const int step = pitch % round;
    text << "each row starts " << fraction(step, of.banks.bank_width)
         << (step > 0 && step <= of.banks.bank_width ? " bank" : " banks")
         << " after the one above";
    if (pitch % of.banks.bank_width != 0) { text << ", not a whole number"; }
  }
  return text.str();
}

}  // namespace bank_map
