// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Turns what each thread did alone into what its warp did together, prices it and checks it.
/// Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/core/shuffle.cuh>
#include <tiletranspose/emulator/log.cuh>
#include <tiletranspose/emulator/pricing.cuh>
#include <tiletranspose/emulator/report.cuh>
#include <tiletranspose/emulator/requests.cuh>
#include <tiletranspose/emulator/shadow.cuh>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Everything that a launch is asked and found to do.
class recorder {
 public:
  recorder(int bank_width, bool counts, bool checks)
      : model_(bank_width == 8 ? banks_32x8 : banks_32x4), counts_(counts), checks_(checks) {}

  void start_block(std::uint64_t block) {
    block_ = static_cast<std::uint32_t>(block);
    ++epoch_;
  }

  /// Takes in what the threads of one warp did since the last barrier of the block.
  /// \param logs         of `lanes` threads
  /// \param warp_epochs  how often each had met its warp then
  void add_warp(access_log* const* logs, const std::uint32_t* warp_epochs, unsigned first_thread,
                int lanes) {
    table_.clear();
    // From one meeting of the warp to the next, so that what a lane reads has been written.
    std::size_t next[warp_lanes] = {};
    for (std::uint32_t meeting = 0, left = 1; left > 0; ++meeting) {
      left = 0;
      for (int lane = 0; lane < lanes; ++lane) {
        const access_log& log = *logs[lane];
        std::size_t& at = next[lane];
        for (; at < log.size() && log[at].bytes != 0; ++at) {
          add_access(log[at], warp_epochs[lane] + meeting, first_thread, lane);
        }
        if (at < log.size()) {
          ++at;
          ++left;
        }
      }
    }
    for (int lane = 0; lane < lanes; ++lane) { logs[lane]->clear(); }
    table_.for_each([&](const warp_request& request, std::uint32_t site) {
      price(request, model_, accesses_[site]);
    });
  }

  /// Every thread of the block has met, or a part of it that cannot go on otherwise.
  void end_epoch() { ++epoch_; }

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

  fault_place place(const call_place& place, unsigned thread) const {
    return {user_site(place), library_site(place), block_, thread};
  }

  void add_fault(fault_kind kind, const fault_place& first, const fault_place& second,
                 const std::string& what) {
    auto& index = known_faults_[{kind, places_of(first), places_of(second)}];
    if (index == 0) {
      faults_.push_back({kind, what, first, second, 0});
      index = faults_.size();
    }
    ++faults_[index - 1].count;
  }

  void finish(emulation_report& report) {
    report.accesses.clear();
    for (const access_report& access : accesses_) {
      if (access.requests > 0) { report.accesses.push_back(access); }
    }
    report.barriers = barriers_;
    report.faults = faults_;
  }

  static std::string describe(const fault_place& place) {
    return "thread " + std::to_string(place.thread) + " of block " + std::to_string(place.block);
  }

 private:
  void add_access(const access_record& record, std::uint32_t meeting, unsigned first_thread,
                  int lane) {
    const std::uint32_t site = site_of(record);
    if (counts_) { table_.add(record, meeting, lane, site); }
    if (checks_) {
      check(record, {block_, epoch_, meeting,
                     static_cast<std::uint16_t>(first_thread + static_cast<unsigned>(lane)),
                     static_cast<std::uint16_t>(site)});
    }
  }

  std::uint32_t site_of(const access_record& record) {
    // Few places make most accesses: each finds itself where it was last.
    const access_site site = record.place.site;
    const access_site caller = record.place.caller;
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
    // The same file may go by several pointers, one in every translation unit.
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
  static bool is_site(const access_record& known, const access_record& record) {
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

  void check(const access_record& record, const moment& now) {
    const bool shared =
        record.kind == access_kind::load_shared || record.kind == access_kind::store_shared;
    const bool writes =
        record.kind == access_kind::store_shared || record.kind == access_kind::store_global;
    const moment* other = nullptr;
    moment conflict;
    // Words are read for a part of their bytes where elements are smaller or start anywhere, so that only
    // an access of which no byte has been written is wrong for certain.
    bool unwritten = shared && !writes;
    (shared ? shared_ : global_).visit(record.address, record.bytes, [&](byte_history& history) {
      if (shared) {
        history.forget_other_blocks(block_);
        unwritten = unwritten && !history.store.happened();
      }
      if (other == nullptr) {
        other = history.conflict(now, writes);
        if (other != nullptr) { conflict = *other; }
      }
      history.remember(now, writes);
    });
    if (other != nullptr) { report_race(conflict, now); }
    if (unwritten) {
      const fault_place place = place_of(now);
      add_fault(fault_kind::unwritten, place, {},
                describe(place) + " loads at " + places_of(place) +
                    " shared memory that no thread of its block has written");
    }
  }

  fault_place place_of(const moment& then) const {
    const access_report& access = accesses_[then.site];
    return {access.site, access.inside, then.block, then.thread};
  }

  void report_race(const moment& then, const moment& now) {
    const fault_place first = place_of(then);
    const fault_place second = place_of(now);
    const auto verb = [&](const moment& at) {
      return accesses_[at.site].is_store() ? " stores at " : " loads at ";
    };
    add_fault(fault_kind::race, first, second,
              describe(first) + verb(then) + places_of(first) + " and " + describe(second) +
                  verb(now) + places_of(second) +
                  (accesses_[now.site].is_shared() ? " to the same shared memory"
                                                   : " to the same global memory") +
                  " without a barrier between");
  }

  bank_model model_;
  bool counts_;
  bool checks_;
  std::uint32_t block_ = 0;
  std::uint32_t epoch_ = 0;

  request_table table_;
  shadow_memory shared_;
  shadow_memory global_;

  std::vector<access_report> accesses_;
  std::vector<access_record> sites_;  ///< one record of each of them
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
