// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the programs share that time by themselves: a call and cudaMemcpyAsync of as many bytes take turns, and medians count.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "device.cuh"

namespace bench {

struct events {
  cudaEvent_t start = nullptr, stop = nullptr;
  events() {
    must(cudaEventCreate(&start), "cudaEventCreate");
    must(cudaEventCreate(&stop), "cudaEventCreate");
  }
};

template <class Call>
float milliseconds(const events& e, cudaStream_t stream, const Call& call) {
  must(cudaEventRecord(e.start, stream), "cudaEventRecord");
  must(call(), "a call");
  must(cudaEventRecord(e.stop, stream), "cudaEventRecord");
  must(cudaEventSynchronize(e.stop), "cudaEventSynchronize");
  float time = 0;
  must(cudaEventElapsedTime(&time, e.start, e.stop), "cudaEventElapsedTime");
  return time;
}

inline float median(std::vector<float> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  return times[times.size() / 2];
}

// Medians of `rounds` rounds, in milliseconds.
struct paired_times {
  float call, copy;
  double percent() const { return 100.0 * copy / call; }
};
template <class Call, class Copy>
paired_times time_beside(const events& e, cudaStream_t stream, const Call& call, const Copy& copy,
                         int rounds = 9) {
  std::vector<float> calls, copies;
  for (int i = 0; i < rounds; ++i) {
    calls.push_back(milliseconds(e, stream, call));
    copies.push_back(milliseconds(e, stream, copy));
  }
  return {median(calls), median(copies)};
}

// Some calls in a graph, replayed as one; destroyed with the program.
template <class Call>
auto in_graph(cudaStream_t stream, int calls, const Call& call) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
  cudaError_t status = cudaSuccess;
  for (int i = 0; i < calls && status == cudaSuccess; ++i) { status = call(); }
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  must(status, "a call inside capture");
  must(ended, "end of capture");
  must(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
  return [exec, stream] { return cudaGraphLaunch(exec, stream); };
}

}  // namespace bench
