// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Where the elements of a reversed row come from, and the reversal of elements within an access.

#pragma once

#include <tiletranspose/detail/rows/row_segments.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// 16 bytes with the order of their elements reversed.
template <row_order Order>
TILETRANSPOSE_FUNCTION word16 turn_slot(const word16& value) {
  if constexpr (Order == row_order::turn_1 || Order == row_order::turn_2) {
    constexpr unsigned selector = Order == row_order::turn_1 ? 0x0123 : 0x1032;
    return {pick_bytes(value.w, 0, selector), pick_bytes(value.z, 0, selector),
            pick_bytes(value.y, 0, selector), pick_bytes(value.x, 0, selector)};
  } else if constexpr (Order == row_order::turn_4) {
    return {value.w, value.z, value.y, value.x};
  } else if constexpr (Order == row_order::turn_8) {
    return {value.z, value.w, value.x, value.y};
  } else {
    return value;
  }
}

/// The byte of a span's source that becomes byte `at` of the span.
template <row_order Order>
TILETRANSPOSE_FUNCTION int source_byte(const row_arguments& arguments, const row_span& span,
                                       int at) {
  if constexpr (Order == row_order::forward) {
    return at;
  } else {
    const auto byte = static_cast<unsigned>(at);
    const unsigned element = arguments.element.quotient(byte);
    return span.bytes - static_cast<int>((element + 1) * arguments.element_bytes) +
           static_cast<int>(arguments.element.remainder(byte, element));
  }
}

/// Where the source of the access that starts `start` bytes into a span starts, counted from the span's source.
template <row_order Order>
TILETRANSPOSE_FUNCTION int source_start(const row_arguments& arguments, const row_span& span,
                                        int start) {
  if constexpr (Order == row_order::forward || Order == row_order::vectors) {
    return source_byte<Order>(arguments, span, start);
  } else {
    return span.bytes - 16 - start;
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
