// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Copies that nobody waits for at once: those of a thread (`cp.async`) and those of the bulk engine. What they move
/// arrives when it is waited for, not before, so that a program that forgets to wait computes something else.
/// Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/core/machine.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The copies of one thread, in groups.
class thread_copies {
 public:
  void start(const async_copy& copy) { copies_.push_back(copy); }
  void commit() { group_ends_.push_back(copies_.size()); }
  /// Makes the copies of all groups but the `pending` youngest.
  void wait(std::size_t pending) {
    if (group_ends_.size() <= pending) { return; }
    const std::size_t groups = group_ends_.size() - pending;
    const std::size_t count = group_ends_[groups - 1];
    for (std::size_t i = 0; i < count; ++i) { make(copies_[i]); }
    copies_.erase(copies_.begin(), copies_.begin() + static_cast<std::ptrdiff_t>(count));
    group_ends_.erase(group_ends_.begin(),
                      group_ends_.begin() + static_cast<std::ptrdiff_t>(groups));
    for (std::size_t& end : group_ends_) { end -= count; }
  }
  void clear() {
    copies_.clear();
    group_ends_.clear();
  }

  static void make(const async_copy& copy) {
    unsigned char bytes[max_access_bytes] = {};
    std::memcpy(bytes + copy.first, static_cast<const unsigned char*>(copy.global) + copy.first,
                copy.end - copy.first);
    std::memcpy(copy.shared, bytes, copy.bytes);
  }

 private:
  std::vector<async_copy> copies_;
  std::vector<std::size_t> group_ends_;
};

/// A box that the bulk engine has been handed.
struct handed_box {
  matrix_box box;
  bool loads = false;
  unsigned thread = 0;      ///< who handed it over
  std::uint64_t phase = 0;  ///< that the load ends in, as `box_table` numbers them
  bool made = false;
};

/// The boxes and barriers of one block. Threads of the operating system may call at the same time.
class box_table {
 public:
  void clear() {
    boxes_.clear();
    made_ = 0;
    barriers_.clear();
  }

  /// Makes the barrier at `address` one of `threads` arrivals a phase. \returns false where there was one
  bool init(const void* address, unsigned threads) {
    const std::lock_guard<std::mutex> lock(mutex_);
    barrier& at = find(address);
    const bool is_new = !at.made;
    at = {at.first_phase + at.phase, 0, threads, 0, 0, true};
    return is_new;
  }

  /// Counts an arrival. \returns true where it ends the phase, whose number `phase` becomes
  bool arrive(const void* address, unsigned expected_bytes, std::uint64_t& phase) {
    const std::lock_guard<std::mutex> lock(mutex_);
    barrier& at = find(address);
    ++at.arrived;
    at.missing_bytes += expected_bytes;
    return ends_phase(at, phase);
  }

  /// Hands a box to the engine, to be counted by a barrier. \returns as arrive
  bool load(const matrix_box& box, const void* address, unsigned thread, std::size_t& index,
            std::uint64_t& phase) {
    const std::lock_guard<std::mutex> lock(mutex_);
    barrier& at = find(address);
    index = boxes_.size();
    boxes_.push_back({box, true, thread, at.first_phase + at.phase, false});
    at.missing_bytes -= static_cast<std::int64_t>(box.rows) * box.row_bytes;
    return ends_phase(at, phase);
  }
  std::size_t store(const matrix_box& box, unsigned thread) {
    const std::lock_guard<std::mutex> lock(mutex_);
    boxes_.push_back({box, false, thread, 0, false});
    return boxes_.size() - 1;
  }

  /// True where the barrier's phase of that parity is over. What it counted is then in shared memory, and `phase` is
  /// its number, if it ever began.
  bool is_over(const void* address, unsigned parity, std::uint64_t& phase) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const barrier& at = find(address);
    if (at.phase % 2 == parity) { return false; }
    phase = at.first_phase + at.phase - 1;
    make_all([&](const handed_box& each) {
      return each.loads && each.phase <= phase && each.phase >= at.first_phase;
    });
    return true;
  }
  /// Bytes that a barrier's phase expects and that nobody copies.
  std::int64_t missing_bytes(const void* address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return find(address).missing_bytes;
  }

  /// Makes the stores that a thread handed over.
  void wait_for_reads(unsigned thread) {
    const std::lock_guard<std::mutex> lock(mutex_);
    make_all([&](const handed_box& each) { return !each.loads && each.thread == thread; });
  }

  /// While no thread runs.
  const handed_box& operator[](std::size_t index) const { return boxes_[index]; }

 private:
  struct barrier {
    std::uint64_t first_phase = 0;  ///< no other barrier has the 2^32 numbers from here on
    std::uint64_t phase = 0;        ///< the one that is not over
    unsigned threads = 1;
    unsigned arrived = 0;
    std::int64_t missing_bytes = 0;
    bool made = false;  ///< by init
  };

  barrier& find(const void* address) {
    const auto found = barriers_.find(address);
    if (found != barriers_.end()) { return found->second; }
    barrier& made = barriers_[address];
    made.first_phase = std::uint64_t{barriers_.size()} << 32;
    return made;
  }

  static bool ends_phase(barrier& at, std::uint64_t& phase) {
    if (at.arrived < at.threads || at.missing_bytes != 0) { return false; }
    phase = at.first_phase + at.phase;
    ++at.phase;
    at.arrived = 0;
    return true;
  }

  template <class Condition>
  void make_all(Condition condition) {
    while (made_ < boxes_.size() && boxes_[made_].made) { ++made_; }
    for (std::size_t i = made_; i < boxes_.size(); ++i) {
      if (boxes_[i].made || !condition(boxes_[i])) { continue; }
      copy_box(boxes_[i].box, boxes_[i].loads);
      boxes_[i].made = true;
    }
  }

  std::mutex mutex_;
  std::vector<handed_box> boxes_;
  std::size_t made_ = 0;  ///< so many of the first have been made
  std::map<const void*, barrier> barriers_;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
