// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Do two pitched regions of memory share a byte? Exact, in logarithmic time, so that two interleaved
/// sub-matrices of one parent are told from two that overlap. Plain C++17, host only.

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

using address_type = unsigned long long;

/// `rows` segments of `row_bytes` bytes, `stride_bytes` from start to start.
/// Invariant: row_bytes <= stride_bytes where rows > 1, and the whole fits the address space.
struct memory_region {
  address_type first;
  address_type rows;
  address_type row_bytes;
  address_type stride_bytes;

  constexpr address_type end() const { return first + (rows - 1) * stride_bytes + row_bytes; }
};

inline constexpr address_type never = ~address_type{0};

/// The least x with low <= step * x mod modulus <= high, or `never`.
/// Precondition: low <= high < modulus. The classic descent of Euclid's algorithm on the interval.
constexpr address_type first_hit(address_type step, address_type modulus, address_type low,
                                 address_type high) {
  step %= modulus;
  if (low == 0) { return 0; }
  if (step == 0) { return never; }
  const address_type direct = (low + step - 1) / step;
  if (direct * step <= high) { return direct; }
  const address_type wraps =
      first_hit(modulus % step, step, (step - high % step) % step, (step - low % step) % step);
  if (wraps == never || wraps > (never - low - step) / modulus) { return never; }
  return (low + modulus * wraps + step - 1) / step;
}

/// True where some byte belongs to both. Of a's rows only those matter that reach into what lies between b's first byte and
/// its last. Of these, one shares a byte with a row of b where its last byte lies at most a.row_bytes + b.row_bytes - 2 bytes
/// behind the last start of such a row: else all of it lies in the gap between two of them.
constexpr bool overlap(memory_region a, memory_region b) {
  if (a.end() <= b.first || b.end() <= a.first) { return false; }
  if (a.rows == 1) { a.stride_bytes = a.row_bytes; }  // from a single row no stride leads anywhere
  if (b.rows == 1) { b.stride_bytes = b.row_bytes; }
  const address_type step = a.stride_bytes;
  const address_type last = a.first + a.row_bytes - 1;  // byte of the first row
  const address_type first_row = last >= b.first ? 0 : (b.first - last + step - 1) / step;
  const address_type before_end = (b.end() - a.first + step - 1) / step;
  const address_type end_row = before_end < a.rows ? before_end : a.rows;
  if (first_row >= end_row) { return false; }
  const address_type reach = a.row_bytes + b.row_bytes - 2;
  const address_type offset = (last + first_row * step - b.first) % b.stride_bytes;
  if (offset <= reach) { return true; }
  const address_type low = b.stride_bytes - offset;
  return first_hit(step, b.stride_bytes, low, low + reach) < end_row - first_row;
}

/// `count` regions that are alike, `step_bytes` from start to start.
/// Invariant: each ends before the next one starts, and all of them fit the address space.
struct region_batch {
  memory_region first;
  address_type count;
  address_type step_bytes;

  constexpr memory_region at(address_type index) const {
    memory_region result = first;
    result.first += index * step_bytes;
    return result;
  }
  /// The first of them from `index` on that ends behind an address, or `count`. Precondition: index <= count.
  constexpr address_type ends_behind(address_type index, address_type address) const {
    const address_type end = at(index).end();
    if (end > address) { return index; }
    const address_type further = (address - end) / step_bytes + 1;
    return further < count - index ? index + further : count;
  }
};

/// The same for batches: in the order of their addresses each region is compared with those that it may share a byte
/// with. As many steps as there are regions that lie between those of the other batch.
constexpr bool overlap_batches(const region_batch& a, const region_batch& b) {
  for (address_type i = 0, j = 0; i < a.count && j < b.count;) {
    const memory_region one = a.at(i);
    const memory_region other = b.at(j);
    if (overlap(one, other)) { return true; }
    if (one.end() <= other.end()) {
      i = a.ends_behind(i + 1, other.first);
    } else {
      j = b.ends_behind(j + 1, one.first);
    }
  }
  return false;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
