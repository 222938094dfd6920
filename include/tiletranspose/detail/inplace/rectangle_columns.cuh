// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How a rectangle is transposed in its own memory: by permutations of its rows, transposes of squares, and
/// permutations of its columns. Of these the columns stand here, with what their launches share with those of other
/// steps; rectangle.cuh and square.cuh have the others.
/// Source: after Catanzaro, Keller and Garland, "A decomposition for in-place matrix transposition", PPoPP 2014,
/// which rotates columns where squares are transposed here, so that all columns of a square move alike.
///
/// The memory is seen as a grid of m rows and n columns, m >= n. With g = gcd(m, n) it is p x q squares of g x g elements, m
/// = p * g and n = q * g. Element l of its transpose is element (l % m, l / m); that it gets there takes
///
///     1. rows      (P * g + i, s * q + t)  ->  (P * g + i, Q * g + s),  Q = (t * p + P) % q      where q > 1
///     2. squares   (P * g + i, Q * g + s)  ->  (P * g + s, Q * g + i)                             where g > 1
///     3. columns   (P * g + s, Q * g + i)  ->  (s * p + (P - Q) / q % p, Q * g + i)
///
/// where a division modulo p is a multiplication by an inverse. The same steps, undone from the last to the
/// first, make the transpose of an n x m matrix.
///
/// Step 1 stays in a row, which shared or scratch memory holds. Step 3 stays in a column: the shared memory of all blocks
/// together holds *bands* of adjacent columns, or scratch memory does. Bands are cut into tiles, which are moved access by
/// access.

#pragma once

#include <type_traits>

#include <tiletranspose/detail/choose/choose_inplace.cuh>
#include <tiletranspose/detail/core/async_copy.cuh>
#include <tiletranspose/detail/rows/row_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The grid and its numbers.
struct rectangle {
  unsigned rows = 1;  ///< m < 2^31
  unsigned cols = 1;  ///< n < 2^31; n <= m but for segments, see rectangle_segments.cuh
  unsigned common = common_divisor(rows, cols);  ///< g
  unsigned tall = rows / common;                 ///< p
  unsigned wide = cols / common;                 ///< q
  divider by_common = divider(common);
  divider by_wide = divider(wide);
  long_divider modulo_tall = long_divider(tall);
  long_divider modulo_wide = long_divider(wide);
  unsigned wide_inverse = inverse_modulo(wide, tall);  ///< of q, modulo p

  rectangle() = default;
  rectangle(size_type m, size_type n)
      : rows(static_cast<unsigned>(m)), cols(static_cast<unsigned>(n)) {}
};

/// a + b modulo `modulus`. Precondition: both are less than it, and it is less than 2^31.
TILETRANSPOSE_FUNCTION unsigned add_modulo(unsigned a, unsigned b, unsigned modulus) {
  const unsigned sum = a + b;
  return smaller(sum, sum - modulus);
}

/// The transpose's column y has m elements from y * m on. Its *phase* is how many of them come before the first one
/// that is whole *groups* into memory, the fewest elements that are whole sectors (or, where that leaves more than the
/// scratch memory holds, words of 16 bytes); there its k segments begin, one after the other. Of a column r elements
/// are in no segment: those before the first one, and those behind the last.
///
///     memory    |g r o u p|g r o u p|g r o u p|g r o u p|g r o u p|g r o u p|
///     columns   ... y - 1 >< y                                       >< y + 1 ...
///     segments   ...      |   |<-- segment 0 ->|<-- segment 1 ->|         |<---
///                          phase                                 the remainder
///
/// *Slot* y * k + i is where segment i of column y lies. Precondition: r is 0 or more than any phase.
struct segment_layout {
  divider tall;        ///< k
  unsigned remainder;  ///< r; columns * r * element_bytes < 2^31
  unsigned group;      ///< elements, a power of two
  unsigned element_bytes;
  unsigned segment_bytes;

  /// Elements of column y before its first segment.
  TILETRANSPOSE_FUNCTION unsigned phase(unsigned y) const {
    return (0 - y * remainder) & (group - 1);
  }
  /// Bytes before a slot that are no segments'.
  TILETRANSPOSE_FUNCTION unsigned gaps(unsigned slot) const {
    return ((tall.quotient(slot) * remainder + group - 1) & ~(group - 1)) * element_bytes;
  }
  TILETRANSPOSE_FUNCTION size_type slot_bytes(unsigned slot) const {
    return size_type{slot} * segment_bytes + gaps(slot);
  }
};

/// A barrier of some of the blocks of a cooperative launch, which have read what others of them write: says that this
/// block has come to counter `mine`, and waits until `expected` blocks have come to each of those from `first` to `last`,
/// this one among them; a barrier of the block where `arrived` is null. On the CPU nobody reads data that others
/// write. Precondition: all of them run at once.
template <class Group>
TILETRANSPOSE_FUNCTION void grid_barrier(Group group, unsigned* arrived, unsigned mine,
                                         unsigned first, unsigned last, unsigned expected) {
  group.sync();
#if TILETRANSPOSE_ON_DEVICE
  if (arrived != nullptr) {
    const unsigned rank = group.thread_rank();
    if (rank == 0) {
      __threadfence();
      atomicAdd(arrived + mine, 1u);
    }
    if (rank <= last - first) {
      for (unsigned at = first + rank; at <= last; at += group.size()) {
        while (*static_cast<volatile unsigned*>(arrived + at) < expected) { __nanosleep(64); }
      }
      __threadfence();
    }
    group.sync();
  }
#endif
  (void)arrived, (void)mine, (void)first, (void)last, (void)expected;
}

/// The work on one rectangle: `rows` > `cols` of the grid, whatever the matrix.
struct rectangle_problem {
  unsigned char* data;
  unsigned char* scratch;
  size_type scratch_bytes;
  size_type rows;
  size_type cols;
  size_type element_bytes;
  bool undo;  ///< the matrix has as many rows as the grid has columns

  size_type row_bytes() const { return cols * element_bytes; }
};

/// Blocks of a kernel that wait for each other.
struct blocks_at_once {
  size_type shared_bytes = 0;  ///< that each may have
  size_type count = 0;  ///< that run at once; 0 where the device knows no cooperative launches
};

/// Allows so many blocks that share a multiprocessor's memory equal parts of it, up to `most` bytes each.
template <class Kernel>
cudaError_t allow_at_once(Kernel* kernel, int threads, size_type sharing, size_type most,
                          blocks_at_once& allowed) {
  if (ask_device_for(cudaDevAttrCooperativeLaunch, 0) == 0) { return cudaSuccess; }
  constexpr size_type reserved = 1024;  // by the system, of every block's shared memory
  const size_type all =
      ask_device_for(cudaDevAttrMaxSharedMemoryPerMultiprocessor, default_shared_bytes);
  const size_type bytes = smaller(smaller(all / sharing - reserved, most), most_shared_bytes());
  int resident = 0;
  cudaError_t status = allow_shared_bytes(kernel, bytes);
  if (status == cudaSuccess) {
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel_pointer(kernel),
                                                           threads, bytes);
  }
  allowed = {bytes, resident * ask_device_for(cudaDevAttrMultiProcessorCount, 0)};
  return status;
}

/// Starts blocks that wait for each other by so many counters, which are cleared before: all of them run at once.
template <class Arguments>
cudaError_t start_together(void (*kernel)(Arguments), Arguments& arguments, size_type counters,
                           int threads, size_type shared_bytes, cudaStream_t stream) {
  const cudaError_t cleared =
      cudaMemsetAsync(arguments.arrived, 0, counters * sizeof(unsigned), stream);
  if (cleared != cudaSuccess) { return cleared; }
  void* pointers[] = {&arguments};
  return cudaLaunchCooperativeKernel(kernel_pointer(kernel), dim3(arguments.blocks),
                                     dim3(static_cast<unsigned>(threads)), pointers, shared_bytes,
                                     stream);
}

/// Takes steps one after the other until one fails.
template <class... Steps>
cudaError_t take_steps(Steps... steps) {
  cudaError_t status = cudaSuccess;
  (void)(((status = steps()) == cudaSuccess) && ...);
  return status;
}

/// Step 3 for a band: in which row elements are after it. A walk visits every `stride`-th row of a column.
struct column_walk {
  /// What `stride` rows are: whole squares, and rows of one.
  struct step {
    unsigned rows;   ///< stride % g
    unsigned shift;  ///< stride / g squares further on, step 3 is so many rows further on, modulo p

    step() = default;
    /// Precondition: stride <= m.
    TILETRANSPOSE_FUNCTION step(const rectangle& grid, unsigned stride) {
      const unsigned squares = grid.by_common.quotient(stride);
      rows = grid.by_common.remainder(stride, squares);
      shift =
          grid.modulo_tall.remainder(static_cast<unsigned long long>(squares) * grid.wide_inverse);
    }
  };

  unsigned s;  ///< row in its square
  unsigned x;  ///< (P - Q) / q % p

  /// Precondition: row < m, and `left`, squares to the left of the column, < p.
  TILETRANSPOSE_FUNCTION column_walk(const rectangle& grid, unsigned row, unsigned left) {
    const unsigned above = grid.by_common.quotient(row);
    s = grid.by_common.remainder(row, above);
    const unsigned diagonal = above >= left ? above - left : above + grid.tall - left;
    x = grid.modulo_tall.remainder(static_cast<unsigned long long>(diagonal) * grid.wide_inverse);
  }
  TILETRANSPOSE_FUNCTION unsigned row(const rectangle& grid) const { return s * grid.tall + x; }
  TILETRANSPOSE_FUNCTION void advance(const rectangle& grid, const step& by) {
    s += by.rows;
    x = add_modulo(x, by.shift, grid.tall);
    if (s >= grid.common) {
      s -= grid.common;
      x = add_modulo(x, grid.wide_inverse, grid.tall);
    }
  }
};

/// A launch over bands of columns, whose widths are counted in accesses: the columns of a square move alike, whatever their
/// elements, so that an access may move several of them, or part of one. A block takes tiles of bands, one after the other.
struct column_arguments {
  const unsigned char* source;  ///< the data, or a copy of the launch's columns
  unsigned char* data;
  /// For each band the tiles that have been read; null where the source is a copy that nobody writes. The memory
  /// that a tile is written to has been read by others: they must all have done so.
  unsigned* arrived;
  size_type source_pitch;  ///< bytes
  size_type data_pitch;    ///< bytes
  rectangle grid;
  unsigned first_access;    ///< of a row
  unsigned accesses;        ///< of all bands of the launch
  unsigned band_accesses;   ///< of a band; the last may have fewer
  divider square_accesses;  ///< of a square
  unsigned tile_rows;
  divider band_tiles;       ///< tiles of a band
  unsigned tiles;           ///< of all bands
  unsigned blocks;          ///< of the launch
  unsigned lines;           ///< rows of a tile that threads take at a time
  column_walk::step step;   ///< of `lines` rows
  segment_layout segments;  ///< what the grid's elements are, if they are segments

  /// Blocks that must run at once: tiles of a band wait for each other.
  unsigned together() const { return band_tiles.divisor; }
  /// Of all that is read.
  size_type source_bytes() const {
    return grid.rows * source_pitch + segments.gaps(grid.rows * grid.cols - 1);
  }
};

/// A tile of a band, read at one place and written at another. A thread takes one access of every `lines`-th row. Where
/// the grid's elements are segments, its rows have gaps, and may be fewer than its columns.
template <bool Undo, int Access, bool Segments>
struct column_tile {
  using word = access_word_t<Access>;

  const column_arguments& arguments;
  unsigned char* shared;        ///< where the thread's access of row 0 lies
  const unsigned char* source;  ///< the same in the grid's row 0
  unsigned char* target;
  unsigned first;  ///< row of the tile
  unsigned rows;
  unsigned left;       ///< squares to the left of the access
  unsigned band_left;  ///< and of the band
  unsigned line;       ///< where the thread starts

  /// A row of the tile, and the one of the grid that its access is read from or moves to.
  struct place {
    unsigned t;
    unsigned row;
  };

  /// Visits the thread's rows, each call the next one: where the accesses of a warp lie in one row; or, along `Lines`, where
  /// they move to one row. One square further to the right, that is one square further down: such lines start in the
  /// tile's first column, and go on in its first row after its last.
  template <bool Lines>
  TILETRANSPOSE_FUNCTION auto along() const {
    if constexpr (Lines) {
      const rectangle& grid = arguments.grid;
      const column_walk::step back(grid, grid.rows - rows);  // the tile's rows
      const size_type down = size_type{left - band_left} * grid.common % rows;
      unsigned t = line + static_cast<unsigned>(down);
      if (t >= rows) { t -= rows; }
      const unsigned squares_left = Segments ? grid.modulo_tall.remainder(left) : left;  // modulo p
      return [this, back, t, walk = column_walk(grid, first + t, squares_left)]() mutable {
        const place here{t, walk.row(arguments.grid)};
        t += arguments.lines;
        walk.advance(arguments.grid, arguments.step);
        if (t >= rows) {
          t -= rows;
          walk.advance(arguments.grid, back);
        }
        return here;
      };
    } else {
      return [this, t = line]() mutable {
        const place here{t, first + t};
        t += arguments.lines;
        return here;
      };
    }
  }

  /// Where row t of the tile has the thread's access in shared memory: its rows follow each other.
  TILETRANSPOSE_FUNCTION unsigned char* place_of(unsigned t) const {
    return shared + t * (arguments.band_accesses * Access);
  }
  /// Bytes from the thread's access of the grid's row 0 to that of another row.
  TILETRANSPOSE_FUNCTION size_type offset(unsigned row, size_type pitch) const {
    const size_type bytes = row * pitch;
    return Segments ? bytes + arguments.segments.gaps(row * arguments.grid.cols + left) : bytes;
  }

  /// Moves the thread's words: put(place, take(place)), several at a time, which take registers; the more where copies
  /// cannot run in the background.
  template <class Next, class Take, class Put>
  TILETRANSPOSE_FUNCTION void move(Next next, Take take, Put put) const {
    constexpr unsigned batch = Access >= 4 && Access < 16 && copies_async ? 8 : Access == 1 ? 3 : 4;
    const unsigned lines = arguments.lines;
    const auto move_batch = [&](auto whole, unsigned start) {
      place places[batch];
      word words[batch];
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < batch; ++i) { places[i] = next(); }
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < batch; ++i) {
        if (whole.value || start + i * lines < rows) { words[i] = take(places[i]); }
      }
      TILETRANSPOSE_UNROLL
      for (unsigned i = 0; i < batch; ++i) {
        if (whole.value || start + i * lines < rows) { put(places[i], words[i]); }
      }
    };
    unsigned start = line;
    for (; start + (batch - 1) * lines < rows; start += batch * lines) {
      move_batch(std::true_type{}, start);
    }
    if (start < rows) { move_batch(std::false_type{}, start); }
  }

  TILETRANSPOSE_FUNCTION void read() const {
    auto next = along<Undo>();
    const auto from = [&](place at) { return source + offset(at.row, arguments.source_pitch); };
    if constexpr (copies_async && Access >= 4) {
      TILETRANSPOSE_UNROLL_BY(4)
      for (unsigned start = line; start < rows; start += arguments.lines) {
        const place here = next();
        copy_async<Access>(place_of(here.t), from(here));
      }
      commit_copies();
      wait_for_copies(0);
    } else {
      move(
          next, [&](place at) { return load_global<word>(from(at)); },
          [&](place at, const word& value) { store_shared(place_of(at.t), value); });
    }
  }

  TILETRANSPOSE_FUNCTION void write() const {
    move(
        along<!Undo>(), [&](place at) { return load_shared<word>(place_of(at.t)); },
        [&](place at, const word& value) {
          store_global(target + offset(at.row, arguments.data_pitch), value);
        });
  }
};

/// Step 3 for the tiles of a block, or undone.
/// Shared memory: tile_rows rows of a band. Barriers: three a tile.
/// Precondition: where `arrived` is not null all blocks run at once, and are no fewer than tiles of a band.
template <bool Undo, int Access, bool Segments = false>
__global__ void __launch_bounds__(column_threads, resident_blocks(column_threads, column_blocks))
    column_kernel(const __grid_constant__ column_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  const static_block<column_threads> group;
  const rectangle& grid = arguments.grid;
  const divider& square_accesses = arguments.square_accesses;
  const unsigned line = group.thread_rank() / arguments.band_accesses;
  const unsigned in_band = group.thread_rank() - line * arguments.band_accesses;
  for (unsigned at = blockIdx.x; at < arguments.tiles; at += arguments.blocks) {
    const unsigned band = arguments.band_tiles.quotient(at);
    const unsigned first = arguments.band_tiles.remainder(at, band) * arguments.tile_rows;
    const unsigned in_launch = band * arguments.band_accesses + in_band;
    const unsigned access = arguments.first_access + in_launch;
    const column_tile<Undo, Access, Segments> tile{arguments,
                                                   tiletranspose_dynamic_shared + in_band * Access,
                                                   arguments.source + size_type{in_launch} * Access,
                                                   arguments.data + size_type{access} * Access,
                                                   first,
                                                   smaller(grid.rows - first, arguments.tile_rows),
                                                   square_accesses.quotient(access),
                                                   square_accesses.quotient(access - in_band),
                                                   line};
    const bool mine = line < smaller(arguments.lines, tile.rows) && in_launch < arguments.accesses;
    if (at != blockIdx.x) { group.sync(); }  // the tile before has been written
    if (mine) { tile.read(); }
    grid_barrier(group, arguments.arrived, band, band, band, arguments.band_tiles.divisor);
    if (mine) { tile.write(); }
  }
}

/// Bands of columns and their tiles.
struct column_plan {
  rectangle grid;
  size_type element;  ///< bytes of the grid's
  size_type access;   ///< bytes
  void (*kernel)(column_arguments);
  size_type band_bytes = 0;  ///< of a row of a band
  size_type tile_rows = 1;
  size_type blocks = 0;  ///< that run at once; 0: columns pass through scratch memory

  size_type row_bytes() const { return grid.cols * element; }
  size_type shared_bytes() const { return tile_rows * band_bytes; }
  size_type band_tiles() const { return divide_up(grid.rows, tile_rows); }
  size_type bands() const { return divide_up(row_bytes(), band_bytes); }

  /// Bands of up to `wanted` bytes or one access, tiles of up to `most` bytes.
  void set_bands(size_type wanted, size_type most) {
    const size_type accesses = smaller<size_type>(wanted / access, column_threads);
    band_bytes = smaller(larger<size_type>(accesses, 1) * access, row_bytes());
    tile_rows = smaller<size_type>(larger<size_type>(most / band_bytes, 1), grid.rows);
  }

  /// Bands in the shared memory of all blocks, as wide as fits it, up to `widest` bytes; no blocks where none fit.
  cudaError_t set_together(size_type widest) {
    blocks_at_once allowed;
    const cudaError_t status =
        allow_at_once(kernel, column_threads, column_blocks, ~size_type{0}, allowed);
    if (status != cudaSuccess) { return status; }
    for (size_type bytes = widest; bytes >= sector_bytes; bytes -= sector_bytes) {
      set_bands(bytes, allowed.shared_bytes);
      const size_type bands_at_once = bytes > widest_band_bytes ? many_bands : 1;
      if (shared_bytes() > allowed.shared_bytes || band_tiles() * bands_at_once > allowed.count) {
        continue;
      }
      // Where there is room for several bands, not all of it is used; and no fewer tiles than blocks, if they have enough rows.
      const size_type fair = larger<size_type>(divide_up(grid.rows * bands(), allowed.count), 64);
      const size_type rows =
          2 * band_tiles() <= allowed.count ? tile_rows * used_tile_tenths / 10 : tile_rows;
      tile_rows = larger<size_type>(smaller(fair, rows), 1);
      if (band_tiles() <= allowed.count) {
        blocks = smaller(allowed.count, bands() * band_tiles());
        return cudaSuccess;
      }
    }
    return cudaSuccess;
  }
};

/// Step 3. A template, so that the kernel that copies rows is compiled only where this is called.
/// Precondition: the kernel is allowed the plan's shared memory.
template <int NoElement = 0>
cudaError_t launch_columns(const rectangle_problem& problem, const column_plan& plan,
                           const segment_layout& segments, cudaStream_t stream) {
  const auto count = [](size_type value) { return static_cast<unsigned>(value); };
  const rectangle& grid = plan.grid;
  const bool together = plan.blocks != 0;
  const size_type row_bytes = plan.row_bytes();
  const size_type held = problem.scratch_bytes / grid.rows;  // bytes of a row, at least a band's
  const size_type cached = larger(cached_scratch_bytes / grid.rows, plan.band_bytes);
  const size_type step =
      together ? row_bytes : smaller(held, cached) / plan.band_bytes * plan.band_bytes;
  column_arguments arguments{};
  arguments.data = problem.data;
  arguments.data_pitch = row_bytes;
  arguments.source = together ? problem.data : problem.scratch;
  arguments.grid = grid;
  arguments.band_accesses = count(plan.band_bytes / plan.access);
  arguments.square_accesses = divider(grid.common * plan.element / plan.access);
  arguments.tile_rows = count(plan.tile_rows);
  arguments.band_tiles = divider(plan.band_tiles());
  arguments.lines = column_threads / arguments.band_accesses;
  arguments.step = column_walk::step(grid, smaller(arguments.lines, grid.rows));
  arguments.segments = segments;
  if (together) {
    arguments.arrived = reinterpret_cast<unsigned*>(
        problem.scratch + (0 - reinterpret_cast<size_type>(problem.scratch)) % sizeof(unsigned));
  }
  for (size_type first = 0; first < row_bytes; first += step) {
    const size_type bytes = smaller(row_bytes - first, step);
    const size_type bands = divide_up(bytes, plan.band_bytes);
    arguments.first_access = count(first / plan.access);
    arguments.accesses = count(bytes / plan.access);
    arguments.source_pitch = bytes;
    arguments.tiles = count(bands * plan.band_tiles());
    arguments.blocks = together ? count(plan.blocks) : arguments.tiles;
    if (together) {
      return start_together(plan.kernel, arguments, bands, column_threads, plan.shared_bytes(),
                            stream);
    }
    cudaError_t status = copy_rows<NoElement>(problem.scratch, bytes, problem.data + first,
                                              row_bytes, bytes, grid.rows, stream);
    if (status != cudaSuccess) { return status; }
    status = start(plan.kernel, arguments.blocks, column_threads, plan.shared_bytes(), stream,
                   arguments);
    if (status != cudaSuccess) { return status; }
  }
  return cudaSuccess;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
