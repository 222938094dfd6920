// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Launches each case once, in order, and checks its result: what a profiler counts. Ends with 4 where there
// is no device.

#include "cases.cuh"

#include <cstdio>

namespace {

bool run(const agreement::kernel_case& one) {
  const std::size_t bytes = one.nx * one.ny * one.element_bytes;
  std::vector<unsigned char> content(bytes);
  std::vector<unsigned char> result(bytes);
  agreement::fill(content);
  void* in = nullptr;
  void* out = nullptr;
  bool right = cudaMalloc(&in, bytes) == cudaSuccess && cudaMalloc(&out, bytes) == cudaSuccess &&
               cudaMemcpy(in, content.data(), bytes, cudaMemcpyDefault) == cudaSuccess &&
               one.launch(out, in, one.nx, one.ny) &&
               cudaMemcpy(result.data(), out, bytes, cudaMemcpyDefault) == cudaSuccess &&
               agreement::is_right(one, result.data(), content.data());
  cudaFree(in);
  cudaFree(out);
  return right;
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no device");
    return 4;
  }
  int wrong = 0;
  for (const agreement::kernel_case& one : agreement::cases()) {
    if (!run(one)) {
      std::printf("%s: wrong\n", one.name.c_str());
      ++wrong;
    }
  }
  std::printf("%s\n", wrong == 0 ? "all results are right" : "some results are wrong");
  return wrong == 0 ? 0 : 1;
}
