// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which matrices the sheared kernel takes, and the boxes it cuts them into. Host only.

#pragma once

#include <tiletranspose/detail/panel/gathered_plan.cuh>
#include <tiletranspose/detail/panel/word_shifted_kernel.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// True where elements have sheared shapes.
constexpr bool has_sheared_shape(int element_bytes, int unit) {
  return element_bytes <= 2 && unit == element_bytes;
}

template <int ElementBytes>
using sheared_matrices = sheared_shape<ElementBytes, true, true>;
template <int ElementBytes>
using sheared_columns = sheared_shape<ElementBytes, true, false>;
template <int ElementBytes>
using sheared_rows = sheared_shape<ElementBytes, false, true>;

/// Bytes of a box, which takes twice as much shared memory. H200, 2026-11-21, 1 byte: batches of 49 x 51 at 12, 16,
/// 20 and 24 KB less than 93, 94, 97 and 96 % of cudaMemcpyAsync; 33 rows at 12, 24, 36 and 48 KB 91, 91, 91
/// and 91 %, 20 rows 86, 93, 92 and 90, 7 rows 74, 90, 88 and 80; columns are much the same from 12 to 24 KB.
inline constexpr size_type sheared_matrices_bytes = 24000;
inline constexpr size_type sheared_columns_bytes = 20 * 1024;
inline constexpr size_type sheared_rows_bytes = 24 * 1024;

/// Fewer rows are staged. H200, 2026-11-21, 1 byte, 5 rows: 86 % of cudaMemcpyAsync staged and 77 sheared; 7 rows 89
/// and 90, 13 rows 87 and 93.
inline constexpr size_type least_sheared_rows = 7;

/// So are matrices of fewer bytes, where rows of neither side are whole words. H200, 2026-11-21, 1 byte, 7 x 9: 91 %
/// staged and 60 sheared; 17 x 13: 87 and 83; 25 x 25: 91 and 95. Where one is: 8 x 9 85 and 94.
inline constexpr size_type least_sheared_bytes = 256;
inline constexpr size_type least_word_bytes = 64;

/// What a block takes of the shared memory that it may ask for: two of them share a multiprocessor at least.
constexpr size_type sheared_block_bytes(size_type shared_bytes) {
  return larger<size_type>(default_shared_bytes, shared_bytes / 2 - 1024);
}

/// A matrix whose output has no room beside it is turned in about so many parts at most, if its rows have so many
/// bytes. H200, 2026-11-22, batches, % of cudaMemcpyAsync gathered and in parts: 251 x 253 bytes 89, 96, 301 x 299 65,
/// 84; 201 x 203 of 2 bytes 88, 94, 180 x 182 83, 96.
inline constexpr size_type most_sheared_parts = 4;
inline constexpr size_type least_parted_bytes = 64;

/// How many lanes of a warp meet in a bank where they read the words of `columns` groups side by side, of `walks`
/// walks that lie `walk_bytes` apart, of matrices that lie `matrix_bytes` apart.
inline unsigned walking_ways(unsigned columns, unsigned walks, unsigned walk_bytes,
                             unsigned matrix_bytes) {
  unsigned char used[32] = {};
  unsigned worst = 0;
  unsigned column = 0;
  unsigned walk = 0;
  unsigned matrix = 0;
  unsigned line = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned ways = ++used[(line / 4 + column) % 32];
    if (ways > worst) { worst = ways; }
    if (++column < columns) { continue; }
    column = 0;
    line += walk_bytes;
    if (++walk == walks) {
      walk = 0;
      line = ++matrix * matrix_bytes;
    }
  }
  return worst;
}

enum class sheared_kind { none, matrices, columns, rows };

/// What the sheared kernel does better with boxes of a kind than the staged one.
/// \param shared_bytes  what a block may ask for
inline sheared_kind choose_sheared(const tile_problem& problem, size_type batch, size_type element,
                                   box_kind kind, size_type shared_bytes) {
  const size_type nx = problem.nx;
  const size_type ny = problem.ny;
  const size_type matrix_bytes = nx * ny * element;
  if (problem.pointer_arrays || !is_dense(problem.in_stride_bytes, nx * element) ||
      nx * element < 4) {
    return sheared_kind::none;
  }
  if (kind == box_kind::few_columns) {
    return problem.in_stride_bytes == nx * element ? sheared_kind::columns : sheared_kind::none;
  }
  if (kind == box_kind::none || !is_dense(problem.out_stride_bytes, ny * element) ||
      ny * element < 4) {
    return sheared_kind::none;
  }
  if (kind == box_kind::few_rows) {
    return batch == 1 && ny >= least_sheared_rows && nx * element >= least_sheared_row_bytes &&
                   problem.out_stride_bytes == ny * element
               ? sheared_kind::rows
               : sheared_kind::none;
  }
  // Four words down, 16 apart: eight banks. H200, 2026-11-21, 50 x 16 bytes: 96 % staged and 82 sheared.
  if (element == 1 && ny == 16 && nx < 64 && nx % 4 != 0) { return sheared_kind::none; }
  const bool words = nx * element % 4 == 0 || ny * element % 4 == 0;
  const size_type least = words ? least_word_bytes : least_sheared_bytes;
  // Lanes of matrices that lie about a multiple of 128 bytes apart meet in the same banks, if no turns are taken. H200,
  // 2026-11-22, 1 byte, 17 x 30: 93 % staged and 61 sheared, 5 x 77: 71 and 53.
  if (ny * element % 4 != 0 && walking_ways(static_cast<unsigned>(divide_up(nx * element, 4)), 1, 0,
                                            static_cast<unsigned>(matrix_bytes)) > 4) {
    return sheared_kind::none;
  }
  const size_type most = sheared_block_bytes(shared_bytes);
  return problem.in_batch_bytes == matrix_bytes && problem.out_batch_bytes == matrix_bytes &&
                 matrix_bytes >= least &&
                 (2 * matrix_bytes + 512 <= most ||
                  (nx * element >= least_parted_bytes &&
                   matrix_bytes + matrix_bytes / most_sheared_parts + 1024 <= most))
             ? sheared_kind::matrices
             : sheared_kind::none;
}

struct sheared_plan {
  sheared_arguments arguments;
  size_type blocks;
  unsigned shared_bytes;
};

/// The least number from `least` on that is congruent to `stride` modulo a power of two.
constexpr size_type congruent_pitch(size_type least, size_type stride, size_type modulus) {
  return least + (stride - least) % modulus;
}

/// Columns of a matrix, one a block, that are turned at a time: all, or even parts. Three blocks share a multiprocessor
/// where two parts will do. H200, 2026-11-22, % of cudaMemcpyAsync with all and with two parts: 199 x 201 bytes 92, 97,
/// 211 x 213 94, 97; 141 x 143 of 2 bytes 93, 97.
inline size_type choose_part(size_type nx, size_type column_bytes, size_type units,
                             size_type shared_bytes) {
  const size_type matrix_bytes = nx * column_bytes + 512;
  const auto beside_matrix = [&](size_type block_bytes) {
    const size_type left = block_bytes > matrix_bytes ? block_bytes - matrix_bytes : 0;
    return smaller(left / column_bytes, nx);
  };
  const size_type half = beside_matrix(sheared_block_bytes(shared_bytes));
  const size_type third = beside_matrix(shared_bytes / 3 - 1024);
  const size_type most = 2 * (third / units * units) >= nx ? third : half;
  if (most == nx || nx < least_parted_bytes / 4 * units) { return nx; }
  const size_type parts = divide_up(nx, most / units * units);
  size_type part = divide_up(divide_up(nx, parts), units) * units;
  while (nx % part > 0 && nx % part < units) { part -= units; }
  return part;
}

/// How threads share a box: `lanes` of them take groups of columns side by side, and walk down `steps` groups of rows.
struct sheared_walks {
  size_type lanes;
  size_type steps;
};

/// The walks with which the warps of a block take the least time in all: to begin a walk takes as long as three steps,
/// and a step as long as its loads are in conflict, and once more. A walk begins with a whole group. Where a block
/// waits for rounds of `together` warps, as that of one matrix does, lanes may be left without columns, so that no warp
/// takes groups of two rows of them.
inline sheared_walks choose_walks(size_type columns, size_type matrices, size_type groups,
                                  size_type whole, size_type group_bytes, size_type matrix_bytes,
                                  size_type together) {
  constexpr size_type most = 16;
  if (groups <= most) { return {columns, groups}; }
  const size_type choices[] = {columns, together > 1 ? divide_up(columns, 32) * 32 : columns};
  sheared_walks best{columns, groups};
  size_type best_cost = ~size_type{0};
  for (size_type steps = 1; steps <= most; ++steps) {
    if (whole < groups && whole % steps == 0) { continue; }
    const size_type walks = divide_up(groups, steps);
    for (const size_type lanes : choices) {
      const size_type warps =
          divide_up(divide_up(lanes * matrices * walks, 32), together) * together;
      if (warps * (steps + 3) * 2 > best_cost) { continue; }
      const unsigned ways = walking_ways(static_cast<unsigned>(lanes), static_cast<unsigned>(walks),
                                         static_cast<unsigned>(steps * group_bytes),
                                         static_cast<unsigned>(matrix_bytes));
      const size_type cost = warps * (steps + 3) * (1 + ways);
      if (cost <= best_cost) {
        best = {lanes, steps};
        best_cost = cost;
      }
    }
  }
  return best;
}

/// Precondition: choose_sheared named the shape's kind.
/// \param shared_bytes  what a block may ask for
template <class Shape>
sheared_plan plan_sheared(const tile_problem& problem, size_type batch, size_type shared_bytes) {
  constexpr size_type element = Shape::element_bytes;
  constexpr size_type units = Shape::units;
  constexpr size_type skew = Shape::skew_rows;
  constexpr size_type chunk = max_access_bytes;
  const size_type nx = problem.nx;
  const size_type ny = problem.ny;
  sheared_plan plan{};
  sheared_arguments& arguments = plan.arguments;
  arguments.in = static_cast<const unsigned char*>(problem.in);
  arguments.out = static_cast<unsigned char*>(problem.out);
  arguments.in_stride_bytes = problem.in_stride_bytes;
  arguments.out_stride_bytes = problem.out_stride_bytes;
  arguments.in_batch_bytes = batch > 1 ? problem.in_batch_bytes : 0;
  arguments.out_batch_bytes = batch > 1 ? problem.out_batch_bytes : 0;
  arguments.nx = nx;
  arguments.ny = ny;
  arguments.batch = batch;
  arguments.rows_backwards = problem.in_stride_bytes != nx * element;
  arguments.cols_backwards = problem.out_stride_bytes != ny * element;
  arguments.in_words = (reinterpret_cast<size_type>(arguments.in) | arguments.in_stride_bytes |
                        arguments.in_batch_bytes) %
                           4 ==
                       0;
  arguments.shears = (reinterpret_cast<size_type>(arguments.out) | arguments.out_stride_bytes |
                      arguments.out_batch_bytes) %
                         4 !=
                     0;

  size_type matrices = 1;
  size_type rows = ny;
  size_type cols = nx;
  if (Shape::joins_matrices) {
    matrices = larger<size_type>(sheared_matrices_bytes / (nx * ny * element), 1);
    // Of short columns, one a thread, as many as threads take in whole rounds.
    const size_type columns = divide_up(nx, units);
    const size_type rounds = matrices * columns / Shape::threads;
    if (columns < Shape::threads && rounds > 0) {
      matrices = smaller(matrices, rounds * Shape::threads / columns);
    }
    matrices = smaller(matrices, batch);
    if (nx * ny * element > sheared_matrices_bytes) {
      cols = choose_part(nx, ny * element, units, shared_bytes);
    }
  } else if (Shape::joins_rows) {
    rows =
        larger<size_type>(sheared_columns_bytes / (nx * element) / sector_bytes, 2) * sector_bytes;
  } else {
    // Rows that warps read by whole rounds, wherever they start, or parts of warps where rows are many; of short ones
    // even parts. H200, 2026-11-22, 1 byte, % of cudaMemcpyAsync with rows of 128, 256 and 512 bytes: 70 rows 63, 94,
    // 96; 100 rows 83, 90, 90; 129 rows 77, 76, 58; 200 rows 86, 57, 70.
    const size_type round = (ny <= most_few_columns ? 32 : ny <= 108 ? 16 : 8) * chunk;
    const size_type row = larger<size_type>(sheared_rows_bytes / (ny * round), 1) * round;
    cols = (row - chunk - 4) / element;
    if (nx < 2 * cols) {
      cols = divide_up(nx, divide_up(nx * ny * element, sheared_rows_bytes));
      cols = divide_up(cols, units) * units;
    }
    while (nx % cols > 0 && nx % cols < units) { cols -= units; }  // of a last box, too
    while (arguments.row_lanes < 5 && chunk << arguments.row_lanes < cols * element + chunk) {
      ++arguments.row_lanes;
    }
  }
  const size_type boxes = Shape::joins_matrices ? 1 : divide_up(ny, rows) * divide_up(nx, cols);
  plan.blocks = divide_up(batch, matrices) * boxes;
  if (plan.blocks >= size_type{1} << 31) { return plan; }  // another kernel splits the work
  arguments.box_matrices = static_cast<unsigned>(matrices);
  arguments.box_rows = static_cast<unsigned>(rows);
  arguments.box_cols = static_cast<unsigned>(cols);
  arguments.boxes = divider(boxes);

  const size_type columns = divide_up(cols, units);
  const size_type groups = divide_up(rows + skew, units);
  size_type in_pitch = arguments.in_stride_bytes;
  // Rows that are staged one by one do not share chunks.
  if (!Shape::joins_rows) {
    in_pitch = congruent_pitch(cols * element + 4 + 2 * (chunk - 1), in_pitch, Shape::in_line);
  }
  const sheared_walks walks = choose_walks(
      columns, matrices, groups, Shape::joins_cols ? rows / units : groups, units * in_pitch,
      rows * nx * element, cols < nx && Shape::joins_matrices ? Shape::threads / 32 : 1);
  arguments.groups = divider(walks.lanes);
  arguments.walks = divider(divide_up(groups, walks.steps));
  arguments.steps = divider(walks.steps);
  // Words of the output lie ny words from group to group. Pairs at least: then rows of the input spread, too.
  arguments.turn_shift = 1;
  while ((ny << arguments.turn_shift) % 32 != 0) { ++arguments.turn_shift; }
  // H200, 2026-11-22, % of cudaMemcpyAsync without turns and with them, to odd addresses: 60 columns of a multiple of
  // 16 bytes 57, 88; 33 of them 84, 91; 62 of 2 bytes 60, 89; 47 of 8 bytes more 89, 84. Staged and in turns: batches
  // of 64 x 64 bytes 61, 97, 40 x 40 48, 95, 24 x 24 41, 89; of 2 bytes, 24 x 24 56, 97; 48 rows of bytes 79, 93, 8
  // rows 91, 88.
  arguments.shears_in_turns =
      arguments.shears && arguments.turn_shift <= (Shape::joins_cols ? 2 : 1);
  // Groups of columns that begin a step later lie words of so many rows further down, which must not lead back to the
  // banks of those before. H200, 2026-11-22, 1 byte, batches of 30 x 64: 32 % of cudaMemcpyAsync where it does, 97 the
  // other way round; 126 x 208: 53 and 96; 2 bytes, 94 x 208: 71 and 97.
  const size_type across = size_type{1} << arguments.turn_shift;
  const size_type down = units * in_pitch / 4;
  arguments.turn_mask = common_divisor(static_cast<unsigned>((across + down) % 32), 32) >
                                common_divisor(static_cast<unsigned>((across - down) % 32), 32)
                            ? 0xffff
                            : 0;

  // The input: chunks, the next word of the last one, and where lines begin.
  size_type in_bytes = matrices * rows * nx * element;
  if (!Shape::joins_cols) { in_bytes = (groups + 1) * units * in_pitch; }
  if (!Shape::joins_rows) { in_bytes = rows * in_pitch; }
  in_bytes += 4 + chunk + 2 * Shape::in_line;
  // The output. Words of rows above a piece's sector are written before it; pieces end as late as the last one.
  size_type out_pitch = arguments.out_stride_bytes;
  size_type out_bytes = matrices * cols * ny * element + 3 * chunk;
  if (!Shape::joins_cols) {
    out_pitch = congruent_pitch(rows * element + 3 * sector_bytes, out_pitch, sector_bytes);
    out_bytes = cols * out_pitch + sector_bytes;
    arguments.chunks = divider(rows * element / chunk);
    arguments.last_chunks = divider(rows * element / chunk + sector_bytes / chunk);
  }
  arguments.in_pitch = static_cast<unsigned>(in_pitch);
  arguments.out_pitch = static_cast<unsigned>(out_pitch);
  arguments.out_place =
      static_cast<unsigned>(divide_up(in_bytes, sector_bytes) * sector_bytes + skew * element);
  plan.shared_bytes = static_cast<unsigned>(arguments.out_place + out_bytes);
  return plan;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
