// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What NVIDIA's own library does for the same work. Built twice: cublas_peer.cpp where the toolkit has
/// cuBLAS, cublas_missing.cpp where it has not.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "element.hpp"
#include "workspace.hpp"

namespace gallery {

struct peer {
  std::string unavailable;  // why there is none; empty: there is
  std::function<cudaError_t(const workspace&)> enqueue;
};

/// out[x * ny + y] == in[y * nx + x]
peer cublas_transpose(element type, std::size_t nx, std::size_t ny);

/// C[rows][cols] = A[rows][inner] B[inner][cols], row-major and dense. A lies at the start of `in`, B
/// b_offset bytes behind it, C in `out`.
struct product_shape {
  std::size_t rows, inner, cols;
  std::size_t b_offset;
};
peer cublas_product(element type, const product_shape& shape);

}  // namespace gallery
