// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: the elements of an mdspan are moved as they lie in memory

#include <tiletranspose/mdspan.cuh>

using extents = cuda::std::dextents<int, 2>;

struct negative : cuda::std::default_accessor<const float> {
  using offset_policy = negative;
#ifdef MUST_FAIL
  using reference = float;
  constexpr float access(const float* data, std::size_t i) const { return -data[i]; }
#endif
};

cudaError_t call(cuda::std::mdspan<float, extents> out,
                 cuda::std::mdspan<const float, extents, cuda::std::layout_right, negative> in) {
  return tt::transpose(out, in);
}
