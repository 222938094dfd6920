// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tt::transpose_inplace with scratch, its types erased. Instantiated in scratch_calls_*.cu.
#pragma once

#include "symmetries.cuh"

namespace tt_test {

struct scratch_call {
  element_type type;
  cudaError_t (*transpose)(void* temp, std::size_t& temp_bytes, std::byte* data, shape s);
};

// Elements without alignment, and elements aligned as their size allows, up to 16 bytes.
std::vector<scratch_call> scratch_calls_of_1_to_8_bytes();
std::vector<scratch_call> scratch_calls_of_9_to_20_bytes();
std::vector<scratch_call> scratch_calls_of_24_to_64_bytes();
std::vector<scratch_call> aligned_scratch_calls();

template <class T>
scratch_call make_scratch_call() {
  return {
      describe<T>(std::to_string(sizeof(T)) + " bytes aligned to " + std::to_string(alignof(T))),
      [](void* temp, std::size_t& temp_bytes, std::byte* data, shape s) {
        return tt::transpose_inplace(temp, temp_bytes, reinterpret_cast<T*>(data), s.nx, s.ny);
      }};
}

template <std::size_t Alignment, std::size_t... Sizes>
std::vector<scratch_call> make_scratch_calls_of_sizes() {
  return {make_scratch_call<block<Sizes, Alignment>>()...};
}

}  // namespace tt_test
