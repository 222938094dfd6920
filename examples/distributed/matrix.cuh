// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What both programs share: rows of a matrix whose elements say where they belong, checked on the GPU, and the command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../example.cuh"

namespace matrix {

struct options {
  std::size_t nx = 8192;
  std::size_t ny = 8191;
  std::size_t element = 4;     // bytes: 1, 4 or 8
  std::size_t step_bytes = 0;  // 0: the library's own choice
  int rounds = 9;
};

// Ends the program where the arguments are no numbers.
inline options parse(int argc, char** argv) {
  options chosen;
  std::size_t* const places[] = {&chosen.nx, &chosen.ny, &chosen.element, &chosen.step_bytes};
  bool good = argc <= 5;
  for (int i = 1; i < argc && good; ++i) {
    char* end = nullptr;
    *places[i - 1] = std::strtoull(argv[i], &end, 10);
    good = end != argv[i] && *end == '\0' && argv[i][0] != '-';
  }
  if (!good || chosen.nx == 0 || chosen.ny == 0 ||
      (chosen.element != 1 && chosen.element != 4 && chosen.element != 8)) {
    std::fprintf(stderr, "usage: %s [NX [NY [BYTES OF AN ELEMENT: 1, 4 or 8 [BYTES OF A STEP]]]]\n",
                 argv[0]);
    std::exit(2);
  }
  return chosen;
}

// Calls work(an element of the type of that size).
template <class Work>
int with_element(std::size_t bytes, Work work) {
  return bytes == 1   ? work(std::uint8_t{})
         : bytes == 4 ? work(std::uint32_t{})
                      : work(std::uint64_t{});
}

template <class T>
__host__ __device__ T element_at(std::size_t place) {
  return static_cast<T>((place + 1) * 0x9E3779B97F4A7C15u >> 19);
}

// Rows [first, first + rows) of an input of nx columns.
template <class T>
__global__ void fill(T* in, std::size_t count, std::size_t first_place) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    in[i] = element_at<T>(first_place + i);
  }
}

// Counts what is wrong in rows [first_row, ...) of the output, which has ny columns.
template <class T>
__global__ void count_wrong(const T* out, std::size_t count, std::size_t first_row, std::size_t nx,
                            std::size_t ny, unsigned long long* wrong) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    if (out[i] != element_at<T>(i % ny * nx + first_row + i / ny)) { atomicAdd(wrong, 1ULL); }
  }
}

template <class T>
bool is_right(const T* out, std::size_t rows, std::size_t first_row, std::size_t nx,
              std::size_t ny) {
  const auto wrong = example::make_device_array<unsigned long long>(1);
  example::check(cudaMemset(wrong.get(), 0, sizeof(unsigned long long)), "cudaMemset");
  count_wrong<<<1024, 256>>>(out, rows * ny, first_row, nx, ny, wrong.get());
  example::check(cudaGetLastError(), "a kernel");
  return example::to_host(wrong, 1)[0] == 0;
}

}  // namespace matrix
