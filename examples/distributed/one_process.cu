// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matrix whose rows are dealt out over the GPUs of this host, transposed by one process: by kernels that store into the
// other GPUs' memory, and by copies through scratch. It verifies both and prints their share of copies between the GPUs.
// With one GPU that GPU stands for two.
#include <tiletranspose/peers.cuh>

#include <chrono>

#include "matrix.cuh"

namespace {

struct gpu {
  int device = 0;
  cudaStream_t stream = nullptr;
  std::size_t in_rows = 0;
  std::size_t out_rows = 0;
};

// The median time in milliseconds until all streams are done; the host's clock, which all GPUs share.
template <class Call>
double all_done_ms(const std::vector<gpu>& gpus, int rounds, Call call) {
  const auto wait = [&] {
    for (const gpu& one : gpus) {
      example::check(cudaSetDevice(one.device), "cudaSetDevice");
      example::check(cudaStreamSynchronize(one.stream), "a stream");
    }
  };
  std::vector<double> times;
  for (int round = 0; round <= rounds; ++round) {
    wait();
    const auto start = std::chrono::steady_clock::now();
    call();
    wait();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (round > 0) { times.push_back(time.count()); }
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <class T>
int run(const matrix::options& chosen) {
  const std::size_t nx = chosen.nx, ny = chosen.ny;
  const tt::partition columns(nx), rows(ny);
  int devices = 0;
  example::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  const int count = devices > 1 ? devices : 2;
  const tt::distributed_options options{chosen.step_bytes};
  const std::size_t temp_bytes = tt::peer_scratch_bytes<T>(count, nx, ny, options);

  std::vector<gpu> gpus;
  std::vector<int> numbers;
  std::vector<example::device_array<T>> memory;
  std::vector<example::device_array<unsigned char>> scratch;
  std::vector<tt::device_part<T>> parts;
  for (int i = 0; i < count; ++i) {
    gpu one{i % devices, nullptr, rows.count(count, i), columns.count(count, i)};
    example::check(cudaSetDevice(one.device), "cudaSetDevice");
    example::check(cudaStreamCreateWithFlags(&one.stream, cudaStreamNonBlocking), "a stream");
    memory.push_back(example::make_device_array<T>(one.in_rows * nx + 1));
    T* const in = memory.back().get();
    matrix::fill<<<1024, 256, 0, one.stream>>>(in, one.in_rows * nx, rows.begin(count, i) * nx);
    memory.push_back(example::make_device_array<T>(one.out_rows * ny + 1));
    scratch.push_back(example::make_device_array<unsigned char>(temp_bytes));
    parts.push_back({one.device, memory.back().get(), in, nullptr, one.stream});
    gpus.push_back(one);
    numbers.push_back(one.device);
  }
  const bool reach = tt::enable_peer_access(numbers.data(), count) == cudaSuccess;

  const auto measure = [&](const char* name) {
    for (const auto& part : parts) {
      const auto index = static_cast<std::size_t>(&part - parts.data());
      example::check(cudaSetDevice(part.device), "cudaSetDevice");
      example::check(
          cudaMemsetAsync(part.out, 0, gpus[index].out_rows * ny * sizeof(T), part.stream),
          "cudaMemsetAsync");
    }
    const double ms = all_done_ms(gpus, chosen.rounds, [&] {
      example::check(tt::distributed_transpose(parts.data(), count, nx, ny, options),
                     "tt::distributed_transpose");
    });
    for (int i = 0; i < count; ++i) {
      example::check(cudaSetDevice(parts[static_cast<std::size_t>(i)].device), "cudaSetDevice");
      if (!matrix::is_right(parts[static_cast<std::size_t>(i)].out,
                            gpus[static_cast<std::size_t>(i)].out_rows, columns.begin(count, i), nx,
                            ny)) {
        std::fprintf(stderr, "one_process: part %d is wrong, %s\n", i, name);
        std::exit(1);
      }
    }
    return ms;
  };

  // The yardstick: what each GPU sends to each other one, copied as it lies, all at once.
  const double bare_ms = all_done_ms(gpus, chosen.rounds, [&] {
    for (int i = 0; i < count; ++i) {
      const auto& from = parts[static_cast<std::size_t>(i)];
      example::check(cudaSetDevice(from.device), "cudaSetDevice");
      for (int step = 1; step < count; ++step) {
        const int peer = (i + step) % count;
        const auto& to = parts[static_cast<std::size_t>(peer)];
        const std::size_t bytes =
            gpus[static_cast<std::size_t>(i)].in_rows * columns.count(count, peer) * sizeof(T);
        example::check(
            cudaMemcpyPeerAsync(to.out + rows.begin(count, i) * columns.count(count, peer),
                                to.device, from.in, from.device, bytes, from.stream),
            "cudaMemcpyPeerAsync");
      }
    }
  });

  std::printf("%zu x %zu elements of %zu bytes in %d parts on %d GPU%s\n", nx, ny, sizeof(T), count,
              devices, devices == 1 ? ", which says nothing of a link" : "s");
  std::printf("  copies between the GPUs, nothing transposed: %.3f ms\n", bare_ms);
  if (reach) {
    const double ms = measure("stored");
    std::printf(
        "  stored into the other GPUs: %.3f ms, verified; the copies take %.1f %% of that\n", ms,
        100 * bare_ms / ms);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) { parts[i].temp = scratch[i].get(); }
  const double ms = measure("copied");
  std::printf("  by copies through scratch: %.3f ms, verified; the copies take %.1f %% of that\n",
              ms, 100 * bare_ms / ms);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const matrix::options chosen = matrix::parse(argc, argv);
  example::need_gpu();
  return matrix::with_element(chosen.element,
                              [&](auto element) { return run<decltype(element)>(chosen); });
}
