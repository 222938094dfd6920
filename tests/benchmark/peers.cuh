// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a user would write or call without this library, and the launch that costs least.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "device.cuh"

namespace bench {

// The kernel of the tutorials: a 32 x 32 tile, 32 x 8 threads, one column of padding.
template <class T, class U, class Op>
__global__ void textbook_kernel(U* out, const T* in, shape s, Op op) {
  constexpr unsigned dim = 32, step = 8;
  __shared__ T tile[dim][dim + 1];
  in += blockIdx.z * s.in_batch_stride;
  out += blockIdx.z * s.out_batch_stride;

  unsigned x = blockIdx.x * dim + threadIdx.x;
  unsigned y = blockIdx.y * dim + threadIdx.y;
  for (unsigned j = 0; j < dim; j += step) {
    if (x < s.nx && y + j < s.ny) {
      tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * s.in_stride + x];
    }
  }
  __syncthreads();
  x = blockIdx.x * dim + threadIdx.y;
  y = blockIdx.y * dim + threadIdx.x;
  for (unsigned j = 0; j < dim; j += step) {
    if (x + j < s.nx && y < s.ny) {
      out[(x + j) * s.out_stride + y] = op(tile[threadIdx.x][threadIdx.y + j]);
    }
  }
}

// The textbook's grid ends at 65535 tiles down and 65535 matrices deep: further ones are further
// launches, so that it can take part everywhere.
template <class T, class U, class Op>
cudaError_t textbook(U* out, const T* in, const shape& s, Op op, cudaStream_t stream) {
  constexpr std::size_t limit = 65535, dim = 32;
  const auto tiles = [](std::size_t n) { return static_cast<unsigned>((n + dim - 1) / dim); };
  for (std::size_t b = 0; b < s.batch; b += limit) {
    for (std::size_t y = 0; y < s.ny; y += limit * dim) {
      shape part = s;
      part.ny = std::min(s.ny - y, limit * dim);
      const dim3 grid(tiles(s.nx), tiles(part.ny),
                      static_cast<unsigned>(std::min(s.batch - b, limit)));
      textbook_kernel<<<grid, dim3(32, 8), 0, stream>>>(
          out + b * s.out_batch_stride + y, in + b * s.in_batch_stride + y * s.in_stride, part, op);
    }
  }
  return cudaGetLastError();
}

// ---- cublas<t>geam: out = factor * transpose(in) + old_factor * out -----------------------------

template <class T>
inline constexpr bool has_geam =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, cuDoubleComplex>;

// Null where cuBLAS does not start: the library can be there and its GPU's kernels not.
inline cublasHandle_t blas() {
  static const cublasHandle_t handle = [] {
    cublasHandle_t made = nullptr;
    const bool works = cublasCreate(&made) == CUBLAS_STATUS_SUCCESS &&
                       cublasSetStream(made, device().stream) == CUBLAS_STATUS_SUCCESS;
    return works ? made : nullptr;
  }();
  return handle;
}

template <class T>
cudaError_t geam(T* out, const T* in, const shape& s, double factor, double old_factor = 0) {
  if (blas() == nullptr) { return cudaErrorNotSupported; }
  const int m = static_cast<int>(s.ny), n = static_cast<int>(s.nx);
  const int in_stride = static_cast<int>(s.in_stride), out_stride = static_cast<int>(s.out_stride);
  // Row-major is the transpose of cuBLAS's column-major on both sides. With beta == 0 the second
  // matrix is not read; naming the output twice is cuBLAS's own in-place form.
  const auto call = [&](auto routine, T alpha, T beta) {
    return routine(blas(), CUBLAS_OP_T, CUBLAS_OP_N, m, n, &alpha, in, in_stride, &beta, out,
                   out_stride, out, out_stride);
  };
  cublasStatus_t status;
  if constexpr (std::is_same_v<T, float>) {
    status = call(cublasSgeam, static_cast<float>(factor), static_cast<float>(old_factor));
  } else if constexpr (std::is_same_v<T, double>) {
    status = call(cublasDgeam, factor, old_factor);
  } else {
    status =
        call(cublasZgeam, make_cuDoubleComplex(factor, 0), make_cuDoubleComplex(old_factor, 0));
  }
  return status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorNotSupported;
}

// ---- the least that a launch costs --------------------------------------------------------------

struct some_arguments {
  unsigned char bytes[96];
};

// A template, so that several translation units may have it.
template <class Arguments>
__global__ void empty_kernel(Arguments) {}

inline cudaError_t bare_launch(cudaStream_t stream) {
  empty_kernel<<<1, 256, 0, stream>>>(some_arguments{});
  return cudaSuccess;  // asking for the status would be part of the price
}

}  // namespace bench
