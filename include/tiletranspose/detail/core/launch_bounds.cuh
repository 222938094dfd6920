// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The registers that a kernel may take, and compilers that take more.

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

/// The blocks per multiprocessor that registers are kept low for, as far as the architecture holds them. Others than the
/// one that was measured, 9.0, take a few registers more for the same code: with those of as many blocks, small and
/// narrow tiles, panels and fused calls spilled (nvcc 13.0).
constexpr int resident_blocks(int threads, int wanted) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  constexpr int most_threads = 1024;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && \
    (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1100)
  constexpr int most_threads = 1536;
#else
  constexpr int most_threads = 2048;
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
  wanted = wanted / 2;
#endif
  const int held = most_threads / threads < 16 ? most_threads / threads : 16;
  const int blocks = wanted < held ? wanted : held;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  if (blocks > 2) { return blocks - 1; }
#endif
  return blocks > 0 ? blocks : 1;
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
