// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernel for small matrices and narrow ones whose sides are multiples of a micro-block and whose rows
/// or segments are whole accesses of 16 bytes. A block moves a *panel*:
///
///     small matrices      several of a batch          one segment in, one segment out
///     columns are few     some rows of a matrix       one segment in, one segment of every output row out
///     rows are few        some columns of a matrix    one segment of every row in, one segment out; of a batch's matrices
///                                                     that are too large for a panel, too
/// *Stage* copies the panel to shared memory, 16 bytes at a time. *Transpose* passes it through registers, a few micro-blocks
/// a thread, and back to the same memory in the order of the output. *Drain* writes it, 16 bytes at a time.

#pragma once

#include <tiletranspose/detail/choose/vectorised_panel.cuh>
#include <tiletranspose/detail/core/async_copy.cuh>
#include <tiletranspose/group.cuh>
#include <tiletranspose/warp_transpose.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Transposes a micro-block and stores it from `to` on; its rows lie `row_bytes` apart.
template <int ElementBytes, int Rows, int Words>
TILETRANSPOSE_FUNCTION void store_transposed(unsigned char* to, unsigned row_bytes,
                                             const unsigned (&held)[Rows][Words]) {
  if constexpr (Rows == 3) {  // pixels
    const unsigned(&in)[3][1] = held;
    const unsigned low = pick_bytes(in[0][0], in[1][0], 0x5140);   // a0 b0 a1 b1
    const unsigned high = pick_bytes(in[0][0], in[1][0], 0x7362);  // a2 b2 a3 b3
    store_shared(to, pick_bytes(low, in[2][0], 0x2410));
    store_shared(to + 4, pick_bytes(pick_bytes(low, in[2][0], 0x0053), high, 0x5410));
    store_shared(to + 8, pick_bytes(high, in[2][0], 0x7326));
  } else {
    unsigned transposed[Rows][Words];  // a square
    thread_transpose<ElementBytes>(transposed, held);
    TILETRANSPOSE_UNROLL
    for (int x = 0; x < Rows; ++x) {
      store_shared(to + x * row_bytes, as_word<4 * Words>(transposed[x]));
    }
  }
}

/// Where an access of a panel is: its shared and its global offset.
struct vectorised_place {
  unsigned shared;
  size_type global;
  bool exists;

  TILETRANSPOSE_FUNCTION vectorised_place(unsigned access, unsigned accesses,
                                          const panel_side& side, unsigned parts) {
    const unsigned segment = side.segment.quotient(access);
    const unsigned at = side.segment.remainder(access, segment) * max_access_bytes;
    const unsigned pad = side.pitch - side.group.divisor;
    shared = (access + pad * side.group.quotient(access)) * max_access_bytes;
    global = segment * side.segment_bytes + at;
    exists = access < accesses && at < parts * side.part;
  }
};

/// Micro-blocks of a thread; neither kind nor threads matter.
template <int ElementBytes, int Rows, int Cols>
inline constexpr int vectorised_rounds = vectorised_shape{{}, ElementBytes, 0, Rows, Cols}.rounds();

/// A block moves the panel of its number, by micro-blocks of Rows x Cols elements.
/// Shared memory: what `plan_vectorised` says. Barriers: three.
template <int ElementBytes, int Rows, int Cols>
__global__ void __launch_bounds__(most_vectorised_threads,
                                  resident_blocks(most_vectorised_threads,
                                                  1536 / most_vectorised_threads))
    vectorised_kernel(const __grid_constant__ vectorised_arguments arguments) {
  constexpr int access = Cols * ElementBytes;
  constexpr int rounds = vectorised_rounds<ElementBytes, Rows, Cols>;
  constexpr int copies = rounds * Rows * access / max_access_bytes;
  static_assert(rounds * Rows * access % max_access_bytes == 0, "");
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  unsigned char* const shared = tiletranspose_dynamic_shared;
  const any_block group{};
  const unsigned rank = group.thread_rank();
  const unsigned matrix = arguments.panels.quotient(blockIdx.x);
  const unsigned panel = arguments.panels.remainder(blockIdx.x, matrix);
  const unsigned parts =
      smaller(arguments.parts - panel * arguments.panel_parts, arguments.panel_parts);
  const auto start = [&](const panel_side& side) {
    return matrix * side.batch_bytes + panel * side.panel_bytes;
  };

  const unsigned char* const in = arguments.in + start(arguments.in_side);
  TILETRANSPOSE_UNROLL_BY(1)  // copies do not wait for each other anyway, and registers are few
  for (int i = 0; i < copies; ++i) {
    const loop_step here(i);
    const vectorised_place place(rank + i * arguments.threads, arguments.accesses,
                                 arguments.in_side, parts);
    if (place.exists) { copy_async<max_access_bytes>(shared + place.shared, in + place.global); }
  }
  commit_copies();
  wait_for_copies(0);
  group.sync();

  const unsigned rows = arguments.all_rows + parts * arguments.part_rows;
  const unsigned cols = arguments.all_cols + parts * arguments.part_cols;
  constexpr unsigned nowhere = ~0u;
  unsigned to[rounds];
  unsigned held[rounds][Rows][access / 4];
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < rounds; ++i) {
    const unsigned at = rank + i * arguments.threads;
    const micro_place place(at, arguments.cols, arguments.strip_shift);
    const unsigned in_row = place.row;  // of micro-blocks, through all matrices
    const unsigned col = place.col;
    const unsigned above = arguments.rows.quotient(in_row);  // matrices
    const unsigned row = arguments.rows.remainder(in_row, above);
    const bool exists = in_row < rows && col < cols;
    to[i] = exists ? (above * arguments.cols.divisor + col) * arguments.out_side.step + row * access
                   : nowhere;
    // Threads without a micro-block read the first one: that costs less than a branch.
    const unsigned char* const from =
        shared + (exists ? in_row * arguments.in_side.step + col * access : 0);
    TILETRANSPOSE_UNROLL
    for (int y = 0; y < Rows; ++y) {
      const auto value = load_shared<access_word_t<access>>(from + y * arguments.in_side.row_bytes);
      __builtin_memcpy(held[i][y], &value, sizeof value);
    }
  }
  group.sync();
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < rounds; ++i) {
    const loop_step here(i);
    if (to[i] != nowhere) {
      store_transposed<ElementBytes>(shared + to[i], arguments.out_side.row_bytes, held[i]);
    }
  }
  group.sync();

  unsigned char* const out = arguments.out + start(arguments.out_side);
  TILETRANSPOSE_UNROLL
  for (int i = 0; i < copies; ++i) {
    const loop_step here(i);
    const vectorised_place place(rank + i * arguments.threads, arguments.accesses,
                                 arguments.out_side, parts);
    if (place.exists) {
      store_global(out + place.global, load_shared<word16>(shared + place.shared));
    }
  }
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
