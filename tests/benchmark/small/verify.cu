// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whether every byte of an output is where a relocation says.

#include <limits>
#include <stdexcept>
#include <string>

#include "cases.cuh"

namespace bench {
namespace {

// Recomputes every byte of the output from its position alone.
__global__ void compare_relocation(mismatches* bad, const unsigned char* out, relocation r,
                                   long long element) {
  const long long area = r.rows * r.cols, n = area * r.batch;
  const auto step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (auto at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; at < n;
       at += step) {
    const long long b = at / area, i = at % area / r.cols, j = at % r.cols;
    const long long from = r.in_first + b * r.in_batch + i * r.in_row + j * r.in_col;
    const long long to = r.out_first + b * r.out_batch + i * r.out_row + j;
    bool same = true;
    for (long long k = 0; k < element; ++k) {
      const auto byte = static_cast<unsigned long long>(from * element + k);
      same = same && static_cast<unsigned char>(random_word(byte / 4) >> (byte % 4 * 8)) ==
                         out[to * element + k];
    }
    if (!same) {
      atomicAdd(&bad->count, 1ull);
      atomicMin(&bad->first, static_cast<unsigned long long>(at));
    }
  }
}

}  // namespace

void verify_relocation(const relocation& r, std::size_t element) {
  const arena& a = device();
  const mismatches none{0, std::numeric_limits<unsigned long long>::max()};
  mismatches found = none;
  must(cudaMemcpyAsync(a.bad, &none, sizeof none, cudaMemcpyDefault, a.stream), "verification");
  compare_relocation<<<1024, 256, 0, a.stream>>>(a.bad, a.out, r, static_cast<long long>(element));
  must(cudaGetLastError(), "verification");
  must(cudaMemcpyAsync(&found, a.bad, sizeof found, cudaMemcpyDefault, a.stream), "verification");
  must(cudaStreamSynchronize(a.stream), "verification");
  if (found.count != 0) {
    const auto area = static_cast<unsigned long long>(r.rows * r.cols);
    const auto cols = static_cast<unsigned long long>(r.cols);
    throw std::runtime_error(
        std::to_string(found.count) + " of " + std::to_string(r.elements()) +
        " elements are wrong, first out(" + std::to_string(found.first % area / cols) + ", " +
        std::to_string(found.first % cols) + ") of matrix " + std::to_string(found.first / area));
  }
}

}  // namespace bench
