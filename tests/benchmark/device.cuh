// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What every benchmark program shares: shapes, the two buffers, random data, verification. Needs
// the CUDA toolkit alone.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>

namespace bench {

constexpr std::size_t gibibyte = std::size_t{1} << 30;

// An element without alignment, which may start anywhere.
template <int Bytes>
struct packed {
  unsigned char bytes[Bytes];
};

inline void must(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw std::runtime_error(std::string{what} + ": " + cudaGetErrorString(status));
  }
}

// Throws where the program was compiled on a machine that runs none, to see that it compiles.
inline void must_be_optimized() {
#if defined(TILETRANSPOSE_BENCHMARK_NOT_OPTIMIZED)
  throw std::runtime_error(
      "compiled without optimization; configure with -DTILETRANSPOSE_OPTIMIZE_GPU_TESTS=ON");
#endif
}

// ---- shapes -------------------------------------------------------------------------------------

// `batch` matrices of ny rows x nx columns; all in elements. A stride of zero means dense.
struct shape {
  std::size_t nx, ny, batch = 1;
  std::size_t in_stride = 0, out_stride = 0;
  std::size_t in_offset = 0, out_offset = 0;
  std::size_t in_batch_stride = 0, out_batch_stride = 0;

  std::size_t elements() const { return nx * ny * batch; }
  // Elements from the start of the buffer to the end of the last matrix.
  std::size_t in_extent() const {
    return in_offset + (batch - 1) * in_batch_stride + ny * in_stride;
  }
  std::size_t out_extent() const {
    return out_offset + (batch - 1) * out_batch_stride + nx * out_stride;
  }
  bool dense_rows() const { return in_stride == nx && out_stride == ny; }
  bool dense_batch() const { return in_batch_stride == nx * ny && out_batch_stride == nx * ny; }
};

inline shape completed(shape s) {
  const auto fill = [](std::size_t& value, std::size_t dense) { value = value ? value : dense; };
  fill(s.in_stride, s.nx);
  fill(s.out_stride, s.ny);
  fill(s.in_batch_stride, s.nx * s.ny);
  fill(s.out_batch_stride, s.nx * s.ny);
  return s;
}

// ---- device memory ------------------------------------------------------------------------------

struct mismatches {
  unsigned long long count, first;
};

// One pair of buffers for the whole run: where a buffer lies changes the speed of a copy, so no
// case may get a luckier place than the next. Released by the end of the process.
struct arena {
  unsigned char *in = nullptr, *out = nullptr;
  std::size_t bytes = std::size_t{5} << 30;  // each
  mismatches* bad = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t start = nullptr, stop = nullptr;
};

inline arena& device() {
  static arena instance;
  return instance;
}

// Word i of the input buffer. Sign and 27 bits are random; the fixed exponent bits keep every
// float, double and complex in it normal and below 2, because geam computes and would not carry a
// NaN's bits, and so that a narrowing to half still has something to say.
__host__ __device__ inline std::uint32_t random_word(std::uint64_t i) {
  std::uint64_t x = (i + 1) * 0x9E3779B97F4A7C15u;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93u;
  x ^= x >> 32;
  return (static_cast<std::uint32_t>(x) & 0x87FFFFFFu) | 0x38000000u;
}

// A template, so that several translation units may have it.
template <class Word>
__global__ void fill_random(Word* words, std::size_t n) {
  const auto step = std::size_t{gridDim.x} * blockDim.x;
  for (auto i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    words[i] = random_word(i);
  }
}

// Throws when the device cannot give the memory.
inline void set_up_device() {
  must_be_optimized();
  arena& a = device();
  std::size_t free_bytes = 0, total_bytes = 0;
  must(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  a.bytes = std::min(a.bytes, free_bytes / 20 * 9) / 256 * 256;
  must(cudaMalloc(&a.in, a.bytes), "cudaMalloc of the input buffer");
  must(cudaMalloc(&a.out, a.bytes), "cudaMalloc of the output buffer");
  must(cudaMalloc(&a.bad, sizeof(mismatches)), "cudaMalloc");
  must(cudaStreamCreateWithFlags(&a.stream, cudaStreamNonBlocking), "cudaStreamCreate");
  must(cudaEventCreate(&a.start), "cudaEventCreate");
  must(cudaEventCreate(&a.stop), "cudaEventCreate");
  fill_random<<<4096, 256, 0, a.stream>>>(reinterpret_cast<std::uint32_t*>(a.in), a.bytes / 4);
  must(cudaGetLastError(), "fill_random");
  must(cudaStreamSynchronize(a.stream), "fill_random");
}

// ---- verification -------------------------------------------------------------------------------

template <class T>
__device__ T random_element(std::size_t index) {
  unsigned char bytes[sizeof(T)];
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    const std::size_t at = index * sizeof(T) + i;
    bytes[i] = static_cast<unsigned char>(random_word(at / 4) >> (at % 4 * 8));
  }
  T value;
  memcpy(&value, bytes, sizeof(T));
  return value;
}

// Recomputes every output element from its position alone and compares all its bytes.
template <class T, class U, class Op>
__global__ void compare(mismatches* bad, const U* out, shape s, std::size_t skip, Op op) {
  const auto step = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t area = s.nx * s.ny, n = area * s.batch;
  for (auto i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    const std::size_t b = i / area, x = i % area / s.ny, y = i % s.ny;
    const U want = op(random_element<T>(skip + s.in_offset + b * s.in_batch_stride +  //
                                        y * s.in_stride + x));
    const U got = out[skip + s.out_offset + b * s.out_batch_stride + x * s.out_stride + y];
    unsigned char want_bytes[sizeof(U)], got_bytes[sizeof(U)];
    memcpy(want_bytes, &want, sizeof(U));
    memcpy(got_bytes, &got, sizeof(U));
    bool same = true;
    for (std::size_t k = 0; k < sizeof(U); ++k) { same = same && want_bytes[k] == got_bytes[k]; }
    if (!same) {
      atomicAdd(&bad->count, 1ull);
      atomicMin(&bad->first, static_cast<unsigned long long>(i));
    }
  }
}

// Throws when an element differs. `skip`: elements before the copy of the problem that is checked.
template <class T, class U, class Op>
void verify(const shape& s, std::size_t skip, Op op) {
  const arena& a = device();
  const mismatches none{0, std::numeric_limits<unsigned long long>::max()};
  mismatches found = none;
  must(cudaMemcpyAsync(a.bad, &none, sizeof none, cudaMemcpyDefault, a.stream), "verification");
  compare<T, U><<<4096, 256, 0, a.stream>>>(a.bad, reinterpret_cast<const U*>(a.out), s, skip, op);
  must(cudaGetLastError(), "verification");
  must(cudaMemcpyAsync(&found, a.bad, sizeof found, cudaMemcpyDefault, a.stream), "verification");
  must(cudaStreamSynchronize(a.stream), "verification");
  if (found.count != 0) {
    const std::size_t at = found.first % (s.nx * s.ny);
    std::ostringstream text;
    text << found.count << " of " << s.elements() << " elements are wrong, first out(" << at / s.ny
         << ", " << at % s.ny << ") of matrix " << found.first / (s.nx * s.ny);
    throw std::runtime_error(text.str());
  }
}

// ---- where it runs ------------------------------------------------------------------------------

// The GPU, the toolkit and the driver.
inline std::string machine() {
  must_be_optimized();
  int driver = 0, ordinal = 0;
  cudaDeviceProp gpu{};
  must(cudaGetDevice(&ordinal), "cudaGetDevice");
  must(cudaGetDeviceProperties(&gpu, ordinal), "cudaGetDeviceProperties");
  must(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  const auto version = [](int v) {
    return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10);
  };
  std::ostringstream text;
  text << gpu.name << ", " << gpu.multiProcessorCount << " SMs, " << (gpu.l2CacheSize >> 20)
       << " MiB L2; CUDA " << version(CUDART_VERSION) << ", driver for CUDA " << version(driver);
  return text.str();
}

}  // namespace bench
