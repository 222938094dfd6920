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
using distance_type = long long;

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

/// True where some byte belongs to both.
constexpr bool overlap(memory_region a, memory_region b) {
  if (a.end() <= b.first || b.end() <= a.first) { return false; }
  if (b.rows == 1) {
    const memory_region swapped = a;
    a = b;
    b = swapped;
  }
  if (b.rows == 1) { return true; }  // two segments whose ranges overlap
  if (a.rows == 1) { a.stride_bytes = a.row_bytes; }

  // Row i of a starts x = start + i * a.stride bytes after b. It overlaps row j of b exactly where
  // j * b.stride lies above x - b.row_bytes and below x + a.row_bytes. Of such j the largest candidate
  // leaves y = x + a.row_bytes - 1 with a remainder of at most a.row_bytes + b.row_bytes - 2.
  const auto start = static_cast<distance_type>(a.first - b.first);
  const auto a_stride = static_cast<distance_type>(a.stride_bytes);
  const auto b_stride = static_cast<distance_type>(b.stride_bytes);
  const auto a_row = static_cast<distance_type>(a.row_bytes);
  const auto b_row = static_cast<distance_type>(b.row_bytes);
  const auto a_rows = static_cast<distance_type>(a.rows);
  const distance_type b_rows = static_cast<distance_type>(b.rows);
  const distance_type y0 = start + a_row - 1;

  // The rows of a that may overlap b's last row from behind: y beyond the last row's stride.
  const distance_type last = (b_rows - 1) * b_stride;
  const distance_type beyond = last + b_stride - y0;  // y >= last + b_stride from here on
  const distance_type from = beyond <= 0 ? 0 : (beyond + a_stride - 1) / a_stride;
  if (from < a_rows && start + from * a_stride < last + b_row) { return true; }

  // The rows of a whose y falls on a row of b.
  const distance_type first_row = y0 >= 0 ? 0 : (-y0 + a_stride - 1) / a_stride;
  const distance_type end_row = from < a_rows ? from : a_rows;
  if (first_row >= end_row) { return false; }
  const auto reach = static_cast<address_type>(a_row + b_row - 2);
  const auto modulus = static_cast<address_type>(b_stride);
  const auto offset = static_cast<address_type>(y0 + first_row * a_stride) % modulus;
  if (reach >= modulus || offset <= reach) { return true; }
  const address_type hit = first_hit(static_cast<address_type>(a_stride), modulus, modulus - offset,
                                     modulus - offset + reach);
  return hit < static_cast<address_type>(end_row - first_row);
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
