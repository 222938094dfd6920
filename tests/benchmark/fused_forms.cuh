// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The functions that fused calls are measured with, and how their results are verified.
#pragma once

#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "device.cuh"

namespace bench {

// ---- what is computed ---------------------------------------------------------------------------

template <class To>
struct convert {
  template <class From>
  __device__ To operator()(From value) const {
    return To(static_cast<float>(value));
  }
};
// Pixels, three bytes each, one of which is the grey one.
struct pixel {
  unsigned char red, green, blue;
};
struct colours {
  float red, green, blue;
};
struct to_grey {
  __device__ unsigned char operator()(pixel p) const {
    return static_cast<unsigned char>((77 * p.red + 150 * p.green + 29 * p.blue) / 256);
  }
};
// Blends a picture into another one.
struct average {
  __device__ pixel operator()(pixel p, pixel old) const {
    const auto mean = [](int a, int b) { return static_cast<unsigned char>((a + b) / 2); };
    return {mean(p.red, old.red), mean(p.green, old.green), mean(p.blue, old.blue)};
  }
};
struct swap_ends {
  __device__ pixel operator()(pixel p) const { return {p.blue, p.green, p.red}; }
};
struct to_colours {
  __device__ colours operator()(pixel p) const {
    return {static_cast<float>(p.red) / 256, static_cast<float>(p.green) / 256,
            static_cast<float>(p.blue) / 256};
  }
};
struct from_colours {
  __device__ pixel operator()(colours c) const {
    const auto byte = [](float value) {
      return static_cast<unsigned char>(__float2uint_rz(value));
    };
    return {byte(c.red), byte(c.green), byte(c.blue)};
  }
};
struct to_single {
  __device__ cuFloatComplex operator()(cuDoubleComplex z) const {
    return {static_cast<float>(z.x), static_cast<float>(z.y)};
  }
};
struct triple {
  template <class T>
  __device__ T operator()(T value) const {
    return static_cast<T>(static_cast<T>(3) * value);
  }
};
struct conjugate {
  template <class Complex>
  __device__ Complex operator()(Complex z) const {
    z.y = -z.y;
    return z;
  }
};

// out = 2 in + old / 2: what is timed again and again stays finite.
struct update {
  static constexpr double alpha = 2, beta = 0.5;
  template <class From, class To>
  __device__ To operator()(From element, To old) const {
    return To(static_cast<float>(alpha) * static_cast<float>(element) +
              static_cast<float>(beta) * static_cast<float>(old));
  }
  __device__ double operator()(double element, double old) const {
    return alpha * element + beta * old;
  }
  __device__ unsigned char operator()(unsigned char element, unsigned char old) const {
    return static_cast<unsigned char>(2 * element + old / 2);
  }
  __device__ colours operator()(colours element, colours old) const {
    const auto sum = [](float a, float b) {
      return static_cast<float>(alpha) * a + static_cast<float>(beta) * b;
    };
    return {sum(element.red, old.red), sum(element.green, old.green), sum(element.blue, old.blue)};
  }
  __device__ cuDoubleComplex operator()(cuDoubleComplex element, cuDoubleComplex old) const {
    return {alpha * element.x + beta * old.x, alpha * element.y + beta * old.y};
  }
};

enum class form { transform, accumulate, dual };

// ---- verification -------------------------------------------------------------------------------

// Recomputes every element that `Form` wrote from its position alone and compares all its bytes.
template <form Form, class T, class U, class Op>
__global__ void compare_fused(mismatches* bad, const U* out, const U* copy, shape s, Op op) {
  const auto step = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t n = s.nx * s.ny;
  for (auto i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    const std::size_t x = i / s.ny, y = i % s.ny;
    const T element = random_element<T>(y * s.nx + x);
    U want;
    if constexpr (Form == form::accumulate) {
      want = op(element, random_element<U>(i));
    } else {
      want = op(element);
    }
    const auto differs = [&](const U& got) {
      unsigned char want_bytes[sizeof(U)], got_bytes[sizeof(U)];
      memcpy(want_bytes, &want, sizeof(U));
      memcpy(got_bytes, &got, sizeof(U));
      bool same = true;
      for (std::size_t k = 0; k < sizeof(U); ++k) { same = same && want_bytes[k] == got_bytes[k]; }
      return !same;
    };
    if (differs(out[i]) || (Form == form::dual && differs(copy[y * s.nx + x]))) {
      atomicAdd(&bad->count, 1ull);
      atomicMin(&bad->first, static_cast<unsigned long long>(i));
    }
  }
}

// Throws when an element differs. `copy` is read where there are two outputs.
template <form Form, class T, class U, class Op>
void verify_fused(const U* out, const U* copy, const shape& s, Op op) {
  const arena& a = device();
  const mismatches none{0, ~0ull};
  mismatches found = none;
  must(cudaMemcpyAsync(a.bad, &none, sizeof none, cudaMemcpyDefault, a.stream), "verification");
  compare_fused<Form, T><<<4096, 256, 0, a.stream>>>(a.bad, out, copy, s, op);
  must(cudaGetLastError(), "verification");
  must(cudaMemcpyAsync(&found, a.bad, sizeof found, cudaMemcpyDefault, a.stream), "verification");
  must(cudaStreamSynchronize(a.stream), "verification");
  if (found.count != 0) {
    throw std::runtime_error(std::to_string(found.count) + " elements are wrong, first out(" +
                             std::to_string(found.first / s.ny) + ", " +
                             std::to_string(found.first % s.ny) + ")");
  }
}

}  // namespace bench
