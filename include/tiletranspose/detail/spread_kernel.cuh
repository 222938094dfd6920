// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Pieces of memory that move away from each other, or together, in one pass and in place.

#pragma once

#include <tiletranspose/detail/copy_async.cuh>
#include <tiletranspose/detail/divide.cuh>
#include <tiletranspose/detail/memory.cuh>
#include <tiletranspose/detail/packed_elements.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline constexpr int spread_threads = 256;
/// Bytes that a block moves, at most. H200, 2026-11-22, % of cudaMemcpyAsync with 8, 16 and 32 KB, all steps of 1000 x
/// 1073741 bytes: 20.8, 24.0, 25.8; 64 KB and 512 threads 26.1, which older GPUs have no room for.
inline constexpr unsigned spread_bytes = 32 * 1024;

/// Step 3 of chunk_kernel.cuh: pieces of memory that move away from each other, all by less than some tiles.
struct spread_arguments {
  const unsigned char* source;  ///< the data
  unsigned char* data;
  unsigned* ticket;       ///< of the next tile
  unsigned* read;         ///< tiles that have been read: one for each
  size_type piece;        ///< bytes of a piece
  size_type source_step;  ///< bytes from piece to piece
  size_type target_step;
  size_type bytes;  ///< of the target
  unsigned tile_bytes;
  unsigned tiles;
  unsigned reach;  ///< tiles before it that a tile may be written over

  /// Up to the end of the last piece.
  size_type source_bytes() const {
    const size_type pieces = divide_up(bytes, target_step);
    return (pieces - 1) * source_step + piece;
  }
};

/// One tile of the target; the last one comes first, or undone, the first one.
/// Preconditions: tiles that have smaller tickets have started; a tile is no larger than a piece, and larger than what
/// pieces have between them.
/// Shared memory: tile_bytes, what pieces have between them, and 32 bytes; aligned to 16. Barriers: two, inside.
template <bool Undo, int Unit, class Group>
TILETRANSPOSE_FUNCTION void spread_tile(Group group, unsigned char* shared,
                                        const spread_arguments& arguments, unsigned ticket) {
  using unit = access_word_t<Unit>;
  const unsigned rank = group.thread_rank();
  const unsigned tile = Undo ? ticket : arguments.tiles - 1 - ticket;
  const size_type begin = size_type{tile} * arguments.tile_bytes;
  const size_type end = smaller(arguments.bytes, begin + arguments.tile_bytes);
  // A tile is of two pieces at most, which are so far away from where they were.
  const size_type number = begin / arguments.target_step;
  const size_type first_end =
      larger(begin, smaller(end, number * arguments.target_step + arguments.piece));
  const size_type second = smaller(end, (number + 1) * arguments.target_step);
  const size_type step = arguments.source_step - arguments.target_step;  // modulo 2^64
  const size_type source_begin =
      (begin < first_end ? begin + number * step : second + (number + 1) * step);
  const size_type source_end = second < end ? end + (number + 1) * step : first_end + number * step;
  const size_type low = source_begin / 16 * 16;
  for (size_type at = low + rank * 16; at < source_end; at += group.size() * 16) {
    const int head = at < source_begin ? static_cast<int>(source_begin - at) : 0;
    const int tail = static_cast<int>(smaller<size_type>(source_end - at, 16));
    copy_part_async(shared + (at - low), arguments.source + at, head, tail);
  }
  commit_copies();
  wait_for_copies(0);
  group.sync();
#if TILETRANSPOSE_ON_DEVICE
  if (rank == 0) {
    __threadfence();
    *static_cast<volatile unsigned*>(arguments.read + ticket) = 1;
  }
  for (unsigned back = rank + 1; back <= smaller(arguments.reach, ticket); back += group.size()) {
    while (*static_cast<volatile unsigned*>(arguments.read + ticket - back) == 0) {
      __nanosleep(32);
    }
    __threadfence();
  }
#endif
  group.sync();

  unsigned char* const target = arguments.data + begin;
  const auto length = static_cast<unsigned>(end - begin);
  const auto first_length = static_cast<unsigned>(first_end - begin);
  const auto second_start = static_cast<unsigned>(second - begin);
  const auto first_shift = static_cast<unsigned>(begin + number * step - low);
  const auto second_shift = static_cast<unsigned>(first_shift + step);
  if (first_length == arguments.tile_bytes) {
    TILETRANSPOSE_UNROLL_BY(4)
    for (unsigned at = rank * 16; at < arguments.tile_bytes; at += group.size() * 16) {
      store_global(target + at, read_shared<16, Unit>(shared, at + first_shift, 0, rank));
    }
    return;
  }
  TILETRANSPOSE_UNROLL_BY(1)
  for (unsigned at = rank * 16; at < length; at += group.size() * 16) {
    const loop_step here(at / 16);
    const bool in_first = at + 16 <= first_length;
    if (in_first || (at >= second_start && at + 16 <= length)) {
      store_global(target + at, read_shared<16, Unit>(
                                    shared, at + (in_first ? first_shift : second_shift), 0, rank));
    } else {
      TILETRANSPOSE_UNROLL_BY(1)
      for (unsigned u = at; u < smaller(at + 16, length); u += Unit) {
        const loop_step part(u);
        if (u < first_length || u >= second_start) {
          store_global(
              target + u,
              load_shared<unit>(shared + (u + (u < first_length ? first_shift : second_shift))));
        }
      }
    }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
