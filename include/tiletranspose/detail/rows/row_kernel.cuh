// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernel that moves rows which stay rows: they are copied, reversed, or trade places in place.
///
/// A block takes *segments* of rows and writes them by accesses of 16 bytes that start on the output's lines, wherever
/// the input's lines are. There are three ways to what such an access writes:
///
/// *together* (row_staged.cuh): the 16 bytes lie together in the input, because rows are copied or their elements have
/// 1, 2, 4, 8 or 16 bytes, or a multiple of 16. The segment is copied to shared memory as it lies in the input, two
/// accesses to it are shifted together, and their elements are reversed in registers.
///
///     segment of the input    ..[0 1 2 3 4 5 6 7 8 9]......     elements of 1 byte, words of 4
///     word 1 of the output           reversed(2 3 4 5) = 5 4 3 2
///     segment of the output   .....[9 8 7 6 5 4 3 2 1 0]...
///
/// *grouped* (row_grouped.cuh): the segment is copied to shared memory; a thread reads the fewest elements that are
/// whole words, reverses them by a pattern that the compiler knows, and leaves them where accesses of the output are
/// accesses of shared memory.
///
///     3 words of the input      a b c d|e f g h|i j k l     elements of 3 bytes, a letter for each byte
///     reversed by their thread  j k l g|h i d e|f a b c
///
/// *row-staged* (row_staged.cuh): rows are short, elements are large, or the kernel does not know their size. Words or
/// accesses are put together from the segment in shared memory.
///
/// What lies at the ends of a segment outside of whole accesses is moved by bytes, so that no byte outside of a row is
/// written. In place, a block takes a segment and the one it trades places with; it reads both before it writes either,
/// and no other block writes them.

#pragma once

#include <tiletranspose/detail/rows/row_grouped.cuh>
#include <tiletranspose/detail/rows/row_staged.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The kernel's body. `Element` is the size of an element where the kernel is made for it, else 0.
/// Shared memory, aligned to 16: grouped_bytes for groups; else 16 bytes, and `segment_pitch` bytes per segment.
/// Barriers: at most two, inside.
/// Precondition: the group has `threads` threads.
template <row_order Order, int Element, class Group>
TILETRANSPOSE_FUNCTION void move_rows(Group group, unsigned char* shared,
                                      const row_arguments& arguments, unsigned block) {
  const row_work work = find_work(arguments, block, group.thread_rank());
  if constexpr (Order == row_order::grouped) {
    stage_segments<row_rounds>(shared + group_margin, work);
    group.sync();
    reverse_groups<Element>(shared, work);
    group.sync();
    write_groups(shared, work);
  } else {
    stage_segments<shared_rounds(Order)>(shared, work);
    group.sync();
    write_segments<Order, Element>(shared, work);
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
