// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the tests of more elements than 32 bits count share. Content is a hash of the position, made and
// compared on the device: no host holds these matrices.
#pragma once

#include <tiletranspose/symmetry.cuh>

#include "symmetries.cuh"

namespace tt_test {

// ---------------------------------------------------- content

// A different word for every position, as good as random.
__device__ inline std::uint64_t hash(std::uint64_t position) {
  position += 0x9e3779b97f4a7c15u;
  position = (position ^ (position >> 30)) * 0xbf58476d1ce4e5b9u;
  position = (position ^ (position >> 27)) * 0x94d049bb133111ebu;
  return position ^ (position >> 31);
}

// Element `position` of every input, its bytes flipped by `flip`.
template <class T>
__device__ T element_at(std::size_t position, unsigned char flip = 0) {
  constexpr std::size_t words = (sizeof(T) + 7) / 8;
  unsigned char bytes[sizeof(T)];
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    if (i % 8 == 0) word = hash(position * words + i / 8);
    bytes[i] = static_cast<unsigned char>(word >> (i % 8 * 8)) ^ flip;
  }
  T value;
  memcpy(&value, bytes, sizeof(T));
  return value;
}

template <class T>
__device__ bool same(const T& a, const T& b) {
  unsigned char a_bytes[sizeof(T)], b_bytes[sizeof(T)];
  memcpy(a_bytes, &a, sizeof(T));
  memcpy(b_bytes, &b, sizeof(T));
  bool equal = true;
  for (std::size_t i = 0; i < sizeof(T); ++i) equal = equal && a_bytes[i] == b_bytes[i];
  return equal;
}

// A dense array whose axes are permuted, as numpy.transpose has it; of no axes where there is none.
struct permuted_array {
  int rank;
  std::size_t extents[5];
  int axes[5];

  std::size_t size() const {
    std::size_t elements = 1;
    for (int k = 0; k < rank; ++k) elements *= extents[k];
    return elements;
  }
  __device__ std::size_t source(std::size_t i) const {
    std::size_t index[5] = {};
    for (int j = rank - 1; j >= 0; --j) {
      index[axes[j]] = i % extents[axes[j]];
      i /= extents[axes[j]];
    }
    std::size_t at = 0;
    for (int k = 0; k < rank; ++k) at = at * extents[k] + index[k];
    return at;
  }
};

// What becomes of dense inputs of ny rows x nx columns, one behind the other: element i of the output is
// element source(i) of the input, its bytes flipped by `flip`.
struct expectation {
  std::size_t nx, ny;
  bool transposes, from_last_row, from_last_col;
  unsigned char flip;
  permuted_array array = {};

  __device__ std::size_t source(std::size_t i) const {
    if (array.rank > 0) return array.source(i);
    const std::size_t first = i / (nx * ny) * (nx * ny);
    const std::size_t at = i - first;
    const std::size_t cols = transposes ? ny : nx;
    std::size_t row = transposes ? at % cols : at / cols;
    std::size_t col = transposes ? at / cols : at % cols;
    if (from_last_row) row = ny - 1 - row;
    if (from_last_col) col = nx - 1 - col;
    return first + row * nx + col;
  }
};

// The three answers, from the table of tt::symmetry.
inline expectation expect(shape s, tt::symmetry how, unsigned char flip = 0) {
  using tt::symmetry;
  const bool up = how == symmetry::flip_ud || how == symmetry::rotate_180 ||
                  how == symmetry::rotate_270 || how == symmetry::anti_transpose;
  const bool left = how == symmetry::flip_lr || how == symmetry::rotate_180 ||
                    how == symmetry::rotate_90 || how == symmetry::anti_transpose;
  return {s.nx, s.ny, swaps_sides(how), up, left, flip};
}

// ---------------------------------------------------- kernels

constexpr int large_grid = 4096;
constexpr int large_block = 256;

template <class Visit>
__device__ void for_each_element(std::size_t count, Visit visit) {
  const std::size_t step = std::size_t{blockDim.x} * gridDim.x;
  for (std::size_t i = std::size_t{blockDim.x} * blockIdx.x + threadIdx.x; i < count; i += step) {
    visit(i);
  }
}

template <class T>
__global__ void fill_input(T* in, std::size_t count) {
  for_each_element(count, [=](std::size_t i) { in[i] = element_at<T>(i); });
}

// Every element starts as something else than what is expected of it.
template <class T>
__global__ void poison_output(T* out, std::size_t count, expectation expected) {
  for_each_element(count, [=](std::size_t i) {
    out[i] = element_at<T>(expected.source(i), expected.flip ^ 0xff);
  });
}

struct verdict {
  unsigned long long differences;
  unsigned long long first;
};

// Each thread counts by itself: billions of differences would wait for one another at the verdict.
template <class T>
__global__ void compare(const T* data, std::size_t count, expectation expected, verdict* result) {
  verdict own{0, ~0ull};
  for_each_element(count, [&](std::size_t i) {
    if (same(data[i], element_at<T>(expected.source(i), expected.flip))) return;
    if (own.differences++ == 0) own.first = i;
  });
  if (own.differences != 0) {
    atomicAdd(&result->differences, own.differences);
    atomicMin(&result->first, own.first);
  }
}

template <class T>
std::string differences(const T* data, std::size_t count, const expectation& expected) {
  const device_allocation memory{sizeof(verdict)};
  auto* const result = reinterpret_cast<verdict*>(memory.data());
  verdict v{0, ~0ull};
  check_cuda(cudaMemcpy(result, &v, sizeof v, cudaMemcpyHostToDevice), "upload of the verdict");
  compare<<<large_grid, large_block>>>(data, count, expected, result);
  check_cuda(cudaGetLastError(), "launch of the comparison");
  check_cuda(cudaMemcpy(&v, result, sizeof v, cudaMemcpyDeviceToHost), "download of the verdict");
  if (v.differences == 0) return {};
  return std::to_string(v.differences) + " elements differ, the first is number " +
         std::to_string(v.first);
}

// ---------------------------------------------------- guards

constexpr int guard_value = 0xa5;

inline bool all_guard(const std::byte* first, std::size_t size) {
  return download(first, size) == byte_vector(size, std::byte{guard_value});
}

// Elements between two guards.
template <class T>
class guarded {
 public:
  explicit guarded(std::size_t count) : size_(count * sizeof(T)), memory_(size_ + 2 * guard_bytes) {
    check_cuda(cudaMemset(memory_.data(), guard_value, guard_bytes), "cudaMemset");
    check_cuda(cudaMemset(behind(), guard_value, guard_bytes), "cudaMemset");
  }
  T* data() const { return reinterpret_cast<T*>(memory_.data() + guard_bytes); }
  bool guards_hold() const {
    return all_guard(memory_.data(), guard_bytes) && all_guard(behind(), guard_bytes);
  }

 private:
  std::byte* behind() const { return memory_.data() + guard_bytes + size_; }

  std::size_t size_;
  device_allocation memory_;
};

// ---------------------------------------------------- checks

// launch(out, in) on `batch` matrices of hashes; every element of both sides is checked on the device.
template <class T, class Launch>
void check_large(shape s, std::size_t batch, const expectation& expected, Launch launch) {
  const std::size_t count = s.nx * s.ny * batch;
  require_memory(2 * count * sizeof(T) + 4 * guard_bytes);
  INFO("nx " << s.nx << ", ny " << s.ny << ", batch " << batch << ", " << sizeof(T) << " bytes");
  const guarded<T> in{count};
  const guarded<T> out{count};
  fill_input<<<large_grid, large_block>>>(in.data(), count);
  poison_output<<<large_grid, large_block>>>(out.data(), count, expected);
  check_cuda(cudaGetLastError(), "launch of the fill");
  // The comparison can tell.
  REQUIRE(differences(out.data(), count, expected) != "");
  REQUIRE(launch(out.data(), static_cast<const T*>(in.data())) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(differences(out.data(), count, expected) == "");
  REQUIRE(differences(in.data(), count, expect({count, 1}, tt::symmetry::identity)) == "");
  REQUIRE(out.guards_hold());
  REQUIRE(in.guards_hold());
}

}  // namespace tt_test
