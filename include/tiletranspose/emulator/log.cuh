// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What each emulated thread writes down as it runs. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/core/machine.cuh>

#include <cstdint>
#include <cstring>
#include <vector>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline constexpr access_site no_site = access_site::at("", 0);

/// A place in the source and, where the library has it, the place of the public function's call.
struct call_place {
  access_site site = no_site;
  access_site caller = no_site;  ///< line 0: none

  bool is_library() const { return caller.line != 0; }
};

inline bool same_site(access_site a, access_site b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}
inline bool same_place(const call_place& a, const call_place& b) {
  return same_site(a.site, b.site) && same_site(a.caller, b.caller);
}

enum class log_event : unsigned char {
  access,        ///< of `bytes` bytes at `number`
  quiet_access,  ///< the same, but no request that costs anything: of a barrier's word
  copy,          ///< one side of a copy of the thread's own that starts here
  commit,        ///< the copies since the last are a group
  wait,          ///< for all groups but the youngest `number`
  fence,         ///< what the thread stored is there for the bulk engine
  box,           ///< the bulk engine is handed box `number`
  box_wait,      ///< for the engine to have read what this thread handed to it
  phase_over,    ///< phase `number` has ended by what this thread did
  phase_wait,    ///< the thread has waited for phase `number`
  warp_met       ///< the warp has met, at a barrier if `number` is 1, to exchange values if it is 0
};

struct log_record {
  log_event event;
  access_kind kind = access_kind::load_shared;
  std::uint8_t bytes = 0;
  std::uint32_t steps = 0;   ///< a hash of the loop steps that the thread was in
  std::uint64_t number = 0;  ///< an address, or what the event says
  call_place place;
  std::uint32_t site =
      0;  ///< the place, the kind and the width together, as `findings` number them
};

using thread_log = std::vector<log_record>;

inline bool has_place(log_event event) {
  return event == log_event::access || event == log_event::quiet_access ||
         event == log_event::copy || event == log_event::box;
}

inline std::uint64_t mix_bits(std::uint64_t value) {
  value ^= value >> 31;
  value *= 0x9e3779b97f4a7c15u;
  value ^= value >> 29;
  return value;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
