// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which matrices are moved in vectorised panels, 16 bytes at a time on both sides, and how these are cut, with the
/// arguments of their kernel. Plain C++17.

#pragma once

#include <tiletranspose/detail/choose/tuning_axes.cuh>
#include <tiletranspose/detail/choose/tuning_panel.cuh>
#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/request/problem.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// True where elements can be moved in vectorised panels.
constexpr bool has_vectorised_panel(int element_bytes, int access_bytes) {
  return access_bytes == element_bytes;
}

/// What a panel takes, and its micro-blocks: `rows` x `cols` elements that a thread transposes in registers, some of them each.
struct vectorised_shape {
  panel_kind kind;
  int element_bytes;
  int threads;
  int rows;
  int cols;

  constexpr int access() const { return cols * element_bytes; }  ///< to shared memory
  constexpr int micro_bytes() const { return rows * access(); }
  constexpr int rounds() const { return 64 / micro_bytes() < 4 ? 64 / micro_bytes() : 4; }
  constexpr int panel_bytes() const { return threads * rounds() * micro_bytes(); }
  /// Three rows of bytes become pixels: transposed, they follow each other without a gap.
  constexpr bool pixels() const { return rows == 3; }
};

/// Side of a micro-block: what permutes make of words, or accesses of 8 or 16 bytes.
constexpr int vectorised_side(int element_bytes) {
  return element_bytes <= 2 ? 4 : element_bytes <= 8 ? 2 : 1;
}

/// Threads of a panel of 8 KB, of 32 KB, and of the largest, 44 KB; those of pixels have three quarters.
inline constexpr int least_vectorised_threads = 128;
inline constexpr int large_vectorised_threads = 512;
inline constexpr int most_vectorised_threads = 704;
constexpr size_type vectorised_bytes(int threads) { return 64 * static_cast<size_type>(threads); }

/// What pays for a request whose matrices do not fill tiles, if anything.
inline vectorised_shape choose_vectorised(const batch_problem& problem, int element_bytes) {
  const auto element = static_cast<size_type>(element_bytes);
  const int side = vectorised_side(element_bytes);
  const auto multiple = static_cast<size_type>(side);
  const size_type nx = problem.nx;
  const size_type ny = problem.ny;
  const size_type starts =
      reinterpret_cast<size_type>(problem.in) | reinterpret_cast<size_type>(problem.out);
  const bool pixels = element == 1 && ny == 3 && nx >= least_pixel_columns;
  if (problem.pointer_arrays || nx % multiple != 0 || (ny % multiple != 0 && !pixels) ||
      starts % max_access_bytes != 0) {
    return {};
  }
  const auto of = [&](panel_kind kind, int threads) {
    return vectorised_shape{kind, element_bytes, threads, pixels ? 3 : side, side};
  };
  const bool in_dense = problem.in_stride_bytes == nx * element;
  const bool out_dense = problem.out_stride_bytes == ny * element;
  const size_type matrix_bytes = nx * ny * element;
  const bool cached = matrix_bytes * problem.batch < least_uncached_bytes;
  int threads = least_vectorised_threads;
  if (problem.batch > 1 && in_dense && out_dense && !pixels &&
      problem.in_batch_bytes == matrix_bytes && problem.out_batch_bytes == matrix_bytes &&
      matrix_bytes <= vectorised_bytes(cached ? 2 * threads : most_vectorised_threads)) {
    while (matrix_bytes > vectorised_bytes(threads)) {
      threads = threads < large_vectorised_threads ? 2 * threads : most_vectorised_threads;
    }
    return of(panel_kind::small_matrices, threads);
  }
  if (problem.batch > 1 && matrix_bytes <= most_apart_gathered_bytes) { return {}; }
  if (pixels || (element <= 2 && !cached)) { threads *= 2; }
  const size_type gaps = problem.batch > 1 ? problem.in_batch_bytes | problem.out_batch_bytes : 0;
  const auto are_accesses = [&](size_type stride_bytes, size_type extent) {
    return (starts | gaps | stride_bytes | extent * element) % max_access_bytes == 0;
  };
  if (in_dense && nx * element <= few_bytes && are_accesses(problem.out_stride_bytes, ny)) {
    return of(panel_kind::few_columns, threads);
  }
  if (out_dense && ny * element <= few_bytes && are_accesses(problem.in_stride_bytes, nx)) {
    return of(panel_kind::few_rows, threads);
  }
  return {};
}

// How far apart groups of micro-blocks lie in shared memory, and in which order threads take them.
// tests/constexpr/panel_ways.hpp counts their bank conflicts.

/// Accesses of 16 bytes from one group of transposed rows to the next, where a group takes `group`: an odd number, so
/// that micro-blocks below each other lie in different banks.
constexpr unsigned vectorised_pitch(unsigned group) { return group | 1; }

/// The same while the panel is filled by asynchronous copies: a line of 128 bytes that is torn by pads takes more
/// cycles than conflicts cost later.
constexpr unsigned filled_pitch(unsigned group) {
  return group < 8 ? group : vectorised_pitch(group);
}

/// Which micro-block a thread takes: down a *strip* of 2^strip_shift rows, then the next column of it, then the next strip.
struct micro_place {
  unsigned row;
  unsigned col;

  template <class Divider>
  TILETRANSPOSE_HOST_DEVICE constexpr micro_place(unsigned at, const Divider& cols,
                                                  unsigned strip_shift)
      : row(0), col(0) {
    const unsigned line = at >> strip_shift;
    const unsigned strip = cols.quotient(line);
    col = cols.remainder(line, strip);
    row = (strip << strip_shift) + (at & ((1u << strip_shift) - 1));
  }
};

/// log2 of a strip's rows: as many as 16 bytes of an output row hold, 4 / words, or fewer, so that a panel has whole
/// strips. Groups of output rows lie odd multiples of 16 bytes apart, so that 8 columns of such a strip fill all banks
/// once. Narrow panels, which need more strips than one for that, go row by row.
constexpr unsigned strip_shift(unsigned words, size_type rows, size_type cols) {
  unsigned shift = words == 1 ? 2 : words == 2 ? 1 : 0;
  while (shift > 0 && (rows % (size_type{1} << shift) != 0 || cols << shift < 32 / words)) {
    --shift;
  }
  return shift;
}

/// Accesses from group to group of the input. A strip's lanes read all of its rows together: each takes an equal part
/// of the banks. Without strips, accesses of 16 bytes go on in the banks where a warp goes on to the next row.
constexpr unsigned strip_pitch(unsigned group, unsigned words, size_type cols, unsigned shift) {
  if (shift == 0 && (words < 4 || group < 8)) { return filled_pitch(group); }
  const unsigned lines = 8u >> shift;
  const unsigned modulus = words == 4 ? 8 : 2 * lines;
  const unsigned remainder = words == 4 ? static_cast<unsigned>(cols % 8) : lines;
  return group + (remainder + modulus - group % modulus) % modulus;
}

/// One side of a panel, the input's or the output's, in accesses of 16 bytes.
struct panel_side {
  size_type batch_bytes;    ///< from matrix to matrix
  size_type panel_bytes;    ///< from panel to panel of a matrix
  size_type segment_bytes;  ///< from segment to segment of a panel
  divider segment;          ///< accesses of a segment
  unsigned part;            ///< bytes that each part of a panel adds to a segment
  unsigned row_bytes;       ///< of the panel
  divider group;   ///< accesses of the rows that are transposed together: those of a micro-block
  unsigned pitch;  ///< accesses from group to group in shared memory
  unsigned step;   ///< bytes from one micro-block to the next one of another group
};

struct vectorised_arguments {
  const unsigned char* in;
  unsigned char* out;
  panel_side in_side;
  panel_side out_side;
  divider panels;        ///< panels of a matrix, or of all that share panels
  unsigned parts;        ///< those of a matrix: matrices, or rows or columns of micro-blocks
  unsigned panel_parts;  ///< and those of a panel
  unsigned accesses;     ///< of a panel
  unsigned all_rows;     ///< micro-blocks down the panel that do not depend on its parts
  unsigned part_rows;    ///< and that each part adds
  unsigned all_cols;     ///< the same across the panel
  unsigned part_cols;
  divider rows;          ///< micro-blocks down a matrix of the panel
  divider cols;          ///< and across it
  unsigned strip_shift;  ///< log2 of the micro-blocks below each other that go to threads in a row
  unsigned threads;      ///< of a block
};

/// Elements of a long side that a panel takes: whole lines where there are many panels, else even parts.
constexpr size_type cut_side(const vectorised_shape& shape, size_type extent,
                             size_type other_bytes) {
  const size_type line = 128 / static_cast<size_type>(shape.element_bytes);
  const size_type sector = sector_bytes / static_cast<size_type>(shape.element_bytes);
  const size_type most = static_cast<size_type>(shape.panel_bytes()) / other_bytes;
  const size_type lines = most / line * line;
  if (lines > 0 && extent > 16 * lines) { return lines; }
  const size_type even = divide_up(extent, divide_up(extent, most / sector * sector));
  return divide_up(even, sector) * sector;
}

/// How matrices are cut into panels that choose_vectorised chose.
inline launch_plan<vectorised_arguments> plan_vectorised(const batch_problem& problem,
                                                         const vectorised_shape& shape) {
  const bool matrices = shape.kind == panel_kind::small_matrices;  // are the parts of a panel
  const bool down_matrix = shape.kind == panel_kind::few_columns;  // or rows of micro-blocks
  const bool across_matrix = !matrices && !down_matrix;            // or columns of them
  const auto element = static_cast<size_type>(shape.element_bytes);
  const auto rows = static_cast<size_type>(shape.rows);
  const auto cols = static_cast<size_type>(shape.cols);
  const size_type part_rows = down_matrix ? rows : problem.ny;
  const size_type part_cols = across_matrix ? cols : problem.nx;
  const size_type part_bytes = part_rows * part_cols * element;
  const size_type parts =
      matrices ? problem.batch : problem.ny / part_rows * (problem.nx / part_cols);
  const size_type panel_parts =
      matrices ? smaller(problem.batch, static_cast<size_type>(shape.panel_bytes()) / part_bytes)
      : down_matrix ? cut_side(shape, problem.ny, problem.nx * element) / rows
                    : cut_side(shape, problem.nx, problem.ny * element) / cols;
  const size_type panels = divide_up(parts, panel_parts);
  const size_type accesses = panel_parts * part_bytes / max_access_bytes;
  const size_type down = part_rows / rows * (down_matrix ? panel_parts : 1);  // micro-blocks
  const size_type across = part_cols / cols * (across_matrix ? panel_parts : 1);
  const size_type in_groups = matrices ? panel_parts * down : down;
  const size_type out_groups = shape.pixels() ? 1 : matrices ? panel_parts * across : across;
  const auto describe = [&](size_type segments, size_type groups, size_type length,
                            size_type stride_bytes, size_type batch_bytes) {
    const size_type part = part_bytes / segments;
    return panel_side{batch_bytes,
                      panel_parts * part,
                      stride_bytes,
                      divider(accesses / segments),
                      static_cast<unsigned>(part),
                      static_cast<unsigned>(length * element),
                      divider(accesses / groups),
                      0,
                      0};
  };
  launch_plan<vectorised_arguments> plan{
      {}, (matrices ? 1 : problem.batch) * panels, shape.threads, 0};
  if (parts > max_blocks) { plan.blocks = parts; }  // they are counted, too
  vectorised_arguments& arguments = plan.arguments;
  panel_side& in = arguments.in_side;
  panel_side& out = arguments.out_side;
  in = describe(across_matrix ? problem.ny : 1, in_groups, across * cols, problem.in_stride_bytes,
                problem.in_batch_bytes);
  out = describe(down_matrix ? problem.nx : 1, out_groups, down * rows, problem.out_stride_bytes,
                 problem.out_batch_bytes);
  (across_matrix ? arguments.all_rows : arguments.part_rows) =
      static_cast<unsigned>(part_rows / rows);
  (across_matrix ? arguments.part_cols : arguments.all_cols) =
      static_cast<unsigned>(part_cols / cols);

  const auto words = static_cast<unsigned>(shape.access() / 4);
  arguments.strip_shift = strip_shift(words, in_groups, across);
  in.pitch = strip_pitch(in.group.divisor, words, across, arguments.strip_shift);
  if (in_groups * in.pitch * max_access_bytes > default_shared_bytes) {
    arguments.strip_shift = 0;
    in.pitch = filled_pitch(in.group.divisor);
  }
  out.pitch = vectorised_pitch(out.group.divisor);
  in.step = in.pitch * max_access_bytes;
  out.step =
      shape.pixels() ? static_cast<unsigned>(shape.micro_bytes()) : out.pitch * max_access_bytes;
  plan.shared_bytes = max_access_bytes * larger(in_groups * in.pitch, out_groups * out.pitch);
  arguments.in = static_cast<const unsigned char*>(problem.in);
  arguments.out = static_cast<unsigned char*>(problem.out);
  arguments.panels = divider(panels);
  arguments.parts = static_cast<unsigned>(parts);
  arguments.panel_parts = static_cast<unsigned>(panel_parts);
  arguments.accesses = static_cast<unsigned>(accesses);
  arguments.rows = divider(down);
  arguments.cols = divider(across);
  arguments.threads = static_cast<unsigned>(shape.threads);
  return plan;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
