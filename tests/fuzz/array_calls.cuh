// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls that move elements of arrays of any rank, and of structures. Include CUDA first, or what stands for it.

#pragma once

#include "calls.hpp"

#include <tiletranspose/interleave.cuh>
#include <tiletranspose/permute.cuh>

#include <type_traits>

namespace fuzz {
namespace {

// Calls call(std::integral_constant<std::size_t, rank>).
template <std::size_t Rank = 1, class Call>
cudaError_t with_rank(std::size_t rank, Call call) {
  if constexpr (Rank < most_axes) {
    if (rank != Rank) { return with_rank<Rank + 1>(rank, call); }
  }
  return call(std::integral_constant<std::size_t, Rank>{});
}

// The first elements of a list, as an array of that many.
template <class T, std::size_t Count>
struct first_of {
  T values[Count];
  template <class List>
  explicit first_of(const List& list) {
    for (std::size_t k = 0; k < Count; ++k) { values[k] = list[k]; }
  }
};

template <class Out, class In, class Op>
cudaError_t transform_array(const bound_arguments& a, Op op, cudaStream_t stream) {
  return with_rank(static_cast<std::size_t>(a.with.rank), [&](auto rank) {
    const first_of<std::size_t, rank> extents(a.with.extents);
    const first_of<int, rank> axes(a.with.axes);
    return tt::transform_permute(a.out<Out>(), a.in<In>(), extents.values, axes.values, op, stream);
  });
}

// Structures of so many elements are compiled for those of a size: over all sizes, 2 to 16.
constexpr unsigned least_planes(unsigned bytes) {
  return bytes == 5    ? 2
         : bytes == 3  ? 3
         : bytes == 4  ? 4
         : bytes == 8  ? 5
         : bytes == 12 ? 6
                       : bytes % 5 + 1;
}

template <class T>
struct array_calls {
  using arguments_type = const bound_arguments&;

  static caller find_permute(call which) {
    if (which == call::permute) {
      return [](arguments_type a, cudaStream_t s) {
        return with_rank(static_cast<std::size_t>(a.with.rank), [&](auto rank) {
          const first_of<std::size_t, rank> extents(a.with.extents);
          const first_of<int, rank> axes(a.with.axes);
          return tt::permute(a.out<T>(), a.in<T>(), extents.values, axes.values, s);
        });
      };
    }
    return [](arguments_type a, cudaStream_t s) {
      return with_rank(static_cast<std::size_t>(a.with.rank), [&](auto rank) {
        const first_of<std::size_t, rank> extents(a.with.extents);
        const first_of<std::ptrdiff_t, rank> in_strides(a.with.in_strides);
        const first_of<std::ptrdiff_t, rank> out_strides(a.with.out_strides);
        return tt::permute(a.out<T>(), out_strides.values, a.in<T>(), in_strides.values,
                           extents.values, s);
      });
    };
  }

  template <unsigned Planes>
  static caller find_planes(call which) {
    if (which == call::interleave) {
      return [](arguments_type a, cudaStream_t s) {
        const T* planes[Planes];
        for (unsigned k = 0; k < Planes; ++k) { planes[k] = a.at<const T>(a.with.planes[k]); }
        return tt::interleave(a.out<T>(), planes, a.with.nx, s);
      };
    }
    return [](arguments_type a, cudaStream_t s) {
      T* planes[Planes];
      for (unsigned k = 0; k < Planes; ++k) { planes[k] = a.at<T>(a.with.planes[k]); }
      return tt::deinterleave(planes, a.in<T>(), a.with.nx, s);
    };
  }

  // Null where these planes are not compiled.
  static caller find(call which, int variant) {
    constexpr unsigned least = least_planes(sizeof(T));
    if (which == call::permute || which == call::permute_strides) {
      return variant == 0 ? find_permute(which) : nullptr;
    }
    switch (variant) {
      case least:
        return find_planes<least>(which);
      case least + 5:
        return find_planes<least + 5>(which);
      case least + 10:
        return find_planes<least + 10>(which);
      default:
        return nullptr;
    }
  }
};

}  // namespace
}  // namespace fuzz
