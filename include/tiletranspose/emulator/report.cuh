// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What an emulated launch did and what it would cost: the result of `tt::emulate`. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/core/machine.cuh>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

TILETRANSPOSE_NAMESPACE_BEGIN

/// What the warps of a launch asked of memory at one place in the source with one width.
struct access_report {
  std::string site;  ///< file:line, of the outermost call of the library's where it made the access
  std::string inside;  ///< then the library's own line, else empty
  detail::access_kind kind = detail::access_kind::load_global;
  int bytes = 0;  ///< of one lane's access

  std::uint64_t requests = 0;     ///< of warps with at least one lane taking part
  std::uint64_t total_bytes = 0;  ///< moved, counting every lane

  // Shared memory. A request is served in phases: one where lanes access up to 4 bytes each, two for 8, four for 16.
  int worst_ways =
      0;  ///< cycles of the busiest bank in the worst phase, as `conflict_ways` counts them
  std::uint64_t sum_ways = 0;   ///< of each request's worst phase
  std::uint64_t cycles = 0;     ///< of all phases
  std::uint64_t conflicts = 0;  ///< of these, what a GPU's counter puts down to bank conflicts

  // Global memory: sectors of 32 bytes.
  std::uint64_t sectors = 0;        ///< touched, each counted once per request
  std::uint64_t least_sectors = 0;  ///< that would hold the bytes which requests touch

  bool is_shared() const {
    return kind == detail::access_kind::load_shared || kind == detail::access_kind::store_shared;
  }
  bool is_store() const {
    return kind == detail::access_kind::store_global || kind == detail::access_kind::store_shared;
  }
  double mean_ways() const { return ratio(sum_ways); }
  double sectors_per_request() const { return ratio(sectors); }
  double least_sectors_per_request() const { return ratio(least_sectors); }

  /// Adds what another access does; ways are the worst of both.
  access_report& operator+=(const access_report& other) {
    requests += other.requests;
    total_bytes += other.total_bytes;
    worst_ways = worst_ways < other.worst_ways ? other.worst_ways : worst_ways;
    sum_ways += other.sum_ways;
    cycles += other.cycles;
    conflicts += other.conflicts;
    sectors += other.sectors;
    least_sectors += other.least_sectors;
    return *this;
  }

 private:
  double ratio(std::uint64_t sum) const {
    return requests == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(requests);
  }
};

/// A place where threads wait for each other.
struct barrier_report {
  std::string site;
  std::string inside;        ///< as an access' places
  bool of_warp = false;      ///< the warp's threads, else the block's
  std::uint64_t passed = 0;  ///< once per meeting
};

enum class fault_kind {
  outside_tile,    ///< an element that its tile does not have
  outside_shared,  ///< an address beyond the block's shared memory
  outside_global,  ///< an address in no known buffer, or a store to a constant one
  misaligned,      ///< an address that is no multiple of the access
  unwritten,       ///< a load of shared memory of which no thread of the block has written a byte
  race,            ///< two threads, one of them storing, without a barrier between
  missed_barrier,  ///< a barrier that not all threads reach, or a wait for what no bulk copy brings
  outside_matrix,  ///< an element that its matrix does not have
  outside_array,   ///< an element that an array of shared memory does not have
  under_way,       ///< an access to what an asynchronous copy moves, before it was waited for
  unfenced,        ///< a store that the bulk engine may not see
  group_size,      ///< a group whose threads the launch does not have
  stage_order  ///< of a tile_pipeline: a stage that nobody committed, one too many, or barriers made twice
};

/// A thread and where it was.
struct fault_place {
  std::string site;
  std::string inside;  ///< as an access' places
  std::uint64_t block = 0;
  unsigned thread = 0;
};

/// Something that device code must not do. Faults alike in kind and places are counted, not repeated.
struct emulation_fault {
  fault_kind kind = fault_kind::race;
  std::string what;  ///< a sentence that names places and threads
  fault_place first;
  fault_place
      second;  ///< the other thread of a race or a barrier; site is empty where there is none
  std::uint64_t count = 0;
};

namespace detail {

inline const char* name_of(access_kind kind) {
  switch (kind) {
    case access_kind::load_global:
      return "load global";
    case access_kind::store_global:
      return "store global";
    case access_kind::load_shared:
      return "load shared";
    default:
      return "store shared";
  }
}

inline const char* name_of(fault_kind kind) {
  switch (kind) {
    case fault_kind::outside_tile:
      return "outside_tile";
    case fault_kind::outside_shared:
      return "outside_shared";
    case fault_kind::outside_global:
      return "outside_global";
    case fault_kind::misaligned:
      return "misaligned";
    case fault_kind::unwritten:
      return "unwritten";
    case fault_kind::race:
      return "race";
    case fault_kind::missed_barrier:
      return "missed_barrier";
    case fault_kind::outside_matrix:
      return "outside_matrix";
    case fault_kind::outside_array:
      return "outside_array";
    case fault_kind::under_way:
      return "under_way";
    case fault_kind::unfenced:
      return "unfenced";
    case fault_kind::group_size:
      return "group_size";
    default:
      return "stage_order";
  }
}

/// file:line without the folders.
inline std::string name_of(access_site site) {
  const std::string file = site.file;
  const std::size_t slash = file.find_last_of("/\\");
  return (slash == std::string::npos ? file : file.substr(slash + 1)) + ":" +
         std::to_string(site.line);
}

/// A place of the caller's, and the library's behind it where there is one: file:line (file:line).
template <class Place>
std::string places_of(const Place& place) {
  return place.inside.empty() ? place.site : place.site + " (" + place.inside + ")";
}

template <class... Values>
std::string formatted(const char* format, Values... values) {
  const int length = std::snprintf(nullptr, 0, format, values...);
  std::string text(static_cast<std::size_t>(length) + 1, ' ');  // snprintf ends it with a zero
  std::snprintf(&text[0], text.size(), format, values...);
  text.pop_back();
  return text;
}

inline std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') { result += '\\'; }
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + '"';
}

}  // namespace detail

/// The result of `tt::emulate`.
struct emulation_report {
  std::uint64_t blocks = 0;
  unsigned threads = 0;  ///< of a block
  int bank_width = 4;
  std::vector<access_report> accesses;  ///< in the order in which they were first made
  std::vector<barrier_report> barriers;
  std::vector<emulation_fault> faults;

  /// True where nothing was found that device code must not do.
  bool clean() const { return faults.empty(); }

  /// All accesses of one kind together; `bytes` picks those of one width, 0 takes all.
  access_report total(detail::access_kind kind, int bytes = 0) const {
    access_report sum;
    sum.site = "total";
    sum.kind = kind;
    sum.bytes = bytes;
    for (const access_report& access : accesses) {
      if (access.kind == kind && (bytes == 0 || access.bytes == bytes)) { sum += access; }
    }
    return sum;
  }
  access_report shared_loads() const { return total(detail::access_kind::load_shared); }
  access_report shared_stores() const { return total(detail::access_kind::store_shared); }
  access_report global_loads() const { return total(detail::access_kind::load_global); }
  access_report global_stores() const { return total(detail::access_kind::store_global); }

  /// Conflict ways of the worst request to shared memory; 1 is conflict-free, 0 is none made.
  int worst_ways() const {
    const int loads = shared_loads().worst_ways;
    const int stores = shared_stores().worst_ways;
    return loads < stores ? stores : loads;
  }

  /// A table to read.
  std::string table() const {
    using detail::formatted;
    std::size_t width = 4;
    for (const access_report& access : accesses) {
      const std::size_t length = detail::places_of(access).size();
      width = length > width ? length : width;
    }
    const int column = static_cast<int>(width);
    std::string text =
        formatted("%-*s  %-12s %5s %10s  %5s %7s  %15s %6s  %12s\n", column, "site", "access",
                  "bytes", "requests", "ways", "mean", "sectors/request", "least", "moved");
    for (const access_report& access : accesses) {
      text += formatted("%-*s  %-12s %5d %10llu  ", column, detail::places_of(access).c_str(),
                        detail::name_of(access.kind), access.bytes, number(access.requests));
      text += access.is_shared()
                  ? formatted("%5d %7.2f  %15s %6s", access.worst_ways, access.mean_ways(), "", "")
                  : formatted("%5s %7s  %15.2f %6.2f", "", "", access.sectors_per_request(),
                              access.least_sectors_per_request());
      text += formatted("  %12llu\n", number(access.total_bytes));
    }
    for (const barrier_report& barrier : barriers) {
      text += formatted("%-*s  %s %llu times\n", column, detail::places_of(barrier).c_str(),
                        barrier.of_warp ? "barrier of a warp, passed" : "barrier, passed",
                        number(barrier.passed));
    }
    for (const emulation_fault& fault : faults) {
      text += "FAULT " + fault.what;
      text += fault.count > 1 ? formatted(" (and %llu more like it)\n", number(fault.count - 1))
                              : std::string("\n");
    }
    return text;
  }

  /// The same for programs.
  std::string json() const {
    using detail::formatted;
    using detail::quoted;
    std::string text = formatted("{\"blocks\": %llu, \"threads\": %u, \"bank_width\": %d,\n",
                                 number(blocks), threads, bank_width);
    text += " \"accesses\": [";
    const char* between = "\n";
    for (const access_report& access : accesses) {
      text += between +
              formatted("  {\"site\": %s, \"inside\": %s, \"access\": \"%s\", \"bytes\": %d, ",
                        quoted(access.site).c_str(), quoted(access.inside).c_str(),
                        detail::name_of(access.kind), access.bytes);
      text += formatted("\"requests\": %llu, \"moved\": %llu, ", number(access.requests),
                        number(access.total_bytes));
      text += access.is_shared() ? formatted(
                                       "\"worst_ways\": %d, \"mean_ways\": %.4f, \"cycles\": %llu, "
                                       "\"conflicts\": %llu}",
                                       access.worst_ways, access.mean_ways(), number(access.cycles),
                                       number(access.conflicts))
                                 : formatted("\"sectors\": %llu, \"least_sectors\": %llu}",
                                             number(access.sectors), number(access.least_sectors));
      between = ",\n";
    }
    text += "],\n \"barriers\": [";
    between = "\n";
    for (const barrier_report& barrier : barriers) {
      text +=
          between + formatted("  {\"site\": %s, \"inside\": %s, \"of\": \"%s\", \"passed\": %llu}",
                              quoted(barrier.site).c_str(), quoted(barrier.inside).c_str(),
                              barrier.of_warp ? "warp" : "block", number(barrier.passed));
      between = ",\n";
    }
    text += "],\n \"faults\": [";
    between = "\n";
    for (const emulation_fault& fault : faults) {
      text += between + ("  {\"kind\": " + quoted(detail::name_of(fault.kind)));
      text += ", \"what\": " + quoted(fault.what);
      text += ", \"first\": " + json(fault.first);
      if (!fault.second.site.empty()) { text += ", \"second\": " + json(fault.second); }
      text += formatted(", \"count\": %llu}", number(fault.count));
      between = ",\n";
    }
    return text + "]}\n";
  }

 private:
  static unsigned long long number(std::uint64_t value) { return value; }
  static std::string json(const fault_place& place) {
    return detail::formatted("{\"site\": %s, \"inside\": %s, \"block\": %llu, \"thread\": %u}",
                             detail::quoted(place.site).c_str(),
                             detail::quoted(place.inside).c_str(), number(place.block),
                             place.thread);
  }
};

TILETRANSPOSE_NAMESPACE_END
