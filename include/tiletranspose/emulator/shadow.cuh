// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Who touched each byte of memory last, and when: what finds races and loads of what nobody wrote.
/// Plain C++17, host only.

#pragma once

#include <tiletranspose/config.cuh>

#include <cstdint>
#include <unordered_map>
#include <vector>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A thread at a point of its run.
struct moment {
  std::uint32_t block = 0;
  std::uint32_t epoch = 0;       ///< grows at every barrier, from block to block too; 0 is never
  std::uint32_t warp_epoch = 0;  ///< grows at every meeting of the thread's warp
  std::uint16_t thread = 0;
  std::uint16_t site = 0;  ///< where; an index that the owner of the shadow gives

  bool happened() const { return epoch != 0; }
  bool same_warp(const moment& other) const {
    return block == other.block && thread / 32 == other.thread / 32;
  }
  /// True where a barrier, or the thread's own order, puts this before `now`.
  bool before(const moment& now) const {
    if (block != now.block) { return false; }
    return thread == now.thread || epoch < now.epoch ||
           (same_warp(now) && warp_epoch < now.warp_epoch);
  }
};

/// What is remembered of some bytes: the last store and two loads, of different warps where there are such.
struct byte_history {
  moment store;
  moment loads[2];

  /// The earlier access that `now` races with, if any.
  const moment* conflict(const moment& now, bool writes) const {
    if (store.happened() && !store.before(now)) { return &store; }
    for (const moment& load : loads) {
      if (writes && load.happened() && !load.before(now)) { return &load; }
    }
    return nullptr;
  }

  void remember(const moment& now, bool writes) {
    if (writes) {
      store = now;
      return;
    }
    // Replaced is what a barrier has put behind, then what tells least beside `now`.
    for (moment& load : loads) {
      if (!load.happened() || load.before(now)) {
        load = now;
        return;
      }
    }
    if (loads[0].same_warp(loads[1]) || loads[0].same_warp(now)) {
      loads[0] = now;
    } else if (loads[1].same_warp(now)) {
      loads[1] = now;
    }
  }

  /// Shared memory is another block's from here on.
  void forget_other_blocks(std::uint32_t block) {
    if (store.block != block) { store = {}; }
    for (moment& load : loads) {
      if (load.block != block) { load = {}; }
    }
  }
};

/// A history for all memory that was touched, found by its address. Words have one history for their four
/// bytes until a part of one is touched.
class shadow_memory {
 public:
  /// Calls visit(history) for everything in [address, address + bytes).
  template <class Visit>
  void visit(std::uintptr_t address, unsigned bytes, Visit visit) {
    const bool words = address % 4 == 0 && bytes % 4 == 0;
    for (std::uintptr_t at = address; at < address + bytes;) {
      shadow_page& page = page_of(at);
      if (page.words && !words) { page.split(); }
      visit(page.histories[at % page_bytes / (page.words ? 4 : 1)]);
      at += page.words ? 4 : 1;
    }
  }

 private:
  static constexpr std::uintptr_t page_bytes = 1024;

  struct shadow_page {
    bool words = true;
    std::vector<byte_history> histories = std::vector<byte_history>(page_bytes / 4);

    void split() {
      std::vector<byte_history> bytes(page_bytes);
      for (std::uintptr_t i = 0; i < page_bytes; ++i) { bytes[i] = histories[i / 4]; }
      histories.swap(bytes);
      words = false;
    }
  };

  shadow_page& page_of(std::uintptr_t address) {
    const std::uintptr_t number = address / page_bytes;
    recent_page& recent = recent_[number % recent_pages];
    if (recent.page == nullptr || recent.number != number) {
      recent = {number, &pages_[number]};  // the map never moves its elements
    }
    return *recent.page;
  }

  static constexpr std::uintptr_t recent_pages = 64;
  struct recent_page {
    std::uintptr_t number = 0;
    shadow_page* page = nullptr;
  };

  std::unordered_map<std::uintptr_t, shadow_page> pages_;
  recent_page recent_[recent_pages];
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
