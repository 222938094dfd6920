// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From structures and planes to launches: a transpose where the planes are rows of a matrix, else the kernel of planes.

#pragma once

#include <cstddef>

#include <tiletranspose/detail/calls/launch.cuh>
#include <tiletranspose/detail/panel/plane_launch.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Launches the kernel by the widest accesses that all addresses allow.
template <bool ToPlanes, int ElementBytes, int Alignment, int Planes>
cudaError_t move_planes_apart(const plane_request& request, cudaStream_t stream) {
  plane_arguments<Planes> arguments{};
  arguments.structs = static_cast<unsigned char*>(const_cast<void*>(request.structs));
  arguments.count = request.structures;
  for (int k = 0; k < Planes; ++k) {
    arguments.planes[k] = static_cast<unsigned char*>(const_cast<void*>(request.plane[k]));
  }
  return with_plane_shape<ElementBytes, Alignment, Planes>(request, [&](auto shape) {
    return launch_planes<decltype(shape), ToPlanes>(arguments, stream);
  });
}

template <bool ToPlanes, class T, class Element, std::size_t Planes>
cudaError_t interleave_planes(const void* structs, Element* const (&planes)[Planes], size_type n,
                              cudaStream_t stream) {
  const plane_request request = make_planes<ToPlanes, T>(structs, planes, n);
  const verdict answer = examine(request);
  if (answer != verdict::go) { return status_of(answer); }
  tile_problem problem{};
  return is_transpose(request, problem)
             ? transpose_problem<sizeof(T), alignof(T), matrices::one>(problem, 1, stream)
             : move_planes_apart<ToPlanes, sizeof(T), alignof(T), static_cast<int>(Planes)>(request,
                                                                                            stream);
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
