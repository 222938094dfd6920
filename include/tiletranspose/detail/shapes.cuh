// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From a policy, a value, to the shape of a kernel, a type.

#pragma once

#include <tiletranspose/detail/tile_kernel.cuh>
#include <tiletranspose/policy.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The shape that `tuned_policy` names, with what the launch needs of the policy.
template <int Architecture, int ElementBytes, int Unit, tile_access Access>
struct tuned_shape {
  static constexpr tile_policy policy = tuned_policy(Architecture, ElementBytes, Unit, Access);
  using type = tile_shape<ElementBytes, Unit, policy.tile_rows, policy.tile_cols, policy.threads,
                          policy.load_bytes, policy.chunk_bytes, policy.store_bytes,
                          Access == tile_access::whole>;
};

/// The tiles of `small_kernel`: eight 16-byte accesses wide and as tall, one micro-block a thread.
template <int ElementBytes>
struct small_shape {
  static constexpr int side = small_tile_row_bytes / ElementBytes;
  using type = tile_shape<ElementBytes, ElementBytes, side, side, 64, 16, 16, 16, true>;
};

/// The shape of the pieces that a kernel assembles from converted elements: words of the output are
/// filled from as many rows as they hold elements.
template <int ElementBytes, int Unit>
struct converted_shape {
  static constexpr int word = Unit < 4 ? 4 : Unit;
  static constexpr bool split = Unit < ElementBytes;
  static constexpr int fewest_rows = ElementBytes <= 2 ? 128 : ElementBytes <= 8 ? 64 : 32;
  static constexpr int rows =
      ElementBytes < 8 && fewest_rows * ElementBytes % 128 != 0 ? 128 : fewest_rows;
  static constexpr int cols = ElementBytes == 8 || ElementBytes <= 4 ? 64
                              : ElementBytes <= 16                   ? 32
                                                                     : 16;
  using type =
      tile_shape<ElementBytes, Unit, rows, cols, 256, Unit, split ? Unit : word, 16, false>;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
