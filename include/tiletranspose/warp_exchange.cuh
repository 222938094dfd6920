// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Exchanges between the lanes of a warp in the manner of CUB: the kernel owns the storage, and the compiler says
/// whether there is any. Where registers are faster, `storage` is empty and items travel as warp_transpose.cuh
/// moves them; elsewhere they go through shared memory, by plain accesses without a bank conflict: ldmatrix and stmatrix
/// move as many bytes a cycle, in squares of 8 x 8 pairs of bytes only.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/warp_transpose.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

namespace detail {

/// The items of a warp in shared memory, lane behind lane. In blocked order a lane moves its items by accesses of
/// 4 bytes or more, and those behind its last whole access one by one; in striped order all go one by one. Holes keep
/// lanes apart. Where lanes hold whole accesses, one is left out every `period` lanes, because the accesses of the next
/// lane would lie in the banks of those `period` lanes before: that is where whole rows of banks end, so that in
/// striped order lanes do not conflict either. Else every lane is filled up to an odd number of accesses.
template <class T, int N>
struct shared_exchange {
  static constexpr unsigned item_bytes = sizeof(T);
  static constexpr unsigned access_bytes = item_bytes < 4 ? 4 : item_bytes;
  static constexpr unsigned lane_bytes = N * item_bytes;
  static constexpr unsigned accesses = lane_bytes / access_bytes;  // whole ones
  static constexpr unsigned access_items = access_bytes / item_bytes;
  static constexpr bool ragged = N % access_items != 0;
  static constexpr unsigned banks = 128 / access_bytes;  // of an access each
  static constexpr unsigned period = ragged ? 1 : banks / common_divisor(accesses, banks);
  static constexpr unsigned hole_distance = period * N;  // elements from hole to hole
  static constexpr unsigned hole =
      ragged ? ((accesses + 1) | 1) * access_bytes - lane_bytes : access_bytes;
  static constexpr unsigned bytes = 32 * lane_bytes + (32 / period - 1) * hole;

  static constexpr bool fits = item_bytes <= 16 && (item_bytes & (item_bytes - 1)) == 0;
  /// Where it is faster than registers, in a kernel that does nothing else (H200, 2026-11-22): items of 1 and 2 bytes
  /// take fewer accesses than shuffles, packs and unpacks together (31 of 2 bytes into blocked order: 163 % of
  /// cub::WarpExchange's speed, 95 by registers); larger ones where squares are transposed or rotations take three rounds
  /// of selects among three words.
  static constexpr bool pays =
      fits &&
      (item_bytes < 4 ? N > 3
                      : (N % 4 == 0 && N > 4) || (N > 17 && (N % 2 == 0 || item_bytes == 4)));

  using item_word = access_word_t<fits ? item_bytes : 1>;
  using wide_word = access_word_t<fits ? access_bytes : 4>;

  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned blocked_offset(unsigned rank) {
    return rank * lane_bytes + rank / period * hole;
  }
  /// Of element 32 * i + rank.
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned striped_offset(unsigned rank, unsigned i) {
    // A product with 2^24 / hole_distance, rounded up, finds the quotient of any of 2^11 elements by one of up to 2^10.
    constexpr unsigned reciprocal = (1u << 24) / hole_distance + 1;
    const bool same = 32 * i / hole_distance == (32 * i + 31) / hole_distance;  // in all lanes
    const unsigned passed = same ? 32 * i / hole_distance : (32 * i + rank) * reciprocal >> 24;
    return (32 * i + rank) * item_bytes + passed * hole;
  }

  template <class Group>
  TILETRANSPOSE_FUNCTION static void to_striped(Group group, unsigned char* shared, T (&items)[N]) {
    const unsigned rank = group.thread_rank();
    unsigned char* const own = shared + blocked_offset(rank);
    TILETRANSPOSE_UNROLL
    for (unsigned u = 0; u < accesses; ++u) {
      wide_word wide;
      detail::copy_bytes(&wide, items + u * access_items, access_bytes);
      store_shared(own + u * access_bytes, wide);
    }
    TILETRANSPOSE_UNROLL
    for (unsigned i = accesses * access_items; i < N; ++i) {
      item_word item;
      detail::copy_bytes(&item, items + i, item_bytes);
      store_shared(own + i * item_bytes, item);
    }
    group.sync();
    TILETRANSPOSE_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      const auto item = load_shared<item_word>(shared + striped_offset(rank, i));
      detail::copy_bytes(items + i, &item, item_bytes);
    }
  }

  template <class Group>
  TILETRANSPOSE_FUNCTION static void to_blocked(Group group, unsigned char* shared, T (&items)[N]) {
    const unsigned rank = group.thread_rank();
    TILETRANSPOSE_UNROLL
    for (unsigned i = 0; i < N; ++i) {
      item_word item;
      detail::copy_bytes(&item, items + i, item_bytes);
      store_shared(shared + striped_offset(rank, i), item);
    }
    group.sync();
    const unsigned char* const own = shared + blocked_offset(rank);
    TILETRANSPOSE_UNROLL
    for (unsigned u = 0; u < accesses; ++u) {
      const auto wide = load_shared<wide_word>(own + u * access_bytes);
      detail::copy_bytes(items + u * access_items, &wide, access_bytes);
    }
    TILETRANSPOSE_UNROLL
    for (unsigned i = accesses * access_items; i < N; ++i) {
      const auto item = load_shared<item_word>(own + i * item_bytes);
      detail::copy_bytes(items + i, &item, item_bytes);
    }
  }
};

template <unsigned Bytes>
struct exchange_storage {
  alignas(16) unsigned char bytes[Bytes];
};
template <>
struct exchange_storage<0> {};

}  // namespace detail

/// Brings N items in each lane of a warp from blocked into striped order and back, through registers or shared
/// memory, whichever is faster.
///
///     __global__ void kernel(float* data) {                   // 8 warps, each with 32 x 25 floats
///       using warp_exchange = tt::warp_exchange<float, 25>;
///       __shared__ typename warp_exchange::storage storage[8];
///       const tt::static_warp warp;
///       const warp_exchange exchanger(storage[threadIdx.x / 32]);
///       float* const mine = data + threadIdx.x / 32 * (32 * 25) + warp.thread_rank();
///       float items[25];
///       for (int i = 0; i < 25; ++i) { items[i] = mine[32 * i]; }
///       exchanger.striped_to_blocked(warp, items);             // 25 neighbours a lane
///       // ... compute ...
///       warp.sync();                                           // owed: the storage is written again
///       exchanger.blocked_to_striped(warp, items);
///       for (int i = 0; i < 25; ++i) { mine[32 * i] = items[i]; }
///     }
///
/// Orders, T and N are those of `warp_blocked_to_striped`. What is faster was measured in a kernel that does nothing
/// else; where a warp waits for memory before and after, registers would be from 2 % slower to 3 % faster, and from
/// 8 % slower to 8 % faster for items of 1 byte (H200, 2026-11-22).
/// Shared memory: where `uses_shared`, 32 * N * sizeof(T) bytes a warp and at most 31 holes of up to 16 bytes; else
/// none. Barriers: one of the warp between what a call writes to the storage and what it reads; the
/// caller owes another before the storage is used again.
template <class T, int N>
class warp_exchange {
  static_assert(detail::check_element<T>(), "");
  static_assert(N <= 64, "tt: a warp_exchange takes 1 to 64 items a lane; move more in parts");
  using route = detail::shared_exchange<T, N>;

 public:
  static constexpr bool uses_shared = route::pays;
  using storage = detail::exchange_storage<uses_shared ? route::bytes : 0>;

  TILETRANSPOSE_FUNCTION explicit warp_exchange(storage& memory) : memory_(memory) {}

  /// Item i of lane l is element l * N + i before and i * 32 + l after.
  /// \param group  a whole warp: `static_warp`, `static_lanes<32>` or a cooperative-groups tile of 32
  template <class Group>
  TILETRANSPOSE_FUNCTION void blocked_to_striped(
      Group group, T (&items)[N], detail::access_site caller = detail::access_site::at()) const {
    static_assert(detail::known_lanes<Group>::value == 32, "tt: a warp_exchange takes whole warps");
    const detail::call_scope here(caller);
    if constexpr (uses_shared) {
      route::to_striped(group, memory_.bytes, items);
    } else {
      tt::warp_blocked_to_striped(group, items);
    }
  }

  /// The inverse.
  template <class Group>
  TILETRANSPOSE_FUNCTION void striped_to_blocked(
      Group group, T (&items)[N], detail::access_site caller = detail::access_site::at()) const {
    static_assert(detail::known_lanes<Group>::value == 32, "tt: a warp_exchange takes whole warps");
    const detail::call_scope here(caller);
    if constexpr (uses_shared) {
      route::to_blocked(group, memory_.bytes, items);
    } else {
      tt::warp_striped_to_blocked(group, items);
    }
  }

 private:
  storage& memory_;
};

TILETRANSPOSE_NAMESPACE_END
