// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls for mdspans whose rows or columns lie one behind the other, with gaps or without.

#include <cuda_runtime.h>

#include "calls.hpp"

#include <tiletranspose/mdspan.cuh>

namespace fuzz {
namespace {

using extents = cuda::std::dextents<std::size_t, 2>;
template <class T>
using matrix = cuda::std::mdspan<T, extents, cuda::std::layout_stride>;

template <class T>
matrix<T> make_matrix(T* data, std::size_t rows, std::size_t cols, std::size_t stride,
                      bool by_columns) {
  const cuda::std::array<std::size_t, 2> strides{by_columns ? 1 : stride, by_columns ? stride : 1};
  return matrix<T>{data, cuda::std::layout_stride::mapping<extents>{extents{rows, cols}, strides}};
}

template <class T>
caller find_type(call which) {
  using arguments_type = const bound_arguments&;
  static const auto in = [](arguments_type a) {
    return make_matrix<const T>(a.in<T>(), a.with.ny, a.with.nx, a.with.in_stride,
                                a.with.in_columns);
  };
  static const auto out = [](arguments_type a) {
    return make_matrix<T>(a.out<T>(), a.with.out_rows, a.with.out_cols, a.with.out_stride,
                          a.with.out_columns);
  };
  switch (which) {
    case call::mdspan_transpose:
      return [](arguments_type a, cudaStream_t s) { return tt::transpose(out(a), in(a), s); };
    case call::mdspan_reorient:
      return [](arguments_type a, cudaStream_t s) {
        return tt::reorient(out(a), in(a), static_cast<tt::symmetry>(a.with.symmetry), s);
      };
    default:
      return nullptr;
  }
}

}  // namespace

const std::vector<element_type>& mdspan_types() {
  static const std::vector<element_type> types{{4, 4}};
  return types;
}

caller find_mdspan(call which, const element_type&) { return find_type<float>(which); }

}  // namespace fuzz
