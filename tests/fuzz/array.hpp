// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where the elements of arrays of any rank lie: the part of the reference that permutes and planes need. Host and GPU run
// the same functions.

#pragma once

#if defined(__CUDACC__)
#define FUZZ_FUNCTION __host__ __device__ inline
#else
#define FUZZ_FUNCTION inline
#endif

namespace fuzz {

constexpr unsigned most_axes = 12;  // that cases give
constexpr unsigned most_planes = 16;

// One side of a call, in bytes from the start of the memory. Axis k is the same on both sides. Planes are two axes: which
// plane, and which element of it.
struct array_side {
  unsigned rank = 0;  // 0: there is no such side
  unsigned at = 0;    // the element whose indices are all 0
  unsigned extents[most_axes] = {};
  int strides[most_axes] = {};
  unsigned by_stride[most_axes] = {};  // the axes, the longest strides first
  bool has_planes = false;             // axis 0 has a table instead of a stride
  unsigned planes[most_planes] = {};
};

struct array_spot {
  unsigned index[most_axes];
  unsigned byte;
};

FUZZ_FUNCTION unsigned place_of(const array_side& side, const unsigned (&index)[most_axes]) {
  unsigned at = side.has_planes ? side.planes[index[0]] : side.at;
  for (unsigned k = side.has_planes ? 1 : 0; k < side.rank; ++k) {
    at += index[k] * static_cast<unsigned>(side.strides[k]);
  }
  return at;
}

// The element that a byte is of; false for bytes before, behind and between elements. Precondition: every axis steps over
// all that those of shorter strides reach.
FUZZ_FUNCTION bool find(const array_side& side, unsigned element, unsigned at, array_spot& found) {
  if (side.rank == 0) { return false; }
  if (side.has_planes) {
    const unsigned bytes = side.extents[1] * element;
    for (unsigned k = 0; k < side.extents[0]; ++k) {
      if (at < side.planes[k] || at - side.planes[k] >= bytes) { continue; }
      found.index[0] = k;
      found.index[1] = (at - side.planes[k]) / element;
      found.byte = (at - side.planes[k]) % element;
      return true;
    }
    return false;
  }
  unsigned lowest = side.at;
  for (unsigned k = 0; k < side.rank; ++k) {
    if (side.strides[k] < 0) {
      lowest += (side.extents[k] - 1) * static_cast<unsigned>(side.strides[k]);
    }
  }
  if (at < lowest) { return false; }
  unsigned left = at - lowest;
  for (unsigned i = 0; i < side.rank; ++i) {
    const unsigned k = side.by_stride[i];
    const unsigned extent = side.extents[k];
    const bool backwards = side.strides[k] < 0;
    const auto stride = static_cast<unsigned>(backwards ? -side.strides[k] : side.strides[k]);
    const unsigned index = extent == 1 ? 0 : left / stride;
    if (index >= extent) { return false; }
    left -= index * stride;
    found.index[k] = backwards ? extent - 1 - index : index;
  }
  found.byte = left;
  return left < element;
}

FUZZ_FUNCTION unsigned count_elements(const array_side& side) {
  unsigned count = side.rank > 0 ? 1 : 0;
  for (unsigned k = 0; k < side.rank; ++k) { count *= side.extents[k]; }
  return count;
}

}  // namespace fuzz
