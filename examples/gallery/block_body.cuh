// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How the gallery writes a kernel. A *body* is an object with
///
///     threads          of a block
///     storage          the static shared memory of a block
///     operator()(group, storage, block)
///
/// and one kernel runs them all. A body touches memory through the library's parts alone, so whatever has a
/// group to offer can run it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

#include <tiletranspose/group.cuh>
#include <tiletranspose/smem.cuh>

namespace gallery {

/// Of a body that needs none.
struct no_storage {};

template <class Body>
__global__ void __launch_bounds__(Body::threads) run_body(Body body) {
  __shared__ typename Body::storage storage;
  body(tt::static_block<Body::threads>{}, storage, blockIdx.x);
}

template <class Body>
cudaError_t launch(const Body& body, std::size_t blocks, cudaStream_t stream) {
  run_body<<<static_cast<unsigned>(blocks), Body::threads, 0, stream>>>(body);
  return cudaGetLastError();
}

/// A body whose shared memory is described by its member `smem`, when the program runs.
template <class Body>
__global__ void __launch_bounds__(Body::threads) run_dynamic_body(Body body) {
  body(tt::static_block<Body::threads>{}, tt::dynamic_smem(), blockIdx.x);
}

template <class Body>
cudaError_t launch_dynamic(const Body& body, std::size_t blocks, cudaStream_t stream) {
  run_dynamic_body<<<static_cast<unsigned>(blocks), Body::threads, body.smem.bytes(), stream>>>(
      body);
  return cudaGetLastError();
}

template <class Body>
std::size_t storage_bytes() {
  return std::is_empty<typename Body::storage>::value ? 0 : sizeof(typename Body::storage);
}

}  // namespace gallery
