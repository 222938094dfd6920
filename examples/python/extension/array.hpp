// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Strided arrays as Python has them, and the one thing that every function of the package asks for: the elements of one,
/// in another order, in the memory of another. Plain C++17; no memory is touched.

#pragma once

#include <cstddef>
#include <cstdint>

namespace tiletranspose_python {

/// Axes that an array may have: as many as NumPy and PyTorch allow.
inline constexpr int most_rank = 64;

/// Axes that one call of tt::permute takes, after those that stay together were joined.
inline constexpr int most_axes = 8;

/// What a caller hands over, or is to receive. Strides are in bytes, of either sign.
struct strided_array {
  std::uintptr_t data;  ///< address of the element whose indices are all 0
  std::int64_t item_bytes;
  int rank;
  std::int64_t extents[most_rank];
  std::int64_t strides[most_rank];

  /// False where some extent is 0.
  bool has_elements() const;
  /// Gives it the strides of an array without gaps, the last axis fastest.
  void make_dense();
};

/// True where two arrays have the same shape.
bool same_extents(const strided_array& a, const strided_array& b);

/// Which axis of the input each axis of the output is, and which axes of the input run backwards.
struct order {
  int rank;
  int axes[most_rank];
  bool flipped[most_rank];
};

/// The input with its axes in another order, some of them backwards: the same memory, seen otherwise.
///
///     axis j of the result is axis order.axes[j] of `in`
strided_array reordered(const strided_array& in, const order& wanted);

/// An axis of a relocation: elements, and the bytes from one to the next on both sides.
struct relocation_axis {
  std::int64_t extent;
  std::int64_t in_stride;
  std::int64_t out_stride;
};

/// Parts of elements to be moved: out[sum of i_k * out_stride_k] = in[sum of i_k * in_stride_k]. The axes are those that
/// matter, the slowest of the output first; every axis of the output runs forwards.
struct relocation {
  std::uintptr_t in;
  std::uintptr_t out;
  std::int64_t part_bytes;  ///< 1, 2, 4, 8 or 16; divides every address and stride
  int rank;
  relocation_axis axes[most_rank + 1];
};

/// The elements of `in` to those of `out`, which have the same extents. An element that no access of a supported size can
/// move whole, because of its size, its address or a stride, is split into parts, along one more axis.
/// Precondition: both have elements.
relocation make_relocation(const strided_array& out, const strided_array& in);

/// True where some two elements of the output might share a byte.
bool output_overlaps_itself(const relocation& move);

/// True where input and output share memory anywhere between their first and last bytes.
bool shares_memory(const relocation& move);

/// A relocation as tt::permute takes it: 8 axes, of which those that it lacks have one element; strides in parts.
/// Precondition: it has at most 8 axes.
struct permute_arguments {
  std::size_t extents[most_axes];
  std::ptrdiff_t in_strides[most_axes];
  std::ptrdiff_t out_strides[most_axes];
};
permute_arguments arguments_of(const relocation& move);

/// Axes of a relocation without the one that has the fewest elements, which is put into `outer`.
relocation without_shortest_axis(const relocation& move, relocation_axis& outer);

}  // namespace tiletranspose_python
