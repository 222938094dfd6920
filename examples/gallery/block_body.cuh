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
/// group to offer can run it: the emulator too, where the workspace is one of the CPU's.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

#include <tiletranspose/group.cuh>
#include <tiletranspose/smem.cuh>

#include "emulation.hpp"

namespace gallery {

/// Of a body that needs none.
struct no_storage {};

template <class Body>
__global__ void __launch_bounds__(Body::threads) run_body(Body body) {
  __shared__ typename Body::storage storage;
  body(tt::static_block<Body::threads>{}, storage, blockIdx.x);
}

/// Runs the body on the CPU. Precondition: memory.cpu != nullptr.
template <class Body>
cudaError_t launch_on_cpu(const Body& body, std::size_t blocks, const workspace& memory) {
  using storage = typename Body::storage;
  memory.cpu->run(
      {blocks, Body::threads, sizeof(storage)}, [&](unsigned char* shared, unsigned block) {
        body(tt::static_block<Body::threads>{}, *reinterpret_cast<storage*>(shared), block);
      });
  return cudaSuccess;
}

template <class Body>
cudaError_t launch(const Body& body, std::size_t blocks, const workspace& memory) {
  if (memory.cpu != nullptr) { return launch_on_cpu(body, blocks, memory); }
  run_body<<<static_cast<unsigned>(blocks), Body::threads, 0, memory.stream>>>(body);
  return cudaGetLastError();
}

/// A body whose shared memory is described by its member `smem`, when the program runs.
template <class Body>
__global__ void __launch_bounds__(Body::threads) run_dynamic_body(Body body) {
  body(tt::static_block<Body::threads>{}, tt::dynamic_smem(), blockIdx.x);
}

template <class Body>
cudaError_t launch_dynamic(const Body& body, std::size_t blocks, const workspace& memory) {
  const std::size_t bytes = body.smem.bytes();
  if (memory.cpu != nullptr) {
    memory.cpu->run({blocks, Body::threads, bytes}, [&](unsigned char* shared, unsigned block) {
      body(tt::static_block<Body::threads>{}, tt::smem_region{shared, bytes}, block);
    });
    return cudaSuccess;
  }
  run_dynamic_body<<<static_cast<unsigned>(blocks), Body::threads, bytes, memory.stream>>>(body);
  return cudaGetLastError();
}

template <class Body>
std::size_t storage_bytes() {
  return std::is_empty<typename Body::storage>::value ? 0 : sizeof(typename Body::storage);
}

}  // namespace gallery
