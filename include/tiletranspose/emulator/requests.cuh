// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Puts together what the lanes of a warp did as requests of the warp.
///
/// A GPU issues an access once for all lanes that are at it. On the CPU every lane runs by itself and
/// leaves a log. Two accesses of different lanes belong to one request where these agree:
///
///     the place in the source, the place of the library's call, the kind and the width
///     the steps of the loops that the lane was in, as `tt::loop_step` names them
///     how often the lane has met its warp or its block
///     how many accesses alike in all of the above the lane has made before
///
/// The last of them, counting, is what makes loops without named steps right as long as a lane that leaves
/// out one access of a loop leaves out all later ones too. Whatever rule is taken, the bytes moved, the
/// faults and the results do not depend on it. Plain C++17, host only.

#pragma once

#include <tiletranspose/emulator/log.cuh>
#include <tiletranspose/emulator/pricing.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The requests of one warp between two barriers, put together lane by lane.
class request_table {
 public:
  void clear() {
    requests_.clear();
    entries_.clear();
    if (slots_.empty()) { slots_.resize(256); }
    for (std::uint32_t& slot : slots_) { slot = 0; }
  }

  void add(const log_record& record, std::uint32_t meeting, int lane) {
    entry& at = find(record, meeting);
    if (at.lane != lane) {
      at.lane = lane;
      at.next = at.first;
    } else {
      at.next = at.next == none ? none : requests_[at.next].following;
    }
    if (at.next == none) {
      const auto made = static_cast<std::uint32_t>(requests_.size());
      requests_.push_back({{}, record.site, none});
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
    request.addresses[lane] = record.number;
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

  entry& find(const log_record& record, std::uint32_t meeting) {
    const std::uint64_t key =
        mix_bits(mix_bits(std::uint64_t{record.site} << 32 | record.steps) + meeting);
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

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
