// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Rows that are gathered: each thread reads the elements of a group from the input, and leaves them reversed in shared
/// memory.

#pragma once

#include <tiletranspose/banks.cuh>
#include <tiletranspose/detail/choose/choose_rows.cuh>
#include <tiletranspose/detail/rows/element_reversal.cuh>
#include <tiletranspose/detail/rows/row_accesses.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Where threads keep bytes that each of them writes by accesses `stride` accesses away from its neighbours'. With
/// strides of 2 or 4 every second or fourth of them would have the same banks.
///
///     byte of shared memory   .. b9 b8 b7 | b6 b5 b4 | b3 b2 b1 b0      the middle is xored with the left
template <bool IsSwizzled>
TILETRANSPOSE_HOST_DEVICE constexpr unsigned place_in_groups(unsigned byte) {
  return IsSwizzled ? byte ^ (byte >> 3 & 0x70) : byte;
}

/// The fewest elements that are whole accesses; three or four accesses where fewer would do. They are an odd
/// number where the element allows it, so that threads which write a group each do not conflict.
template <int Element>
struct access_group {
  static constexpr int aligned =
      access_width(Element);  // addresses of elements that these bytes divide
  static constexpr int least = Element / aligned;
  static constexpr int accesses = group_accesses(Element);
  static constexpr int bytes = accesses * max_access_bytes;
  static constexpr int words = bytes / 4;
  static constexpr bool is_swizzled = accesses % 2 == 0;

  /// Elements by which a group must start before an element at `address` to start at a multiple of 16, or
  /// as few bytes behind one as the address is behind a multiple of `aligned`.
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned lead(unsigned address) {
    return address / aligned * inverse() % (max_access_bytes / aligned);
  }
  /// The byte of the group that becomes byte `at` of the reversed group.
  TILETRANSPOSE_HOST_DEVICE static constexpr int source(int at) {
    return (bytes / Element - 1 - at / Element) * Element + at % Element;
  }
  struct group_lanes {
    unsigned first;   ///< byte of the first lane's access
    unsigned stride;  ///< bytes from lane to lane
    TILETRANSPOSE_HOST_DEVICE constexpr long long operator()(unsigned lane) const {
      return place_in_groups<is_swizzled>(first + lane * stride);
    }
  };
  /// Conflict ways of the threads that write access after access of their groups, and of those that read accesses
  /// which follow each other, wherever the first of them lies.
  TILETRANSPOSE_HOST_DEVICE static constexpr int write_ways() {
    int worst = 0;
    for (unsigned access = 0; access < accesses; ++access) {
      worst = larger(worst, request_ways(group_lanes{16 * access, bytes}, 16));
    }
    return worst;
  }
  TILETRANSPOSE_HOST_DEVICE static constexpr int read_ways() {
    int worst = 0;
    for (unsigned first = 0; first < (is_swizzled ? 8 : 1); ++first) {
      worst = larger(worst, request_ways(group_lanes{16 * first, 16}, 16));
    }
    return worst;
  }

 private:
  TILETRANSPOSE_HOST_DEVICE static constexpr unsigned inverse() {
    unsigned result = 1;
    while (result * least % (max_access_bytes / aligned) != 1 % (max_access_bytes / aligned)) {
      ++result;
    }
    return result;
  }
};

/// Writes segments that lie in shared memory as the output has them, the first byte of each at
/// first_of(index, segment), in accesses that start at multiples of 16.
template <int Rounds, bool IsSwizzled, class First>
TILETRANSPOSE_FUNCTION void write_reversed(const unsigned char* shared,
                                           const row_arguments& arguments, const row_work& work,
                                           unsigned rank, First first_of) {
  const thread_segment own = find_thread_segment(arguments, work, rank);
  const unsigned first = first_of(own.index, own.segment);
  const unsigned shift = (first - (address_bits(own.segment.to) & arguments.line_mask)) % 16;
  store_accesses<Rounds>(arguments, own, [&](int start) {
    const unsigned low = first + static_cast<unsigned>(start) - shift;
    return shift_together<16>(
        load_shared<word16>(shared + place_in_groups<IsSwizzled>(low)),
        load_shared<word16>(shared + place_in_groups<IsSwizzled>(low + (shift == 0 ? 0 : 16))),
        shift);
  });
  for_each_end(arguments, work, rank, 1, [&](unsigned index, const row_segment& segment, int at) {
    const unsigned byte = first_of(index, segment) + static_cast<unsigned>(at);
    store_global(segment.to + at,
                 load_shared<unsigned char>(shared + place_in_groups<IsSwizzled>(byte)));
  });
}

/// How a segment lies in the groups that are gathered for it.
template <int Element>
struct gathered_segment {
  int lead;    ///< bytes of the first group that lie before the segment
  int groups;  ///< that hold the segment

  TILETRANSPOSE_FUNCTION explicit gathered_segment(const row_segment& segment) {
    using whole = access_group<Element>;
    lead = static_cast<int>(whole::lead(address_bits(segment.from))) * Element;
    groups = (segment.bytes + lead + whole::bytes - 1) / whole::bytes;
  }
};

/// Reads the groups of the segments, one a thread, and leaves them in shared memory reversed. The caller owes
/// group.sync() before they are read.
template <int Element>
TILETRANSPOSE_FUNCTION void gather_groups(unsigned char* shared, const row_arguments& arguments,
                                          const row_work& work, unsigned rank) {
  using whole = access_group<Element>;
  static_assert(whole::write_ways() == 1, "a shipped group must not conflict");
  // Lanes that read accesses one after the other do not conflict where accesses eight apart lie in the same banks, but
  // lanes that each write a group of four accesses do: such groups, of elements of 32 and 64 bytes, take two ways to
  // read instead of four to write.
  static_assert(whole::read_ways() == (whole::is_swizzled ? 2 : 1), "");
  const thread_segment own = find_thread_segment(arguments, work, rank);
  const row_segment& segment = own.segment;
  const gathered_segment<Element> lies(segment);
  const auto at = static_cast<int>(own.at);
  if (segment.bytes == 0 || at >= lies.groups) { return; }
  const unsigned first = own.index * arguments.group_pitch +
                         static_cast<unsigned>((lies.groups - 1 - at) * whole::bytes);
  const auto to = [&](int access) {
    return shared + place_in_groups<whole::is_swizzled>(first + static_cast<unsigned>(16 * access));
  };
  const unsigned past = address_bits(segment.from) % whole::aligned;
  const int start = at * whole::bytes - lies.lead - static_cast<int>(past);
  constexpr int most = whole::accesses + 1;
  const access_range may_read = readable(segment);
  word16 loaded[most];
  loaded[whole::accesses] = {0, 0, 0, 0};
  const int last = start + 16 * (past == 0 ? whole::accesses - 1 : whole::accesses);
  if (may_read.holds(start) && may_read.holds(last)) {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < whole::accesses; ++i) {
      const loop_step here(i);
      loaded[i] = load_around(segment, start + 16 * i);
    }
    if (past != 0) { loaded[whole::accesses] = load_around(segment, last); }
  } else {
    // By way of the place of the result: registers hold no array that is filled in a loop.
    stage_inside(to(0), segment, last);
    if (past != 0) { loaded[whole::accesses] = load_shared<word16>(to(0)); }
    TILETRANSPOSE_UNROLL_BY(1)
    for (int i = 0; i < whole::accesses; ++i) {
      const loop_step here(i);
      stage_inside(to(i), segment, start + 16 * i);
    }
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < whole::accesses; ++i) {
      const loop_step here(i);
      loaded[i] = load_shared<word16>(to(i));
    }
  }
  if (past != 0) {
    TILETRANSPOSE_UNROLL
    for (int i = 0; i < whole::accesses; ++i) {
      loaded[i] = shift_together<16>(loaded[i], loaded[i + 1], past);
    }
  }
  unsigned words[whole::words];
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < whole::accesses; ++i) {
    words[4 * i] = loaded[i].x;
    words[4 * i + 1] = loaded[i].y;
    words[4 * i + 2] = loaded[i].z;
    words[4 * i + 3] = loaded[i].w;
  }
  unsigned reversed[whole::words];
  reverse_words<whole>(words, [&](int w, unsigned word) { reversed[w] = word; });
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < whole::accesses; ++i) {
    const loop_step here(i);
    store_shared(to(i), word16{reversed[4 * i], reversed[4 * i + 1], reversed[4 * i + 2],
                               reversed[4 * i + 3]});
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
