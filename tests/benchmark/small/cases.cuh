// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A case of the benchmark of small and middle problems: what it moves, who takes part, and how the
// result is verified. Planning needs no device; a case runs on the buffers of device().
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <string>
#include <tiletranspose/symmetry.cuh>
#include <vector>

#include "../device.cuh"
#include "shapes.hpp"
#include "summary.hpp"

namespace bench {

/// What any of the calls moves, in elements: for 0 <= b < batch, 0 <= i < rows, 0 <= j < cols
///
///     out[out_first + b * out_batch + i * out_row + j]
///         == in[in_first + b * in_batch + i * in_row + j * in_col]
struct relocation {
  long long rows, cols;
  long long in_row, in_col, out_row;
  long long in_first = 0, out_first = 0;
  long long batch = 1, in_batch = 0, out_batch = 0;

  std::size_t elements() const { return static_cast<std::size_t>(rows * cols * batch); }
  /// From the start of the output's buffer to the end of what is written.
  std::size_t out_extent() const {
    return static_cast<std::size_t>(out_first + (batch - 1) * out_batch + (rows - 1) * out_row +
                                    cols);
  }
};

/// Of a matrix of ny rows x nx columns.
inline relocation relocate(tt::symmetry s, std::size_t nx, std::size_t ny, std::size_t in_stride,
                           std::size_t out_stride) {
  const auto n = [](std::size_t value) { return static_cast<long long>(value); };
  const long long row_step = tt::reverses_rows(s) ? -n(in_stride) : n(in_stride);
  const long long col_step = tt::reverses_cols(s) ? -1 : 1;
  const bool turns = tt::transposes(s);
  relocation r{n(turns ? nx : ny), n(turns ? ny : nx), turns ? col_step : row_step,
               turns ? row_step : col_step, n(out_stride)};
  r.in_first = (tt::reverses_rows(s) ? n(ny - 1) * n(in_stride) : 0) +
               (tt::reverses_cols(s) ? n(nx - 1) : 0);
  return r;
}

/// Device memory for two arrays of as many pointers as a batch has at most; main allocates it.
inline unsigned char*& pointer_arrays() {
  static unsigned char* memory = nullptr;
  return memory;
}
inline constexpr std::size_t pointer_array_bytes = 2 * most_small_batch * sizeof(void*);

struct small_entrant {
  entrant who;
  std::function<cudaError_t()> call;
};

struct small_case {
  std::string call, label;
  std::size_t element;               // bytes, of the input
  std::size_t copied;                // bytes that the reference copies: half of what the call moves
  std::function<void()> prepare;     // before each entrant's one call that is verified
  std::function<void()> check;       // throws where the output is wrong
  std::vector<small_entrant> field;  // without the reference

  std::string family() const { return copied <= std::size_t{1} << 20 ? "small" : "middle"; }
  std::string name() const {
    return family() + "/" + call + "/" + std::to_string(element) + "-byte/" + label;
  }
};
using small_plan = std::vector<small_case>;

/// Throws unless every byte of the output is where `r` says. Of elements of `element` bytes, from the
/// random words in the input's buffer.
void verify_relocation(const relocation& r, std::size_t element);

/// Every call that moves elements as they are, of a shape with elements of this many bytes; nothing
/// for others.
void plan_moves_1_to_3(const small_shape& shape, small_plan& plan);
void plan_moves_4_to_16(const small_shape& shape, small_plan& plan);
/// The fused calls.
void plan_fused_1_to_3(const small_shape& shape, small_plan& plan);
void plan_fused_4_to_16(const small_shape& shape, small_plan& plan);

}  // namespace bench
