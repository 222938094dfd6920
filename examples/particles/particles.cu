// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves particles that are stored as an array of structures: each thread has one particle of 28 bytes,
// and the warp reads and writes memory in one piece. Beside it the same kernel as one would write it
// plainly, where every thread reads and writes its own 28 bytes.

#include <tiletranspose/struct_io.cuh>

#include <cmath>

#include "../example.cuh"

struct particle {
  float x, y, z;
  float vx, vy, vz;
  float mass;
};

constexpr int threads = 256;
constexpr float step = 0.01f;
constexpr float gravity = -9.81f;

__host__ __device__ void move(particle& p) {
  p.vz = fmaf(step, gravity, p.vz);
  p.x = fmaf(step, p.vx, p.x);
  p.y = fmaf(step, p.vy, p.y);
  p.z = fmaf(step, p.vz, p.z);
}

__global__ void move_coalesced(particle* particles, std::size_t count) {
  const tt::static_block<threads> block;
  const std::size_t first = std::size_t{blockIdx.x} * threads;
  // All threads call, also those without a particle: the warp works together. What lies behind
  // `count` is neither read nor written.
  particle p;
  tt::load_structs(block, p, particles + first, count - first);
  move(p);
  tt::store_structs(block, particles + first, count - first, p);
}

__global__ void move_plainly(particle* particles, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * threads + threadIdx.x;
  if (i < count) { move(particles[i]); }
}

using kernel = void (*)(particle*, std::size_t);

// Runs the kernel once on fresh particles, compares every one with the CPU's, and returns the milliseconds
// that a run takes.
float run(kernel k, const std::vector<particle>& start, const std::vector<particle>& expected) {
  const std::size_t count = start.size();
  const auto blocks = static_cast<unsigned>((count + threads - 1) / threads);
  const auto device = example::to_device(start);
  const auto launch = [&] {
    k<<<blocks, threads>>>(device.get(), count);
    example::check(cudaGetLastError(), "launch");
  };
  launch();
  const std::vector<particle> found = example::to_host(device, count);
  for (std::size_t i = 0; i < count; ++i) {
    const particle &a = found[i], &b = expected[i];
    if (a.x != b.x || a.y != b.y || a.z != b.z || a.vx != b.vx || a.vy != b.vy || a.vz != b.vz ||
        a.mass != b.mass) {
      std::fprintf(stderr, "particle %zu is wrong\n", i);
      std::exit(1);
    }
  }
  return example::median_ms(launch);
}

int main() {
  example::need_gpu();
  std::vector<particle> start(
      4'000'037);  // a number that fills neither the last block nor its warp
  for (std::size_t i = 0; i < start.size(); ++i) {
    const auto f = static_cast<float>(i % 1000);
    start[i] = {f, 2 * f, 3 * f, 0.5f * f, -f, 1 + f, 1};
  }
  std::vector<particle> expected = start;
  for (particle& p : expected) { move(p); }

  const float coalesced = run(move_coalesced, start, expected);
  const float plain = run(move_plainly, start, expected);
  const double megabytes = 2e-6 * static_cast<double>(start.size() * sizeof(particle));
  std::printf("%zu particles of %zu bytes, every one as on the CPU\n", start.size(),
              sizeof(particle));
  std::printf("load_structs and store_structs: %.3f ms, %.0f GB/s\n", coalesced,
              megabytes / coalesced);
  std::printf("plain reads and writes:         %.3f ms, %.0f GB/s\n", plain, megabytes / plain);
  return 0;
}
