// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What a call would launch, and why: its arguments without the stream, asked of the rules that the call asks. Nothing
/// of CUDA is called, and no memory is touched, so that it runs where there is no GPU. Plain C++17, host only.
///
///     #include <tiletranspose/explain.cuh>
///
///     std::puts(tt::to_string(tt::explain(out, in, nx, ny)).c_str());
///
/// For floats, 4096 x 4096, from cudaMalloc:
///
///     4096 x 4096 elements of 4 bytes
///     mover   tile, 64 x 64 elements, loads of 16 bytes, stores of 16
///     launch  4096 blocks of 256 threads, 18688 bytes of shared memory each
///     memory  reads 1.00 and writes 1.00 times the sectors of the matrices; conflict ways 1 filling, 1 draining
///     rule    whole tiles: rows of whole accesses of 16 bytes: no row begins or ends inside of one
///
/// The line of memory is left out where no formula is known; explained_memory says which movers have one.

#pragma once

#if defined(__CUDACC_RTC__)
#error "tt: explain.cuh is for the host; under NVRTC include tiletranspose/block_transpose.cuh"
#endif

#include <tiletranspose/config.cuh>

#include <cstddef>
#include <string>
#include <type_traits>

#include <tiletranspose/detail/calls/explain_calls.cuh>
#include <tiletranspose/detail/request/make_request.cuh>

TILETRANSPOSE_NAMESPACE_BEGIN
namespace detail {

/// Of an overload that takes a symmetry, or a number of matrices: braces, {}, are the device behind them.
template <class S>
using if_symmetry = std::enable_if_t<std::is_same<S, symmetry>::value, int>;
template <class N>
using if_count = std::enable_if_t<std::is_convertible<N, size_type>::value, int>;

/// Of dense matrices, as a transpose sees them.
template <class T>
explanation explain_dense_reorient(transpose_request request, symmetry s, explained_device device) {
  if (!transposes(s)) { request.out_stride = request.nx; }
  return explain_reorient<sizeof(T), alignof(T)>(request, s, device);
}

}  // namespace detail

/// What tt::transpose(out, in, nx, ny) would launch.
template <class T>
explanation explain(T* out, const T* in, size_type nx, size_type ny, explained_device device = {}) {
  return detail::explain_transpose<detail::checked_size<T>(), alignof(T)>(
      detail::dense_request(out, in, nx, ny), device);
}

/// The same for pitched matrices and parts of matrices.
template <class T, class Element>
explanation explain(matrix_view<T> out, matrix_view<Element> in, explained_device device = {}) {
  return detail::explain_transpose<detail::checked_size<T, Element>(), alignof(T)>(
      detail::view_request(out, in), device);
}

/// What tt::transpose_batched(out, in, nx, ny, batch) would launch.
template <class T, class Count, detail::if_count<Count> = 0,
          typename std::enable_if<!std::is_pointer<T>::value, int>::type = 0>
explanation explain(T* out, const T* in, size_type nx, size_type ny, Count batch,
                    explained_device device = {}) {
  size_type elements = 0;
  detail::multiplies(nx, ny, elements);
  return detail::explain_transpose<detail::checked_size<T>(), alignof(T)>(
      detail::dense_request(out, in, nx, ny, static_cast<size_type>(batch), elements, elements),
      device);
}

/// The same with gaps between the matrices.
template <class T>
explanation explain(T* out, size_type out_batch_stride, const T* in, size_type in_batch_stride,
                    size_type nx, size_type ny, size_type batch, explained_device device = {}) {
  return detail::explain_transpose<detail::checked_size<T>(), alignof(T)>(
      detail::dense_request(out, in, nx, ny, batch, out_batch_stride, in_batch_stride), device);
}

/// The same for matrices that lie anywhere.
template <class T>
explanation explain(T* const* outs, const T* const* ins, size_type nx, size_type ny,
                    size_type batch, explained_device device = {}) {
  return detail::explain_transpose<detail::checked_size<T>(), alignof(T)>(
      detail::pointers_request(outs, ins, nx, ny, batch), device);
}

/// The same for pitched matrices and parts of matrices.
template <class T, class Element>
explanation explain(matrix_view<T> out, size_type out_batch_stride, matrix_view<Element> in,
                    size_type in_batch_stride, size_type batch, explained_device device = {}) {
  return detail::explain_transpose<detail::checked_size<T, Element>(), alignof(T)>(
      detail::view_request(out, in, batch, out_batch_stride, in_batch_stride), device);
}

/// What tt::reorient(out, in, s) would launch; flips, rotations and reverses are symmetries.
template <class T, class Element, class Symmetry, detail::if_symmetry<Symmetry> = 0>
explanation explain(matrix_view<T> out, matrix_view<Element> in, Symmetry s,
                    explained_device device = {}) {
  return detail::explain_reorient<detail::checked_size<T, Element>(), alignof(T)>(
      detail::reorient_request(out, in, s), s, device);
}

/// What tt::reorient_batched(out, in, nx, ny, batch, s) would launch.
template <class T, class Symmetry, detail::if_symmetry<Symmetry> = 0,
          typename std::enable_if<!std::is_pointer<T>::value, int>::type = 0>
explanation explain(T* out, const T* in, size_type nx, size_type ny, size_type batch, Symmetry s,
                    explained_device device = {}) {
  size_type elements = 0;
  detail::multiplies(nx, ny, elements);
  return detail::explain_dense_reorient<T>(
      detail::dense_request(out, in, nx, ny, batch, elements, elements), s, device);
}

/// The same with gaps between the matrices.
template <class T, class Symmetry, detail::if_symmetry<Symmetry> = 0>
explanation explain(T* out, size_type out_batch_stride, const T* in, size_type in_batch_stride,
                    size_type nx, size_type ny, size_type batch, Symmetry s,
                    explained_device device = {}) {
  return detail::explain_dense_reorient<T>(
      detail::dense_request(out, in, nx, ny, batch, out_batch_stride, in_batch_stride), s, device);
}

/// The same for pitched matrices and parts of matrices.
template <class T, class Element, class Symmetry, detail::if_symmetry<Symmetry> = 0>
explanation explain(matrix_view<T> out, size_type out_batch_stride, matrix_view<Element> in,
                    size_type in_batch_stride, size_type batch, Symmetry s,
                    explained_device device = {}) {
  return detail::explain_reorient<detail::checked_size<T, Element>(), alignof(T)>(
      detail::reorient_request(out, in, s, batch, out_batch_stride, in_batch_stride), s, device);
}

/// The same for matrices that lie anywhere.
template <class T, class Symmetry, detail::if_symmetry<Symmetry> = 0>
explanation explain(T* const* outs, const T* const* ins, size_type nx, size_type ny,
                    size_type batch, Symmetry s, explained_device device = {}) {
  return detail::explain_dense_reorient<T>(detail::pointers_request(outs, ins, nx, ny, batch), s,
                                           device);
}

/// What tt::transform_transpose(out, in, op) would launch, whatever `op`.
template <class Out, class Element>
explanation explain_transform(matrix_view<Out> out, matrix_view<Element> in,
                              explained_device device = {}) {
  return detail::explain_fused<detail::fusion::transform, std::remove_const_t<Element>, Out>(
      detail::view_request(out, in), device);
}

/// What tt::transform_transpose_batched(out, out_batch_stride, in, in_batch_stride, batch, op) would launch.
template <class Out, class Element>
explanation explain_transform(matrix_view<Out> out, size_type out_batch_stride,
                              matrix_view<Element> in, size_type in_batch_stride, size_type batch,
                              explained_device device = {}) {
  return detail::explain_fused<detail::fusion::transform, std::remove_const_t<Element>, Out>(
      detail::view_request(out, in, batch, out_batch_stride, in_batch_stride), device);
}

/// What tt::accumulate_transpose(out, in, op) would launch.
template <class Out, class Element>
explanation explain_accumulate(matrix_view<Out> out, matrix_view<Element> in,
                               explained_device device = {}) {
  return detail::explain_fused<detail::fusion::accumulate, std::remove_const_t<Element>, Out>(
      detail::view_request(out, in), device);
}

/// What tt::transform_transpose_dual(copy, out, in, op) would launch.
template <class Out, class Element>
explanation explain_dual(matrix_view<Out> copy, matrix_view<Out> out, matrix_view<Element> in,
                         explained_device device = {}) {
  const bool fits = copy.rows == in.rows && copy.cols == in.cols;
  return detail::explain_fused<detail::fusion::dual, std::remove_const_t<Element>, Out>(
      detail::view_request(out, in), device, fits ? copy.data : nullptr, copy.stride);
}

/// What tt::reorient_inplace(data, s) would do: transpose_inplace without scratch, reverse_inplace, flips and rotations
/// are symmetries. Of squares that are transposed it says the mover and the rule alone.
template <class T>
explanation explain_inplace(matrix_view<T> data, symmetry s = symmetry::transpose) {
  return detail::explain_reorient_inplace<detail::checked_size<T>(), alignof(T)>(
      detail::inplace_request(data), s);
}

/// What tt::transpose_inplace(temp, temp_bytes, data, nx, ny) would do: the mover and the rule.
template <class T>
explanation explain_inplace(const void* temp, size_type temp_bytes, T* data, size_type nx,
                            size_type ny) {
  return detail::explain_with_scratch<detail::checked_size<T>(), alignof(T)>(
      detail::inplace_request(matrix_view<T>{data, ny, nx, nx}), temp, temp_bytes);
}

/// What tt::permute(out, in, extents, axes) would launch, with the axes that are left when those that stay together are one.
///
///     std::puts(tt::to_string(tt::explain_permute(out, in, {300, 8, 7, 5, 6}, {4, 3, 1, 2, 0})).c_str());
///
/// For floats from cudaMalloc:
///
///     300 x 56 x 5 x 6 elements of 4 bytes, axes 3 2 1 0
///     mover   tiles along several axes, 32 x 32 elements along axes 1 0 and 2 3, loads of 4 bytes, stores of 4
///     launch  525 blocks of 128 threads
///     rule    tiles of axes: two fastest axes, and more around them than a batch: a side of a tile that is short takes the next axes, too
template <class T, std::size_t Rank>
explanation explain_permute(T* out, const T* in, const size_type (&extents)[Rank],
                            const int (&axes)[Rank], explained_device device = {}) {
  static_assert(detail::check_rank<Rank>(), "");
  return detail::explain_permute<detail::checked_size<T>(), alignof(T)>(
      detail::make_relocation(out, in, extents, axes), device);
}

/// The same with strides.
template <class T, std::size_t Rank>
explanation explain_permute(T* out, const std::ptrdiff_t (&out_strides)[Rank], const T* in,
                            const std::ptrdiff_t (&in_strides)[Rank],
                            const size_type (&extents)[Rank], explained_device device = {}) {
  static_assert(detail::check_rank<Rank>(), "");
  return detail::explain_permute<detail::checked_size<T>(), alignof(T)>(
      detail::make_relocation(out, out_strides, in, in_strides, extents), device);
}

/// What tt::transform_permute(out, in, extents, axes, op) would launch, whatever `op`.
template <class Out, class In, std::size_t Rank>
explanation explain_transform_permute(Out* out, const In* in, const size_type (&extents)[Rank],
                                      const int (&axes)[Rank], explained_device device = {}) {
  static_assert(detail::check_rank<Rank>(), "");
  return detail::explain_transform_permute<In, Out>(detail::make_relocation(out, in, extents, axes),
                                                    device);
}

/// What tt::deinterleave(planes, in, n) would launch. `nx` x `ny` are the planes and the structures.
template <class T, class Element, std::size_t Planes>
explanation explain_deinterleave(T* const (&planes)[Planes], Element* in, size_type n,
                                 explained_device device = {}) {
  return detail::explain_planes<true, T>(in, planes, n, device);
}

/// What tt::interleave(out, planes, n) would launch. `nx` x `ny` are the structures and the planes.
template <class T, class Element, std::size_t Planes>
explanation explain_interleave(T* out, Element* const (&planes)[Planes], size_type n,
                               explained_device device = {}) {
  return detail::explain_planes<false, T>(out, planes, n, device);
}

namespace detail {

/// The first line of an explanation: what is moved.
inline std::string shape_text(const explanation& e) {
  const auto number = [](auto value) { return std::to_string(value); };
  const std::string elements = " elements of " + number(e.element_bytes) + " bytes";
  if (e.rank == 0) {
    return number(e.nx) + " x " + number(e.ny) + elements +
           (e.batch > 1 ? ", " + number(e.batch) + " times" : std::string());
  }
  std::string extents;
  std::string order = ", axes";
  for (int k = 0; k < e.rank; ++k) {
    extents += (k > 0 ? " x " : "") + number(e.axes[k].extent);
    order += ' ' + number(e.order[k]);
  }
  return extents + elements + (e.mover[0] != '\0' ? order : std::string());
}

/// The axes that the sides of a tile run along.
inline std::string sides_text(const explanation& e) {
  std::string text;
  for (const explained_side& side : e.tile_sides) {
    if (side.count == 0) { continue; }
    text += text.empty() ? " along axes" : " and";
    for (int k = 0; k < side.count; ++k) { text += ' ' + std::to_string(side.axes[k]); }
  }
  return text;
}

/// The line of what is asked of memory, or nothing.
inline std::string memory_text(const explained_memory& memory) {
  const auto times = [](double sectors) {
    const auto hundredths = static_cast<size_type>(sectors * 100 + 0.5);
    return std::to_string(hundredths / 100) + (hundredths % 100 < 10 ? ".0" : ".") +
           std::to_string(hundredths % 100);
  };
  if (memory.sectors_written == 0) { return {}; }
  std::string text = "memory  ";
  if (memory.sectors_read > 0) { text += "reads " + times(memory.sectors_read) + " and "; }
  text += "writes " + times(memory.sectors_written) +
          " times the sectors of the matrices; conflict ways ";
  if (memory.bound == explained_bound::missing) { return text + "not bounded\n"; }
  const bool tested = memory.bound == explained_bound::tested;
  return text + (tested ? "up to " : "") + std::to_string(memory.fill_ways) + " filling, " +
         std::to_string(memory.drain_ways) + (tested ? " draining in tests\n" : " draining\n");
}

}  // namespace detail

/// An explanation in a few lines of text.
inline std::string to_string(const explanation& e) {
  const auto number = [](auto value) { return std::to_string(value); };
  std::string text = detail::shape_text(e) + '\n';
  if (e.mover[0] != '\0') {
    text += std::string("mover   ") + e.mover;
    if (e.tile_rows > 0) {
      text += ", " + number(e.tile_rows) + " x " + number(e.tile_cols) + " elements" +
              detail::sides_text(e);
    }
    if (e.load_bytes > 0) {
      text += ", loads of " + number(e.load_bytes) + " bytes, stores of " + number(e.store_bytes);
    }
    text += '\n';
  }
  if (e.launches > 0) {
    text += "launch  " + number(e.blocks) + " blocks of " + number(e.threads) + " threads";
    if (e.launches > 1) { text += " in " + number(e.launches) + " launches"; }
    if (e.shared_bytes > 0) {
      text += ", " + number(e.shared_bytes) + " bytes of shared memory each";
    }
    text += '\n';
  }
  text += detail::memory_text(e.memory);
  return text + "rule    " + e.rule + ": " + e.why + '\n';
}

TILETRANSPOSE_NAMESPACE_END
