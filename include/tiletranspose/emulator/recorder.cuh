// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Turns what each thread did alone into what its warp did together, prices it and checks it.
///
/// A GPU issues an access once for all lanes that are at it. On the CPU every lane runs by itself and
/// leaves a log. Two accesses of different lanes belong to one request where these agree:
///
///     the place in the source, the kind and the width
///     the steps of the loops that the lane was in, as `tt::loop_step` names them
///     how often the lane has met its warp or its block
///     how many accesses alike in all of the above the lane has made before
///
/// The last of them, counting, is what makes loops without named steps right as long as a lane that leaves
/// out one access of a loop leaves out all later ones too. Whatever rule is taken, the bytes moved, the
/// faults and the results do not depend on it. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/core/shuffle.cuh>
#include <tiletranspose/emulator/pricing.cuh>
#include <tiletranspose/emulator/report.cuh>
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

/// One access of one thread; `bytes` == 0 stands for a meeting of the warp.
struct access_record {
  std::uintptr_t address;
  const char* file;
  int line;
  std::uint32_t steps;  ///< a hash of the loop steps that the thread was in
  std::uint8_t bytes;
  access_kind kind;
};

using access_log = std::vector<access_record>;

inline std::uint64_t mix_bits(std::uint64_t value) {
  value ^= value >> 31;
  value *= 0x9e3779b97f4a7c15u;
  value ^= value >> 29;
  return value;
}

/// The requests of one warp between two barriers, put together lane by lane.
class request_table {
 public:
  void clear() {
    requests_.clear();
    entries_.clear();
    if (slots_.empty()) { slots_.resize(256); }
    for (std::uint32_t& slot : slots_) { slot = 0; }
  }

  void add(const access_record& record, std::uint32_t meeting, int lane, std::uint32_t site) {
    entry& at = find(record, meeting, site);
    if (at.lane != lane) {
      at.lane = lane;
      at.next = at.first;
    } else {
      at.next = at.next == none ? none : requests_[at.next].following;
    }
    if (at.next == none) {
      const auto made = static_cast<std::uint32_t>(requests_.size());
      requests_.push_back({{}, site, none});
      requests_.back().request.bytes = record.bytes;
      if (at.last != none) {
        requests_[at.last].following = made;
      } else {
        at.first = made;
      }
      at.last = at.next = made;
    }
    warp_request& request = requests_[at.next].request;
    request.lanes |= std::uint32_t{1} << lane;
    request.addresses[lane] = record.address;
  }

  /// Calls visit(request, site) for all of them.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const listed_request& listed : requests_) { visit(listed.request, listed.site); }
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct listed_request {
    warp_request request;
    std::uint32_t site;
    std::uint32_t following;  ///< the next of the same entry
  };
  struct entry {
    std::uint64_t key;
    int lane;  ///< the lane that is being added
    std::uint32_t first, last, next;
  };

  entry& find(const access_record& record, std::uint32_t meeting, std::uint32_t site) {
    const std::uint64_t key =
        mix_bits(mix_bits(std::uint64_t{site} << 32 | record.steps) + meeting);
    std::size_t slot = key % slots_.size();
    while (slots_[slot] != 0 && entries_[slots_[slot] - 1].key != key) {
      slot = (slot + 1) % slots_.size();
    }
    if (slots_[slot] == 0) {
      entries_.push_back({key, -1, none, none, none});
      slots_[slot] = static_cast<std::uint32_t>(entries_.size());
      if (2 * entries_.size() > slots_.size()) { grow(); }
      return entries_.back();
    }
    return entries_[slots_[slot] - 1];
  }

  void grow() {
    slots_.assign(2 * slots_.size(), 0);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      std::size_t slot = entries_[i].key % slots_.size();
      while (slots_[slot] != 0) { slot = (slot + 1) % slots_.size(); }
      slots_[slot] = static_cast<std::uint32_t>(i + 1);
    }
  }

  std::vector<listed_request> requests_;
  std::vector<entry> entries_;
  std::vector<std::uint32_t> slots_;  ///< index of an entry plus one, found by its key
};

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

  void add_barrier(access_site site, bool of_warp) {
    const std::string name = name_of(site);
    for (barrier_report& barrier : barriers_) {
      if (barrier.site == name && barrier.of_warp == of_warp) {
        ++barrier.passed;
        return;
      }
    }
    barriers_.push_back({name, of_warp, 1});
  }

  fault_place place(access_site site, unsigned thread) const {
    return {name_of(site), block_, thread};
  }

  void add_fault(fault_kind kind, const fault_place& first, const fault_place& second,
                 const std::string& what) {
    auto& index = known_faults_[{kind, first.site, second.site}];
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
    std::uint32_t& recent =
        recent_sites_[mix_bits(reinterpret_cast<std::uintptr_t>(record.file) +
                               static_cast<unsigned>(record.line * 64 + record.bytes * 4) +
                               static_cast<unsigned>(record.kind)) %
                      recent_count];
    if (recent < sites_.size() && is_site(sites_[recent], record)) { return recent; }
    const auto found = site_index_.find(
        std::make_tuple(record.file, record.line, record.kind, static_cast<int>(record.bytes)));
    if (found != site_index_.end()) { return recent = found->second; }
    // The same file may go by several pointers, one in every translation unit.
    const access_site site{record.file, record.line};
    const std::string name = name_of(site);
    std::uint32_t index = 0;
    while (index < accesses_.size() &&
           !(accesses_[index].site == name && accesses_[index].kind == record.kind &&
             accesses_[index].bytes == record.bytes)) {
      ++index;
    }
    if (index == accesses_.size()) {
      access_report access;
      access.site = name;
      access.kind = record.kind;
      access.bytes = record.bytes;
      accesses_.push_back(access);
      sites_.push_back(record);
    }
    site_index_[std::make_tuple(record.file, record.line, record.kind,
                                static_cast<int>(record.bytes))] = index;
    return recent = index;
  }
  static bool is_site(const access_record& known, const access_record& record) {
    return known.file == record.file && known.line == record.line && known.kind == record.kind &&
           known.bytes == record.bytes;
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
                describe(place) + " loads at " + place.site +
                    " shared memory that no thread of its block has written");
    }
  }

  fault_place place_of(const moment& then) const {
    return {accesses_[then.site].site, then.block, then.thread};
  }

  void report_race(const moment& then, const moment& now) {
    const fault_place first = place_of(then);
    const fault_place second = place_of(now);
    const auto verb = [&](const moment& at) {
      return accesses_[at.site].is_store() ? " stores at " : " loads at ";
    };
    add_fault(fault_kind::race, first, second,
              describe(first) + verb(then) + first.site + " and " + describe(second) + verb(now) +
                  second.site +
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
  std::map<std::tuple<const char*, int, access_kind, int>, std::uint32_t> site_index_;
  std::vector<barrier_report> barriers_;
  std::vector<emulation_fault> faults_;
  std::map<std::tuple<fault_kind, std::string, std::string>, std::size_t> known_faults_;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
