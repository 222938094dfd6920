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
///
/// A store, and the first of the loads, may be one side of a copy that is under way: `by_thread`, a copy of the thread's
/// own, or the number of a box of the bulk engine plus one.
struct byte_history {
  static constexpr std::uint32_t by_thread = ~std::uint32_t{0};

  moment store;
  moment loads[2];
  std::uint32_t store_copy = 0;
  std::uint32_t load_copy = 0;
  std::uint32_t store_fences = 0;  ///< that the storing thread had made then

  /// A store of which no copy is under way.
  void remember_store(const moment& now, std::uint32_t fences) {
    store = now;
    store_copy = 0;
    store_fences = fences;
  }
  void remember_load(const moment& now) {
    // Replaced is what a barrier has put behind, then what tells least beside `now`; never a copy under way.
    const bool kept = load_copy != 0 && loads[0].block == now.block;
    if (!kept) { load_copy = 0; }
    if (!kept && (!loads[0].happened() || loads[0].before(now))) {
      loads[0] = now;
    } else if (!loads[1].happened() || loads[1].before(now)) {
      loads[1] = now;
    } else if (!kept && (loads[0].same_warp(loads[1]) || loads[0].same_warp(now))) {
      loads[0] = now;
    } else if (loads[1].same_warp(now)) {
      loads[1] = now;
    }
  }
  void remember_copy_from(const moment& now, std::uint32_t copy) {
    if (load_copy == 0 && (!loads[1].happened() || loads[1].before(now))) { loads[1] = loads[0]; }
    loads[0] = now;
    load_copy = copy;
  }

  /// Shared memory is another block's from here on.
  void forget_other_blocks(std::uint32_t block) {
    if (store.block != block) {
      store = {};
      store_copy = 0;
    }
    if (loads[0].block != block) {
      loads[0] = {};
      load_copy = 0;
    }
    if (loads[1].block != block) { loads[1] = {}; }
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
