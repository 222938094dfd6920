// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What the inputs hold, and how outputs are checked: every element is a function of its place, so that the
/// expected value of an output element is worked out from its place alone, by no code of the library.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "workspace.hpp"

namespace gallery {

__host__ __device__ inline std::uint32_t scramble(std::uint64_t i) {
  std::uint64_t x = (i + 1) * 0x9E3779B97F4A7C15u;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93u;
  x ^= x >> 32;
  return static_cast<std::uint32_t>(x);
}

/// Element i of random bytes. The exponents of the floats and doubles among them are those of small normal
/// numbers, because a routine that calculates, as geam does, would not keep the bits of a NaN.
template <class T>
struct random_bytes {
  __host__ __device__ T operator()(std::size_t i) const {
    unsigned char bytes[sizeof(T)];
    for (std::size_t k = 0; k < sizeof(T); ++k) {
      const std::size_t at = i * sizeof(T) + k;
      const std::uint32_t word = (scramble(at / 4) & 0x87FFFFFFu) | 0x38000000u;
      bytes[k] = static_cast<unsigned char>(word >> (at % 4 * 8));
    }
    T value;
    memcpy(&value, bytes, sizeof(T));
    return value;
  }
};

/// Element i of small whole numbers, from `least` to least + 3: their sums are exact in every type.
template <class T>
struct small_numbers {
  int least;
  std::uint64_t salt;
  __host__ __device__ int number(std::size_t i) const {
    return static_cast<int>(scramble(i ^ salt) >> 30) + least;
  }
  __host__ __device__ T operator()(std::size_t i) const { return static_cast<T>(number(i)); }
};

__host__ __device__ inline bool same(__half a, __half b) {
  return __half2float(a) == __half2float(b);
}
template <class T>
__host__ __device__ bool same(const T& a, const T& b) {
  return a == b;
}

inline constexpr unsigned check_blocks = 1024;
inline constexpr unsigned check_threads = 256;

template <class T, class Value>
__global__ void fill_kernel(T* data, std::size_t count, Value value) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    data[i] = value(i);
  }
}

template <class T, class Value>
__global__ void compare_kernel(unsigned long long* wrong, const T* data, std::size_t count,
                               Value expected) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  unsigned long long mine = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    if (!same(data[i], expected(i))) { ++mine; }
  }
  if (mine != 0) { atomicAdd(wrong, mine); }
}

/// data[i] = value(i) for 0 <= i < count
template <class T, class Value>
void fill(const workspace& memory, T* data, std::size_t count, Value value) {
  if (memory.cpu != nullptr) {
    for (std::size_t i = 0; i < count; ++i) { data[i] = value(i); }
    return;
  }
  fill_kernel<<<check_blocks, check_threads, 0, memory.stream>>>(data, count, value);
  check(cudaGetLastError(), "fill");
}

/// The same as `count_different`, in host memory.
template <class T, class Value>
std::size_t count_different_on_cpu(const T* data, std::size_t count, Value expected) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i) { found += same(data[i], expected(i)) ? 0 : 1; }
  return found;
}

/// How many of data[0 .. count) differ from expected(i).
template <class T, class Value>
std::size_t count_different(const workspace& memory, const T* data, std::size_t count,
                            Value expected) {
  if (memory.cpu != nullptr) { return count_different_on_cpu(data, count, expected); }
  unsigned long long found = 0;
  check(cudaMemsetAsync(memory.wrong, 0, sizeof found, memory.stream), "cudaMemsetAsync");
  compare_kernel<<<check_blocks, check_threads, 0, memory.stream>>>(memory.wrong, data, count,
                                                                    expected);
  check(cudaGetLastError(), "comparison");
  check(cudaMemcpyAsync(&found, memory.wrong, sizeof found, cudaMemcpyDeviceToHost, memory.stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(memory.stream), "comparison");
  return static_cast<std::size_t>(found);
}

}  // namespace gallery
