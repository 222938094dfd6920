// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What differs between compilers of device code.

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// True in device code by nvcc 12, which takes a register or two more than 13 for some kernels that just fit: seen with
/// 12.4, where they spilled.
#if TILETRANSPOSE_ON_DEVICE && defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 13
inline constexpr bool is_nvcc_12 = true;
#else
inline constexpr bool is_nvcc_12 = false;
#endif

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
