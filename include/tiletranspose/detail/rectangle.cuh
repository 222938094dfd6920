// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Launches that transpose a rectangle in its own memory, with as much scratch memory as the caller has.
///
/// What each amount buys, for a matrix of s bytes; every pass reads and writes s bytes of DRAM:
///
/// | scratch | passes |
/// |---|---|
/// | s | 2: transposed into the scratch, copied back |
/// | less | up to 3: rows, squares, columns |
///
/// Rows stay as they are where the longer side is a multiple of the shorter one. Squares are transposed together
/// with rows where their rows fit a block's shared memory, together with columns where they are no wider than a
/// band, and take a pass of their own else. Bands of columns lie in the shared memory of all blocks at once;
/// columns longer than that pass through scratch memory, band by band.

#pragma once

#include <tiletranspose/detail/inplace.cuh>
#include <tiletranspose/detail/launch.cuh>
#include <tiletranspose/detail/rectangle_kernel.cuh>
#include <tiletranspose/detail/row_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Blocks that share a multiprocessor's memory: one waits while the other reads or writes. H200, 2026-11-22, % of
/// cudaMemcpyAsync with 1, 2 and 4, floats: 16411 x 16381 33.0, 34.5, 30.5, 131072 x 2048 35.9, 35.3, 30.4.
inline constexpr int column_blocks = 2;

template <bool Undo, int Unit>
__global__ void __launch_bounds__(column_threads, resident_blocks(column_threads, column_blocks))
    column_kernel(const __grid_constant__ column_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  move_columns<Undo, Unit>(static_block<column_threads>{}, tiletranspose_dynamic_shared, arguments,
                           blockIdx.x);
}

template <bool Undo, int ElementBytes, int Unit>
__global__ void __launch_bounds__(shuffle_threads)
    shuffle_kernel(const __grid_constant__ shuffle_arguments<Undo> arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  shuffle_rows<Undo, ElementBytes, Unit>(static_block<shuffle_threads>{},
                                         tiletranspose_dynamic_shared, arguments, blockIdx.x);
}

template <bool Undo, int ElementBytes, int Unit>
__global__ void __launch_bounds__(column_threads)
    long_row_kernel(const __grid_constant__ long_row_arguments arguments) {
  shuffle_long_row<Undo, ElementBytes, Unit>(arguments,
                                             size_type{blockIdx.x} * column_threads + threadIdx.x);
}

template <class Shape>
__global__ void __launch_bounds__(2 * Shape::threads)
    squares_kernel(const __grid_constant__ squares_arguments arguments) {
  __shared__ __align__(16) unsigned char shared[2 * Shape::shared_bytes];
  swap_tiles<Shape>(static_block<2 * Shape::threads>{}, shared, arguments.square(blockIdx.x),
                    arguments.pair(blockIdx.x));
}

template <class Shape>
__global__ void __launch_bounds__(2 * Shape::threads,
                                  resident_blocks(2 * Shape::threads, Shape::blocks))
    square_chunks_kernel(const __grid_constant__ squares_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  swap_chunks<Shape>(static_block<2 * Shape::threads>{}, tiletranspose_dynamic_shared,
                     arguments.square(blockIdx.x), arguments.pair(blockIdx.x));
}

template <class T, class Tile, int Threads>
__global__ void __launch_bounds__(Threads)
    square_views_kernel(const __grid_constant__ squares_arguments arguments) {
  __shared__ typename Tile::storage storage[2];
  swap_views<T, Tile>(static_block<Threads>{}, storage, arguments.square(blockIdx.x),
                      arguments.pair(blockIdx.x));
}

/// The work on one rectangle: `rows` > `cols` of the grid, whatever the matrix.
struct rectangle_problem {
  unsigned char* data;
  unsigned char* scratch;
  size_type scratch_bytes;
  size_type rows;
  size_type cols;
  bool undo;  ///< the matrix has as many rows as the grid has columns
};

/// Bytes of a band's rows in scratch memory: the least that a caller must have for each row. H200, 2026-11-22, % of
/// cudaMemcpyAsync with 64, 128 and 256: 2097143 x 127 floats 10.6, 14.8, 18.6, 1048573 x 255 10.4, 14.5, 18.4.
inline constexpr size_type band_bytes = 128;
/// Scratch that stays in the L2 cache beside what passes through it. H200, 2026-11-22, % of cudaMemcpyAsync with 12,
/// 24, 48 and 96 MB: 14600 x 14700 elements of 16 bytes 17.4, 18.7, 19.6, 20.5, 14700 x 14600 15.2, 16.3, 16.7, 16.9.
inline constexpr size_type cached_scratch_bytes = 24 * 1024 * 1024;
/// Shared memory of a block that takes a tile out of scratch memory. H200, 2026-11-22, % of cudaMemcpyAsync with 12, 24
/// and 48 KB: 2097143 x 127 floats 13.7, 14.8, 14.8.
inline constexpr size_type scratch_tile_bytes = 24 * 1024;
/// The same where tiles may be read at a slant: of more rows than they have, the fewer the taller they are.
inline constexpr size_type slanted_tile_bytes = 96 * 1024;
/// The same of short rows. With 16, 32 and 64 KB: 700001 x 127 floats 12.1, 12.1, 12.0, 120011 x 1021 26.2, 26.4, 26.2.
inline constexpr size_type shuffle_block_bytes = 32 * 1024;

/// What a device offers to a kernel.
struct device_limits {
  int shared_of_block = 0;
  int shared_of_multiprocessor = 0;
  int multiprocessors = 0;
  int starts_together = 0;  ///< knows cooperative launches
};

inline cudaError_t ask_device(device_limits& limits) {
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  const auto ask = [&](int& value, cudaDeviceAttr attribute) {
    if (status == cudaSuccess) { status = cudaDeviceGetAttribute(&value, attribute, device); }
  };
  ask(limits.shared_of_multiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  ask(limits.multiprocessors, cudaDevAttrMultiProcessorCount);
  ask(limits.starts_together, cudaDevAttrCooperativeLaunch);
  limits.shared_of_block = static_cast<int>(most_shared_bytes());
  return status;
}

/// The smallest scratch for a matrix: one band, which the longest row fits, too; or all
/// of it, where that is less or where a side is too long for 32-bit arithmetic.
inline size_type least_scratch(size_type nx, size_type ny, size_type element) {
  const size_type longer = larger(nx, ny);
  const size_type shorter = smaller(nx, ny);
  const size_type band_cols = larger<size_type>(band_bytes / element, 1);
  const bool whole = shorter <= band_cols || longer >= size_type{1} << 31;
  return (whole ? shorter : band_cols) * longer * element;
}

/// Bands of columns and their tiles.
struct column_plan {
  size_type unit = 1;        ///< bytes
  size_type band_bytes = 0;  ///< of a row of a band
  size_type tile_rows = 1;
  size_type tile_pitch = 0;   ///< bytes
  size_type blocks = 0;       ///< that run at once; 0: columns pass through scratch memory
  size_type spare_bytes = 0;  ///< of shared memory, around the tile
  bool squares = false;       ///< are transposed on the way
  bool shifts = false;        ///< see shifted_tile

  size_type shared_bytes() const { return tile_rows * tile_pitch + spare_bytes; }
  size_type band_tiles(const rectangle& grid) const { return divide_up(grid.rows, tile_rows); }
  size_type bands(const rectangle& grid, size_type element) const {
    return divide_up(grid.cols * element, band_bytes);
  }

  column_plan() = default;
  /// Bands of up to `wanted` bytes or one unit, tiles of up to `most` bytes. `narrow` divides elements and
  /// addresses, `wide` rows of squares and addresses.
  column_plan(const rectangle& grid, bool with_squares, size_type element, size_type narrow,
              size_type wide, size_type wanted, size_type most) {
    const size_type square_bytes = grid.common * element;
    const size_type slanted = smaller(wanted, widest_slanted_bytes);
    const bool single = narrow < 4 && narrow == element;  // elements that squares slant
    squares = with_squares && square_bytes <= (single ? slanted : wanted);
    unit = squares ? narrow : wide;
    const bool slants = squares ? single : unit < 4;
    if (slants) { wanted = slanted; }
    const size_type step = squares ? square_bytes : unit;
    band_bytes = smaller(larger<size_type>(smaller(wanted, column_threads * unit) / step, 1) * step,
                         grid.cols * element);
    shifts = slants && !squares && square_bytes >= band_bytes;
    // Squares in shared memory are read across.
    tile_pitch = shifts    ? shifted_pitch
                 : slants  ? slanted_pitch
                 : squares ? band_bytes + unit
                           : band_bytes;
    spare_bytes = slants && !shifts ? slanted_spare_bytes : 0;
    limit_rows(grid, (most - spare_bytes) / tile_pitch);
  }

  /// At most so many rows a tile; whole squares in any case.
  void limit_rows(const rectangle& grid, size_type most) {
    const size_type step = squares ? grid.common : 1;
    tile_rows = smaller<size_type>(larger<size_type>(most / step, 1) * step, grid.rows);
  }
};

/// Bands in the shared memory of all blocks, as wide as fits it. Either kernel may be the one that moves them.
template <class Kernel>
cudaError_t plan_together(const rectangle& grid, bool with_squares, size_type element,
                          size_type narrow, size_type wide, Kernel* const (&kernels)[2],
                          const device_limits& limits, column_plan& plan) {
  plan = column_plan();
  if (limits.starts_together == 0) { return cudaSuccess; }
  constexpr size_type reserved = 1024;  // by the system, of every block's shared memory
  const size_type most =
      smaller(static_cast<size_type>(limits.shared_of_multiprocessor) / column_blocks - reserved,
              static_cast<size_type>(limits.shared_of_block));
  size_type blocks = ~size_type{0};
  for (Kernel* const kernel : kernels) {
    cudaError_t status = allow_shared_bytes(kernel, most);
    int resident = 0;
    if (status == cudaSuccess) {
      status =
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, column_threads, most);
    }
    if (status != cudaSuccess) { return status; }
    blocks = smaller(
        blocks, static_cast<size_type>(resident) * static_cast<size_type>(limits.multiprocessors));
  }
  for (size_type bytes = widest_band_bytes; bytes >= sector_bytes; bytes -= sector_bytes) {
    column_plan found(grid, with_squares, element, narrow, wide, bytes, most);
    if (found.shared_bytes() > most || found.band_tiles(grid) > blocks) { continue; }
    // Where there is room for many bands, a fifth of it is worth more as the cache of sectors that two of them
    // share: 16381 x 16411 floats 55 % instead of 50. And no fewer tiles than blocks, if they have enough rows.
    const size_type bands = found.bands(grid, element);
    const size_type fair = larger<size_type>(divide_up(grid.rows * bands, blocks), 64);
    const size_type rows =
        2 * found.band_tiles(grid) <= blocks ? found.tile_rows * 4 / 5 : found.tile_rows;
    found.limit_rows(grid, smaller(fair, rows));
    if (found.band_tiles(grid) > blocks) { continue; }
    found.blocks = smaller(blocks, bands * found.band_tiles(grid));
    plan = found;
    return cudaSuccess;
  }
  return cudaSuccess;
}

/// As start(), of blocks that wait for each other: all of them run at once.
template <class Kernel>
cudaError_t start_together(Kernel* kernel, size_type blocks, int threads, size_type shared_bytes,
                           void** arguments, cudaStream_t stream) {
  return cudaLaunchCooperativeKernel(kernel, dim3(static_cast<unsigned>(blocks)),
                                     dim3(static_cast<unsigned>(threads)), arguments, shared_bytes,
                                     stream);
}

/// Step 3, and step 2 where the plan says so.
template <class Kernel>
cudaError_t launch_columns(const rectangle_problem& problem, const rectangle& grid,
                           size_type element, const column_plan& plan, Kernel* kernel,
                           cudaStream_t stream) {
  const auto count = [](size_type value) { return static_cast<unsigned>(value); };
  const size_type row_bytes = problem.cols * element;
  const size_type band_tiles = plan.band_tiles(grid);
  column_arguments arguments{};
  arguments.data = problem.data;
  arguments.data_pitch = row_bytes;
  arguments.grid = grid;
  arguments.band_units = count(plan.band_bytes / plan.unit);
  arguments.square_units = divider(grid.common * element / plan.unit);
  arguments.parts = divider(larger<size_type>(element / plan.unit, 1));
  arguments.tile_rows = count(plan.tile_rows);
  arguments.tile_pitch = count(plan.tile_pitch);
  arguments.band_tiles = divider(band_tiles);
  arguments.lines = column_threads / arguments.band_units;
  arguments.step = column_walk::step(grid, smaller(arguments.lines, grid.rows));
  arguments.squares = plan.squares;
  arguments.shifts = plan.shifts;
  void* pointers[] = {&arguments};
  if (plan.blocks != 0) {
    const size_type bands = plan.bands(grid, element);
    const size_type misaligned = reinterpret_cast<size_type>(problem.scratch) % sizeof(unsigned);
    arguments.arrived = reinterpret_cast<unsigned*>(
        problem.scratch + (misaligned == 0 ? 0 : sizeof(unsigned) - misaligned));
    arguments.source = problem.data;
    arguments.source_pitch = row_bytes;
    arguments.units = count(row_bytes / plan.unit);
    arguments.tiles = count(bands * band_tiles);
    arguments.blocks = count(plan.blocks);
    const cudaError_t status =
        cudaMemsetAsync(arguments.arrived, 0, bands * sizeof(unsigned), stream);
    return status != cudaSuccess ? status
                                 : start_together(kernel, plan.blocks, column_threads,
                                                  plan.shared_bytes(), pointers, stream);
  }
  const cudaError_t allowed = allow_shared_bytes(kernel, plan.shared_bytes());
  if (allowed != cudaSuccess) { return allowed; }
  const size_type held = problem.scratch_bytes / problem.rows;  // bytes of a row, at least a band's
  const size_type cached = cached_scratch_bytes / problem.rows;
  const size_type step =
      smaller(held, larger(cached, plan.band_bytes)) / plan.band_bytes * plan.band_bytes;
  arguments.source = problem.scratch;
  for (size_type first = 0; first < row_bytes; first += step) {
    const size_type bytes = smaller(row_bytes - first, step);
    arguments.first_unit = count(first / plan.unit);
    arguments.units = count(bytes / plan.unit);
    arguments.source_pitch = bytes;
    arguments.tiles = count(divide_up(bytes, plan.band_bytes) * band_tiles);
    arguments.blocks = arguments.tiles;
    cudaError_t status = copy_rows(problem.scratch, bytes, problem.data + first, row_bytes, bytes,
                                   problem.rows, stream);
    if (status != cudaSuccess) { return status; }
    status = start(kernel, arguments.blocks, column_threads, plan.shared_bytes(), pointers, stream);
    if (status != cudaSuccess) { return status; }
  }
  return cudaSuccess;
}

/// True where `rows` rows fit the shared memory of a block.
inline bool fits_block(const device_limits& limits, const rectangle& grid, size_type rows,
                       size_type element) {
  return rows * grid.cols * element + max_access_bytes <=
         static_cast<size_type>(limits.shared_of_block);
}

/// Step 1 on all rows: in shared memory where a row fits it, else through scratch memory. Step 2, too, where
/// g rows fit.
template <bool Undo, int ElementBytes, int Unit>
cudaError_t launch_shuffles(const rectangle_problem& problem, const rectangle& grid, bool squares,
                            const device_limits& limits, cudaStream_t stream) {
  constexpr size_type parts = ElementBytes / Unit;
  const size_type row_bytes = problem.cols * ElementBytes;
  const size_type least_rows = squares ? grid.common : 1;
  if (fits_block(limits, grid, least_rows, ElementBytes)) {
    shuffle_arguments<Undo> arguments{};
    arguments.data = problem.data;
    arguments.grid = grid;
    arguments.squares = squares;
    arguments.block_rows = static_cast<unsigned>(
        smaller(problem.rows,
                larger<size_type>(shuffle_block_bytes / row_bytes / least_rows, 1) * least_rows));
    // Eight elements or more a thread: the first of a row takes some time to find.
    size_type team = shuffle_threads;
    while (team > 32 && team / 2 >= parts && team * 8 > problem.cols * parts) { team /= 2; }
    arguments.team = static_cast<unsigned>(team);
    // A thread takes a unit of every `team`-th, or a word.
    using walk_step = typename row_walk<Undo>::step;
    const size_type skipped =
        gathers_words<ElementBytes, Unit> ? (team - 1) * (4 / ElementBytes) + 1 : team / parts;
    arguments.step = walk_step(grid, static_cast<unsigned>(skipped));
    arguments.one = walk_step(grid, 1);
    arguments.word =
        walk_step(grid, static_cast<unsigned>(team * larger<size_type>(4 / ElementBytes, 1)));
    const size_type shared_bytes = arguments.block_rows * row_bytes + max_access_bytes;
    const auto kernel = &shuffle_kernel<Undo, ElementBytes, Unit>;
    const cudaError_t status = allow_shared_bytes(kernel, shared_bytes);
    if (status != cudaSuccess) { return status; }
    void* pointers[] = {&arguments};
    return start(kernel, divide_up(problem.rows, arguments.block_rows), shuffle_threads,
                 shared_bytes, pointers, stream);
  }

  long_row_arguments arguments{};
  arguments.scratch = problem.scratch;
  arguments.data = problem.data;
  arguments.grid = grid;
  const size_type held = smaller(problem.scratch_bytes, cached_scratch_bytes) / row_bytes;
  const size_type together = larger<size_type>(held, 1);
  for (size_type row = 0; row < problem.rows; row += together) {
    arguments.first_row = static_cast<unsigned>(row);
    arguments.rows = static_cast<unsigned>(smaller(problem.rows - row, together));
    unsigned char* const data = problem.data + row * row_bytes;
    const size_type bytes = arguments.rows * row_bytes;
    cudaError_t status = cudaSuccess;
    if (Undo) {
      status = cudaMemcpyAsync(problem.scratch, data, bytes, cudaMemcpyDeviceToDevice, stream);
      if (status != cudaSuccess) { return status; }
    }
    void* pointers[] = {&arguments};
    status = start(&long_row_kernel<Undo, ElementBytes, Unit>,
                   divide_up(bytes / Unit, column_threads), column_threads, 0, pointers, stream);
    if (status != cudaSuccess) { return status; }
    if (!Undo) {
      status = cudaMemcpyAsync(data, problem.scratch, bytes, cudaMemcpyDeviceToDevice, stream);
      if (status != cudaSuccess) { return status; }
    }
  }
  return cudaSuccess;
}

template <class Kernel>
cudaError_t start_squares(Kernel* kernel, const rectangle_problem& problem, const rectangle& grid,
                          size_type element, int side, int threads, size_type shared_bytes,
                          cudaStream_t stream) {
  const cudaError_t status = allow_shared_bytes(kernel, shared_bytes);
  if (status != cudaSuccess) { return status; }
  squares_arguments arguments{problem.data,
                              problem.cols * element,
                              grid.common * element,
                              grid.common,
                              pair_order(divide_up(grid.common, side)),
                              {problem.data, problem.data + problem.rows * problem.cols * element},
                              divider(),
                              divider(grid.wide)};
  arguments.pairs = divider(arguments.order.blocks());
  void* pointers[] = {&arguments};
  return start(kernel, arguments.order.blocks() * grid.tall * grid.wide, threads, shared_bytes,
               pointers, stream);
}

/// Step 2 by itself: its own inverse.
template <int ElementBytes, int Unit>
cudaError_t launch_squares(const rectangle_problem& problem, const rectangle& grid,
                           cudaStream_t stream) {
  if constexpr (access_width(ElementBytes) == ElementBytes) {
    const size_type bits = reinterpret_cast<size_type>(problem.data) | problem.cols * ElementBytes |
                           grid.common * ElementBytes;
    if (bits % max_access_bytes == 0) {
      using shape = swap_shape<ElementBytes>;
      return start_squares(&squares_kernel<shape>, problem, grid, ElementBytes, shape::tile_rows,
                           2 * shape::threads, 0, stream);
    }
  }
  const auto launch_chunks = [&](auto shape) {
    using tile = decltype(shape);
    return start_squares(&square_chunks_kernel<tile>, problem, grid, ElementBytes, tile::side,
                         2 * tile::threads, 2 * tile::shared_bytes, stream);
  };
  using large = chunk_shape<ElementBytes, Unit>;
  if (takes_large_chunks<large>(problem.rows * problem.cols, grid.common)) {
    return launch_chunks(large{});
  }
  if constexpr (swaps_views<ElementBytes, Unit>) {
    using tile = swap_tile<ElementBytes>;
    return start_squares(
        &square_views_kernel<typename tile::element_type, typename tile::type, tile::threads>,
        problem, grid, ElementBytes, tile::side, tile::threads, 0, stream);
  } else {
    return launch_chunks(chunk_shape<ElementBytes, Unit, small_chunk_policy<ElementBytes>>{});
  }
}

/// All steps: squares together with rows where g rows fit a block, else with columns, else by themselves.
template <bool Undo, int ElementBytes, int Unit>
cudaError_t launch_rectangle(const rectangle_problem& problem, cudaStream_t stream) {
  const rectangle grid(problem.rows, problem.cols);
  device_limits limits;
  cudaError_t status = ask_device(limits);
  if (status != cudaSuccess) { return status; }
  const bool has_squares = grid.common > 1;
  const bool in_rows =
      has_squares && grid.wide > 1 && fits_block(limits, grid, grid.common, ElementBytes);
  const bool in_columns = has_squares && !in_rows;

  constexpr int widest = max_access_bytes;
  const size_type bits = reinterpret_cast<size_type>(problem.data) |
                         reinterpret_cast<size_type>(problem.scratch) | grid.common * ElementBytes;
  const size_type wide = bits % widest == 0 ? widest : Unit;
  void (*const kernels[])(column_arguments) = {&column_kernel<Undo, Unit>,
                                               &column_kernel<Undo, widest>};
  column_plan plan;
  status = plan_together(grid, in_columns, ElementBytes, Unit, wide, kernels, limits, plan);
  if (plan.blocks == 0) {
    constexpr size_type cols = larger<size_type>(band_bytes / ElementBytes, 1);
    const size_type tile_bytes =
        Unit < 4 ? smaller(slanted_tile_bytes, static_cast<size_type>(limits.shared_of_block))
                 : scratch_tile_bytes;
    plan = column_plan(grid, in_columns, ElementBytes, Unit, wide, cols * ElementBytes, tile_bytes);
  }

  const auto rows = [&] {
    if (status == cudaSuccess && grid.wide > 1) {
      status = launch_shuffles<Undo, ElementBytes, Unit>(problem, grid, in_rows, limits, stream);
    }
  };
  const auto squares = [&] {
    if (status == cudaSuccess && in_columns && !plan.squares) {
      status = launch_squares<ElementBytes, Unit>(problem, grid, stream);
    }
  };
  const auto columns = [&] {
    if (status != cudaSuccess) { return; }
    status = launch_columns(problem, grid, ElementBytes, plan, kernels[plan.unit == Unit ? 0 : 1],
                            stream);
  };
  if constexpr (Undo) {
    columns();
    squares();
    rows();
  } else {
    rows();
    squares();
    columns();
  }
  return status;
}

/// Transposes a dense matrix in place; `scratch` holds at least least_scratch() bytes.
template <int ElementBytes, int Alignment>
cudaError_t transpose_rectangle(const transpose_request& request, void* scratch,
                                size_type scratch_bytes, cudaStream_t stream) {
  if (request.nx == 1 || request.ny == 1) { return cudaSuccess; }  // a vector stays as it is
  if (request.nx == request.ny) {
    return transpose_square<ElementBytes, Alignment>(make_problem(request), stream);
  }
  const size_type bytes = request.nx * request.ny * ElementBytes;
  if (scratch_bytes >= bytes) {
    transpose_request copy = request;
    copy.out = scratch;
    copy.out_stride = request.ny;
    const cudaError_t status =
        transpose_problem<ElementBytes, Alignment>(make_problem(copy), 1, stream);
    return status != cudaSuccess
               ? status
               : cudaMemcpyAsync(request.out, scratch, bytes, cudaMemcpyDeviceToDevice, stream);
  }
  const bool tall = request.ny > request.nx;
  const rectangle_problem problem{
      static_cast<unsigned char*>(request.out), static_cast<unsigned char*>(scratch), scratch_bytes,
      tall ? request.ny : request.nx,           tall ? request.nx : request.ny,       !tall};
  const size_type bits =
      reinterpret_cast<size_type>(request.out) | reinterpret_cast<size_type>(scratch);
  return with_unit<ElementBytes, Alignment>(bits, [&](auto unit) {
    return problem.undo
               ? launch_rectangle<true, ElementBytes, decltype(unit)::value>(problem, stream)
               : launch_rectangle<false, ElementBytes, decltype(unit)::value>(problem, stream);
  });
}

/// The two calls of a caller with scratch memory.
template <int ElementBytes, int Alignment>
cudaError_t transpose_with_scratch(void* temp, size_type& temp_bytes,
                                   const transpose_request& request, cudaStream_t stream) {
  const bool empty = request.nx == 0 || request.ny == 0;
  size_type elements = 0;
  size_type bytes = 0;
  if (!empty && (!multiplies(request.nx, request.ny, elements) ||
                 !multiplies(elements, ElementBytes, bytes))) {
    return cudaErrorInvalidValue;
  }
  const bool stays = empty || request.nx == 1 || request.ny == 1 || request.nx == request.ny;
  // Never 0: who allocates nothing has a null pointer, and would ask again.
  const size_type least = stays ? 1 : least_scratch(request.nx, request.ny, ElementBytes);
  if (temp == nullptr) {
    temp_bytes = least;
    return cudaSuccess;
  }
  const verdict answer = examine_inplace(request, symmetry::identity);
  if (answer != verdict::go) { return status_of(answer); }
  memory_region data{};
  memory_region scratch{};
  if (temp_bytes < least || !make_region(request.out, 1, elements, 0, ElementBytes, data) ||
      !make_region(temp, 1, temp_bytes, 0, 1, scratch) || overlap(data, scratch)) {
    return cudaErrorInvalidValue;
  }
  return transpose_rectangle<ElementBytes, Alignment>(request, temp, temp_bytes, stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
