// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records calls of the library in a CUDA graph and replays it: nothing in them allocates, waits or
// looks at the data, so that one launch of the graph stands for all of them.

#include <tiletranspose/transpose.cuh>

#include "../example.cuh"

using example::check;

struct add {
  __device__ float operator()(float element, float old) const { return element + old; }
};

int main() {
  example::need_gpu();
  constexpr std::size_t n = 500;
  constexpr std::size_t bytes = n * n * sizeof(float);
  const auto in = example::make_device_array<float>(n * n);
  const auto transposed = example::make_device_array<float>(n * n);
  const auto sum = example::make_device_array<float>(n * n);

  // Two calls that depend on each other: sum(i, j) += in(i, j), by way of the transpose.
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  check(tt::transpose(transposed.get(), in.get(), n, n, stream), "tt::transpose");
  check(tt::accumulate_transpose(sum.get(), transposed.get(), n, n, add{}, stream),
        "tt::accumulate_transpose");
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");

  // Each replay finds what its input holds by then.
  check(cudaMemsetAsync(sum.get(), 0, bytes, stream), "cudaMemsetAsync");
  std::vector<float> host(n * n);
  constexpr int replays = 3;
  for (int replay = 1; replay <= replays; ++replay) {
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i % 1000) * replay;
    check(cudaMemcpyAsync(in.get(), host.data(), bytes, cudaMemcpyHostToDevice, stream),
          "cudaMemcpyAsync");
    check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");  // before host changes again
  }

  host = example::to_host(sum, n * n);
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (host[i] != static_cast<float>(i % 1000) * (1 + 2 + 3)) {
      std::fprintf(stderr, "graph_capture: wrong at row %zu, column %zu\n", i / n, i % n);
      return 1;
    }
  }
  std::printf("A graph of two calls, replayed %d times; the sum was verified.\n", replays);
  return 0;
}
