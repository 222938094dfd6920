// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Exchanges between the 32 threads of a warp; every one of them calls. On the CPU the emulator makes them.

#pragma once

#include <tiletranspose/detail/core/machine.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline constexpr unsigned warp_lanes = 32;
inline constexpr unsigned whole_warp = 0xffffffffu;

/// The thread's place in its warp.
TILETRANSPOSE_FUNCTION unsigned lane_index() {
#if TILETRANSPOSE_ON_DEVICE
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
#else
  return running != nullptr ? running->thread_rank() % warp_lanes : 0;
#endif
}

/// What lane `lane` % 32 hands in as `value`.
/// \tparam Word  4 or 8 bytes, an integer
template <class Word>
TILETRANSPOSE_FUNCTION Word shuffle(Word value, unsigned lane,
                                    [[maybe_unused]] access_site site = access_site::at()) {
  static_assert(sizeof(Word) == 4 || sizeof(Word) == 8, "an exchange moves 4 or 8 bytes");
#if TILETRANSPOSE_ON_DEVICE
  return __shfl_sync(whole_warp, value, static_cast<int>(lane));
#else
  Word result = value;
  if (running != nullptr) {
    running->exchange(&result, &value, sizeof(Word), lane % warp_lanes, site);
  }
  return result;
#endif
}

/// What the lane whose number differs by the bits of `mask` hands in as `value`.
template <class Word>
TILETRANSPOSE_FUNCTION Word shuffle_xor(Word value, unsigned mask,
                                        [[maybe_unused]] access_site site = access_site::at()) {
  static_assert(sizeof(Word) == 4 || sizeof(Word) == 8, "an exchange moves 4 or 8 bytes");
#if TILETRANSPOSE_ON_DEVICE
  return __shfl_xor_sync(whole_warp, value, static_cast<int>(mask));
#else
  return shuffle(value, lane_index() ^ mask, site);
#endif
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
