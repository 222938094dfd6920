// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What interleave and deinterleave would launch. Plain C++17, host only.

#pragma once

#include <cstddef>

#include <tiletranspose/detail/calls/explain_launch.cuh>
#include <tiletranspose/detail/panel/plane_plan.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The kernel of planes. Lanes load one side as segments of memory, and store the other.
template <class Shape>
void describe_planes(explanation& result, Shape, const plane_request& request) {
  int struct_access = Shape::access;
  int plane_access = Shape::access;
  if (Shape::fits_registers) {
    struct_access = segment_accesses<Shape::words, Shape::access, Shape::wide>::bytes;
    plane_access = segment_accesses<Shape::plane_words, Shape::access, Shape::wide>::bytes;
    say(result, "planes", "planes apart",
        "planes do not lie equally far apart: warps move them and the structures as segments, and "
        "lanes exchange elements");
  } else {
    say(result, "planes", "large structures",
        "planes do not lie equally far apart, and registers do not hold the structures of a warp: "
        "they are moved one access at a time");
  }
  result.load_bytes = request.to_planes ? struct_access : plane_access;
  result.store_bytes = request.to_planes ? plane_access : struct_access;
  result.threads = Shape::threads;
  plan_planes<Shape>(request.structures, launch_counter{result});
}

/// What a call answers, by the type of its elements.
template <bool ToPlanes, class T, class Element, std::size_t Planes>
explanation explain_planes(const void* structs, Element* const (&planes)[Planes], size_type n,
                           explained_device device) {
  const plane_request request = make_planes<ToPlanes, T>(structs, planes, n);
  explanation result;
  result.element_bytes = sizeof(T);
  result.nx = ToPlanes ? Planes : n;
  result.ny = ToPlanes ? n : Planes;
  result.batch = 1;
  if (explain_verdict(result, examine(request))) { return result; }
  tile_problem problem{};
  if (is_transpose(request, problem)) {
    explain_problem<sizeof(T), alignof(T)>(result, problem, 1, device);
  } else {
    with_plane_shape<sizeof(T), alignof(T), static_cast<int>(Planes)>(
        request, [&](auto shape) { describe_planes(result, shape, request); });
  }
  return result;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
