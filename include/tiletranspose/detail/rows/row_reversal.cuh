// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Where the elements of a reversed row come from, and the reversal of elements within an access.

#pragma once

#include <tiletranspose/detail/choose/choose_rows.cuh>
#include <tiletranspose/detail/rows/row_segments.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// 16 bytes with their elements of `Element` bytes reversed; as they are where that is 0 or 16.
template <int Element>
TILETRANSPOSE_FUNCTION word16 reverse_elements(const word16& value) {
  if constexpr (Element == 1 || Element == 2) {
    constexpr unsigned selector = Element == 1 ? 0x0123 : 0x1032;
    return {pick_bytes(value.w, 0, selector), pick_bytes(value.z, 0, selector),
            pick_bytes(value.y, 0, selector), pick_bytes(value.x, 0, selector)};
  } else if constexpr (Element == 4) {
    return {value.w, value.z, value.y, value.x};
  } else if constexpr (Element == 8) {
    return {value.z, value.w, value.x, value.y};
  } else {
    return value;
  }
}

/// The byte of a segment's source that becomes byte `at` of the segment.
template <row_order Order>
TILETRANSPOSE_FUNCTION int source_byte(const row_arguments& arguments, const row_segment& segment,
                                       int at) {
  if constexpr (Order == row_order::forward) {
    return at;
  } else {
    const auto byte = static_cast<unsigned>(at);
    const unsigned element = arguments.element.quotient(byte);
    return segment.bytes - static_cast<int>((element + 1) * arguments.element_bytes) +
           static_cast<int>(arguments.element.remainder(byte, element));
  }
}

/// Where the source of the access that starts `start` bytes into a segment starts, counted from the segment's source.
template <row_order Order>
TILETRANSPOSE_FUNCTION int source_start(const row_arguments& arguments, const row_segment& segment,
                                        int start) {
  if constexpr (Order == row_order::forward || Order == row_order::vectors) {
    return source_byte<Order>(arguments, segment, start);
  } else {
    return segment.bytes - 16 - start;
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
