// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The calls of symmetries.cuh for one element type. Included by symmetry_calls_*.cu alone, which
// share the kernels' compile time among them.
#pragma once

#include <tiletranspose/reverse.cuh>
#include <tiletranspose/transpose.cuh>

#include "symmetries.cuh"

namespace tt_test {

template <class T>
struct symmetry_calls_of {
  static T* to(std::byte* p) { return reinterpret_cast<T*>(p); }
  static const T* from(const std::byte* p) { return reinterpret_cast<const T*>(p); }
  static tt::matrix_view<T> view(std::byte* p, shape s, std::size_t stride) {
    return {to(p), s.ny, s.nx, stride};
  }

  static cudaError_t reorient(std::byte* out, std::size_t out_stride, const std::byte* in,
                              std::size_t in_stride, shape s, tt::symmetry how) {
    return tt::reorient(view(out, reoriented(s, how), out_stride),
                        tt::matrix_view<const T>{from(in), s.ny, s.nx, in_stride}, how);
  }
  static cudaError_t reverse(std::byte* out, const std::byte* in, std::size_t n) {
    return tt::reverse(to(out), from(in), n);
  }
  static cudaError_t flip_lr(std::byte* out, const std::byte* in, shape s) {
    return tt::flip_lr(to(out), from(in), s.nx, s.ny);
  }
  static cudaError_t flip_ud(std::byte* out, const std::byte* in, shape s) {
    return tt::flip_ud(to(out), from(in), s.nx, s.ny);
  }
  static cudaError_t rotate(std::byte* out, const std::byte* in, shape s, long long turns) {
    return tt::rotate(to(out), from(in), s.nx, s.ny, turns);
  }
  static cudaError_t anti_transpose(std::byte* out, const std::byte* in, shape s) {
    return tt::anti_transpose(to(out), from(in), s.nx, s.ny);
  }

  static cudaError_t batch(std::byte* out, const std::byte* in, shape s, std::size_t count,
                           tt::symmetry how) {
    return tt::reorient_batched(to(out), from(in), s.nx, s.ny, count, how);
  }
  static cudaError_t strided_batch(std::byte* out, std::size_t out_stride, const std::byte* in,
                                   std::size_t in_stride, shape s, std::size_t count,
                                   tt::symmetry how) {
    return tt::reorient_batched(to(out), out_stride, from(in), in_stride, s.nx, s.ny, count, how);
  }
  static cudaError_t pointer_batch(const std::byte* outs, const std::byte* ins, shape s,
                                   std::size_t count, tt::symmetry how) {
    return tt::reorient_batched(reinterpret_cast<T* const*>(outs),
                                reinterpret_cast<const T* const*>(ins), s.nx, s.ny, count, how);
  }

  static cudaError_t reorient_inplace(std::byte* data, shape s, std::size_t stride,
                                      tt::symmetry how) {
    return tt::reorient_inplace(view(data, s, stride), how);
  }
  static cudaError_t reverse_inplace(std::byte* data, std::size_t n) {
    return tt::reverse_inplace(to(data), n);
  }
  static cudaError_t flip_lr_inplace(std::byte* data, shape s) {
    return tt::flip_lr_inplace(to(data), s.nx, s.ny);
  }
  static cudaError_t flip_ud_inplace(std::byte* data, shape s) {
    return tt::flip_ud_inplace(to(data), s.nx, s.ny);
  }
  static cudaError_t rotate_180_inplace(std::byte* data, shape s) {
    return tt::rotate_180_inplace(to(data), s.nx, s.ny);
  }
  static cudaError_t rotate_inplace(std::byte* data, shape s, long long turns) {
    return tt::rotate_inplace(to(data), s.nx, s.ny, turns);
  }

  static cudaError_t transpose_inplace(std::byte* data, shape s) {
    return tt::transpose_inplace(to(data), s.nx, s.ny);
  }
  static cudaError_t transpose_inplace_view(std::byte* data, shape s, std::size_t stride) {
    return tt::transpose_inplace(view(data, s, stride));
  }
};

template <class T>
symmetry_calls make_symmetry_calls() {
  using calls = symmetry_calls_of<T>;
  return {
      describe<T>(std::to_string(sizeof(T)) + " bytes aligned to " + std::to_string(alignof(T))),
      calls::reorient,
      calls::reverse,
      calls::flip_lr,
      calls::flip_ud,
      calls::rotate,
      calls::anti_transpose,
      calls::batch,
      calls::strided_batch,
      calls::pointer_batch,
      calls::reorient_inplace,
      calls::reverse_inplace,
      calls::flip_lr_inplace,
      calls::flip_ud_inplace,
      calls::rotate_180_inplace,
      calls::rotate_inplace,
      calls::transpose_inplace,
      calls::transpose_inplace_view};
}

// Elements of these sizes, aligned to `Alignment`.
template <std::size_t Alignment, std::size_t... Sizes>
std::vector<symmetry_calls> make_symmetry_calls_of_sizes() {
  return {make_symmetry_calls<block<Sizes, Alignment>>()...};
}

}  // namespace tt_test
