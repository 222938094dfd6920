// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Arrays of structures: every thread gets structures of its own, and the warp reads and writes global
/// memory as one segment. A warp moves its 32 threads' structures as consecutive accesses of up to 16 bytes and
/// hands the parts to their owners by shuffles, so structures of any size cost what their bytes cost.
///
///     struct particle { float x, y, z, vx, vy, vz, mass; };
///
///     __global__ void drift(particle* particles, std::size_t count, float seconds) {
///       const tt::static_block<256> block;
///       const std::size_t first = blockIdx.x * std::size_t{256};
///       particle p;
///       tt::load_structs(block, p, particles + first, count - first);
///       p.x += seconds * p.vx, p.y += seconds * p.vy, p.z += seconds * p.vz;
///       tt::store_structs(block, particles + first, count - first, p);
///     }
///
/// Source of the idea: trove (Catanzaro, Keller, Garland, PPoPP 2014).

#pragma once

#include <tiletranspose/warp_transpose.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <class Group, class T, int N>
TILETRANSPOSE_HOST_DEVICE constexpr bool check_structs() {
  static_assert(
      known_lanes<Group>::value % 32 == 0,
      "tt: structures are moved by whole warps; take a group of 32 threads or a multiple");
  static_assert(__is_trivially_copyable(T),
                "tt: the element type must be trivially copyable; the library moves its bytes");
  static_assert(!is_qualified<T>,
                "tt: structures must not be const or volatile; they are moved by their bytes");
  static_assert(N * sizeof(T) / access_width(sizeof(T), alignof(T)) <= 64,
                "tt: a thread's structures may take 64 accesses as wide as their type allows; move "
                "fewer at a time, or align the type");
  return true;
}

/// Where the structures of one warp lie and how many of their bytes exist, as far as the warp reaches.
template <class Byte>
struct warp_segment {
  Byte* first;
  unsigned bytes;
  unsigned lane;
};

template <class T, int N, class Group, class Byte>
TILETRANSPOSE_FUNCTION warp_segment<Byte> segment_of_warp(Group group, Byte* structs,
                                                          size_type count) {
  const unsigned lane = lane_index();
  const size_type skipped = (static_cast<size_type>(group.thread_rank()) - lane) * N;
  const size_type left = smaller<size_type>(count > skipped ? count - skipped : 0, 32 * N);
  return {structs + skipped * sizeof(T), static_cast<unsigned>(left * sizeof(T)), lane};
}

/// True where a warp may move its structures by accesses of `AccessBytes` bytes without a question; the answer is
/// the same for all of its lanes.
template <int ThreadBytes, int AccessBytes, int Alignment, class Byte>
TILETRANSPOSE_FUNCTION bool moves_whole(const warp_segment<Byte>& segment) {
  return segment.bytes == 32 * ThreadBytes &&
         (AccessBytes <= Alignment || address_bits(segment.first) % AccessBytes == 0);
}

/// Loads the warp's bytes in order, one word a lane at a time. Guarded, words that do not start in front of
/// the segment's end are left out and become zeros.
template <bool Guarded, class Word, int N>
TILETRANSPOSE_FUNCTION void load_striped(const warp_segment<const unsigned char>& segment,
                                         Word (&words)[N]) {
  const unsigned at = segment.lane * sizeof(Word);
  const unsigned char* const from = segment.first + at;
  TILETRANSPOSE_UNROLL
  for (unsigned k = 0; k < N; ++k) {
    const unsigned ahead = 32 * k * sizeof(Word);
    words[k] = Word{};
    if (!Guarded || at + ahead < segment.bytes) { words[k] = load_global<Word>(from + ahead); }
  }
}

/// The inverse; words that are left out are not written.
template <bool Guarded, class Word, int N>
TILETRANSPOSE_FUNCTION void store_striped(const warp_segment<unsigned char>& segment,
                                          const Word (&words)[N]) {
  const unsigned at = segment.lane * sizeof(Word);
  unsigned char* const to = segment.first + at;
  TILETRANSPOSE_UNROLL
  for (unsigned k = 0; k < N; ++k) {
    const unsigned ahead = 32 * k * sizeof(Word);
    if (!Guarded || at + ahead < segment.bytes) { store_global(to + ahead, words[k]); }
  }
}

/// Loads by accesses of `AccessBytes` bytes, the warp's all `whole` or each behind a question.
template <int AccessBytes, class T, int N>
TILETRANSPOSE_FUNCTION void load_struct_accesses(const warp_segment<const unsigned char>& segment,
                                                 bool whole, T (&items)[N]) {
  access_word_t<AccessBytes> words[N * sizeof(T) / AccessBytes];
  if (whole) {
    load_striped<false>(segment, words);
  } else {
    load_striped<true>(segment, words);
  }
  warp_striped_to_blocked(static_warp{}, words);
  detail::copy_bytes(items, words, sizeof(words));
}

template <int AccessBytes, class T, int N>
TILETRANSPOSE_FUNCTION void store_struct_accesses(const warp_segment<unsigned char>& segment,
                                                  bool whole, const T (&items)[N]) {
  access_word_t<AccessBytes> words[N * sizeof(T) / AccessBytes];
  detail::copy_bytes(words, items, sizeof(words));
  warp_blocked_to_striped(static_warp{}, words);
  if (whole) {
    store_striped<false>(segment, words);
  } else {
    store_striped<true>(segment, words);
  }
}

}  // namespace detail

/// Loads N consecutive structures per thread, coalesced.
///
///     items[j] of the thread of rank t == structs[t * N + j]    where t * N + j < count, else zero bytes
///
/// N structures travel in accesses as wide as N * sizeof(T) and the address allow, up to 16 bytes: one of 12
/// bytes in 4-byte accesses, four of them in 16-byte ones. Where a warp's structures do not all exist, or start
/// off a multiple of that width, accesses are as wide as T's size and alignment promise.
/// \param group    whole warps in which lane l has a rank of l modulo 32: `static_warp`, `static_block`, a
///                 cooperative-groups block; all of its threads call
/// \param items    structures of the thread: trivially copyable, of any size of which N structures take at most
///                 64 of the promised accesses
/// \param structs  global memory, aligned as T
/// \param count    structures that exist from `structs` on; may be more than group.size() * N
/// Shared memory: none. Barriers: none.
template <class Group, class T, int N>
TILETRANSPOSE_FUNCTION void load_structs(Group group, T (&items)[N], const T* structs,
                                         size_type count,
                                         detail::access_site caller = detail::access_site::at()) {
  static_assert(detail::check_structs<Group, T, N>(), "");
  const detail::call_scope here(caller);
  constexpr int bytes = N * static_cast<int>(sizeof(T));
  constexpr int wide = access_width(bytes);
  constexpr int promised = access_width(sizeof(T), alignof(T));
  const auto segment =
      detail::segment_of_warp<T, N>(group, reinterpret_cast<const unsigned char*>(structs), count);
  const bool whole = detail::moves_whole<bytes, wide, alignof(T)>(segment);
  if (wide == promised || whole) {
    detail::load_struct_accesses<wide>(segment, whole, items);
  } else {
    detail::load_struct_accesses<promised>(segment, false, items);
  }
}

/// Loads one structure per thread: item of the thread of rank t == structs[t].
template <class Group, class T>
TILETRANSPOSE_FUNCTION void load_structs(Group group, T& item, const T* structs, size_type count,
                                         detail::access_site caller = detail::access_site::at()) {
  tt::load_structs(group, reinterpret_cast<T(&)[1]>(item), structs, count, caller);
}

/// Stores N consecutive structures per thread, coalesced; parameters as for `load_structs`.
///
///     structs[t * N + j] == items[j] of the thread of rank t    where t * N + j < count
///
/// Memory behind `count` structures is left alone.
/// Shared memory: none. Barriers: none.
template <class Group, class T, int N>
TILETRANSPOSE_FUNCTION void store_structs(Group group, T* structs, size_type count,
                                          const T (&items)[N],
                                          detail::access_site caller = detail::access_site::at()) {
  static_assert(detail::check_structs<Group, T, N>(), "");
  const detail::call_scope here(caller);
  constexpr int bytes = N * static_cast<int>(sizeof(T));
  constexpr int wide = access_width(bytes);
  constexpr int promised = access_width(sizeof(T), alignof(T));
  const auto segment =
      detail::segment_of_warp<T, N>(group, reinterpret_cast<unsigned char*>(structs), count);
  const bool whole = detail::moves_whole<bytes, wide, alignof(T)>(segment);
  if (wide == promised || whole) {
    detail::store_struct_accesses<wide>(segment, whole, items);
  } else {
    detail::store_struct_accesses<promised>(segment, false, items);
  }
}

/// Stores one structure per thread: structs[t] == item of the thread of rank t.
template <class Group, class T>
TILETRANSPOSE_FUNCTION void store_structs(Group group, T* structs, size_type count, const T& item,
                                          detail::access_site caller = detail::access_site::at()) {
  tt::store_structs(group, structs, count, reinterpret_cast<const T(&)[1]>(item), caller);
}

TILETRANSPOSE_NAMESPACE_END
