// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tt: the layout of an mdspan must have strides

#include <tiletranspose/mdspan.cuh>

using extents = cuda::std::dextents<int, 2>;

// Rows that each start one element further, round and round.
struct skewed {
  template <class Extents>
  struct mapping : cuda::std::layout_right::mapping<Extents> {
    using layout_type = skewed;
    using cuda::std::layout_right::mapping<Extents>::mapping;
#ifdef MUST_FAIL
    constexpr int operator()(int row, int col) const {
      return row * this->extents().extent(1) + (row + col) % this->extents().extent(1);
    }
    static constexpr bool is_always_strided() { return false; }
#endif
  };
};

cudaError_t call(cuda::std::mdspan<float, extents> out,
                 cuda::std::mdspan<const float, extents, skewed> in) {
  return tt::transpose(out, in);
}
