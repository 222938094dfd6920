// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The bulk tensor engine of compute capability 9.0 and newer, through cuda::ptx: copies of boxes between
/// global and shared memory, which one thread starts and an mbarrier in shared memory counts.

#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#include <cuda/ptx>
#endif

#include <tiletranspose/detail/core/async_copy.cuh>

/// Whether this pass compiles for the bulk copy engine. cuda::ptx got all that is needed here with CUDA's core
/// libraries 2.5; before them the engine is left alone, and on the CPU, whose copies are accesses of threads.
#if TILETRANSPOSE_ON_DEVICE && __CUDA_ARCH__ >= 900 && CCCL_VERSION >= 2005000
#define TILETRANSPOSE_HAS_BULK_COPIES 1
#else
#define TILETRANSPOSE_HAS_BULK_COPIES 0
#endif

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline constexpr bool has_bulk_copies = TILETRANSPOSE_HAS_BULK_COPIES;

/// An mbarrier: opaque, 8 bytes, in shared memory.
struct alignas(8) bulk_barrier {
  unsigned long long state;
};

#if TILETRANSPOSE_HAS_BULK_COPIES
// cuda::ptx counts in the 64-bit type of <cstdint>, which is another one on each system.
__device__ TILETRANSPOSE_INLINE auto* ptx_barrier(bulk_barrier* barrier) {
  return reinterpret_cast<::cuda::std::uint64_t*>(&barrier->state);
}
#endif

/// Makes a barrier whose phases end when `threads` threads have arrived, and every byte they expect.
/// By one thread; the group synchronises before anybody uses it.
TILETRANSPOSE_FUNCTION void init_barrier(bulk_barrier* barrier, unsigned threads) {
#if TILETRANSPOSE_HAS_BULK_COPIES
  __mbarrier_init(reinterpret_cast<__mbarrier_t*>(&barrier->state), threads);
  ::cuda::ptx::fence_proxy_async(::cuda::ptx::space_shared);
#endif
  (void)barrier;
  (void)threads;
}

/// Counts this thread as arrived and `bytes` more bytes as expected in the phase.
TILETRANSPOSE_FUNCTION void arrive_expecting(bulk_barrier* barrier, unsigned bytes) {
#if TILETRANSPOSE_HAS_BULK_COPIES
  ::cuda::ptx::mbarrier_arrive_expect_tx(::cuda::ptx::sem_release, ::cuda::ptx::scope_cta,
                                         ::cuda::ptx::space_shared, ptx_barrier(barrier), bytes);
#endif
  (void)barrier;
  (void)bytes;
}

/// Waits until the phase of that parity, 0 for a barrier's first, is over.
TILETRANSPOSE_FUNCTION void wait_for_phase(bulk_barrier* barrier, unsigned parity) {
#if TILETRANSPOSE_HAS_BULK_COPIES
  while (!::cuda::ptx::mbarrier_try_wait_parity(::cuda::ptx::sem_acquire, ::cuda::ptx::scope_cta,
                                                ptx_barrier(barrier), parity)) {}
#endif
  (void)barrier;
  (void)parity;
}

/// What the engine must know of a matrix to copy boxes of it, encoded by the driver (CUtensorMap).
struct alignas(64) box_descriptor {
  unsigned long long words[16];
};

/// Starts a copy of the box at column x, row y, in the units of the descriptor, whose bytes the barrier will count.
/// Preconditions: `shared` is a multiple of 128 bytes, the box starts at a multiple of 16 bytes of global memory;
/// the descriptor is a __grid_constant__ argument of the kernel; this thread arrives at the barrier later on,
/// expecting the bytes.
TILETRANSPOSE_FUNCTION void bulk_load_box(void* shared, const box_descriptor& box, int x, int y,
                                          bulk_barrier* barrier) {
#if TILETRANSPOSE_HAS_BULK_COPIES
  const ::cuda::std::int32_t corner[] = {x, y};
  // The form for clusters: a block is a cluster of its own, and PTX before 8.6 has no other.
  ::cuda::ptx::cp_async_bulk_tensor(::cuda::ptx::space_cluster, ::cuda::ptx::space_global, shared,
                                    &box, corner, ptx_barrier(barrier));
#endif
  (void)shared;
  (void)box;
  (void)x;
  (void)y;
  (void)barrier;
}

/// Starts a copy of the box at column x, row y out of shared memory, which may not be written before
/// wait_for_bulk_reads. Preconditions as above, without a barrier.
TILETRANSPOSE_FUNCTION void bulk_store_box(const box_descriptor& box, int x, int y,
                                           const void* shared) {
#if TILETRANSPOSE_HAS_BULK_COPIES
  const ::cuda::std::int32_t corner[] = {x, y};
  ::cuda::ptx::cp_async_bulk_tensor(::cuda::ptx::space_global, ::cuda::ptx::space_shared, &box,
                                    corner, shared);
#endif
  (void)shared;
  (void)box;
  (void)x;
  (void)y;
}

TILETRANSPOSE_FUNCTION void commit_bulk_stores() {
#if TILETRANSPOSE_HAS_BULK_COPIES
  ::cuda::ptx::cp_async_bulk_commit_group();
#endif
}

/// Waits until the engine has read what this thread's committed bulk_store_box copy.
TILETRANSPOSE_FUNCTION void wait_for_bulk_reads() {
#if TILETRANSPOSE_HAS_BULK_COPIES
  ::cuda::ptx::cp_async_bulk_wait_group_read(::cuda::ptx::n32_t<0>{});
#endif
}

/// Orders this thread's own accesses of shared memory before copies of the engine that are started after a
/// barrier; without it the engine may not see what was stored.
TILETRANSPOSE_FUNCTION void fence_for_bulk() {
#if TILETRANSPOSE_HAS_BULK_COPIES
  ::cuda::ptx::fence_proxy_async(::cuda::ptx::space_shared);
#endif
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
