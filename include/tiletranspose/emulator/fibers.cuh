// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Runs the threads of a block as fibers of one thread: each goes on until it waits, then the next. Fast,
/// and the same in every run.

#pragma once

#include <tiletranspose/emulator/fiber_pool.cuh>
#include <tiletranspose/emulator/waits.cuh>

#include <memory>
#include <utility>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

class fiber_switcher final : public switcher, private fiber_owner {
 public:
  explicit fiber_switcher(emulated_block_run& run)
      : run_(run), pool_(fiber_pool::take(run.thread_count())) {
    pool_->set_owner(*this);
  }
  ~fiber_switcher() override { fiber_pool::keep(std::move(pool_)); }
  fiber_switcher(const fiber_switcher&) = delete;
  fiber_switcher& operator=(const fiber_switcher&) = delete;

  void run_block() override {
    machine* const outer = running;  // an emulation inside of another's body
    pool_->start(0);
    running = outer;
  }

  void stop(unsigned rank, thread_state state, access_site site) override {
    run_.set_state(rank, state, site);
    const unsigned next = next_ready(rank);
    if (next != rank) { pool_->go_on(rank, next); }
    run_.set_running(rank);
  }

 private:
  unsigned run_fiber(unsigned rank) override {
    run_.run_thread(rank);
    run_.set_state(rank, thread_state::finished, no_site);
    return next_ready(rank);
  }

  /// The thread that goes on when this one cannot, if the block has one left.
  unsigned next_ready(unsigned rank) {
    const unsigned count = run_.thread_count();
    for (unsigned next = rank + 1; next < count; ++next) {
      if (run_.is_ready(next)) { return next; }
    }
    for (unsigned next = 0; next < rank; ++next) {
      if (run_.is_ready(next)) { return next; }
    }
    if (!run_.resolve()) { return caller; }
    unsigned next = 0;
    while (!run_.is_ready(next)) { ++next; }
    return next;
  }

  emulated_block_run& run_;
  std::unique_ptr<fiber_pool> pool_;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
