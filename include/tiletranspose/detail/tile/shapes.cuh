// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From a policy, a value, to the shape of a kernel, a type.

#pragma once

#include <tiletranspose/detail/tile/tile_kernel.cuh>
#include <tiletranspose/policy.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// The shape that `tuned_policy` names, with what the launch needs of the policy.
template <int Architecture, int ElementBytes, int AccessBytes, tile_access Access>
struct tuned_shape {
  static constexpr tile_policy policy =
      tuned_policy(Architecture, ElementBytes, AccessBytes, Access);
  using type = tile_shape<ElementBytes, AccessBytes, policy.tile_rows, policy.tile_cols,
                          policy.threads, policy.load_bytes, policy.fill_bytes, policy.store_bytes,
                          Access == tile_access::whole, policy.fetched_bytes>;
};

/// The tiles of `vector_kernel`: eight 16-byte accesses wide and as tall, one micro-block a thread.
template <int ElementBytes>
struct vector_shape {
  static constexpr int side = vector_tile_row_bytes / ElementBytes;
  using type = tile_shape<ElementBytes, ElementBytes, side, side, 64, 16, 16, 16, true>;
};

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
