// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Runs the threads of a block as threads of the operating system, so that ThreadSanitizer sees what they
/// do to each other. Slow: for tests.

#pragma once

#include <tiletranspose/emulator/waits.cuh>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

class thread_switcher final : public switcher {
 public:
  explicit thread_switcher(emulated_block_run& run) : run_(run) {}

  void run_block() override {
    ready_ = run_.thread_count();
    std::vector<std::thread> threads;
    threads.reserve(run_.thread_count());
    for (unsigned rank = 0; rank < run_.thread_count(); ++rank) {
      threads.emplace_back([this, rank] {
        run_.run_thread(rank);
        stop(rank, thread_state::finished, no_site);
      });
    }
    for (std::thread& thread : threads) { thread.join(); }
  }

  void stop(unsigned rank, thread_state state, access_site site) override {
    std::unique_lock<std::mutex> lock(mutex_);
    run_.set_state(rank, state, site);
    if (--ready_ == 0 && run_.resolve()) {
      for (unsigned i = 0; i < run_.thread_count(); ++i) { ready_ += run_.is_ready(i) ? 1 : 0; }
      released_.notify_all();
    }
    if (state != thread_state::finished) {
      released_.wait(lock, [&] { return run_.is_ready(rank); });
    }
  }

 private:
  emulated_block_run& run_;
  std::mutex mutex_;
  std::condition_variable released_;
  unsigned ready_ = 0;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
