// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Arrays of structures to arrays of their members, and back, where each member's array, a *plane*, has an address of its
/// own.
///
///     #include <tiletranspose/interleave.cuh>
///
///     float* const planes[] = {x, y, z};
///     status = tt::deinterleave(planes, points, n, stream);  // x[i] == points[3 * i], y[i] == points[3 * i + 1], ...
///     status = tt::interleave(points, planes, n, stream);    // and back
///
/// A structure is 2 to 16 elements of one type. Planes that lie equally far apart, such as those of one allocation, are a
/// matrix, and are moved as `transpose` moves it; others by a kernel that takes structures and planes as segments of
/// memory each.
///
/// All calls return the status of their launches, allocate nothing, run asynchronously on `stream` and may be captured.
///
/// cudaErrorInvalidValue, before anything is launched: a pointer that is null or misaligned for its type, sizes that
/// overflow, a plane that shares a byte with the structures, or with another plane that is written. Where n is 0 nothing is
/// done.

#pragma once

#if defined(__CUDACC_RTC__)
#error \
    "tt: interleave.cuh launches kernels from the host; under NVRTC include tiletranspose/struct_io.cuh"
#endif

#include <cstddef>

#include <tiletranspose/detail/calls/transpose.cuh>
#include <tiletranspose/detail/panel/panel_launch.cuh>
#include <tiletranspose/detail/request/make_request.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

template <std::size_t Planes>
constexpr bool check_planes() {
  static_assert(Planes >= 2 && Planes <= std::size_t{most_planes},
                "tt: structures have 2 to 16 elements, and there is a plane for each");
  return true;
}

/// A transpose where the planes are rows of a matrix, else the kernel of planes.
template <bool ToPlanes, class T, class Element, std::size_t Planes>
[[nodiscard]] cudaError_t run_planes(const void* structs, Element* const (&planes)[Planes],
                                     size_type n, cudaStream_t stream) {
  const plane_request request = make_planes<ToPlanes, T>(structs, planes, n);
  const verdict answer = examine(request);
  if (answer != verdict::go) { return status_of(answer); }
  batch_problem problem{};
  return is_transpose(request, problem)
             ? transpose_problem<sizeof(T), alignof(T), matrices::one>(problem, stream)
             : launch_planes<ToPlanes, sizeof(T), alignof(T), static_cast<int>(Planes)>(request,
                                                                                        stream);
}

}  // namespace detail

/// Takes structures apart.
///
///     planes[k][i] == in[i * Planes + k]    for i < n, k < Planes
///
/// \param planes  an array on the host of pointers to n elements each; the pointers are read before the call returns
/// \param in      n * Planes elements
/// \param n       structures
///
///     status = tt::deinterleave(planes, points, n, stream);
template <class T, class Element, std::size_t Planes>
[[nodiscard]] cudaError_t deinterleave(T* const (&planes)[Planes], Element* in, size_type n,
                                       cudaStream_t stream = nullptr) {
  static_assert(detail::check_planes<Planes>() && detail::check_matrices<T, Element>(), "");
  return detail::run_planes<true, T>(in, planes, n, stream);
}

/// Puts structures together.
///
///     out[i * Planes + k] == planes[k][i]    for i < n, k < Planes
///
/// \param out     n * Planes elements
/// \param planes  an array on the host of pointers to n elements each, const ones or not; planes may be the same
/// \param n       structures
///
///     status = tt::interleave(points, planes, n, stream);
template <class T, class Element, std::size_t Planes>
[[nodiscard]] cudaError_t interleave(T* out, Element* const (&planes)[Planes], size_type n,
                                     cudaStream_t stream = nullptr) {
  static_assert(detail::check_planes<Planes>() && detail::check_matrices<T, Element>(), "");
  return detail::run_planes<false, T>(out, planes, n, stream);
}

TILETRANSPOSE_NAMESPACE_END
