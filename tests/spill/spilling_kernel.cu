// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// 1024 threads leave each at most 64 registers; 96 doubles that are all alive at once do not fit, and
// they are, because each store might overwrite what a later load would read.
__global__ void __launch_bounds__(1024) spilling_kernel(double* out, const double* in, int stride) {
  double values[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) { values[i] = in[i * stride + threadIdx.x]; }
#pragma unroll
  for (int i = 0; i < 96; ++i) { out[(95 - i) * stride + threadIdx.x] = values[i]; }
}
