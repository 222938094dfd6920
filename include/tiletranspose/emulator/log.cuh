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

/// A place in the source and, where the library has it, the place of the public function's call.
struct call_place {
  access_site site;
  access_site caller;  ///< line 0: none

  bool is_library() const { return caller.line != 0; }
};

inline bool same_site(access_site a, access_site b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}
inline bool same_place(const call_place& a, const call_place& b) {
  return same_site(a.site, b.site) && same_site(a.caller, b.caller);
}

/// One access of one thread; `bytes` == 0 stands for a meeting of the warp.
struct access_record {
  std::uintptr_t address;
  call_place place;
  std::uint32_t steps;  ///< a hash of the loop steps that the thread was in
  std::uint8_t bytes;
  access_kind kind;
};

using access_log = std::vector<access_record>;

inline std::uint64_t mix_bits(std::uint64_t value) {
  value ^= value >> 31;
  value *= 0x9e3779b97f4a7c15u;
  value ^= value >> 29;
  return value;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
