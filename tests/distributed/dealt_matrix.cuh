// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the GPU tests of distributed calls share: a matrix dealt out over parts, each on a device.
#pragma once

#include "../gpu/support.cuh"

#include <tiletranspose/partition.cuh>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace tt_test {

inline int device_count() {
  int count = 0;
  REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
  return count;
}

// The numbers of as many devices, from 0 on.
inline std::vector<int> first_devices(int count) {
  std::vector<int> devices(static_cast<std::size_t>(count));
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

// One byte after the other of place `i` of the whole input.
inline std::byte byte_at(std::size_t i) {
  return static_cast<std::byte>((i * 0x9E3779B97F4A7C15u) >> 56);
}

// The parts of an array of `rows` x `cols` blocks of `size` bytes, dealt out by rows, and those of its transpose.
class dealt_matrix {
 public:
  // Part i lies on devices[i].
  dealt_matrix(std::vector<int> devices, tt::partition nx, tt::partition ny, std::size_t size)
      : devices_(std::move(devices)), nx_(nx), ny_(ny), size_(size) {
    for (int i = 0; i < parts(); ++i) {
      check_cuda(cudaSetDevice(device(i)), "cudaSetDevice");
      byte_vector rows(in_bytes(i));
      const std::size_t first = ny_.begin(parts(), i) * nx_.total * size_;
      for (std::size_t k = 0; k < rows.size(); ++k) { rows[k] = byte_at(first + k); }
      in_.push_back(std::make_unique<device_allocation>(rows.size()));
      upload(in_.back()->data(), rows);
      out_.push_back(std::make_unique<device_allocation>(out_bytes(i) + 2 * guard_bytes));
      upload(out_.back()->data(), byte_vector(out_bytes(i) + 2 * guard_bytes, std::byte{0x5A}));
      scratch_.emplace_back();
    }
    check_cuda(cudaSetDevice(device(0)), "cudaSetDevice");
  }

  int parts() const { return static_cast<int>(devices_.size()); }
  int device(int i) const { return devices_[static_cast<std::size_t>(i)]; }
  template <class T>
  const T* in(int i) const {
    return reinterpret_cast<const T*>(in_[static_cast<std::size_t>(i)]->data());
  }
  template <class T>
  T* out(int i) const {
    return reinterpret_cast<T*>(out_[static_cast<std::size_t>(i)]->data() + guard_bytes);
  }
  // Memory of the device of part i, which must be current.
  void* scratch(int i, std::size_t bytes) {
    auto& memory = scratch_[static_cast<std::size_t>(i)];
    memory = std::make_unique<device_allocation>(bytes);
    return memory->data();
  }
  std::size_t in_bytes(int i) const { return ny_.count(parts(), i) * nx_.total * size_; }
  std::size_t out_bytes(int i) const { return nx_.count(parts(), i) * ny_.total * size_; }

  // Empty, or the first part that is wrong. Waits for all devices.
  std::string difference() const {
    for (int i = 0; i < parts(); ++i) {
      check_cuda(cudaSetDevice(device(i)), "cudaSetDevice");
      check_cuda(cudaDeviceSynchronize(), "the work of a device");
    }
    for (int i = 0; i < parts(); ++i) {
      check_cuda(cudaSetDevice(device(i)), "cudaSetDevice");
      const byte_vector found =
          download(out_[static_cast<std::size_t>(i)]->data(), out_bytes(i) + 2 * guard_bytes);
      for (std::size_t k = 0; k < found.size(); ++k) {
        if (found[k] != wanted(i, k)) {
          return "byte " + std::to_string(k) + " of part " + std::to_string(i) + " is wrong";
        }
      }
    }
    check_cuda(cudaSetDevice(device(0)), "cudaSetDevice");
    return "";
  }

 private:
  std::byte wanted(int i, std::size_t k) const {
    if (k < guard_bytes || k >= guard_bytes + out_bytes(i)) { return std::byte{0x5A}; }
    const std::size_t element = (k - guard_bytes) / size_;
    const std::size_t x = nx_.begin(parts(), i) + element / ny_.total;
    const std::size_t y = element % ny_.total;
    return byte_at((y * nx_.total + x) * size_ + (k - guard_bytes) % size_);
  }

  std::vector<int> devices_;
  tt::partition nx_;
  tt::partition ny_;
  std::size_t size_;
  std::vector<std::unique_ptr<device_allocation>> in_;
  std::vector<std::unique_ptr<device_allocation>> out_;
  std::vector<std::unique_ptr<device_allocation>> scratch_;
};

}  // namespace tt_test
