// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// An array of structures and an array for each of their members, checked, and the shape and the launches of the kernel of
/// planes. Plain C++17, host only.

#pragma once

#include <cstddef>

#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/panel/plane_kernel.cuh>
#include <tiletranspose/detail/request/problem.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

inline constexpr int most_planes = 16;

/// `structures` of `planes` elements each, and as many elements in each plane.
struct plane_request {
  const void* structs;
  const void* plane[most_planes];
  size_type planes;
  size_type structures;
  size_type element;  ///< bytes
  size_type alignment;
  bool to_planes;  ///< the planes are written, else the structures
};

template <bool ToPlanes, class T, class Element, std::size_t Planes>
plane_request make_planes(const void* structs, Element* const (&planes)[Planes], size_type n) {
  plane_request request{structs, {}, Planes, n, sizeof(T), alignof(T), ToPlanes};
  for (std::size_t k = 0; k < Planes; ++k) { request.plane[k] = planes[k]; }
  return request;
}

inline verdict examine(const plane_request& request) {
  if (request.structures == 0) { return nothing_to_move; }
  size_type bytes = 0;  // of a plane
  size_type all = 0;
  const bool fits = multiplies(request.structures, request.element, bytes) &&
                    multiplies(request.planes, bytes, all);
  if (!fits) { all = ~size_type{0}; }
  used_memory memory[most_planes + 1] = {{request.structs, all, !request.to_planes}};
  for (size_type k = 0; k < request.planes; ++k) {
    memory[k + 1] = {request.plane[k], bytes, request.to_planes};
  }
  return examine_memory(memory, request.planes + 1, request.alignment);
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
  void* const structs = const_cast<void*>(request.structs);
  const size_type struct_bytes = request.planes * request.element;
  problem = {first, structs, step, struct_bytes, 0, 0, request.structures, request.planes, false};
  if (request.to_planes) {
    problem = {structs, first, struct_bytes, step, 0, 0, request.planes, request.structures, false};
  }
  return true;
}

/// Returns use(shape): in registers where these hold the structures of a lane, and all addresses are multiples of its accesses.
template <int ElementBytes, int Alignment, int Planes, class Use>
auto with_plane_shape(const plane_request& request, Use use) {
  const auto struct_bits = reinterpret_cast<size_type>(request.structs);
  size_type plane_bits = 0;
  for (int k = 0; k < Planes; ++k) { plane_bits |= reinterpret_cast<size_type>(request.plane[k]); }
  return with_access<ElementBytes, Alignment>(struct_bits | plane_bits, [&](auto width) {
    constexpr int access = decltype(width)::value;
    using in_registers = plane_shape<ElementBytes, access, Planes, true>;
    using by_accesses = plane_shape<ElementBytes, access, Planes, false>;
    constexpr int struct_access = access_width(4 * in_registers::words);
    constexpr int plane_access = access_width(4 * in_registers::plane_words);
    if constexpr (4 * in_registers::words > most_lane_bytes) {
      return use(by_accesses{});
    } else if constexpr (access >= struct_access && access >= plane_access) {
      return use(in_registers{});
    } else {
      return struct_bits % struct_access == 0 && plane_bits % plane_access == 0
                 ? use(in_registers{})
                 : use(by_accesses{});
    }
  });
}

/// Calls launch(structures, blocks) for each launch until one fails.
template <class Shape, class Launch>
auto plan_planes(size_type structures, Launch launch) -> decltype(launch(structures, structures)) {
  constexpr size_type most = max_blocks / 4 * Shape::block_bytes / Shape::struct_bytes;
  decltype(launch(structures, structures)) status{};
  for (; structures > 0 && status == decltype(status){}; structures -= smaller(structures, most)) {
    const size_type count = smaller(structures, most);
    status = launch(count, divide_up(count * Shape::struct_bytes, Shape::block_bytes));
  }
  return status;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
