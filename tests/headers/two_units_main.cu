// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <tiletranspose/tiletranspose.cuh>

cudaError_t transpose_elsewhere(float* out, const float* in, std::size_t nx, std::size_t ny);

// A function that is not inline would be defined twice and stop the linker. Nothing is launched, so
// that the program also runs where no GPU is.
int main() {
  float* const out = nullptr;
  const float* const in = nullptr;
  const bool here = tt::transpose<float, 32, 8>(out, in, 0, 5) == cudaSuccess &&
                    tt::transpose(out, in, 1, 1) == cudaErrorInvalidValue;
  const bool there = transpose_elsewhere(out, in, 0, 5) == cudaSuccess &&
                     transpose_elsewhere(out, in, 1, 1) == cudaErrorInvalidValue;
  return here && there ? 0 : 1;
}
