// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Looks for races, for loads of what nobody has written, and for copies that nobody has waited for, in what the
/// threads of a block wrote down. Plain C++17, host only.
///
/// A copy is under way from where it starts to where its thread has waited for its group; then it counts as a store
/// that this thread makes there. A box that the bulk engine loads is there for each thread that has waited for its
/// phase, and for those that have met such a thread since.

#pragma once

#include <tiletranspose/detail/core/shuffle.cuh>
#include <tiletranspose/emulator/copies.cuh>
#include <tiletranspose/emulator/findings.cuh>
#include <tiletranspose/emulator/shadow.cuh>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

class checker {
 public:
  checker(findings& found, const box_table& boxes) : found_(found), boxes_(boxes) {}

  void start_block(std::uint32_t block, unsigned threads) {
    block_ = block;
    ++epoch_;
    threads_.assign(threads, {});
    box_states_.clear();
    unread_.clear();
    phases_.clear();
  }

  /// Goes through the logs of all threads from one barrier of the block to the next, each from one meeting of its warp
  /// to the next, and no thread past a phase before it is over.
  void check(const std::vector<thread_log*>& logs, const std::vector<std::uint32_t>& meetings) {
    std::vector<cursor> cursors(logs.size());
    for (std::size_t thread = 0; thread < logs.size(); ++thread) {
      cursors[thread] = {logs[thread], 0, meetings[thread]};
    }
    bool waits_in_vain = false;
    for (bool ended = false; !ended;) {
      ended = true;
      bool went_on = false;
      for (std::size_t first = 0; first < logs.size(); first += warp_lanes) {
        const std::size_t end = first + warp_lanes < logs.size() ? first + warp_lanes : logs.size();
        went_on = check_warp(cursors, first, end, waits_in_vain) || went_on;
        for (std::size_t i = first; i < end; ++i) { ended = ended && cursors[i].at_end(); }
      }
      waits_in_vain = !went_on;
    }
  }

  void end_epoch() {
    for (const early_access& early : early_) {
      report_under_way(early.access, early.copy, early.writes);
    }
    early_.clear();
    ++epoch_;
  }

  void end_block() {
    end_epoch();
    for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
      for (const side& each : threads_[thread].sides) { forget(each); }
    }
    for (const std::size_t index : unread_) {
      const fault_place place = place_of(box_states_[index].handed);
      found_.add_fault(fault_kind::under_way, place, {},
                       findings::describe(place) + " hands the bulk engine at " + places_of(place) +
                           " a tile that nobody waits for it to have read before the block ends");
    }
  }

 private:
  /// One side of a copy of a thread's own.
  struct side {
    std::uint64_t address;
    std::uint8_t bytes;
    bool shared;  ///< it is stored to; else loaded
    moment since;
  };
  struct copying_thread {
    std::vector<side> sides;              ///< of copies under way
    std::vector<std::size_t> group_ends;  ///< in them
    std::uint32_t fences = 0;
  };
  /// Who has waited for something.
  struct waiters {
    std::uint32_t first_epoch = 0;  ///< 0: nobody
    std::bitset<1024> threads;
    std::uint32_t warp_meetings[32] = {};  ///< when the first of the warp had waited, plus one

    void add(const moment& now) {
      first_epoch = first_epoch == 0 ? now.epoch : first_epoch;
      threads.set(now.thread);
      std::uint32_t& warp = warp_meetings[now.thread / 32];
      warp = warp == 0 || now.warp_epoch + 1 < warp ? now.warp_epoch + 1 : warp;
    }
    /// True where a thread at `now` has waited, or met one that had.
    bool before(const moment& now) const {
      const std::uint32_t warp = warp_meetings[now.thread / 32];
      return first_epoch != 0 && (first_epoch < now.epoch || threads.test(now.thread) ||
                                  (warp != 0 && warp - 1 < now.warp_epoch));
    }
  };
  struct box_state {
    moment handed;
    bool loads;
    std::uint64_t phase;  ///< of a load
    waiters read;         ///< of a store: for the engine to have read it
  };
  static constexpr std::size_t most_early = 1024;
  /// An access to what another thread copies, which may yet wait before the next barrier.
  struct early_access {
    moment access;
    moment copy;
    bool writes;
    std::uint64_t address;
    std::uint8_t bytes;
  };
  struct cursor {
    const thread_log* log;
    std::size_t next;
    std::uint32_t meeting;

    bool at_end() const { return next == log->size(); }
    const log_record& record() const { return (*log)[next]; }
  };

  bool check_warp(std::vector<cursor>& cursors, std::size_t first, std::size_t end,
                  bool waits_in_vain) {
    bool went_on = false;
    for (;;) {
      bool waits = false;
      bool has_come = false;
      bool at_barrier =
          false;  // or to exchange values, which puts no access of memory behind another
      for (std::size_t thread = first; thread < end; ++thread) {
        cursor& at = cursors[thread];
        while (!at.at_end() && at.record().event != log_event::warp_met) {
          const log_record& record = at.record();
          if (record.event == log_event::phase_wait && !waits_in_vain &&
              phases_.count(record.number) == 0) {
            waits = true;
            break;
          }
          step(record, {block_, epoch_, at.meeting, static_cast<std::uint16_t>(thread),
                        static_cast<std::uint16_t>(record.site)});
          ++at.next;
          went_on = true;
        }
        const bool comes = !at.at_end() && at.record().event == log_event::warp_met;
        has_come = has_come || comes;
        at_barrier = at_barrier || (comes && at.record().number != 0);
      }
      if (waits || !has_come) { return went_on; }
      for (std::size_t thread = first; thread < end; ++thread) {
        cursor& at = cursors[thread];
        if (!at.at_end()) { ++at.next; }
        at.meeting += at_barrier ? 1 : 0;
      }
      went_on = true;
    }
  }

  void step(const log_record& record, const moment& now) {
    copying_thread& thread = threads_[now.thread];
    switch (record.event) {
      case log_event::access:
      case log_event::quiet_access:
        access(record, now);
        break;
      case log_event::copy:
        start(record, now);
        break;
      case log_event::commit:
        thread.group_ends.push_back(thread.sides.size());
        break;
      case log_event::wait:
        wait(thread, static_cast<std::size_t>(record.number), now);
        break;
      case log_event::fence:
        ++thread.fences;
        break;
      case log_event::box:
        hand_over(static_cast<std::size_t>(record.number), now);
        break;
      case log_event::box_wait:
        wait_for_reads(now);
        break;
      case log_event::phase_over:
        phases_[record.number];
        break;
      case log_event::phase_wait:
        phases_[record.number].add(now);
        break;
      case log_event::warp_met:
        break;
    }
  }

  // What an access of `bytes` bytes collides with. ---------------------------------------------------------

  struct collision {
    enum { none, with_access, with_copy, with_box } what = none;
    moment then;
  };

  /// Adds what a history says against an access, unless something was said before.
  void collide(const byte_history& history, const moment& now, bool writes,
               collision& found) const {
    if (history.store.happened()) { collide(history.store, history.store_copy, true, now, found); }
    if (!writes) { return; }
    if (history.loads[0].happened()) {
      collide(history.loads[0], history.load_copy, false, now, found);
    }
    if (history.loads[1].happened()) { collide(history.loads[1], 0, false, now, found); }
  }

  void collide(const moment& then, std::uint32_t copy, bool stored, const moment& now,
               collision& found) const {
    if (found.what != collision::none) { return; }
    const bool by_thread = copy == byte_history::by_thread;
    const bool under_way = copy != 0 && then.block == now.block &&
                           (by_thread || !is_done(box_states_[copy - 1], stored, now));
    if (copy != 0 && then.block == now.block && !under_way) { return; }
    if (!then.before(now)) {
      found = {collision::with_access, then};
    } else if (under_way) {
      found = {by_thread ? collision::with_copy : collision::with_box, then};
    }
  }

  /// True where a thread at `now` may rely on the engine to have stored, or to have read.
  bool is_done(const box_state& box, bool stored, const moment& now) const {
    if (!box.loads) { return !stored && box.read.before(now); }  // stores end with the kernel
    const auto phase = phases_.find(box.phase);
    return phase != phases_.end() && phase->second.before(now);
  }

  void report(const collision& found, const moment& now, bool writes, std::uint64_t address,
              std::uint8_t bytes) {
    const bool others = found.then.thread != now.thread;
    if (found.what == collision::with_access) {
      report_race(found.then, now);
    } else if (found.what == collision::with_copy && others) {
      if (early_.size() < most_early) {
        early_.push_back({now, found.then, writes, address, bytes});
      }
    } else if (found.what != collision::none) {
      report_under_way(now, found.then, writes);
    }
  }

  shadow_memory& memory(bool shared) { return shared ? shared_ : global_; }

  void access(const log_record& record, const moment& now) {
    const bool shared =
        record.kind == access_kind::load_shared || record.kind == access_kind::store_shared;
    const bool writes =
        record.kind == access_kind::store_shared || record.kind == access_kind::store_global;
    const std::uint32_t fences = threads_[now.thread].fences;
    // Words are read for a part of their bytes where elements are smaller or start anywhere, so that only
    // an access of which no byte has been written is wrong for certain.
    bool unwritten = shared && !writes;
    collision found;
    memory(shared).visit(record.number, record.bytes, [&](byte_history& history) {
      if (shared) {
        history.forget_other_blocks(block_);
        unwritten = unwritten && !history.store.happened();
      }
      collide(history, now, writes, found);
      if (!writes) {
        history.remember_load(now);
      } else if (found.what == collision::none || found.what == collision::with_access) {
        history.remember_store(now, fences);
      }
    });
    report(found, now, writes, record.number, record.bytes);
    if (unwritten) { report_unwritten(now, " loads at "); }
  }

  // Copies of a thread's own. -------------------------------------------------------------------------------------

  void start(const log_record& record, const moment& now) {
    const bool shared = record.kind == access_kind::store_shared;
    collision found;
    memory(shared).visit(record.number, record.bytes, [&](byte_history& history) {
      if (shared) { history.forget_other_blocks(block_); }
      collide(history, now, shared, found);
      if (shared) {
        history.store = now;
        history.store_copy = byte_history::by_thread;
      } else {
        history.remember_copy_from(now, byte_history::by_thread);
      }
    });
    report(found, now, shared, record.number, record.bytes);
    threads_[now.thread].sides.push_back({record.number, record.bytes, shared, now});
  }

  void wait(copying_thread& thread, std::size_t pending, const moment& now) {
    if (thread.group_ends.size() <= pending) { return; }
    const std::size_t groups = thread.group_ends.size() - pending;
    const std::size_t count = thread.group_ends[groups - 1];
    for (std::size_t i = 0; i < count; ++i) { arrive(thread.sides[i], now, thread.fences); }
    thread.sides.erase(thread.sides.begin(),
                       thread.sides.begin() + static_cast<std::ptrdiff_t>(count));
    thread.group_ends.erase(thread.group_ends.begin(),
                            thread.group_ends.begin() + static_cast<std::ptrdiff_t>(groups));
    for (std::size_t& end : thread.group_ends) { end -= count; }
  }

  void arrive(const side& copy, const moment& now, std::uint32_t fences) {
    moment then = now;
    then.site = copy.since.site;
    moment change;
    memory(copy.shared).visit(copy.address, copy.bytes, [&](byte_history& history) {
      if (copy.shared) {
        if (is_under_way(history.store, history.store_copy, copy)) {
          history.remember_store(then, fences);
        }
      } else if (is_under_way(history.loads[0], history.load_copy, copy)) {
        history.loads[0] = then;
        history.load_copy = 0;
      } else {
        // Another thread's copy from the same place is remembered instead.
        if (history.store.happened() && !history.store.before(copy.since)) {
          change = history.store;
        }
        history.remember_load(then);
      }
    });
    if (change.happened()) { report_under_way(change, copy.since, true); }
    sort_out_early(copy, then);
  }

  static bool is_under_way(const moment& then, std::uint32_t mark, const side& copy) {
    return mark == byte_history::by_thread && then.thread == copy.since.thread &&
           then.site == copy.since.site;
  }

  /// Who met a copy that its thread has waited for in the meantime lacks a barrier, not the wait.
  void sort_out_early(const side& copy, const moment& then) {
    for (std::size_t i = 0; i < early_.size();) {
      const early_access& early = early_[i];
      const bool same =
          early.copy.thread == copy.since.thread && early.copy.site == copy.since.site &&
          early.address < copy.address + copy.bytes && copy.address < early.address + early.bytes;
      if (!same || early.access.before(then)) {
        ++i;
        continue;
      }
      report_race(then, early.access);
      early_.erase(early_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  /// The block has ended: no copy of its threads is under way.
  void forget(const side& copy) {
    memory(copy.shared).visit(copy.address, copy.bytes, [&](byte_history& history) {
      if (is_under_way(history.store, history.store_copy, copy)) { history.store_copy = 0; }
      if (is_under_way(history.loads[0], history.load_copy, copy)) { history.load_copy = 0; }
    });
  }

  // The bulk engine. ----------------------------------------------------------------------------------------------

  void hand_over(std::size_t index, const moment& now) {
    const handed_box& handed = boxes_[index];
    const matrix_box& box = handed.box;
    if (!handed.loads) { unread_.push_back(box_states_.size()); }
    box_states_.push_back({now, handed.loads, handed.phase, {}});
    const auto mark = static_cast<std::uint32_t>(box_states_.size());
    bool unwritten = !handed.loads;
    collision in_shared;
    collision in_global;
    moment unfenced;
    const auto first = reinterpret_cast<std::uintptr_t>(box.shared);
    const auto from = reinterpret_cast<std::uintptr_t>(box.global);
    shared_.visit(first, box.rows * box.row_bytes, [&](byte_history& history) {
      history.forget_other_blocks(block_);
      unwritten = unwritten && !history.store.happened();
      collide(history, now, handed.loads, in_shared);
      if (history.store.happened() && history.store_copy == 0 &&
          history.store_fences == threads_[history.store.thread].fences) {
        unfenced = history.store;
      }
      if (handed.loads) {
        history.store = now;
        history.store_copy = mark;
      } else {
        history.remember_copy_from(now, mark);
      }
    });
    for (unsigned row = 0; row < box.rows; ++row) {
      global_.visit(from + row * box.stride_bytes, box.row_bytes, [&](byte_history& history) {
        collide(history, now, !handed.loads, in_global);
        if (handed.loads) {
          history.remember_copy_from(now, mark);
        } else {
          history.store = now;
          history.store_copy = mark;
        }
      });
    }
    report(in_shared, now, handed.loads, first, 0);
    report(in_global, now, !handed.loads, from, 0);
    if (unwritten) { report_unwritten(now, " hands the bulk engine at "); }
    if (unfenced.happened()) { report_unfenced(unfenced, now); }
  }

  void wait_for_reads(const moment& now) {
    for (std::size_t i = 0; i < unread_.size();) {
      box_state& box = box_states_[unread_[i]];
      if (box.handed.thread != now.thread) {
        ++i;
        continue;
      }
      box.read.add(now);
      unread_.erase(unread_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  // What is said of it. -------------------------------------------------------------------------------------------

  fault_place place_of(const moment& then) {
    return found_.place(then.site, then.block, then.thread);
  }

  std::string verb_of(const moment& at) {
    return found_.access(at.site).is_store() ? " stores at " : " loads at ";
  }

  const char* memory_of(const moment& at) {
    return found_.access(at.site).is_shared() ? "shared memory" : "global memory";
  }

  void report_race(const moment& then, const moment& now) {
    const fault_place first = place_of(then);
    const fault_place second = place_of(now);
    found_.add_fault(fault_kind::race, first, second,
                     findings::describe(first) + verb_of(then) + places_of(first) + " and " +
                         findings::describe(second) + verb_of(now) + places_of(second) +
                         " to the same " + memory_of(now) + " without a barrier between");
  }

  void report_under_way(const moment& access, const moment& copy, bool writes) {
    const fault_place first = place_of(access);
    const fault_place second = place_of(copy);
    found_.add_fault(fault_kind::under_way, first, second,
                     findings::describe(first) + (writes ? " stores at " : " loads at ") +
                         places_of(first) + " what " + findings::describe(second) + " copies at " +
                         places_of(second) + " and has not been waited for");
  }

  void report_unwritten(const moment& now, const char* verb) {
    const fault_place place = place_of(now);
    found_.add_fault(fault_kind::unwritten, place, {},
                     findings::describe(place) + verb + places_of(place) +
                         " shared memory that no thread of its block has written");
  }

  void report_unfenced(const moment& store, const moment& now) {
    const fault_place first = place_of(store);
    const fault_place second = place_of(now);
    found_.add_fault(fault_kind::unfenced, first, second,
                     findings::describe(first) + " stores at " + places_of(first) +
                         " shared memory that the bulk engine is handed at " + places_of(second) +
                         " without a bulk_fence() between");
  }

  findings& found_;
  const box_table& boxes_;
  std::uint32_t block_ = 0;
  std::uint32_t epoch_ = 0;
  shadow_memory shared_;
  shadow_memory global_;
  std::vector<copying_thread> threads_;
  std::vector<box_state> box_states_;        ///< number i: the box of mark i + 1
  std::vector<std::size_t> unread_;          ///< stores that nobody has waited for
  std::map<std::uint64_t, waiters> phases_;  ///< those that are over
  std::vector<early_access> early_;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
