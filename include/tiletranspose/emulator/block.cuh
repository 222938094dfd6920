// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The threads of an emulated block and how they wait for each other. What runs them, fibers or threads of the operating
/// system, is left to `switcher`. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/core/shuffle.cuh>
#include <tiletranspose/emulator/memory_map.cuh>
#include <tiletranspose/emulator/recorder.cuh>
#include <tiletranspose/emulator/thread.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

TILETRANSPOSE_NAMESPACE_BEGIN

/// Three sizes or indices; anything with x, y and z converts, as a single number does.
struct emulated_dim {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;

  constexpr emulated_dim(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  template <class Dim, class = decltype(std::declval<const Dim&>().z)>
  constexpr emulated_dim(const Dim& dim) : x(dim.x), y(dim.y), z(dim.z) {}

  constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  /// The index-th of count() places, x fastest.
  constexpr emulated_dim place(std::uint64_t index) const {
    return {static_cast<unsigned>(index % x), static_cast<unsigned>(index / x % y),
            static_cast<unsigned>(index / x / y)};
  }
};

namespace detail {

/// What `tt::emulate` keeps while it runs.
class emulated_block_run {
 public:
  emulated_block_run(emulated_dim grid, emulated_dim block, std::size_t shared_bytes,
                     std::function<bool(const void*, unsigned)> foreign_shared,
                     const memory_map& memory, box_table& boxes, recorder& records)
      : grid_(grid),
        block_(block),
        memory_(memory),
        boxes_(boxes),
        records_(records),
        foreign_shared_(std::move(foreign_shared)),
        shared_bytes_(shared_bytes),
        shared_(shared_bytes) {
    const auto count = static_cast<unsigned>(block.count());
    threads_.reserve(count);
    for (unsigned rank = 0; rank < count; ++rank) { threads_.emplace_back(*this, rank); }
  }
  emulated_block_run(const emulated_block_run&) = delete;
  emulated_block_run& operator=(const emulated_block_run&) = delete;

  void set_switcher(switcher& with) { switcher_ = &with; }

  void start_block(std::uint64_t index) {
    block_index_ = index;
    // A pattern that is no likely value: what nobody writes shall not look right by chance.
    std::memset(shared(), 0xa5, shared_bytes_);
    boxes_.clear();
    records_.start_block(index, thread_count());
    for (emulated_thread& thread : threads_) {
      thread.state_ = thread_state::ready;
      thread.step_ = 0;
      thread.calls_ = 0;
      thread.caller_ = no_site;
      thread.steps_.clear();
      thread.copies_.clear();
    }
  }
  /// Hands on what the body threw.
  void end_block() {
    records_.end_block();
    if (thrown_) { std::rethrow_exception(thrown_); }
  }
  /// What every thread runs.
  void set_body(std::function<void(emulated_thread&)> body) { body_ = std::move(body); }

  /// What a thread does from its first to its last statement.
  void run_thread(unsigned rank) {
    running = &threads_[rank];
    try {
      body_(threads_[rank]);
    } catch (const thread_end&) {
    } catch (...) {
      const std::lock_guard<std::mutex> lock(fault_mutex_);
      if (!thrown_) { thrown_ = std::current_exception(); }
    }
    running = nullptr;
  }

  unsigned thread_count() const { return static_cast<unsigned>(threads_.size()); }
  bool is_ready(unsigned rank) const { return threads_[rank].state_ == thread_state::ready; }
  void set_running(unsigned rank) { running = &threads_[rank]; }

  void set_state(unsigned rank, thread_state state, access_site site) {
    threads_[rank].state_ = state;
    threads_[rank].waits_at_ = {site, threads_[rank].caller_};
  }

  /// Called when no thread is ready: lets those go on that have met. False when all are finished.
  bool resolve() {
    bool released = release_phases(false);
    for (unsigned first = 0; first < thread_count(); first += warp_lanes) {
      released = release_warp(first, false) || released;
    }
    // Else some may wait in vain, for their warp, then for a phase.
    for (unsigned first = 0; !released && first < thread_count(); first += warp_lanes) {
      released = release_warp(first, true);
    }
    return released || release_phases(true) || release_block();
  }

  bool inside_shared(const void* address, unsigned bytes) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto first = reinterpret_cast<std::uintptr_t>(shared());
    return (at >= first && at - first + bytes <= shared_bytes_) ||
           (foreign_shared_ && foreign_shared_(address, bytes));
  }

  /// "thread 3 of block 0" + verb + its place + ending.
  void add_fault(fault_kind kind, unsigned rank, access_site site, const std::string& verb,
                 const std::string& ending) {
    const std::lock_guard<std::mutex> lock(fault_mutex_);
    findings& found = records_.found();
    const fault_place place =
        found.place(call_place{site, threads_[rank].caller_}, block_index_, rank);
    found.add_fault(kind, place, {}, findings::describe(place) + verb + places_of(place) + ending);
  }

  const memory_map& memory() const { return memory_; }
  box_table& boxes() { return boxes_; }
  emulated_dim grid_dim() const { return grid_; }
  emulated_dim block_dim() const { return block_; }
  std::uint64_t block_rank() const { return block_index_; }
  unsigned char* shared() const { return shared_.data(); }
  std::size_t shared_bytes() const { return shared_bytes_; }
  emulated_thread& thread(unsigned rank) { return threads_[rank]; }

 private:
  friend class emulated_thread;

  unsigned warp_size_of(unsigned first) const {
    const unsigned left = thread_count() - first;
    return left < warp_lanes ? left : warp_lanes;
  }

  /// Lets a warp go on whose threads have all met; with `anyhow`, those that wait, after a report.
  bool release_warp(unsigned first, bool anyhow) {
    const unsigned lanes = warp_size_of(first);
    const emulated_thread* waits = nullptr;
    const emulated_thread* other = nullptr;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const emulated_thread& thread = threads_[first + lane];
      if (thread.state_ == thread_state::at_warp && waits == nullptr) { waits = &thread; }
    }
    if (waits == nullptr) { return false; }
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const emulated_thread& thread = threads_[first + lane];
      if (thread.state_ != thread_state::at_warp || !same_site(thread, *waits)) { other = &thread; }
    }
    if (other != nullptr && other->state_ != thread_state::at_warp && !anyhow) { return false; }
    if (other != nullptr) { report_missed(*waits, *other, "its warp"); }
    if (!waits->exchanges_) { records_.found().add_barrier(waits->waits_at_, true); }
    for (unsigned lane = 0; lane < lanes; ++lane) {
      emulated_thread& thread = threads_[first + lane];
      if (thread.state_ != thread_state::at_warp) { continue; }
      thread.note(log_event::warp_met, thread.exchanges_ ? 0 : 1);
      ++thread.warp_epoch_;
      thread.state_ = thread_state::ready;
    }
    return true;
  }

  /// Lets threads go on whose phase is over; with `anyhow`, those that wait for one, after a report.
  bool release_phases(bool anyhow) {
    bool released = false;
    for (emulated_thread& thread : threads_) {
      if (thread.state_ != thread_state::at_phase) { continue; }
      std::uint64_t phase = 0;
      if (boxes_.is_over(thread.awaited_barrier_, thread.awaited_parity_, phase)) {
        thread.state_ = thread_state::ready;
      } else if (anyhow) {
        report_endless(thread);
        thread.gave_up_ = true;
        thread.state_ = thread_state::ready;
      }
      released = released || thread.state_ == thread_state::ready;
    }
    return released;
  }

  /// Takes in the logs of all threads and lets those that wait for the block go on.
  bool release_block() {
    const emulated_thread* waits = nullptr;
    const emulated_thread* other = nullptr;
    for (const emulated_thread& thread : threads_) {
      if (waits == nullptr && thread.state_ == thread_state::at_block) { waits = &thread; }
    }
    take_logs();
    if (waits == nullptr) { return false; }
    for (const emulated_thread& thread : threads_) {
      if (other == nullptr &&
          (thread.state_ == thread_state::finished || !same_site(thread, *waits))) {
        other = &thread;
      }
    }
    if (other != nullptr) { report_missed(*waits, *other, "its block"); }
    records_.found().add_barrier(waits->waits_at_, false);
    records_.end_epoch();
    for (emulated_thread& thread : threads_) {
      if (thread.state_ == thread_state::at_block) { thread.state_ = thread_state::ready; }
    }
    return true;
  }

  void take_logs() {
    std::vector<thread_log*> logs;
    std::vector<std::uint32_t> meetings;
    for (emulated_thread& thread : threads_) {
      logs.push_back(&thread.log_);
      meetings.push_back(thread.logged_warp_epoch_);
      thread.logged_warp_epoch_ = thread.warp_epoch_;
    }
    records_.add(logs, meetings);
  }

  static bool same_site(const emulated_thread& a, const emulated_thread& b) {
    return same_place(a.waits_at_, b.waits_at_);
  }

  void report_missed(const emulated_thread& waits, const emulated_thread& other,
                     const char* of_whom) {
    const std::lock_guard<std::mutex> lock(fault_mutex_);
    findings& found = records_.found();
    const fault_place first = found.place(waits.waits_at_, block_index_, waits.rank_);
    fault_place second = found.place(other.waits_at_, block_index_, other.rank_);
    std::string where = " waits at " + places_of(second);
    if (other.state_ == thread_state::finished) {
      second.site = "its end";
      second.inside.clear();
      where = " has ended";
    }
    found.add_fault(fault_kind::missed_barrier, first, second,
                    findings::describe(first) + " waits at " + places_of(first) + " for " +
                        of_whom + ", but " + findings::describe(second) + where);
  }

  void report_endless(const emulated_thread& waits) {
    const std::lock_guard<std::mutex> lock(fault_mutex_);
    findings& found = records_.found();
    const fault_place place = found.place(waits.waits_at_, block_index_, waits.rank_);
    const std::int64_t missing = boxes_.missing_bytes(waits.awaited_barrier_);
    found.add_fault(
        fault_kind::missed_barrier, place, {},
        findings::describe(place) + " waits at " + places_of(place) +
            (missing > 0 ? " for " + std::to_string(missing) + " bytes that nobody copies"
                         : std::string(" for a stage that nobody commits")));
  }

  emulated_dim grid_;
  emulated_dim block_;
  const memory_map& memory_;
  box_table& boxes_;
  recorder& records_;
  std::function<bool(const void*, unsigned)> foreign_shared_;
  std::size_t shared_bytes_;
  aligned_memory<1024> shared_;
  std::uint64_t block_index_ = 0;
  std::vector<emulated_thread> threads_;
  switcher* switcher_ = nullptr;
  std::function<void(emulated_thread&)> body_;
  std::mutex fault_mutex_;
  std::exception_ptr thrown_;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
