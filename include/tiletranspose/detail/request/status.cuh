// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// From the verdict about a request to what its caller is told.

#pragma once

#include <tiletranspose/detail/request/request.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// What a caller is told where nothing is launched.
inline cudaError_t status_of(verdict answer) {
  return answer == verdict::nothing_to_do ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
