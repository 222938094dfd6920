// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Copies from global to shared memory that the thread does not wait for: `cp.async` where the architecture
/// has it (8.0 and newer), through CUDA's pipeline primitives. Elsewhere a load and a store. In the emulator they arrive
/// when they are waited for.

#pragma once

#include <tiletranspose/config.cuh>

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#include <cuda_pipeline_primitives.h>
#endif

#include <tiletranspose/detail/core/memory.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// False where a copy cannot run in the background. The CPU follows the path of the newer GPUs, so that
/// what it counts is what they do.
#if TILETRANSPOSE_ON_DEVICE && __CUDA_ARCH__ < 800
inline constexpr bool copies_async = false;
#else
inline constexpr bool copies_async = true;
#endif

/// Starts a copy of `Bytes` bytes, of which the caller uses bytes [first, end) alone: others may write the other ones
/// meanwhile. Fewer than 4 cannot be copied in the background and are copied at once.
/// Precondition: both addresses are multiples of Bytes.
template <int Bytes>
TILETRANSPOSE_FUNCTION void copy_async(void* shared, const void* global, int first = 0,
                                       int end = Bytes, access_site site = access_site::at()) {
  (void)first, (void)end, (void)site;
  using word = access_word_t<Bytes>;
#if TILETRANSPOSE_ON_DEVICE
  if constexpr (copies_async && Bytes >= 4) {
    __pipeline_memcpy_async(shared, global, Bytes);
  } else {
    store_shared(shared, load_global<word>(global));
  }
#else
  if (running != nullptr && Bytes >= 4) {
    running->start_copy(
        {shared, global, Bytes, static_cast<unsigned>(first), static_cast<unsigned>(end)}, site);
  } else {
    store_shared(
        shared,
        Bytes < 4 ? load_global<word>(global, site) : load_global_part<word>(global, first, end),
        site);
  }
#endif
}

/// Closes the group of copies that this thread started since the last call; it may be empty.
TILETRANSPOSE_FUNCTION void commit_copies() {
#if TILETRANSPOSE_ON_DEVICE
  __pipeline_commit();
#endif
  TILETRANSPOSE_TELL_MACHINE(commit_copies());
}

/// Waits until all but the `pending` youngest groups of this thread have arrived. Up to 8; more wait longer.
TILETRANSPOSE_FUNCTION void wait_for_copies(unsigned pending) {
  (void)pending;
#if TILETRANSPOSE_ON_DEVICE
  __pipeline_wait_prior(pending);
#endif
  TILETRANSPOSE_TELL_MACHINE(wait_for_copies(pending));
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
