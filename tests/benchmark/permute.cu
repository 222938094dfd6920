// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::permute at the shapes of a file, by default permutes.txt beside this one, beside cudaMemcpyAsync of as many bytes.
// Each case is verified element by element before it is timed; both take turns, and medians of their times count.
//   tiletranspose_permute_benchmark [FILE]

#include <cuda_runtime.h>
#include <tiletranspose/permute.cuh>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "device.cuh"

namespace {

constexpr std::size_t buffer_bytes = 3 * bench::gibibyte;
constexpr int rounds = 9;

struct permute_case {
  std::string name;
  std::size_t element = 0;  // bytes
  std::vector<int> axes;
  std::vector<std::size_t> extents;

  std::size_t elements() const {
    std::size_t count = 1;
    for (const std::size_t extent : extents) { count *= extent; }
    return count;
  }
};

std::vector<permute_case> read_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) { throw std::runtime_error("cannot read " + path); }
  std::vector<permute_case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') { continue; }
    std::istringstream words(line);
    permute_case next;
    std::size_t rank = 0;
    words >> next.name >> next.element >> rank;
    next.axes.resize(rank);
    next.extents.resize(rank);
    for (int& axis : next.axes) { words >> axis; }
    for (std::size_t& extent : next.extents) { words >> extent; }
    if (!words) { throw std::runtime_error("no case: " + line); }
    cases.push_back(next);
  }
  return cases;
}

template <std::size_t Bytes>
struct alignas(Bytes & -Bytes) element {
  unsigned char bytes[Bytes];
};

template <class T, std::size_t Rank>
cudaError_t permute_rank(const permute_case& c, void* out, const void* in, cudaStream_t stream) {
  std::size_t extents[Rank];
  int axes[Rank];
  std::copy(c.extents.begin(), c.extents.end(), extents);
  std::copy(c.axes.begin(), c.axes.end(), axes);
  return tt::permute(static_cast<T*>(out), static_cast<const T*>(in), extents, axes, stream);
}
template <class T>
cudaError_t permute_type(const permute_case& c, void* out, const void* in, cudaStream_t stream) {
  switch (c.extents.size()) {
    case 2:
      return permute_rank<T, 2>(c, out, in, stream);
    case 3:
      return permute_rank<T, 3>(c, out, in, stream);
    case 4:
      return permute_rank<T, 4>(c, out, in, stream);
    case 5:
      return permute_rank<T, 5>(c, out, in, stream);
    case 6:
      return permute_rank<T, 6>(c, out, in, stream);
    case 8:
      return permute_rank<T, 8>(c, out, in, stream);
  }
  return cudaErrorInvalidValue;
}
cudaError_t run(const permute_case& c, void* out, const void* in, cudaStream_t stream) {
  switch (c.element) {
    case 1:
      return permute_type<element<1>>(c, out, in, stream);
    case 2:
      return permute_type<element<2>>(c, out, in, stream);
    case 4:
      return permute_type<element<4>>(c, out, in, stream);
    case 8:
      return permute_type<element<8>>(c, out, in, stream);
  }
  return cudaErrorInvalidValue;
}

// ---- verification -----------------------------------------------------------------------------------

__global__ void fill(unsigned* words, std::size_t count) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += step) {
    unsigned mixed = static_cast<unsigned>(i) * 2654435761u;
    mixed = (mixed ^ mixed >> 15) * 2246822519u;
    words[i] = mixed ^ mixed >> 13;
  }
}

// Where element i of the input goes: the sum of its indices times `to`.
struct places {
  int rank;
  unsigned long long extents[8];
  unsigned long long to[8];
};

__global__ void count_wrong(unsigned* wrong, const unsigned char* out, const unsigned char* in,
                            places p, std::size_t count, std::size_t bytes) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += step) {
    unsigned long long left = i;
    unsigned long long at = 0;
    for (int k = p.rank - 1; k >= 0; --k) {
      at += left % p.extents[k] * p.to[k];
      left /= p.extents[k];
    }
    bool same = true;
    for (std::size_t b = 0; b < bytes; ++b) {
      same = same && out[at * bytes + b] == in[i * bytes + b];
    }
    if (!same) { atomicAdd(wrong, 1u); }
  }
}

places find_places(const permute_case& c) {
  places p{};
  p.rank = static_cast<int>(c.extents.size());
  unsigned long long stride = 1;
  for (std::size_t j = c.axes.size(); j-- > 0;) {
    p.to[c.axes[j]] = stride;
    stride *= c.extents[static_cast<std::size_t>(c.axes[j])];
  }
  std::copy(c.extents.begin(), c.extents.end(), p.extents);
  return p;
}

// ---- timing -----------------------------------------------------------------------------------------

struct events {
  cudaEvent_t start = nullptr, stop = nullptr;
  events() {
    bench::must(cudaEventCreate(&start), "cudaEventCreate");
    bench::must(cudaEventCreate(&stop), "cudaEventCreate");
  }
};

template <class Call>
float milliseconds(const events& e, cudaStream_t stream, const Call& call) {
  bench::must(cudaEventRecord(e.start, stream), "cudaEventRecord");
  bench::must(call(), "a call");
  bench::must(cudaEventRecord(e.stop, stream), "cudaEventRecord");
  bench::must(cudaEventSynchronize(e.stop), "cudaEventSynchronize");
  float time = 0;
  bench::must(cudaEventElapsedTime(&time, e.start, e.stop), "cudaEventElapsedTime");
  return time;
}

float median(std::vector<float> times) {
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

void run_all(const std::string& path) {
  unsigned char* in = nullptr;
  unsigned char* out = nullptr;
  unsigned* wrong = nullptr;
  cudaStream_t stream = nullptr;
  bench::must(cudaMalloc(&in, buffer_bytes), "cudaMalloc");
  bench::must(cudaMalloc(&out, buffer_bytes), "cudaMalloc");
  bench::must(cudaMalloc(&wrong, sizeof(unsigned)), "cudaMalloc");
  bench::must(cudaStreamCreate(&stream), "cudaStreamCreate");
  fill<<<1024, 256, 0, stream>>>(reinterpret_cast<unsigned*>(in), buffer_bytes / 4);
  const events timer;

  std::printf("| permute | bytes | %% of cudaMemcpyAsync | us |\n|---|---|---|---|\n");
  double logarithms = 0;
  double least = 1e9;
  int listed = 0;
  for (const permute_case& c : read_cases(path)) {
    const std::size_t bytes = c.elements() * c.element;
    if (bytes > buffer_bytes) { throw std::runtime_error(c.name + " is too large"); }
    const auto permute = [&] { return run(c, out, in, stream); };
    const auto copy = [&] {
      return cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream);
    };
    bench::must(cudaMemsetAsync(out, 0xA5, bytes, stream), "cudaMemsetAsync");
    bench::must(cudaMemsetAsync(wrong, 0, sizeof(unsigned), stream), "cudaMemsetAsync");
    bench::must(permute(), c.name.c_str());
    count_wrong<<<2048, 256, 0, stream>>>(wrong, out, in, find_places(c), c.elements(), c.element);
    unsigned found = 0;
    bench::must(cudaMemcpyAsync(&found, wrong, sizeof found, cudaMemcpyDeviceToHost, stream),
                "cudaMemcpyAsync");
    bench::must(cudaStreamSynchronize(stream), c.name.c_str());
    if (found != 0) { throw std::runtime_error(c.name + " is wrong"); }

    std::vector<float> permuted, copied;
    for (int i = 0; i < rounds; ++i) {
      permuted.push_back(milliseconds(timer, stream, permute));
      copied.push_back(milliseconds(timer, stream, copy));
    }
    const double share = 100.0 * median(copied) / median(permuted);
    std::printf("| %s | %zu | %.1f | %.1f |\n", c.name.c_str(), c.element, share,
                1e3 * median(permuted));
    if (c.name.rfind("ttc", 0) == 0) {
      logarithms += std::log(share);
      least = std::min(least, share);
      ++listed;
    }
  }
  if (listed > 0) {
    std::printf("\n%d cases of TTC: geometric mean %.1f %%, least %.1f %%\n", listed,
                std::exp(logarithms / listed), least);
  }
}

}  // namespace

int main(int count, char** words) {
  try {
    run_all(count > 1 ? words[1] : TILETRANSPOSE_PERMUTES);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
