// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What a launch is found to do: its places in the source, what was counted there, barriers and faults. Plain C++17,
/// host only.

#pragma once

#include <tiletranspose/emulator/log.cuh>
#include <tiletranspose/emulator/report.cuh>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What each of the emulator's parts adds to a report.
class findings {
 public:
  /// The number of a record's place, kind and width.
  std::uint32_t site_of(const log_record& record) {
    const access_site site = record.place.site;
    const access_site caller = record.place.caller;
    // Few places make most accesses: each finds itself where it was last.
    std::uint32_t& recent =
        recent_sites_[mix_bits(reinterpret_cast<std::uintptr_t>(site.file) +
                               static_cast<unsigned>(site.line * 64 + caller.line * 4096 +
                                                     record.bytes * 4) +
                               static_cast<unsigned>(record.kind)) %
                      recent_count];
    if (recent < sites_.size() && is_site(sites_[recent], record)) { return recent; }
    const auto key = std::make_tuple(site.file, site.line, caller.file, caller.line, record.kind,
                                     static_cast<int>(record.bytes));
    const auto found = site_index_.find(key);
    if (found != site_index_.end()) { return recent = found->second; }
    // The same file may go by several pointers, one in every object file.
    std::uint32_t index = 0;
    while (index < sites_.size() &&
           !(same_place(sites_[index].place, record.place) && sites_[index].kind == record.kind &&
             sites_[index].bytes == record.bytes)) {
      ++index;
    }
    if (index == sites_.size()) {
      access_report access;
      access.site = user_site(record.place);
      access.inside = library_site(record.place);
      access.kind = record.kind;
      access.bytes = record.bytes;
      accesses_.push_back(access);
      sites_.push_back(record);
    }
    site_index_[key] = index;
    return recent = index;
  }
  access_report& access(std::uint32_t site) { return accesses_[site]; }

  void add_barrier(const call_place& place, bool of_warp) {
    const std::string site = user_site(place);
    const std::string inside = library_site(place);
    for (barrier_report& barrier : barriers_) {
      if (barrier.site == site && barrier.inside == inside && barrier.of_warp == of_warp) {
        ++barrier.passed;
        return;
      }
    }
    barriers_.push_back({site, inside, of_warp, 1});
  }

  fault_place place(const call_place& place, std::uint64_t block, unsigned thread) const {
    return {user_site(place), library_site(place), block, thread};
  }
  fault_place place(std::uint32_t site, std::uint64_t block, unsigned thread) const {
    return {accesses_[site].site, accesses_[site].inside, block, thread};
  }

  void add_fault(fault_kind kind, const fault_place& first, const fault_place& second,
                 const std::string& what) {
    std::string one = places_of(first);
    std::string other = places_of(second);
    if (kind == fault_kind::race && other < one) { one.swap(other); }  // either may come first
    auto& index = known_faults_[{kind, one, other}];
    if (index == 0) {
      faults_.push_back({kind, what, first, second, 0});
      index = faults_.size();
    }
    ++faults_[index - 1].count;
  }

  static std::string describe(const fault_place& place) {
    return "thread " + std::to_string(place.thread) + " of block " + std::to_string(place.block);
  }

  void write(emulation_report& report) const {
    report.accesses.clear();
    for (const access_report& access : accesses_) {
      if (access.requests > 0) { report.accesses.push_back(access); }
    }
    report.barriers = barriers_;
    report.faults = faults_;
  }

 private:
  static bool is_site(const log_record& known, const log_record& record) {
    return known.place.site.file == record.place.site.file &&
           known.place.site.line == record.place.site.line &&
           known.place.caller.file == record.place.caller.file &&
           known.place.caller.line == record.place.caller.line && known.kind == record.kind &&
           known.bytes == record.bytes;
  }
  static std::string user_site(const call_place& place) {
    return name_of(place.is_library() ? place.caller : place.site);
  }
  static std::string library_site(const call_place& place) {
    return place.is_library() ? name_of(place.site) : std::string();
  }

  std::vector<access_report> accesses_;
  std::vector<log_record> sites_;  ///< one record of each of them
  static constexpr std::size_t recent_count = 256;
  std::uint32_t recent_sites_[recent_count] = {};
  std::map<std::tuple<const char*, int, const char*, int, access_kind, int>, std::uint32_t>
      site_index_;
  std::vector<barrier_report> barriers_;
  std::vector<emulation_fault> faults_;
  std::map<std::tuple<fault_kind, std::string, std::string>, std::size_t> known_faults_;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
