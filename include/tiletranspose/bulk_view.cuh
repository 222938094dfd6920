// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A matrix as the bulk tensor engine (compute capability 9.0 and newer) wants it: a view and a descriptor that
/// the host makes. One thread then moves a whole tile with one instruction.
///
///     using tile_type = tt::shared_tile<float, tt::padded_layout<float, 64, 64, 0>>;
///
///     __global__ void kernel(const __grid_constant__ tt::bulk_view<tile_type> in);
///
///     tt::bulk_view<tile_type> in;
///     cudaError_t status = tt::make_bulk_view(&in, tt::matrix_view<const float>{data, rows, cols, stride});
///     kernel<<<grid, block>>>(in);

#pragma once

#include <tiletranspose/config.cuh>

#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#include <cuda.h>  // types of the driver's descriptor; its library is not needed
#endif

#include <tiletranspose/detail/core/async_copy.cuh>
#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#include <tiletranspose/detail/core/start_kernel.cuh>
#endif
#include <tiletranspose/tile.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The engine counts in words of 1, 2, 4 or 8 bytes.
template <class T>
inline constexpr int box_word_bytes = access_width(sizeof(T), 8);

/// True where a tile is a box that the engine can copy: packed rows of multiples of 16 bytes, at most 256 words
/// long, at most 256 of them.
template <class Layout>
struct has_box {
  static constexpr bool value = false;
};
template <class T, int Rows, int Cols>
struct has_box<padded_layout<T, Rows, Cols, 0>> {
  static constexpr bool value =
      Cols * sizeof(T) % 16 == 0 && Cols * sizeof(T) / box_word_bytes<T> <= 256 && Rows <= 256;
};

/// Where the engine wants a box to start in shared memory, in bytes.
inline constexpr int box_alignment = 128;

}  // namespace detail

/// A matrix whose tiles of one kind the bulk tensor engine can move. An argument of a kernel, declared
/// `const __grid_constant__`, because the engine reads the descriptor where the launch has put it.
/// \tparam Tile     the shared_tile that travels
/// \tparam Element  what the view's data points to; without const for stores
template <class Tile, class Element = const typename Tile::element>
struct bulk_view {
  matrix_view<Element> matrix;
  detail::box_descriptor descriptor;
  /// False where the engine cannot read the matrix: the calls that take this view then use its threads.
  bool described;
};

#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)

namespace detail {

/// The driver's function that makes descriptors; null where it has none.
inline auto find_box_encoder() {
  using box_encoder = decltype(cuTensorMapEncodeTiled);
  static box_encoder* const encoder = find_driver_function<box_encoder>("cuTensorMapEncodeTiled");
  return encoder;
}

/// Describes the boxes of a matrix that are tiles of one kind; false where the engine cannot copy them.
template <class Tile, class Element>
bool describe_boxes(matrix_view<Element> matrix, box_descriptor& descriptor) {
  using T = typename Tile::element;
  constexpr int word_bytes = box_word_bytes<T>;
  constexpr size_type words = sizeof(T) / word_bytes;
  constexpr size_type most = 0x7fffffff;  // coordinates are ints
  constexpr CUtensorMapDataType type = word_bytes == 8   ? CU_TENSOR_MAP_DATA_TYPE_UINT64
                                       : word_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                                       : word_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                                         : CU_TENSOR_MAP_DATA_TYPE_UINT8;
  const bool representable =
      matrix.rows > 0 && matrix.cols > 0 && matrix.rows <= most && matrix.cols <= most / words &&
      matrix.stride < (size_type{1} << 40) / sizeof(T) && matrix.stride * sizeof(T) % 16 == 0 &&
      reinterpret_cast<size_type>(matrix.data) % 16 == 0;
  const auto encode = find_box_encoder();
  if (encode == nullptr || !representable) { return false; }
  const cuuint64_t extents[] = {matrix.cols * words, matrix.rows};
  const cuuint64_t pitch[] = {matrix.stride * sizeof(T)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(Tile::cols * words),
                            static_cast<cuuint32_t>(Tile::rows)};
  const cuuint32_t steps[] = {1, 1};
  auto* const data = const_cast<T*>(matrix.data);
  CUtensorMap map;
  const CUresult result =
      encode(&map, type, 2, data, extents, pitch, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) { return false; }
  static_assert(sizeof(map) == sizeof(descriptor), "");
  __builtin_memcpy(&descriptor, &map, sizeof(map));
  return true;
}

}  // namespace detail

/// Describes a matrix to the bulk tensor engine.
///
/// The engine takes matrices whose data and row pitch are multiples of 16 bytes, and tiles that are packed
/// (`padded_layout` without padding) with rows of multiples of 16 bytes, at most 256 rows and 256 words of a
/// row; a word has 8 bytes, or as many as the widest power of two that divides the element. For everything else, and
/// for a driver that has no such engine, view->described is false, and whoever takes the view does without.
/// Calls nothing that waits, and no CUDA call that needs the matrix to exist.
/// \return cudaErrorInvalidValue for null pointers and a stride smaller than a row
template <class Tile, class Element>
[[nodiscard]] cudaError_t make_bulk_view(bulk_view<Tile, Element>* view,
                                         decltype(bulk_view<Tile, Element>::matrix) matrix) {
  if (view == nullptr || (matrix.data == nullptr && matrix.rows > 0 && matrix.cols > 0) ||
      (matrix.rows > 0 && matrix.stride < matrix.cols)) {
    return cudaErrorInvalidValue;
  }
  *view = bulk_view<Tile, Element>{matrix, {}, false};
  if constexpr (detail::has_box<typename Tile::layout>::value) {
    view->described = detail::describe_boxes<Tile>(matrix, view->descriptor);
  }
  return cudaSuccess;
}

#endif

TILETRANSPOSE_NAMESPACE_END
