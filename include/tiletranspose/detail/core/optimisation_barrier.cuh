// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Values that the compiler must not work out anew wherever they are used.

#pragma once

#include <tiletranspose/config.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// A value that the compiler takes as it is: what is worked out from it is not worked out from its terms instead, each
/// time anew and in between of loads that should be under way together (nvcc 13.0).
TILETRANSPOSE_FUNCTION int optimisation_barrier(int value) {
#if TILETRANSPOSE_ON_DEVICE
  asm("" : "+r"(value));
#endif
  return value;
}

TILETRANSPOSE_FUNCTION size_type optimisation_barrier(size_type value) {
#if TILETRANSPOSE_ON_DEVICE
  asm("" : "+l"(value));
#endif
  return value;
}

/// The same of an address in global memory. Else nvcc loads a kernel's parameter anew for each access to what it points to.
/// T: unsigned char, which may be const.
template <class T>
TILETRANSPOSE_FUNCTION T* optimisation_barrier_global(T* address) {
#if TILETRANSPOSE_ON_DEVICE && !TILETRANSPOSE_CLANG_CUDA
  asm("" : "+l"(address));
  __builtin_assume(__isGlobal(address));
#endif
  return address;
}

/// The same of a place in shared memory.
TILETRANSPOSE_FUNCTION unsigned char* optimisation_barrier_shared(unsigned char* shared) {
#if TILETRANSPOSE_ON_DEVICE
  return static_cast<unsigned char*>(__cvta_shared_to_generic(
      optimisation_barrier(static_cast<int>(__cvta_generic_to_shared(shared)))));
#else
  return shared;
#endif
}

}  // namespace detail
TILETRANSPOSE_NAMESPACE_END
