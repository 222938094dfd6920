// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three arrays of different types, their lengths known only when the program runs, in one allocation of
// dynamic shared memory:
//
//     carving [ints floats chars]

#include <tiletranspose/smem.cuh>

#include "../example.cuh"

using smem_type = tt::smem_layout<tt::smem_array<int>, tt::smem_array<float>, tt::smem_array<char>>;

// out: the sum of everything that the block keeps in its three arrays.
__global__ void fill_and_sum(smem_type smem, double* out) {
  auto [ints, floats, chars] = smem.carve(tt::dynamic_smem());  // int*, float*, char*
  const auto ni = smem.part<0>().length();
  const auto nf = smem.part<1>().length();
  const auto nc = smem.part<2>().length();
  for (auto i = threadIdx.x; i < ni; i += blockDim.x) ints[i] = static_cast<int>(i);
  for (auto i = threadIdx.x; i < nf; i += blockDim.x) floats[i] = 0.5f;
  for (auto i = threadIdx.x; i < nc; i += blockDim.x) chars[i] = 3;
  __syncthreads();
  if (threadIdx.x == 0) {
    double sum = 0;
    for (auto i = ni; i-- > 0;) sum += ints[i];
    for (auto i = nf; i-- > 0;) sum += floats[i];
    for (auto i = nc; i-- > 0;) sum += chars[i];
    *out = sum;
  }
}

int main(int argc, char** argv) {
  const std::size_t ni = argc == 4 ? std::strtoull(argv[1], nullptr, 10) : 1001;
  const std::size_t nf = argc == 4 ? std::strtoull(argv[2], nullptr, 10) : 20003;
  const std::size_t nc = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 777;

  const tt::smem_layout smem{tt::smem_array<int>(ni), tt::smem_array<float>(nf),
                             tt::smem_array<char>(nc)};
  std::printf("ints at byte 0, floats at %zu, chars at %zu: %zu bytes\n", smem.offset<1>(),
              smem.offset<2>(), smem.bytes());
  example::need_gpu();

  // More than 48 KB need the kernel's consent. A device that has not got as much says so here.
  const cudaError_t status = tt::allow_dynamic_smem(fill_and_sum, smem.bytes());
  if (status != cudaSuccess) {
    std::printf("This device cannot give that much to a block: %s\n", cudaGetErrorString(status));
    return 1;
  }
  const auto out = example::make_device_array<double>(1);
  fill_and_sum<<<1, 256, smem.bytes()>>>(smem, out.get());
  example::check(cudaGetLastError(), "fill_and_sum");

  const double expected = 0.5 * ni * (ni - 1.0) + 0.5 * nf + 3.0 * nc;
  const double found = example::to_host(out, 1)[0];
  std::printf("sum %.1f, expected %.1f\n", found, expected);
  return found == expected ? 0 : 1;
}
