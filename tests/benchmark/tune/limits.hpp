// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Up to which size problems are little work, from what both movers took for problems of rising sizes; and the header that
// says so to the library. Plain C++.
#pragma once

#include <tiletranspose/detail/choose/tuning_small.cuh>

#include <cmath>
#include <cstddef>
#include <iomanip>
#include <ostream>
#include <string>
#include <vector>

namespace bench {

/// The time of a problem by the mover for little work, and by the one that takes it else. `counted`: what limits are
/// compared with, elements or work.
struct timed_both_ways {
  std::size_t counted;
  double little, large;
};

/// The logarithm of the product of all times where problems up to `limit` are little work.
inline double log_of_times(const std::vector<timed_both_ways>& timed, std::size_t limit) {
  double sum = 0;
  for (const timed_both_ways& t : timed) {
    sum += std::log(t.counted <= limit ? t.little : t.large);
  }
  return sum;
}

/// To two digits.
inline std::size_t rounded(double value) {
  double unit = 1;
  while (value / unit >= 100) { unit *= 10; }
  return static_cast<std::size_t>(std::round(value / unit) * unit);
}

struct found_limit {
  std::size_t limit;
  double gain;  ///< geometric mean, over the problems whose mover it changes
};

/// A gain of less keeps the limit that the library has.
inline constexpr double least_gain = 1.03;

/// The limit by which the problems, which rise in size, take the least time; the library's own where that is as good.
inline found_limit find_limit(const std::vector<timed_both_ways>& timed, std::size_t shipped) {
  if (timed.empty()) { return {shipped, 1}; }
  std::size_t best = timed.front().counted / 2;
  double least = log_of_times(timed, best);
  for (std::size_t i = 0; i < timed.size(); ++i) {
    const auto here = static_cast<double>(timed[i].counted);
    const std::size_t limit =
        i + 1 < timed.size() ? rounded(std::sqrt(here * static_cast<double>(timed[i + 1].counted)))
                             : timed[i].counted;
    const double sum = log_of_times(timed, limit);
    if (sum < least) {
      least = sum;
      best = limit;
    }
  }
  int changed = 0;
  for (const timed_both_ways& t : timed) {
    changed += (t.counted <= best) != (t.counted <= shipped) ? 1 : 0;
  }
  if (changed == 0) { return {shipped, 1}; }
  const double gain = std::exp((log_of_times(timed, shipped) - least) / changed);
  return gain < least_gain ? found_limit{shipped, 1} : found_limit{best, gain};
}

/// A header for TILETRANSPOSE_TUNING_HEADER.
inline void print_header(std::ostream& out, const std::string& where,
                         const std::vector<tt::detail::small_limits>& rows) {
  out << "// Where little work ends on: " << where << ".\n"
      << "// Compile with -DTILETRANSPOSE_TUNING_HEADER='\"this_file.h\"', all files of a program "
         "alike.\n"
      << "#pragma once\n"
      << "#define TILETRANSPOSE_SMALL_TUNING";
  const char* separator = " \\\n  ";
  for (const tt::detail::small_limits& row : rows) {
    out << separator << '{' << row.element_bytes;
    for (const std::size_t value :
         {row.tile, row.whole, row.pitched, row.fused, row.fused_whole, row.gathered,
          row.vectorised, row.shifted, row.shifted_columns, row.rows, row.small_tile,
          row.direct_rows, row.direct_columns, row.square_side, row.whole_square, row.square_tile,
          row.vectors, row.vector_blocks, row.written_bytes}) {
      out << ", " << value;
    }
    out << '}';
    separator = ", \\\n  ";
  }
  out << '\n';
}

}  // namespace bench
