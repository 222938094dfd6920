// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Copies of rows in host memory by several threads: one alone does not keep up with a link to a GPU. Plain C++17.

#pragma once

#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <tiletranspose/partition.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// `rows` rows of `row_bytes` bytes each.
struct row_copy {
  unsigned char* out;
  size_type out_pitch;
  const unsigned char* in;
  size_type in_pitch;
  size_type row_bytes;
  size_type rows;

  /// Copies the part-th of `parts` equal parts of all bytes.
  void run(size_type parts, size_type part) const {
    size_type at = partition_begin(row_bytes * rows, parts, part);
    const size_type end = partition_begin(row_bytes * rows, parts, part + 1);
    while (at < end) {
      const size_type row = at / row_bytes;
      const size_type from = at % row_bytes;
      const size_type left = end - at;
      const size_type bytes = left < row_bytes - from ? left : row_bytes - from;
      std::memcpy(out + row * out_pitch + from, in + row * in_pitch + from, bytes);
      at += bytes;
    }
  }
};

/// Threads that share the bytes of one copy after the other with the thread that asks for them.
class copy_team {
 public:
  /// \param threads  all together; where the system gives fewer, the team is smaller
  explicit copy_team(int threads) {
    try {
      helpers_.reserve(static_cast<size_type>(threads > 0 ? threads : 0));
      for (int i = 1; i < threads; ++i) {
        helpers_.emplace_back([this, i] { help(static_cast<size_type>(i)); });
      }
    } catch (const std::exception&) {  // those that there are will do
    }
  }
  copy_team(const copy_team&) = delete;
  copy_team& operator=(const copy_team&) = delete;
  ~copy_team() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ends_ = true;
    }
    begun_.notify_all();
    for (std::thread& helper : helpers_) { helper.join(); }
  }

  /// Returns when all bytes are copied.
  void copy(const row_copy& rows) {
    if (rows.row_bytes == 0 || rows.rows == 0) { return; }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      rows_ = rows;
      parts_ = helpers_.size() + 1;
      busy_ = helpers_.size();
      ++number_;
    }
    begun_.notify_all();
    rows.run(parts_, 0);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
  }

 private:
  void help(size_type part) {
    unsigned long long seen = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      begun_.wait(lock, [&] { return ends_ || number_ != seen; });
      if (ends_) { return; }
      seen = number_;
      const row_copy rows = rows_;
      const size_type parts = parts_;
      lock.unlock();
      rows.run(parts, part);
      lock.lock();
      if (--busy_ == 0) { done_.notify_one(); }
    }
  }

  std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable done_;
  row_copy rows_{};
  size_type parts_ = 1;
  size_type busy_ = 0;
  unsigned long long number_ = 0;
  bool ends_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
