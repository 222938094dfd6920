// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the tests of device functions share: the groups that kernels call them with, and short names.
#pragma once

#include <cooperative_groups.h>

#include <tiletranspose/group.cuh>
#include <tiletranspose/layout.cuh>

namespace tt_test {

// ---------------------------------------------------- groups

// Known to the compiler.
template <int Threads>
struct static_group {
  static constexpr dim3 shape() { return {Threads}; }
  __device__ static auto make() { return tt::static_block<Threads>{}; }
};

// Known when the kernel runs; ranks count along x first.
template <unsigned X, unsigned Y = 1, unsigned Z = 1>
struct cooperative_group {
  static constexpr dim3 shape() { return {X, Y, Z}; }
  __device__ static auto make() { return cooperative_groups::this_thread_block(); }
};

// ---------------------------------------------------- layouts

template <class T, int Rows, int Cols, int Padding>
using padded = tt::padded_layout<T, Rows, Cols, Padding>;
template <class T, int Rows, int Cols, int VectorBytes = static_cast<int>(sizeof(T))>
using swizzled = tt::swizzled_layout<T, Rows, Cols, VectorBytes>;

}  // namespace tt_test
