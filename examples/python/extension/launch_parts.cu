// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The library's kernels for parts of PART_BYTES bytes. Compiled once for each of the sizes, so that the compilers of
// several cores share the work.

#include <tiletranspose/permute.cuh>
#include <tiletranspose/transpose.cuh>

#include "launch.hpp"

namespace tiletranspose_python {
namespace {

struct alignas(PART_BYTES) part {
  unsigned char bytes[PART_BYTES];
};

}  // namespace

template <>
cudaError_t parts<PART_BYTES>::relocate(const relocation& move, cudaStream_t stream) {
  const permute_arguments given = arguments_of(move);
  return tt::permute(reinterpret_cast<part*>(move.out), given.out_strides,
                     reinterpret_cast<const part*>(move.in), given.in_strides, given.extents,
                     stream);
}

template <>
cudaError_t parts<PART_BYTES>::transpose_square(std::uintptr_t data, std::int64_t side,
                                                std::int64_t stride, cudaStream_t stream) {
  const auto length = static_cast<std::size_t>(side);
  const tt::matrix_view<part> square{reinterpret_cast<part*>(data), length, length,
                                     static_cast<std::size_t>(stride / PART_BYTES)};
  return tt::transpose_inplace(square, stream);
}

}  // namespace tiletranspose_python
