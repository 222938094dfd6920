// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Who holds which rows of a distributed matrix. Plain C++17, no CUDA needed.
///
///     // 10 rows over 4 ranks: 3, 3, 2 and 2 of them.
///     static_assert(tt::partition_begin(10, 4, 1) == 3 && tt::partition_count(10, 4, 3) == 2);

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN

/// The first of `total` rows that `rank` holds where they are dealt out evenly: each rank has total / ranks of them, and
/// the first total % ranks ranks have one more. For `rank == ranks` it is `total`.
/// Precondition: ranks >= 1, 0 <= rank <= ranks.
TILETRANSPOSE_HOST_DEVICE constexpr size_type partition_begin(size_type total, size_type ranks,
                                                              size_type rank) {
  const size_type extra = total % ranks;
  return total / ranks * rank + (rank < extra ? rank : extra);
}

/// How many of them it holds. Precondition: 0 <= rank < ranks.
TILETRANSPOSE_HOST_DEVICE constexpr size_type partition_count(size_type total, size_type ranks,
                                                              size_type rank) {
  return partition_begin(total, ranks, rank + 1) - partition_begin(total, ranks, rank);
}

/// How `total` rows are dealt out: evenly, which a number converts to, or as the caller says.
///
///     constexpr std::size_t begins[] = {0, 1, 1, 10};   // rank 0 holds row 0, rank 1 nothing, rank 2 the other nine
///     constexpr tt::partition uneven{10, begins};
struct partition {
  size_type total;
  const size_type*
      begins;  ///< null where even; else the first row of each rank, and `total` behind them

  TILETRANSPOSE_HOST_DEVICE constexpr partition(size_type rows,
                                                const size_type* begin_of_ranks = nullptr)
      : total(rows), begins(begin_of_ranks) {}

  /// The first row of a rank; `total` for rank == ranks.
  TILETRANSPOSE_HOST_DEVICE constexpr size_type begin(int ranks, int rank) const {
    return begins != nullptr ? begins[rank]
                             : partition_begin(total, static_cast<size_type>(ranks),
                                               static_cast<size_type>(rank));
  }
  /// How many rows a rank holds.
  TILETRANSPOSE_HOST_DEVICE constexpr size_type count(int ranks, int rank) const {
    return begin(ranks, rank + 1) - begin(ranks, rank);
  }
  /// True where every row has one rank: the first rank starts at 0, none before the one in front of it, and the last
  /// one ends at `total`.
  TILETRANSPOSE_HOST_DEVICE constexpr bool is_valid(int ranks) const {
    if (ranks < 1 || begin(ranks, 0) != 0 || begin(ranks, ranks) != total) { return false; }
    for (int rank = 0; rank < ranks; ++rank) {
      if (begin(ranks, rank + 1) < begin(ranks, rank)) { return false; }
    }
    return true;
  }
  /// The most rows that one rank holds.
  TILETRANSPOSE_HOST_DEVICE constexpr size_type longest(int ranks) const {
    size_type most = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      most = count(ranks, rank) > most ? count(ranks, rank) : most;
    }
    return most;
  }
};

TILETRANSPOSE_NAMESPACE_END
