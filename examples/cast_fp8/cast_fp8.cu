// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Casts a matrix to 8-bit floats and writes them twice from one read: as they lie, for the product
// that uses the matrix, and transposed, for the product that its gradient needs.
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <tiletranspose/transpose.cuh>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Any function object will do. It is handed to the kernel by value, and so may carry state.
struct to_fp8 {
  float scale;
  __host__ __device__ __nv_fp8_e4m3 operator()(float value) const {
    return __nv_fp8_e4m3(value * scale);  // rounds to nearest, saturates at 448
  }
};

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "cast_fp8: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("No GPU was found; nothing was cast.\n");
    return 0;
  }

  constexpr std::size_t nx = 3000, ny = 2000;  // columns and rows of the input
  std::vector<float> in(nx * ny);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 1009) - 500;

  float* device_in = nullptr;
  __nv_fp8_e4m3 *device_rows = nullptr, *device_columns = nullptr;
  check(cudaMalloc(&device_in, in.size() * sizeof(float)), "cudaMalloc");
  check(cudaMalloc(&device_rows, in.size()), "cudaMalloc");
  check(cudaMalloc(&device_columns, in.size()), "cudaMalloc");
  check(cudaMemcpy(device_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice),
        "cudaMemcpy");

  const to_fp8 cast{448.0f / 508};
  check(tt::transform_transpose_dual(device_rows, device_columns, device_in, nx, ny, cast),
        "tt::transform_transpose_dual");

  std::vector<__nv_fp8_e4m3> rows(in.size()), columns(in.size());
  check(cudaMemcpy(rows.data(), device_rows, rows.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  check(cudaMemcpy(columns.data(), device_columns, columns.size(), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  for (std::size_t y = 0; y < ny; ++y) {
    for (std::size_t x = 0; x < nx; ++x) {
      const auto expected = cast(in[y * nx + x]).__x;  // the 8 bits
      if (rows[y * nx + x].__x != expected || columns[x * ny + y].__x != expected) {
        std::fprintf(stderr, "cast_fp8: wrong at row %zu, column %zu of the input\n", y, x);
        return 1;
      }
    }
  }
  std::printf("%zu x %zu floats, cast and transposed; both outputs verified.\n", nx, ny);
  return 0;
}
