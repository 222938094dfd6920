// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which matrices are moved in vectorised panels, 16 bytes at a time on both sides, how these are cut, and whether they
/// fit. Plain C++17, host only.

#pragma once

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

/// The micro-blocks of a panel: `rows` x `cols` elements that a thread transposes in registers, some of them each.
struct vectorised_shape {
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

/// Panels of 12 KB for pixels, of 16 KB, and of 32 and 44 KB for matrices that do not fit or that would leave them half empty.
enum class vectorised_size { pixels, kb_16, kb_32, kb_44 };

/// Side of a micro-block: what permutes make of words, or accesses of 8 or 16 bytes.
constexpr int vectorised_side(int element_bytes) {
  return element_bytes <= 2 ? 4 : element_bytes <= 8 ? 2 : 1;
}
inline constexpr int most_vectorised_threads = 704;
constexpr vectorised_shape vectorised_shape_of(int element_bytes, vectorised_size size) {
  const int side = vectorised_side(element_bytes);
  return size == vectorised_size::pixels  ? vectorised_shape{1, 256, 3, 4}
         : size == vectorised_size::kb_16 ? vectorised_shape{element_bytes, 256, side, side}
         : size == vectorised_size::kb_32
             ? vectorised_shape{element_bytes, 512, side, side}
             : vectorised_shape{element_bytes, most_vectorised_threads, side, side};
}

/// What pays for a request whose matrices do not fill tiles.
inline panel_kind choose_vectorised(const tile_problem& problem, size_type batch,
                                    size_type element) {
  const auto side = static_cast<size_type>(vectorised_side(static_cast<int>(element)));
  const size_type nx = problem.nx;
  const size_type ny = problem.ny;
  const size_type starts =
      reinterpret_cast<size_type>(problem.in) | reinterpret_cast<size_type>(problem.out);
  const bool pixels = element == 1 && ny == 3 && nx >= least_pixel_columns;
  if (problem.pointer_arrays || nx % side != 0 || (ny % side != 0 && !pixels) ||
      starts % max_access_bytes != 0) {
    return panel_kind::none;
  }
  constexpr size_type most_bytes = vectorised_shape_of(1, vectorised_size::kb_44).panel_bytes();
  const bool in_dense = problem.in_stride_bytes == nx * element;
  const bool out_dense = problem.out_stride_bytes == ny * element;
  const size_type matrix_bytes = nx * ny * element;
  if (batch > 1 && in_dense && out_dense && !pixels && problem.in_batch_bytes == matrix_bytes &&
      problem.out_batch_bytes == matrix_bytes && matrix_bytes <= most_bytes) {
    return panel_kind::small_matrices;
  }
  const size_type gaps = batch > 1 ? problem.in_batch_bytes | problem.out_batch_bytes : 0;
  const auto multiples = [&](size_type stride_bytes, size_type extent, size_type bytes) {
    return (starts | gaps | stride_bytes | extent * element) % bytes == 0;
  };
  if (in_dense && nx * element <= few_bytes &&
      multiples(problem.out_stride_bytes, ny, max_access_bytes)) {
    return panel_kind::few_columns;
  }
  if (out_dense && ny * element <= few_bytes &&
      multiples(problem.in_stride_bytes, nx, max_access_bytes)) {
    return panel_kind::few_rows;
  }
  // Short segments of rows have to be whole sectors.
  constexpr size_type medium_bytes = vectorised_shape_of(1, vectorised_size::kb_32).panel_bytes();
  const bool segments = batch > 1 && out_dense && element >= 4 && ny * 128 <= medium_bytes &&
                        multiples(problem.in_stride_bytes, nx, sector_bytes);
  return segments ? panel_kind::segments : panel_kind::none;
}

/// The panels for a kind of problem.
inline vectorised_size choose_vectorised_size(const tile_problem& problem, panel_kind kind,
                                              int element_bytes) {
  const auto bytes_of = [&](vectorised_size size) {
    return static_cast<size_type>(vectorised_shape_of(element_bytes, size).panel_bytes());
  };
  if (element_bytes == 1 && problem.ny == 3) { return vectorised_size::pixels; }
  if (kind != panel_kind::segments &&
      (kind != panel_kind::small_matrices ||
       problem.in_batch_bytes <= bytes_of(vectorised_size::kb_16))) {
    return vectorised_size::kb_16;
  }
  const bool medium = kind == panel_kind::segments ||
                      (problem.in_batch_bytes <= bytes_of(vectorised_size::kb_32) &&
                       2 * problem.in_batch_bytes > bytes_of(vectorised_size::kb_44));
  return medium ? vectorised_size::kb_32 : vectorised_size::kb_44;
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

/// Which micro-block a thread takes: down a *strip* of 2^strip_shift rows of them, then the next column of it, then the
/// next strip.
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

/// How matrices are cut into panels.
struct vectorised_cut {
  size_type matrices = 1;  ///< the panel: matrices, and rows and columns of each
  size_type rows;
  size_type cols;
  size_type parts;  ///< that a matrix is cut into: matrices, or rows or columns of micro-blocks
  size_type panel_parts;  ///< and those of a panel
  size_type panels;       ///< of a matrix, or of all that share panels
  size_type blocks;
  size_type accesses;   ///< of 16 bytes that a panel holds
  size_type in_groups;  ///< rows of micro-blocks; of the output, columns
  size_type out_groups;
  unsigned strip_shift;
  unsigned in_pitch;  ///< shared accesses from group to group
  unsigned out_pitch;
  size_type shared_bytes;

  bool fits() const {
    return parts <= max_blocks && blocks <= max_blocks && shared_bytes <= default_shared_bytes;
  }
};

/// Elements of a long side that a panel takes: whole lines where there are many panels, else even parts.
constexpr size_type cut_side(const vectorised_shape& shape, size_type extent,
                             size_type other_bytes) {
  const size_type line = 128 / static_cast<size_type>(shape.element_bytes);
  const size_type sector = sector_bytes / static_cast<size_type>(shape.element_bytes);
  const size_type most = static_cast<size_type>(shape.panel_bytes()) / other_bytes;
  const size_type lines = most / line * line;
  if (extent > 16 * lines) { return lines; }
  const size_type even = divide_up(extent, divide_up(extent, most / sector * sector));
  return divide_up(even, sector) * sector;
}

/// Precondition: choose_vectorised named the kind; matrices fit shape.panel_bytes().
inline vectorised_cut cut_vectorised(const tile_problem& problem, size_type batch,
                                     const vectorised_shape& shape, panel_kind kind) {
  const auto element = static_cast<size_type>(shape.element_bytes);
  const auto rows = static_cast<size_type>(shape.rows);
  const auto cols = static_cast<size_type>(shape.cols);
  const size_type matrix_bytes = problem.nx * problem.ny * element;
  vectorised_cut cut{};
  cut.matrices = 1;
  cut.rows = problem.ny;
  cut.cols = problem.nx;
  if (kind == panel_kind::small_matrices) {
    cut.matrices = smaller(batch, static_cast<size_type>(shape.panel_bytes()) / matrix_bytes);
    cut.parts = batch;
    cut.panel_parts = cut.matrices;
  } else if (kind == panel_kind::few_columns) {
    cut.rows = cut_side(shape, problem.ny, problem.nx * element);
    cut.parts = problem.ny / rows;
    cut.panel_parts = cut.rows / rows;
  } else {
    cut.cols = cut_side(shape, problem.nx, problem.ny * element);
    cut.parts = problem.nx / cols;
    cut.panel_parts = cut.cols / cols;
  }
  cut.panels = divide_up(cut.parts, cut.panel_parts);
  cut.blocks = (kind == panel_kind::small_matrices ? 1 : batch) * cut.panels;
  cut.accesses = cut.matrices * cut.rows * cut.cols * element / max_access_bytes;
  cut.in_groups = cut.matrices * (cut.rows / rows);
  cut.out_groups = shape.pixels() ? 1 : cut.matrices * (cut.cols / cols);

  const auto words = static_cast<unsigned>(shape.access() / 4);
  const auto in_group = static_cast<unsigned>(cut.accesses / cut.in_groups);
  cut.strip_shift = strip_shift(words, cut.in_groups, cut.cols / cols);
  cut.in_pitch = strip_pitch(in_group, words, cut.cols / cols, cut.strip_shift);
  if (cut.in_groups * cut.in_pitch * max_access_bytes > default_shared_bytes) {
    cut.strip_shift = 0;
    cut.in_pitch = filled_pitch(in_group);
  }
  cut.out_pitch = vectorised_pitch(static_cast<unsigned>(cut.accesses / cut.out_groups));
  cut.shared_bytes =
      max_access_bytes * larger(cut.in_groups * cut.in_pitch, cut.out_groups * cut.out_pitch);
  return cut;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
