// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The memory that device code may touch in an emulated launch. Plain C++17, host only.

#pragma once

#include <tiletranspose/tile.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

TILETRANSPOSE_NAMESPACE_BEGIN

template <class Tile, class Element>
struct bulk_view;

namespace detail {

/// `rows` runs of `row_bytes` bytes, `stride_bytes` from start to start, which may be negative.
struct known_memory {
  std::uintptr_t first = 0;  ///< the lowest address
  std::uint64_t rows = 0;
  std::uint64_t row_bytes = 0;
  std::uint64_t stride_bytes = 0;
  bool constant = false;

  /// How many bytes from `address` on are in one row.
  std::uint64_t left_at(std::uintptr_t address) const {
    if (address < first) { return 0; }
    const std::uint64_t from = address - first;
    // Where rows overlap, as windows that slide over an array do, the last one reaches on behind the start of others.
    const std::uint64_t begun = rows == 1 || stride_bytes == 0 ? 0 : from / stride_bytes;
    const std::uint64_t row = begun < rows ? begun : rows - 1;
    const std::uint64_t in_row = from - row * stride_bytes;
    return in_row < row_bytes ? row_bytes - in_row : 0;
  }
};

/// The global memory of a launch. Where nothing was added, not even an empty matrix, everything is allowed.
class memory_map {
 public:
  template <class T>
  void add(T* data, std::size_t count) {
    add_rows(reinterpret_cast<std::uintptr_t>(data), 1, count * sizeof(T), 0,
             std::is_const<T>::value);
  }
  template <class T>
  void add(const matrix_view<T>& view) {
    const auto stride = static_cast<long long>(view.stride) * static_cast<long long>(sizeof(T));
    auto first = reinterpret_cast<std::uintptr_t>(view.data);
    if (stride < 0 && view.rows > 1) {
      first -= (view.rows - 1) * static_cast<std::uint64_t>(-stride);
    }
    add_rows(first, view.rows, view.cols * sizeof(T),
             static_cast<std::uint64_t>(stride < 0 ? -stride : stride), std::is_const<T>::value);
  }
  /// Arguments of other types say nothing of memory.
  template <class T>
  void add_argument(const T&) {}
  template <class T>
  void add_argument(const matrix_view<T>& view) {
    add(view);
  }
  template <class Tile, class Element>
  void add_argument(const bulk_view<Tile, Element>& view) {
    add(view.matrix);
  }

  /// True where all of the bytes may be read, or written.
  bool holds(const void* address, std::uint64_t bytes, bool write) const {
    if (!limits_) { return true; }
    auto at = reinterpret_cast<std::uintptr_t>(address);
    const std::uintptr_t end = at + bytes;
    while (at < end) {  // neighbours may follow each other without a gap
      std::uint64_t most = 0;
      for (const known_memory& memory : known_) {
        if (write && memory.constant) { continue; }
        const std::uint64_t left = memory.left_at(at);
        most = left > most ? left : most;
        if (at + most >= end) { return true; }
      }
      if (most == 0) { return false; }
      at += most;
    }
    return true;
  }

 private:
  void add_rows(std::uintptr_t first, std::uint64_t rows, std::uint64_t row_bytes,
                std::uint64_t stride_bytes, bool constant) {
    limits_ = true;
    if (rows > 0 && row_bytes > 0) {
      known_.push_back({first, rows, row_bytes, stride_bytes, constant});
    }
  }

  bool limits_ = false;
  std::vector<known_memory> known_;
};

/// Memory at a multiple of `Alignment` bytes and not a byte more than asked for, so that AddressSanitizer sees
/// its end.
template <std::size_t Alignment>
class aligned_memory {
 public:
  explicit aligned_memory(std::size_t bytes)
      : first_(static_cast<unsigned char*>(::operator new (bytes, std::align_val_t{Alignment}))) {}

  unsigned char* data() const { return first_.get(); }

 private:
  struct release {
    void operator()(unsigned char* first) const {
      ::operator delete (first, std::align_val_t{Alignment});
    }
  };
  std::unique_ptr<unsigned char, release> first_;
};

}  // namespace detail

/// Zeroed memory that starts where cudaMalloc's would, at a multiple of 256 bytes, so that sectors are
/// counted as on a GPU. AddressSanitizer sees its end.
template <class T>
class emulated_buffer {
  static_assert(std::is_trivially_copyable<T>::value,
                "tt: the element type must be trivially copyable; the library moves its bytes");

 public:
  /// \param offset  elements that the buffer starts behind a multiple of 256 bytes
  explicit emulated_buffer(std::size_t size, std::size_t offset = 0)
      : memory_((size + offset) * sizeof(T)),
        data_(reinterpret_cast<T*>(memory_.data()) + offset),
        size_(size) {
    std::memset(static_cast<void*>(data_), 0, size * sizeof(T));
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }

 private:
  detail::aligned_memory<256> memory_;
  T* data_;
  std::size_t size_;
};

TILETRANSPOSE_NAMESPACE_END
