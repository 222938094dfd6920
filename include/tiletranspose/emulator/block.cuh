// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The threads of an emulated block and how they meet. What runs them, fibers or threads of the operating
/// system, is left to `switcher`. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/core/shuffle.cuh>
#include <tiletranspose/emulator/memory_map.cuh>
#include <tiletranspose/emulator/recorder.cuh>

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

/// Thrown to end a thread that can do nothing right.
struct thread_end {};

enum class thread_state { ready, at_block, at_warp, finished };

class emulated_block_run;

/// One CUDA thread.
class emulated_thread final : public machine {
 public:
  emulated_thread(emulated_block_run& run, unsigned rank) : run_(run), rank_(rank) {
    log_.reserve(64);
  }

  bool access(access_kind kind, const void* address, unsigned bytes, unsigned unit,
              access_site site) override;
  void check_tile(int row, int col, int rows, int cols, access_site site) override;
  void check_matrix(unsigned long long row, unsigned long long col, unsigned long long rows,
                    unsigned long long cols, access_site site) override;
  void check_array(unsigned long long index, unsigned long long length, access_site site) override;
  void check_group(unsigned threads, bool of_warp, access_site site) override;
  void check_size(unsigned size, unsigned wanted, access_site site) override;
  void enter_call(access_site caller) override {
    if (calls_++ == 0) { caller_ = caller; }
  }
  void leave_call() override {
    if (--calls_ == 0) { caller_ = {"", 0}; }
  }
  void enter_step(unsigned long long number) override {
    steps_.push_back(step_);
    step_ = mix_bits(step_ + 0x632be59bd9b4e019u + number);
  }
  void leave_step() override {
    step_ = steps_.back();
    steps_.pop_back();
  }
  unsigned thread_rank() const override { return rank_; }
  unsigned block_threads() const override;
  void sync_block(access_site site) override;
  void sync_warp(access_site site) override;
  void exchange(void* result, const void* mine, unsigned bytes, unsigned lane,
                access_site site) override;

  emulated_block_run& run() const { return run_; }

 private:
  friend class emulated_block_run;

  emulated_block_run& run_;
  unsigned rank_;
  thread_state state_ = thread_state::ready;
  unsigned calls_ = 0;  ///< public functions of the library that the thread is in
  access_site caller_{"", 0};
  call_place waits_at_{{"", 0}, {"", 0}};
  access_log log_;
  std::uint64_t step_ = 0;
  std::vector<std::uint64_t> steps_;
  std::uint32_t warp_epoch_ = 0;         ///< meetings of the warp so far
  std::uint32_t logged_warp_epoch_ = 0;  ///< and when the log was empty
  unsigned char hand_[2][8] = {};        ///< what the thread gives in exchanges, in turns
};

/// What runs the threads of a block, and stops them.
class switcher {
 public:
  virtual ~switcher() = default;
  /// Runs all threads of the block that the run was set to.
  virtual void run_block() = 0;
  /// Called by a thread that waits; returns when it may go on.
  virtual void stop(unsigned rank, thread_state state, access_site site) = 0;
};

/// What `tt::emulate` keeps while it runs.
class emulated_block_run {
 public:
  emulated_block_run(emulated_dim grid, emulated_dim block, std::size_t shared_bytes,
                     std::function<bool(const void*, unsigned)> foreign_shared,
                     const memory_map& memory, recorder& records)
      : grid_(grid),
        block_(block),
        memory_(memory),
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
    records_.start_block(index);
    for (emulated_thread& thread : threads_) {
      thread.state_ = thread_state::ready;
      thread.step_ = 0;
      thread.calls_ = 0;
      thread.caller_ = {"", 0};
      thread.steps_.clear();
    }
  }
  /// Hands on what the body threw.
  void end_block() {
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
    bool released = false;
    bool at_block = true;
    for (unsigned first = 0; first < thread_count(); first += warp_lanes) {
      released = release_warp(first, false) || released;
    }
    for (const emulated_thread& thread : threads_) {
      at_block = at_block && thread.state_ != thread_state::at_warp;
    }
    if (released) { return true; }
    if (!at_block) {  // some wait for their warp in vain
      for (unsigned first = 0; first < thread_count(); first += warp_lanes) {
        release_warp(first, true);
      }
      return true;
    }
    return release_block();
  }

  bool inside_shared(const void* address, unsigned bytes) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto first = reinterpret_cast<std::uintptr_t>(shared());
    return (at >= first && at - first + bytes <= shared_bytes_) ||
           (foreign_shared_ && foreign_shared_(address, bytes));
  }

  /// "thread 3 of block 0" + verb + its place + rest.
  void add_fault(fault_kind kind, unsigned rank, access_site site, const std::string& verb,
                 const std::string& rest) {
    const std::lock_guard<std::mutex> lock(fault_mutex_);
    const fault_place place = records_.place({site, threads_[rank].caller_}, rank);
    records_.add_fault(kind, place, {}, recorder::describe(place) + verb + places_of(place) + rest);
  }

  const memory_map& memory() const { return memory_; }
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
    records_.add_barrier(waits->waits_at_, true);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      emulated_thread& thread = threads_[first + lane];
      if (thread.state_ != thread_state::at_warp) { continue; }
      thread.log_.push_back({0, {{"", 0}, {"", 0}}, 0, 0, access_kind::load_shared});
      ++thread.warp_epoch_;
      thread.state_ = thread_state::ready;
    }
    return true;
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
    records_.add_barrier(waits->waits_at_, false);
    records_.end_epoch();
    for (emulated_thread& thread : threads_) {
      if (thread.state_ == thread_state::at_block) { thread.state_ = thread_state::ready; }
    }
    return true;
  }

  void take_logs() {
    access_log* logs[warp_lanes];
    std::uint32_t epochs[warp_lanes];
    for (unsigned first = 0; first < thread_count(); first += warp_lanes) {
      const unsigned lanes = warp_size_of(first);
      for (unsigned lane = 0; lane < lanes; ++lane) {
        emulated_thread& thread = threads_[first + lane];
        logs[lane] = &thread.log_;
        epochs[lane] = thread.logged_warp_epoch_;
        thread.logged_warp_epoch_ = thread.warp_epoch_;
      }
      records_.add_warp(logs, epochs, first, static_cast<int>(lanes));
    }
  }

  static bool same_site(const emulated_thread& a, const emulated_thread& b) {
    return same_place(a.waits_at_, b.waits_at_);
  }

  void report_missed(const emulated_thread& waits, const emulated_thread& other,
                     const char* of_whom) {
    const std::lock_guard<std::mutex> lock(fault_mutex_);
    const fault_place first = records_.place(waits.waits_at_, waits.rank_);
    fault_place second = records_.place(other.waits_at_, other.rank_);
    std::string where = " waits at " + places_of(second);
    if (other.state_ == thread_state::finished) {
      second.site = "its end";
      second.inside.clear();
      where = " has ended";
    }
    records_.add_fault(fault_kind::missed_barrier, first, second,
                       recorder::describe(first) + " waits at " + places_of(first) + " for " +
                           of_whom + ", but " + recorder::describe(second) + where);
  }

  emulated_dim grid_;
  emulated_dim block_;
  const memory_map& memory_;
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

inline bool emulated_thread::access(access_kind kind, const void* address, unsigned bytes,
                                    unsigned unit, access_site site) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const bool shared = kind == access_kind::load_shared || kind == access_kind::store_shared;
  const bool writes = kind == access_kind::store_shared || kind == access_kind::store_global;
  const char* const verb = writes ? " stores " : " loads ";
  if (at % unit != 0) {
    run_.add_fault(fault_kind::misaligned, rank_, site, verb + std::to_string(unit) + " bytes at ",
                   ", whose address is no multiple of them");
  }
  if (shared && !run_.inside_shared(address, bytes)) {
    run_.add_fault(fault_kind::outside_shared, rank_, site,
                   verb + std::to_string(bytes) + " bytes at ",
                   " outside of the block's " + std::to_string(run_.shared_bytes()) +
                       " bytes of shared memory");
    return false;
  }
  if (!shared && !run_.memory().holds(address, bytes, writes)) {
    run_.add_fault(
        fault_kind::outside_global, rank_, site, verb + std::to_string(bytes) + " bytes at ",
        run_.memory().holds(address, bytes, false) ? " to constant memory"
                                                   : " outside of every known buffer and matrix");
    return false;
  }
  for (unsigned part = 0; part < bytes; part += unit) {
    log_.push_back({at + part,
                    {site, caller_},
                    static_cast<std::uint32_t>(step_),
                    static_cast<std::uint8_t>(unit),
                    kind});
  }
  return true;
}

inline void emulated_thread::check_tile(int row, int col, int rows, int cols, access_site site) {
  if (row >= 0 && row < rows && col >= 0 && col < cols) { return; }
  run_.add_fault(fault_kind::outside_tile, rank_, site, " asks at ",
                 " for element (" + std::to_string(row) + ", " + std::to_string(col) +
                     ") of a tile of " + std::to_string(rows) + " x " + std::to_string(cols));
}

inline void emulated_thread::check_matrix(unsigned long long row, unsigned long long col,
                                          unsigned long long rows, unsigned long long cols,
                                          access_site site) {
  if (row < rows && col < cols) { return; }
  run_.add_fault(fault_kind::outside_matrix, rank_, site, " asks at ",
                 " for element (" + std::to_string(row) + ", " + std::to_string(col) +
                     ") of a matrix of " + std::to_string(rows) + " x " + std::to_string(cols));
}

inline void emulated_thread::check_array(unsigned long long index, unsigned long long length,
                                         access_site site) {
  if (index < length) { return; }
  run_.add_fault(fault_kind::outside_array, rank_, site, " asks at ",
                 " for element " + std::to_string(static_cast<long long>(index)) +
                     " of an array of " + std::to_string(length));
}

inline void emulated_thread::check_group(unsigned threads, bool of_warp, access_site site) {
  if (of_warp) {
    const unsigned first = rank_ / warp_lanes * warp_lanes;
    if (first + threads <= run_.thread_count()) { return; }
    run_.add_fault(fault_kind::group_size, rank_, site, " takes part at ",
                   " in a whole warp, of which the launch's block of " +
                       std::to_string(run_.thread_count()) + " threads has " +
                       std::to_string(run_.thread_count() - first));
    return;
  }
  const emulated_dim dim = run_.block_dim();
  if (dim.x == threads && dim.y == 1 && dim.z == 1) { return; }
  run_.add_fault(fault_kind::group_size, rank_, site, " takes part at ",
                 " in a static_block<" + std::to_string(threads) +
                     ">, but the launch's blocks have " + std::to_string(dim.x) + " x " +
                     std::to_string(dim.y) + " x " + std::to_string(dim.z) + " threads");
  // Everything that follows would be wrong by this alone.
  throw thread_end();
}

inline void emulated_thread::check_size(unsigned size, unsigned wanted, access_site site) {
  if (size == wanted) { return; }
  run_.add_fault(fault_kind::group_size, rank_, site, " calls at ",
                 " with a group of " + std::to_string(size) + " threads what takes groups of " +
                     std::to_string(wanted));
}

inline unsigned emulated_thread::block_threads() const { return run_.thread_count(); }

inline void emulated_thread::sync_block(access_site site) {
  run_.switcher_->stop(rank_, thread_state::at_block, site);
}

inline void emulated_thread::sync_warp(access_site site) {
  run_.switcher_->stop(rank_, thread_state::at_warp, site);
}

inline void emulated_thread::exchange(void* result, const void* mine, unsigned bytes, unsigned lane,
                                      access_site site) {
  // Hands take turns: nobody gives the next but one before everybody has taken this one.
  const std::uint32_t turn = warp_epoch_ % 2;
  std::memcpy(hand_[turn], mine, bytes);
  sync_warp(site);
  const unsigned from = rank_ / warp_lanes * warp_lanes + lane;
  if (from < run_.thread_count()) { std::memcpy(result, run_.thread(from).hand_[turn], bytes); }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
