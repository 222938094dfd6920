// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Casts a matrix to 8-bit floats and writes them twice from one read: as they lie, for the product
// that uses the matrix, and transposed, for the product that its gradient needs.

#include <cuda_fp8.h>

#include <tiletranspose/transpose.cuh>

#include "../example.cuh"

// Any function object will do. It is handed to the kernel by value, and so may carry state.
struct to_fp8 {
  float scale;
  __host__ __device__ __nv_fp8_e4m3 operator()(float value) const {
    return __nv_fp8_e4m3(value * scale);  // rounds to nearest, saturates at 448
  }
};

int main() {
  example::need_gpu();
  constexpr std::size_t nx = 3000, ny = 2000;  // columns and rows of the input
  std::vector<float> in(nx * ny);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 1009) - 500;

  const auto device_in = example::to_device(in);
  const auto device_rows = example::make_device_array<__nv_fp8_e4m3>(in.size());
  const auto device_columns = example::make_device_array<__nv_fp8_e4m3>(in.size());
  const to_fp8 cast{448.0f / 508};
  example::check(tt::transform_transpose_dual(device_rows.get(), device_columns.get(),
                                              device_in.get(), nx, ny, cast),
                 "tt::transform_transpose_dual");

  const auto rows = example::to_host(device_rows, in.size());
  const auto columns = example::to_host(device_columns, in.size());
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
