// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The kernels as CUDA sees them, and the choice between them.

#pragma once

#include <tiletranspose/config.cuh>

#include <type_traits>

#include <tiletranspose/detail/calls/little_work.cuh>
#include <tiletranspose/detail/core/shared_limit.cuh>
#include <tiletranspose/detail/core/start_kernel.cuh>
#include <tiletranspose/detail/panel/gathered_plan.cuh>
#include <tiletranspose/detail/panel/vectorised_plan.cuh>
#include <tiletranspose/detail/panel/word_shifted_plan.cuh>
#include <tiletranspose/detail/request/request.cuh>
#include <tiletranspose/detail/tile/shapes.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The blocks per multiprocessor that registers are kept low for, as far as the architecture holds them. Others than the
/// one that was measured, 9.0, take a few registers more for the same code: with those of as many blocks, small and
/// narrow tiles, boxes and fused calls spilled (nvcc 13.0).
constexpr int resident_blocks(int threads, int wanted) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  constexpr int most_threads = 1024;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && \
    (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1100)
  constexpr int most_threads = 1536;
#else
  constexpr int most_threads = 2048;
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
  wanted = wanted / 2;
#endif
  const int held = most_threads / threads < 16 ? most_threads / threads : 16;
  const int blocks = wanted < held ? wanted : held;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  if (blocks > 2) { return blocks - 1; }
#endif
  return blocks > 0 ? blocks : 1;
}

template <class Shape, int BlocksPerSm>
__global__ void __launch_bounds__(Shape::threads, resident_blocks(Shape::threads, BlocksPerSm))
    tile_kernel(const __grid_constant__ tile_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  const static_block<Shape::threads> block;
  if constexpr (Shape::splices) {
    move_spliced_tile<Shape>(block, tiletranspose_dynamic_shared, arguments, blockIdx.x);
  } else {
    move_tile<Shape>(block, tiletranspose_dynamic_shared, arguments, blockIdx.x);
  }
}

template <class Shape>
__global__ void __launch_bounds__(Shape::threads)
    vector_kernel(const unsigned char* in, unsigned char* out, size_type in_stride_bytes,
                  size_type out_stride_bytes) {
  __shared__ __align__(16) unsigned char shared[Shape::shared_bytes];
  move_vector_tile<Shape>(static_block<Shape::threads>{}, shared, in, out, in_stride_bytes,
                          out_stride_bytes, blockIdx.y, blockIdx.x);
}

/// Blocks of boxes that share a multiprocessor as far as registers go. Latency is what small elements wait
/// for: 1 byte, 4 rows 75 % of cudaMemcpyAsync with 48 registers, 92 with 40. Words gain nothing from it: 3
/// columns of floats 95 % with 48 and with 32 registers (H200, 2026-11-21).
template <int ElementBytes>
inline constexpr int staged_blocks = ElementBytes <= 2 ? 8 : 5;

template <int ElementBytes, int Unit>
__global__ void __launch_bounds__(staged_threads,
                                  resident_blocks(staged_threads, staged_blocks<ElementBytes>))
    staged_kernel(const __grid_constant__ staged_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  move_box<ElementBytes, Unit>(static_block<staged_threads>{}, tiletranspose_dynamic_shared,
                               arguments, blockIdx.x);
}

template <class Shape>
__global__ void __launch_bounds__(Shape::threads,
                                  resident_blocks(Shape::threads, 1536 / Shape::threads))
    turned_kernel(const __grid_constant__ turned_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  move_turned<Shape>(static_block<Shape::threads>{}, tiletranspose_dynamic_shared, arguments,
                     blockIdx.x);
}

/// Five blocks leave bytes the registers they need. H200, 2026-11-21, 1 byte, batches of 150 x 150: 83 % of
/// cudaMemcpyAsync with six, 97 without.
template <class Shape>
__global__ void __launch_bounds__(Shape::threads, resident_blocks(Shape::threads, 5))
    sheared_kernel(const __grid_constant__ sheared_arguments arguments) {
  extern __shared__ __align__(16) unsigned char tiletranspose_dynamic_shared[];
  move_sheared<Shape>(static_block<Shape::threads>{}, tiletranspose_dynamic_shared, arguments,
                      blockIdx.x);
}

/// Calls launch(problem, batch) for work that `tiles` blocks do, halved until each half fits a grid.
/// Halves of a matrix start at multiples of 4096 rows or columns, so that alignment is as it was.
template <class Launch>
cudaError_t split(const tile_problem& problem, size_type batch, size_type in_element,
                  size_type out_element, Launch launch) {
  tile_problem first = problem;
  tile_problem second = problem;
  size_type second_batch = batch;
  size_type first_batch = batch;
  if (batch > 1) {
    first_batch = batch / 2;
    second_batch = batch - first_batch;
    const size_type step = problem.pointer_arrays ? sizeof(void*) : problem.in_batch_bytes;
    const size_type out_step = problem.pointer_arrays ? sizeof(void*) : problem.out_batch_bytes;
    second.in = static_cast<const unsigned char*>(problem.in) + first_batch * step;
    second.out = static_cast<unsigned char*>(problem.out) + first_batch * out_step;
  } else if (problem.nx > problem.ny) {
    first.nx = (problem.nx / 2 + 4095) / 4096 * 4096;
    second.nx = problem.nx - first.nx;
    second.in = static_cast<const unsigned char*>(problem.in) + first.nx * in_element;
    second.out = static_cast<unsigned char*>(problem.out) + first.nx * problem.out_stride_bytes;
  } else {
    first.ny = (problem.ny / 2 + 4095) / 4096 * 4096;
    second.ny = problem.ny - first.ny;
    second.in = static_cast<const unsigned char*>(problem.in) + first.ny * problem.in_stride_bytes;
    second.out = static_cast<unsigned char*>(problem.out) + first.ny * out_element;
  }
  const cudaError_t status = launch(first, first_batch);
  return status == cudaSuccess ? launch(second, second_batch) : status;
}

/// The stride of a single row of the input leads nowhere and may wrap to 0 in bytes, by which a copy's place would be
/// divided: the row's length stands for it.
inline tile_problem make_problem(const transpose_request& request) {
  return {request.in,
          request.out,
          (request.ny == 1 ? request.nx : request.in_stride) * request.in_element,
          request.out_stride * request.out_element,
          request.in_batch * request.in_element,
          request.out_batch * request.out_element,
          request.nx,
          request.ny,
          request.pointer_arrays};
}

/// The bits that no address of the output's rows has, as a mask for their distance from a sector.
inline unsigned sector_mask(const tile_problem& problem, size_type batch) {
  const size_type bits = reinterpret_cast<size_type>(problem.out) | problem.out_stride_bytes |
                         (batch > 1 ? problem.out_batch_bytes : 0);
  return problem.pointer_arrays || bits % sector_bytes != 0 ? sector_bytes - 1 : 0;
}

/// True where rows of the input lie so far apart that reads down a strip meet in the same parts of the memory, and
/// reads half a row away in others. H200, 2026-11-22, without jumps and with those of twelve tiles, % of
/// cudaMemcpyAsync: rows of 128 KB, 8192 of them: 1 byte 91.8, 95.4; 2: 91.8, 95.4; 4: 92.3, 94.4; 8: 92.5, 95.3; 16:
/// 92.4, 95.3; 16384 rows of doubles 94.4, 95.1; 32768: 95.6, 93.9. Rows of 64, 128.25, 256 KB and others lose 1 to 4
/// points by jumps; so do skewed tiles, of which neighbours read the same rows: 131072 x 8191 bytes 82.9, 78.5.
inline bool jumps(const tile_problem& problem) {
  constexpr size_type stride = 128 * 1024;
  return (problem.in_stride_bytes == stride || problem.in_stride_bytes == 0 - stride) &&
         problem.ny >= 2048 && problem.ny <= 16384;
}

/// Cuts a problem into tiles of `piece_bytes` of an output row and arguments.tile_cols columns of the input;
/// false where one launch cannot take them all.
inline bool order_tiles(tile_arguments& arguments, size_type batch, size_type out_element,
                        int piece_bytes, int strip_width, size_type& blocks) {
  // Joined pieces of a row begin and end with sectors, and cover as many as would hold the row.
  const unsigned skew = arguments.cols_touch ? 0 : arguments.sector_mask;
  const size_type row_tiles =
      divide_up(arguments.problem.ny * out_element + skew, static_cast<size_type>(piece_bytes));
  const size_type col_tiles = divide_up(arguments.problem.nx, arguments.tile_cols);
  if (row_tiles > max_blocks / col_tiles || row_tiles * col_tiles > max_blocks / batch) {
    return false;
  }
  blocks = row_tiles * col_tiles * batch;
  arguments.order = tile_order(row_tiles, col_tiles, static_cast<size_type>(strip_width));
  if (arguments.sector_mask == 0 && jumps(arguments.problem)) { arguments.order.jump_half(); }
  return true;
}

template <class Tuned>
cudaError_t launch_tiles(const tile_problem& problem, size_type batch, cudaStream_t stream) {
  using shape = typename Tuned::type;
  size_type cols = shape::tile_cols;
  const size_type most_tiles =
      larger<size_type>(narrow_row_bytes / (cols * shape::element_bytes), 1);
  // Tiles that may have any width get about the same, as far as that costs none of them a question it had not. H200,
  // 2026-11-22, % of cudaMemcpyAsync, elements of 9 bytes, since tiles have even widths and loads reach over ends of
  // rows that touch: 50 columns 56, 90, 70 46, 83, 100 55, 89, 200 88, 90; of 15 bytes, 40 columns 58, 80, 65 61, 89.
  if (shape::varies_width || (shape::shifts_loads && problem.nx <= 2 * cols) ||
      (shape::splices && problem.nx <= most_tiles * cols)) {
    const size_type even = divide_up(problem.nx, divide_up(problem.nx, cols));
    cols = smaller<size_type>(cols, shape::splices ? even : divide_up(even, 8) * 8);
  }
  tile_arguments arguments{problem, {}, sector_mask(problem, batch), static_cast<unsigned>(cols)};
  // H200, 2026-11-22, % of cudaMemcpyAsync without and with: 1789569 rows of 150 floats 70, 88, of 1000 88, 88; of 2
  // bytes, rows of 70 49, 86, of 300 76, 89.
  const size_type row_bytes = problem.nx * shape::element_bytes;
  arguments.rows_touch = row_bytes >= 32 && is_dense(problem.in_stride_bytes, row_bytes);
  if constexpr (shape::joins_pieces) {  // by join_pieces
    arguments.cols_touch = arguments.sector_mask != 0 && problem.ny >= 2 * shape::skew_rows &&
                           problem.out_stride_bytes == problem.ny * shape::element_bytes;
  }
  size_type blocks = 0;
  const size_type col_tiles = divide_up(problem.nx, cols);
  const bool narrow = !shape::whole && (col_tiles <= most_tiles || problem.ny > most_column_rows);
  const size_type strip_width = divide_up(col_tiles, divide_up(col_tiles, most_tiles));
  if (!order_tiles(arguments, batch, shape::element_bytes, shape::piece_bytes,
                   narrow ? static_cast<int>(strip_width) : Tuned::policy.strip_width, blocks)) {
    return split(problem, batch, shape::element_bytes, shape::element_bytes,
                 [&](const tile_problem& part, size_type part_batch) {
                   return launch_tiles<Tuned>(part, part_batch, stream);
                 });
  }
  const auto kernel = &tile_kernel<shape, Tuned::policy.blocks_per_sm>;
  const cudaError_t status = allow_shared_bytes(kernel, shape::shared_bytes);
  if (status != cudaSuccess) { return status; }
  void* pointers[] = {&arguments};
  return start(kernel, blocks, shape::threads, shape::shared_bytes, pointers, stream);
}

template <int ElementBytes, int Unit>
cudaError_t launch_boxes(const tile_problem& problem, size_type batch, box_kind kind,
                         size_type most_shared, cudaStream_t stream) {
  constexpr int unit = Unit < 4 ? Unit : 4;
  staged_plan plan = plan_staged<ElementBytes, unit>(problem, batch, kind, most_shared);
  if (plan.blocks > max_blocks) {
    return split(problem, batch, ElementBytes, ElementBytes,
                 [&](const tile_problem& part, size_type part_batch) {
                   return launch_boxes<ElementBytes, Unit>(part, part_batch, kind, most_shared,
                                                           stream);
                 });
  }
  const auto kernel = &staged_kernel<ElementBytes, unit>;
  const cudaError_t status = allow_shared_bytes(kernel, plan.shared_bytes);
  if (status != cudaSuccess) { return status; }
  void* pointers[] = {&plan.arguments};
  return start(kernel, plan.blocks, staged_threads, plan.shared_bytes, pointers, stream);
}

/// Launches the turned kernel with boxes of a shape; false where they do not fit.
template <class Shape>
bool launch_turned(const tile_problem& problem, size_type batch, turned_kind kind,
                   cudaStream_t stream, cudaError_t& status) {
  turned_plan plan = plan_turned<Shape>(problem, batch, kind);
  if (plan.blocks == 0) { return false; }
  void* pointers[] = {&plan.arguments};
  status = start(&turned_kernel<Shape>, plan.blocks, Shape::threads, plan.shared_bytes, pointers,
                 stream);
  return true;
}

/// Launches the turned kernel if it takes the problem; false where it does not.
template <int ElementBytes>
bool turn(const tile_problem& problem, size_type batch, cudaStream_t stream, cudaError_t& status) {
  const turned_kind kind = choose_turned(problem, batch, ElementBytes);
  if (kind == turned_kind::none) { return false; }
  if constexpr (ElementBytes == 1) {
    if (problem.ny == pixel_box::rows) {
      return launch_turned<pixel_box>(problem, batch, kind, stream, status);
    }
  }
  using small_box = turned_box<ElementBytes>;
  using medium_box = medium_turned_box<ElementBytes>;
  using large_box = large_turned_box<ElementBytes>;
  if (kind != turned_kind::pieces &&
      (kind != turned_kind::matrices || problem.in_batch_bytes <= small_box::box_bytes)) {
    return launch_turned<small_box>(problem, batch, kind, stream, status);
  }
  const bool medium =
      kind == turned_kind::pieces || (problem.in_batch_bytes <= medium_box::box_bytes &&
                                      2 * problem.in_batch_bytes > large_box::box_bytes);
  return medium ? launch_turned<medium_box>(problem, batch, kind, stream, status)
                : launch_turned<large_box>(problem, batch, kind, stream, status);
}

/// Launches the sheared kernel with boxes of a shape; false where it cannot.
template <class Shape>
bool launch_sheared(const tile_problem& problem, size_type batch, size_type most_shared,
                    cudaStream_t stream, cudaError_t& status) {
  sheared_plan plan = plan_sheared<Shape>(problem, batch, most_shared);
  if (plan.blocks > max_blocks ||  // another kernel splits the work
      (plan.shared_bytes > default_shared_bytes && plan.shared_bytes > most_shared_bytes())) {
    return false;
  }
  const auto kernel = &sheared_kernel<Shape>;
  status = allow_shared_bytes(kernel, plan.shared_bytes);
  if (status == cudaSuccess) {
    void* pointers[] = {&plan.arguments};
    status = start(kernel, plan.blocks, Shape::threads, plan.shared_bytes, pointers, stream);
  }
  return true;
}

/// Launches the sheared kernel if it takes the boxes of a problem; false where it does not.
template <int ElementBytes>
bool shear(const tile_problem& problem, size_type batch, box_kind kind, size_type most_shared,
           cudaStream_t stream, cudaError_t& status) {
  switch (choose_sheared(problem, batch, ElementBytes, kind, most_shared)) {
    case sheared_kind::matrices:
      return launch_sheared<sheared_matrices<ElementBytes>>(problem, batch, most_shared, stream,
                                                            status);
    case sheared_kind::columns:
      return launch_sheared<sheared_columns<ElementBytes>>(problem, batch, most_shared, stream,
                                                           status);
    case sheared_kind::rows:
      return launch_sheared<sheared_rows<ElementBytes>>(problem, batch, most_shared, stream,
                                                        status);
    default:
      return false;
  }
}

/// True where `vector_kernel` takes a problem whose addresses are multiples of 16 bytes: whole tiles, and enough of
/// them.
template <class Shape>
bool fills_vector_tiles(const tile_problem& problem, size_type batch) {
  const size_type cols = problem.nx / Shape::tile_cols;
  const size_type rows = problem.ny / Shape::tile_rows;
  return batch == 1 && !problem.pointer_arrays && cols * Shape::tile_cols == problem.nx &&
         rows * Shape::tile_rows == problem.ny && rows <= max_grid_side && cols <= max_grid_side &&
         takes_vectors(rows * cols, problem.nx * problem.ny, Shape::element_bytes);
}

template <class Shape>
cudaError_t launch_vectors(const tile_problem& problem, cudaStream_t stream) {
  tile_problem copy = problem;
  void* pointers[] = {&copy.in, &copy.out, &copy.in_stride_bytes, &copy.out_stride_bytes};
  return start(&vector_kernel<Shape>,
               dim3(static_cast<unsigned>(problem.nx / Shape::tile_cols),
                    static_cast<unsigned>(problem.ny / Shape::tile_rows)),
               Shape::threads, 0, pointers, stream);
}

/// True where matrices of few columns and many rows have rules of their own.
inline bool is_tall(const tile_problem& problem) {
  return problem.nx <= most_tall_columns && problem.ny > most_column_rows;
}

/// True where tiles of whole accesses lose too much at the right edge of a tall matrix. H200,
/// 2026-11-22, % of cudaMemcpyAsync with them and without: 1 byte, 272 columns 73, 81, 512 88, 88; 2 bytes, 264 columns
/// 74, 93, 256 93, 91; 4 bytes, 68 columns 72, 91, 388 79, 92, 64 94, 92; 8 bytes, 66 columns 75, 92, 260 84, 93, 96 95,
/// 93.
template <class Shape>
bool has_ragged_edge(const tile_problem& problem) {
  return is_tall(problem) && problem.nx % Shape::tile_cols != 0;
}

/// True where large tiles keep all multiprocessors busy and lose little at the edges of a matrix. H200, 2026-11-22, %
/// of cudaMemcpyAsync without and with tiles of 256 x 256 bytes: 32768 x 32768 95.7, 97.9; 16384 x 16384 95.6, 96.7;
/// 12288 x 12288 96.4, 96.3; 11584 x 11600 93.2, 92.4.
template <class Shape>
bool fills_large_tiles(const tile_problem& problem) {
  constexpr size_type least = 8 * larger(Shape::tile_rows, Shape::tile_cols);
  return problem.nx >= least && problem.ny >= least &&
         problem.nx * problem.ny >= 64 * least * least &&
         Shape::shared_bytes <= most_shared_bytes();
}

/// Chooses the kernel for elements whose addresses are multiples of `Unit`. `bits` has every bit that some
/// address or stride has.
template <int ElementBytes, int Unit>
cudaError_t launch_tuned(const tile_problem& problem, size_type batch, size_type bits,
                         cudaStream_t stream) {
  constexpr int architecture = 90;  // the one that was measured; policy.cuh
  using any = tuned_shape<architecture, ElementBytes, Unit, tile_access::any>;
  const bool is_large =
      batch > 1 &&
      problem.nx * problem.ny * ElementBytes >
          (has_sheared_shape(ElementBytes, Unit) ? sheared_matrices_bytes : large_matrix_bytes);
  const size_type most_shared = is_large ? most_shared_bytes() : default_shared_bytes;
  const auto staged = [&](const auto& policy, bool whole) {
    return choose_box(problem, batch, ElementBytes, policy.tile_rows, policy.tile_cols, whole, Unit,
                      most_shared);
  };
  if constexpr (Unit == ElementBytes && small_limits_of(ElementBytes).vectors > 0) {
    using vectors = typename vector_shape<ElementBytes>::type;
    if (bits % max_access_bytes == 0 && fills_vector_tiles<vectors>(problem, batch)) {
      return launch_vectors<vectors>(problem, stream);
    }
  }
  cudaError_t little = cudaSuccess;
  if (transpose_little(problem, batch, bits, ElementBytes, ElementBytes,
                       copy_operation<ElementBytes, Unit>{}, stream, little)) {
    return little;
  }
  // Tiles of whole accesses write parts of sectors where output rows start inside of one. H200, 2026-11-21, with
  // them and without: 11588 x 11580 floats 87 and 91 % of cudaMemcpyAsync, batches of 250 x 250 doubles 91 and
  // 98; 23168 x 23152 bytes 91 and 79.
  const bool sectors = sector_mask(problem, batch) == 0;
  const size_type rows = (problem.nx | problem.ny) * ElementBytes;
  [[maybe_unused]] const bool whole_rows = has_whole_policy(ElementBytes, Unit) &&
                                           (bits | rows) % max_access_bytes == 0 &&
                                           (ElementBytes < 4 || sectors);
  if constexpr (has_whole_policy(ElementBytes, Unit)) {
    using whole = tuned_shape<architecture, ElementBytes, Unit, tile_access::whole>;
    if (whole_rows && sectors && batch > 1 &&
        fill_tiles(problem, ElementBytes, whole::policy.tile_rows, whole::policy.tile_cols)) {
      return launch_tiles<whole>(problem, batch, stream);
    }
  }
  if constexpr (has_turned_shape(ElementBytes, Unit)) {
    cudaError_t status = cudaSuccess;
    if (turn<ElementBytes>(problem, batch, stream, status)) { return status; }
  }
  if constexpr (has_whole_policy(ElementBytes, Unit)) {
    using whole = tuned_shape<architecture, ElementBytes, Unit, tile_access::whole>;
    if (whole_rows && !has_ragged_edge<typename whole::type>(problem) &&
        staged(whole::policy, true) == box_kind::none) {
      if constexpr (has_large_policy(ElementBytes)) {
        using large = tuned_shape<architecture, ElementBytes, Unit, tile_access::large>;
        if (fills_large_tiles<typename large::type>(problem)) {
          return launch_tiles<large>(problem, batch, stream);
        }
      }
      return launch_tiles<whole>(problem, batch, stream);
    }
  }
  const box_kind kind = staged(any::policy, false);
  if constexpr (has_sheared_shape(ElementBytes, Unit)) {
    cudaError_t status = cudaSuccess;
    if (shear<ElementBytes>(problem, batch, kind, most_shared, stream, status)) { return status; }
  }
  if constexpr (has_whole_groups(ElementBytes, Unit)) {
    using groups = tuned_shape<architecture, ElementBytes, Unit, tile_access::whole>;
    const bool is_narrow =
        problem.nx * ElementBytes <= narrow_row_bytes || problem.ny > most_column_rows;
    if (kind == box_kind::none && sectors && (bits | rows) % max_access_bytes == 0 && !is_narrow) {
      return launch_tiles<groups>(problem, batch, stream);
    }
  }
  if constexpr (has_tall_policy(ElementBytes, Unit)) {
    using tall = tuned_shape<architecture, ElementBytes, Unit, tile_access::tall>;
    if (kind == box_kind::none && is_tall(problem)) {
      return launch_tiles<tall>(problem, batch, stream);
    }
  }
  return kind == box_kind::none
             ? launch_tiles<any>(problem, batch, stream)
             : launch_boxes<ElementBytes, Unit>(problem, batch, kind, most_shared, stream);
}

/// What a caller is told where nothing is launched.
inline cudaError_t status_of(verdict answer) {
  return answer == verdict::nothing_to_do ? cudaSuccess : cudaErrorInvalidValue;
}

/// What all addresses of an element are multiples of: the bits that some pointer or stride has. Behind
/// pointer arrays only what the type promises is known.
inline size_type address_bits_of(const tile_problem& problem, size_type promised) {
  const size_type pointers = problem.pointer_arrays ? promised
                                                    : reinterpret_cast<size_type>(problem.in) |
                                                          reinterpret_cast<size_type>(problem.out);
  return pointers | problem.in_stride_bytes | problem.out_stride_bytes | problem.in_batch_bytes |
         problem.out_batch_bytes;
}

/// A vector is its own transpose: one copy where both sides are contiguous.
inline bool is_vector(const transpose_request& request) {
  const size_type elements = request.nx * request.ny;
  return (request.nx == 1 || request.ny == 1) && !request.pointer_arrays &&
         (request.nx == 1 ? request.in_stride : request.out_stride) == 1 &&
         (request.batch == 1 || (request.in_batch == elements && request.out_batch == elements));
}

/// Calls launch(unit) with the access by which an element is moved, a std::integral_constant: the widest that its
/// size allows, where `bits` says that all addresses are multiples of it, else the one that its type promises.
template <int ElementBytes, int Alignment, class Launch>
cudaError_t with_unit(size_type bits, Launch launch) {
  constexpr int widest = access_width(ElementBytes);
  constexpr int promised = access_width(ElementBytes, Alignment);
  if constexpr (promised < widest) {
    if (bits % widest != 0) { return launch(std::integral_constant<int, promised>{}); }
  }
  return launch(std::integral_constant<int, widest>{});
}

/// The tuned transpose of elements of a size and alignment.
template <int ElementBytes, int Alignment>
cudaError_t transpose_problem(const tile_problem& problem, size_type batch, cudaStream_t stream) {
  const size_type bits = address_bits_of(problem, Alignment);
  return with_unit<ElementBytes, Alignment>(bits, [&](auto unit) {
    return launch_tuned<ElementBytes, decltype(unit)::value>(problem, batch, bits, stream);
  });
}

template <int ElementBytes, int Alignment>
cudaError_t transpose_bytes(const transpose_request& request, cudaStream_t stream) {
  const verdict answer = examine(request);
  if (answer != verdict::go) { return status_of(answer); }
  if (is_vector(request)) {
    return cudaMemcpyAsync(request.out, request.in,
                           request.nx * request.ny * request.batch * ElementBytes,
                           cudaMemcpyDeviceToDevice, stream);
  }
  return transpose_problem<ElementBytes, Alignment>(make_problem(request), request.batch, stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
