// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What the library needs of compilers, macros, and the versioned namespace. Includes nothing but the version, so that
/// the constexpr headers compile as plain C++ where no CUDA toolkit is installed, and the device headers under NVRTC.
/// The first header that every other includes: what is too old is told so before it sees anything else.

#pragma once

#include <tiletranspose/version.cuh>

// MSVC keeps __cplusplus at that of 1998 unless it is asked otherwise.
#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "tt: tiletranspose needs C++17 or newer: compile with -std=c++17"
#endif
// Of nvcc and NVRTC, and of the headers that clang compiles CUDA with.
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ < 1204
#error "tt: tiletranspose needs CUDA 12.4 or newer"
#elif !defined(__CUDACC_VER_MAJOR__) && defined(__CUDACC__) && CUDA_VERSION < 12040
#error "tt: tiletranspose needs CUDA 12.4 or newer"
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 750
#error "tt: tiletranspose needs compute capability 7.5 or newer: compile for sm_75 or later"
#endif

/// True where clang compiles CUDA, not where it is nvcc's host compiler.
#if defined(__clang__) && defined(__CUDA__)
#define TILETRANSPOSE_CLANG_CUDA 1
#else
#define TILETRANSPOSE_CLANG_CUDA 0
#endif

// Clang before 20 knows no such attribute of arguments, and warns of each.
#if TILETRANSPOSE_CLANG_CUDA
#if !__has_attribute(grid_constant)
#undef __grid_constant__
#define __grid_constant__
#endif
#endif

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define TILETRANSPOSE_HOST_DEVICE __host__ __device__
#define TILETRANSPOSE_INLINE __forceinline__
#else
#define TILETRANSPOSE_HOST_DEVICE
#define TILETRANSPOSE_INLINE inline
#endif

/// Before constexpr templates that call what the caller hands in: it may be a host function, which is right
/// where the compiler evaluates the call.
#if defined(__CUDACC__) && !defined(__CUDACC_RTC__) && !TILETRANSPOSE_CLANG_CUDA
#define TILETRANSPOSE_ANY_CALLEE _Pragma("nv_exec_check_disable")
#else
#define TILETRANSPOSE_ANY_CALLEE
#endif

/// What every function that a kernel is made of is declared with.
#define TILETRANSPOSE_FUNCTION TILETRANSPOSE_HOST_DEVICE TILETRANSPOSE_INLINE

/// True in code that runs on the GPU, false where the same function runs on the CPU.
#if defined(__CUDA_ARCH__)
#define TILETRANSPOSE_ON_DEVICE 1
#else
#define TILETRANSPOSE_ON_DEVICE 0
#endif

/// Before a loop that the device compiler shall unroll; host compilers would warn of the pragma.
#if TILETRANSPOSE_ON_DEVICE
#define TILETRANSPOSE_PRAGMA(text) _Pragma(#text)
#define TILETRANSPOSE_UNROLL TILETRANSPOSE_PRAGMA(unroll)
#define TILETRANSPOSE_UNROLL_BY(count) TILETRANSPOSE_PRAGMA(unroll count)
#else
#define TILETRANSPOSE_UNROLL
#define TILETRANSPOSE_UNROLL_BY(count)
#endif

/// Around what may throw, and before what is done then: nothing where exceptions are off.
#if defined(__cpp_exceptions)
#define TILETRANSPOSE_TRY try
#define TILETRANSPOSE_CATCH(what) catch (what)
#else
#define TILETRANSPOSE_TRY if (true)
#define TILETRANSPOSE_CATCH(what) else
#endif

/// Two versions of the library can live in one program: the inline namespace keeps their symbols apart.
#define TILETRANSPOSE_NAMESPACE_BEGIN \
  namespace tt {                      \
  inline namespace v0_1 {
#define TILETRANSPOSE_NAMESPACE_END \
  }                                 \
  }

TILETRANSPOSE_NAMESPACE_BEGIN

/// std::size_t without its header, which NVRTC does not have.
using size_type = decltype(sizeof(0));

/// Bytes in a sector: global memory is read and written by whole ones.
inline constexpr int sector_bytes = 32;

/// The largest element that the library moves.
inline constexpr int max_element_bytes = 64;

/// Shared memory that a block may have without being allowed more, static or dynamic.
inline constexpr int default_shared_bytes = 48 * 1024;

/// The widest access of one thread.
inline constexpr int max_access_bytes = 16;

/// Bytes of the widest access (16 down to 1) that divides both numbers: that by which an element
/// of `element_bytes` can be moved when its address is a multiple of `alignment`.
/// \code static_assert(tt::access_width(12, 4) == 4 && tt::access_width(12, 1) == 1 && tt::access_width(32, 32) == 16); \endcode
TILETRANSPOSE_HOST_DEVICE constexpr int access_width(size_type element_bytes,
                                                     size_type alignment = max_access_bytes) {
  size_type width = max_access_bytes;
  while (element_bytes % width != 0 || alignment % width != 0) { width /= 2; }
  return static_cast<int>(width);
}

TILETRANSPOSE_NAMESPACE_END
