// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Permutes on the CPU: arrays with guards, the definition of what they become, and a check of a call and its explanation.

#pragma once

#include "cuda_on_cpu.hpp"

#include <tiletranspose/explain.cuh>
#include <tiletranspose/permute.cuh>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

using tt::size_type;

constexpr unsigned char guard = 0xA5;

template <int Bytes>
struct element {
  unsigned char bytes[Bytes];
};

// One axis of a reference: elements, and how far apart they are on both sides.
struct axis {
  size_type extent;
  std::ptrdiff_t in, out;
};

// What the output must be: every element where the definition puts it, guards elsewhere.
inline std::vector<unsigned char> expected(const std::vector<unsigned char>& in,
                                           std::size_t in_first, std::size_t out_bytes,
                                           std::size_t out_first, const std::vector<axis>& axes,
                                           std::size_t element_bytes) {
  std::vector<unsigned char> out(out_bytes, guard);
  std::vector<size_type> index(axes.size(), 0);
  for (;;) {
    std::ptrdiff_t from = 0;
    std::ptrdiff_t to = 0;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      from += static_cast<std::ptrdiff_t>(index[k]) * axes[k].in;
      to += static_cast<std::ptrdiff_t>(index[k]) * axes[k].out;
    }
    const auto bytes = static_cast<std::ptrdiff_t>(element_bytes);
    std::memcpy(&out[static_cast<std::size_t>(static_cast<std::ptrdiff_t>(out_first) + to * bytes)],
                &in[static_cast<std::size_t>(static_cast<std::ptrdiff_t>(in_first) + from * bytes)],
                element_bytes);
    std::size_t k = axes.size();
    while (k > 0 && ++index[k - 1] == axes[k - 1].extent) { index[--k] = 0; }
    if (k == 0) { return out; }
  }
}

inline std::vector<unsigned char> random_bytes(std::size_t count) {
  static std::mt19937 generator(7);
  std::vector<unsigned char> bytes(count);
  for (unsigned char& byte : bytes) { byte = static_cast<unsigned char>(generator()); }
  return bytes;
}

// Memory that the emulator watches, whose first element starts `offset` bytes behind a multiple of 16.
struct memory {
  tt::emulated_buffer<unsigned char> bytes;
  explicit memory(const std::vector<unsigned char>& content) : bytes(content.size()) {
    std::copy(content.begin(), content.end(), bytes.data());
  }
  std::vector<unsigned char> content() {
    return std::vector<unsigned char>(bytes.data(), bytes.data() + bytes.size());
  }
};

// Runs a permute by its axes; the output is compared with the definition.
template <class T, std::size_t Rank>
void check(const std::array<size_type, Rank>& extents, const std::array<int, Rank>& order,
           std::size_t offset = 0) {
  std::string said = std::to_string(sizeof(T)) + " bytes, offset " + std::to_string(offset) + ":";
  size_type count = 1;
  std::vector<axis> axes(Rank);
  for (std::size_t k = Rank; k-- > 0;) {
    axes[k] = {extents[k], static_cast<std::ptrdiff_t>(count), 0};
    count *= extents[k];
    said = said + ' ' + std::to_string(extents[Rank - 1 - k]);
  }
  std::ptrdiff_t out_stride = 1;
  for (std::size_t j = Rank; j-- > 0;) {
    axis& moved = axes[static_cast<std::size_t>(order[j])];
    moved.out = out_stride;
    out_stride *= static_cast<std::ptrdiff_t>(moved.extent);
  }
  for (const int a : order) { said += " ->"[0] + std::to_string(a); }
  INFO(said);
  const std::size_t first = 64 + offset * alignof(T);
  const std::size_t bytes = count * sizeof(T);
  memory in(random_bytes(bytes + 256));
  memory out(std::vector<unsigned char>(bytes + 256, guard));
  size_type given[Rank];
  int places[Rank];
  std::copy(extents.begin(), extents.end(), given);
  std::copy(order.begin(), order.end(), places);
  cpu::this_device() = {};
  const cudaError_t status =
      tt::permute(reinterpret_cast<T*>(out.bytes.data() + first),
                  reinterpret_cast<const T*>(in.bytes.data() + first), given, places);
  REQUIRE(status == cudaSuccess);
  REQUIRE(out.content() == expected(in.content(), first, bytes + 256, first, axes, sizeof(T)));
  const tt::explanation explained =
      tt::explain_permute(reinterpret_cast<T*>(out.bytes.data() + first),
                          reinterpret_cast<const T*>(in.bytes.data() + first), given, places);
  INFO(tt::to_string(explained));
  REQUIRE((explained.answer == tt::explained::copies) == (cpu::this_device().launches == 0));
  REQUIRE(explained.launches == static_cast<size_type>(cpu::this_device().launches));
  // Once more without touching memory, for the grid.
  cpu::this_device() = {};
  cpu::this_device().runs = false;
  REQUIRE(tt::permute(reinterpret_cast<T*>(out.bytes.data() + first),
                      reinterpret_cast<const T*>(in.bytes.data() + first), given,
                      places) == cudaSuccess);
  size_type blocks = 0;
  for (const cpu::launch_shape& one : cpu::this_device().seen) {
    if (one.kernel == nullptr) { continue; }  // a copy
    blocks += size_type{one.grid.x} * one.grid.y * one.grid.z;
    REQUIRE(explained.threads == static_cast<int>(one.block.x));
  }
  REQUIRE(explained.blocks == blocks);
}
