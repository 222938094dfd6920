// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernel that stores rows into pinned host memory. The copy engines write long rows at the link's speed, but only
/// as long as no transposes run between their copies. Stores of many blocks would fill the link's queues, behind which
/// the reads of copies the other way wait; so few blocks take all rows, each thread one access at a time.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/memory.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/streamed/copy_team.cuh>
#include <tiletranspose/group.cuh>
#include <tiletranspose/tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Rows of 2 KB went through an H200's PCIe 5 link, GB/s each way and both ways at once: 44.0 with 4 blocks, 44.7 with
/// 6, 42.2 with 8, 34.4 with 16; copies alone 50.6.
inline constexpr int row_store_blocks = 6;
inline constexpr int row_store_threads = 512;
/// About what a warp takes at once, in bytes, and lines of memory, which its stores fill.
inline constexpr size_type row_store_segment = 2048;
inline constexpr size_type row_store_line = 128;

/// Rows whose addresses are equal in their last four bits on both sides.
struct row_store : row_copy {
  size_type segments = 1;  ///< of a row
  size_type segment = 0;   ///< bytes, a multiple of row_store_line
};

/// The kernel's body. No shared memory, no barrier.
/// Precondition: the group has row_store_threads threads.
template <class Group>
TILETRANSPOSE_FUNCTION void store_rows(Group group, const row_store& work, unsigned block) {
  constexpr size_type access = 16;
  constexpr size_type warps = row_store_threads / 32;
  const unsigned lane = group.thread_rank() % 32;
  for (size_type index = block * warps + group.thread_rank() / 32;
       index < work.rows * work.segments; index += row_store_blocks * warps) {
    unsigned char* const out = work.out + index / work.segments * work.out_pitch;
    const unsigned char* const in = work.in + index / work.segments * work.in_pitch;
    // Offsets are from the line on in which the row starts.
    const size_type lead = reinterpret_cast<size_type>(out) % row_store_line;
    const size_type first = index % work.segments * work.segment;
    const size_type begin = larger(first, lead);
    const size_type end = smaller(first + work.segment, lead + work.row_bytes);
    const size_type whole = divide_up(begin, access) * access;
    const size_type last = larger(end / access * access, whole);
    const auto move = [&](auto word, size_type at) {
      store_global(out + (at - lead), load_constant<decltype(word)>(in + (at - lead)));
    };
    if (begin + lane < smaller(whole, end)) { move(static_cast<unsigned char>(0), begin + lane); }
    for (size_type at = begin / row_store_line * row_store_line + lane * access; at < last;
         at += 32 * access) {
      if (at >= whole) { move(word16{}, at); }
    }
    if (last + lane < end) { move(static_cast<unsigned char>(0), last + lane); }
  }
}

template <int Threads>
__global__ void __launch_bounds__(Threads)
    row_store_kernel(const __grid_constant__ row_store work) {
  store_rows(any_block{}, work, blockIdx.x);
}

template <class T>
row_copy row_copy_of(matrix_view<T> to, matrix_view<T> from) {
  return {reinterpret_cast<unsigned char*>(to.data),
          to.stride * sizeof(T),
          reinterpret_cast<const unsigned char*>(from.data),
          from.stride * sizeof(T),
          to.cols * sizeof(T),
          to.rows};
}

/// Stores rows whose addresses have the last four bits of those that they come from. Rows that follow each other
/// without a gap on both sides are one.
template <class T>
cudaError_t store_rows(matrix_view<T> out, matrix_view<T> in, cudaStream_t stream) {
  row_store work{row_copy_of(out, in)};
  if (out.stride == out.cols && in.stride == in.cols) {
    work.row_bytes *= work.rows;
    work.rows = 1;
  }
  work.segments = divide_up(work.row_bytes, row_store_segment);
  const size_type reached = work.row_bytes + row_store_line - 1;
  work.segment = (reached / work.segments / row_store_line + 1) * row_store_line;
  return start(&row_store_kernel<row_store_threads>, row_store_blocks, row_store_threads, 0, stream,
               work);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
