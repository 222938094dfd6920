// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Little work: every shape from 1 x 1 to 70 x 70, whose sides straddle all edges of the tiles that it takes, and sides of up
// to 999, between which tiles, blocks of rows and squares in place become others. The GPU compares every byte with the call's
// definition, guards round the output included.

#include <tiletranspose/reverse.cuh>
#include <tiletranspose/transpose.cuh>

#include <cstring>
#include <string>

#include "support.cuh"

using namespace tt_test;

namespace {

constexpr unsigned char guard = 0xA5;
constexpr std::size_t guard_bytes = 512;

// Element (r, c) of the output is element first + r * row + c * col of the input.
struct relocation {
  std::size_t rows, cols;
  long long first, row, col;
};

__global__ void count_wrong_bytes(unsigned* wrong, const unsigned char* out,
                                  const unsigned char* in, std::size_t element, relocation r) {
  const std::size_t bytes = r.rows * r.cols * element;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < bytes + 2 * guard_bytes;
       i += gridDim.x * blockDim.x) {
    unsigned char expected = guard;
    if (i >= guard_bytes && i < guard_bytes + bytes) {
      const std::size_t at = (i - guard_bytes) / element;
      const auto from = r.first + static_cast<long long>(at / r.cols) * r.row +
                        static_cast<long long>(at % r.cols) * r.col;
      expected = in[static_cast<std::size_t>(from) * element + (i - guard_bytes) % element];
    }
    if (out[i] != expected) { atomicAdd(wrong, 1u); }
  }
}

// What all calls of a test share: the input, which is random, the output between its guards, and the bytes that were wrong.
class shapes_on_gpu {
 public:
  explicit shapes_on_gpu(std::size_t bytes)
      : bytes_(bytes), in_(bytes), out_(bytes + 2 * guard_bytes), wrong_(sizeof(unsigned)) {
    random_source random;
    upload(in_.data(), random.fill(bytes));
    check_cuda(cudaMemset(wrong_.data(), 0, sizeof(unsigned)), "cudaMemset");
  }

  template <class T>
  T* in() const {
    return reinterpret_cast<T*>(in_.data());
  }
  template <class T>
  T* out() const {
    return reinterpret_cast<T*>(out_.data() + guard_bytes);
  }

  void prepare(bool with_input) {
    check_cuda(cudaMemsetAsync(out_.data(), guard, bytes_ + 2 * guard_bytes), "cudaMemsetAsync");
    if (with_input) {
      check_cuda(cudaMemcpyAsync(out_.data() + guard_bytes, in_.data(), with_bytes,
                                 cudaMemcpyDeviceToDevice),
                 "cudaMemcpyAsync");
    }
  }
  void compare(std::size_t element, relocation r) {
    count_wrong_bytes<<<8, 256>>>(reinterpret_cast<unsigned*>(wrong_.data()),
                                  reinterpret_cast<const unsigned char*>(out_.data()),
                                  reinterpret_cast<const unsigned char*>(in_.data()), element, r);
  }
  byte_vector input() const { return download(in_.data(), bytes_); }
  byte_vector output() const { return download(out_.data() + guard_bytes, bytes_); }
  unsigned wrong() const {
    unsigned count = 0;
    check_cuda(cudaMemcpy(&count, wrong_.data(), sizeof(count), cudaMemcpyDeviceToHost),
               "cudaMemcpy");
    return count;
  }

  std::size_t with_bytes = 0;  // of the input, where the output begins with them

 private:
  std::size_t bytes_;
  device_allocation in_, out_, wrong_;
};

// All shapes whose sides are `first`, first + step ... up to `last`. Wrong bytes are looked at after each nx.
template <class T>
void check_shapes(std::size_t first, std::size_t last, std::size_t step) {
  shapes_on_gpu gpu(last * last * sizeof(T));
  const T* const in = gpu.in<T>();
  T* const out = gpu.out<T>();
  for (std::size_t nx = first; nx <= last; nx += step) {
    for (std::size_t ny = first; ny <= last; ny += step) {
      const auto x = static_cast<long long>(nx);
      const auto last_element = static_cast<long long>(nx * ny) - 1;
      const relocation transposed{nx, ny, 0, 1, x};
      const relocation turned{nx, ny, x - 1, -1, x};
      const relocation mirrored{ny, nx, x - 1, x, -1};
      const relocation reversed{1, nx * ny, last_element, 0, -1};
      const auto test = [&](cudaError_t status, const relocation& expected) {
        REQUIRE(status == cudaSuccess);
        gpu.compare(sizeof(T), expected);
        gpu.prepare(false);
      };
      gpu.prepare(false);
      test(tt::transpose(out, in, nx, ny), transposed);
      test(tt::transpose<T, 32, 8>(out, in, nx, ny), transposed);
      test(tt::rotate(out, in, nx, ny, 1), turned);
      test(tt::flip_lr(out, in, nx, ny), mirrored);
      test(tt::reverse(out, in, nx * ny), reversed);
      if (nx == ny) {
        gpu.with_bytes = nx * ny * sizeof(T);
        gpu.prepare(true);
        test(tt::transpose_inplace(out, nx, ny), transposed);
      }
    }
    INFO("elements of " << sizeof(T) << " bytes, nx " << nx);
    REQUIRE(gpu.wrong() == 0);
  }
}

template <class T>
void check_all_shapes() {
  require_device();
  check_shapes<T>(1, 70, 1);
}
template <class T>
void check_some_shapes() {
  require_device();
  check_shapes<T>(1, 70, 23);
}

template <class T>
void check_large_shapes() {
  check_shapes<T>(131, 999, 217);
}

// A batch of matrices that large tiles would be mostly empty for. Its sides are those of choose/tuning_small.cuh.
template <class T>
void check_batch(std::size_t nx, std::size_t ny, std::size_t batch) {
  const std::size_t area = nx * ny * sizeof(T);
  shapes_on_gpu gpu(batch * area);
  gpu.prepare(false);
  REQUIRE(tt::transpose_batched(gpu.out<T>(), gpu.in<T>(), nx, ny, batch) == cudaSuccess);
  const byte_vector in = gpu.input();
  const byte_vector out = gpu.output();
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < batch * nx * ny; ++at) {
    const std::size_t inside = at % (nx * ny);
    const std::size_t from = at - inside + inside % ny * nx + inside / ny;
    wrong += std::memcmp(&out[at * sizeof(T)], &in[from * sizeof(T)], sizeof(T)) != 0;
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("little: every shape up to 70 x 70, 1 byte", "[little]") { check_all_shapes<char>(); }
TEST_CASE("little: every shape up to 70 x 70, 3 bytes", "[little]") {
  check_all_shapes<bytes<3>>();
}
TEST_CASE("little: every shape up to 70 x 70, 4 bytes", "[little]") { check_all_shapes<float>(); }
TEST_CASE("little: every shape up to 70 x 70, 12 bytes", "[little]") {
  check_all_shapes<float_triple>();
}
TEST_CASE("little: every shape up to 70 x 70, 16 bytes", "[little]") {
  check_all_shapes<aligned_quad>();
}

TEST_CASE("little: some shapes", "[little][quick]") {
  check_some_shapes<char>();
  check_some_shapes<bytes<3>>();
  check_some_shapes<float>();
  check_some_shapes<float_triple>();
  check_some_shapes<aligned_quad>();
  // One each of large tiles, and of blocks that take several elements of a row a thread.
  check_shapes<char>(571, 571, 1);
  check_shapes<bytes<3>>(661, 661, 1);
  check_shapes<float>(661, 661, 1);
  check_shapes<float_triple>(571, 571, 1);
  check_shapes<aligned_quad>(871, 871, 1);
}

TEST_CASE("little: sides of up to 999", "[little]") {
  require_device();
  check_large_shapes<char>();
  check_large_shapes<short>();
  check_large_shapes<bytes<3>>();
  check_large_shapes<float>();
  check_large_shapes<double>();
  check_large_shapes<float_triple>();
  check_large_shapes<aligned_quad>();
}

TEST_CASE("little: batches of small matrices", "[little]") {
  require_device();
  check_batch<bytes<3>>(64, 100, 900);
  check_batch<bytes<3>>(259, 41, 600);
  check_batch<float_triple>(50, 50, 500);
}
