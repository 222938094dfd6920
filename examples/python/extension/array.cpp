// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "array.hpp"

namespace tiletranspose_python {
namespace {

/// Bytes of the widest part that a relocation is moved by.
constexpr std::uint64_t widest_part = 16;

std::uint64_t distance(std::int64_t stride) {
  return stride < 0 ? 0 - static_cast<std::uint64_t>(stride) : static_cast<std::uint64_t>(stride);
}

/// Drops axes of one element, has every axis of the output run forwards and sorts the axes, the output's slowest first.
void sort_axes(relocation& move, const strided_array& out, const strided_array& in) {
  for (int k = 0; k < out.rank; ++k) {
    relocation_axis axis{out.extents[k], in.strides[k], out.strides[k]};
    if (axis.extent == 1) { continue; }
    if (axis.out_stride < 0) {
      move.in += static_cast<std::uintptr_t>((axis.extent - 1) * axis.in_stride);
      move.out += static_cast<std::uintptr_t>((axis.extent - 1) * axis.out_stride);
      axis.in_stride = -axis.in_stride;
      axis.out_stride = -axis.out_stride;
    }
    int at = move.rank++;
    for (; at > 0 && move.axes[at - 1].out_stride < axis.out_stride; --at) {
      move.axes[at] = move.axes[at - 1];
    }
    move.axes[at] = axis;
  }
}

/// Makes one axis of two that follow each other on both sides.
void join_axes(relocation& move) {
  const int given = move.rank;
  move.rank = 0;
  for (int k = 0; k < given; ++k) {
    const relocation_axis axis = move.axes[k];
    relocation_axis* const slower = move.rank > 0 ? &move.axes[move.rank - 1] : nullptr;
    if (slower != nullptr && slower->in_stride == axis.in_stride * axis.extent &&
        slower->out_stride == axis.out_stride * axis.extent) {
      *slower = {slower->extent * axis.extent, axis.in_stride, axis.out_stride};
    } else {
      move.axes[move.rank++] = axis;
    }
  }
}

/// The largest power of two that divides an element, every address and every stride.
std::int64_t find_part_bytes(const relocation& move, std::int64_t item_bytes) {
  std::uint64_t bits = widest_part | static_cast<std::uint64_t>(item_bytes) | move.in | move.out;
  for (int k = 0; k < move.rank; ++k) {
    bits |= distance(move.axes[k].in_stride) | distance(move.axes[k].out_stride);
  }
  return static_cast<std::int64_t>(bits & (0 - bits));
}

}  // namespace

bool strided_array::has_elements() const {
  for (int k = 0; k < rank; ++k) {
    if (extents[k] == 0) { return false; }
  }
  return true;
}

void strided_array::make_dense() {
  std::int64_t stride = item_bytes;
  for (int k = rank - 1; k >= 0; --k) {
    strides[k] = stride;
    stride *= extents[k] > 1 ? extents[k] : 1;
  }
}

bool same_extents(const strided_array& a, const strided_array& b) {
  if (a.rank != b.rank) { return false; }
  for (int k = 0; k < a.rank; ++k) {
    if (a.extents[k] != b.extents[k]) { return false; }
  }
  return true;
}

strided_array reordered(const strided_array& in, const order& wanted) {
  strided_array result;
  result.data = in.data;
  result.item_bytes = in.item_bytes;
  result.rank = in.rank;
  for (int j = 0; j < in.rank; ++j) {
    const int k = wanted.axes[j];
    result.extents[j] = in.extents[k];
    result.strides[j] = in.strides[k];
    if (wanted.flipped[k] && in.extents[k] > 0) {
      result.data += static_cast<std::uintptr_t>((in.extents[k] - 1) * in.strides[k]);
      result.strides[j] = -in.strides[k];
    }
  }
  return result;
}

relocation make_relocation(const strided_array& out, const strided_array& in) {
  relocation move;
  move.in = in.data;
  move.out = out.data;
  move.rank = 0;
  sort_axes(move, out, in);
  join_axes(move);
  move.part_bytes = find_part_bytes(move, in.item_bytes);
  if (move.part_bytes < in.item_bytes) {
    move.axes[move.rank++] = {in.item_bytes / move.part_bytes, move.part_bytes, move.part_bytes};
    join_axes(move);  // bytes of dense elements are one axis
  }
  return move;
}

bool output_overlaps_itself(const relocation& move) {
  std::int64_t reached = move.part_bytes;
  for (int k = move.rank - 1; k >= 0; --k) {
    if (move.axes[k].out_stride < reached) { return true; }
    reached += (move.axes[k].extent - 1) * move.axes[k].out_stride;
  }
  return false;
}

bool shares_memory(const relocation& move) {
  std::uintptr_t in_first = move.in;
  std::uintptr_t in_end = move.in + static_cast<std::uintptr_t>(move.part_bytes);
  std::uintptr_t out_end = move.out + static_cast<std::uintptr_t>(move.part_bytes);
  for (int k = 0; k < move.rank; ++k) {
    const relocation_axis& axis = move.axes[k];
    const std::int64_t reach = (axis.extent - 1) * axis.in_stride;
    (reach < 0 ? in_first : in_end) += static_cast<std::uintptr_t>(reach);
    out_end += static_cast<std::uintptr_t>((axis.extent - 1) * axis.out_stride);
  }
  return in_first < out_end && move.out < in_end;
}

permute_arguments arguments_of(const relocation& move) {
  permute_arguments result;
  for (int k = 0; k < most_axes; ++k) {
    const relocation_axis axis = k < move.rank ? move.axes[k] : relocation_axis{1, 0, 0};
    result.extents[k] = static_cast<std::size_t>(axis.extent);
    result.in_strides[k] = axis.in_stride / move.part_bytes;
    result.out_strides[k] = axis.out_stride / move.part_bytes;
  }
  return result;
}

relocation without_shortest_axis(const relocation& move, relocation_axis& outer) {
  int shortest = 0;
  for (int k = 1; k < move.rank; ++k) {
    if (move.axes[k].extent < move.axes[shortest].extent) { shortest = k; }
  }
  relocation inner = move;
  outer = move.axes[shortest];
  for (int k = shortest + 1; k < move.rank; ++k) { inner.axes[k - 1] = move.axes[k]; }
  inner.rank = move.rank - 1;
  return inner;
}

}  // namespace tiletranspose_python
