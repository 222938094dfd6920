// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Who takes part in a collective call. A *group* is any object with
///
///     thread_rank()   0 .. size() - 1, in the order of the lanes of a warp
///     size()          the number of threads
///     sync()          every thread of the group waits for every other; shared memory written before is
///                     seen after
///
/// A cooperative-groups block or tile is one; `static_block` is one whose size the compiler knows, which
/// lets it unroll every loop of a collective.

#pragma once

#include <tiletranspose/config.cuh>
#include <tiletranspose/detail/core/shuffle.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

namespace detail {

/// Group::static_size where the group has one, else 0.
template <class Group, class = void>
struct known_size {
  static constexpr int value = 0;
};
template <class Group>
struct known_size<Group, decltype(static_cast<void>(Group::static_size))> {
  static constexpr int value = Group::static_size;
};

/// Rounds of a loop over cells that are unrolled; more would not fit the registers.
inline constexpr int most_unrolled_rounds = 32;

/// Calls visit(row, at) for the cells of a Rows x RowCells grid that this thread takes: consecutive threads
/// take consecutive cells of a row. Where the compiler knows the group's size, the rounds are unrolled, so
/// that the loads of all of them are under way before the first is waited for; and where a round takes
/// whole rows, `at` is the same in every round and `row` grows by a constant, which leaves one addition
/// per address.
template <int Rows, int RowCells, class Group, class Visit>
TILETRANSPOSE_FUNCTION void for_each_cell(Group group, Visit visit) {
  constexpr bool knows = known_size<Group>::value > 0;
  constexpr unsigned known = knows ? known_size<Group>::value : 1;
  constexpr unsigned cells = Rows * RowCells;
  const unsigned rank = group.thread_rank();
  if constexpr (knows && known % RowCells == 0 && cells % known == 0 &&
                cells / known <= most_unrolled_rounds) {
    const unsigned row = rank / RowCells;
    const unsigned at = rank % RowCells;
    TILETRANSPOSE_UNROLL
    for (unsigned round = 0; round < cells / known; ++round) {
      const loop_step here(round);
      visit(row + round * (known / RowCells), at);
    }
  } else if constexpr (knows && cells / known <= most_unrolled_rounds) {
    TILETRANSPOSE_UNROLL
    for (unsigned round = 0; round < (cells + known - 1) / known; ++round) {
      const unsigned cell = rank + round * known;
      const loop_step here(round);
      if (cells % known == 0 || cell < cells) { visit(cell / RowCells, cell % RowCells); }
    }
  } else {
    const unsigned size = group.size();
    for (unsigned cell = rank; cell < cells; cell += size) {
      const loop_step here(cell / size);
      visit(cell / RowCells, cell % RowCells);
    }
  }
}

}  // namespace detail

namespace detail {

/// The threads of a one-dimensional block, however many it has; a group but for its size.
struct any_block {
  TILETRANSPOSE_FUNCTION static unsigned thread_rank() {
#if TILETRANSPOSE_ON_DEVICE
    return threadIdx.x;
#else
    return running != nullptr ? running->thread_rank() : 0;
#endif
  }
  TILETRANSPOSE_FUNCTION static void sync(access_site site = access_site::at()) {
    (void)site;
#if TILETRANSPOSE_ON_DEVICE
    __syncthreads();
#endif
    TILETRANSPOSE_TELL_MACHINE(sync_block(site));
  }
};

}  // namespace detail

/// All `Threads` threads of a one-dimensional block, on the GPU and in the emulator.
/// Precondition: the kernel is launched with blockDim == (Threads, 1, 1).
template <int Threads>
struct static_block {
  static_assert(Threads > 0 && Threads <= 1024, "tt: a block has 1 to 1024 threads");

  static constexpr int static_size = Threads;

  TILETRANSPOSE_FUNCTION static unsigned thread_rank(
      detail::access_site site = detail::access_site::at()) {
    TILETRANSPOSE_TELL_MACHINE(check_group(Threads, false, site));
    (void)site;
    return detail::any_block::thread_rank();
  }
  TILETRANSPOSE_FUNCTION static constexpr unsigned size() { return Threads; }
  TILETRANSPOSE_FUNCTION static void sync(detail::access_site site = detail::access_site::at()) {
    TILETRANSPOSE_TELL_MACHINE(check_group(Threads, false, site));
    detail::any_block::sync(site);
  }
};

/// The 32 threads of the calling thread's warp, on the GPU and in the emulator.
/// Precondition: all of them exist and call.
struct static_warp {
  static constexpr int static_size = 32;

  TILETRANSPOSE_FUNCTION static unsigned thread_rank(
      detail::access_site site = detail::access_site::at()) {
    TILETRANSPOSE_TELL_MACHINE(check_group(32, true, site));
    (void)site;
    return detail::lane_index();
  }
  TILETRANSPOSE_FUNCTION static constexpr unsigned size() { return 32; }
  TILETRANSPOSE_FUNCTION static void sync(detail::access_site site = detail::access_site::at()) {
    (void)site;
    TILETRANSPOSE_TELL_MACHINE(check_group(32, true, site));
#if TILETRANSPOSE_ON_DEVICE
    __syncwarp();
#endif
    TILETRANSPOSE_TELL_MACHINE(sync_warp(site));
  }
};

TILETRANSPOSE_NAMESPACE_END
