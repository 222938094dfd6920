// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Takes in what the threads of a block wrote down between two barriers: what each did alone becomes what its warp did
/// together and is priced, and all of it is checked. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/core/shuffle.cuh>
#include <tiletranspose/emulator/checker.cuh>
#include <tiletranspose/emulator/findings.cuh>
#include <tiletranspose/emulator/pricing.cuh>
#include <tiletranspose/emulator/requests.cuh>

#include <cstdint>
#include <vector>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

class recorder {
 public:
  recorder(int bank_width, bool counts, bool checks, const box_table& boxes)
      : model_(bank_width == 8 ? banks_32x8 : banks_32x4),
        counts_(counts),
        checks_(checks),
        checker_(found_, boxes) {}

  findings& found() { return found_; }

  void start_block(std::uint64_t block, unsigned threads) {
    if (checks_) { checker_.start_block(static_cast<std::uint32_t>(block), threads); }
  }
  void end_block() {
    if (checks_) { checker_.end_block(); }
  }

  /// Takes in the logs of all threads since the last barrier of the block, and empties them.
  /// \param meetings  how often each thread had met its warp before
  void add(const std::vector<thread_log*>& logs, const std::vector<std::uint32_t>& meetings) {
    for (std::size_t first = 0; first < logs.size(); first += warp_lanes) {
      count_warp(logs, meetings, first);
    }
    if (checks_) { checker_.check(logs, meetings); }
    for (thread_log* log : logs) { log->clear(); }
  }

  /// Every thread of the block has met, or a part of it that cannot go on otherwise.
  void end_epoch() {
    if (checks_) { checker_.end_epoch(); }
  }

 private:
  void count_warp(const std::vector<thread_log*>& logs, const std::vector<std::uint32_t>& meetings,
                  std::size_t first) {
    table_.clear();
    for (std::size_t thread = first; thread < first + warp_lanes && thread < logs.size();
         ++thread) {
      std::uint32_t meeting = meetings[thread];
      for (log_record& record : *logs[thread]) {
        if (record.event == log_event::warp_met) { ++meeting; }
        if (!has_place(record.event)) { continue; }
        record.site = found_.site_of(record);
        if (counts_ && (record.event == log_event::access || record.event == log_event::copy)) {
          table_.add(record, meeting, static_cast<int>(thread - first));
        }
      }
    }
    table_.for_each([&](const warp_request& request, std::uint32_t site) {
      price(request, model_, found_.access(site));
    });
  }

  bank_model model_;
  bool counts_;
  bool checks_;
  findings found_;
  checker checker_;
  request_table table_;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
