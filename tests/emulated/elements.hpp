// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What emulated tests move: elements of any size and alignment, at random places, and buffers of random ones.

#pragma once

#include <tiletranspose/emulator.cuh>

#include <catch2/catch_get_random_seed.hpp>
#include <cstddef>
#include <cstring>
#include <random>

template <int Bytes, int Alignment = tt::access_width(Bytes)>
struct alignas(Alignment) element {
  unsigned char bytes[Bytes];
};

template <class T>
bool equal(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

class random_numbers {
 public:
  std::size_t between(std::size_t low, std::size_t high) {
    return low + engine_() % (high - low + 1);
  }
  bool coin() { return between(0, 1) == 1; }

 private:
  std::mt19937_64 engine_{Catch::getSeed()};
};

inline void fill_at_random(void* first, std::size_t bytes) {
  static std::mt19937 random(Catch::getSeed());
  auto* const at = static_cast<unsigned char*>(first);
  for (std::size_t i = 0; i < bytes; ++i) { at[i] = static_cast<unsigned char>(random()); }
}

template <class T>
void fill(tt::emulated_buffer<T>& buffer) {
  fill_at_random(buffer.data(), buffer.size() * sizeof(T));
}
