// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the cases of small and middle problems come to, in plain C++: a table of each family and
// call, the slowest cases, and those in which somebody else is ahead.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iomanip>
#include <limits>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Whoever is timed in a case.
enum class entrant : std::size_t { reference, ours, textbook, written, geam, count };
inline constexpr std::array<const char*, 5> entrant_names{
    "cudaMemcpyAsync", "tiletranspose", "textbook", "transpose<T, 32, 8>", "cuBLAS geam"};

struct small_result {
  std::string family, call, name;
  std::size_t element;  // bytes, of the input
  std::size_t copied;   // bytes that the reference copies
  std::array<double, static_cast<std::size_t>(entrant::count)> seconds{};  // 0: did not take part

  double of(entrant who) const { return seconds[static_cast<std::size_t>(who)]; }
  double times_memcpy() const { return of(entrant::ours) / of(entrant::reference); }
  /// The most that a call up to 1 MB may take, in multiples of cudaMemcpyAsync's time.
  double limit() const { return element == 1 || element == 3 ? 1.6 : 1.35; }
  bool above_limit() const { return times_memcpy() > limit(); }
  /// How many times faster `who` is than `than`; 0 where one of them did not take part.
  double lead(entrant who, entrant than = entrant::ours) const {
    return of(who) > 0 ? of(than) / of(who) : 0;
  }
};

inline constexpr double least_lead = 1.03;

/// A share of them all of which none is larger, by the nearest rank: of 20 values the 19th for 0.95.
inline double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

inline double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) { sum += std::log(value); }
  return std::exp(sum / static_cast<double>(values.size()));
}

/// "3 of 28": cases in which `who` is more than 3 % ahead of `than`, of those where both took part.
inline std::string count_ahead(const std::vector<const small_result*>& cases, entrant who,
                               entrant than = entrant::ours) {
  std::size_t ahead = 0, together = 0;
  for (const small_result* r : cases) {
    together += r->lead(who, than) > 0;
    ahead += r->lead(who, than) > least_lead;
  }
  return together == 0 ? "-" : std::to_string(ahead) + " of " + std::to_string(together);
}

inline std::string decimal(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

/// A row for each group of cases that `key` names, in the order of the first of each, and one for
/// all of them.
template <class Key>
void write_groups(std::ostream& to, const std::vector<small_result>& results,
                  const std::string& family, const char* head, Key key) {
  std::vector<std::pair<std::string, std::vector<const small_result*>>> groups;
  std::vector<const small_result*> all;
  for (const small_result& r : results) {
    if (r.family != family) { continue; }
    const std::string name = key(r);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& known) { return known.first == name; });
    if (group == groups.end()) { group = groups.insert(groups.end(), {name, {}}); }
    group->second.push_back(&r);
    all.push_back(&r);
  }
  if (all.empty()) { return; }
  groups.push_back({"all", all});
  to << "\n| " << family << ": " << head
     << " | cases | geometric mean | 95th percentile | worst | above the limit | textbook ahead "
        "| explicit ahead | cuBLAS ahead | textbook ahead of explicit |\n"
        "|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [name, cases] : groups) {
    std::vector<double> ratios;
    std::size_t above = 0;
    for (const small_result* r : cases) {
      ratios.push_back(r->times_memcpy());
      above += r->above_limit();
    }
    to << "| " << name << " | " << cases.size() << " | " << decimal(geometric_mean(ratios), 3)
       << " | " << decimal(percentile(ratios, 0.95), 2) << " | "
       << decimal(percentile(ratios, 1), 2) << " | "
       << (family == "small" ? std::to_string(above) : "-") << " | "
       << count_ahead(cases, entrant::textbook) << " | " << count_ahead(cases, entrant::written)
       << " | " << count_ahead(cases, entrant::geam) << " | "
       << count_ahead(cases, entrant::textbook, entrant::written) << " |\n";
  }
}

/// The `most` cases with the highest score above `least`.
template <class Score>
void write_worst(std::ostream& to, const std::vector<small_result>& results, const char* head,
                 std::size_t most, double least, Score score) {
  std::vector<std::pair<double, const small_result*>> order;
  for (const small_result& r : results) {
    if (score(r) > least) { order.emplace_back(score(r), &r); }
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (order.empty()) {
    to << "\n" << head << ": no case\n";
    return;
  }
  to << "\n| " << head << " (" << std::min(most, order.size()) << " of " << order.size()
     << ") | MB | ratio";
  for (const char* name : entrant_names) { to << " | " << name; }
  to << " |\n|---|---|---|---|---|---|---|---|\n";
  order.resize(std::min(most, order.size()));
  for (const auto& [ratio, r] : order) {
    to << "| " << r->name << " | " << decimal(static_cast<double>(r->copied) * 1e-6, 2) << " | "
       << decimal(ratio, 2);
    for (const double seconds : r->seconds) {
      to << " | " << (seconds > 0 ? decimal(seconds * 1e6, 2) : "-");
    }
    to << " |\n";
  }
}

/// Markdown. Ratios are multiples of cudaMemcpyAsync's time; times are microseconds a call.
inline void write_summary(std::ostream& to, const std::vector<small_result>& results,
                          std::size_t most_worst) {
  write_worst(to, results, "above the limit up to 1 MB", most_worst, 0, [](const small_result& r) {
    return r.family == "small" && r.above_limit() ? r.times_memcpy() : 0;
  });
  write_worst(to, results, "somebody is more than 3 % ahead", most_worst, least_lead,
              [](const small_result& r) {
                return std::max(
                    {r.lead(entrant::textbook), r.lead(entrant::written), r.lead(entrant::geam)});
              });
  write_worst(to, results, "the textbook kernel is more than 3 % ahead of the explicit form",
              most_worst, least_lead,
              [](const small_result& r) { return r.lead(entrant::textbook, entrant::written); });
  for (const char* family : {"small", "middle"}) {
    write_groups(to, results, family, "bytes of an element",
                 [](const small_result& r) { return std::to_string(r.element); });
  }
  for (const char* family : {"small", "middle"}) {
    write_groups(to, results, family, "call", [](const small_result& r) { return r.call; });
  }
}

}  // namespace bench
