// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// An array of structures and an array for each of their members, checked. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/core/divide.cuh>
#include <tiletranspose/detail/request/problem.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// `structures` of `planes` elements each, and as many elements in each plane.
struct plane_request {
  const void* structs;
  const void* const* plane;
  size_type planes;
  size_type structures;
  size_type element;  ///< bytes
  size_type alignment;
  bool to_planes;  ///< the planes are written, else the structures
};

inline verdict examine(const plane_request& request) {
  if (request.structures == 0) { return verdict::nothing_to_do; }
  memory_region structs{};
  if (!points(request.structs, request.alignment) ||
      !make_region(request.structs, request.structures, request.planes, request.planes,
                   request.element, structs)) {
    return verdict::refused;
  }
  const auto region_of = [&](size_type k) {
    memory_region region{};
    const bool fits =
        points(request.plane[k], request.alignment) &&
        make_region(request.plane[k], 1, request.structures, 0, request.element, region);
    return fits ? region : memory_region{};
  };
  for (size_type k = 0; k < request.planes; ++k) {
    const memory_region plane = region_of(k);
    if (plane.rows == 0 || overlap(structs, plane)) { return verdict::refused; }
    for (size_type other = 0; request.to_planes && other < k; ++other) {
      if (overlap(region_of(other), plane)) { return verdict::refused; }
    }
  }
  return verdict::go;
}

/// Planes that lie equally far apart, in either direction, are the rows of a matrix, which is the transpose of that of the
/// structures. True, with the matrix, where a request that may go is one.
inline bool is_transpose(const plane_request& request, tile_problem& problem) {
  const auto address = [&](size_type k) { return reinterpret_cast<size_type>(request.plane[k]); };
  const size_type step = address(1) - address(0);
  const size_type distance = address(1) > address(0) ? step : 0 - step;
  if (distance < request.structures * request.element || distance % request.element != 0) {
    return false;
  }
  for (size_type k = 2; k < request.planes; ++k) {
    if (address(k) - address(k - 1) != step) { return false; }
  }
  void* const first = const_cast<void*>(request.plane[0]);
  const size_type struct_bytes = request.planes * request.element;
  problem = {};
  if (request.to_planes) {
    problem.in = request.structs;
    problem.out = first;
    problem.in_stride_bytes = struct_bytes;
    problem.out_stride_bytes = step;
    problem.nx = request.planes;
    problem.ny = request.structures;
  } else {
    problem.in = first;
    problem.out = const_cast<void*>(request.structs);
    problem.in_stride_bytes = step;
    problem.out_stride_bytes = struct_bytes;
    problem.nx = request.structures;
    problem.ny = request.planes;
  }
  return true;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
