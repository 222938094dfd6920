// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The shape and the launches of the kernel of planes. Plain C++17, host only.

#pragma once

#include <tiletranspose/detail/core/grid.cuh>
#include <tiletranspose/detail/panel/plane_kernel.cuh>
#include <tiletranspose/detail/request/plane_request.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Returns use(shape) for the widest accesses that all addresses allow.
template <int ElementBytes, int Alignment, int Planes, class Use>
auto with_plane_shape(const plane_request& request, Use use) {
  const auto struct_bits = reinterpret_cast<size_type>(request.structs);
  size_type plane_bits = 0;
  for (int k = 0; k < Planes; ++k) { plane_bits |= reinterpret_cast<size_type>(request.plane[k]); }
  return with_access<ElementBytes, Alignment>(struct_bits | plane_bits, [&](auto width) {
    constexpr int access = decltype(width)::value;
    using wide = plane_shape<ElementBytes, access, Planes, true>;
    constexpr int struct_access = access_width(4 * wide::words);
    constexpr int plane_access = access_width(4 * wide::plane_words);
    if constexpr (wide::fits_registers && (access < struct_access || access < plane_access)) {
      if (struct_bits % struct_access != 0 || plane_bits % plane_access != 0) {
        return use(plane_shape<ElementBytes, access, Planes, false>{});
      }
    }
    return use(wide{});
  });
}

/// Calls launch(structures, blocks) for each launch until one fails.
template <class Shape, class Launch>
auto plan_planes(size_type structures, Launch launch) -> decltype(launch(structures, structures)) {
  constexpr size_type block_structs =
      Shape::fits_registers
          ? size_type{Shape::warp_structures} * (Shape::threads / 32)
          : larger<size_type>(
                Shape::threads * Shape::accesses * Shape::access / Shape::struct_bytes, 1);
  constexpr size_type block_bytes = size_type{Shape::threads} * Shape::accesses * Shape::access;
  constexpr size_type most = max_blocks / 4 * block_structs;
  decltype(launch(structures, structures)) status{};
  for (; structures > 0 && status == decltype(status){}; structures -= smaller(structures, most)) {
    const size_type count = smaller(structures, most);
    status =
        launch(count, Shape::fits_registers ? divide_up(count, block_structs)
                                            : divide_up(count * Shape::struct_bytes, block_bytes));
  }
  return status;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
