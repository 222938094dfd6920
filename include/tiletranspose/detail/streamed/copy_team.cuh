// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Copies of rows in host memory by several threads: one alone does not keep up with a link to a GPU. Plain C++17.

#pragma once

#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <tiletranspose/partition.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A memcpy that stores past the caches, if asked to and if the processor can: the lines that it writes are not read first.
inline void copy_on_host(unsigned char* out, const unsigned char* in, size_type bytes,
                         bool past_caches) {
#if defined(__SSE2__)
  constexpr size_type word = sizeof(__m128i);
  if (past_caches && bytes >= 2 * word) {
    size_type at = (word - reinterpret_cast<size_type>(out) % word) % word;
    std::memcpy(out, in, at);
    for (; at + word <= bytes; at += word) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(out + at),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + at)));
    }
    _mm_sfence();  // whoever is told that the copy is done sees it
    out += at;
    in += at;
    bytes -= at;
  }
#endif
  (void)past_caches;
  std::memcpy(out, in, bytes);
}

/// `rows` rows of `row_bytes` bytes each.
struct row_copy {
  unsigned char* out = nullptr;
  size_type out_pitch = 0;
  const unsigned char* in = nullptr;
  size_type in_pitch = 0;
  size_type row_bytes = 0;
  size_type rows = 0;

  /// Copies the part-th of `parts` equal parts of all bytes.
  void run(size_type parts, size_type part, bool past_caches) const {
    size_type at = partition_begin(row_bytes * rows, parts, part);
    const size_type end = partition_begin(row_bytes * rows, parts, part + 1);
    while (at < end) {
      const size_type row = at / row_bytes;
      const size_type from = at % row_bytes;
      const size_type left = end - at;
      const size_type bytes = left < row_bytes - from ? left : row_bytes - from;
      copy_on_host(out + row * out_pitch + from, in + row * in_pitch + from, bytes, past_caches);
      at += bytes;
    }
  }
};

/// Threads that share the bytes of copies with the thread that asks for them.
class copy_team {
 public:
  /// \param threads  all together; where the system gives fewer, the team is smaller
  explicit copy_team(int threads) {
    TILETRANSPOSE_TRY {
      helpers_.reserve(static_cast<size_type>(threads > 0 ? threads : 0));
      for (int i = 1; i < threads; ++i) {
        helpers_.emplace_back([this, i] { help(static_cast<size_type>(i)); });
      }
    }
    TILETRANSPOSE_CATCH(const std::exception&) {}  // those that there are will do
  }
  ~copy_team() {
    ends_ = true;
    ++number_;
    for (std::thread& helper : helpers_) { helper.join(); }
  }

  /// Returns when all bytes of both are copied, those of the second past the caches: nobody reads them soon.
  void copy(const row_copy& first, const row_copy& second) {
    if (first.rows + second.rows == 0) { return; }
    copies_[0] = first;
    copies_[1] = second;
    busy_ = helpers_.size();
    ++number_;
    run(0);
    wait([this] { return busy_ == 0; });
  }

 private:
  /// Nobody writes the copies before all have run theirs.
  void run(size_type part) const {
    copies_[0].run(helpers_.size() + 1, part, false);
    copies_[1].run(helpers_.size() + 1, part, true);
  }
  void help(size_type part) {
    for (unsigned seen = 0;; ++seen) {
      wait([&] { return number_ != seen; });
      if (ends_) { return; }
      run(part);
      --busy_;
    }
  }
  /// The next copy is mostly near, and to be woken by somebody takes longer.
  template <class Ready>
  static void wait(Ready ready) {
    for (int i = 0; !ready(); ++i) {
      if (i < 500) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  }

  row_copy copies_[2];
  std::atomic<size_type> busy_{0};
  std::atomic<unsigned> number_{0};
  std::atomic<bool> ends_{false};
  std::vector<std::thread> helpers_;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
