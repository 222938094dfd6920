// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernel that moves rows which stay rows: copied, reversed, or traded with others in place.
///
/// A block takes *spans*, pieces of rows, and writes them by accesses of 16 bytes that start where the output's
/// lines do, wherever the input's lie. There are three ways to what such an access writes:
///
/// *direct*: the 16 bytes lie together in the input, as where rows are copied or their elements are 1, 2, 4, 8
/// or 16 bytes. Where they are an access of the input, too, a turn in registers is all; else the span is
/// staged in shared memory as it lies in the input, and two accesses to that are shifted together.
///
///     span of the input    ..[0 1 2 3 4 5 6 7 8 9]......     elements of 1 byte, words of 4
///     word 1 of the output           turned(2 3 4 5) = 5 4 3 2
///     span of the output   .....[9 8 7 6 5 4 3 2 1 0]...
///
/// *gathered*: a thread reads the fewest elements that are whole accesses, reverses them in registers by a pattern
/// that the compiler knows, and leaves them in shared memory where the reversed span has them. From there
/// accesses are shifted together.
///
///     3 accesses of the input   a b c d|e f g h|i j k l     elements of 12 bytes, a letter for each word
///     reversed by their thread  j k l g|h i d e|f a b c
///
/// *grouped*: the same where the group is too large to be read so. The span is staged; a thread reads the fewest
/// elements that are whole words, reverses them, and leaves them where accesses of the output are accesses of shared
/// memory.
///
/// *staged*: rows are short, elements large, or the kernel does not know their size. Words are assembled from the
/// staged span.
///
/// What lies at the ends of a span outside of whole accesses is moved by bytes: no byte outside of a row is
/// written. In place, a block takes a span and the one it trades places with; both are read before either
/// is written, and no other block writes them.

#pragma once

#include <tiletranspose/banks.cuh>

#include <tiletranspose/detail/rows/row_direct.cuh>
#include <tiletranspose/detail/rows/row_gathered.cuh>
#include <tiletranspose/detail/rows/row_grouped.cuh>
#include <tiletranspose/detail/rows/row_staged.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The kernel's body. `Element` is the size of an element where the kernel knows it, else 0.
/// Shared memory, aligned to 16: none where nothing is shifted; for what is gathered, `group_pitch` bytes per
/// span, rounded up to 128; for groups, grouped_bytes; else 16 bytes, and `span_pitch` bytes per span. Barriers: at
/// most two, inside.
/// Precondition: the group has `threads` threads.
template <row_order Order, int Element, class Group>
TILETRANSPOSE_FUNCTION void move_rows(Group group, unsigned char* shared,
                                      const row_arguments& arguments, unsigned block) {
  const row_work work = find_work(arguments, block);
  const unsigned rank = group.thread_rank();
  if constexpr (is_direct(Order)) {
    if (arguments.shifted) {
      stage_spans<row_rounds>(shared, arguments, work, rank);
      group.sync();
      write_shifted<Order>(shared, arguments, work, rank);
    } else if (arguments.swaps) {
      trade_direct<Order>(arguments, work, rank);
    } else {
      move_direct<Order>(arguments, work, rank);
    }
  } else if constexpr (Order == row_order::gathered) {
    gather_groups<Element>(shared, arguments, work, rank);
    group.sync();
    using whole = access_group<Element>;
    write_reversed<whole::accesses, whole::is_swizzled>(
        shared, arguments, work, rank, [&](unsigned index, const row_span& span) {
          const gathered_span<Element> lies(span);
          return index * arguments.group_pitch +
                 static_cast<unsigned>(lies.groups * whole::bytes - lies.lead - span.bytes);
        });
  } else if constexpr (Order == row_order::grouped) {
    stage_spans<row_rounds>(shared + group_margin, arguments, work, rank);
    group.sync();
    turn_groups<Element>(shared, arguments, work, rank);
    group.sync();
    write_groups(shared, arguments, work, rank);
  } else {
    stage_spans<staged_rounds(Order)>(shared, arguments, work, rank);
    group.sync();
    write_spans<Order, Element>(shared, arguments, work, rank);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
