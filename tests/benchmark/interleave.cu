// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::deinterleave and tt::interleave of 2 to 16 members of 1 to 8 bytes, beside cudaMemcpyAsync of as many bytes. Each case
// is verified element by element before it is timed; both take turns, and medians of their times count.
//   tiletranspose_interleave_benchmark [MEBIBYTES]

#include <cuda_runtime.h>
#include <tiletranspose/interleave.cuh>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "paired.cuh"

namespace {

struct memory {
  unsigned char *structs = nullptr, *planes = nullptr, *back = nullptr;
  unsigned* wrong = nullptr;
  cudaStream_t stream = nullptr;
  std::size_t bytes = 0;  // of the structures
};

// Between planes that lie apart: so that no two distances are equal, and no distance is that of a cache.
constexpr std::size_t gap = 4096 + 256;

template <class T, int Planes>
struct pointers {
  T* plane[Planes];
};

template <class T, int Planes>
__global__ void count_wrong(unsigned* wrong, const T* structs, pointers<T, Planes> planes,
                            std::size_t n) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n; i += step) {
    for (int k = 0; k < Planes; ++k) {
      if (planes.plane[k][i] != structs[i * Planes + static_cast<std::size_t>(k)]) {
        atomicAdd(wrong, 1u);
      }
    }
  }
}

template <class T, int Planes>
void run(const memory& m, const bench::events& timer, bool apart) {
  // No number of structures that is a multiple of anything, and planes that start on lines.
  const std::size_t n = m.bytes / (sizeof(T) * Planes) - 13;
  const std::size_t plane_bytes = (n * sizeof(T) / 256 + 1) * 256;
  pointers<T, Planes> planes;
  for (std::size_t k = 0; k < Planes; ++k) {
    const std::size_t at = k * plane_bytes + (apart ? k * k * gap : 0);
    planes.plane[k] = reinterpret_cast<T*>(m.planes + at);
  }
  const auto bytes = n * sizeof(T) * Planes;
  const auto take_apart = [&] {
    return tt::deinterleave(planes.plane, reinterpret_cast<const T*>(m.structs), n, m.stream);
  };
  const auto put_together = [&] {
    return tt::interleave(reinterpret_cast<T*>(m.back), planes.plane, n, m.stream);
  };
  const auto copy = [&] {
    return cudaMemcpyAsync(m.back, m.structs, bytes, cudaMemcpyDeviceToDevice, m.stream);
  };
  const std::string name =
      std::to_string(sizeof(T)) + " bytes, " + std::to_string(Planes) + " planes";
  const auto check = [&](const unsigned char* structs) {
    bench::must(cudaMemsetAsync(m.wrong, 0, sizeof(unsigned), m.stream), "cudaMemsetAsync");
    count_wrong<<<2048, 256, 0, m.stream>>>(m.wrong, reinterpret_cast<const T*>(structs), planes,
                                            n);
    unsigned found = 0;
    bench::must(cudaMemcpyAsync(&found, m.wrong, sizeof found, cudaMemcpyDeviceToHost, m.stream),
                "cudaMemcpyAsync");
    bench::must(cudaStreamSynchronize(m.stream), name.c_str());
    if (found != 0) { throw std::runtime_error(name + " is wrong"); }
  };
  bench::must(take_apart(), name.c_str());
  check(m.structs);
  bench::must(cudaMemsetAsync(m.back, 0xA5, bytes, m.stream), "cudaMemsetAsync");
  bench::must(put_together(), name.c_str());
  check(m.back);
  const bench::paired_times to_planes = bench::time_beside(timer, m.stream, take_apart, copy);
  const bench::paired_times to_structs = bench::time_beside(timer, m.stream, put_together, copy);
  std::printf("| %zu | %d | %s | %.1f | %.1f |\n", sizeof(T), Planes,
              apart && Planes > 2 ? "apart" : "equally far apart", to_planes.percent(),
              to_structs.percent());
}

template <class T>
void run_planes(const memory& m, const bench::events& timer) {
  run<T, 2>(m, timer, false);  // two planes are always equally far apart
  for (const bool apart : {true, false}) {
    run<T, 3>(m, timer, apart);
    run<T, 4>(m, timer, apart);
    run<T, 7>(m, timer, apart);
    run<T, 16>(m, timer, apart);
  }
}

void run_all(std::size_t bytes) {
  memory m;
  m.bytes = bytes;
  bench::must(cudaMalloc(&m.structs, bytes), "cudaMalloc");
  bench::must(cudaMalloc(&m.back, bytes), "cudaMalloc");
  bench::must(cudaMalloc(&m.planes, bytes + 16 * 16 * gap + 16 * 512), "cudaMalloc");
  bench::must(cudaMalloc(&m.wrong, sizeof(unsigned)), "cudaMalloc");
  bench::must(cudaStreamCreate(&m.stream), "cudaStreamCreate");
  bench::fill_random<<<4096, 256, 0, m.stream>>>(reinterpret_cast<unsigned*>(m.structs), bytes / 4);
  const bench::events timer;
  std::printf("%s\n\n", bench::machine().c_str());
  std::printf(
      "| bytes | planes | they lie | deinterleave, %% of cudaMemcpyAsync | interleave |\n"
      "|---|---|---|---|---|\n");
  run_planes<unsigned char>(m, timer);
  run_planes<unsigned short>(m, timer);
  run_planes<unsigned>(m, timer);
  run_planes<unsigned long long>(m, timer);
}

}  // namespace

int main(int count, char** words) {
  try {
    run_all((count > 1 ? std::strtoull(words[1], nullptr, 10) : 1024) << 20);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
