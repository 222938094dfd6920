// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The bank conflicts of threads that read shared memory by bank rotations, and what they read of a tile.

#pragma once

#include <tiletranspose/detail/core/packed_elements.cuh>
#include <tiletranspose/detail/tile/tile_segments.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Where in shared memory the word is that a thread reads in round `round`.
template <int Bytes, int WordBytes>
constexpr unsigned word_in_round(unsigned thread, unsigned from, unsigned round) {
  return from / WordBytes * WordBytes +
         rotation_offset<Bytes, WordBytes>(bank_rotation<Bytes, WordBytes>(thread, from), round);
}

/// The banks, a bit each, that a group of threads reads in a round, whose bytes follow each other from `from` on.
template <int Bytes, int WordBytes>
constexpr unsigned banks_of_group(unsigned group, unsigned from, unsigned round) {
  unsigned banks = 0;
  for (unsigned lane = 0; lane < bank_group<Bytes>; ++lane) {
    const unsigned own = from + lane * Bytes;
    const unsigned word =
        word_in_round<Bytes, WordBytes>(group * bank_group<Bytes> + lane, own, round) / 4;
    for (unsigned w = 0; w < WordBytes / 4; ++w) { banks |= 1u << (word + w) % 32; }
  }
  return banks;
}

/// True where the groups that are served together take a bank each of all that there are, whatever word each of them
/// begins with: then they never conflict, wherever the bytes of each of them lie. That these begin `Bytes` bytes later
/// makes every thread read what the next one of its group did.
template <int Bytes, int WordBytes>
constexpr bool rounds_share_banks(unsigned end) {
  for (unsigned round = 0; round < Bytes / WordBytes; ++round) {
    for (unsigned from = 0; from < end; from += WordBytes) {
      unsigned all = 0;
      for (unsigned group = 0; group < Bytes / WordBytes; ++group) {
        const unsigned banks = banks_of_group<Bytes, WordBytes>(group, from, round);
        if (banks != banks_of_group<Bytes, WordBytes>(group, 0, round)) { return false; }
        all |= banks;
      }
      if (all != ~0u) { return false; }
    }
  }
  return true;
}

/// Conflict ways of the first and the last access that hold the bytes of lanes whose bytes follow each other, wherever
/// they begin.
template <int Bytes>
constexpr int access_ways() {
  int worst = 0;
  for (unsigned from = 0; from < Bytes; ++from) {
    const auto first = [=](int lane) -> long long {
      return first_access<Bytes>(from + lane * Bytes);
    };
    const auto last = [=](int lane) -> long long {
      return last_access<Bytes>(from + lane * Bytes);
    };
    worst = larger(worst, larger(request_ways(first, Bytes), request_ways(last, Bytes)));
  }
  return worst;
}

/// What threads read of shared memory in a round, by the number of a vector: the view that proofs have of visit_vectors
/// and read_shared.
template <class Shape, int VectorBytes, int Bytes, int WordBytes>
struct drained_lanes {
  unsigned round;
  unsigned skew;       ///< of row 0
  unsigned skew_step;  ///< and what each row adds

  constexpr unsigned from(unsigned step) const {
    using plan = segment_rounds<Shape, VectorBytes>;
    const unsigned row = plan::row(step);
    const unsigned row_skew = (skew + row * skew_step) % sector_bytes;
    return Shape::row_offset(row) + Shape::lead_bytes +
           plan::byte(step, static_cast<int>(row_skew));
  }
  constexpr long long operator()(unsigned step) const {
    if (!segment_rounds<Shape, VectorBytes>::exists(step)) { return -1; }
    return word_in_round<Bytes, WordBytes>(step, from(step), round);
  }
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
