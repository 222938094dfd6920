// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How a distributed transpose is cut: which part of the matrix goes from which rank to which in which step, and where it
/// lies in scratch meanwhile. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/partition.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Columns [x, x + cols) and rows [y, y + rows) of the whole input, which travel to or from `peer` in one message. It is
/// transposed already: cols rows of `rows` elements, one behind the other, at `offset` of the step's half of its buffer.
struct exchange_slice {
  int peer;
  size_type x;
  size_type cols;
  size_type y;
  size_type rows;
  size_type offset;  ///< bytes
  size_type bytes;
};

/// Which messages of a rank are meant.
enum class messages { sent, received };

/// Messages start on lines of the L2 cache.
inline constexpr size_type slice_alignment = 256;

/// Buffers between which the steps alternate: one is filled, one travels, one is put into place.
inline constexpr size_type exchange_buffers = 3;

/// The most that a rank sends in a step where the caller does not say it, as much as scratch should take. Two H200s, 4 GiB: by
/// copies 64 and 88 MiB a step reach 91.6, 92.8 % of a bare copy with 4 bytes, 89.9, 93.8 with 1, 90.6, 91.6 with 8; through
/// windows 64, 88 and 120 reach 92.3, 94.7, 95.1 % of NCCL's own exchange with 4 bytes, 92.2, 94.7, 95.5 with 8.
inline constexpr size_type most_copied_bytes = size_type{88} << 20;
inline constexpr size_type most_nccl_bytes = size_type{120} << 20;

/// An eighth of all that a rank sends, so that little is left when the last step has travelled, but enough for long messages.
/// Of more than two ranks twice as much: four H200s, floats, by copies 57 to 69 -> 79 % of bare ones, through windows 87 -> 92.
constexpr size_type tuned_step_bytes(size_type sent_bytes, int ranks, size_type most_bytes) {
  const size_type others = static_cast<size_type>(ranks - 1) << 20;  // a mebibyte each
  const size_type times = ranks > 2 ? 2 : 1;
  return smaller(larger(times * sent_bytes / 8, larger<size_type>(others, 16 << 20)),
                 larger(others, times * most_bytes));
}

/// The exchange as one rank sees it. All ranks that are given the same numbers cut alike, without asking each other.
/// Every message is cut into as many slices as there are steps, along the longer side of the matrix.
struct exchange_plan {
  partition columns;
  partition rows;
  int ranks;
  int rank;
  size_type element_bytes;  ///< of what stays together: an element, or a sub-array
  size_type steps = 1;
  size_type send_bytes = 0;  ///< of the two halves of a buffer
  size_type receive_bytes = 0;

  /// \param step_bytes  about so much one rank sends in a step; 0: tuned, up to `most_bytes`
  /// Precondition: the partitions are valid and the matrix fits the address space.
  constexpr exchange_plan(partition all_columns, partition all_rows, int all_ranks, int own_rank,
                          size_type element, size_type step_bytes,
                          size_type most_bytes = most_copied_bytes)
      : columns(all_columns),
        rows(all_rows),
        ranks(all_ranks),
        rank(own_rank),
        element_bytes(element) {
    size_type most = 0;  // bytes that a rank sends or receives
    for (int r = 0; r < ranks; ++r) {
      const size_type own_rows = rows.count(ranks, r);
      const size_type own_columns = columns.count(ranks, r);
      const size_type sent = own_rows * (columns.total - own_columns);
      const size_type received = own_columns * (rows.total - own_rows);
      most = larger(most, larger(sent, received) * element_bytes);
    }
    const size_type longest = (cuts_columns() ? columns : rows).longest(ranks);
    steps =
        divide_up(most, step_bytes > 0 ? step_bytes : tuned_step_bytes(most, ranks, most_bytes));
    steps = larger<size_type>(smaller(steps, longest), 1);
    *this = seen_by(rank);
  }

  /// The same exchange as another rank sees it.
  constexpr exchange_plan seen_by(int other) const {
    exchange_plan result = *this;
    result.rank = other;
    result.send_bytes = result.for_each(messages::sent, 0, [](const exchange_slice&) {});
    result.receive_bytes = result.for_each(messages::received, 0, [](const exchange_slice&) {});
    return result;
  }

  /// The first row of the output that this rank holds, and of the input.
  constexpr size_type first_column() const { return columns.begin(ranks, rank); }
  constexpr size_type first_row() const { return rows.begin(ranks, rank); }
  constexpr size_type buffers() const { return smaller(steps, exchange_buffers); }

  /// What `from` holds of the rows that `to` will hold, in one step. `offset` is still to be set.
  constexpr exchange_slice slice(size_type step, int from, int to) const {
    exchange_slice result{};
    result.x = columns.begin(ranks, to);
    result.cols = columns.count(ranks, to);
    result.y = rows.begin(ranks, from);
    result.rows = rows.count(ranks, from);
    size_type& first = cuts_columns() ? result.x : result.y;
    size_type& length = cuts_columns() ? result.cols : result.rows;
    first += partition_begin(length, steps, step);
    length = partition_count(length, steps, step);
    result.bytes = result.rows * result.cols * element_bytes;
    return result;
  }

  /// What stays on this rank, in slices too.
  constexpr exchange_slice kept(size_type step) const { return slice(step, rank, rank); }

  /// Calls use(slice) for every message that this rank sends in a step, or for what it receives. It sends to the next
  /// rank first, and receives from the one before first: where messages go one after the other, no rank has two at once.
  /// Returns the bytes of a buffer's half. A message has as many as that of the first step, which is the longest.
  template <class Use>
  constexpr size_type for_each(messages way, size_type step, Use use) const {
    size_type offset = 0;
    for (int i = 1; i < ranks; ++i) {
      const int peer = (rank + (way == messages::sent ? i : ranks - i)) % ranks;
      const int from = way == messages::sent ? rank : peer;
      const int to = way == messages::sent ? peer : rank;
      exchange_slice message = slice(step, from, to);
      message.peer = peer;
      message.offset = offset;
      if (message.bytes > 0) { use(message); }
      offset += divide_up(slice(0, from, to).bytes, slice_alignment) * slice_alignment;
    }
    return offset;
  }

 private:
  constexpr bool cuts_columns() const { return columns.total >= rows.total; }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
