// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What emulated tests move: elements of any size and alignment, and buffers of random ones.

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

inline unsigned char random_byte() {
  static std::mt19937 random(Catch::getSeed());
  return static_cast<unsigned char>(random());
}

template <class T>
void fill(tt::emulated_buffer<T>& buffer) {
  auto* const bytes = reinterpret_cast<unsigned char*>(buffer.data());
  for (std::size_t i = 0; i < buffer.size() * sizeof(T); ++i) { bytes[i] = random_byte(); }
}
