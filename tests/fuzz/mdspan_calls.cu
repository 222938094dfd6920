// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls for mdspans: matrices whose rows or columns lie one behind the other, with gaps or without, and arrays of rank 3 of
// any strides.

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

using extents_3 = cuda::std::dextents<std::size_t, 3>;
template <class T>
using array_3 = cuda::std::mdspan<T, extents_3, cuda::std::layout_stride>;

// Axis k has the extent and the stride of axis axes[k]; wrong axes are refused before anybody looks at these.
template <class T, class Strides>
array_3<T> make_array(T* data, const std::size_t* all, const Strides* strides, const int (&axes)[3],
                      std::size_t more) {
  cuda::std::array<std::size_t, 3> extent{};
  cuda::std::array<std::size_t, 3> stride{};
  for (std::size_t k = 0; k < 3; ++k) {
    const auto axis = axes[k] >= 0 && axes[k] < 3 ? static_cast<std::size_t>(axes[k]) : k;
    extent[k] = all[axis] + (k == 0 ? more : 0);
    stride[k] = static_cast<std::size_t>(strides[axis]);
  }
  return array_3<T>{data, cuda::std::layout_stride::mapping<extents_3>{extents_3{extent}, stride}};
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
  static const auto array_in = [](arguments_type a) {
    return make_array<const T>(a.in<T>(), a.with.extents, a.with.in_strides, {0, 1, 2}, 0);
  };
  static const auto array_out = [](arguments_type a, const int(&axes)[3]) {
    return make_array<T>(a.out<T>(), a.with.extents, a.with.out_strides, axes, a.with.out_cols);
  };
  switch (which) {
    case call::mdspan_transpose:
      return [](arguments_type a, cudaStream_t s) { return tt::transpose(out(a), in(a), s); };
    case call::mdspan_reorient:
      return [](arguments_type a, cudaStream_t s) {
        return tt::reorient(out(a), in(a), static_cast<tt::symmetry>(a.with.symmetry), s);
      };
    case call::mdspan_permute:
      return [](arguments_type a, cudaStream_t s) {
        const int axes[] = {a.with.axes[0], a.with.axes[1], a.with.axes[2]};
        return tt::permute(array_out(a, axes), array_in(a), axes, s);
      };
    case call::mdspan_copy:
      return [](arguments_type a, cudaStream_t s) {
        return tt::copy(array_out(a, {0, 1, 2}), array_in(a), s);
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
