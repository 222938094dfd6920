// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the small examples share and what is beside their point: memory, errors, time.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace example {

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
  }
}

// A GPU that is there and does not work is a failure.
inline bool has_gpu() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) { return false; }
  check(status, "cudaGetDeviceCount");
  return count > 0;
}

// Ends the program, successfully and with a line that the tests take for a skip, where there is no GPU.
inline void need_gpu() {
  if (!has_gpu()) {
    std::printf("No GPU was found.\n");
    std::exit(0);
  }
}

struct device_deleter {
  void operator()(void* memory) const { cudaFree(memory); }
};

// Elements in device memory.
template <class T>
using device_array = std::unique_ptr<T[], device_deleter>;

template <class T>
device_array<T> make_device_array(std::size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
  return device_array<T>(memory);
}

template <class T>
device_array<T> to_device(const std::vector<T>& values) {
  device_array<T> result = make_device_array<T>(values.size());
  check(cudaMemcpy(result.get(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
        "cudaMemcpy to the device");
  return result;
}

template <class T>
std::vector<T> to_host(const device_array<T>& values, std::size_t count) {
  std::vector<T> result(count);
  check(cudaMemcpy(result.data(), values.get(), count * sizeof(T), cudaMemcpyDeviceToHost),
        "cudaMemcpy to the host");
  return result;
}

// The median time of `rounds` launches, in milliseconds, after one that is not timed.
template <class Launch>
float median_ms(Launch launch, int rounds = 9) {
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start), "cudaEventCreate");
  check(cudaEventCreate(&stop), "cudaEventCreate");
  launch();
  std::vector<float> times(rounds);
  for (float& time : times) {
    check(cudaEventRecord(start), "cudaEventRecord");
    launch();
    check(cudaEventRecord(stop), "cudaEventRecord");
    check(cudaEventSynchronize(stop), "a kernel");
    check(cudaEventElapsedTime(&time, start, stop), "cudaEventElapsedTime");
  }
  check(cudaEventDestroy(start), "cudaEventDestroy");
  check(cudaEventDestroy(stop), "cudaEventDestroy");
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace example
