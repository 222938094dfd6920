// SPDX-FileCopyrightText: the tiletranspose authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect alone: tt: a copy has the extents of its input

#include <tiletranspose/mdspan.cuh>

#ifdef MUST_FAIL
using extents = cuda::std::extents<int, 4, 6, cuda::std::dynamic_extent>;
#else
using extents = cuda::std::extents<int, 4, cuda::std::dynamic_extent, 6>;
#endif

cudaError_t call(
    cuda::std::mdspan<float, extents> out,
    cuda::std::mdspan<const float, cuda::std::extents<int, 4, 5, 6>, cuda::std::layout_left> in) {
  return tt::copy(out, in);
}
