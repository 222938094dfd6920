// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the GPU tests share: element types, guarded buffers, a CPU reference on raw bytes.
//
// Everything but the library call itself works on bytes, so that a test instantiates nothing per
// element type but the kernels it is about.
#pragma once

#include <algorithm>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <tiletranspose/transpose.cuh>

template <>
struct Catch::StringMaker<cudaError> {
  static std::string convert(cudaError status) { return cudaGetErrorName(status); }
};

namespace tt_test {

using byte_vector = std::vector<std::byte>;

// ---------------------------------------------------- element types

template <std::size_t N>
struct bytes {
  unsigned char value[N];
};
struct float_triple {
  float x, y, z;
};
struct float_quad {
  float x, y, z, w;
};
struct alignas(16) aligned_quad {
  float x, y, z, w;
};
struct alignas(16) aligned_32 {
  unsigned char value[32];
};

struct element_type {
  std::string name;
  std::size_t size;
  std::size_t alignment;
};

template <class T>
element_type describe(std::string name) {
  return {std::move(name), sizeof(T), alignof(T)};
}

// A matrix's columns and rows as the library's argument lists order them.
struct shape {
  std::size_t nx;
  std::size_t ny;
};

// ---------------------------------------------------- device

// Skips the test where there is no device. A device that is there and does not work is a failure.
inline void require_device() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  const bool absent = status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver;
  if (absent || (status == cudaSuccess && count == 0)) {
    (void)cudaGetLastError();
    SKIP("no usable CUDA device: " << cudaGetErrorString(status));
  }
  REQUIRE(status == cudaSuccess);
  REQUIRE(cudaFree(nullptr) == cudaSuccess);
}

inline bool has_device() {
  int count = 0;
  const bool present = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  if (!present) (void)cudaGetLastError();
  return present;
}

// Skips the test where the device has less than `needed` bytes to give.
inline void require_memory(std::size_t needed) {
  std::size_t available = 0;
  std::size_t total = 0;
  REQUIRE(cudaMemGetInfo(&available, &total) == cudaSuccess);
  constexpr std::size_t slack = std::size_t{256} << 20;
  if (available < needed + slack) {
    SKIP("needs " << needed + slack << " bytes of device memory, " << available << " are free");
  }
}

// For the helpers below: they also run on threads of their own, where Catch2 may not assert.
inline void check_cuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw std::runtime_error{std::string{what} + ": " + cudaGetErrorName(status)};
  }
}

// cudaMemcpy may come back before the device has the bytes, and then only the legacy stream would
// wait for them.
inline void upload(std::byte* to, const byte_vector& from) {
  check_cuda(cudaMemcpy(to, from.data(), from.size(), cudaMemcpyHostToDevice), "an upload");
  check_cuda(cudaStreamSynchronize(nullptr), "an upload");
}

inline byte_vector download(const std::byte* from, std::size_t size) {
  byte_vector result(size);
  check_cuda(cudaMemcpy(result.data(), from, size, cudaMemcpyDeviceToHost), "a download");
  return result;
}

class device_allocation {
 public:
  explicit device_allocation(std::size_t size) {
    void* p = nullptr;
    // One byte at least: an empty payload still needs an address.
    check_cuda(cudaMalloc(&p, size > 0 ? size : 1), "cudaMalloc");
    memory_.reset(static_cast<std::byte*>(p));
  }

  std::byte* data() const { return memory_.get(); }

 private:
  struct release {
    void operator()(std::byte* p) const { (void)cudaFree(p); }
  };
  std::unique_ptr<std::byte, release> memory_;
};

class stream {
 public:
  explicit stream(unsigned flags = cudaStreamNonBlocking) {
    check_cuda(cudaStreamCreateWithFlags(&handle_, flags), "cudaStreamCreateWithFlags");
  }
  ~stream() { (void)cudaStreamDestroy(handle_); }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  operator cudaStream_t() const { return handle_; }
  void wait() const { check_cuda(cudaStreamSynchronize(handle_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t handle_ = nullptr;
};

// ---------------------------------------------------- random input

// Repeat a failure with Catch2's --rng-seed and the seed that the failure prints.
class random_source {
 public:
  random_source() : random_source(Catch::getSeed()) {}
  explicit random_source(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t next() { return engine_(); }

  // lowest <= result <= highest
  std::size_t between(std::size_t lowest, std::size_t highest) {
    return lowest + static_cast<std::size_t>(engine_() % (highest - lowest + 1));
  }

  byte_vector fill(std::size_t size) {
    byte_vector result(size);
    for (std::size_t i = 0; i < size; i += sizeof(std::uint64_t)) {
      const std::uint64_t word = engine_();
      std::memcpy(result.data() + i, &word, std::min(sizeof word, size - i));
    }
    return result;
  }

 private:
  std::mt19937_64 engine_;
};

// Calls check(call, random) for each of some calls, in a section that its element type names.
template <class Calls, class Check>
void for_each_type(const Calls& calls, Check check) {
  require_device();
  random_source random;
  for (const auto& call : calls) {
    DYNAMIC_SECTION(call.type.name) { check(call, random); }
  }
}

// ---------------------------------------------------- reference

// A row-major matrix of elements of `size` bytes in host memory; stride in elements.
struct host_matrix {
  const std::byte* data;
  std::size_t rows, cols, stride, size;
};

// result[x*rows + y] == in[y*stride + x], contiguous
inline byte_vector transposed(const host_matrix& in) {
  byte_vector result(in.rows * in.cols * in.size);
  for (std::size_t y = 0; y < in.rows; ++y) {
    const std::byte* source = in.data + y * in.stride * in.size;
    for (std::size_t x = 0; x < in.cols; ++x) {
      std::memcpy(result.data() + (x * in.rows + y) * in.size, source + x * in.size, in.size);
    }
  }
  return result;
}

// `batch` contiguous matrices, one behind the other.
inline byte_vector transposed_batch(const byte_vector& in, shape s, std::size_t batch,
                                    std::size_t size) {
  byte_vector result;
  for (std::size_t i = 0; i < batch; ++i) {
    const byte_vector one = transposed({&in[i * s.nx * s.ny * size], s.ny, s.nx, s.nx, size});
    result.insert(result.end(), one.begin(), one.end());
  }
  return result;
}

// ---------------------------------------------------- guarded buffers

constexpr std::size_t guard_bytes = 256;  // a multiple of every alignment in use

// Device memory that holds `content`, and nothing behind it, so that memcheck sees a read past the
// end. The first byte lies `misalignment` bytes past a 256-byte boundary.
class input_buffer {
 public:
  explicit input_buffer(byte_vector content, std::size_t misalignment = 0)
      : content_(std::move(content)),
        misalignment_(misalignment),
        memory_(content_.size() + misalignment) {
    upload(memory_.data() + misalignment_, content_);
  }

  const std::byte* data() const { return memory_.data() + misalignment_; }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data());
  }

  void replace(byte_vector content) {
    content_ = std::move(content);
    upload(memory_.data() + misalignment_, content_);
  }

  // What was uploaded, as the reference takes it; stride in elements.
  host_matrix matrix(std::size_t rows, std::size_t cols, std::size_t stride,
                     std::size_t size) const {
    return {content_.data(), rows, cols, stride, size};
  }

  // False where something wrote to what it should only read.
  bool unchanged() const { return download(data(), content_.size()) == content_; }

 private:
  byte_vector content_;
  std::size_t misalignment_;
  device_allocation memory_;
};

// Device memory between guards, whose every byte is accounted for: it starts as random bytes, but
// as the complement of what is expected wherever something is, and `difference` compares all of it.
// Hence an element not written, a gap between rows touched and a guard touched all show.
// Without a guard behind, memcheck sees a read past the end.
class output_buffer {
 public:
  output_buffer(std::size_t payload, std::size_t misalignment, random_source& random,
                std::size_t guard_behind = guard_bytes)
      : payload_(payload),
        first_(guard_bytes + misalignment),
        before_(random.fill(first_ + payload + guard_behind)),
        after_(before_),
        memory_(before_.size()) {}

  std::byte* data() const { return memory_.data() + first_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data());
  }

  // Expects m, rows `stride` elements apart, starting `offset` bytes into the payload.
  void expect(std::size_t offset, std::size_t stride, const host_matrix& m) {
    for_each_row(offset, stride, m, [&](std::size_t at, const std::byte* row, std::size_t size) {
      std::memcpy(&after_[at], row, size);
      for (std::size_t i = 0; i < size; ++i) before_[at + i] = ~row[i];
    });
    if (m.rows * m.cols > 0) regions_.push_back({first_ + offset, m.rows, m.cols, stride, m.size});
  }

  // Holds `before` from the start, and expects `after` there, which has its rows and columns: what a
  // call in place is given and leaves.
  void change(std::size_t offset, std::size_t stride, const host_matrix& before,
              const host_matrix& after) {
    expect(offset, stride, after);
    for_each_row(offset, stride, before,
                 [&](std::size_t at, const std::byte* row, std::size_t size) {
                   std::memcpy(&before_[at], row, size);
                 });
  }

  // Holds m from the start, and expects it there afterwards: an input that shares the buffer.
  void hold(std::size_t offset, std::size_t stride, const host_matrix& m) {
    for_each_row(offset, stride, m, [&](std::size_t at, const std::byte* row, std::size_t size) {
      std::memcpy(&after_[at], row, size);
      std::memcpy(&before_[at], row, size);
    });
  }

  // To be called before each run.
  void poison() const { upload(memory_.data(), before_); }

  // Empty, or the first byte that is not as expected, in words.
  std::string difference() const { return compare(after_); }

  // Empty if nothing has been written since poison().
  std::string trace_of_a_write() const { return compare(before_); }

 private:
  struct region {
    std::size_t first, rows, cols, stride, size;
  };

  template <class Visit>
  void for_each_row(std::size_t offset, std::size_t stride, const host_matrix& m, Visit visit) {
    if (m.cols == 0) return;
    for (std::size_t row = 0; row < m.rows; ++row) {
      const std::size_t at = offset + row * stride * m.size;
      if (at + m.cols * m.size > payload_) throw std::logic_error{"expectation outside payload"};
      visit(first_ + at, m.data + row * m.stride * m.size, m.cols * m.size);
    }
  }

  std::string compare(const byte_vector& expected) const {
    check_cuda(cudaDeviceSynchronize(), "the kernel");
    const byte_vector now = download(memory_.data(), before_.size());
    if (now == expected) return {};
    std::size_t at = 0;
    while (now[at] == expected[at]) ++at;
    std::ostringstream text;
    text << place(at) << ": expected " << std::to_integer<int>(expected[at]) << ", found "
         << std::to_integer<int>(now[at]);
    return text.str();
  }

  std::string place(std::size_t at) const {
    std::ostringstream text;
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      const region& r = regions_[i];
      if (at < r.first) continue;
      const std::size_t element = (at - r.first) / r.size;
      if (element / r.stride >= r.rows || element % r.stride >= r.cols) continue;
      text << "byte " << (at - r.first) % r.size << " of the element at row " << element / r.stride
           << ", column " << element % r.stride << " of output " << i;
      return text.str();
    }
    if (at < first_) {
      text << "guard, " << first_ - at << " bytes before the output";
    } else if (at >= first_ + payload_) {
      text << "guard, " << at - first_ - payload_ << " bytes after the output's end";
    } else {
      text << "gap, " << at - first_ << " bytes into the output";
    }
    return text.str();
  }

  std::size_t payload_;
  std::size_t first_;
  byte_vector before_;
  byte_vector after_;
  device_allocation memory_;
  std::vector<region> regions_;
};

// ---------------------------------------------------- checks

// One instantiation of a transpose, its types erased.
struct flat_transpose {
  element_type type;
  cudaError_t (*launch)(std::byte* out, const std::byte* in, std::size_t nx, std::size_t ny);
};

struct view_transpose {
  element_type type;
  cudaError_t (*launch)(std::byte* out, std::size_t out_stride, const std::byte* in,
                        std::size_t in_stride, std::size_t nx, std::size_t ny);
};

// make_flat<float>("float") is the tuned form, make_flat<float, 32, 8>("float, 32, 8") the
// explicit.
template <class T, int... Tile>
flat_transpose make_flat(std::string name) {
  return {describe<T>(std::move(name)),
          [](std::byte* out, const std::byte* in, std::size_t nx, std::size_t ny) {
            return tt::transpose<T, Tile...>(reinterpret_cast<T*>(out),
                                             reinterpret_cast<const T*>(in), nx, ny);
          }};
}

template <class T, int... Tile>
view_transpose make_view(std::string name) {
  return {describe<T>(std::move(name)),
          [](std::byte* out, std::size_t out_stride, const std::byte* in, std::size_t in_stride,
             std::size_t nx, std::size_t ny) {
            const tt::matrix_view<T> to{reinterpret_cast<T*>(out), nx, ny, out_stride};
            const tt::matrix_view<const T> from{reinterpret_cast<const T*>(in), ny, nx, in_stride};
            return tt::transpose<T, Tile...>(to, from);
          }};
}

// Elements between two rows, and bytes past a 256-byte boundary where each matrix starts.
struct view_placement {
  std::size_t in_stride, out_stride;
  std::size_t in_misalignment, out_misalignment;
};

// Transposes one random matrix with `launch(out, in)` and checks every byte within reach.
template <class Launch>
void check_transpose(const element_type& type, shape s, const view_placement& p,
                     random_source& random, Launch launch) {
  INFO(type.name << ", nx " << s.nx << ", ny " << s.ny << ", strides " << p.in_stride << " -> "
                 << p.out_stride << ", misaligned by " << p.in_misalignment << " -> "
                 << p.out_misalignment << " bytes; repeat with --rng-seed " << Catch::getSeed());
  const input_buffer in{random.fill(((s.ny - 1) * p.in_stride + s.nx) * type.size),
                        p.in_misalignment};
  output_buffer out{((s.nx - 1) * p.out_stride + s.ny) * type.size, p.out_misalignment, random};
  const byte_vector expected = transposed(in.matrix(s.ny, s.nx, p.in_stride, type.size));
  out.expect(0, p.out_stride, {expected.data(), s.nx, s.ny, s.ny, type.size});
  out.poison();
  REQUIRE(launch(out.data(), in.data()) == cudaSuccess);
  REQUIRE(cudaPeekAtLastError() == cudaSuccess);
  REQUIRE(out.difference() == "");
  REQUIRE(in.unchanged());
}

inline void check(const flat_transpose& t, shape s, random_source& random,
                  std::size_t in_misalignment = 0, std::size_t out_misalignment = 0) {
  check_transpose(
      t.type, s, {s.nx, s.ny, in_misalignment, out_misalignment}, random,
      [&](std::byte* out, const std::byte* in) { return t.launch(out, in, s.nx, s.ny); });
}

inline void check(const view_transpose& t, shape s, const view_placement& p,
                  random_source& random) {
  check_transpose(t.type, s, p, random, [&](std::byte* out, const std::byte* in) {
    return t.launch(out, p.out_stride, in, p.in_stride, s.nx, s.ny);
  });
}

}  // namespace tt_test
