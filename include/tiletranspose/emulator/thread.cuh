// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// One CUDA thread on the CPU. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/core/machine.cuh>
#include <tiletranspose/emulator/copies.cuh>
#include <tiletranspose/emulator/log.cuh>

#include <cstdint>
#include <vector>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Thrown to end a thread that can do nothing right.
struct thread_end {};

enum class thread_state { ready, at_block, at_warp, at_phase, finished };

class emulated_block_run;

/// One CUDA thread.
class emulated_thread final : public machine {
 public:
  emulated_thread(emulated_block_run& run, unsigned rank) : run_(run), rank_(rank) {
    log_.reserve(64);
  }

  bool access(access_kind kind, const void* address, unsigned bytes, unsigned part_bytes,
              access_site site) override;
  void check_tile(int row, int col, int rows, int cols, access_site site) override;
  void check_matrix(unsigned long long row, unsigned long long col, unsigned long long rows,
                    unsigned long long cols, access_site site) override;
  void check_array(unsigned long long index, unsigned long long length, access_site site) override;
  void check_group(unsigned threads, bool of_warp, access_site site) override;
  void check_size(unsigned size, unsigned wanted, access_site site) override;
  void check_stages(int count, int stages, const char* takes, access_site site) override;
  void enter_call(access_site caller) override {
    if (calls_++ == 0) { caller_ = caller; }
  }
  void leave_call() override {
    if (--calls_ == 0) { caller_ = no_site; }
  }
  void enter_step(unsigned long long number) override {
    steps_.push_back(step_);
    step_ = mix_bits(step_ + 0x632be59bd9b4e019u + number);
  }
  void leave_step() override {
    step_ = steps_.back();
    steps_.pop_back();
  }
  void start_copy(const async_copy& copy, access_site site) override;
  void commit_copies() override {
    copies_.commit();
    note(log_event::commit);
  }
  void wait_for_copies(unsigned pending) override {
    copies_.wait(pending);
    note(log_event::wait, pending);
  }
  void init_barrier(const void* barrier, unsigned threads, access_site site) override;
  void arrive_expecting(const void* barrier, unsigned bytes, access_site site) override;
  void wait_for_phase(const void* barrier, unsigned parity, access_site site) override;
  void load_box(const matrix_box& box, const void* barrier, access_site site) override;
  void store_box(const matrix_box& box, access_site site) override;
  void wait_for_bulk_reads() override;
  void fence_for_bulk() override { note(log_event::fence); }
  unsigned thread_rank() const override { return rank_; }
  unsigned block_threads() const override;
  void sync_block(access_site site) override;
  void sync_warp(access_site site) override;
  void exchange(void* result, const void* mine, unsigned bytes, unsigned lane,
                access_site site) override;

  emulated_block_run& run() const { return run_; }

 private:
  friend class emulated_block_run;

  /// False, with a fault, where the thread must not touch these bytes.
  bool may_access(access_kind kind, const void* address, unsigned bytes, unsigned part_bytes,
                  access_site site);
  bool may_move(const matrix_box& box, bool loads, access_site site);
  /// Writes down an access, as one of each `part_bytes` bytes.
  void note_access(log_event event, access_kind kind, const void* address, unsigned bytes,
                   unsigned part_bytes, access_site site);
  void note(log_event event, std::uint64_t number = 0) {
    log_.push_back({event, access_kind::load_shared, 0, 0, number, {}, 0});
  }

  emulated_block_run& run_;
  unsigned rank_;
  thread_state state_ = thread_state::ready;
  unsigned calls_ = 0;  ///< public functions of the library that the thread is in
  access_site caller_ = no_site;
  call_place waits_at_;
  thread_log log_;
  thread_copies copies_;
  const void* awaited_barrier_ = nullptr;  ///< at_phase
  unsigned awaited_parity_ = 0;
  bool gave_up_ = false;  ///< the phase does not end
  std::uint64_t step_ = 0;
  std::vector<std::uint64_t> steps_;
  bool exchanges_ = false;               ///< at_warp, to exchange values: no barrier for memory
  std::uint32_t warp_epoch_ = 0;         ///< meetings of the warp so far
  std::uint32_t logged_warp_epoch_ = 0;  ///< and when the log was empty
  unsigned char hand_[2][8] = {};  ///< what the thread gives in exchanges, in one of two places
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

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
