// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Copies from global to shared memory that the thread does not wait for: `cp.async` where the architecture
/// has it (8.0 and newer), through CUDA's pipeline primitives, elsewhere a load and a store; and copies of boxes by the bulk
/// tensor engine of compute capability 9.0 and newer, which one thread starts and an mbarrier in shared memory counts. The
/// latter in PTX, because cuda::ptx has these instructions only since CUDA 12.5, and takes nvcc a second. In the emulator
/// copies arrive when they are waited for.

#pragma once

#include <tiletranspose/config.cuh>

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#include <cuda_pipeline_primitives.h>
#endif

#include <tiletranspose/detail/core/memory.cuh>

/// Whether this pass compiles for the bulk copy engine.
#if TILETRANSPOSE_ON_DEVICE && __CUDA_ARCH__ >= 900
#define TILETRANSPOSE_HAS_BULK_COPIES 1
#else
#define TILETRANSPOSE_HAS_BULK_COPIES 0
#endif

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// False where a copy cannot run in the background, on GPUs before those whose loads fetch what is near. The CPU follows the
/// path of the newer ones, so that what it counts is what they do.
inline constexpr bool copies_async = fetches_near || !TILETRANSPOSE_ON_DEVICE;

/// Starts a copy of `Bytes` bytes, of which the caller uses bytes [first, end) alone: others may write the other ones
/// meanwhile. Fewer than 4 cannot be copied in the background and are copied at once.
/// Precondition: both addresses are multiples of Bytes.
template <int Bytes>
TILETRANSPOSE_FUNCTION void copy_async(void* shared, const void* global, int first = 0,
                                       int end = Bytes, access_site site = access_site::at()) {
  (void)first, (void)end, (void)site;
  using word = access_word_t<Bytes>;
  if constexpr (Bytes < 4 || !copies_async) {
    store_shared(shared, load_global<word>(global, site), site);
  } else {
#if TILETRANSPOSE_ON_DEVICE
    __pipeline_memcpy_async(shared, global, Bytes);
#else
    if (running != nullptr) {
      running->start_copy(
          {shared, global, Bytes, static_cast<unsigned>(first), static_cast<unsigned>(end)}, site);
    } else {
      store_shared(shared, load_global_part<word>(global, first, end), site);
    }
#endif
  }
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

// The bulk tensor engine.

/// False where there is no engine. The CPU follows the path of the newer GPUs.
inline constexpr bool has_bulk_copies = TILETRANSPOSE_HAS_BULK_COPIES || !TILETRANSPOSE_ON_DEVICE;

/// An mbarrier: opaque, 8 bytes, in shared memory.
struct alignas(8) bulk_barrier {
  unsigned long long state;
};

#if TILETRANSPOSE_HAS_BULK_COPIES
/// An address of shared memory as PTX takes it, in the 32 bits that it has there.
__device__ TILETRANSPOSE_INLINE unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
#endif

/// Orders this thread's own accesses of shared memory before copies of the engine that are started after a
/// barrier; without it the engine may not see what was stored.
TILETRANSPOSE_FUNCTION void fence_for_bulk() {
#if TILETRANSPOSE_HAS_BULK_COPIES
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
#endif
  TILETRANSPOSE_TELL_MACHINE(fence_for_bulk());
}

/// Makes a barrier whose phases end when `threads` threads have arrived, and every byte they expect.
/// By one thread; the group synchronises before anybody uses it.
TILETRANSPOSE_FUNCTION void init_barrier(bulk_barrier* barrier, unsigned threads,
                                         access_site site = access_site::at()) {
#if TILETRANSPOSE_HAS_BULK_COPIES
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
               :
               : "r"(shared_address(barrier)), "r"(threads)
               : "memory");
#endif
  TILETRANSPOSE_TELL_MACHINE(init_barrier(barrier, threads, site));
  fence_for_bulk();
  (void)barrier, (void)threads, (void)site;
}

/// Counts this thread as arrived and `bytes` more bytes as expected in the phase.
TILETRANSPOSE_FUNCTION void arrive_expecting(bulk_barrier* barrier, unsigned bytes,
                                             access_site site = access_site::at()) {
#if TILETRANSPOSE_HAS_BULK_COPIES
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(shared_address(barrier)), "r"(bytes)
               : "memory");
#endif
  TILETRANSPOSE_TELL_MACHINE(arrive_expecting(barrier, bytes, site));
  (void)barrier, (void)bytes, (void)site;
}

/// Waits until the phase of that parity, 0 for a barrier's first, is over.
TILETRANSPOSE_FUNCTION void wait_for_phase(bulk_barrier* barrier, unsigned parity,
                                           access_site site = access_site::at()) {
#if TILETRANSPOSE_HAS_BULK_COPIES
  unsigned over = 0;
  do {
    asm volatile(
        "{ .reg .pred over;\n"
        "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 over, [%1], %2;\n"
        "selp.b32 %0, 1, 0, over; }"
        : "=r"(over)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  } while (over == 0);
#endif
  TILETRANSPOSE_TELL_MACHINE(wait_for_phase(barrier, parity, site));
  (void)barrier, (void)parity, (void)site;
}

/// What the engine must know of a matrix to copy boxes of it, encoded by the driver (CUtensorMap).
struct alignas(64) box_descriptor {
  unsigned long long words[16];
};

/// Starts a copy of the box at column x, row y, in the elements of the descriptor, whose bytes the barrier will count. On the
/// CPU `here` says what that box is. Preconditions: `shared` is a multiple of 128 bytes, the box starts at a multiple of 16
/// bytes of global memory; the descriptor is a __grid_constant__ argument of the kernel; this thread arrives at the barrier
/// later on, expecting the bytes.
TILETRANSPOSE_FUNCTION void bulk_load_box(const matrix_box& here, const box_descriptor& box, int x,
                                          int y, bulk_barrier* barrier,
                                          access_site site = access_site::at()) {
#if TILETRANSPOSE_HAS_BULK_COPIES
  // The form for clusters: a block is a cluster of its own, and PTX before 8.6 has no other.
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3}], [%4];"
      :
      : "r"(shared_address(here.shared)), "l"(&box), "r"(x), "r"(y), "r"(shared_address(barrier))
      : "memory");
#elif !TILETRANSPOSE_ON_DEVICE
  running != nullptr ? running->load_box(here, barrier, site) : copy_box(here, true);
#endif
  (void)here, (void)box, (void)x, (void)y, (void)site, (void)barrier;
}

/// Starts a copy of the box at column x, row y out of shared memory, which may not be written before
/// wait_for_bulk_reads. Preconditions as above, without a barrier.
TILETRANSPOSE_FUNCTION void bulk_store_box(const matrix_box& here, const box_descriptor& box, int x,
                                           int y, access_site site = access_site::at()) {
#if TILETRANSPOSE_HAS_BULK_COPIES
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
               :
               : "l"(&box), "r"(x), "r"(y), "r"(shared_address(here.shared))
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" : : : "memory");
#elif !TILETRANSPOSE_ON_DEVICE
  running != nullptr ? running->store_box(here, site) : copy_box(here, false);
#endif
  (void)here, (void)box, (void)x, (void)y, (void)site;
}

/// Waits until the engine has read what this thread's bulk_store_box copy.
TILETRANSPOSE_FUNCTION void wait_for_bulk_reads() {
#if TILETRANSPOSE_HAS_BULK_COPIES
  asm volatile("cp.async.bulk.wait_group.read 0;" : : : "memory");
#endif
  TILETRANSPOSE_TELL_MACHINE(wait_for_bulk_reads());
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
