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

/// The rule that refuses a request with work to do.
inline refusal find_refusal(const plane_request& request) {
  memory_region structs{};
  for (size_type k = 0; k <= request.planes; ++k) {  // the structures, and plane after plane
    memory_region region{};
    const void* const at = k == 0 ? request.structs : request.plane[k - 1];
    if (at == nullptr) { return refusal::null_pointer; }
    if (!points(at, request.alignment)) { return refusal::misaligned_pointer; }
    const size_type segments = k == 0 ? request.structures : 1;
    const size_type length = k == 0 ? request.planes : request.structures;
    if (!make_region(at, segments, length, length, request.element, region)) {
      return refusal::too_large;
    }
    if (k == 0) { structs = region; }
    if (k > 0 && overlap(structs, region)) { return refusal::shared_bytes; }
    for (size_type other = 1; request.to_planes && other < k; ++other) {
      const auto address = reinterpret_cast<size_type>(request.plane[other - 1]);
      if (overlap({address, 1, region.row_bytes, 0}, region)) { return refusal::shared_planes; }
    }
  }
  return refusal::none;
}

inline verdict examine(const plane_request& request) {
  if (request.structures == 0) { return verdict::nothing_to_do; }
  return find_refusal(request) == refusal::none ? verdict::go : verdict::refused;
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
