// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What a thread does with others: barriers, exchanges, and copies that it does not wait for at once. Plain C++17, host
/// only.

#pragma once

#include <tiletranspose/emulator/accesses.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline unsigned emulated_thread::block_threads() const { return run_.thread_count(); }

inline void emulated_thread::sync_block(access_site site) {
  run_.switcher_->stop(rank_, thread_state::at_block, site);
}

inline void emulated_thread::sync_warp(access_site site) {
  run_.switcher_->stop(rank_, thread_state::at_warp, site);
}

inline void emulated_thread::exchange(void* result, const void* mine, unsigned bytes, unsigned lane,
                                      access_site site) {
  // Hands alternate: nobody gives the next but one before everybody has taken this one.
  const std::uint32_t hand = warp_epoch_ % 2;
  std::memcpy(hand_[hand], mine, bytes);
  exchanges_ = true;
  sync_warp(site);
  exchanges_ = false;
  const unsigned from = rank_ / warp_lanes * warp_lanes + lane;
  if (from < run_.thread_count()) { std::memcpy(result, run_.thread(from).hand_[hand], bytes); }
}

inline void emulated_thread::start_copy(const async_copy& copy, access_site site) {
  const auto* const from = static_cast<const unsigned char*>(copy.global) + copy.first;
  const unsigned bytes = copy.end - copy.first;
  const unsigned part_bytes = bytes == copy.bytes ? bytes : 1;
  const bool loads = may_access(access_kind::load_global, from, bytes, part_bytes, site);
  if (!may_access(access_kind::store_shared, copy.shared, copy.bytes, copy.bytes, site) || !loads) {
    return;
  }
  note_access(log_event::copy, access_kind::load_global, from, bytes, part_bytes, site);
  note_access(log_event::copy, access_kind::store_shared, copy.shared, copy.bytes, copy.bytes,
              site);
  copies_.start(copy);
}

inline void emulated_thread::init_barrier(const void* barrier, unsigned threads, access_site site) {
  if (!may_access(access_kind::store_shared, barrier, 8, 8, site)) { return; }
  note_access(log_event::quiet_access, access_kind::store_shared, barrier, 8, 8, site);
  if (!run_.boxes().init(barrier, threads)) {
    run_.add_fault(
        fault_kind::stage_order, rank_, site, " makes a barrier at ",
        " where there is one: the memory of barriers is a pipeline's until the block ends");
  }
}

inline void emulated_thread::arrive_expecting(const void* barrier, unsigned bytes,
                                              access_site site) {
  if (!may_access(access_kind::load_shared, barrier, 8, 8, site)) { return; }
  note_access(log_event::quiet_access, access_kind::load_shared, barrier, 8, 8, site);
  std::uint64_t phase = 0;
  if (run_.boxes().arrive(barrier, bytes, phase)) { note(log_event::phase_over, phase); }
}

inline void emulated_thread::wait_for_phase(const void* barrier, unsigned parity,
                                            access_site site) {
  if (!may_access(access_kind::load_shared, barrier, 8, 8, site)) { return; }
  note_access(log_event::quiet_access, access_kind::load_shared, barrier, 8, 8, site);
  awaited_barrier_ = barrier;
  awaited_parity_ = parity;
  gave_up_ = false;
  std::uint64_t phase = 0;
  while (!gave_up_ && !run_.boxes().is_over(barrier, parity, phase)) {
    run_.switcher_->stop(rank_, thread_state::at_phase, site);
  }
  if (!gave_up_) { note(log_event::phase_wait, phase); }
}

inline void emulated_thread::load_box(const matrix_box& box, const void* barrier,
                                      access_site site) {
  if (!may_move(box, true, site)) { return; }
  std::size_t index = 0;
  std::uint64_t phase = 0;
  const bool ends = run_.boxes().load(box, barrier, rank_, index, phase);
  note_access(log_event::box, access_kind::store_shared, nullptr, 1, 1, site);
  log_.back().number = index;
  if (ends) { note(log_event::phase_over, phase); }
}

inline void emulated_thread::store_box(const matrix_box& box, access_site site) {
  if (!may_move(box, false, site)) { return; }
  const std::size_t index = run_.boxes().store(box, rank_);
  note_access(log_event::box, access_kind::store_global, nullptr, 1, 1, site);
  log_.back().number = index;
}

inline void emulated_thread::wait_for_bulk_reads() {
  run_.boxes().wait_for_reads(rank_);
  note(log_event::box_wait);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
