// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What the accesses and the calls of a thread are checked for as it runs. Plain C++17, host only.

#pragma once

#include <tiletranspose/emulator/block.cuh>

#include <cstdint>
#include <string>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline bool emulated_thread::may_access(access_kind kind, const void* address, unsigned bytes,
                                        unsigned part_bytes, access_site site) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const bool shared = kind == access_kind::load_shared || kind == access_kind::store_shared;
  const bool writes = kind == access_kind::store_shared || kind == access_kind::store_global;
  const char* const verb = writes ? " stores " : " loads ";
  if (at % part_bytes != 0) {
    run_.add_fault(fault_kind::misaligned, rank_, site,
                   verb + std::to_string(part_bytes) + " bytes at ",
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
  return true;
}

inline void emulated_thread::note_access(log_event event, access_kind kind, const void* address,
                                         unsigned bytes, unsigned part_bytes, access_site site) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (unsigned part = 0; part < bytes; part += part_bytes) {
    log_.push_back({event,
                    kind,
                    static_cast<std::uint8_t>(part_bytes),
                    static_cast<std::uint32_t>(step_),
                    at + part,
                    {site, caller_},
                    0});
  }
}

inline bool emulated_thread::access(access_kind kind, const void* address, unsigned bytes,
                                    unsigned part_bytes, access_site site) {
  if (!may_access(kind, address, bytes, part_bytes, site)) { return false; }
  note_access(log_event::access, kind, address, bytes, part_bytes, site);
  return true;
}

/// The bulk engine's copies are not priced: the requests that it makes of memory are its own.
inline bool emulated_thread::may_move(const matrix_box& box, bool loads, access_site site) {
  const access_kind outside = loads ? access_kind::load_global : access_kind::store_global;
  const access_kind inside = loads ? access_kind::store_shared : access_kind::load_shared;
  bool may = may_access(inside, box.shared, box.rows * box.row_bytes, 128, site);
  for (unsigned row = 0; may && row < box.rows; ++row) {
    may = may_access(outside, box.global + row * box.stride_bytes, box.row_bytes, 16, site);
  }
  return may;
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
                 " for element (" + std::to_string(static_cast<long long>(row)) + ", " +
                     std::to_string(static_cast<long long>(col)) + ") of a matrix of " +
                     std::to_string(rows) + " x " + std::to_string(cols));
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

inline void emulated_thread::check_stages(int count, int stages, const char* takes,
                                          access_site site) {
  if (takes != nullptr && count <= 0) {
    run_.add_fault(fault_kind::stage_order, rank_, site, takes,
                   " a stage of a pipeline of which none is committed");
  } else if (takes == nullptr && count >= stages) {
    run_.add_fault(fault_kind::stage_order, rank_, site, " commits at ",
                   " a stage of a pipeline of which all " + std::to_string(stages) +
                       " are committed and not released");
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
